/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_SQL_MYSQLDSN_H
#define SCALERS_SQL_MYSQLDSN_H

/*
 * Connection strings as KEDA's users write them, for go-sql-driver/mysql (its dsn.go, v1.10):
 * [user[:password]@][net[(address)]]/database[?name=value&...]. Pure.
 *
 * Parameters that would change nothing here are taken, checked and left (parseTime, loc, timeout,
 * ...); `tls`, `collation`, `charset`, `multiStatements` and the ways to log in mean what they mean
 * there. A parameter that the driver does not know is a system variable of the session there, and
 * here. What names a thing of the Go program (serverPubKey, a tls configuration of its own) is
 * refused.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "net/mysql/mysqlendpoint.h"

struct mysqldsn {
	char *user, *password; /* owned, all of them; secrets; "" for none */
	char *host;            /* or the path of a Unix socket, with port 0 */
	uint16_t port;
	char *database; /* "" for none */
	bool tls_given;
	enum mysqlendpoint_tls tls;
	char *charset, *collation; /* NULL: not given */
	char *variables;           /* "a=1, b=2" for SET; NULL for none */
	bool native_passwords, clear_passwords, multi_statements;
	bool fallback; /* allowFallbackToPlaintext; in tls already */
};

/*
 * Into *out, which mysqldsn_done empties, also after an error. ERR_INVALID: nothing of the text
 * stands in the message but the names of parameters that are known: it is a secret.
 */
int mysqldsn_parse(const char *text, struct mysqldsn *out, struct err *err);
void mysqldsn_done(struct mysqldsn *dsn); /* wipes */

/* host:port as Go joins and splits them; port 0 in *port when there is none. */
int mysqldsn_address(const char *text, char **host, uint16_t *port, struct err *err);

#endif
