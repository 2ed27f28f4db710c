/* SPDX-License-Identifier: Apache-2.0 */
#include "net/mysql/mysqlcolumns.h"

#include <errmsg.h>
#include <stdbool.h>
#include <string.h>

/* A length-encoded integer; one of more than two bytes is too large. */
static bool is_too_many(const unsigned char *number)
{
	if (number[0] == 0xfc)
		return (number[1] | number[2] << 8) > MYSQLCOLUMNS_MAX;
	return number[0] > 0xfc;
}

/*
 * The connector calls this without fields to read the column descriptions, whose number is in the
 * packet that it has read last.
 */
static MYSQL_DATA *read_rows(MYSQL *mysql, MYSQL_FIELD *fields, unsigned count)
{
	const struct mysqlcolumns *c = (const struct mysqlcolumns *)mysql->methods;

	if (!fields && is_too_many(mysql->net.read_pos)) {
		c->connector->set_error(mysql, CR_MALFORMED_PACKET, "HY000",
			"the answer announces more than %d columns", MYSQLCOLUMNS_MAX);
		return NULL;
	}
	return c->connector->db_read_rows(mysql, fields, count);
}

/* Compares the first two numbers: "3.3.20" equals "3.3.4". */
static bool is_as_built(const char *version)
{
	static const char built[] = MARIADB_PACKAGE_VERSION;
	const char *end = strrchr(built, '.');

	return end && strncmp(version, built, (size_t)(end - built) + 1) == 0;
}

void mysqlcolumns_limit(struct mysqlcolumns *c, MYSQL *mysql)
{
	if (!is_as_built(mysql_get_client_info()))
		return;
	c->connector = mysql->methods;
	c->methods = *mysql->methods;
	c->methods.db_read_rows = read_rows;
	mysql->methods = &c->methods;
}
