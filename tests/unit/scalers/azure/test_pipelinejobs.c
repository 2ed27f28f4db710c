/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "scalers/azure/pipelinejobs.h"

static json_t *parsed(const char *text)
{
	json_t *value = json_loads(text, 0, NULL);

	assert_non_null(value);
	return value;
}

/* One job, as the API writes it, with the relevant members. */
#define JOB(rest) "{\"requestId\":1,\"queueTime\":\"2026-11-25T07:00:00.1Z\"" rest "}"

#define DEMANDS(...)                                                                                                   \
	.demands = (const char *const[]){ __VA_ARGS__ },                                                               \
	.count = sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *)

static const struct {
	struct pipelinejobs_filter filter;
	const char *job;
	bool counts;
} jobs[] = {
	{ { 0 }, JOB(""), true },
	{ { 0 }, JOB(",\"result\":null,\"receiveTime\":null"), true },
	{ { 0 }, JOB(",\"receiveTime\":\"0001-01-01T00:00:00Z\""), true },
	{ { 0 }, JOB(",\"receiveTime\":\"2026-11-25T07:00:01Z\""), false },
	{ { .in_flight = true }, JOB(",\"receiveTime\":\"2026-11-25T07:00:01Z\""), true },
	{ { .in_flight = true }, JOB(""), true },
	{ { .in_flight = true }, JOB(",\"receiveTime\":\"2026-11-25T07:00:01Z\",\"result\":\"failed\""), false },
	{ { DEMANDS("maven"), .in_flight = true },
		JOB(",\"receiveTime\":\"2026-11-25T07:00:01Z\",\"demands\":[\"docker\"]"), false },
	{ { 0 }, JOB(",\"result\":\"succeeded\""), false },
	{ { .in_flight = true }, JOB(",\"result\":\"succeeded\""), false },
	{ { 0 }, JOB(",\"demands\":[\"maven\"]"), true },
	/* our demands include the job's; the agent's version is ignored */
	{ { DEMANDS("maven", "java") }, JOB(",\"demands\":[\"maven\",\"Agent.Version -gtVersion 2.182.1\"]"), true },
	{ { DEMANDS("maven", "java") }, JOB(",\"demands\":[\"maven\",\"docker\"]"), false },
	{ { DEMANDS("maven") }, JOB(""), true },
	{ { DEMANDS("maven") }, JOB(",\"demands\":null"), true },
	{ { DEMANDS("Maven") }, JOB(",\"demands\":[\"maven\"]"), false },
	{ { DEMANDS("Maven"), .any_case = true }, JOB(",\"demands\":[\"maven\"]"), true },
	{ { DEMANDS("maven", "java"), .rule = PIPELINEJOBS_SAME }, JOB(",\"demands\":[\"maven\"]"), false },
	{ { DEMANDS("maven", "java"), .rule = PIPELINEJOBS_SAME }, JOB(",\"demands\":[\"java\",\"maven\"]"), true },
	{ { DEMANDS("maven", "Agent.Version -gt 2"), .rule = PIPELINEJOBS_SAME }, JOB(",\"demands\":[\"maven\"]"),
		true },
	{ { DEMANDS("maven"), .rule = PIPELINEJOBS_ALL_OF_OURS }, JOB(",\"demands\":[\"maven\",\"docker\"]"), true },
	{ { DEMANDS("maven", "java"), .rule = PIPELINEJOBS_ALL_OF_OURS }, JOB(",\"demands\":[\"maven\"]"), false },
	/* an agent that could run it */
	{ { .parent = "template" }, JOB(",\"matchedAgents\":[{\"name\":\"a\"},{\"name\":\"template\"}]"), true },
	{ { .parent = "template" }, JOB(",\"matchedAgents\":[{\"name\":\"a\"}]"), false },
	{ { .parent = "template" }, JOB(""), false },
	{ { .parent = "template" }, JOB(",\"matchedAgents\":7"), false },
	{ { .parent = "template", DEMANDS("x") },
		JOB(",\"matchedAgents\":[{\"name\":\"template\"}],\"demands\":[\"y\"]"), true },
};

static void which_jobs_count(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		char text[512];
		struct err err = { 0 };
		json_t *answer;
		size_t count;

		snprintf(text, sizeof(text), "{\"count\":2,\"value\":[%s,%s]}", jobs[i].job, jobs[i].job);
		answer = parsed(text);
		assert_int_equal(pipelinejobs_count(answer, &jobs[i].filter, &count, &err), 0);
		if (count != (jobs[i].counts ? 2 : 0))
			fail_msg("row %zu: %zu of %s", i, count, text);
		json_decref(answer);
	}
}

