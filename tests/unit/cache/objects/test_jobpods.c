/* SPDX-License-Identifier: Apache-2.0 */
/* Which Jobs are pending, by their Pods: the requests, their number, and failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../fakes/fakecluster.h"
#include "../../fakes/fakeloop.h"

#include "base/mem.h"
#include "cache/objects/jobpods.h"

#define POD(namespace_, name) "/api/v1/namespaces/" namespace_ "/pods/" name
#define JOBS_MAX              300

static struct {
	struct kube *kube;
	struct loop *loop;
	struct jobpods *asked;
	unsigned told;
	char pending[4096]; /* names, each with a blank */
	size_t count;
	struct err err;
	bool cancel_inside;
} t;

static void on_pending(void *arg, const char *const *pending, size_t count, const struct err *err)
{
	assert_ptr_equal(arg, &t);
	t.told++;
	t.count = count;
	t.pending[0] = '\0';
	for (size_t i = 0; i < count; i++)
		if (strlen(t.pending) + strlen(pending[i]) + 2 < sizeof(t.pending)) {
			strcat(t.pending, pending[i]);
			strcat(t.pending, " ");
		}
	t.err = err ? *err : (struct err){ .kind = ERR_NONE };
	if (err)
		assert_int_equal(count, 0);
	if (t.cancel_inside)
		jobpods_cancel(t.asked);
}

static int setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	t.loop = fakeloop_start();
	t.kube = fakecluster_start(t.loop);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fakeloop_advance(0);
	fakecluster_end();
	fakeloop_end();
	return 0;
}

static void pod(const char *namespace_, const char *name, const char *job, const char *status)
{
	MEM_AUTO char *path = mem_printf("/api/v1/namespaces/%s/pods/%s", namespace_, name),
		      *text = mem_printf("{'metadata':{'labels':{'job-name':'%s'}},'spec':{},'status':%s}", job,
			      status);

	fakecluster_apply(path, text);
}

static void start(const char *const *jobs, size_t count, const char *const *conditions, size_t condition_count,
	int64_t deadline_ms)
{
	struct jobpods_request request = { "shop", jobs, count, conditions, condition_count, deadline_ms };

	t.told = 0;
	t.asked = jobpods_ask(t.kube, &request, on_pending, &t);
	assert_int_equal(t.told, 0); /* never before it returned */
}

static void ask(const char *const *jobs, size_t count, const char *const *conditions, size_t condition_count)
{
	start(jobs, count, conditions, condition_count, 5000);
	fakeloop_advance(5000);
	assert_int_equal(t.told, 1);
}

/* j000, j001, ...; they live until the next call */
static const char *const *many_jobs(size_t count)
{
	static char texts[JOBS_MAX][8];
	static const char *names[JOBS_MAX];

	assert_in_range(count, 0, JOBS_MAX);
	for (size_t i = 0; i < count; i++) {
		snprintf(texts[i], sizeof(texts[i]), "j%03zu", i);
		names[i] = texts[i];
	}
	return names;
}

static const char *const abc[] = { "c", "a", "b" };

/* ---- The rule ---- */

static void jobs_without_a_started_pod_are_pending(void **state)
{
	(void)state;
	pod("shop", "a-1", "a", "{'phase':'Pending'}");
	pod("shop", "b-1", "b", "{'phase':'Failed'}");
	pod("shop", "b-2", "b", "{'phase':'Running'}");
	pod("bank", "a-1", "a", "{'phase':'Running'}"); /* foreign */
	pod("shop", "d-1", "d", "{'phase':'Running'}");
	ask(abc, 3, NULL, 0);
	assert_int_equal(t.err.kind, ERR_NONE);
	assert_string_equal(t.pending, "a c ");
	assert_string_equal(fakecluster_last_path(KUBE_LIST, "/pods"),
		"/api/v1/namespaces/shop/"
		"pods?limit=100&labelSelector=job-name%20in%20%28a%2Cb%2Cc%29&fieldSelector=status.phase%21%3DPending%"
		"2Cstatus.phase%21%3DFailed%2Cstatus.phase%21%3DUnknown");
	fakecluster_change(POD("shop", "a-1"), "{'status':{'phase':'Succeeded'}}");
	pod("shop", "c-1", "c", "{'phase':'Unknown'}");
	ask(abc, 3, NULL, 0);
	assert_string_equal(t.pending, "c ");
}

/* With conditions the phase does not matter, and so each Pod is looked at. */
static void with_conditions_these_must_be_true(void **state)
{
	static const char *const conditions[] = { "Ready", "PodScheduled" };

	(void)state;
	pod("shop", "a-1", "a",
		"{'phase':'Running','conditions':[{'type':'PodScheduled','status':'True'},{'type':'Ready','status':'"
		"False'}]}");
	pod("shop", "b-1", "b",
		"{'phase':'Pending','conditions':[{'type':'PodScheduled','status':'True'},{'type':'Ready','status':'"
		"True'}]}");
	pod("shop", "c-1", "c",
		"{'phase':'Failed','conditions':[{'type':'PodScheduled','status':'True'},{'type':'Ready','status':'"
		"True'}]}");
	ask(abc, 3, conditions, 2);
	assert_string_equal(t.pending, "a ");
	assert_string_equal(fakecluster_last_path(KUBE_LIST, "/pods"),
		"/api/v1/namespaces/shop/pods?limit=100&labelSelector=job-name%20in%20%28a%2Cb%2Cc%29");
}

