/* SPDX-License-Identifier: Apache-2.0 */
/* Poll, decide, write /scale: the replicas, and the reports. */
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
#include "base/timestamp.h"

#define WEB     SCALEDOBJECT("web")
#define SCALE   "/deployments/web/scale"
#define POLL_MS 10000
#define HOUR_MS 3600000
#define TWO_TRIGGERS                                                                                                   \
	"'triggers':[{'type':'scripted','metadata':{'source':'a'}},{'type':'scripted','metadata':{'source':'b'}}]"

static unsigned scale_writes(void)
{
	return fakecluster_calls(KUBE_MERGE_PATCH, SCALE);
}

/* ---- Woken by a source ---- */

static void a_wake_up_is_followed_at_once(void **state)
{
	(void)state;
	world_ready_object("web", 0, "");
	world_pass(1000);
	assert_int_equal(fakesource_watched("web"), 1);
	fakesource_answer("web", 7);
	fakesource_look("web");
	world_pass(3); /* the answer takes 1 ms, the write as long */
	assert_int_equal(scale_writes(), 1);
}

/* Counted from look to look; wake-ups within the interval lead to one look at its end. */
static void wake_ups_are_put_off_to_the_end_of_the_interval(void **state)
{
	unsigned asked;

	(void)state;
	world_ready_object("web", 0, "");
	world_pass(1000);
	asked = fakesource_asked("web");
	fakesource_look("web");
	world_pass(5);
	assert_int_equal(fakesource_asked("web"), asked + 1);
	for (int i = 0; i < 20; i++) {
		fakesource_look("web");
		world_pass(1);
	}
	assert_int_equal(fakesource_asked("web"), asked + 1);
	fakesource_answer("web", 7);
	world_pass(100);
	assert_int_equal(fakesource_asked("web"), asked + 2);
	assert_int_equal(scale_writes(), 1);
	/* A storm is ten looks a second. */
	for (int i = 0; i < 1000; i++) {
		fakesource_look("web");
		world_pass(1);
	}
	assert_in_range(fakesource_asked("web"), asked + 11, asked + 14);
}

/* Asked before the wake-up: its answer may not include the work, so another look follows. */
static void a_wake_up_during_a_look_leads_to_another(void **state)
{
	(void)state;
	world_ready_object("web", 0, "");
	world_pass(1000);
	fakesource_look("web");
	world_pass(0);
	world_pass(0); /* under way */
	fakesource_look("web");
	world_pass(2);
	fakesource_answer("web", 7);
	assert_int_equal(scale_writes(), 0);
	world_pass(120);
	assert_int_equal(scale_writes(), 1);
}

static void many_objects_on_one_question_ask_once(void **state)
{
	unsigned asked;

	(void)state;
	world_ready_object("web", 0, "");
	world_ready_object("api", 0, "'triggers':[{'type':'scripted','metadata':{'source':'web'}}]");
	world_pass(1000);
	assert_int_equal(fakesource_watched("web"), 1);
	asked = fakesource_asked("web");
	fakesource_answer("web", 7);
	fakesource_look("web");
	world_pass(10);
	assert_int_equal(fakesource_asked("web"), asked + 1);
	assert_int_equal(world_replicas("web"), 1);
	assert_int_equal(world_replicas("api"), 1);
}

/*
 * Work comes while the target is being scaled to zero: no further event follows, and the next poll
 * is far.
 */
static void work_that_comes_during_a_write_is_seen_after_it(void **state)
{
	(void)state;
	world_ready_object("web", 0, "'cooldownPeriod':0");
	fakesource_answer("web", 7);
	fakesource_look("web");
	world_pass(500);
	assert_int_equal(world_replicas("web"), 1);
	fakesource_answer("web", 0);
	fakecluster_answer_lag(300);
	fakesource_look("web");
	world_pass(150);
	assert_int_equal(world_replicas("web"), 0);
	fakesource_answer("web", 3);
	fakesource_look("web");
	world_pass(100);
	assert_int_equal(world_replicas("web"), 0);
	world_pass(400);
	assert_int_equal(world_replicas("web"), 1);
	fakecluster_answer_lag(1);
	world_pass(1000);
}

