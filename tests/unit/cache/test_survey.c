/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One survey of all triggers of an object: questions, waiting, and changes of the object meanwhile.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../fakes/fakecluster.h"
#include "../fakes/fakeloop.h"
#include "../fakes/fakeobjects.h"
#include "../fakes/fakesource.h"

#include "base/mem.h"
#include "cache/survey.h"
#include "scalers/sources.h"

#define WEB       "/apis/keda.sh/v1alpha1/namespaces/default/scaledobjects/web"
#define TARGET    "/apis/apps/v1/namespaces/default/deployments/web"
#define KEY       "default/web"
#define JOB       "/apis/keda.sh/v1alpha1/namespaces/default/scaledjobs/web" /* of the same name */
#define JOB_KEY   "scaledjobs/default/web"
#define A         "{'type':'scripted','metadata':{'source':'a','activation':'3'}}"
#define B         "{'type':'scripted','metadata':{'source':'b'}}"
#define SECRET    "/api/v1/namespaces/default/secrets/creds"
#define AUTH      "/apis/keda.sh/v1alpha1/namespaces/default/triggerauthentications/redis"
#define BY_SECRET "{'type':'scripted','metadata':{},'authenticationRef':{'name':'redis'}}"
#define CPU       "{'type':'cpu','metricType':'Utilization','metadata':{'value':'60'}}"

static struct {
	struct loop *loop;
	struct scaler_sources sources;
	struct kube *kube;
	struct counters *counters;
	struct cache *cache;
	struct survey *survey;
	const char *key; /* of the object that is looked at */
	struct heard {
		int times;
		char text[1024];
		int64_t answered_at_ms, asked_at_ms;
	} heard;
} t;

/* As the store has it now; one that it does not have is gone. */
static struct object *of(const char *key)
{
	struct object *o = store_object(t.cache->store, key);

	if (o)
		return o;
	o = fakeobject(key);
	o->gone = true;
	return o;
}

static void object(const char *triggers)
{
	MEM_AUTO char *text = mem_printf("{'spec':{'scaleTargetRef':{'name':'web'},'triggers':[%s]}}", triggers);

	fakecluster_apply(WEB, text);
	fakeloop_advance(20);
}

static void job(const char *triggers)
{
	MEM_AUTO char *text = mem_printf("{'spec':{'jobTargetRef':{'template':{'spec':{'containers':[{'name':'x'}]}}},'"
					 "triggers':[%s]}}",
		triggers);

	fakecluster_apply(JOB, text);
	fakeloop_advance(20);
	t.key = JOB_KEY;
}

static int setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	t.key = KEY;
	t.loop = fakeloop_start();
	t.sources.loop = t.loop;
	fakesource_start();
	t.kube = fakecluster_start(t.loop);
	t.counters = counters_new();
	t.cache = cache_new(&(struct cache_config){ .kube = t.kube,
		.counters = t.counters,
		.sources = &t.sources,
		.lookups = { .cluster_namespace = "keda" },
		.readings = { .ask_timeout_ms = 3000, .max_waiters = 100 },
		.watches_max = 10 });
	t.cache->leadership.leading = true;
	cache_start(t.cache, NULL, 0);
	fakecluster_apply(TARGET,
		"{'apiVersion':'apps/"
		"v1','kind':'Deployment','spec':{'replicas':4,'template':{'spec':{'containers':[{'name':'x'}]}}},'"
		"status':{'readyReplicas':2}}");
	fakesource_answer("a", 2);
	fakesource_answer("b", 5);
	object(A "," B);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	survey_cancel(t.survey);
	cache_free(t.cache);
	counters_free(t.counters);
	fakeobjects_end();
	fakeloop_advance(0);
	fakecluster_end();
	fakesource_end();
	fakeloop_end();
	return 0;
}

