/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_SQL_MYSQLDSN_H
#define SCALERS_SQL_MYSQLDSN_H

/*
 * Parses connection strings of go-sql-driver/mysql (its dsn.go, v1.10), as KEDA uses them:
 * [user[:password]@][net[(address)]]/database[?name=value&...]. Pure.
 *
 * Parameters without effect here (parseTime, loc, timeout, ...) are checked and ignored; `tls`,
 * `collation`, `charset`, `multiStatements` and the login options have the driver's meaning. As in
 * the driver, an unknown parameter is a session variable. Names that refer to Go code
 * (serverPubKey, a registered tls configuration) are refused.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "net/mysql/mysqlendpoint.h"

struct mysqldsn {
	char *user, *password; /* all owned; user and password are secrets; "" for none */
	char *host;            /* or the path of a Unix socket, then port is 0 */
	uint16_t port;
	char *database; /* "" for none */
	bool tls_given;
	enum mysqlendpoint_tls tls;
	char *charset, *collation; /* NULL: not given */
	char *variables;           /* "a=1, b=2" for SET; NULL for none */
	bool native_passwords, clear_passwords, multi_statements;
	bool fallback; /* allowFallbackToPlaintext; already applied to tls */
};

/*
 * Fills *out; call mysqldsn_done also after an error. ERR_INVALID messages contain only names of
 * known parameters, as the text is a secret.
 */
int mysqldsn_parse(const char *text, struct mysqldsn *out, struct err *err);
void mysqldsn_done(struct mysqldsn *dsn); /* wipes */

/* Splits host:port by Go's rules; *port is 0 when absent. */
int mysqldsn_address(const char *text, char **host, uint16_t *port, struct err *err);

#endif
