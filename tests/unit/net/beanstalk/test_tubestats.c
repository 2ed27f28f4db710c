/* SPDX-License-Identifier: Apache-2.0 */

/* Answers to stats-tube (beanstalkd's doc/protocol.txt), good and bad, and names of tubes. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/beanstalk/tubestats.h"

/* In memory of just its size, so that a sanitizer sees what is read beyond it. */
static int read_text(const char *text, size_t len, size_t *used, struct tubestats *out, bool *failed, struct err *err)
{
	char *bytes = mem_alloc(len ? len : 1);
	int rc;

	memcpy(bytes, text, len);
	rc = tubestats_read(bytes, len, used, out, failed, err);
	free(bytes);
	return rc;
}

#define BODY "---\nname: \"jobs\"\ncurrent-jobs-ready: 31\ncurrent-jobs-reserved: 4\ncurrent-jobs-delayed: 15\n"

static void good(void **state)
{
	static const char answer[] = "OK 90\r\n" BODY "\r\nNOT_FOUND\r\n";
	struct tubestats stats;
	struct err err = { 0 };
	bool failed = true;
	size_t used = 0;

	(void)state;
	assert_int_equal(strlen(BODY), 90);
	for (size_t len = 0; len < 99; len++)
		assert_int_equal(read_text(answer, len, &used, &stats, &failed, &err), 0);
	assert_int_equal(read_text(answer, sizeof(answer) - 1, &used, &stats, &failed, &err), 1);
	assert_false(failed);
	assert_int_equal(used, 99);
	assert_int_equal(stats.ready, 31);
	assert_int_equal(stats.reserved, 4);
	assert_int_equal(stats.delayed, 15);
	assert_int_equal(read_text(answer + used, strlen(answer + used), &used, &stats, &failed, &err), 1);
	assert_false(failed);
	assert_int_equal(used, 11);
	assert_int_equal(stats.ready + stats.reserved + stats.delayed, 0);
}

#define FIELDS(ready) "OK 72\r\ncurrent-jobs-ready: " ready "\ncurrent-jobs-reserved: 4\ncurrent-jobs-delayed: 15\n\r\n"

static const struct {
	const char *answer;
	int rc; /* 1: the answer alone is wrong */
	const char *message;
} bads[] = {
	{ "OUT_OF_MEMORY\r\n", 1, "the server answered OUT_OF_MEMORY" },
	{ "UNKNOWN_COMMAND\r\n", 1, "the server answered UNKNOWN_COMMAND" },
	{ "OK 4\r\n---\n\r\n", 1, "the answer to stats-tube has no number current-jobs-ready" },
	{ FIELDS("x"), 1, "the answer to stats-tube has no number current-jobs-ready" },
	{ "OK 24\r\ncurrent-jobs-ready: 1.5\n\r\n", 1, "the answer to stats-tube has no number current-jobs-ready" },
	{ "OK 22\r\ncurrent-jobs-ready: -1\r\n", 1, "the answer to stats-tube has no number current-jobs-ready" },
	{ "OK 45\r\ncurrent-jobs-ready: 18446744073709551616000\n\n\r\n", 1,
		"the answer to stats-tube has no number current-jobs-ready" },
	{ "OK 22\r\ncurrent-jobs-ready: 1\n\r\n", 1, "the answer to stats-tube has no number current-jobs-reserved" },
	{ "OK\r\n", 1, "the server answered OK" },
	{ "OK 4 5\r\n", -1, "the answer is not beanstalkd's" },
	{ "OK 4033\r\n", -1, "the answer is larger than 4096 bytes" },
	{ "OK 99999999999999999999\r\n", -1, "the answer is not beanstalkd's" },
	{ "OK 2\r\nabcde", -1, "the answer is not beanstalkd's" },
	{ "\r\n", -1, "the answer is not beanstalkd's" },
	{ "HTTP/1.1 400 Bad Request\r\n", -1, "the answer is not beanstalkd's" },
	{ "0123456789012345678901234567890123456789012345678901234567890123", -1, "the answer is not beanstalkd's" },
};

static void bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(bads); i++) {
		struct tubestats stats;
		struct err err = { 0 };
		bool failed = false;
		size_t used = 0;
		int rc = read_text(bads[i].answer, strlen(bads[i].answer), &used, &stats, &failed, &err);

		if (rc != bads[i].rc || (rc > 0 && !failed) || strcmp(err.msg, bads[i].message) != 0)
			fail_msg("%s: %d, \"%s\"", bads[i].answer, rc, err.msg);
	}
}

/* Cut there, the line would say that the tube does not exist, so that it has no jobs. */
static void a_nul_does_not_end_a_line(void **state)
{
	static const char answer[] = "NOT_FOUND\0 or so\r\n";
	struct tubestats stats;
	struct err err = { 0 };
	bool failed = false;
	size_t used = 0;

	(void)state;
	assert_int_equal(read_text(answer, sizeof(answer) - 1, &used, &stats, &failed, &err), -1);
	assert_string_equal(err.msg, "the answer is not beanstalkd's");
}

static void names(void **state)
{
	char name[TUBESTATS_NAME_MAX + 2] = { 0 };
	MEM_AUTO char *command = tubestats_command("jobs");

	(void)state;
	assert_string_equal(command, "stats-tube jobs\r\n");
	assert_null(tubestats_name_flaw("a-z+A/Z;0.9$_()"));
	assert_non_null(tubestats_name_flaw(""));
	assert_non_null(tubestats_name_flaw("-a"));
	assert_non_null(tubestats_name_flaw("a b"));
	assert_non_null(tubestats_name_flaw("a\r\nquit"));
	memset(name, 'a', TUBESTATS_NAME_MAX);
	assert_null(tubestats_name_flaw(name));
	name[TUBESTATS_NAME_MAX] = 'a';
	assert_non_null(tubestats_name_flaw(name));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good),
		cmocka_unit_test(bad),
		cmocka_unit_test(a_nul_does_not_end_a_line),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests_name("net/beanstalk/tubestats", tests, NULL, NULL);
}
