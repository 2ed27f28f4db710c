/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_NET_SECRETMANAGERS_ANSWERS_H
#define TESTS_UNIT_NET_SECRETMANAGERS_ANSWERS_H

/* Checks a manager's responses for a secret "n"; for the tests in this folder. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/secretmanagers/secretmanager.h"

struct answer_row {
	int status;
	const char *body, *value; /* value NULL: an error */
	const char *error;
	enum err_kind kind;
};

static inline void check_answers(const struct secretmanager *m, const struct answer_row *rows, size_t count)
{
	const struct secretmanager_secret s = { .endpoint = "https://s", .project = "shop", .name = "n" };

	for (size_t i = 0; i < count; i++) {
		const struct webresponse answer = { .status = rows[i].status,
			.body = rows[i].body,
			.len = strlen(rows[i].body) };
		struct err err = { 0 };
		char *value = NULL;

		assert_int_equal(secretmanager_read(m, &s, &answer, &value, &err), rows[i].value ? 0 : -1);
		if (rows[i].value) {
			assert_string_equal(value, rows[i].value);
		} else {
			assert_null(value);
			assert_string_equal(err.msg, rows[i].error);
			assert_int_equal(err.kind, rows[i].kind);
		}
		mem_free_secret(value);
	}
}

#endif
