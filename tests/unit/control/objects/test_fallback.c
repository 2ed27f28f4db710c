/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fallback: what counts, when it begins and ends, messages and writes; over restarts and other
 * leaders.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../world.h"

#include "../../fakes/fakecluster.h"
#include "../../fakes/fakeloop.h"
#include "../../fakes/fakesource.h"

#include "base/log.h"
#include "base/mem.h"
#include "cache/survey.h"

#define WEB      SCALEDOBJECT("web")
#define SCALE    "/deployments/web/scale"
#define POLL_MS  10000
#define HOUR_MS  3600000
#define METRIC   "s0-scripted-web"
#define FALLBACK "'fallback':{'failureThreshold':3,'replicas':6}"

static int64_t failures_stored(void)
{
	return fakecluster_number(WEB, "status.health." METRIC ".numberOfFailures");
}

/* ---- As the HPA controller asks ---- */

static struct heard {
	int times;
	double value;
	bool falling_back;
	char err[ERR_MSG_MAX];
} heard;

static void on_survey(void *arg, const struct survey_result *r)
{
	(void)arg;
	heard = (struct heard){ .times = heard.times + 1 };
	if (r->err) {
		snprintf(heard.err, sizeof(heard.err), "%s", r->err->msg);
		return;
	}
	assert_int_equal(r->count, 1);
	heard.falling_back = r->triggers[0].falling_back;
	if (r->triggers[0].err)
		snprintf(heard.err, sizeof(heard.err), "%s", r->triggers[0].err->msg);
	else
		heard.value = r->triggers[0].reading.value;
}

static void get_metric(void)
{
	struct survey_terms terms = { .metric = METRIC,
		.max_age_ms = 1000,
		.cached = true,
		.counted = true,
		.deadline_ms = loop_now_ms(world.loop) + 3000 };

	heard = (struct heard){ 0 };
	if (!survey_peek(world.cache, world_object("default/web"), &terms, on_survey, NULL))
		survey_start(world.cache, world_object("default/web"), &terms, on_survey, NULL);
	world_pass(10);
	assert_int_equal(heard.times, 1);
}

/* ---- On and off ---- */

/*
 * A source that fails and calls all the same, ten times a second: the polls count, as for one that
 * keeps quiet.
 */
static void wake_ups_bring_no_fallback(void **state)
{
	(void)state;
	world_ready_object("web", 0, FALLBACK ",'cooldownPeriod':0");
	fakesource_fail("web", "connection refused");
	for (int i = 0; i < 50; i++) {
		fakesource_look("web");
		world_pass(100);
	}
	assert_true(fakesource_asked("web") > 30);
	world_expect("web", "Fallback", "False NoFallbackFound");
	assert_true(failures_stored() <= 1); /* one poll may have been among them */
	world_pass(POLL_MS * 4);
	world_expect("web", "Fallback", "True FallbackExists");
}

/* Nor do they when the next poll is far away, and the HPA controller would have asked meanwhile. */
static void wake_ups_between_polls_count_nothing(void **state)
{
	(void)state;
	world_ready_object("web", 0, FALLBACK ",'pollingInterval':7200");
	fakesource_fail("web", "connection refused");
	for (int i = 0; i < 8; i++) {
		fakesource_look("web");
		world_pass(15000);
	}
	assert_true(fakesource_asked("web") > 6);
	world_expect("web", "Fallback", "False NoFallbackFound");
	assert_int_equal(failures_stored(), 0);
}

static char logged[4096];

static void on_line(void *arg, enum log_level level, const char *line)
{
	(void)arg;
	if (level >= LOG_LEVEL_INFO && strstr(line, "default/web"))
		strncat(logged, line, sizeof(logged) - strlen(logged) - 1);
}

static bool has_logged(const char *part)
{
	bool has = strstr(logged, part) != NULL;

	*logged = '\0';
	return has;
}

