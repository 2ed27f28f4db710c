/* SPDX-License-Identifier: Apache-2.0 */
#include "net/mysql/mysqlvalue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

#define NUMBER_TEXT_MAX 400 /* a DECIMAL has 65 digits, a double without exponent 310 */

void mysqlvalue_take(struct mysqlvalue *value, const char *bytes, size_t len)
{
	char text[NUMBER_TEXT_MAX];
	char *end;

	value->is_number = false;
	if (len == 0 || len >= sizeof(text))
		return;
	memcpy(text, bytes, len);
	text[len] = '\0';
	if (strspn(text, "0123456789+-.eE") != len)
		return;
	value->number = strtod(text, &end);
	value->is_number = *end == '\0' && isfinite(value->number);
}

void mysqlvalue_name(struct mysqlvalue *value, const char *column)
{
	size_t len = utf8_cut(column, strlen(column), sizeof(value->column) - 1);

	memcpy(value->column, column, len);
	value->column[len] = '\0';
	for (size_t i = 0; i < len;) {
		size_t step = utf8_step(value->column + i, len - i);

		if (step == 0)
			value->column[i] = '?';
		i += step ? step : 1;
	}
}
