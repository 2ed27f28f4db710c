/* SPDX-License-Identifier: Apache-2.0 */
/* GitHub's lists, and the jobs for our runner. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"
#include "scalers/github/githubpage.h"

static const struct githubpage_runner plain;

/* An array with n copies of an entry, as a field of an object if field is given. */
static json_t *many(const char *field, const char *entry, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_parse(entry, strlen(entry), NULL));
	return field ? json_pack("{so}", field, list) : list;
}

static void repositories(void **state)
{
	static const char text[] = "[{\"name\":\"shop\",\"archived\":false},{\"name\":\"old\",\"archived\":true},"
				   "{\"name\":\"gone\",\"disabled\":true},{\"name\":\"a.b_c-D9\"}]";
	json_t *answer = json_parse(text, strlen(text), NULL), *hundred = many(NULL, "{\"name\":\"x\"}", 100);
	struct githubpage page;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(githubpage_read(GITHUBPAGE_REPOS, answer, "", NULL, &page, &err), 0);
	assert_int_equal(page.count, 2);
	assert_string_equal(page.names[0], "shop");
	assert_string_equal(page.names[1], "a.b_c-D9");
	assert_int_equal(page.entries, 4);
	githubpage_done(&page);
	assert_int_equal(githubpage_read(GITHUBPAGE_REPOS, hundred, "", NULL, &page, &err), 0);
	assert_int_equal(page.count, 100);
	assert_int_equal(page.entries, 100);
	githubpage_done(&page);
	json_decref(answer);
	json_decref(hundred);
}

static void runs(void **state)
{
	static const char text[] =
		"{\"total_count\":4,\"workflow_runs\":[{\"id\":30433642,\"status\":\"queued\"},"
		"{\"id\":2,\"status\":\"completed\"},{\"id\":9007199254740993,\"status\":\"in_progress\"},"
		"{\"id\":4,\"status\":\"waiting\"}]}";
	json_t *answer = json_parse(text, strlen(text), NULL);
	struct githubpage page;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(githubpage_read(GITHUBPAGE_RUNS, answer, "", NULL, &page, &err), 0);
	assert_int_equal(page.count, 2);
	assert_true(page.entries == 4 && page.total == 4);
	assert_true(page.runs[0] == 30433642 && page.runs[1] == INT64_C(9007199254740993));
	githubpage_done(&page);
	json_decref(answer);
}

#define LABELS(...)                                                                                                    \
	.labels = (const char *const[]){ __VA_ARGS__ },                                                                \
	.count = sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *)
#define OPEN(labels) "{\"status\":\"queued\",\"labels\":" labels "}"

static void jobs(void **state)
{
	const struct {
		const char *job;
		struct githubpage_runner runner;
		bool counts;
	} rows[] = {
		{ OPEN("[\"self-hosted\"]"), { 0 }, true },
		{ OPEN("[\"self-hosted\",\"Linux\",\"X64\"]"), { 0 }, true },
		{ OPEN("[\"self-hosted\"]"), { .no_default_labels = true }, false },
		{ OPEN("[\"ubuntu-latest\"]"), { 0 }, false },
		{ OPEN("[\"self-hosted\",\"GPU\"]"), { LABELS("gpu", "big") }, true },
		{ OPEN("[\"self-hosted\",\"gpu\",\"huge\"]"), { LABELS("gpu", "big") }, false },
		{ OPEN("[\"gpu\"]"), { LABELS("gpu"), .no_default_labels = true }, true },
		{ OPEN("[]"), { LABELS("gpu") }, true },
		{ OPEN("[]"), { LABELS("gpu"), .unlabeled_apart = true }, false },
		{ OPEN("[]"), { .unlabeled_apart = true }, true },
		{ OPEN("[\"linux\"]"), { .unlabeled_apart = true }, true },
		{ "{\"status\":\"queued\"}", { 0 }, true },
		{ "{\"status\":\"in_progress\",\"labels\":[\"linux\"]}", { 0 }, true },
		{ "{\"status\":\"completed\",\"labels\":[\"linux\"]}", { 0 }, false },
		{ "{\"status\":\"waiting\",\"labels\":[\"linux\"]}", { 0 }, false },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		json_t *answer = many("jobs", rows[i].job, 3);
		struct githubpage page;
		struct err err = { 0 };

		assert_int_equal(githubpage_read(GITHUBPAGE_JOBS, answer, "", &rows[i].runner, &page, &err), 0);
		if (page.count != (rows[i].counts ? 3 : 0))
			fail_msg("row %zu, %s: %zu", i, rows[i].job, page.count);
		githubpage_done(&page);
		json_decref(answer);
	}
}

