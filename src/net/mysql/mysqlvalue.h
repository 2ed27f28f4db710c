/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_MYSQL_MYSQLVALUE_H
#define NET_MYSQL_MYSQLVALUE_H

/* The result of a query: the first value of the first row. Pure. */

#include <stdbool.h>
#include <stddef.h>

struct mysqlvalue {
	bool has_row, is_null, is_number;
	double number;
	char column[64]; /* its name, truncated; valid UTF-8 */
};

/*
 * Takes the bytes of a value, which is a number if they are a finite number in SQL notation and
 * nothing else.
 */
void mysqlvalue_take(struct mysqlvalue *value, const char *bytes, size_t len);
void mysqlvalue_name(struct mysqlvalue *value, const char *column);

#endif
