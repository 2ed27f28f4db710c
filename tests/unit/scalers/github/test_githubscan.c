/* SPDX-License-Identifier: Apache-2.0 */
/* The order of requests of a count, and the cache of pages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "scalers/github/githubcache.h"
#include "scalers/github/githubscan.h"

static const char *const two[] = { "web", "mail" };
static const struct githubscan_place named = { .owner = "shop", .repos = two, .count = 2 };
static const struct githubscan_place all = { .owner = "shop" }, user = { .owner = "me", .is_user = true };

/* r<first> and so on */
static struct githubpage repos_from(size_t first, size_t count, bool more)
{
	struct githubpage page = { .link = more ? GITHUBPAGE_NEXT : GITHUBPAGE_LAST,
		.count = count,
		.names = mem_zalloc((count + 1) * sizeof(char *)) };

	for (size_t i = 0; i < count; i++)
		page.names[i] = mem_printf("r%zu", first + i);
	return page;
}

static struct githubpage repos_of(size_t count, bool more)
{
	return repos_from(0, count, more);
}

static struct githubpage runs_of(size_t count, int64_t first)
{
	struct githubpage page = { .count = count, .runs = mem_zalloc((count + 1) * sizeof(int64_t)) };

	for (size_t i = 0; i < count; i++)
		page.runs[i] = first + (int64_t)i;
	return page;
}

/* The expected request and its answer; returns githubscan_take's result. */
static int step(struct githubscan *s, const struct githubscan_place *place, const char *path, struct githubpage page,
	struct err *err)
{
	MEM_AUTO char *asked = githubscan_path(s, place);
	int rc;

	assert_string_equal(asked, path);
	rc = githubscan_take(s, place, &page, err);
	githubpage_done(&page);
	return rc;
}

#define STEP(place, path, ...) assert_int_equal(step(&s, place, path, __VA_ARGS__, &err), 0)
#define JOBS(n)                                                                                                        \
	(struct githubpage)                                                                                            \
	{                                                                                                              \
		.count = (n)                                                                                           \
	}
#define RUNS_OF(repo, status)    "/repos/shop/" repo "/actions/runs?status=" status "&per_page=100"
#define JOBS_OF(repo, run, page) "/repos/shop/" repo "/actions/runs/" run "/jobs?per_page=100&page=" page

static void named_repositories(void **state)
{
	struct githubscan s = { 0 };
	struct err err = { 0 };

	(void)state;
	githubscan_begin(&s, &named);
	STEP(&named, RUNS_OF("web", "queued"), runs_of(1, 7));
	STEP(&named, RUNS_OF("web", "in_progress"), runs_of(2, 7)); /* it started during the scan */
	STEP(&named, JOBS_OF("web", "7", "1"), ((struct githubpage){ .link = GITHUBPAGE_NEXT, .count = 60 }));
	STEP(&named, JOBS_OF("web", "7", "2"), JOBS(1));
	STEP(&named, JOBS_OF("web", "8", "1"), JOBS(2));
	STEP(&named, RUNS_OF("mail", "queued"), runs_of(0, 0));
	assert_int_equal(s.stage, GITHUBSCAN_RUNNING);
	STEP(&named, RUNS_OF("mail", "in_progress"), runs_of(0, 0));
	assert_int_equal(s.stage, GITHUBSCAN_DONE);
	assert_int_equal(s.jobs, 63);
	githubscan_done(&s);
}

static void all_repositories(void **state)
{
	struct githubscan s = { 0 };
	struct err err = { 0 };

	(void)state;
	githubscan_begin(&s, &all);
	STEP(&all, "/orgs/shop/repos?per_page=100&page=1", repos_of(1, true));
	/* a new repository has moved the last one of the first page */
	STEP(&all, "/orgs/shop/repos?per_page=100&page=2", repos_of(2, false));
	assert_int_equal(s.name_count, 2);
	/* one was deleted during the scan */
	assert_int_equal(githubscan_missing(&s, &all, &err), 0);
	STEP(&all, RUNS_OF("r1", "queued"), runs_of(0, 0));
	STEP(&all, RUNS_OF("r1", "in_progress"), runs_of(0, 0));
	assert_int_equal(s.stage, GITHUBSCAN_DONE);
	assert_int_equal(s.jobs, 0);
	githubscan_done(&s);

	githubscan_begin(&s, &user);
	STEP(&user, "/users/me/repos?per_page=100&page=1", repos_of(1, false));
	githubscan_done(&s);
}

static struct githubpage entries(struct githubpage page, size_t entries, int64_t total)
{
	page.link = GITHUBPAGE_UNKNOWN;
	page.entries = entries;
	page.total = total;
	return page;
}

/* Gitea chooses its page size, and a proxy may remove Link. */
static void other_page_sizes(void **state)
{
	struct githubscan s = { 0 };
	struct err err = { 0 };

	(void)state;
	githubscan_begin(&s, &all);
	STEP(&all, "/orgs/shop/repos?per_page=100&page=1", entries(repos_from(0, 1, false), 100, 0));
	STEP(&all, "/orgs/shop/repos?per_page=100&page=2", entries(repos_from(1, 1, false), 99, 0));
	STEP(&all, RUNS_OF("r0", "queued"), entries(runs_of(1, 7), 30, 40));
	STEP(&all, RUNS_OF("r0", "queued") "&page=2", entries(runs_of(1, 8), 10, 40));
	STEP(&all, RUNS_OF("r0", "in_progress"), entries(runs_of(0, 0), 0, 0));
	STEP(&all, JOBS_OF("r0", "7", "1"), entries(JOBS(30), 30, 31));
	STEP(&all, JOBS_OF("r0", "7", "2"), entries(JOBS(1), 1, 31));
	/* total_count is wrong: the last page is empty */
	STEP(&all, JOBS_OF("r0", "8", "1"), entries(JOBS(2), 2, 9));
	STEP(&all, JOBS_OF("r0", "8", "2"), entries(JOBS(0), 0, 9));
	assert_int_equal(s.stage, GITHUBSCAN_QUEUED);
	assert_false(s.cut);
	/* only a hundred runs count */
	STEP(&all, RUNS_OF("r1", "queued"), entries(runs_of(1, 1), 100, 101));
	assert_true(s.cut);
	STEP(&all, RUNS_OF("r1", "in_progress"), entries(runs_of(0, 0), 100, 100));
	STEP(&all, JOBS_OF("r1", "1", "1"), JOBS(1));
	assert_int_equal(s.stage, GITHUBSCAN_DONE);
	assert_int_equal(s.jobs, 34);
	githubscan_done(&s);
}

