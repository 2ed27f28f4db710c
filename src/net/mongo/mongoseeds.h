/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_MONGO_MONGOSEEDS_H
#define NET_MONGO_MONGOSEEDS_H

/*
 * The hosts and options behind an SRV name (mongodb+srv; MongoDB's specification "Initial DNS
 * Seedlist Discovery"): hosts from its SRV records, options from its TXT record. Pure;
 * net/mongo/mongolookup looks the records up.
 *
 * Records are untrusted. A host outside the name's domain is never connected to, as it would get
 * our login. The TXT record can set the user's database and the replica set, and nothing about TLS.
 */

#include <stddef.h>

#include "base/err.h"
#include "net/dns/dnsrecord.h"
#include "net/mongo/mongoendpoint.h"

struct mongoseeds { /* owns its fields */
	struct mongoendpoint_host *hosts;
	size_t count;
	char *set;    /* NULL: any or none */
	char *source; /* the user's database */
};

/* The name of the SRV records; the caller owns it. */
char *mongoseeds_name(const struct mongoendpoint *e);

/*
 * srv: at least one. txt: may be empty. -1 with ERR_INVALID, which names the bad record. Call
 * mongoseeds_done in either case.
 */
int mongoseeds_read(const struct mongoendpoint *e, const struct dnsrecord_list *srv, const struct dnsrecord_list *txt,
	struct mongoseeds *out, struct err *err);
void mongoseeds_done(struct mongoseeds *s);

#endif