/* A fallback does not make a failing source readable. */
static void the_log_reports_a_readable_source(void **state)
{
	(void)state;
	world_ready_object("web", 0, FALLBACK ",'cooldownPeriod':0");
	log_set_sink(on_line, NULL);
	fakesource_fail("web", "connection refused");
	world_pass(POLL_MS * 2);
	assert_true(has_logged("source web: connection refused"));
	world_pass(POLL_MS * 2);
	world_expect("web", "Fallback", "True");
	assert_null(strstr(logged, "can be read again"));
	assert_true(has_logged("fallback is active"));
	fakesource_answer("web", 2);
	world_pass(POLL_MS + 1000);
	assert_non_null(strstr(logged, "all triggers can be read again"));
	assert_true(has_logged("fallback is no longer active"));
}

static void fallback_begins_after_the_threshold_and_ends_with_an_answer(void **state)
{
	(void)state;
	world_ready_object("web", 0, FALLBACK ",'cooldownPeriod':0");
	assert_int_equal(failures_stored(), 0);
	fakesource_fail("web", "connection refused");
	world_pass(POLL_MS * 2 + 100); /* the phase may be a whole POLL_MS */
	/* Up to the threshold an error is an error, which Ready reports if no fallback helps. */
	world_expect("web", "Fallback", "False NoFallbackFound");
	world_expect("web", "Ready", "True ScaledObjectReady");
	assert_int_equal(fakecluster_events_sent("KEDAScalerFailed", "connection refused"), 1);
	assert_int_equal(world_replicas("web"), 0);
	assert_string_equal(fakecluster_text(WEB, "status.health." METRIC ".status"), "Failing");
	assert_int_equal(failures_stored(), 1); /* the edge is written, not each one */
	get_metric();
	assert_string_equal(heard.err, "source web: connection refused");
	world_pass(POLL_MS * 2); /* the fourth */
	world_expect("web", "Fallback",
		"True FallbackExists At least one trigger is falling back on this scaled object: s0-");
	world_expect("web", "Ready", "True ScaledObjectReady");
	world_expect("web", "Active", "True ScalerActive");
	assert_int_equal(world_replicas("web"), 1); /* the HPA takes it to six */
	assert_int_equal(failures_stored(), 4);
	assert_int_equal(fakecluster_events_sent("ScaledObjectFallbackActivated",
				 "Normal ScaledObject default/web uid-2: ScaledObject fallback is active"),
		1);
	get_metric();
	assert_true(heard.falling_back && heard.value == 30); /* 6 x 5 */
	fakecluster_forget_calls();
	world_pass(HOUR_MS);
	assert_int_equal(fakecluster_writes(), 0);
	assert_int_equal(world_replicas("web"), 1);
	fakesource_answer("web", 2);
	world_pass(POLL_MS + 1000);
	world_expect("web", "Fallback", "False NoFallbackFound");
	assert_string_equal(fakecluster_text(WEB, "status.health." METRIC ".status"), "Happy");
	assert_int_equal(failures_stored(), 0);
	assert_int_equal(fakecluster_events_sent("ScaledObjectFallbackDeactivated",
				 "Normal ScaledObject default/web uid-2: ScaledObject fallback is no longer active"),
		1);
	get_metric();
	assert_true(!heard.falling_back && heard.value == 2);
}

static void without_fallback_nothing_is_counted_in_the_status(void **state)
{
	(void)state;
	world_ready_object("web", 3, "");
	fakesource_fail("web", "x");
	world_pass(HOUR_MS);
	assert_null(fakecluster_at(WEB, "status.health"));
	world_expect("web", "Fallback", "False NoFallbackFound");
}

static void metric_requests_count_and_the_status_does_not_wait_for_the_poll(void **state)
{
	(void)state;
	world_ready_object("web", 0, FALLBACK ",'pollingInterval':7200");
	world_deployment("web", 1); /* at 0 there is no HPA that would ask */
	fakesource_fail("web", "connection refused");
	world_pass(15000);
	for (int i = 0; i < 3; i++) {
		get_metric();
		world_pass(15000);
	}
	world_expect("web", "Fallback", "False");
	get_metric();
	assert_true(heard.falling_back);
	world_pass(200);
	world_expect("web", "Fallback", "True");
	assert_int_equal(fakesource_asked("web"), 5); /* that look asked no source */
	assert_int_equal(fakecluster_events_sent("ScaledObjectFallbackActivated", ""), 1);
	world_pass(2000);
	fakesource_answer("web", 2);
	get_metric();
	world_pass(200);
	world_expect("web", "Fallback", "False");
	assert_int_equal(fakesource_asked("web"), 6);
}

