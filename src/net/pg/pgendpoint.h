/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_PG_PGENDPOINT_H
#define NET_PG_PGENDPOINT_H

/*
 * An endpoint of net/pg: which servers, with which settings. Shared and counted. Others
 * than net/pg read of it base's key and name ("db.shop:5432/orders").
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strmap.h"
#include "net/endpoint.h"

#define PGENDPOINT_HOSTS_MAX 16

struct pgendpoint_host {
	char *host;     /* a name, an address, or the folder of a Unix socket; "" when only hostaddr is given */
	char *hostaddr; /* NULL: the name is looked up */
	uint16_t port;
};

struct pgendpoint {
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

struct pgendpoint_config {
	const char *namespace_; /* whose it is (net/endpoint.h); NULL: nobody's in particular */
	const char *connection; /* "host=... user=..." or postgres://...; NULL: the next six. Secret, as it holds the
				   password */
	const char *host, *port, *user, *password, *dbname, *sslmode;
	const char *ca_pem, *cert_pem, *key_pem, *key_password; /* NULL for none; in the place of files */
};

/*
 * Reads and checks it all, without network I/O. What only KEDA's driver knows is dropped, what is
 * no setting of a connection is handed to the server as a run-time parameter, and what would read
 * files of this host is refused. ERR_INVALID says what is wrong, without values. The caller owns
 * one count.
 */
struct pgendpoint *pgendpoint_new(const struct pgendpoint_config *config, struct err *err);
struct pgendpoint *pgendpoint_ref(struct pgendpoint *e);
void pgendpoint_unref(struct pgendpoint *e); /* NULL is fine; wipes credentials with the last count */

/*
 * text, with the password in it (should a server repeat it) replaced, and nothing about files of
 * this host; one line; cut to what an err holds. In place.
 */
void pgendpoint_clean(const struct pgendpoint *e, char *text);

#endif
