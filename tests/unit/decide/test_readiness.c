/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/readiness.h"

#include <stdlib.h>
#include <string.h>

#include "../crd/given.h"
#include "decide/mark.h"

#define S 1000
#define NEW                                                                                                            \
	{                                                                                                              \
		0                                                                                                      \
	}
#define WELL                                                                                                           \
	{                                                                                                              \
		.proven = true, .generation = 1                                                                        \
	}

/*
 * One letter per look, `every` ms apart: . good, x failing in a poll, w failing in a look between
 * polls. Returns Ready after each: T or F.
 */
static const char *told(struct readiness *r, const char *looks, int64_t every, int32_t threshold, bool ready)
{
	static char said[64];
	size_t i = 0;

	for (; looks[i]; i++) {
		struct readiness_look look = { .now_ms = 1000 * S + (int64_t)i * every,
			.generation = 1,
			.poll = looks[i] != 'w',
			.failing = looks[i] != '.',
			.is_ready = ready,
			.threshold = threshold,
			.state = looks[i] != '.',
			.cause = looks[i] != '.' };
		struct readiness_says says = readiness_judge(r, &look);

		ready = !look.failing || says.waits;
		said[i] = ready ? 'T' : 'F';
		assert_true(!says.waits || look.failing);
	}
	said[i] = '\0';
	return said;
}

static void test_when(void **state)
{
	static const struct {
		struct readiness from;
		bool ready;
		const char *looks;
		int64_t every;
		int32_t threshold;
		const char *said;
	} rows[] = {
		/* never Ready: reconcile has set True before any trigger was asked */
		{ NEW, true, "xxx.x", S, -1, "FFFTT" },
		{ NEW, false, "xx", S, -1, "FF" },
		{ NEW, true, "xxx", S, 3, "FFF" },
		/* it was: three polls in a row, or 30 s */
		{ WELL, true, "xxxx", S, -1, "TTFF" },
		{ WELL, true, "xxxx.xx.xxx", S, -1, "TTFFTTTTTTF" },
		{ WELL, true, "..x....x....x....x....x....x....x....x....x", S, -1,
			"TTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTT" },
		{ WELL, true, "xx", 30 * S - 1, -1, "TT" },
		{ WELL, true, "xx", 30 * S, -1, "TF" },
		{ WELL, true, "x.x", 300 * S, -1, "TTT" },
		/* a push that wakes us often is no poll */
		{ WELL, true, "wwwwww", S, -1, "TTTTTT" },
		{ WELL, true, "xwwxwwx", S, -1, "TTTTTTF" },
		{ WELL, true, "wwww", 10 * S, -1, "TTTF" },
		/* a fallback: as many as it waits for */
		{ WELL, true, "xxxxx", S, 3, "TTTFF" },
		{ WELL, true, "xx", S, 0, "FF" },
		{ WELL, true, "xxxxx", 3600 * S, 4, "TTTTF" },
		/* not Ready for another reason: stays so */
		{ WELL, false, "xx.x", S, -1, "FFTT" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct readiness r = rows[i].from;
		const char *said = told(&r, rows[i].looks, rows[i].every, rows[i].threshold, rows[i].ready);

		if (strcmp(said, rows[i].said) != 0)
			fail_msg("%zu %s: %s instead of %s", i, rows[i].looks, said, rows[i].said);
	}
}

/* Fallback's own counts, failures of something other than a source, and another spec. */
static void test_other_looks(void **state)
{
	struct readiness r = WELL;
	struct readiness_look look = { .now_ms = S,
		.generation = 1,
		.poll = true,
		.failing = true,
		.is_ready = true,
		.threshold = 3,
		.failures = 3,
		.state = 1 };

	(void)state;
	for (int i = 0; i < 7; i++) /* not all of them count there */
		assert_true(readiness_judge(&r, &look).waits);
	assert_false(readiness_judge(&r, &look).waits);
	r = (struct readiness)WELL;
	assert_true(readiness_judge(&r, &look).waits);
	look.failures = 4; /* asked by the HPA, too */
	assert_false(readiness_judge(&r, &look).waits);
	r = (struct readiness)WELL;
	look = (struct readiness_look){ .now_ms = S,
		.generation = 1,
		.failing = true,
		.is_ready = true,
		.threshold = -1 };
	look.at_once = true;
	assert_false(readiness_judge(&r, &look).waits);
	r = (struct readiness)WELL;
	look.at_once = false;
	assert_int_equal(readiness_judge(&r, &look).look_in_ms, READINESS_MS);
	look.now_ms += 10 * S;
	assert_int_equal(readiness_judge(&r, &look).look_in_ms, READINESS_MS - 10 * S);
	look.generation = 2;
	assert_false(readiness_judge(&r, &look).waits);
}

static uint64_t cause(const char *text)
{
	return mark_words(0, text) | 1;
}

/* The text is that of the newest cause, and another one every 30 s at most. */
static void test_news(void **state)
{
	static const struct {
		int64_t at_s;
		const char *text; /* NULL: well */
		uint64_t state;
		bool news;
	} steps[] = {
		{ 0, "HTTP status 503", 1, true },
		{ 1, "HTTP status 503", 1, false },
		{ 2, "HTTP status 429", 1, false },
		{ 29, "HTTP status 429", 1, false },
		{ 30, "HTTP status 429", 1, true },
		{ 31, "HTTP status 429", 1, false },
		{ 80, "HTTP status 429", 1, false },
		{ 81, "connection refused", 1, true },
		/* Unknown while another is active: its words are new, whatever the time */
		{ 82, "connection refused", 2, true },
		{ 83, "timed out after 3 s", 1, true },
		{ 84, "timed out after 4 s", 1, false },
		{ 900, "timed out after 5 s", 1, false },
		{ 901, NULL, 0, true },
		{ 902, NULL, 0, false },
		{ 903, "HTTP status 503", 1, true },
	};
	struct readiness r = NEW;

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct readiness_look look = { .now_ms = S + steps[i].at_s * S,
			.generation = 1,
			.poll = true,
			.failing = steps[i].text,
			.threshold = -1,
			.state = steps[i].state,
			.cause = steps[i].text ? cause(steps[i].text) : 0 };

		if (readiness_judge(&r, &look).news != steps[i].news)
			fail_msg("step %zu, at %d s", i, (int)steps[i].at_s);
	}
}