static void strange_pods_start_nothing(void **state)
{
	(void)state;
	pod("shop", "a-1", "a", "7");
	pod("shop", "b-1", "b", "{'phase':['Running']}");
	fakecluster_apply(POD("shop", "c-1"), "{'metadata':{'labels':{'job-name':7}},'status':{'phase':'Running'}}");
	ask(abc, 3, NULL, 0);
	assert_int_equal(t.err.kind, ERR_NONE);
	assert_string_equal(t.pending, "a b c ");
}

/* ---- How many requests ---- */

static void without_jobs_no_list_is_requested(void **state)
{
	(void)state;
	start(NULL, 0, NULL, 0, 0);
	fakeloop_advance(0);
	assert_int_equal(t.told, 1);
	assert_int_equal(t.err.kind, ERR_NONE);
	assert_int_equal(t.count, 0);
	assert_int_equal(fakecluster_calls(KUBE_LIST, ""), 0);
}

static void names_go_in_hundreds_one_list_after_the_other(void **state)
{
	(void)state;
	pod("shop", "first", "j000", "{'phase':'Running'}");
	pod("shop", "last", "j249", "{'phase':'Running'}");
	start(many_jobs(250), 250, NULL, 0, 5000);
	for (int ms = 0; ms < 100; ms++) {
		assert_in_range(fakecluster_under_way(), 0, 1);
		fakeloop_advance(1);
	}
	assert_int_equal(t.told, 1);
	assert_int_equal(t.count, 248);
	assert_int_equal(fakecluster_calls(KUBE_LIST, "/pods"), 3);
	assert_int_equal(fakecluster_calls(KUBE_LIST, "%28j000%2C"), 1);
	assert_int_equal(fakecluster_calls(KUBE_LIST, "%28j100%2C"), 1);
	assert_int_equal(fakecluster_calls(KUBE_LIST, "%28j200%2C"), 1);
	assert_int_equal(fakecluster_calls(KUBE_LIST, "%2Cj099%29"), 1);
	assert_null(strstr(fakecluster_last_path(KUBE_LIST, "/pods"), "continue="));
}

/*
 * One Job may have thousands of Pods: none of them is read when all Jobs of the list are found to
 * have started.
 */
static void pages_are_read_while_an_asker_waits(void **state)
{
	char name[16];

	(void)state;
	for (int i = 0; i < 250; i++) {
		snprintf(name, sizeof(name), "a-%d", i);
		pod("shop", name, "a", "{'phase':'Running'}");
	}
	pod("shop", "b-1", "b", "{'phase':'Running'}");
	ask(abc, 3, NULL, 0);
	assert_string_equal(t.pending, "c ");
	assert_int_equal(fakecluster_calls(KUBE_LIST, "/pods"), 3);
	assert_int_equal(fakecluster_calls(KUBE_LIST, "&continue=100%3D"), 1);
	assert_int_equal(fakecluster_calls(KUBE_LIST, "&continue=200%3D"), 1);
	fakecluster_forget_calls();
	ask(&abc[1], 1, NULL, 0);
	assert_int_equal(t.count, 0);
	assert_int_equal(fakecluster_calls(KUBE_LIST, "/pods"), 1);
}

/* A label has at most 63 characters: the API server would refuse the whole list. */
static void a_name_that_is_no_label_is_not_asked_for(void **state)
{
	static const char *const jobs[] = { "a", "a23456789-123456789-123456789-123456789-123456789-123456789-1234",
		"b" };

	(void)state;
	pod("shop", "a-1", "a", "{'phase':'Running'}");
	ask(jobs, 3, NULL, 0);
	assert_int_equal(t.err.kind, ERR_NONE);
	assert_int_equal(t.count, 2);
	assert_int_equal(fakecluster_calls(KUBE_LIST, "%28a%2Cb%29"), 1);
	fakecluster_forget_calls();
	ask(&jobs[1], 1, NULL, 0);
	assert_int_equal(t.count, 1);
	assert_int_equal(fakecluster_calls(KUBE_LIST, ""), 0);
}

/* ---- Failures ---- */