static void malformed_pages(void **state)
{
	static const struct {
		enum githubpage_kind kind;
		const char *field, *entry;
		size_t count;
		const char *message;
	} rows[] = {
		{ GITHUBPAGE_REPOS, "repos", "{}", 1,
			"not a list of repositories: is githubApiURL the URL of GitHub's API?" },
		{ GITHUBPAGE_REPOS, NULL, "{}", 1, "a repository of the list has no valid name" },
		{ GITHUBPAGE_REPOS, NULL, "{\"name\":\"..\"}", 1, "a repository of the list has no valid name" },
		{ GITHUBPAGE_REPOS, NULL, "{\"name\":\"a/b\"}", 1, "a repository of the list has no valid name" },
		{ GITHUBPAGE_REPOS, NULL, "{\"name\":\"a\"}", 101, "a page has more than 100 entries" },
		{ GITHUBPAGE_RUNS, NULL, "{\"id\":1}", 1, "not a list of workflow_runs" },
		{ GITHUBPAGE_RUNS, "jobs", "{\"id\":1}", 1, "not a list of workflow_runs" },
		{ GITHUBPAGE_RUNS, "workflow_runs", "7", 1, "a run of the list has no id" },
		{ GITHUBPAGE_RUNS, "workflow_runs", "{\"id\":\"1\"}", 1, "a run of the list has no id" },
		{ GITHUBPAGE_RUNS, "workflow_runs", "{\"id\":-1}", 1, "a run of the list has no id" },
		{ GITHUBPAGE_RUNS, "workflow_runs", "{\"id\":1}", 101, "a page has more than 100 entries" },
		{ GITHUBPAGE_JOBS, "workflow_runs", "{}", 1, "not a list of jobs" },
		{ GITHUBPAGE_JOBS, "jobs", "{}", 1, "a job of the list has no status" },
		{ GITHUBPAGE_JOBS, "jobs", "{\"status\":\"queued\",\"labels\":[7]}", 1,
			"a label of a job is not a string" },
		{ GITHUBPAGE_JOBS, "jobs", "{\"status\":\"queued\"}", 101, "a page has more than 100 entries" },
	};
	json_t *labels = many("labels", "\"linux\"", 101), *answer;
	struct githubpage page;
	struct err err = { 0 };

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		answer = many(rows[i].field, rows[i].entry, rows[i].count);
		assert_int_equal(githubpage_read(rows[i].kind, answer, "", &plain, &page, &err), -1);
		assert_int_equal(err.kind, ERR_INVALID);
		if (!strstr(err.msg, rows[i].message))
			fail_msg("row %zu: %s", i, err.msg);
		githubpage_done(&page);
		json_decref(answer);
	}
	json_object_set_new(labels, "status", json_string("queued"));
	answer = json_pack("{s[o]}", "jobs", labels);
	assert_int_equal(githubpage_read(GITHUBPAGE_JOBS, answer, "", &plain, &page, &err), -1);
	assert_non_null(strstr(err.msg, "a job has more than 100 labels"));
	githubpage_done(&page);
	json_decref(answer);
}

/* The header Link. */
static void links(void **state)
{
	static const struct {
		const char *header;
		enum githubpage_link link;
	} rows[] = {
		{ "<https://a/orgs/shop/repos?page=2>; rel=\"next\",<https://a/?page=4>; rel=\"last\"",
			GITHUBPAGE_NEXT },
		{ "<https://a/?page=1>; rel=first, <https://a/?page=3>; rel=next", GITHUBPAGE_NEXT },
		{ "<https://a/?page=1>; rel=\"prev\", <https://a/?page=1>; rel=\"first\"", GITHUBPAGE_LAST },
		{ "<https://cdn.example>; rel=preconnect", GITHUBPAGE_UNKNOWN },
		{ "", GITHUBPAGE_UNKNOWN },
	};
	json_t *answer = json_pack("[]");

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct githubpage page;
		struct err err = { 0 };

		assert_int_equal(githubpage_read(GITHUBPAGE_REPOS, answer, rows[i].header, NULL, &page, &err), 0);
		if (page.link != rows[i].link)
			fail_msg("%s: %d", rows[i].header, page.link);
		githubpage_done(&page);
	}
	json_decref(answer);
}

static void error_messages(void **state)
{
	json_t *answer = json_pack("{ss}", "message", "Bad\ncredentials");
	char out[GITHUBPAGE_WORDS];

	(void)state;
	assert_string_equal(githubpage_words(answer, out), "Bad credentials");
	assert_string_equal(githubpage_words(NULL, out), "");
	json_decref(answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(repositories), cmocka_unit_test(runs),
		cmocka_unit_test(jobs), cmocka_unit_test(malformed_pages), cmocka_unit_test(links),
		cmocka_unit_test(error_messages) };

	return cmocka_run_group_tests_name("scalers/github/githubpage", tests, NULL, NULL);
}
