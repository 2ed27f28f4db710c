/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_MYSQL_MYSQLENDPOINT_H
#define NET_MYSQL_MYSQLENDPOINT_H

/*
 * A MySQL or MariaDB server, whom we are there, and how the session is set up: what connections are
 * shared by. A shared value without I/O.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "net/endpoint.h"

enum mysqlendpoint_tls {
	MYSQLENDPOINT_TLS_OFF,
	MYSQLENDPOINT_TLS_VERIFY,     /* chain, dates and name, or nothing is said */
	MYSQLENDPOINT_TLS_UNVERIFIED, /* TLS, whoever it is */
	MYSQLENDPOINT_TLS_PREFERRED,  /* TLS if the server has it, whoever it is; else plain */
};

struct mysqlendpoint_config {
	const char *namespace_; /* whose it is (net/endpoint.h); NULL: nobody's in particular */
	const char *host; /* a name or an IP literal without brackets; or, with port 0, the path of a Unix socket */
	uint16_t port;
	const char *user;
	const char *password; /* NULL or "" for none */
	const char *database; /* NULL or "" for none */
	enum mysqlendpoint_tls tls;
	const char *tls_ca_pem, *tls_cert_pem, *tls_key_pem, *tls_key_password;
	const char *setup[2];  /* statements that a new session must take before it is asked anything; NULL for none */
	bool native_passwords; /* mysql_native_password may be used */
	bool clear_passwords;  /* mysql_clear_password too: only with TLS */
	bool multi_statements; /* several statements in a query: the first that gives a result counts */
};

struct mysqlendpoint {
	struct endpoint base;
	char *host;
	uint16_t port;
	char *user, *password, *database; /* secrets, as all texts that follow; password and database never NULL */
	enum mysqlendpoint_tls tls;
	char *setup[2];
	bool native_passwords, clear_passwords, multi_statements;
};

/*
 * Checks what can be checked without the server, reads the PEMs, makes the key. ERR_INVALID names
 * the field. The caller owns one count.
 */
struct mysqlendpoint *mysqlendpoint_new(const struct mysqlendpoint_config *config, struct err *err);
void mysqlendpoint_unref(struct mysqlendpoint *e); /* NULL is fine; wipes with the last count */

#endif