/*
 * Others than the HPA controller, which asks every 15 s, bring fallback no nearer, however often
 * they ask.
 */
static void other_readers_count_nothing(void **state)
{
	(void)state;
	world_ready_object("web", 1, FALLBACK ",'minReplicaCount':1,'pollingInterval':7200");
	fakesource_fail("web", "connection refused");
	world_pass(15000);
	for (int i = 0; i < 40; i++) {
		get_metric();
		world_pass(1000);
	}
	assert_int_equal(health_failures(world.cache->health, world_object("default/web"), METRIC), 3);
	world_expect("web", "Fallback", "False");
}

/* However many ask about it, one question that failed is one failure. */
static void one_question_counts_once(void **state)
{
	(void)state;
	world_ready_object("web", 0, FALLBACK);
	fakesource_fail("web", "connection refused");
	world_pass(2000);
	for (int i = 0; i < 20; i++)
		get_metric();
	assert_int_equal(health_failures(world.cache->health, world_object("default/web"), METRIC), 1);
}

/* ---- Other times, other leaders ---- */

static void fall_back(void)
{
	world_ready_object("web", 0, FALLBACK);
	fakesource_fail("web", "connection refused");
	world_pass(POLL_MS * 5);
	world_expect("web", "Fallback", "True");
}

static void a_restart_goes_on_where_it_was(void **state)
{
	(void)state;
	fall_back();
	fakecluster_forget_calls();
	world_restart();
	get_metric();
	assert_true(heard.falling_back);
	world_pass(HOUR_MS);
	world_expect("web", "Fallback", "True");
	assert_int_equal(fakecluster_writes(), 0);
	assert_int_equal(fakecluster_events_sent("ScaledObjectFallbackActivated", ""), 1);
	assert_int_equal(fakecluster_events_sent("ScaledObjectFallbackDeactivated", ""), 0);
	world_restart();
	fakesource_answer("web", 2);
	world_pass(POLL_MS);
	world_expect("web", "Fallback", "False");
	assert_int_equal(fakecluster_events_sent("ScaledObjectFallbackDeactivated", ""), 1);
}

static void a_standby_reads_and_never_counts(void **state)
{
	(void)state;
	world_ready_object("web", 0, FALLBACK);
	world_lead(false);
	fakesource_fail("web", "connection refused");
	world_pass(2000);
	for (int i = 0; i < 10; i++) {
		get_metric();
		assert_string_equal(heard.err, "source web: connection refused");
		world_pass(2000);
	}
	/* The leader has found so. */
	fakecluster_change(WEB, "{'status':{'health':{'" METRIC "':{'numberOfFailures':4,'status':'Failing'}}}}");
	world_pass(2000);
	get_metric();
	assert_true(heard.falling_back);
	assert_int_equal(health_failures(world.cache->health, world_object("default/web"), METRIC), 4);
}

/* Counts of an earlier term as leader are not used again. */
static void a_new_leader_uses_the_status(void **state)
{
	(void)state;
	fall_back();
	world_lead(false);
	fakecluster_change(WEB, "{'status':{'health':{'" METRIC "':{'numberOfFailures':0,'status':'Happy'}}}}");
	world_pass(1000);
	world_lead(true);
	world_pass(100);
	assert_int_equal(health_failures(world.cache->health, world_object("default/web"), METRIC), 1);
	world_expect("web", "Fallback", "False");
}

/* ---- Changes meanwhile ---- */

