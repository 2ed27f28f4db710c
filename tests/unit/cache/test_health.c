/* SPDX-License-Identifier: Apache-2.0 */
/* Failures in a row: which count, by whom and when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../fakes/fakecluster.h"
#include "../fakes/fakeloop.h"
#include "../fakes/fakeobjects.h"

#include "base/buf.h"
#include "base/mem.h"
#include "cache/cache.h"
#include "scalers/sources.h"

#define WEB     "/apis/keda.sh/v1alpha1/namespaces/default/scaledobjects/web"
#define KEY     "default/web"
#define JOB     "/apis/keda.sh/v1alpha1/namespaces/default/scaledjobs/web" /* of the same name */
#define JOB_KEY "scaledjobs/default/web"

/* Between two polls: nothing that is completed is too near to the one before it. */
#define MINUTE_MS 60000

static struct {
	struct loop *loop;
	struct counters *counters;
	struct scaler_sources sources;
	struct cache *cache;
	int told;
} t;

static void on_passed(void *arg, struct object *o)
{
	(void)arg;
	assert_string_equal(o->key, KEY);
	t.told++;
}

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

static int setup(void **state)
{
	struct kube *kube;

	(void)state;
	memset(&t, 0, sizeof(t));
	t.loop = fakeloop_start();
	kube = fakecluster_start(t.loop);
	t.counters = counters_new();
	t.sources.loop = t.loop;
	t.cache = cache_new(&(struct cache_config){ .kube = kube,
		.counters = t.counters,
		.sources = &t.sources,
		.lookups = { .cluster_namespace = "keda" } });
	t.cache->leadership.leading = true;
	health_listen(t.cache->health, on_passed, NULL);
	cache_start(t.cache, NULL, 0);
	fakecluster_apply(WEB,
		"{'spec':{'scaleTargetRef':{'name':'web'},'triggers':[],'fallback':{'failureThreshold':2,'replicas':1}}"
		"}");
	fakeloop_advance(100);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	cache_free(t.cache);
	counters_free(t.counters);
	fakeobjects_end();
	fakeloop_advance(0);
	fakecluster_end();
	fakeloop_end();
	return 0;
}

static void store_health(const char *metrics)
{
	char text[256];

	snprintf(text, sizeof(text), "{'status':{'health':%s}}", metrics);
	fakecluster_change(WEB, text);
	fakeloop_advance(100);
}

static void failures_in_a_row_are_counted_once_each(void **state)
{
	(void)state;
	assert_int_equal(health_note(t.cache->health, of(KEY), "m", true, 1 * MINUTE_MS), 0);
	assert_int_equal(health_note(t.cache->health, of(KEY), "m", false, 10 * MINUTE_MS), 1);
	assert_int_equal(health_note(t.cache->health, of(KEY), "m", false, 10 * MINUTE_MS),
		1); /* another asker of the same query */
	assert_int_equal(health_note(t.cache->health, of(KEY), "m", false, 20 * MINUTE_MS), 2);
	assert_int_equal(health_note(t.cache->health, of(KEY), "n", false, 20 * MINUTE_MS), 1);
	assert_int_equal(health_note(t.cache->health, of(KEY), "m", false, 5 * MINUTE_MS), 2); /* reported late */
	assert_int_equal(health_note(t.cache->health, of(KEY), "m", true, 15 * MINUTE_MS), 0);
	assert_int_equal(health_failures(t.cache->health, of(KEY), "m"), 2);
	assert_int_equal(health_note(t.cache->health, of(KEY), "m", true, 30 * MINUTE_MS), 0);
	assert_int_equal(health_failures(t.cache->health, of(KEY), "m"), 0);
	assert_int_equal(health_failures(t.cache->health, of(KEY), "n"), 1);
}

/* However often anybody looks: one per 15 s, or per pollingInterval if that is shorter. */
static void how_many_look_counts_nothing(void **state)
{
	static const struct {
		const char *spec;
		int32_t counted;
	} cases[] = {
		/* in two minutes with ten readers a second */
		{ "{'spec':{'pollingInterval':30}}", 9 },
		{ "{'spec':{'pollingInterval':86400}}", 9 },
		{ "{'spec':{'pollingInterval':10}}", 14 },
		{ "{'spec':{'pollingInterval':1}}", 134 },
	};
	int64_t at_ms = MINUTE_MS;

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(cases); i++) {
		fakecluster_change(WEB, cases[i].spec);
		fakeloop_advance(100);
		for (int look = 0; look < 1200; look++, at_ms += 100)
			health_note(t.cache->health, of(KEY), "m", false, at_ms);
		assert_int_equal(health_failures(t.cache->health, of(KEY), "m"), cases[i].counted);
		/* An answer ends it at once, and the next failure is the first. */
		assert_int_equal(health_note(t.cache->health, of(KEY), "m", true, at_ms + 1), 0);
		assert_int_equal(health_note(t.cache->health, of(KEY), "m", false, at_ms + 2), 1);
		health_note(t.cache->health, of(KEY), "m", true, at_ms + 3);
		at_ms += MINUTE_MS;
	}
}

