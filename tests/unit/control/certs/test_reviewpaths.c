/* SPDX-License-Identifier: Apache-2.0 */
/* At which paths reviews are answered, and until when. */
#include "control/certs/reviewpaths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

#define ONE "/admission/00112233445566778899aabbccddeeff"

static bool has(const struct reviewpaths *p, const char *path, int64_t now_ms)
{
	return reviewpaths_has(p, path, strlen(path), now_ms);
}

static void made_paths_are_secret_and_new(void **state)
{
	char one[REVIEWPATHS_SIZE], other[REVIEWPATHS_SIZE];

	(void)state;
	reviewpaths_make(one);
	reviewpaths_make(other);
	assert_int_equal(strlen(one), strlen(ONE));
	assert_true(reviewpaths_is_secret(one));
	assert_true(reviewpaths_is_secret(other));
	/* not even by half */
	assert_memory_not_equal(one + strlen(REVIEWPATHS_SECRET), other + strlen(REVIEWPATHS_SECRET), 16);
	assert_memory_not_equal(one + strlen(REVIEWPATHS_SECRET) + 16, other + strlen(REVIEWPATHS_SECRET) + 16, 16);
}

static void guessable_paths_are_not_secret(void **state)
{
	static const struct {
		const char *path;
		bool is_secret;
	} rows[] = {
		{ ONE, true }, { ONE "00112233445566778899aabbccddeeff", true }, { "", false }, { "/", false },
		{ "/admission", false }, { "/admission/", false },
		{ "/admission/00112233445566778899aabbccddeef", false }, /* one digit is missing */
		{ "/admission/00112233445566778899aabbccddeefg", false },
		{ "/admission/00112233445566778899AABBCCDDEEFF", false }, { ONE "/", false }, { ONE "/x", false },
		{ "/other/0123/00112233445566778899aabbccddeeff", false },
		{ ONE "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff00112233445566778899aabbccddeef"
		      "f",
			false }, /* longer than any that is kept */
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++)
		if (reviewpaths_is_secret(rows[i].path) != rows[i].is_secret)
			fail_msg("%s", rows[i].path);
}

static void the_very_paths_that_are_named(void **state)
{
	static const char *const others[] = { "", "/", "/validate", "/validate-x/", "/admission/",
		"/admission/00112233445566778899aabbccddeef", "/admission/00112233445566778899aabbccddeefe", ONE "0",
		ONE "//" };
	struct reviewpaths p = { 0 };

	(void)state;
	assert_false(has(&p, ONE, 0));
	assert_false(has(&p, "", 0));
	reviewpaths_name(&p, ONE);
	reviewpaths_name(&p, "/validate-y/");
	assert_true(has(&p, ONE, 0));
	assert_true(has(&p, ONE "/", INT64_MAX - 1));
	assert_true(has(&p, "/validate-y", 0));
	assert_true(reviewpaths_has(&p, ONE "?timeout=10s", strlen(ONE), 0));
	for (size_t i = 0; i < MEM_COUNT(others); i++)
		if (has(&p, others[i], 0))
			fail_msg("%s", others[i]);
}

/* An API server may still use the previous configuration. */
static void a_removed_path_expires_soon(void **state)
{
	struct reviewpaths p = { 0 };

	(void)state;
	reviewpaths_name(&p, "/old");
	reviewpaths_retire(&p, 1000);
	reviewpaths_name(&p, ONE);
	assert_true(has(&p, ONE, 1000));
	assert_true(has(&p, "/old", 1000 + REVIEWPATHS_LAG_MS - 1));
	assert_false(has(&p, "/old", 1000 + REVIEWPATHS_LAG_MS));
	/* Another change does not lengthen it; to be named again does. */
	reviewpaths_retire(&p, 5000);
	reviewpaths_name(&p, ONE);
	assert_false(has(&p, "/old", 1000 + REVIEWPATHS_LAG_MS));
	assert_true(has(&p, ONE, INT64_MAX - 1));
	reviewpaths_retire(&p, 6000);
	reviewpaths_name(&p, "/old");
	assert_true(has(&p, "/old", INT64_MAX - 1));
	assert_false(has(&p, ONE, 6000 + REVIEWPATHS_LAG_MS));
}

static void an_expected_path_works_before_it_is_named(void **state)
{
	struct reviewpaths p = { 0 };

	(void)state;
	reviewpaths_expect(&p, ONE, 1000);
	assert_true(has(&p, ONE, 1000));
	assert_false(has(&p, ONE, 1000 + REVIEWPATHS_LAG_MS));
	reviewpaths_name(&p, ONE);
	reviewpaths_expect(&p, ONE, 2000); /* takes nothing away */
	assert_true(has(&p, ONE, INT64_MAX - 1));
}

static void no_more_are_kept_than_there_is_room_for(void **state)
{
	char path[REVIEWPATHS_SIZE], longest[REVIEWPATHS_SIZE + 1];
	struct reviewpaths p = { 0 };

	(void)state;
	for (int i = 0; i < REVIEWPATHS_MAX; i++) {
		snprintf(path, sizeof path, "/%d", i);
		reviewpaths_name(&p, path);
	}
	reviewpaths_name(&p, ONE);
	reviewpaths_expect(&p, ONE, 0);
	assert_false(has(&p, ONE, 0));
	assert_true(has(&p, "/0", 0));
	/* Those that are over make room, the oldest first. */
	reviewpaths_retire(&p, 100);
	reviewpaths_name(&p, "/5");
	reviewpaths_name(&p, ONE);
	assert_true(has(&p, ONE, 200));
	assert_true(has(&p, "/5", 200));
	assert_true(has(&p, "/15", 200));
	assert_false(has(&p, "/0", 200));
	memset(longest, 'a', sizeof longest);
	longest[0] = '/';
	longest[REVIEWPATHS_SIZE] = '\0';
	reviewpaths_name(&p, longest);
	assert_false(has(&p, longest, 200));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(made_paths_are_secret_and_new),
		cmocka_unit_test(guessable_paths_are_not_secret),
		cmocka_unit_test(the_very_paths_that_are_named),
		cmocka_unit_test(a_removed_path_expires_soon),
		cmocka_unit_test(an_expected_path_works_before_it_is_named),
		cmocka_unit_test(no_more_are_kept_than_there_is_room_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
