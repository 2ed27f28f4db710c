/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_MYSQL_MYSQLSESSION_H
#define NET_MYSQL_MYSQLSESSION_H

/*
 * A session of the MariaDB connector: its options, and one query at a time. The functions run
 * inside operations of net/mysql/mysqlio, so they may wait; they know no pools and deadlines.
 *
 * Independent of this host: option files are not read, and no file is ever sent (LOCAL INFILE).
 * Only the authentication plugins listed in mysqlsession.c are used: of others that a server may
 * request, one sends the password unencrypted and one prompts at the terminal.
 */

#include <mysql.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/mysql/mysqlcolumns.h"
#include "net/mysql/mysqlendpoint.h"
#include "net/mysql/mysqlio.h"
#include "net/mysql/mysqlvalue.h"

struct mysqlsession {
	const struct mysqlendpoint *endpoint; /* borrowed */
	struct mysqlio *io;                   /* borrowed */
	MYSQL *mysql;                         /* NULL while closed */
	struct mysqlcolumns columns;
	int64_t limit_ms;
	char *identity; /* owned; the state that a reset does not restore, at login; NULL: unknown */
};

#define MYSQLSESSION_ANSWER_MAX ((size_t)1 << 20) /* bytes received for one login or query */
#define MYSQLSESSION_QUERY_MAX  ((size_t)1 << 19)

/*
 * Within an operation. limit_ms: how long the server may execute a query. On an error the session
 * is closed.
 */
int mysqlsession_open(struct mysqlsession *s, int64_t limit_ms, struct err *err);
/*
 * Within an operation. *usable: whether further queries may follow; also true if the server has
 * rejected the query.
 */
int mysqlsession_ask(struct mysqlsession *s, const char *query, struct mysqlvalue *out, bool *usable, struct err *err);
/*
 * Within an operation, after each query that left the session usable: restores its state at login,
 * as earlier queries may be another namespace's: variables, current database, role, temporary
 * tables, locks and transactions. False: not possible, the session must be closed.
 */
bool mysqlsession_restore(struct mysqlsession *s);
void mysqlsession_close(struct mysqlsession *s); /* never waits; sends COM_QUIT if the socket is writable */

#endif
