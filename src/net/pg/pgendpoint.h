/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_PG_PGENDPOINT_H
#define NET_PG_PGENDPOINT_H

/*
 * An endpoint of net/pg: servers and settings. Immutable, reference-counted. Other modules read
 * only key and name ("db.shop:5432/orders") of base.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strmap.h"
#include "net/endpoint.h"
#include "net/sign/scram.h"

struct identity;

#define PGENDPOINT_HOSTS_MAX 16

struct pgendpoint_host {
	char *host;     /* a name, an address, or the folder of a Unix socket; "" when only hostaddr is given */
	char *hostaddr; /* NULL: host is resolved */
	uint16_t port;
};

struct pgendpoint {
	struct endpoint base; /* base.tls: PEM texts instead of files; settings has the key's password */
	struct pgendpoint_host *hosts;
	size_t host_count;
	/*
	 * libpq keywords, except host, hostaddr, port, options, target_session_attrs and
	 * connect_timeout. Some are secret. Those of TLS are for net/pg/pgtls; sslrootcert may be
	 * "system"
	 */
	struct strmap settings;
	/* one reference; its token is the password; NULL: the settings have the password */
	struct identity *identity;
	struct scram_memory memory; /* of the last login; secret, and the only mutable member */
	char *options;              /* for the server: "-c name=value ..."; NULL */
	const char *target;         /* target_session_attrs; "any" */
	int64_t connect_ms;         /* per host; 0: not given */
	bool binds_channel;         /* channel_binding=require */
	bool own_timeout;           /* the string has a statement_timeout, so we set none */
};

struct pgendpoint_config {
	const char *namespace_; /* of its trigger (net/endpoint.h); NULL: none */
	const char *connection; /* "host=... user=..." or postgres://...; NULL: the next six. Secret, as it holds the
				   password */
	const char *host, *port, *user, *password, *dbname, *sslmode;
	const char *ca_pem, *cert_pem, *key_pem, *key_password; /* PEM texts instead of files; NULL for none */
	/*
	 * kscaled's own identity, whose token is the password: password is ignored, and the token
	 * is sent only by TLS to a server that the system's roots verify, whatever sslmode. Takes
	 * a reference; NULL
	 */
	struct identity *identity;
};

/*
 * Parses and checks everything, without network I/O. Keywords that only KEDA's driver knows are
 * ignored, unknown ones become run-time parameters for the server, and those that would read files
 * of this host are rejected. NULL with ERR_INVALID, which shows no values. Returns one reference.
 */
struct pgendpoint *pgendpoint_new(const struct pgendpoint_config *config, struct err *err);

/*
 * Cleans a message in place for an err: removes the password and the token that was sent instead
 * (NULL: none), in case the server repeats them, and statements about files of this host; makes it
 * one line and truncates it.
 */
void pgendpoint_clean(const struct pgendpoint *e, const char *token, char *text);

#endif