/* It has as many jobs as were asked for, and ends with one that has not completed. */
static void a_list_that_may_have_been_cut(void **state)
{
	static const struct {
		const char *list;
		int64_t most;
		bool cut;
	} rows[] = { { "[{},{}]", 2, true }, { "[{\"result\":\"failed\"},{\"result\":null}]", 2, true },
		{ "[{},{\"result\":\"failed\"}]", 2, false }, { "[{},{}]", 3, false }, { "[{},{}]", 0, false },
		{ "[]", 1, false } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *answer = json_pack("{s:o}", "value", parsed(rows[i].list));

		if (pipelinejobs_is_cut(answer, rows[i].most) != rows[i].cut)
			fail_msg("%s, %lld were asked for", rows[i].list, (long long)rows[i].most);
		json_decref(answer);
	}
}

/* A job with too many demands does not count, whatever the rule. */
static void too_many_demands(void **state)
{
	struct pipelinejobs_filter filter = { DEMANDS("d"), .rule = PIPELINEJOBS_ALL_OF_OURS };

	(void)state;
	for (int demands = PIPELINEJOBS_DEMANDS_MAX; demands <= PIPELINEJOBS_DEMANDS_MAX + 1; demands++) {
		struct buf text = BUF_INIT(1u << 16);
		struct err err = { 0 };
		json_t *answer;
		size_t count;

		buf_puts(&text, "{\"value\":[{\"demands\":[\"d\"");
		for (int i = 1; i < demands; i++)
			buf_printf(&text, ",\"d%d\"", i);
		buf_puts(&text, "]},{\"demands\":[\"d\"]}]}");
		answer = parsed(buf_text(&text));
		assert_int_equal(pipelinejobs_count(answer, &filter, &count, &err), 0);
		assert_int_equal(count, demands == PIPELINEJOBS_DEMANDS_MAX ? 2 : 1);
		json_decref(answer);
		buf_done(&text);
	}
}

/* Only a valid empty list means no jobs. */
static void invalid_lists(void **state)
{
	static const char *const answers[] = { "{}", "[]", "{\"value\":null}", "{\"value\":{}}", "{\"value\":[1]}",
		"{\"$id\":\"1\",\"message\":\"TF400813\",\"typeName\":\"x\"}" };
	const struct pipelinejobs_filter any = { 0 };
	json_t *none = parsed("{\"count\":0,\"value\":[]}");
	struct err err = { 0 };
	size_t count = 9;

	(void)state;
	assert_int_equal(pipelinejobs_count(none, &any, &count, &err), 0);
	assert_int_equal(count, 0);
	json_decref(none);
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		json_t *answer = parsed(answers[i]);

		assert_int_equal(pipelinejobs_count(answer, &any, &count, &err), -1);
		assert_int_equal(err.kind, ERR_INVALID);
		json_decref(answer);
	}
}

static void pools_by_name(void **state)
{
	static const struct {
		const char *answer;
		enum err_kind kind;
		const char *message;
	} rows[] = {
		{ "{\"count\":1,\"value\":[{\"id\":42,\"name\":\"linux\"}]}", ERR_NONE, "" },
		{ "{\"value\":[]}", ERR_MISSING, "agent pool with name `linux` not found" },
		{ "{\"value\":[{\"id\":1},{\"id\":2}]}", ERR_INVALID, "found 2 agent pool with name `linux`" },
		{ "{\"value\":[{\"id\":\"1\"}]}", ERR_INVALID, "has no id" },
		{ "{\"id\":1}", ERR_INVALID, "no array \"value\"" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *answer = parsed(rows[i].answer);
		struct err err = { 0 };
		int64_t id = 0;

		assert_int_equal(pipelinejobs_pool(answer, "linux", &id, &err), rows[i].kind == ERR_NONE ? 0 : -1);
		assert_int_equal(err.kind, rows[i].kind);
		assert_non_null(strstr(err.msg, rows[i].message));
		assert_int_equal(id, rows[i].kind == ERR_NONE ? 42 : 0);
		json_decref(answer);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(which_jobs_count),
		cmocka_unit_test(a_list_that_may_have_been_cut), cmocka_unit_test(too_many_demands),
		cmocka_unit_test(invalid_lists), cmocka_unit_test(pools_by_name) };

	return cmocka_run_group_tests_name("scalers/azure/pipelinejobs", tests, NULL, NULL);
}
