/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_PG_PGPARAMETERS_H
#define NET_PG_PGPARAMETERS_H

/*
 * What libpq is told for one attempt to connect: to one address of one host, with what the endpoint
 * says, and with what is usual for the rest, so that nothing comes from this host's files or home
 * directories. Pure. For net/pg/pgconn.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/dnsaddress.h"
#include "net/pg/pgendpoint.h"

#define PGPARAMETERS_MAX 48

struct pgparameters_of { /* borrowed for pgparameters_done */
	const struct pgendpoint *endpoint;
	size_t host;                       /* of the endpoint's */
	const struct dns_address *address; /* of its name; NULL: libpq needs none */
	const char *pems[3];               /* paths: authorities, certificate, key; NULL for none */
	bool second_round;                 /* of prefer-standby: no standby was found */
	int64_t statement_timeout_ms;      /* 0: not asked for */
};

struct pgparameters {
	const char *names[PGPARAMETERS_MAX + 1], *values[PGPARAMETERS_MAX + 1]; /* NULL-terminated, for libpq */
	size_t count;
	bool asked_timeout; /* the startup packet has options of ours */
	char port[8], address[64];
	char *options; /* owned */
};

void pgparameters_fill(struct pgparameters *p, const struct pgparameters_of *of);
void pgparameters_done(struct pgparameters *p);

#endif
