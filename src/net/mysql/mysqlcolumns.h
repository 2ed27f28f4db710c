/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_MYSQL_MYSQLCOLUMNS_H
#define NET_MYSQL_MYSQLCOLUMNS_H

/*
 * How many columns a server may announce. The connector (3.3.20) asks for room for all of them
 * before it looks whether there are so many, and when it gets none (four thousand million are half
 * a terabyte) it forgets to free those that it has read: each answer costs a megabyte for ever.
 * Under TLS nobody but the connector sees the number, so this stands between its own functions: it
 * reads the columns by way of a table (mysql->methods), of which the session has a copy.
 */

#include <mysql.h>

#define MYSQLCOLUMNS_MAX 4096 /* a table of either server has no more */

struct mysqlcolumns {
	struct st_mariadb_methods methods; /* stands first: the connector's, but for one */
	const struct st_mariadb_methods *connector;
};

/*
 * From now on, for the life of mysql, which *c outlives: an answer that announces more is error
 * 2027. Does nothing with another connector than the one of this header (the first two numbers of
 * its version), whose table may be another.
 */
void mysqlcolumns_limit(struct mysqlcolumns *c, MYSQL *mysql);

#endif
