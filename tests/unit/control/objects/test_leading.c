/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leadership that comes and goes at any moment: a non-leader writes nothing, asks nothing, and
 * ignores answers to earlier calls.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../world.h"

#include "../../fakes/fakecluster.h"
#include "../../fakes/fakeloop.h"
#include "../../fakes/fakesource.h"

#include "base/buf.h"
#include "base/mem.h"

#define WEB       SCALEDOBJECT("web")
#define WEB_HPA   HPA("keda-hpa-web")
#define HOUR_MS   3600000
#define ANSWER_MS 4
#define LAST_MS   60 /* the stories below are over by then */

static void a_standby_does_nothing(void **state)
{
	(void)state;
	world_lead(false);
	world_deployment("web", 0);
	world_scaledobject("web", "");
	fakesource_answer("web", 7);
	world_pass(HOUR_MS);
	fakecluster_change(WEB, "{'spec':{'maxReplicaCount':3}}");
	fakecluster_delete(DEPLOYMENT("web"));
	world_pass(HOUR_MS);
	assert_int_equal(fakecluster_calls(FAKECLUSTER_ANY, ""), 0);
	assert_int_equal(fakesource_asked(NULL), 0);
	assert_int_equal(fakecluster_events_sent(NULL, ""), 0);
}

/* A process that does not poll has no metrics of polls, and must not keep stale ones. */
static void measurements_go_with_the_lead(void **state)
{
	struct buf page = BUF_INIT(1 << 20);

	(void)state;
	world_ready_object("web", 0, "");
	world_pass(30000);
	counters_write(world.cache->counters, &page);
	assert_non_null(strstr(buf_text(&page),
		"keda_internal_scale_loop_latency_seconds{namespace=\"default\",type=\"scaledobject\",resource="
		"\"web\"}"));
	world_lead(false);
	buf_reset(&page);
	counters_write(world.cache->counters, &page);
	assert_null(strstr(buf_text(&page), "resource=\"web\""));
	buf_done(&page);
}

static void create_and_wake(void)
{
	fakesource_answer("web", 7);
	world_deployment("web", 0);
	world_scaledobject("web", "");
}

static bool is_awake(void)
{
	return fakecluster_get(WEB_HPA) && world_replicas("web") == 1 &&
		strncmp(world_condition("web", "Ready"), "True", 4) == 0 &&
		strncmp(world_condition("web", "Active"), "True", 4) == 0;
}

static void ready_with_restore(void)
{
	world_ready_object("web", 3, "'advanced':{'restoreToOriginalReplicaCount':true}");
	world_pass(10000);
	assert_int_equal(world_replicas("web"), 0);
}

static void delete_it(void)
{
	fakecluster_delete(WEB);
}

static bool is_restored(void)
{
	return !fakecluster_get(WEB) && !fakecluster_get(WEB_HPA) && world_replicas("web") == 3;
}

static void ready_with_another_name(void)
{
	world_ready_object("web", 0, "'advanced':{'horizontalPodAutoscalerConfig':{'name':'first'}}");
}

static void rename_and_change(void)
{
	world_scaledobject("web", "'advanced':{'horizontalPodAutoscalerConfig':{'name':'second'}},'maxReplicaCount':5");
	fakecluster_change(HPA("first"), "{'spec':{'maxReplicas':1}}");
}

static bool is_renamed(void)
{
	return !fakecluster_get(HPA("first")) && fakecluster_number(HPA("second"), "spec.maxReplicas") == 5 &&
		strcmp(fakecluster_text(WEB, "status.hpaName"), "second") == 0;
}

static void label_target(void)
{
	fakecluster_change(DEPLOYMENT("web"), "{'metadata':{'labels':{'x':'y'}}}");
}

static void ready_behind_a_late_watch(void)
{
	world_ready_object("web", 0, "'pollingInterval':1");
	fakecluster_watch_lag(500);
	world_pass(1000);
}

static void wake_with_a_conflict(void)
{
	label_target();
	fakesource_answer("web", 7);
	world_pass(990);
}

static void nothing(void)
{
}