static void an_idle_loop_holds_no_watch(void **state)
{
	(void)state;
	world_ready_object("web", 0, "");
	world_lead(false);
	assert_int_equal(fakesource_watched("web"), 0);
	world_lead(true);
	world_pass(1000);
	assert_int_equal(fakesource_watched("web"), 1);
	fakecluster_apply(WEB, "{'metadata':{'annotations':{'autoscaling.keda.sh/paused':'true'}}}");
	world_pass(1000);
	assert_int_equal(fakesource_watched("web"), 0);
	fakesource_answer("web", 7);
	fakesource_look("web");
	world_pass(1000);
	assert_int_equal(scale_writes(), 0);
}

static void push_that_is_off_is_reported_once(void **state)
{
	static const char note[] =
		"Warning ScaledObject default/web uid-2: trigger 0 (scripted): push is off: turn it on";

	(void)state;
	fakesource_report("web", WATCH_OFF, "turn it on", true);
	world_ready_object("web", 0, "");
	world_pass(3 * POLL_MS);
	assert_int_equal(fakecluster_events_sent("KEDAScalerInfo", note), 1);
	fakesource_report("web", WATCH_ON, "", true);
	world_pass(POLL_MS);
	/* Once all is well it is looked at twice a minute only. */
	fakesource_report("web", WATCH_OFF, "it may not", true);
	world_pass(30000 + POLL_MS);
	assert_int_equal(fakecluster_events_sent("KEDAScalerInfo", "push is off: it may not"), 1);
}

static void unrequested_push_is_off_silently(void **state)
{
	(void)state;
	fakesource_report("web", WATCH_OFF, "turn it on", false);
	world_ready_object("web", 0, "");
	world_pass(POLL_MS);
	assert_int_equal(fakecluster_events_sent("KEDAScalerInfo", NULL), 0);
}

static void unknown_keys_are_reported_once_per_generation(void **state)
{
	static const char note[] = "Warning ScaledObject default/web uid-2: Unmatched input property \"treshold\" (did "
				   "you mean \"threshold\"?) in scaler scripted (trigger 0)";

	(void)state;
	world_ready_object("web", 0, "'triggers':[{'type':'scripted','metadata':{'source':'web','treshold':'3'}}]");
	world_pass(3 * POLL_MS);
	assert_int_equal(fakecluster_events_sent("KEDAScalerInfo", note), 1);
	world_expect("web", "Ready", "True");
	world_scaledobject("web", "'triggers':[{'type':'scripted','metadata':{'source':'web','metricName':'3'}}]");
	world_pass(POLL_MS);
	assert_int_equal(fakecluster_events_sent("KEDAScalerInfo",
				 "Unmatched input property \"metricName\" (KEDA dropped it in 2.12: the metric is "
				 "named by the trigger's place) in scaler scripted (trigger 0)"),
		1);
}

/* ---- Up and down ---- */

static void work_wakes_the_target(void **state)
{
	MEM_AUTO char *version = NULL;
	MEM_AUTO char *expected = NULL;

	(void)state;
	world_ready_object("web", 0, "");
	version = mem_dup(fakecluster_text(DEPLOYMENT("web"), "metadata.resourceVersion"));
	fakesource_answer("web", 7);
	world_pass(POLL_MS + 1000);
	assert_int_equal(world_replicas("web"), 1);
	assert_int_equal(scale_writes(), 1);
	expected = mem_printf("{\"metadata\":{\"resourceVersion\":\"%s\"},\"spec\":{\"replicas\":1}}", version);
	assert_string_equal(fakecluster_last_body(KUBE_MERGE_PATCH, SCALE), expected);
	assert_int_equal(fakecluster_events_sent("KEDAScaleTargetActivated",
				 "Normal ScaledObject default/web uid-2: Scaled Deployment default/web from 0 to 1, "
				 "triggered by s0-scripted-web"),
		1);
	world_expect("web", "Active", "True ScalerActive");
	assert_string_not_equal(fakecluster_text(WEB, "status.lastActiveTime"), "");
	assert_true(json_is_true(fakecluster_at(WEB, "status.triggersActivity.s0-scripted-web.isActive")));
}

