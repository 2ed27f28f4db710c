/* SPDX-License-Identifier: Apache-2.0 */
/* Which words show a secret, or a part of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/echo.h"

#define LONG "correct-horse-battery"

static void words_and_secrets(void **state)
{
	static const struct {
		const char *words, *answer, *secret;
		bool show;
	} rows[] = {
		{ "you sent TEST", NULL, "test", true },
		{ "you sent nothing", "{\"test\":1}", "test", false },
		{ "", "test", "test", false },
		{ "no such user", "no such user", NULL, false },
		{ "no such user", "no such user", "", false },
		/* cut within it */
		{ "you sent correct-ho", "you sent " LONG, LONG, true },
		{ "you sent CORRECT-HO; ask them", "you sent " LONG, LONG, true },
		{ "you sent correct", "you sent " LONG, LONG, false },   /* 7 of 21 */
		{ "you sent correct-ho", "you sent none", LONG, false }, /* no cut: it is not there */
		{ "you sent correct-ho", NULL, LONG, false },
		{ "you sent hunt", "you sent hunter2", "hunter2", true },
		{ "you sent hun", "you sent hunter2", "hunter2", false },
		{ "you sent hunt or so", "you sent hunter2", "hunter2", false },
		{ "you sent tes", "you sent test", "test", true },
		{ "you sent te", "you sent test", "test", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (echo_shows(rows[i].words, rows[i].answer, rows[i].secret) != rows[i].show)
			fail_msg("%zu: \"%s\"", i, rows[i].words);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(words_and_secrets) };

	return cmocka_run_group_tests_name("base/echo", tests, NULL, NULL);
}
