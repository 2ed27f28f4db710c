/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/utf8.h"

static void sets_and_returns_minus_one(void **state)
{
	struct err err;

	(void)state;
	memset(&err, 0x55, sizeof(err));
	assert_int_equal(err_set(&err, ERR_MISSING, "%s %d", "object", 7), -1);
	assert_int_equal(err.kind, ERR_MISSING);
	assert_string_equal(err.msg, "object 7");
	assert_int_equal(err.http_status, 0);
	assert_true(err.retry_after_ms == 0);
}

static void null_is_taken(void **state)
{
	(void)state;
	assert_int_equal(err_set(NULL, ERR_INVALID, "x"), -1);
	assert_int_equal(err_wrap(NULL, "x"), -1);
	err_clear(NULL);
}

static void wraps_and_keeps_the_rest(void **state)
{
	struct err err;

	(void)state;
	err_set(&err, ERR_TEMPORARY, "timed out");
	err.http_status = 504;
	err.retry_after_ms = 1500;
	assert_int_equal(err_wrap(&err, "connecting to %s:%d", "10.0.0.7", 6379), -1);
	err_wrap(&err, "trigger 2 (redis)");
	assert_string_equal(err.msg, "trigger 2 (redis): connecting to 10.0.0.7:6379: timed out");
	assert_int_equal(err.kind, ERR_TEMPORARY);
	assert_int_equal(err.http_status, 504);
	assert_true(err.retry_after_ms == 1500);
}

static void arguments_may_be_of_the_error_itself(void **state)
{
	struct err err;

	(void)state;
	err_set(&err, ERR_INVALID, "inner");
	err_set(&err, ERR_CONFLICT, "outer (%s)", err.msg);
	assert_string_equal(err.msg, "outer (inner)");
	err_wrap(&err, "%s", err.msg);
	assert_string_equal(err.msg, "outer (inner): outer (inner)");
}

static void assert_valid_utf8(const char *text)
{
	size_t len = strlen(text);

	for (size_t i = 0; i < len;) {
		size_t step = utf8_step(text + i, len - i);
		assert_true(step > 0);
		i += step;
	}
}

/*
 * Lengths around the end of the message; a character of two bytes at each place that the cut may
 * meet.
 */
static void cuts_with_dots_and_whole_characters(void **state)
{
	char text[3 * ERR_MSG_MAX];
	struct err err;

	(void)state;
	for (size_t len = ERR_MSG_MAX - 8; len < ERR_MSG_MAX + 8; len++) {
		for (size_t at = ERR_MSG_MAX - 12; at + 2 <= len; at++) {
			memset(text, 'a', len);
			memcpy(text + at, "\xC3\xA9", 2);
			text[len] = '\0';
			err_set(&err, ERR_INVALID, "%s", text);
			assert_valid_utf8(err.msg);
			if (len < ERR_MSG_MAX) {
				assert_string_equal(err.msg, text);
			} else {
				size_t got = strlen(err.msg);
				assert_true(got >= ERR_MSG_MAX - 3 && got < ERR_MSG_MAX);
				assert_string_equal(err.msg + got - 3, "...");
				assert_memory_equal(err.msg, text, got - 3);
			}
		}
	}
}

static void very_long_prefix(void **state)
{
	char text[3 * ERR_MSG_MAX];
	struct err err;

	(void)state;
	memset(text, 'p', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	err_set(&err, ERR_INVALID, "cause");
	err_wrap(&err, "%s", text);
	assert_int_equal(strlen(err.msg), ERR_MSG_MAX - 1);
	assert_string_equal(err.msg + ERR_MSG_MAX - 4, "...");
}

static void bytes_that_are_no_utf8(void **state)
{
	struct err err;

	(void)state;
	err_set(&err, ERR_INVALID, "a\xFF\xC3 b\xE2\x82\xAC");
	assert_string_equal(err.msg, "a?? b\xE2\x82\xAC");
}

static void clears(void **state)
{
	struct err err;

	(void)state;
	err_set(&err, ERR_GONE, "x");
	err.http_status = 410;
	err_clear(&err);
	assert_int_equal(err.kind, ERR_NONE);
	assert_int_equal(err.http_status, 0);
	assert_string_equal(err.msg, "");
}

static void kinds_have_names(void **state)
{
	static const struct {
		enum err_kind kind;
		const char *name;
	} rows[] = {
		{ ERR_NONE, "none" },
		{ ERR_TEMPORARY, "temporary" },
		{ ERR_WAITING, "waiting" },
		{ ERR_INVALID, "invalid" },
		{ ERR_MISSING, "missing" },
		{ ERR_CONFLICT, "conflict" },
		{ ERR_DENIED, "denied" },
		{ ERR_GONE, "gone" },
		{ ERR_BUG, "bug" },
		{ (enum err_kind)99, "unknown" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(err_kind_name(rows[i].kind), rows[i].name);
}

static void kept_as_long_as_wanted(void **state)
{
	struct err err = { 0 }, *kept = NULL;

	(void)state;
	err_keep(&kept, NULL);
	assert_null(kept);
	err_set(&err, ERR_TEMPORARY, "timed out");
	err_keep(&kept, &err);
	err_set(&err, ERR_INVALID, "wrong");
	assert_int_equal(kept->kind, ERR_TEMPORARY);
	assert_string_equal(kept->msg, "timed out");
	err_keep(&kept, &err);
	err_keep(&kept, kept);
	assert_int_equal(kept->kind, ERR_INVALID);
	assert_string_equal(kept->msg, "wrong");
	err_keep(&kept, NULL);
	assert_null(kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_and_returns_minus_one),
		cmocka_unit_test(null_is_taken),
		cmocka_unit_test(wraps_and_keeps_the_rest),
		cmocka_unit_test(arguments_may_be_of_the_error_itself),
		cmocka_unit_test(cuts_with_dots_and_whole_characters),
		cmocka_unit_test(very_long_prefix),
		cmocka_unit_test(bytes_that_are_no_utf8),
		cmocka_unit_test(clears),
		cmocka_unit_test(kept_as_long_as_wanted),
		cmocka_unit_test(kinds_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