static void decisions_and_actions_are_in_the_journal(void **state)
{
	const struct journal_object *j;

	(void)state;
	fakesource_answer("web", 7);
	world_ready_object("web", 0, "");
	world_pass(POLL_MS);
	j = journal_get(world_object("default/web"));
	assert_non_null(j);
	assert_string_equal(j->decision.rule, "active");
	assert_string_equal(j->text, "the HPA scales: active by s0-scripted-web 7 of 5");
	assert_string_equal(j->triggers[0].metric, "s0-scripted-web");
	assert_int_equal(j->change_count, 1);
	assert_int_equal(j->changes[0].to, 1);
	assert_string_equal(j->changes[0].who, "kscaled");
	assert_string_equal(j->changes[0].why, "scaling from 0 to 1: active by s0-scripted-web 7 of 5");
	fakesource_fail("web", "connection refused");
	world_pass(POLL_MS);
	j = journal_get(world_object("default/web"));
	assert_string_equal(j->decision.rule, "error-hold");
	assert_string_equal(j->triggers[0].trouble, "source web: connection refused");
	assert_int_equal(j->triggers[0].failures, 1);
}

static void an_active_object_costs_no_writes(void **state)
{
	(void)state;
	fakesource_answer("web", 7);
	world_ready_object("web", 0, "");
	world_pass(POLL_MS);
	fakecluster_change(DEPLOYMENT("web"), "{'spec':{'replicas':5}}"); /* the HPA */
	fakecluster_forget_calls();
	for (int i = 0; i < 360; i++) {
		fakesource_answer("web", 7 + i % 5);
		world_pass(POLL_MS);
	}
	assert_int_equal(fakecluster_writes(), 0);
	assert_int_equal(fakecluster_calls(KUBE_GET, ""), 0);
	assert_int_equal(world_replicas("web"), 5);
}

static void it_wakes_to_its_minimum_and_rests_there(void **state)
{
	(void)state;
	world_ready_object("web", 0, "'minReplicaCount':2");
	/* Below its minimum, nothing active: silently to it (doc/keda.md 3.2). */
	assert_int_equal(world_replicas("web"), 2);
	assert_int_equal(fakecluster_events_sent("KEDAScaleTargetActivated", ""), 0);
	world_pass(HOUR_MS);
	assert_int_equal(world_replicas("web"), 2);
	assert_int_equal(scale_writes(), 1);
}

static void a_failing_raise_to_the_minimum_is_no_failed_deactivation(void **state)
{
	(void)state;
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_MERGE_PATCH, SCALE, FAKECLUSTER_ANY, 403);
	world_ready_object("web", 0, "'minReplicaCount':2");
	assert_true(scale_writes() > 0);
	assert_int_equal(fakecluster_events_sent("KEDAScaleTargetDeactivationFailed", ""), 0);
}

static void rest_comes_when_the_cooldown_is_over_not_at_the_next_poll(void **state)
{
	int64_t waited_ms = 0;

	(void)state;
	fakesource_answer("web", 7);
	world_ready_object("web", 0, "'cooldownPeriod':62,'pollingInterval':60");
	assert_int_equal(world_replicas("web"), 1);
	world_pass(300000);
	fakesource_answer("web", 0);
	/* Its last active poll was up to 60 s ago; the first inactive one comes within 60 s. */
	while (world_replicas("web") == 1 && waited_ms < 10 * HOUR_MS) {
		world_pass(100);
		waited_ms += 100;
		if (strncmp(world_condition("web", "Active"), "False ScalerCooldown", 20) == 0)
			break;
	}
	assert_in_range(waited_ms, 0, 61000);
	waited_ms = 0;
	while (world_replicas("web") == 1 && waited_ms < 10 * HOUR_MS) {
		world_pass(100);
		waited_ms += 100;
	}
	/*
	 * The last active poll was 60 s before the first inactive one: 2 s are left, far less than
	 * to the next poll.
	 */
	assert_in_range(waited_ms, 1000, 3000);
	assert_int_equal(fakecluster_events_sent("KEDAScaleTargetDeactivated",
				 "Deactivated Deployment default/web from 1 to 0"),
		1);
	world_pass(POLL_MS);
	world_expect("web", "Active", "False ScalerNotActive");
}

