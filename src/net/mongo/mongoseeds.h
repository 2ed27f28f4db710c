/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_MONGO_MONGOSEEDS_H
#define NET_MONGO_MONGOSEEDS_H

/*
 * Where the search for a server begins when a name stands in the place of the hosts (mongodb+srv;
 * MongoDB's specification "Initial DNS Seedlist Discovery"): which hosts its SRV records name, and
 * which options its TXT record has. Pure; net/mongo/mongolookup asks for the records.
 *
 * Records are foreign. A host that is not in the domain of the name is never connected to, as it
 * would get our login; the TXT record can say where the user is, and which replica set it is, and
 * nothing about TLS.
 */

#include <stddef.h>

#include "base/err.h"
#include "net/dns/dnsrecord.h"
#include "net/mongo/mongoendpoint.h"

struct mongoseeds { /* owns all */
	struct mongoendpoint_host *hosts;
	size_t count;
	char *set;    /* NULL: any, or none */
	char *source; /* database of the user */
};

/* The name whose SRV records are asked for; the caller owns it. */
char *mongoseeds_name(const struct mongoendpoint *e);

/*
 * srv: at least one. txt: may be empty. -1 with ERR_INVALID, which names the record: one that is
 * not as it must be. Call mongoseeds_done also then.
 */
int mongoseeds_read(const struct mongoendpoint *e, const struct dnsrecord_list *srv, const struct dnsrecord_list *txt,
	struct mongoseeds *out, struct err *err);
void mongoseeds_done(struct mongoseeds *s);

#endif
