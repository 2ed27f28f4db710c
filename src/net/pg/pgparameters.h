/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_PG_PGPARAMETERS_H
#define NET_PG_PGPARAMETERS_H

/*
 * The libpq parameters of one attempt to connect to one address of one host: the endpoint's
 * settings, and defaults for the others, so that nothing is read from files or home directories of
 * this host. Pure. For net/pg/pgconn.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/dns/dnsaddress.h"
#include "net/pg/pgendpoint.h"

#define PGPARAMETERS_MAX 48

struct pgparameters_of { /* borrowed until pgparameters_done */
	const struct pgendpoint *endpoint;
	size_t host;                       /* index of the host */
	const struct dns_address *address; /* of the host; NULL: libpq needs none */
	bool second_round;                 /* of prefer-standby, after no standby was found */
	int64_t statement_timeout_ms;      /* 0: none */
	const char *token;                 /* instead of a password; NULL: the settings have one */
};

struct pgparameters {
	const char *names[PGPARAMETERS_MAX + 1], *values[PGPARAMETERS_MAX + 1]; /* NULL-terminated, for libpq */
	size_t count;
	bool asked_timeout; /* the startup packet has our options */
	char port[8], address[64];
	char *options; /* owned */
};

void pgparameters_fill(struct pgparameters *p, const struct pgparameters_of *of);
void pgparameters_done(struct pgparameters *p);

#endif