static void a_target_that_never_had_work_rests_at_once(void **state)
{
	(void)state;
	world_ready_object("web", 3, "");
	world_pass(POLL_MS);
	assert_int_equal(world_replicas("web"), 0);
	assert_int_equal(fakecluster_number(WEB, "status.originalReplicaCount"), 3);
}

static void an_activation_threshold_is_strict(void **state)
{
	(void)state;
	fakesource_answer("web", 4);
	world_ready_object("web", 0, "'triggers':[{'type':'scripted','metadata':{'source':'web','activation':'4'}}]");
	world_pass(POLL_MS * 3);
	assert_int_equal(world_replicas("web"), 0);
	fakesource_answer("web", 4.5);
	world_pass(POLL_MS * 2);
	assert_int_equal(world_replicas("web"), 1);
}

/* ---- Triggers that fail ---- */

static void a_failing_trigger_never_scales_in(void **state)
{
	(void)state;
	fakesource_answer("web", 7);
	world_ready_object("web", 0, "'cooldownPeriod':0");
	assert_int_equal(world_replicas("web"), 1);
	fakesource_fail("web", "connection refused");
	world_pass(HOUR_MS);
	assert_int_equal(world_replicas("web"), 1);
	world_expect("web", "Ready",
		"False TriggerError Triggers defined in ScaledObject are not working correctly: s0-scripted-web: "
		"source web: connection refused");
	assert_int_equal(fakecluster_events_sent("KEDAScalerFailed",
				 "Warning ScaledObject default/web uid-2: trigger 0 (scripted): source web: connection "
				 "refused"),
		1);
	assert_true(world_errors_counted("web") >= 359);
	fakecluster_forget_calls();
	world_pass(HOUR_MS);
	assert_int_equal(fakecluster_writes(), 0);
	fakesource_answer("web", 0);
	world_pass(POLL_MS * 2);
	world_expect("web", "Ready", "True");
	assert_int_equal(world_replicas("web"), 0);
}

static void a_hanging_source_is_a_failure_at_its_deadline(void **state)
{
	(void)state;
	fakesource_hang("web");
	world_ready_object("other", 0, "");
	world_deployment("web", 1);
	world_scaledobject("web", "");
	world_pass(1000);
	world_expect("web", "Ready", "True"); /* not known to be otherwise: the status does not wait for the source */
	world_pass(3000);
	world_expect("web", "Ready", "False TriggerError");
	assert_int_equal(fakecluster_events_sent("KEDAScalerFailed", "timed out"), 1);
	world_pass(HOUR_MS);
	assert_int_equal(world_replicas("web"), 1);
	world_expect("other", "Ready", "True");
}

/* The next poll is due while the last one waits. */
static void polls_do_not_overlap(void **state)
{
	(void)state;
	world_ready_object("web", 0, "'pollingInterval':1");
	fakesource_hang("web");
	world_pass(60000);
	assert_in_range(fakesource_asked("web"), 15, 25);
	fakesource_answer("web", 7);
	world_pass(4500);
	assert_int_equal(world_replicas("web"), 1);
}