/* "s0-scripted-a 2 inactive; s1-scripted-b failing: ..., 4 replicas" */
static void on_survey(void *arg, const struct survey_result *r)
{
	struct heard *h = &t.heard;
	size_t len = 0;

	(void)arg;
	t.survey = NULL;
	h->times++;
	h->answered_at_ms = r->answered_at_ms;
	h->asked_at_ms = r->asked_at_ms;
	if (r->err) {
		snprintf(h->text, sizeof(h->text), "%s: %s", err_kind_name(r->err->kind), r->err->msg);
		return;
	}
	assert_string_equal(r->of.meta->name, "web");
	assert_int_equal(r->of.kind, store_key_kind(t.key));
	for (size_t i = 0; i < r->count; i++) {
		const struct verdict_trigger *one = &r->triggers[i];

		assert_string_equal(one->metric_name, r->scalers[i]->metric_name);
		if (one->err)
			len += (size_t)snprintf(h->text + len, sizeof(h->text) - len, "%s failing (%d): %s; ",
				one->metric_name, one->failures, one->err->msg);
		else
			len += (size_t)snprintf(h->text + len, sizeof(h->text) - len, "%s %g %s; ", one->metric_name,
				one->reading.value, one->reading.active ? "active" : "inactive");
	}
	snprintf(h->text + len, sizeof(h->text) - len, "%zu resources, %d replicas", r->resource_count,
		r->replicas_known ? r->replicas : -1);
}

static struct survey_terms terms(const char *metric, int64_t max_age_ms)
{
	return (struct survey_terms){ .metric = metric,
		.max_age_ms = max_age_ms,
		.counted = true,
		.deadline_ms = loop_now_ms(t.loop) + 3000 };
}

static void start(const char *metric, int64_t max_age_ms)
{
	struct survey_terms with = terms(metric, max_age_ms);

	t.heard = (struct heard){ 0 };
	t.survey = survey_start(t.cache, of(t.key), &with, on_survey, NULL);
	assert_int_equal(t.heard.times, 0);
}

static const char *look(const char *metric)
{
	start(metric, 0);
	fakeloop_advance(10);
	assert_int_equal(t.heard.times, 1);
	return t.heard.text;
}

static bool peek(const char *metric, int64_t max_age_ms)
{
	struct survey_terms with = terms(metric, max_age_ms);
	bool found;

	t.heard = (struct heard){ 0 };
	found = survey_peek(t.cache, of(t.key), &with, on_survey, NULL);
	assert_int_equal(t.heard.times, found);
	return found;
}

/* ----  ---- */

static void all_are_asked_and_judged(void **state)
{
	(void)state;
	assert_string_equal(look(NULL), "s0-scripted-a 2 inactive; s1-scripted-b 5 active; 0 resources, 4 replicas");
	assert_true(t.heard.answered_at_ms > 0);
	fakesource_fail("b", "no route");
	assert_string_equal(look(NULL),
		"s0-scripted-a 2 inactive; s1-scripted-b failing (1): source b: no route; 0 resources, 4 replicas");
}

static void one_is_asked_alone(void **state)
{
	(void)state;
	assert_string_equal(look("S1-Scripted-B"), "s1-scripted-b 5 active; 0 resources, 4 replicas");
	assert_int_equal(fakesource_asked("a"), 0);
	assert_string_equal(look("s2-scripted-c"), "missing: scaledobject default/web has no metric s2-scripted-c");
	assert_string_equal(look("composite-metric"),
		"missing: scaledobject default/web has no metric composite-metric");
}

static void resources_are_not_asked(void **state)
{
	(void)state;
	object(CPU "," B);
	assert_string_equal(look(NULL), "s1-scripted-b 5 active; 1 resources, 4 replicas");
	assert_non_null(strstr(look("cpu"), "missing: "));
	object(CPU);
	assert_string_equal(look(NULL), "1 resources, 4 replicas");
	assert_true(t.heard.answered_at_ms == 0);
}

static void the_slowest_is_awaited_up_to_the_deadline(void **state)
{
	(void)state;
	fakesource_hang("a");
	start(NULL, 0);
	fakeloop_advance(2900);
	assert_int_equal(t.heard.times, 0);
	fakeloop_advance(200);
	assert_string_equal(t.heard.text,
		"s0-scripted-a failing (1): source a: timed out; s1-scripted-b 5 active; 0 resources, 4 replicas");
}

static const char *run(const struct survey_terms *with)
{
	t.heard = (struct heard){ 0 };
	t.survey = survey_start(t.cache, of(t.key), with, on_survey, NULL);
	fakeloop_advance(10);
	assert_int_equal(t.heard.times, 1);
	return t.heard.text;
}

static const char *look_woken(void)
{
	struct survey_terms with = terms(NULL, INT64_MAX);

	with.after = readings_mark(t.cache->readings);
	with.counted = false;
	return run(&with);
}