/* Each is interrupted after every millisecond of it. */
static const struct {
	void (*before)(void);
	void (*begin)(void);
	bool (*done)(void);
} stories[] = {
	{ nothing, create_and_wake, is_awake },
	{ ready_with_restore, delete_it, is_restored },
	{ ready_with_another_name, rename_and_change, is_renamed },
	{ ready_behind_a_late_watch, wake_with_a_conflict, is_awake },
};
#define STORIES (sizeof(stories) / sizeof(stories[0]))

static void begin(void **state, size_t story, int64_t ms)
{
	world_teardown(state);
	world_setup(state);
	stories[story].before();
	fakecluster_answer_lag(ANSWER_MS);
	stories[story].begin();
	world_pass(ms);
}

static void nothing_is_written_after_leading_ends(void **state)
{
	for (size_t story = 0; story < STORIES; story++) {
		for (int64_t ms = 0; ms < LAST_MS; ms++) {
			unsigned asked;

			begin(state, story, ms);
			world_lead(false);
			assert_int_equal(fakecluster_under_way(), 0);
			fakecluster_forget_calls();
			asked = fakesource_asked(NULL);
			world_pass(HOUR_MS);
			assert_int_equal(fakecluster_writes(), 0);
			assert_int_equal(fakesource_asked(NULL), asked);
			/* And it comes to its end when leading begins again. */
			world_lead(true);
			world_pass(5000);
			if (!stories[story].done())
				fail_msg("story %zu, interrupted after %lld ms, does not end", story, (long long)ms);
		}
	}
}

static void leading_comes_back_at_once(void **state)
{
	for (size_t story = 0; story < STORIES; story++) {
		for (int64_t ms = 0; ms < LAST_MS; ms++) {
			begin(state, story, ms);
			world_lead(false);
			world_lead(true);
			world_pass(ms % 7);
			world_lead(false);
			world_lead(true);
			world_pass(5000);
			assert_true(stories[story].done());
		}
	}
}

static void the_process_dies_and_another_goes_on(void **state)
{
	for (size_t story = 0; story < STORIES; story++) {
		for (int64_t ms = 0; ms < LAST_MS; ms++) {
			begin(state, story, ms);
			world_restart();
			world_pass(5000);
			assert_true(stories[story].done());
		}
	}
}

static void each_story_ends_by_itself_and_then_is_quiet(void **state)
{
	for (size_t story = 0; story < STORIES; story++) {
		begin(state, story, LAST_MS);
		world_pass(2000);
		assert_true(stories[story].done());
		fakecluster_forget_calls();
		world_pass(HOUR_MS);
		assert_int_equal(fakecluster_writes(), 0);
	}
}

/* Any call may fail once, in any way, at any time of a story. */
static void any_call_fails_once(void **state)
{
	static const struct {
		enum fakecluster_fault fault;
		int http_status;
	} faults[] = { { FAKECLUSTER_REFUSE, 409 }, { FAKECLUSTER_REFUSE, 500 }, { FAKECLUSTER_HANG, 0 },
		{ FAKECLUSTER_LOSE, 0 } };

	for (size_t story = 0; story < STORIES; story++) {
		for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
			for (int64_t ms = 0; ms < LAST_MS; ms++) {
				begin(state, story, ms);
				fakecluster_fail(faults[i].fault, FAKECLUSTER_ANY, "", 1, faults[i].http_status);
				world_pass(60000);
				if (!stories[story].done())
					fail_msg("story %zu does not end after fault %zu at %lld ms", story, i,
						(long long)ms);
				fakecluster_forget_calls();
				world_pass(600000);
				assert_int_equal(fakecluster_writes(), 0);
			}
		}
	}
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		CASE(a_standby_does_nothing),
		CASE(measurements_go_with_the_lead),
		CASE(nothing_is_written_after_leading_ends),
		CASE(leading_comes_back_at_once),
		CASE(the_process_dies_and_another_goes_on),
		CASE(each_story_ends_by_itself_and_then_is_quiet),
		CASE(any_call_fails_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
