/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_MYSQL_MYSQLVALUE_H
#define NET_MYSQL_MYSQLVALUE_H

/* What a query gave: the first value of the first row. Pure. */

#include <stdbool.h>
#include <stddef.h>

struct mysqlvalue {
	bool has_row, is_null, is_number;
	double number;
	char column[64]; /* its name, cut; valid UTF-8 */
};

/* Takes the bytes of a value: a number if all of them are one as SQL writes it, finite. */
void mysqlvalue_take(struct mysqlvalue *value, const char *bytes, size_t len);
void mysqlvalue_name(struct mysqlvalue *value, const char *column);

#endif