static void fallback_that_is_taken_away_ends(void **state)
{
	(void)state;
	fall_back();
	world_scaledobject("web", "");
	world_pass(1000);
	world_expect("web", "Fallback", "False NoFallbackFound");
	world_expect("web", "Ready", "False TriggerError");
	assert_int_equal(fakecluster_events_sent("ScaledObjectFallbackDeactivated", ""), 1);
	assert_int_equal(world_replicas("web"), 1);
}

static void another_metric_is_counted_from_nothing(void **state)
{
	(void)state;
	fall_back();
	fakesource_fail("other", "connection refused");
	world_scaledobject("web", FALLBACK ",'triggers':[{'type':'scripted','metadata':{'source':'other'}}]");
	world_pass(1000);
	world_expect("web", "Fallback", "False");
	assert_null(fakecluster_at(WEB, "status.health." METRIC));
	assert_int_equal(fakecluster_number(WEB, "status.health.s0-scripted-other.numberOfFailures"), 1);
	/* And back: old counts are forgotten. */
	world_scaledobject("web", FALLBACK);
	world_pass(1000);
	assert_int_equal(health_failures(world.cache->health, world_object("default/web"), METRIC), 1);
}

static void a_recreated_object_starts_afresh(void **state)
{
	(void)state;
	fall_back();
	fakecluster_delete(WEB);
	world_scaledobject("web", FALLBACK);
	world_pass(1000);
	assert_int_equal(health_failures(world.cache->health, world_object("default/web"), METRIC), 1);
	world_expect("web", "Fallback", "False");
}

static void current_replicas_are_kept(void **state)
{
	(void)state;
	world_ready_object("web", 0,
		"'fallback':{'failureThreshold':0,'replicas':2,'behavior':'currentReplicasIfHigher'}");
	fakecluster_change(DEPLOYMENT("web"), "{'spec':{'replicas':8}}");
	fakesource_fail("web", "connection refused");
	world_pass(POLL_MS);
	get_metric();
	assert_true(heard.value == 40);
	fakecluster_change(DEPLOYMENT("web"), "{'spec':{'replicas':1}}");
	world_pass(POLL_MS);
	get_metric();
	assert_true(heard.value == 10);
}

static void the_other_triggers_scale_on(void **state)
{
	(void)state;
	fakesource_fail("a", "no route");
	world_deployment("web", 0);
	world_scaledobject("web",
		"'fallback':{'failureThreshold':3,'replicas':0},'cooldownPeriod':0,'triggers':[{'type':'scripted','"
		"metadata':{'source':'a'}},{'type':'scripted','metadata':{'source':'b'}}]");
	world_pass(1000);
	/* Down when the object is made: a failing reading, the HPA is there. */
	assert_non_null(fakecluster_get(HPA("keda-hpa-web")));
	fakesource_answer("b", 7);
	world_pass(POLL_MS);
	assert_int_equal(world_replicas("web"), 1);
	world_expect("web", "Ready", "Unknown PartialTriggerError");
	fakesource_answer("b", 0);
	world_pass(POLL_MS * 5);
	/* The user wrote: nothing, when it fails. */
	assert_int_equal(world_replicas("web"), 0);
	world_expect("web", "Fallback", "True");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		CASE(wake_ups_bring_no_fallback),
		CASE(wake_ups_between_polls_count_nothing),
		CASE(the_log_reports_a_readable_source),
		CASE(fallback_begins_after_the_threshold_and_ends_with_an_answer),
		CASE(without_fallback_nothing_is_counted_in_the_status),
		CASE(metric_requests_count_and_the_status_does_not_wait_for_the_poll),
		CASE(other_readers_count_nothing),
		CASE(one_question_counts_once),
		CASE(a_restart_goes_on_where_it_was),
		CASE(a_standby_reads_and_never_counts),
		CASE(a_new_leader_uses_the_status),
		CASE(fallback_that_is_taken_away_ends),
		CASE(another_metric_is_counted_from_nothing),
		CASE(a_recreated_object_starts_afresh),
		CASE(current_replicas_are_kept),
		CASE(the_other_triggers_scale_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