/* None of these is a count of 0. */
static void invisible_repositories(void **state)
{
	struct githubscan s = { 0 };
	struct err err = { 0 };

	(void)state;
	githubscan_begin(&s, &named);
	assert_int_equal(githubscan_missing(&s, &named, &err), -1);
	assert_non_null(strstr(err.msg, "repository shop/web does not exist, or the token may not read its runs"));
	githubscan_done(&s);

	githubscan_begin(&s, &all);
	assert_int_equal(githubscan_missing(&s, &all, &err), -1);
	assert_non_null(strstr(err.msg, "organization shop does not exist"));
	assert_int_equal(step(&s, &all, "/orgs/shop/repos?per_page=100&page=1", repos_of(0, false), &err), -1);
	assert_non_null(strstr(err.msg, "shop has no repository that the token may see"));
	STEP(&all, "/orgs/shop/repos?per_page=100&page=1", repos_of(2, false));
	assert_int_equal(githubscan_missing(&s, &all, &err), 0);
	assert_int_equal(githubscan_missing(&s, &all, &err), -1);
	assert_int_equal(err.kind, ERR_MISSING);
	assert_non_null(strstr(err.msg, "shop has no repository whose runs the token may read"));
	githubscan_done(&s);

	githubscan_begin(&s, &all);
	STEP(&all, "/orgs/shop/repos?per_page=100&page=1", repos_of(1, false));
	STEP(&all, RUNS_OF("r0", "queued"), runs_of(1, 5));
	STEP(&all, RUNS_OF("r0", "in_progress"), runs_of(0, 0));
	assert_int_equal(githubscan_missing(&s, &all, &err), -1);
	githubscan_done(&s);
}

static void limits(void **state)
{
	struct githubscan s = { 0 };
	struct err err = { 0 };
	char path[64];

	(void)state;
	githubscan_begin(&s, &all);
	for (size_t n = 1; n <= 10; n++) {
		snprintf(path, sizeof(path), "/orgs/shop/repos?per_page=100&page=%zu", n);
		STEP(&all, path, repos_from(100 * (n - 1), 100, true));
	}
	assert_int_equal(step(&s, &all, "/orgs/shop/repos?per_page=100&page=11", repos_from(1000, 1, false), &err), -1);
	assert_non_null(strstr(err.msg, "more than 1000 repositories: set repos to those that count"));
	githubscan_done(&s);
}

static void pages_are_cached_by_etag(void **state)
{
	struct githubcache *m = githubcache_new();
	struct githubpage page = runs_of(2, 7), other = JOBS(3);
	char long_etag[300] = "", path[32];

	(void)state;
	memset(long_etag, 'x', sizeof(long_etag) - 1);
	githubcache_put(m, "/a", "W/\"1\"", &page);
	githubcache_put(m, "/b", "\"2\"", &other);
	other = JOBS(4);
	githubcache_put(m, "/c", "", &other);
	other = JOBS(4);
	githubcache_put(m, "/c", long_etag, &other);
	assert_null(githubcache_etag(m, "/c"));
	assert_string_equal(githubcache_etag(m, "/a"), "W/\"1\"");
	assert_true(githubcache_page(m, "/a")->runs[1] == 8);
	assert_int_equal(githubcache_page(m, "/b")->count, 3);
	assert_null(githubcache_page(m, "/c"));
	githubcache_sweep(m);
	/* of the next scan */
	other = JOBS(5);
	githubcache_put(m, "/b", "\"3\"", &other);
	githubcache_sweep(m);
	assert_null(githubcache_etag(m, "/a"));
	assert_string_equal(githubcache_etag(m, "/b"), "\"3\"");
	assert_int_equal(githubcache_page(m, "/b")->count, 5);
	/* without an ETag the old entry is dropped */
	other = JOBS(6);
	githubcache_put(m, "/b", "", &other);
	assert_null(githubcache_etag(m, "/b"));
	for (int i = 0; i < 5000; i++) {
		snprintf(path, sizeof(path), "/%d", i);
		other = JOBS(1);
		githubcache_put(m, path, "e", &other);
	}
	assert_non_null(githubcache_etag(m, "/3999"));
	assert_null(githubcache_etag(m, "/4000"));
	githubcache_free(m);

	other = JOBS(1);
	githubcache_put(NULL, "/a", "e", &other);
	assert_null(githubcache_etag(NULL, "/a"));
	githubcache_sweep(NULL);
	githubcache_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(named_repositories), cmocka_unit_test(all_repositories),
		cmocka_unit_test(other_page_sizes), cmocka_unit_test(invisible_repositories), cmocka_unit_test(limits),
		cmocka_unit_test(pages_are_cached_by_etag) };

	return cmocka_run_group_tests_name("scalers/github/githubscan", tests, NULL, NULL);
}