static void one_of_two_fails(void **state)
{
	(void)state;
	fakesource_answer("b", 7);
	fakesource_fail("a", "no route");
	world_deployment("web", 0);
	world_scaledobject("web", "'cooldownPeriod':0," TWO_TRIGGERS);
	world_pass(POLL_MS);
	assert_int_equal(world_replicas("web"), 1);
	world_expect("web", "Ready",
		"Unknown PartialTriggerError Some triggers defined in ScaledObject are not working correctly: "
		"s0-scripted-a: source a: no route");
	world_expect("web", "Active", "True");
	assert_int_equal(fakecluster_events_sent("KEDAScaleTargetActivated", "triggered by s1-scripted-b"), 1);
	assert_int_equal(fakecluster_events_sent("KEDAScalerFailed", "trigger 0 (scripted): source a: no route"), 1);
	/* The good one quiet, the other unknown: held. */
	fakesource_answer("b", 0);
	world_pass(HOUR_MS);
	assert_int_equal(world_replicas("web"), 1);
	fakesource_answer("a", 0);
	world_pass(POLL_MS * 2);
	assert_int_equal(world_replicas("web"), 0);
}

/* ---- Writes of /scale ---- */

static void others_scale(void)
{
	fakecluster_change(DEPLOYMENT("web"), "{'spec':{'replicas':4}}");
}

static void others_label(void)
{
	fakecluster_change(DEPLOYMENT("web"), "{'metadata':{'labels':{'x':'y'}}}");
}

static void a_conflict_is_read_again_and_never_forced(void **state)
{
	(void)state;
	world_ready_object("web", 0, "");
	fakecluster_watch_lag(5000);
	fakesource_answer("web", 7);
	fakecluster_just_before(KUBE_MERGE_PATCH, SCALE, others_scale);
	world_pass(POLL_MS + 1000);
	assert_int_equal(world_replicas("web"), 4);
	assert_int_equal(scale_writes(), 1);
	assert_int_equal(fakecluster_calls(KUBE_GET, SCALE), 1);
	world_expect("web", "Active", "True");
}

static void a_conflict_about_something_else_is_written_again(void **state)
{
	(void)state;
	world_ready_object("web", 0, "");
	fakecluster_watch_lag(5000);
	fakesource_answer("web", 7);
	fakecluster_just_before(KUBE_MERGE_PATCH, SCALE, others_label);
	world_pass(POLL_MS + 1000);
	assert_int_equal(world_replicas("web"), 1);
	assert_int_equal(scale_writes(), 2);
	assert_int_equal(fakecluster_calls(KUBE_GET, SCALE), 1);
	assert_int_equal(fakecluster_events_sent("KEDAScaleTargetActivationFailed", ""), 0);
}

static void conflicts_without_end_are_a_failure(void **state)
{
	(void)state;
	world_ready_object("web", 0, "");
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_MERGE_PATCH, SCALE, FAKECLUSTER_ANY, 409);
	fakesource_answer("web", 7);
	world_pass(POLL_MS * 10 + 1000);
	assert_in_range(scale_writes(), 10, 45);
	assert_int_equal(fakecluster_events_sent("KEDAScaleTargetActivationFailed",
				 "Failed to scale Deployment default/web from 0 to 1: HTTP 409"),
		1);
	fakecluster_heal();
	world_pass(POLL_MS);
	assert_int_equal(world_replicas("web"), 1);
}

static void a_conflict_that_cannot_be_read_waits_for_the_next_poll(void **state)
{
	(void)state;
	world_ready_object("web", 0, "");
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_MERGE_PATCH, SCALE, FAKECLUSTER_ANY, 409);
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_GET, SCALE, FAKECLUSTER_ANY, 403);
	fakesource_answer("web", 7);
	world_pass(POLL_MS * 10 + 1000);
	assert_in_range(scale_writes(), 10, 12);
}

