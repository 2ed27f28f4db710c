/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_MYSQL_MYSQLENDPOINT_H
#define NET_MYSQL_MYSQLENDPOINT_H

/*
 * An endpoint of net/mysql: server, credentials and session settings, by which connections are
 * shared. Immutable, reference-counted, without I/O.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "net/endpoint.h"

enum mysqlendpoint_tls {
	MYSQLENDPOINT_TLS_OFF,
	MYSQLENDPOINT_TLS_VERIFY,     /* verifies chain, dates and name before anything is sent */
	MYSQLENDPOINT_TLS_UNVERIFIED, /* TLS without verification */
	MYSQLENDPOINT_TLS_PREFERRED,  /* TLS without verification if the server has it, else plain */
};

struct mysqlendpoint_config {
	const char *namespace_; /* of its trigger (net/endpoint.h); NULL: none */
	const char *host; /* a name or an IP literal without brackets; or, with port 0, the path of a Unix socket */
	uint16_t port;
	const char *user;
	const char *password; /* NULL or "" for none */
	const char *database; /* NULL or "" for none */
	enum mysqlendpoint_tls tls;
	struct tls_client_config tls_config; /* used with TLS only; `tls` says whether it verifies */
	const char *setup[2];                /* statements that a new session runs before queries; NULL for none */
	bool native_passwords;               /* mysql_native_password may be used */
	bool clear_passwords;                /* mysql_clear_password too: only with TLS */
	bool multi_statements;               /* several statements in a query; the first result counts */
};

struct mysqlendpoint {
	struct endpoint base;
	char *host;
	uint16_t port;
	char *user, *password, *database; /* secret, like all texts below; password and database are never NULL */
	enum mysqlendpoint_tls tls;
	char *setup[2];
	bool native_passwords, clear_passwords, multi_statements;
};

/*
 * Checks what can be checked without the server, parses the PEMs, and makes the key. NULL with
 * ERR_INVALID, which names the field. Returns one reference.
 */
struct mysqlendpoint *mysqlendpoint_new(const struct mysqlendpoint_config *config, struct err *err);

#endif
