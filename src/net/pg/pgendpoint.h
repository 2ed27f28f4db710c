/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_PG_PGENDPOINT_H
#define NET_PG_PGENDPOINT_H

/*
 * What net/pg knows of an endpoint: which servers, with which settings. The public functions are in
 * net/pg/pg.h.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/strmap.h"
#include "net/endpoint.h"
#include "net/pg/pg.h"

#define PGENDPOINT_HOSTS_MAX 16

struct pgendpoint_host {
	char *host;     /* a name, an address, or the folder of a Unix socket; "" when only hostaddr is given */
	char *hostaddr; /* NULL: the name is looked up */
	uint16_t port;
};

struct pg_endpoint {
	struct endpoint base; /* its TLS: PEMs in the place of files; the key's password stands in the settings */
	struct pgendpoint_host *hosts;
	size_t host_count;
	/*
	 * libpq's keywords but for host, hostaddr, port, options, target_session_attrs,
	 * connect_timeout; secrets among them
	 */
	struct strmap settings;
	char *options;      /* for the server: "-c name=value ..."; NULL */
	const char *target; /* target_session_attrs; "any" */
	int64_t connect_ms; /* for each host; 0: not said */
	bool own_timeout;   /* statement_timeout is said: none of ours */
};

/*
 * text, with the password in it (should a server repeat it) replaced; one line; cut to what an err
 * holds. In place.
 */
void pgendpoint_clean(const struct pg_endpoint *e, char *text);

#endif
