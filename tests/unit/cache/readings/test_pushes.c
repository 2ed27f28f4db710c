/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which questions are watched, and which objects are notified: on the fake API server, the fake
 * loop and scripted sources.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../fakes/fakecluster.h"
#include "../../fakes/fakeloop.h"
#include "../../fakes/fakesource.h"

#include "base/mem.h"
#include "cache/cache.h"
#include "cache/readings/pushes.h"
#include "scalers/sources.h"

#define WATCHES 64

static const struct lookups_config lookups = { .cluster_namespace = "kscaled", .token_life_ms = 3600000 };

static struct {
	struct loop *loop;
	struct kube *kube;
	struct counters *counters;
	struct scaler_sources sources;
	struct cache *cache;
	unsigned told;
	char last[300];
	bool release; /* the notified object releases it */
} t;

static void on_wake(void *arg, struct object *o)
{
	(void)arg;
	t.told++;
	snprintf(t.last, sizeof(t.last), "%s", o->key);
	if (t.release)
		pushes_release(o);
}

static struct object *stored(const char *key)
{
	return store_object(t.cache->store, key);
}

/* An object on these sources. */
static void object(const char *name, const char *a, const char *b)
{
	MEM_AUTO char *path = mem_printf("/apis/keda.sh/v1alpha1/namespaces/default/scaledobjects/%s", name);
	MEM_AUTO char *second = b ? mem_printf(",{'type':'scripted','metadata':{'source':'%s'}}", b) : mem_dup("");
	MEM_AUTO char *text = mem_printf("{'spec':{'scaleTargetRef':{'name':'%s'},'triggers':[{'type':'scripted','"
					 "metadata':{'source':'%s'}}%s]}}",
		name, a, second);

	fakecluster_apply(path, text);
	fakeloop_advance(20);
}

static void pass(int64_t ms)
{
	fakeloop_advance(ms);
}

static int setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	t.loop = fakeloop_start();
	t.sources.loop = t.loop;
	fakesource_start();
	t.kube = fakecluster_start(t.loop);
	t.counters = counters_new();
	t.cache = cache_new(&(struct cache_config){ .kube = t.kube,
		.counters = t.counters,
		.sources = &t.sources,
		.lookups = lookups,
		.readings = { .ask_timeout_ms = 3000, .max_waiters = 100 },
		.watches_max = WATCHES });
	pushes_listen(t.cache->pushes, on_wake, NULL);
	cache_start(t.cache, NULL, 0);
	object("one", "a", NULL);
	object("two", "a", "b");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	cache_free(t.cache);
	counters_free(t.counters);
	fakecluster_end();
	fakesource_end();
	fakeloop_end();
	return 0;
}

static void hold(const char *key)
{
	pushes_hold(t.cache->pushes, stored(key));
	pass(0);
}

static void one_watch_for_all_holders(void **state)
{
	(void)state;
	assert_int_equal(fakesource_watches_begun(), 0); /* no holder: a standby */
	hold("default/one");
	hold("default/two");
	hold("default/two"); /* held once */
	assert_int_equal(fakesource_watched("a"), 1);
	assert_int_equal(fakesource_watched("b"), 1);
	fakesource_look("a");
	assert_int_equal(t.told, 0); /* at the end of the turn */
	pass(0);
	assert_int_equal(t.told, 2);
	fakesource_look("b");
	pass(0);
	assert_int_equal(t.told, 3);
	assert_string_equal(t.last, "default/two");
	assert_int_equal(pushes_stats(t.cache->pushes).wakes, 3);
	assert_int_equal(pushes_stats(t.cache->pushes).watches[WATCH_ON], 2);
	pushes_release(stored("default/two"));
	assert_int_equal(fakesource_watched("a"), 1);
	assert_int_equal(fakesource_watched("b"), 0);
	pushes_release(stored("default/one"));
	pushes_release(stored("default/one"));
	assert_int_equal(fakesource_watched("a"), 0);
}

static void two_triggers_with_one_question_are_notified_once(void **state)
{
	(void)state;
	object("two", "a", "a");
	hold("default/two");
	assert_int_equal(fakesource_watched("a"), 1);
	fakesource_look("a");
	pass(0);
	assert_int_equal(t.told, 1);
}

/* Whoever polls builds them; the watch of a question that is still asked stays. */
static void watches_follow_the_questions(void **state)
{
	struct built built;

	(void)state;
	hold("default/two");
	assert_int_equal(fakesource_watches_begun(), 2);
	object("two", "b", "c");
	assert_int_equal(fakesource_watched("a"), 1); /* not built yet */
	assert_int_equal(scalers_get(t.cache->scalers, stored("default/two"), &built, NULL), 0);
	pass(0);
	assert_int_equal(fakesource_watched("a"), 0);
	assert_int_equal(fakesource_watched("b"), 1);
	assert_int_equal(fakesource_watched("c"), 1);
	assert_int_equal(fakesource_watches_begun(), 3);
	/* A change that asks the same. */
	object("two", "b", "c");
	assert_int_equal(scalers_get(t.cache->scalers, stored("default/two"), &built, NULL), 0);
	pass(0);
	assert_int_equal(fakesource_watches_begun(), 3);
}