/* Extra reads between two polls of 15 s do not change the count. */
static void polls_count_as_they_did(void **state)
{
	(void)state;
	for (int poll = 1; poll <= 10; poll++) {
		assert_int_equal(health_note(t.cache->health, of(KEY), "m", false, poll * 15000), poll);
		assert_int_equal(health_note(t.cache->health, of(KEY), "m", false, poll * 15000 + 7000), poll);
	}
}

static void giving_up_counts_nothing(void **state)
{
	(void)state;
	health_note(t.cache->health, of(KEY), "m", false, 10 * MINUTE_MS);
	assert_int_equal(health_note(t.cache->health, of(KEY), "m", false, 0), 1);
	assert_int_equal(health_note(t.cache->health, of(KEY), "never", false, 0), 0);
}

static void crossing_the_threshold_is_reported(void **state)
{
	(void)state;
	for (int i = 1; i <= 5; i++) {
		health_note(t.cache->health, of(KEY), "m", false, i * MINUTE_MS);
		assert_int_equal(t.told, i > 2);
	}
	health_note(t.cache->health, of(KEY), "m", true, 6 * MINUTE_MS);
	assert_int_equal(t.told, 2);
	health_note(t.cache->health, of(KEY), "m", true, 7 * MINUTE_MS);
	assert_int_equal(t.told, 2);
	/* Without fallback the count has no effect. */
	fakecluster_change(WEB, "{'spec':{'fallback':null}}");
	fakeloop_advance(100);
	for (int i = 10; i <= 15; i++)
		health_note(t.cache->health, of(KEY), "m", false, i * MINUTE_MS);
	assert_int_equal(t.told, 2);
}

static void counts_continue_from_the_status(void **state)
{
	(void)state;
	store_health("{'m':{'numberOfFailures':7,'status':'Failing'},'n':{'numberOfFailures':0,'status':'Happy'},'odd':"
		     "{'numberOfFailures':-5,'status':'Failing'}}");
	assert_int_equal(health_failures(t.cache->health, of(KEY), "m"), 7);
	assert_int_equal(health_note(t.cache->health, of(KEY), "m", false, 10 * MINUTE_MS), 8);
	assert_int_equal(health_note(t.cache->health, of(KEY), "odd", false, 10 * MINUTE_MS), 1);
	assert_int_equal(health_note(t.cache->health, of(KEY), "n", true, 10 * MINUTE_MS), 0);
	/* From then on memory knows better. */
	store_health("{'m':{'numberOfFailures':1,'status':'Failing'}}");
	assert_int_equal(health_note(t.cache->health, of(KEY), "m", false, 20 * MINUTE_MS), 9);
}

static void an_answer_ends_the_stored_count(void **state)
{
	(void)state;
	store_health("{'m':{'numberOfFailures':7,'status':'Failing'}}");
	assert_int_equal(health_note(t.cache->health, of(KEY), "m", true, 10 * MINUTE_MS), 0);
	assert_int_equal(health_failures(t.cache->health, of(KEY), "m"), 0);
	assert_int_equal(t.told, 1);
}

static void a_standby_reads_the_status(void **state)
{
	(void)state;
	t.cache->leadership.leading = false;
	store_health("{'m':{'numberOfFailures':7,'status':'Failing'}}");
	for (int i = 1; i < 5; i++)
		assert_int_equal(health_note(t.cache->health, of(KEY), "m", false, i * MINUTE_MS), 7);
	assert_int_equal(health_note(t.cache->health, of(KEY), "m", true, 9 * MINUTE_MS), 0);
	assert_int_equal(health_failures(t.cache->health, of(KEY), "m"), 7);
	assert_int_equal(t.told, 0);
}

static size_t comparisons;

int __real_strcmp(const char *a, const char *b);
int __wrap_strcmp(const char *a, const char *b);

int __wrap_strcmp(const char *a, const char *b)
{
	comparisons++;
	return __real_strcmp(a, b);
}

#define MANY 1000

/* Each was looked for among all, at each look at an object that fails. */
static void many_metrics(void **state)
{
	static struct metric_spec specs[MANY];
	static char names[MANY][32];
	struct object *o = of(KEY);

	(void)state;
	for (int i = 0; i < MANY; i++) {
		snprintf(names[i], sizeof(names[i]), "s%d-redis-jobs", i);
		specs[i] = (struct metric_spec){ .kind = METRIC_EXTERNAL, .name = names[i] };
	}
	comparisons = 0;
	for (int look = 1; look <= 3; look++) {
		for (int i = 0; i < MANY; i++)
			assert_int_equal(health_note(t.cache->health, o, names[i], false, look * MINUTE_MS), look);
		for (int i = 0; i < MANY; i++)
			assert_int_equal(health_failures(t.cache->health, o, names[i]), look);
		health_keep(o, specs, MANY);
	}
	assert_true(comparisons < 9 * 30 * MANY);
	health_keep(o, specs + MANY / 2, MANY / 2);
	for (int i = 0; i < MANY; i++)
		assert_int_equal(health_failures(t.cache->health, o, names[i]), i < MANY / 2 ? 0 : 3);
	/* metrics kept once are not kept for ever */
	health_keep(o, specs, 1);
	assert_int_equal(health_failures(t.cache->health, o, names[MANY - 1]), 0);
}

