/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_VALUES_JSONPATH_PARTS_H
#define SCALERS_VALUES_JSONPATH_PARTS_H

/* The compiled path: made by jsonpath_compile, evaluated by jsonpath_number. */

#include <stdbool.h>
#include <stddef.h>

enum jsonpath_kind {
	JSONPATH_KEY,     /* a field by name, or an element by index */
	JSONPATH_PATTERN, /* a field by a pattern with * and ? */
	JSONPATH_HASH,    /* #: the length, or each element when steps follow */
	JSONPATH_FIRST,   /* #(...) */
	JSONPATH_ALL,     /* #(...)# */
	JSONPATH_THIS,
	JSONPATH_REVERSE,
	JSONPATH_VALUES,
	JSONPATH_KEYS,
	JSONPATH_FLATTEN,
};

enum jsonpath_operator {
	JSONPATH_EXISTS,
	JSONPATH_EQUAL,
	JSONPATH_UNEQUAL,
	JSONPATH_LESS,
	JSONPATH_AT_MOST,
	JSONPATH_MORE,
	JSONPATH_AT_LEAST,
	JSONPATH_LIKE,
	JSONPATH_UNLIKE
};

struct jsonpath_condition {
	struct jsonpath *of; /* owned; NULL: the element itself */
	enum jsonpath_operator operator;
	char *text; /* owned; the right side, without quotes */
	double number;
	bool is_number; /* text is a number */
};

struct jsonpath_step {
	enum jsonpath_kind kind;
	bool piped; /* preceded by | */
	char *text; /* owned: the name or pattern, "#"; NULL */
	bool indexed;
	size_t index;
	struct jsonpath_condition *condition; /* owned; NULL */
};

struct jsonpath {
	struct jsonpath_step *steps; /* owned */
	size_t count;
};

#endif