/* Only failures: an answer is one. */
static void uncounted_looks_count_no_failure(void **state)
{
	struct survey_terms between = terms("s0-scripted-a", 0);

	(void)state;
	between.counted = false;
	fakesource_fail("a", "no route");
	for (int i = 0; i < 3; i++) {
		t.survey = survey_start(t.cache, of(KEY), &between, on_survey, NULL);
		fakeloop_advance(10);
		assert_string_equal(t.heard.text,
			"s0-scripted-a failing (0): source a: no route; 0 resources, 4 replicas");
	}
	assert_string_equal(look("s0-scripted-a"),
		"s0-scripted-a failing (1): source a: no route; 0 resources, 4 replicas");
	t.survey = survey_start(t.cache, of(KEY), &between, on_survey, NULL);
	fakeloop_advance(10);
	assert_string_equal(t.heard.text, "s0-scripted-a failing (1): source a: no route; 0 resources, 4 replicas");
	fakesource_answer("a", 3);
	t.survey = survey_start(t.cache, of(KEY), &between, on_survey, NULL);
	fakeloop_advance(10);
	assert_int_equal(health_failures(t.cache->health, of(KEY), "s0-scripted-a"), 0);
}

/* Like /metrics and explain: reads what a push has asked, and what a poll has counted already. */
static void a_look_at_known_readings_counts_nothing(void **state)
{
	static const struct survey_terms peek_terms = { .max_age_ms = INT64_MAX };

	(void)state;
	fakesource_fail("a", "no route");
	look_woken();
	for (int i = 0; i < 3; i++) {
		fakeloop_advance(60000);
		assert_true(survey_peek(t.cache, of(t.key), &peek_terms, on_survey, NULL));
		assert_int_equal(health_failures(t.cache->health, of(KEY), "s0-scripted-a"), 0);
	}
	look("s0-scripted-a");
	assert_true(survey_peek(t.cache, of(t.key), &peek_terms, on_survey, NULL));
	assert_int_equal(health_failures(t.cache->health, of(KEY), "s0-scripted-a"), 1);
}

/* Its asker gave up before the query did: that is no failure of the source. */
static void giving_up_is_not_counted(void **state)
{
	struct survey_terms hasty = terms("s0-scripted-a", 0);

	(void)state;
	fakesource_hang("a");
	hasty.deadline_ms = loop_now_ms(t.loop) + 500;
	t.survey = survey_start(t.cache, of(KEY), &hasty, on_survey, NULL);
	fakeloop_advance(600);
	assert_string_equal(t.heard.text,
		"s0-scripted-a failing (0): source a: no answer in time; 0 resources, 4 replicas");
	fakeloop_advance(3000);
	assert_int_equal(health_failures(t.cache->health, of(KEY), "s0-scripted-a"), 0);
}

static void memory_is_looked_into_at_once(void **state)
{
	(void)state;
	assert_false(peek("s0-scripted-a", 1000));
	assert_false(peek(NULL, 1000));
	look("s0-scripted-a");
	assert_true(peek("s0-scripted-a", 1000));
	assert_string_equal(t.heard.text, "s0-scripted-a 2 inactive; 0 resources, 4 replicas");
	assert_false(peek(NULL, 1000)); /* of b nothing is known */
	look(NULL);
	assert_true(peek(NULL, 1000));
	assert_string_equal(t.heard.text, "s0-scripted-a 2 inactive; s1-scripted-b 5 active; 0 resources, 4 replicas");
	fakeloop_advance(1000);
	assert_false(peek("s0-scripted-a", 1000));
	fakesource_fail("a", "no route");
	look("s0-scripted-a");
	assert_true(peek("s0-scripted-a", 1000));
	assert_string_equal(t.heard.text, "s0-scripted-a failing (1): source a: no route; 0 resources, 4 replicas");
	assert_true(peek("nothing", 1000));
	assert_string_equal(t.heard.text, "missing: scaledobject default/web has no metric nothing");
}

static void a_changed_object_restarts_the_survey(void **state)
{
	(void)state;
	fakesource_hang("a");
	start(NULL, 0);
	fakeloop_advance(1000);
	object(B "," CPU);
	fakesource_answer("b", 8);
	fakeloop_advance(2100);
	/* within the same deadline, which has passed */
	assert_string_equal(t.heard.text,
		"s0-scripted-b failing (0): source b: no answer in time; 1 resources, 4 replicas");
	/* Another threshold is no other question. */
	object(A);
	fakesource_answer("a", 2);
	fakecluster_watch_lag(0);
	start(NULL, 0);
	object("{'type':'scripted','metadata':{'source':'a','activation':'1'}}");
	assert_string_equal(t.heard.text, "s0-scripted-a 2 active; 0 resources, 4 replicas");
}

