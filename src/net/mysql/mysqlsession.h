/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_MYSQL_MYSQLSESSION_H
#define NET_MYSQL_MYSQLSESSION_H

/*
 * What is said to the MariaDB connector: which options a connection has, and one query. These run
 * inside operations of net/mysql/mysqlio, so they may wait; they know nothing of pools and
 * deadlines.
 *
 * Nothing of this machine has a say: no option files are read, no file is ever sent (LOCAL INFILE),
 * and only the ways to log in that are listed here are used: a server may ask for others, of which
 * one would send the password in the clear and one would ask at the terminal.
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
};

#define MYSQLSESSION_ANSWER_MAX ((size_t)1 << 20) /* bytes that come in for one login or query */
#define MYSQLSESSION_QUERY_MAX  ((size_t)1 << 19)

/*
 * Within an operation; the socket has been set. limit_ms: how long the server may work at a query.
 * On an error the session is closed.
 */
int mysqlsession_open(struct mysqlsession *s, int64_t limit_ms, struct err *err);
/*
 * Within an operation. *usable: whether the session may be asked again. The server's refusal of a
 * query leaves it usable.
 */
int mysqlsession_ask(struct mysqlsession *s, const char *query, struct mysqlvalue *out, bool *usable, struct err *err);
void mysqlsession_close(struct mysqlsession *s); /* never waits; says good-bye if the line is free */

#endif