/* Even by a mere reader. */
static void many_stored(void **state)
{
	struct buf text = BUF_INIT((size_t)1 << 20);

	(void)state;
	t.cache->leadership.leading = false;
	buf_puts(&text, "{'status':{'health':{");
	for (int i = MANY - 1; i >= 0; i--)
		buf_printf(&text, "'m%d':{'numberOfFailures':%d,'status':'Failing'}%s", i, i, i > 0 ? "," : "}}}");
	fakecluster_change(WEB, text.data);
	buf_done(&text);
	fakeloop_advance(100);
	comparisons = 0;
	for (int i = 0; i < MANY; i++) {
		char name[16];

		snprintf(name, sizeof(name), "m%d", i);
		assert_int_equal(health_failures(t.cache->health, store_object(t.cache->store, KEY), name), i);
	}
	assert_true(comparisons < 30 * MANY);
}

static void forgotten_counts(void **state)
{
	const struct metric_spec kept[] = { { .kind = METRIC_EXTERNAL, .name = "m" },
		{ .kind = METRIC_RESOURCE, .name = "n" } };

	(void)state;
	health_note(t.cache->health, of(KEY), "m", false, 1 * MINUTE_MS);
	health_note(t.cache->health, of(KEY), "n", false, 1 * MINUTE_MS);
	health_keep(of(KEY), kept, 2);
	assert_int_equal(health_failures(t.cache->health, of(KEY), "m"), 1);
	assert_int_equal(health_failures(t.cache->health, of(KEY), "n"), 0);
	health_keep(of("default/unheard-of"), kept, 2);
	health_forget(t.cache->health);
	assert_int_equal(health_failures(t.cache->health, of(KEY), "m"), 0);
	/* An object that goes, and one that is another under the same name. */
	health_note(t.cache->health, of(KEY), "m", false, 2 * MINUTE_MS);
	fakecluster_delete(WEB);
	fakeloop_advance(100);
	assert_int_equal(health_failures(t.cache->health, of(KEY), "m"), 0);
	assert_int_equal(health_note(t.cache->health, of(KEY), "m", false, 3 * MINUTE_MS), 0);
	fakecluster_apply(WEB, "{'spec':{'scaleTargetRef':{'name':'web'},'triggers':[]}}");
	fakeloop_advance(100);
	health_note(t.cache->health, of(KEY), "m", false, 4 * MINUTE_MS);
	fakecluster_hold_watches(true);
	fakecluster_delete(WEB);
	fakecluster_apply(WEB, "{'spec':{'scaleTargetRef':{'name':'web'},'triggers':[]}}");
	fakecluster_hold_watches(false);
	fakecluster_relist("");
	fakeloop_advance(5000);
	assert_int_equal(health_failures(t.cache->health, of(KEY), "m"), 0);
}

/* Counted for explain only, without a fallback. */
static void a_scaledjob_is_counted_by_itself(void **state)
{
	(void)state;
	fakecluster_apply(JOB, "{'spec':{}}");
	fakeloop_advance(100);
	for (int i = 1; i <= 5; i++)
		assert_int_equal(health_note(t.cache->health, of(JOB_KEY), "m", false, i * MINUTE_MS), i);
	assert_int_equal(health_failures(t.cache->health, of(JOB_KEY), "m"), 5);
	assert_int_equal(health_failures(t.cache->health, of(KEY), "m"), 0);
	assert_int_equal(t.told, 0);
	assert_int_equal(health_note(t.cache->health, of(JOB_KEY), "n", true, 6 * MINUTE_MS), 0);
	/* Its ScaledObject goes, it stays; then it goes, too, or is another. */
	fakecluster_delete(WEB);
	fakeloop_advance(100);
	assert_int_equal(health_failures(t.cache->health, of(JOB_KEY), "m"), 5);
	fakecluster_hold_watches(true);
	fakecluster_delete(JOB);
	fakecluster_apply(JOB, "{'spec':{}}");
	fakecluster_hold_watches(false);
	fakecluster_relist("");
	fakeloop_advance(5000);
	assert_int_equal(health_failures(t.cache->health, of(JOB_KEY), "m"), 0);
	assert_int_equal(health_note(t.cache->health, of(JOB_KEY), "m", false, 10 * MINUTE_MS), 1);
	fakecluster_delete(JOB);
	fakeloop_advance(100);
	assert_int_equal(health_note(t.cache->health, of(JOB_KEY), "m", false, 11 * MINUTE_MS), 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(failures_in_a_row_are_counted_once_each),
		CASE(how_many_look_counts_nothing),
		CASE(polls_count_as_they_did),
		CASE(giving_up_counts_nothing),
		CASE(crossing_the_threshold_is_reported),
		CASE(counts_continue_from_the_status),
		CASE(an_answer_ends_the_stored_count),
		CASE(a_standby_reads_the_status),
		CASE(many_metrics),
		CASE(many_stored),
		CASE(forgotten_counts),
		CASE(a_scaledjob_is_counted_by_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