static void an_object_that_goes_is_missing(void **state)
{
	(void)state;
	fakesource_hang("a");
	start(NULL, 0);
	fakecluster_delete(WEB);
	fakeloop_advance(3100);
	assert_int_equal(t.heard.times, 1);
	assert_string_equal(t.heard.text, "missing: scaledobject default/web not found");
	assert_string_equal(look(NULL), "missing: scaledobject default/web not found");
	assert_true(peek(NULL, 1000));
}

static void a_failed_build_is_reported(void **state)
{
	(void)state;
	object("{'type':'unheard-of','metadata':{}}");
	assert_non_null(strstr(look(NULL), "invalid: trigger 0: no scaler found for type: unheard-of"));
	assert_true(peek("s0-scripted-a", 1000));
	assert_non_null(strstr(t.heard.text, "invalid: "));
}

/*
 * A standby's first request: the Secret is read while the asker waits, and no failure is reported.
 */
static void inputs_being_read_are_awaited(void **state)
{
	(void)state;
	fakecluster_apply(AUTH, "{'spec':{'secretTargetRef':[{'parameter':'source','name':'creds','key':'pw'}]}}");
	fakecluster_apply(SECRET, "{'data':{'pw':'YQ=='}}");
	object(BY_SECRET);
	assert_false(peek(NULL, 1000));
	start(NULL, 0);
	fakeloop_advance(200);
	assert_string_equal(t.heard.text, "s0-scripted-a 2 active; 0 resources, 4 replicas");
	fakecluster_delete(SECRET);
	fakeloop_advance(200);
	assert_non_null(strstr(look(NULL), "Secret default/creds"));
}

static void after_a_cancel_no_callback_comes(void **state)
{
	(void)state;
	start(NULL, 0);
	survey_cancel(t.survey);
	t.survey = NULL;
	object(CPU);
	start(NULL, 0); /* one that awaits nothing */
	survey_cancel(t.survey);
	t.survey = NULL;
	survey_cancel(NULL);
	fakeloop_advance(5000);
	assert_int_equal(t.heard.times, 0);
}

/* ---- Of a ScaledJob ---- */

static void a_scaledjob_is_looked_at_by_itself(void **state)
{
	(void)state;
	fakesource_answer("c", 7);
	job("{'type':'scripted','metadata':{'source':'c'}}," B);
	assert_string_equal(look(NULL), "s0-scripted-c 7 active; s1-scripted-b 5 active; 0 resources, -1 replicas");
	assert_true(peek(NULL, 1000));
	assert_string_equal(t.heard.text, "s0-scripted-c 7 active; s1-scripted-b 5 active; 0 resources, -1 replicas");
	assert_string_equal(look("s1-scripted-b"), "s1-scripted-b 5 active; 0 resources, -1 replicas");
	assert_string_equal(look("composite-metric"), "missing: scaledjob default/web has no metric composite-metric");
	fakesource_fail("c", "no route");
	assert_string_equal(look(NULL),
		"s0-scripted-c failing (1): source c: no route; s1-scripted-b 5 active; 0 resources, -1 replicas");
	fakeloop_advance(15000);
	assert_string_equal(look(NULL),
		"s0-scripted-c failing (2): source c: no route; s1-scripted-b 5 active; 0 resources, -1 replicas");
	t.key = KEY;
	assert_string_equal(look(NULL), "s0-scripted-a 2 inactive; s1-scripted-b 5 active; 0 resources, 4 replicas");
	fakecluster_delete(JOB);
	fakeloop_advance(20);
	t.key = JOB_KEY;
	assert_string_equal(look(NULL), "missing: scaledjob default/web not found");
	assert_string_equal(look("s1-scripted-b"), "missing: scaledjob default/web not found");
}

/*
 * The time after which events may be missing in the answers: that of the first question, not of the
 * looks that it answers.
 */