static void one_failing_list_fails_the_whole(void **state)
{
	static const struct {
		const char *part;
		int http_status;
		enum err_kind kind;
		const char *message;
	} cases[] = {
		{ "%28j000", 403, ERR_DENIED,
			"listing the Pods of Jobs in namespace shop: grant list on pods: HTTP 403 refused by the "
			"test" },
		{ "%28j100", 503, ERR_TEMPORARY,
			"listing the Pods of Jobs in namespace shop: HTTP 503 refused by the test" },
		/* not of a continue token */
		{ "%28j100", 410, ERR_GONE,
			"listing the Pods of Jobs in namespace shop: HTTP 410 refused by the test" },
		{ "%28j200", 401, ERR_DENIED,
			"listing the Pods of Jobs in namespace shop: HTTP 401 refused by the test" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_LIST, cases[i].part, 1, cases[i].http_status);
		ask(many_jobs(250), 250, NULL, 0);
		assert_int_equal(t.err.kind, cases[i].kind);
		assert_string_equal(t.err.msg, cases[i].message);
		fakecluster_heal();
	}
}

static void fill_two_pages(void)
{
	char name[16];

	for (int i = 0; i < 150; i++) {
		snprintf(name, sizeof(name), "a-%d", i);
		pod("shop", name, "a", "{'phase':'Running'}");
	}
}

static void an_expired_token_restarts_the_list_once(void **state)
{
	(void)state;
	fill_two_pages();
	pod("shop", "b-1", "b", "{'phase':'Running'}");
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_LIST, "continue=", 1, 410);
	ask(abc, 3, NULL, 0);
	assert_int_equal(t.err.kind, ERR_NONE);
	assert_string_equal(t.pending, "c ");
	assert_int_equal(fakecluster_calls(KUBE_LIST, "/pods"), 4); /* page, lost page, both once more */
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_LIST, "continue=", FAKECLUSTER_ANY, 410);
	ask(abc, 3, NULL, 0);
	assert_int_equal(t.err.kind, ERR_GONE);
}

static void the_deadline_is_that_of_all_together(void **state)
{
	int64_t begin_ms;

	(void)state;
	fakecluster_answer_lag(400);
	start(many_jobs(300), 300, NULL, 0, 1000);
	begin_ms = loop_now_ms(t.loop);
	fakecluster_fail(FAKECLUSTER_HANG, KUBE_LIST, "%28j200", 1, 0);
	while (t.told == 0 && loop_now_ms(t.loop) < begin_ms + 10000)
		fakeloop_advance(1);
	assert_int_equal(t.told, 1);
	assert_int_equal(t.err.kind, ERR_TEMPORARY);
	assert_in_range(loop_now_ms(t.loop) - begin_ms, 990, 1010);
	fakecluster_heal();
	/* A Job that comes late is not asked about any more. */
	fakecluster_answer_lag(1200);
	fakecluster_forget_calls();
	start(many_jobs(200), 200, NULL, 0, 1000);
	fakeloop_advance(2000);
	assert_int_equal(t.told, 1);
	assert_string_equal(t.err.msg, "listing the Pods of Jobs in namespace shop: timed out");
	assert_int_equal(fakecluster_calls(KUBE_LIST, "/pods"), 1);
}

static void an_answer_that_is_not_a_list_is_an_error(void **state)
{
	(void)state;
	fakecluster_fail(FAKECLUSTER_EMPTY, KUBE_LIST, "/pods", 1, 0);
	ask(abc, 3, NULL, 0);
	assert_string_equal(t.err.msg, "listing the Pods of Jobs in namespace shop: the answer is not a list");
}

static void after_a_cancel_no_callback_runs(void **state)
{
	(void)state;
	start(abc, 3, NULL, 0, 0);
	jobpods_cancel(t.asked);
	fakeloop_advance(100);
	assert_int_equal(t.told, 0);
	start(NULL, 0, NULL, 0, 0);
	jobpods_cancel(t.asked);
	fakeloop_advance(100);
	assert_int_equal(t.told, 0);
	fakecluster_forget_calls();
	start(many_jobs(250), 250, NULL, 0, 0);
	fakeloop_advance(2); /* the second list is under way */
	assert_int_equal(fakecluster_calls(KUBE_LIST, "/pods"), 2);
	jobpods_cancel(t.asked);
	fakeloop_advance(100);
	assert_int_equal(t.told, 0);
	assert_int_equal(fakecluster_calls(KUBE_LIST, "/pods"), 2);
	t.cancel_inside = true;
	ask(abc, 3, NULL, 0);
	jobpods_cancel(NULL);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(jobs_without_a_started_pod_are_pending),
		CASE(with_conditions_these_must_be_true),
		CASE(strange_pods_start_nothing),
		CASE(without_jobs_no_list_is_requested),
		CASE(names_go_in_hundreds_one_list_after_the_other),
		CASE(pages_are_read_while_an_asker_waits),
		CASE(a_name_that_is_no_label_is_not_asked_for),
		CASE(one_failing_list_fails_the_whole),
		CASE(an_expired_token_restarts_the_list_once),
		CASE(the_deadline_is_that_of_all_together),
		CASE(an_answer_that_is_not_a_list_is_an_error),
		CASE(after_a_cancel_no_callback_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