static void a_failing_write_is_reported_and_retried_at_the_next_poll(void **state)
{
	static const int statuses[] = { 403, 404, 422, 500, 0 };

	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		world_ready_object("web", 0, "");
		fakecluster_fail(statuses[i] ? FAKECLUSTER_REFUSE : FAKECLUSTER_HANG, KUBE_MERGE_PATCH, SCALE,
			FAKECLUSTER_ANY, statuses[i]);
		fakesource_answer("web", 7);
		world_pass(POLL_MS * 10 + 1000);
		assert_int_equal(world_replicas("web"), 0);
		assert_in_range(scale_writes(), 5, 12);
		assert_int_equal(fakecluster_events_sent("KEDAScaleTargetActivationFailed",
					 "Failed to scale Deployment default/web from 0 to 1: "),
			1);
		fakecluster_heal();
		world_pass(POLL_MS * 2);
		assert_int_equal(world_replicas("web"), 1);
		world_teardown(state);
		world_setup(state);
	}
}

static void a_write_under_way_is_not_doubled(void **state)
{
	(void)state;
	world_ready_object("web", 0, "");
	fakecluster_answer_lag(9 * POLL_MS);
	fakecluster_watch_lag(9 * POLL_MS);
	fakesource_answer("web", 7);
	world_pass(POLL_MS * 8);
	assert_int_equal(scale_writes(), 1);
}

static void the_next_poll_knows_the_write(void **state)
{
	(void)state;
	world_ready_object("web", 0, "'pollingInterval':1");
	fakecluster_watch_lag(20000);
	fakesource_answer("web", 7);
	world_pass(15000);
	assert_int_equal(world_replicas("web"), 1);
	assert_int_equal(scale_writes(), 1);
	assert_int_equal(fakecluster_calls(KUBE_GET, ""), 0);
}

/* ---- Its life ---- */

static void a_changed_interval_is_followed(void **state)
{
	unsigned asked;

	(void)state;
	world_ready_object("web", 0, "'pollingInterval':3600");
	asked = fakesource_asked("web");
	assert_int_equal(asked, 1);
	world_scaledobject("web", "'pollingInterval':1");
	world_pass(60000);
	assert_in_range(fakesource_asked("web") - asked, 58, 62);
	world_scaledobject("web", "");
	world_pass(1000);
	asked = fakesource_asked("web");
	world_pass(600000);
	assert_in_range(fakesource_asked("web") - asked, 59, 61);
}

/* Answers to questions from before a change of the object do not count. */
static void answers_to_old_questions_are_not_judged(void **state)
{
	(void)state;
	world_ready_object("web", 0, "'pollingInterval':60");
	fakesource_hang("web");
	while (fakesource_asked("web") == 1)
		world_pass(100);
	world_scaledobject("web",
		"'pollingInterval':60,'triggers':[{'type':'scripted','metadata':{'source':'other'}}]");
	world_pass(4000);
	assert_int_equal(fakesource_asked("other"), 1);
	assert_int_equal(fakecluster_events_sent("KEDAScalerFailed", ""), 0);
	world_expect("web", "Ready", "True");
}

static void a_threshold_is_followed_without_a_new_question(void **state)
{
	unsigned asked;

	(void)state;
	fakesource_answer("web", 7);
	world_ready_object("web", 0, "'triggers':[{'type':'scripted','metadata':{'source':'web','activation':'10'}}]");
	world_pass(900);
	assert_int_equal(world_replicas("web"), 0);
	asked = fakesource_asked("web");
	world_scaledobject("web", "'triggers':[{'type':'scripted','metadata':{'source':'web','activation':'5'}}]");
	world_pass(100);
	assert_int_equal(world_replicas("web"), 1);
	assert_in_range(fakesource_asked("web"), asked, asked + 1);
}

static void a_short_stop_does_not_forget_when_it_was_active(void **state)
{
	(void)state;
	fakesource_answer("web", 7);
	world_ready_object("web", 0, "'cooldownPeriod':300");
	world_pass(HOUR_MS);
	/* Only the edge was written, an hour ago. */
	world_scaledobject("web", "'minReplicaCount':-1");
	world_pass(1000);
	world_expect("web", "Ready", "False ScaledObjectCheckFailed");
	fakesource_answer("web", 0);
	world_scaledobject("web", "'cooldownPeriod':300");
	world_pass(60000);
	assert_int_equal(world_replicas("web"), 1);
	world_pass(300000);
	assert_int_equal(world_replicas("web"), 0);
}