static void the_time_of_the_oldest_question_is_reported(void **state)
{
	int64_t a_at_ms, b_at_ms;

	(void)state;
	job(A "," B);
	a_at_ms = loop_now_ms(t.loop);
	look("s0-scripted-a");
	assert_true(t.heard.asked_at_ms == a_at_ms);
	assert_true(t.heard.answered_at_ms >= a_at_ms);
	fakeloop_advance(300);
	b_at_ms = loop_now_ms(t.loop);
	look("s1-scripted-b");
	assert_true(t.heard.asked_at_ms == b_at_ms);
	assert_true(peek(NULL, 1000));
	assert_true(t.heard.asked_at_ms == a_at_ms);
	/* A failing one has no time. */
	fakesource_fail("a", "no route");
	look("s0-scripted-a");
	assert_true(t.heard.asked_at_ms == 0);
	assert_true(peek(NULL, 1000));
	assert_true(t.heard.asked_at_ms == b_at_ms);
	fakesource_answer("a", 3);
	look(NULL);
	assert_true(t.heard.asked_at_ms > b_at_ms);
}

static void count_survey(void *arg, const struct survey_result *r)
{
	assert_null(r->err);
	assert_true(r->triggers[0].reading.value == 5);
	(*(int *)arg)++;
}

static void both_kinds_share_a_reading(void **state)
{
	struct survey_terms with = terms(NULL, 0);
	int told = 0;

	(void)state;
	object(B);
	job(B);
	survey_start(t.cache, of(KEY), &with, count_survey, &told);
	survey_start(t.cache, of(JOB_KEY), &with, count_survey, &told);
	fakeloop_advance(10);
	assert_int_equal(told, 2);
	assert_true(peek(NULL, 1000));
	t.key = KEY;
	assert_true(peek(NULL, 1000));
	assert_int_equal(fakesource_asked("b"), 1);
}

/* ---- UseCachedMetrics ---- */

#define CACHED_A "{'type':'scripted','useCachedMetrics':true,'metadata':{'source':'a'}}"

static const char *poll(void)
{
	struct survey_terms with;

	fakeloop_advance(100); /* so that no reading will do */
	with = terms(NULL, 50);
	with.timed = true;
	return run(&with);
}

/* As the metric request does. */
static const char *get(const char *metric)
{
	struct survey_terms with = terms(metric, 1000);

	with.cached = true;
	t.heard = (struct heard){ 0 };
	if (survey_peek(t.cache, of(t.key), &with, on_survey, NULL))
		return t.heard.text;
	return run(&with);
}

#define BOTH                   "s0-scripted-a 2 active; s1-scripted-b 8 active; 0 resources, 4 replicas"
#define FAILING(failures, why) "s0-scripted-a failing (" failures "): source a: " why "; 0 resources, 4 replicas"
#define ONLY_A(value)          "s0-scripted-a " value " active; 0 resources, 4 replicas"

static void a_wake_up_is_not_for_the_hpa(void **state)
{
	(void)state;
	object(CACHED_A);
	poll();
	fakesource_answer("a", 7);
	assert_string_equal(look_woken(), ONLY_A("7"));
	assert_string_equal(get("s0-scripted-a"), ONLY_A("2"));
	fakeloop_advance(5000);
	assert_string_equal(get("s0-scripted-a"), ONLY_A("2"));
	assert_int_equal(fakesource_asked("a"), 2);
	assert_string_equal(poll(), ONLY_A("7"));
	assert_string_equal(get("s0-scripted-a"), ONLY_A("7"));
}

/* Before the first poll the source is asked, but only once. */
static void the_first_request_asks_by_itself(void **state)
{
	(void)state;
	object(CACHED_A);
	assert_string_equal(get("s0-scripted-a"), ONLY_A("2"));
	fakesource_answer("a", 7);
	fakeloop_advance(29000);
	assert_string_equal(get("s0-scripted-a"), ONLY_A("2"));
	assert_int_equal(fakesource_asked("a"), 1);
	fakeloop_advance(7000);
	assert_string_equal(get("s0-scripted-a"), ONLY_A("7"));
}

static void a_wake_up_before_the_first_poll_is_not_held(void **state)
{
	(void)state;
	object(CACHED_A);
	look_woken();
	fakesource_answer("a", 7);
	fakeloop_advance(1000);
	assert_string_equal(get("s0-scripted-a"), ONLY_A("7"));
}

static void another_object_that_asks_the_same_changes_nothing(void **state)
{
	(void)state;
	object(CACHED_A);
	poll();
	job("{'type':'scripted','metadata':{'source':'a'}}");
	fakesource_answer("a", 7);
	assert_string_equal(poll(), "s0-scripted-a 7 active; 0 resources, -1 replicas");
	t.key = KEY;
	assert_string_equal(get("s0-scripted-a"), ONLY_A("2"));
}

