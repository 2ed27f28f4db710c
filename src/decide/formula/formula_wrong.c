/* SPDX-License-Identifier: Apache-2.0 */
/* Errors with the place in the formula's text. */
#include "decide/formula/formula_parts.h"

int formula_vwrong(struct err *err, struct formula_place place, const char *fmt, va_list ap)
{
	err_vset(err, ERR_INVALID, fmt, ap);
	if (place.line > 1)
		return err_wrap(err, "line %u, column %u", place.line, place.column);
	return err_wrap(err, "column %u", place.column);
}

int formula_wrong(struct err *err, struct formula_place place, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	formula_vwrong(err, place, fmt, ap);
	va_end(ap);
	return -1;
}