/* ---- Clocks that disagree ---- */

static int64_t status_time(const char *field)
{
	MEM_AUTO char *path = mem_printf("status.%s", field);
	int64_t at_ms = 0;

	assert_int_equal(timestamp_parse(fakecluster_text(SCALEDOBJECT("web"), path), &at_ms, NULL), 0);
	return at_ms;
}

static void stamp(const char *field, int64_t ahead_ms)
{
	char at[TIMESTAMP_TEXT_MAX];
	MEM_AUTO char *change = mem_printf("{'%s':{'%s':'%s'}}", *field == 'c' ? "metadata" : "status", field,
		timestamp_format(fakeloop_wall_ms() + ahead_ms, at));

	fakecluster_change(SCALEDOBJECT("web"), change);
}

/*
 * Active three hours from now, by the clock of the previous leader: the cooldown keeps its length.
 */
static void a_stamp_from_the_future_holds_nothing(void **state)
{
	(void)state;
	world_ready_object("web", 0, "'cooldownPeriod':300");
	stamp("lastActiveTime", 3 * HOUR_MS);
	fakecluster_change("/apis/apps/v1/namespaces/default/deployments/web", "{'spec':{'replicas':2}}");
	world_restart();
	world_pass(290000);
	assert_int_equal(world_replicas("web"), 2);
	world_pass(20000);
	assert_int_equal(world_replicas("web"), 0);
	world_pass(POLL_MS);
	assert_true(status_time("lastActiveTime") <= fakeloop_wall_ms());
}

/* Made three hours from now, by the API server's clock. */
static void an_object_from_the_future_waits_no_longer_than_its_cooldown(void **state)
{
	(void)state;
	world_ready_object("web", 0, "'initialCooldownPeriod':300");
	fakecluster_change("/apis/apps/v1/namespaces/default/deployments/web", "{'spec':{'replicas':2}}");
	stamp("creationTimestamp", 3 * HOUR_MS);
	world_restart();
	world_pass(290000);
	assert_int_equal(world_replicas("web"), 2);
	world_pass(30000);
	assert_int_equal(world_replicas("web"), 0);
}

/* Whoever reads that polling began again has read that it ended. */
static void the_end_of_polling_is_reported(void **state)
{
	(void)state;
	world_ready_object("web", 0, "");
	assert_int_equal(fakecluster_events_sent("KEDAScalersStopped", ""), 0);
	world_scaledobject("web", "'minReplicaCount':-1");
	world_pass(POLL_MS);
	world_expect("web", "Ready", "False ScaledObjectCheckFailed");
	assert_int_equal(fakecluster_events_sent("KEDAScalersStopped", "Stopped scalers watch"), 1);
	world_scaledobject("web", "'minReplicaCount':-2");
	world_pass(POLL_MS);
	assert_int_equal(fakecluster_events_sent("KEDAScalersStopped", ""), 1);
}

static void a_new_process_restarts_the_cooldown(void **state)
{
	(void)state;
	fakesource_answer("web", 7);
	world_ready_object("web", 0, "'cooldownPeriod':300");
	world_pass(HOUR_MS);
	fakesource_answer("web", 0);
	world_restart();
	world_pass(280000);
	assert_int_equal(world_replicas("web"), 1);
	world_pass(60000);
	assert_int_equal(world_replicas("web"), 0);
}

static void objects_on_one_source_share_one_question(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		MEM_AUTO char *name = mem_printf("web-%d", i);

		world_deployment(name, 0);
		world_scaledobject(name, "'triggers':[{'type':'scripted','metadata':{'source':'shared'}}]");
	}
	world_pass(100);
	assert_int_equal(fakesource_asked("shared"), 1);
	world_expect("web-19", "Ready", "True");
}