static void only_its_own_trigger_is_held(void **state)
{
	(void)state;
	object("{'type':'scripted','name':'a','useCachedMetrics':true,'metadata':{'source':'a'}},"
	       "{'type':'scripted','name':'b','metadata':{'source':'b'}}");
	fakecluster_change(WEB, "{'spec':{'advanced':{'scalingModifiers':{'target':'1','formula':'a + b'}}}}");
	fakeloop_advance(20);
	poll();
	fakesource_answer("a", 7);
	fakesource_answer("b", 8);
	fakeloop_advance(1500);
	assert_string_equal(get("composite-metric"), BOTH);
	assert_int_equal(fakesource_asked("a"), 1);
	fakeloop_advance(500);
	assert_string_equal(get("composite-metric"), BOTH);
	assert_int_equal(fakesource_asked("b"), 2);
}

static void a_failure_is_held_until_the_source_answers_anybody(void **state)
{
	(void)state;
	object(CACHED_A);
	poll();
	fakesource_fail("a", "no route");
	assert_string_equal(look_woken(), FAILING("0", "no route"));
	assert_string_equal(get("s0-scripted-a"), ONLY_A("2"));
	poll();
	for (int i = 0; i < 3; i++) {
		fakeloop_advance(5000);
		assert_string_equal(get("s0-scripted-a"), FAILING("1", "no route"));
	}
	assert_int_equal(fakesource_asked("a"), 3);
	assert_string_equal(look_woken(), FAILING("1", "no route"));
	fakesource_answer("a", 7);
	look_woken();
	fakesource_answer("a", 8);
	look_woken();
	assert_string_equal(get("s0-scripted-a"), ONLY_A("7"));
}

/* A poll that gave up waiting knows nothing. */
static void a_poll_that_gave_up_holds_nothing(void **state)
{
	struct survey_terms hasty;

	(void)state;
	object(CACHED_A);
	poll();
	fakesource_hang("a");
	hasty = terms(NULL, 0);
	hasty.timed = true;
	hasty.deadline_ms = loop_now_ms(t.loop) + 5;
	assert_string_equal(run(&hasty), FAILING("0", "no answer in time"));
	assert_string_equal(get("s0-scripted-a"), ONLY_A("2"));
}

/* useCachedMetrics goes by the ScaledJob's own pollingInterval. */
static void its_cached_metrics_are_as_old_as_its_polls(void **state)
{
	struct survey_terms cached = terms("s0-scripted-b", 0);

	(void)state;
	job("{'type':'scripted','useCachedMetrics':true,'metadata':{'source':'b'}}");
	fakecluster_change(JOB, "{'spec':{'pollingInterval':10}}");
	fakeloop_advance(20);
	poll();
	cached.cached = true;
	fakeloop_advance(14000);
	assert_true(survey_peek(t.cache, of(JOB_KEY), &cached, on_survey, NULL));
	fakeloop_advance(2000);
	assert_false(survey_peek(t.cache, of(JOB_KEY), &cached, on_survey, NULL));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(all_are_asked_and_judged),
		CASE(one_is_asked_alone),
		CASE(resources_are_not_asked),
		CASE(the_slowest_is_awaited_up_to_the_deadline),
		CASE(uncounted_looks_count_no_failure),
		CASE(a_look_at_known_readings_counts_nothing),
		CASE(giving_up_is_not_counted),
		CASE(memory_is_looked_into_at_once),
		CASE(a_changed_object_restarts_the_survey),
		CASE(an_object_that_goes_is_missing),
		CASE(a_failed_build_is_reported),
		CASE(inputs_being_read_are_awaited),
		CASE(after_a_cancel_no_callback_comes),
		CASE(a_scaledjob_is_looked_at_by_itself),
		CASE(the_time_of_the_oldest_question_is_reported),
		CASE(both_kinds_share_a_reading),
		CASE(a_wake_up_is_not_for_the_hpa),
		CASE(the_first_request_asks_by_itself),
		CASE(a_wake_up_before_the_first_poll_is_not_held),
		CASE(another_object_that_asks_the_same_changes_nothing),
		CASE(only_its_own_trigger_is_held),
		CASE(a_failure_is_held_until_the_source_answers_anybody),
		CASE(a_poll_that_gave_up_holds_nothing),
		CASE(its_cached_metrics_are_as_old_as_its_polls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
