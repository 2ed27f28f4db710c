/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../fake_kube.h"
#include "serve/access/authz.h"

static struct loop *loop;
static struct kube *kube;
static struct authz *authz;
static struct requester *mia, *root;

static const struct review_access jobs = { .verb = "list",
	.group = "external.metrics.k8s.io",
	.version = "v1beta1",
	.resource = "s0-redis-jobs",
	.namespace_ = "shop" };
static const struct review_access version = { .verb = "get", .path = "/version" };

struct outcome {
	int told;
	struct err err; /* kind ERR_NONE: allowed */
};

static void on_access(void *arg, const struct err *err)
{
	struct outcome *o = arg;

	o->told++;
	o->err.kind = ERR_NONE;
	if (err)
		o->err = *err;
}

static void expect_denied(const struct review_access *access, const char *message)
{
	struct err err = { 0 };

	assert_int_equal(authz_peek(authz, mia, access, &err), AUTHZ_DENIED);
	assert_int_equal(err.kind, ERR_DENIED);
	if (!strstr(err.msg, message))
		fail_msg("\"%s\" is not in: %s", message, err.msg);
}

static void masters_are_never_asked_about(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(authz_peek(authz, root, &jobs, &err), AUTHZ_ALLOWED);
	assert_int_equal(authz_peek(authz, root, &version, &err), AUTHZ_ALLOWED);
	assert_int_equal(fake_kube_access_reviews_ever(kube), 0);
}

static void the_review_has_resource_and_namespace(void **state)
{
	struct outcome metric = { 0 }, path = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(authz_peek(authz, mia, &jobs, &err), AUTHZ_UNKNOWN);
	authz_ask(authz, mia, &jobs, on_access, &metric);
	authz_ask(authz, mia, &version, on_access, &path);
	assert_string_equal(fake_kube_access(kube), "mia list external.metrics.k8s.io/v1beta1 s0-redis-jobs shop");
	fake_kube_answer_access(kube, true, NULL);
	assert_string_equal(fake_kube_access(kube), "mia get /version");
	fake_kube_answer_access(kube, false, "no role");
	assert_true(metric.told == 1 && metric.err.kind == ERR_NONE);
	assert_true(path.told == 1 && path.err.kind == ERR_DENIED);
	assert_int_equal(authz_peek(authz, mia, &jobs, &err), AUTHZ_ALLOWED);
	expect_denied(&version, "forbidden: User \"mia\" cannot get path \"/version\": no role");
}

static void both_answers_are_cached_for_the_exact_access(void **state)
{
	struct review_access others[] = { jobs, jobs, jobs, jobs };
	struct outcome o = { 0 };
	struct err err;

	(void)state;
	others[0].verb = "get";
	others[1].resource = "s1-redis-jobs";
	others[2].namespace_ = "shop2";
	others[3].namespace_ = NULL;
	authz_ask(authz, mia, &jobs, on_access, &o);
	fake_kube_answer_access(kube, false, "");
	expect_denied(&jobs,
		"User \"mia\" cannot list resource \"s0-redis-jobs\" in API group \"external.metrics.k8s.io\" in the "
		"namespace \"shop\"");
	assert_null(strstr(o.err.msg, "\": "));
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(authz_peek(authz, mia, &others[i], &err), AUTHZ_UNKNOWN);
	assert_int_equal(fake_kube_access_reviews_ever(kube), 1);
}

/* The parts of a key cannot be moved from one to the next. */
static void names_that_run_together_differ(void **state)
{
	struct review_access a = jobs, b = jobs;
	struct outcome o = { 0 };
	struct err err;

	(void)state;
	a.namespace_ = "ab", a.resource = "c";
	b.namespace_ = "a", b.resource = "bc";
	authz_ask(authz, mia, &a, on_access, &o);
	fake_kube_answer_access(kube, true, NULL);
	assert_int_equal(authz_peek(authz, mia, &a, &err), AUTHZ_ALLOWED);
	assert_int_equal(authz_peek(authz, mia, &b, &err), AUTHZ_UNKNOWN);
}

static void a_failing_api_server_neither_allows_nor_denies(void **state)
{
	static const enum err_kind kinds[] = { ERR_TEMPORARY, ERR_DENIED, ERR_INVALID, ERR_MISSING };
	struct err err;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct outcome o = { 0 };

		authz_ask(authz, mia, &jobs, on_access, &o);
		fake_kube_fail_access(kube, kinds[i], "subjectaccessreviews is forbidden");
		assert_int_equal(o.told, 1);
		assert_int_equal(o.err.kind, ERR_TEMPORARY);
		assert_non_null(strstr(o.err.msg, "subjectaccessreviews is forbidden"));
		assert_int_equal(authz_peek(authz, mia, &jobs, &err), AUTHZ_UNKNOWN);
	}
}

static void askers_share_a_review_and_may_leave(void **state)
{
	struct outcome a = { 0 }, b = { 0 };
	struct authz_wait *wait;

	(void)state;
	wait = authz_ask(authz, mia, &jobs, on_access, &a);
	authz_ask(authz, mia, &jobs, on_access, &b);
	authz_cancel(wait);
	authz_cancel(NULL);
	assert_int_equal(fake_kube_access_reviews_ever(kube), 1);
	fake_kube_answer_access(kube, true, NULL);
	assert_true(a.told == 0 && b.told == 1);
}

static void names_past_all_reason_are_denied_unasked(void **state)
{
	static char giant[4000];
	struct review_access access = jobs;

	(void)state;
	memset(giant, 'x', sizeof(giant) - 1);
	access.resource = giant;
	expect_denied(&access, "too long");
	assert_int_equal(fake_kube_access_reviews_ever(kube), 0);
}

static int set_up(void **state)
{
	char name[] = "mia", group[] = "dev", root_name[] = "root", masters[] = "system:masters";
	char *groups[] = { group }, *root_groups[] = { masters };
	struct review_user user = { .name = name, .groups = groups, .group_count = 1 };
	struct review_user root_user = { .name = root_name, .groups = root_groups, .group_count = 1 };

	(void)state;
	loop = loop_new(NULL);
	kube = fake_kube_new(loop);
	authz = authz_new(kube);
	mia = requester_new(&user);
	root = requester_new(&root_user);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	requester_unref(mia);
	requester_unref(root);
	authz_free(authz);
	fake_kube_free(kube);
	loop_free(loop);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(masters_are_never_asked_about, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_review_has_resource_and_namespace, set_up, tear_down),
		cmocka_unit_test_setup_teardown(both_answers_are_cached_for_the_exact_access, set_up, tear_down),
		cmocka_unit_test_setup_teardown(names_that_run_together_differ, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_failing_api_server_neither_allows_nor_denies, set_up, tear_down),
		cmocka_unit_test_setup_teardown(askers_share_a_review_and_may_leave, set_up, tear_down),
		cmocka_unit_test_setup_teardown(names_past_all_reason_are_denied_unasked, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