static void counters_go_with_the_object(void **state)
{
	(void)state;
	fakesource_fail("web", "x");
	world_deployment("web", 0);
	world_scaledobject("web", "");
	world_pass(POLL_MS);
	assert_true(world_errors_counted("web") > 0);
	fakecluster_delete(WEB);
	world_pass(1000);
	assert_true(world_errors_counted("web") == 0);
	assert_int_equal(fakecluster_events_sent("ScaledObjectDeleted",
				 "Warning ScaledObject default/web uid-2: ScaledObject was deleted"),
		1);
	assert_int_equal(fakecluster_events_sent("KEDAScalersStopped", ""), 1);
}

/* The room for Events is all objects': one with many triggers that fail leaves most of it. */
static void events_of_many_failures_have_an_end(void **state)
{
	enum { TRIGGERS = 100 };
	struct buf spec = BUF_INIT(1 << 16);

	(void)state;
	buf_puts(&spec, "'triggers':[");
	for (int i = 0; i < TRIGGERS; i++) {
		MEM_AUTO char *source = mem_printf("f%d", i);

		fakesource_fail(source, "no route");
		buf_printf(&spec, "%s{'type':'scripted','metadata':{'source':'%s'}}", i > 0 ? "," : "", source);
	}
	buf_puts(&spec, "]");
	world_deployment("web", 1);
	world_scaledobject("web", buf_text(&spec));
	buf_done(&spec);
	world_pass(9000);
	assert_int_equal(fakecluster_events_sent("KEDAScalerFailed", ""), 16);
	assert_true(world_errors_counted("web") >= TRIGGERS);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		CASE(a_wake_up_is_followed_at_once),
		CASE(wake_ups_are_put_off_to_the_end_of_the_interval),
		CASE(a_wake_up_during_a_look_leads_to_another),
		CASE(many_objects_on_one_question_ask_once),
		CASE(work_that_comes_during_a_write_is_seen_after_it),
		CASE(an_idle_loop_holds_no_watch),
		CASE(push_that_is_off_is_reported_once),
		CASE(unrequested_push_is_off_silently),
		CASE(unknown_keys_are_reported_once_per_generation),
		CASE(work_wakes_the_target),
		CASE(decisions_and_actions_are_in_the_journal),
		CASE(an_active_object_costs_no_writes),
		CASE(it_wakes_to_its_minimum_and_rests_there),
		CASE(a_failing_raise_to_the_minimum_is_no_failed_deactivation),
		CASE(rest_comes_when_the_cooldown_is_over_not_at_the_next_poll),
		CASE(a_target_that_never_had_work_rests_at_once),
		CASE(an_activation_threshold_is_strict),
		CASE(a_failing_trigger_never_scales_in),
		CASE(a_hanging_source_is_a_failure_at_its_deadline),
		CASE(polls_do_not_overlap),
		CASE(one_of_two_fails),
		CASE(a_conflict_is_read_again_and_never_forced),
		CASE(a_conflict_about_something_else_is_written_again),
		CASE(conflicts_without_end_are_a_failure),
		CASE(a_conflict_that_cannot_be_read_waits_for_the_next_poll),
		CASE(a_failing_write_is_reported_and_retried_at_the_next_poll),
		CASE(a_write_under_way_is_not_doubled),
		CASE(the_next_poll_knows_the_write),
		CASE(a_changed_interval_is_followed),
		CASE(answers_to_old_questions_are_not_judged),
		CASE(a_threshold_is_followed_without_a_new_question),
		CASE(a_short_stop_does_not_forget_when_it_was_active),
		CASE(the_end_of_polling_is_reported),
		CASE(a_new_process_restarts_the_cooldown),
		CASE(a_stamp_from_the_future_holds_nothing),
		CASE(an_object_from_the_future_waits_no_longer_than_its_cooldown),
		CASE(objects_on_one_source_share_one_question),
		CASE(counters_go_with_the_object),
		CASE(events_of_many_failures_have_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