/* Fallback names its cause while Ready is True. */
static void test_news_of_fallback(void **state)
{
	struct readiness r = WELL;
	struct readiness_look look = { .now_ms = S, .generation = 1, .poll = true, .threshold = 1 };

	(void)state;
	look.falls_back = cause("connection refused");
	assert_true(readiness_judge(&r, &look).news);
	look.falls_back = cause("HTTP status 503");
	assert_false(readiness_judge(&r, &look).news);
	look.now_ms += 30 * S;
	assert_true(readiness_judge(&r, &look).news);
	assert_false(readiness_judge(&r, &look).news);
}

static void test_words(void **state)
{
	static const char *const same[][2] = {
		{ "connecting to 10.0.0.7:6379: timed out", "connecting to 10.0.0.123:443: timed out" },
		{ "timed out after 503 ms", "timed out after 429 ms" },
		{ "timed out after 100 s", "timed out after 200 s" },
		{ "jobs \"a-x7k2p\" is forbidden", "jobs \"b-1\" is forbidden" },
		{ "asked for 12 items", "asked for 1234 items" },
	};
	static const char *const others[][2] = {
		{ "HTTP status 503", "HTTP status 429" },
		{ "HTTP status 503: try later", "HTTP status 500: try later" },
		{ "connection refused", "timed out" },
		{ "connection refused", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if (cause(same[i][0]) != cause(same[i][1]))
			fail_msg("not the same: %s", same[i][0]);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (cause(others[i][0]) == cause(others[i][1]))
			fail_msg("the same: %s", others[i][0]);
}

/* Reported by another process, or by us before a restart. */
static void test_start(void **state)
{
	struct scaledobject_status status = { 0 };
	struct readiness r = NEW;

	(void)state;
	readiness_start(&r, &status, 7);
	assert_false(r.proven);
	conditions_set(&status.conditions, "Ready", CONDITION_FALSE, "TriggerError", "", S, 7);
	readiness_start(&r, &status, 7);
	assert_false(r.proven);
	conditions_set(&status.conditions, "Ready", CONDITION_TRUE, "ScaledObjectReady", "", S, 7);
	readiness_start(&r, &status, 8);
	assert_false(r.proven);
	readiness_start(&r, &status, 7);
	assert_true(r.proven);
	conditions_done(&status.conditions);
	/* Polling stops and resumes: knowledge stays, counts do not. */
	r.failures = 2;
	readiness_start(&r, &status, 7);
	assert_true(r.proven && r.failures == 0);
	readiness_start(&r, &status, 8);
	assert_false(r.proven);
	/* KEDA's CRD does not keep the generation. */
	conditions_set(&status.conditions, "Ready", CONDITION_TRUE, "ScaledObjectReady", "", 0, 0);
	readiness_start(&r, &status, 9);
	assert_true(r.proven);
	conditions_done(&status.conditions);
}

/* In the log: its beginning at once, and then a line in 30 s. */
static void test_log(void **state)
{
	static const struct {
		int64_t at_s;
		uint64_t cause;
		bool tells;
	} steps[] = {
		{ 0, 0, false },
		{ 1, 5, true },
		{ 2, 5, false },
		{ 3, 0, false },
		{ 4, 5, false },
		{ 5, 6, false },
		{ 31, 6, true },
		{ 32, 6, false },
		{ 33, 7, false },
		{ 61, 7, true },
		{ 999, 7, false },
	};
	struct readiness_told t = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (readiness_tells(&t, steps[i].cause, S + steps[i].at_s * S) != steps[i].tells)
			fail_msg("step %zu", i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_when),
		cmocka_unit_test(test_other_looks),
		cmocka_unit_test(test_news),
		cmocka_unit_test(test_news_of_fallback),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_start),
		cmocka_unit_test(test_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
