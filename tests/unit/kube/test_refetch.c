/* SPDX-License-Identifier: Apache-2.0 */
/* kube/refetch on the API server of tests/unit/fakes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "../fakes/fakecluster.h"
#include "../fakes/fakeloop.h"
#include "kube/refetch.h"

#define THING "/apis/example.com/v1/things/x"

static struct {
	struct kube *kube;
	struct refetch *refetch;
	unsigned answers, failures, missing, last_failures;
	bool refuses, ends;
} t;

static void on_answer(void *arg, const json_t *object, const struct err *err, unsigned failures)
{
	assert_ptr_equal(arg, &t);
	assert_true((object != NULL) != (err != NULL));
	t.last_failures = failures;
	t.answers += object != NULL;
	t.missing += err && err->kind == ERR_MISSING;
	t.failures += failures > 0;
	if (t.ends) {
		refetch_free(t.refetch);
		t.refetch = NULL;
	} else if (t.refuses) {
		refetch_refuse(t.refetch);
	}
}

static int set_up(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	t.kube = fakecluster_start(fakeloop_start());
	t.refetch = refetch_new(t.kube, THING, on_answer, &t);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	refetch_free(t.refetch);
	fakeloop_advance(1);
	fakecluster_end();
	fakeloop_end();
	return 0;
}

static unsigned asked(void)
{
	return fakecluster_calls(KUBE_GET, THING);
}

static void asks_on_request(void **state)
{
	(void)state;
	fakecluster_apply(THING, "{}");
	fakeloop_advance(60000);
	assert_int_equal(asked(), 0);
	refetch_now(t.refetch);
	assert_true(refetch_under_way(t.refetch));
	assert_int_equal(t.answers, 0);
	fakeloop_advance(60000);
	assert_false(refetch_under_way(t.refetch));
	assert_int_equal(asked(), 1);
	assert_int_equal(t.answers, 1);
	refetch_now(t.refetch);
	refetch_now(t.refetch); /* the present request may be too early for a new asker */
	refetch_now(t.refetch);
	fakeloop_advance(60000);
	assert_int_equal(asked(), 3);
	assert_int_equal(t.answers, 3);
}

static void asks_every_so_often(void **state)
{
	(void)state;
	fakecluster_apply(THING, "{}");
	refetch_every(t.refetch, 1000);
	fakeloop_advance(100500);
	assert_in_range(t.answers, 60, 140);
	refetch_every(t.refetch, 0);
	fakeloop_advance(2000);
	t.answers = 0;
	fakeloop_advance(10000);
	assert_int_equal(t.answers, 0);
}

static void a_missing_object_is_an_answer(void **state)
{
	(void)state;
	refetch_now(t.refetch);
	fakeloop_advance(60000);
	assert_int_equal(asked(), 1);
	assert_int_equal(t.missing, 1);
	assert_int_equal(t.failures, 0);
}

static void a_failure_is_tried_again(void **state)
{
	(void)state;
	fakecluster_apply(THING, "{}");
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_GET, THING, 3, 500);
	fakecluster_fail(FAKECLUSTER_EMPTY, KUBE_GET, THING, 1, 0);
	refetch_now(t.refetch);
	fakeloop_advance(60000);
	assert_int_equal(t.failures, 4); /* nothing is no answer */
	assert_int_equal(t.answers, 1);
	assert_int_equal(t.last_failures, 0);
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_GET, THING, FAKECLUSTER_ANY, 403);
	fakecluster_forget_calls();
	refetch_now(t.refetch);
	fakeloop_advance(600000);
	assert_in_range(asked(), 20, 60); /* 30 s apart in the end */
	assert_int_equal(t.last_failures, asked());
}

/* A newly started API server denies what it allows a moment later. */
static void a_passing_denial_is_not_reported(void **state)
{
	(void)state;
	fakecluster_apply(THING, "{}");
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_GET, THING, 3, 403);
	refetch_now(t.refetch);
	fakeloop_advance(60000);
	assert_int_equal(asked(), 4);
	assert_int_equal(t.answers, 1);
	assert_int_equal(t.failures, 0);
}

static void an_answer_that_will_not_do_is_asked_for_less_and_less(void **state)
{
	(void)state;
	fakecluster_apply(THING, "{}");
	t.refuses = true;
	refetch_now(t.refetch);
	fakeloop_advance(600000);
	assert_in_range(asked(), 20, 60);
	t.refuses = false;
	fakeloop_advance(60000);
	fakecluster_forget_calls();
	fakeloop_advance(600000);
	assert_int_equal(asked(), 0);
}

static void it_may_end_in_its_callback(void **state)
{
	(void)state;
	fakecluster_apply(THING, "{}");
	t.ends = true;
	refetch_every(t.refetch, 1000);
	fakeloop_advance(60000);
	assert_int_equal(asked(), 1);
	assert_null(t.refetch);
}

static void it_may_end_under_way(void **state)
{
	(void)state;
	refetch_now(t.refetch);
	refetch_free(t.refetch);
	t.refetch = NULL;
	fakeloop_advance(60000);
	assert_int_equal(t.missing, 0);
	refetch_free(NULL);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(asks_on_request),
		T(asks_every_so_often),
		T(a_missing_object_is_an_answer),
		T(a_failure_is_tried_again),
		T(a_passing_denial_is_not_reported),
		T(an_answer_that_will_not_do_is_asked_for_less_and_less),
		T(it_may_end_in_its_callback),
		T(it_may_end_under_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