static void a_failed_build_keeps_the_watches(void **state)
{
	struct built built;

	(void)state;
	hold("default/one");
	fakecluster_apply("/apis/keda.sh/v1alpha1/namespaces/default/scaledobjects/one",
		"{'spec':{'scaleTargetRef':{'name':'one'},'triggers':[{'type':'scripted','metadata':{}}]}}");
	pass(20);
	assert_int_equal(scalers_get(t.cache->scalers, stored("default/one"), &built, NULL), -1);
	pass(0);
	assert_int_equal(fakesource_watched("a"), 1);
}

/* The first at once, those that follow together when the pace allows; the last is not lost. */
static void a_storm_is_paced(void **state)
{
	(void)state;
	hold("default/one");
	for (int i = 0; i < 1000; i++)
		fakesource_look("a");
	pass(0);
	assert_int_equal(t.told, 1);
	for (int i = 0; i < 1000; i++) {
		fakesource_look("a");
		pass(1);
	}
	pass(PUSHES_PACE_MS);
	assert_in_range(t.told, 90, 102);
	pass(1000);
	t.told = 0;
	fakesource_look("a");
	pass(0);
	assert_int_equal(t.told, 1);
}

static void a_notified_holder_may_release(void **state)
{
	(void)state;
	hold("default/one");
	hold("default/two");
	t.release = true;
	fakesource_look("a");
	fakesource_look("b");
	pass(100);
	assert_in_range(t.told, 2, 3);
	assert_int_equal(pushes_stats(t.cache->pushes).held, 0);
	/* And one whose word waits for the pace. */
	t.release = false;
	hold("default/one");
	fakesource_look("a");
	pass(0);
	fakesource_look("a");
	pushes_release(stored("default/one"));
	t.told = 0;
	pass(100);
	assert_int_equal(t.told, 0);
}

static void reports(void **state)
{
	struct watch_report report;
	struct built built;

	(void)state;
	assert_int_equal(scalers_get(t.cache->scalers, stored("default/one"), &built, NULL), 0);
	assert_int_equal(pushes_report(built.list[0].question, &report), PUSHES_UNHELD);
	assert_int_equal(pushes_report(NULL, &report), PUSHES_NONE);
	hold("default/one");
	fakesource_report("a", WATCH_OFF, "turn it on", true);
	assert_int_equal(pushes_report(built.list[0].question, &report), PUSHES_REPORTED);
	assert_int_equal(report.state, WATCH_OFF);
	assert_string_equal(report.why, "turn it on");
	assert_int_equal(pushes_stats(t.cache->pushes).watches[WATCH_OFF], 1);
}

/* One namespace does not get all watches; questions beyond its share poll, and that is reported. */
static void beyond_the_share(void **state)
{
	struct watch_report report = { .tell = false };
	struct built built;

	(void)state;
	for (int i = 0; i < WATCHES; i++) {
		MEM_AUTO char *name = mem_printf("s%d", i), *key = mem_printf("default/s%d", i);

		object(name, name, NULL);
		hold(key);
	}
	assert_int_equal(scalers_get(t.cache->scalers, stored("default/s0"), &built, NULL), 0);
	assert_int_equal(pushes_report(built.list[0].question, &report), PUSHES_REPORTED);
	assert_int_not_equal(report.state, WATCH_OFF);
	assert_int_equal(scalers_get(t.cache->scalers, stored("default/s63"), &built, NULL), 0);
	assert_int_equal(pushes_report(built.list[0].question, &report), PUSHES_REPORTED);
	assert_int_equal(report.state, WATCH_OFF);
	assert_string_equal(report.why, "too many triggers of this namespace are watched already");
	assert_true(report.tell);
	assert_int_equal(fakesource_watched("s63"), 0);
	pushes_release(stored("default/s0"));
	pushes_release(stored("default/s63"));
	hold("default/s63");
	assert_int_equal(fakesource_watched("s63"), 1);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(one_watch_for_all_holders),
		CASE(two_triggers_with_one_question_are_notified_once),
		CASE(watches_follow_the_questions),
		CASE(a_failed_build_keeps_the_watches),
		CASE(a_storm_is_paced),
		CASE(a_notified_holder_may_release),
		CASE(reports),
		CASE(beyond_the_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
