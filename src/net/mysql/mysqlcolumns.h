/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_MYSQL_MYSQLCOLUMNS_H
#define NET_MYSQL_MYSQLCOLUMNS_H

/*
 * Limits the number of columns that a server may announce. The connector (3.3.20) allocates memory
 * for all of them before it has received them. If that fails (4 billion columns need half a
 * terabyte), it leaks those that it has read: a megabyte per result. Under TLS only the connector
 * sees the number, so this replaces one of its internal functions, in the session's copy of its
 * function table (mysql->methods).
 */

#include <mysql.h>

#define MYSQLCOLUMNS_MAX 4096 /* the limit of a table of both servers */

struct mysqlcolumns {
	struct st_mariadb_methods methods; /* first member: the connector's table, one function replaced */
	const struct st_mariadb_methods *connector;
};

/*
 * From now on a result that announces more columns is error 2027. *c must outlive mysql. No effect
 * with a connector whose version differs from this header's in the first two numbers, as its table
 * may differ.
 */
void mysqlcolumns_limit(struct mysqlcolumns *c, MYSQL *mysql);

#endif
