/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptions of sources: requested once for all users, again while needed, reported when they
 * change; and the scalers of an object meanwhile.
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
#include "scalers_fixture.h"

#define WEB             "/apis/keda.sh/v1alpha1/namespaces/shop/scaledobjects/web"
#define HPA             "/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/keda-hpa-web"
#define SPEC(triggers)  "{'spec':{'scaleTargetRef':{'name':'web'},'triggers':[" triggers "]}}"
#define TELLING(source) "{'type':'telling','name':'t','metadata':{'source':'" source "'}}"
#define UNNAMED(source) "{'type':'telling','metadata':{'source':'" source "'}}"
#define REDIS           "{'type':'scripted','metadata':{'source':'r'}}"
#define METRIC(name, target)                                                                                           \
	"{'type':'External','external':{'metric':{'name':'" name                                                       \
	"'},'target':{'type':'AverageValue','averageValue':'" target "'}}}"
#define HPA_OF(metrics)                                                                                                \
	"{'metadata':{'labels':{'kscaled.io/managed':'true','scaledobject.keda.sh/"                                    \
	"name':'web'}},'spec':{'maxReplicas':3,'metrics':[" metrics "]}}"

static struct scalers_fixture t;

static int setup(void **state)
{
	(void)state;
	scalers_fixture_start(&t);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	scalers_fixture_end(&t);
	return 0;
}

static void apply(const char *path, const char *text)
{
	fakecluster_apply(path, text);
	fakeloop_advance(10);
}

/* "s0-a 5000,s1-... 1000 undescribed," or the error of the kind. */
static void expect(const char *said)
{
	struct built built;
	struct err err = { 0 };
	char text[512] = "";

	if (scalers_fixture_get(&t, &built, &err)) {
		snprintf(text, sizeof(text), "%s: %s", err_kind_name(err.kind), err.msg);
	} else {
		for (size_t i = 0; i < built.count; i++)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s %lld%s,",
				built.list[i].metric_name, (long long)built.list[i].target.milli,
				built.list[i].undescribed ? " undescribed" : "");
	}
	if (strcmp(text, said) != 0)
		fail_msg("\"%s\", not \"%s\"", text, said);
}

#define WAITS "waiting: trigger 0 (telling): source a has not described its metrics yet"

/* ---- Describing ---- */

static void a_trigger_has_the_metrics_that_its_source_names(void **state)
{
	(void)state;
	fakesource_describe("a", "queue:5,load:2");
	apply(WEB, SPEC(TELLING("a") "," REDIS));
	expect(WAITS);
	fakeloop_advance(10);
	assert_int_equal(t.told, 1);
	expect("s0-queue 5000,s0-load 2000,s1-scripted-r 5000,");
	assert_int_equal(fakesource_described("a"), 1);
}

static void only_a_new_description_is_reported(void **state)
{
	(void)state;
	fakesource_describe("a", "queue:5");
	apply(WEB, SPEC(TELLING("a")));
	expect(WAITS);
	fakeloop_advance(20000);
	assert_true(fakesource_described("a") >= 2);
	assert_int_equal(t.told, 1);
	expect("s0-queue 5000,");
	fakesource_describe("a", "queue:7");
	fakeloop_advance(20000);
	assert_int_equal(t.told, 2);
	expect("s0-queue 7000,");
}

/* The description stays; that, and the end of it, is reported once. */
static void a_description_that_turns_wrong_is_reported(void **state)
{
	struct built built;

	(void)state;
	fakesource_describe("a", "queue:7,load:2");
	apply(WEB, SPEC(TELLING("a")));
	expect(WAITS);
	fakeloop_advance(20000);
	expect("s0-queue 7000,s0-load 2000,");
	assert_int_equal(t.told, 1);
	fakesource_describe("a", NULL);
	fakeloop_advance(60000);
	assert_int_equal(t.told, 2);
	expect("s0-queue 7000,s0-load 2000,");
	assert_int_equal(scalers_fixture_get(&t, &built, NULL), 0);
	assert_non_null(
		strstr(built.list[0].ignored, "its present description of its metrics, so the earlier one is used: "));
	assert_string_equal(built.list[1].ignored, built.list[0].ignored);
	fakesource_describe("a", "queue:7,load:2");
	fakeloop_advance(20000);
	assert_int_equal(t.told, 3);
	assert_int_equal(scalers_fixture_get(&t, &built, NULL), 0);
	assert_null(built.list[0].ignored);
}

static void an_undescribed_source_has_one_placeholder(void **state)
{
	(void)state;
	fakesource_describe("a", NULL);
	apply(WEB, SPEC(TELLING("a") "," REDIS));
	expect(WAITS);
	fakeloop_advance(10);
	assert_int_equal(t.told, 1);
	expect("s0-telling 1000 undescribed,s1-scripted-r 5000,");
	fakeloop_advance(60000);
	assert_int_equal(t.told, 1);
	assert_in_range(fakesource_described("a"), 25, 45); /* every two seconds or so */
	fakesource_describe("a", "queue:5");
	fakeloop_advance(7000);
	assert_int_equal(t.told, 2);
	expect("s0-queue 5000,s1-scripted-r 5000,");
}

static void the_hpa_has_the_earlier_description(void **state)
{
	(void)state;
	fakesource_describe("a", NULL);
	apply(HPA,
		HPA_OF(METRIC("s0-queue", "2500m") "," METRIC("s0-load", "3") "," METRIC("s1-other",
			"1") "," METRIC("s01-x", "1") "," METRIC("s0-telling", "1")));
	apply(WEB, SPEC(TELLING("a") "," REDIS));
	expect(WAITS);
	fakeloop_advance(10);
	expect("s0-queue 2500,s0-load 3000,s1-scripted-r 5000,");
}

/* Not even that of a ScaledObject of the same name. */
static void a_scaledjob_has_no_hpa_to_go_by(void **state)
{
	struct built built;
	struct err err = { 0 };

	(void)state;
	t.key = "scaledjobs/shop/web";
	fakesource_describe("a", NULL);
	apply(HPA, HPA_OF(METRIC("s0-queue", "2500m")));
	fakecluster_trouble("horizontalpodautoscalers", ERR_DENIED, "forbidden");
	apply("/apis/keda.sh/v1alpha1/namespaces/shop/scaledjobs/web",
		"{'spec':{'jobTargetRef':{'template':{}},'triggers':[" TELLING("a") "]}}");
	assert_int_equal(scalers_fixture_get(&t, &built, &err), -1);
	assert_int_equal(err.kind, ERR_WAITING);
	fakeloop_advance(10);
	assert_int_equal(scalers_fixture_get(&t, &built, &err), 0);
	assert_int_equal(built.count, 1);
	assert_true(built.list[0].undescribed);
	fakesource_describe("a", "queue:5,load:2");
	fakeloop_advance(7000);
	assert_int_equal(scalers_fixture_get(&t, &built, &err), 0);
	assert_int_equal(built.count, 2);
	assert_string_equal(built.list[1].metric_name, "s0-load");
}

static void unused_descriptions_are_not_requested(void **state)
{
	unsigned asked;

	(void)state;
	fakesource_describe("a", "queue:5");
	apply(WEB, SPEC(TELLING("a")));
	expect(WAITS);
	fakeloop_advance(10);
	fakecluster_delete(WEB);
	fakeloop_advance(10);
	asked = fakesource_described("a");
	fakeloop_advance(60000);
	assert_int_equal(fakesource_described("a"), asked);
}

static void two_are_asked_at_the_same_time(void **state)
{
	(void)state;
	fakesource_describe("a", "queue:5");
	fakesource_describe("b", "load:1");
	apply(WEB,
		SPEC(TELLING("a") ","
				  "{'type':'telling','metadata':{'source':'b'}}"));
	expect(WAITS);
	fakeloop_advance(10);
	expect("s0-queue 5000,s1-load 1000,");
}

static void a_formula_needs_one_metric(void **state)
{
	(void)state;
	fakesource_describe("a", "queue:5,load:2");
	apply(WEB,
		"{'spec':{'scaleTargetRef':{'name':'web'},'advanced':{'scalingModifiers':{'formula':'t','target':'5'}},"
		"'triggers':[" TELLING("a") "]}}");
	expect(WAITS);
	fakeloop_advance(10);
	expect("invalid: trigger 0 (telling): source a names 2 metrics (queue, load, ...): with "
	       "spec.advanced.scalingModifiers.formula a trigger must have one");
	fakesource_describe("a", "queue:5");
	fakeloop_advance(20000);
	expect("s0-queue 5000,");
}

/* "m0:1,m1:1,...", of count metrics. */
static const char *many(int count)
{
	static char text[4096];
	size_t len = 0;

	for (int i = 0; i < count; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%sm%d:1", i ? "," : "", i);
	return text;
}

static size_t built_count(void)
{
	struct built built;
	struct err err = { 0 };

	if (scalers_fixture_get(&t, &built, &err))
		fail_msg("%s", err.msg);
	return built.count;
}

static void an_object_has_a_limit_of_metrics(void **state)
{
	(void)state;
	fakesource_describe("a", many(200));
	fakesource_describe("b", many(56));
	apply(WEB, SPEC(UNNAMED("a") "," UNNAMED("b") "," REDIS));
	expect(WAITS);
	fakeloop_advance(10);
	assert_int_equal(built_count(), 257);
	fakesource_describe("b", many(57));
	fakeloop_advance(20000);
	expect("invalid: trigger 1 (telling): source b names 57 metrics, and the triggers before it have 200: an "
	       "object may have 256 of such metrics in all; let the servers name fewer, or spread the triggers over "
	       "several objects");
	fakesource_describe("b", many(1));
	fakeloop_advance(20000);
	assert_int_equal(built_count(), 202);
}

/* The HPA may be from before this limit existed, or someone may have edited it. */
static void no_more_are_taken_from_the_hpa(void **state)
{
	static char text[80000];
	size_t len = 0;
	char *hpa;

	(void)state;
	for (int i = 0; i < 300; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
			"%s{'type':'External','external':{'metric':{'name':'s%d-m%d'},'target':{'type':'AverageValue',"
			"'averageValue':'1'}}}",
			i ? "," : "", i / 200, i);
	hpa = mem_printf(HPA_OF("%s"), text);
	fakesource_describe("a", NULL);
	apply(HPA, hpa);
	free(hpa);
	apply(WEB, SPEC(TELLING("a")));
	expect(WAITS);
	fakeloop_advance(10);
	assert_int_equal(built_count(), 200);
	apply(WEB, SPEC(UNNAMED("a") "," UNNAMED("a")));
	expect("invalid: trigger 1 (telling): for this trigger the object's HPA names 100 metrics, and the triggers "
	       "before it have 200: an object may have 256 of such metrics in all; let the servers name fewer, or "
	       "spread the triggers over several objects");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_trigger_has_the_metrics_that_its_source_names, setup, teardown),
		cmocka_unit_test_setup_teardown(only_a_new_description_is_reported, setup, teardown),
		cmocka_unit_test_setup_teardown(a_description_that_turns_wrong_is_reported, setup, teardown),
		cmocka_unit_test_setup_teardown(an_undescribed_source_has_one_placeholder, setup, teardown),
		cmocka_unit_test_setup_teardown(the_hpa_has_the_earlier_description, setup, teardown),
		cmocka_unit_test_setup_teardown(a_scaledjob_has_no_hpa_to_go_by, setup, teardown),
		cmocka_unit_test_setup_teardown(unused_descriptions_are_not_requested, setup, teardown),
		cmocka_unit_test_setup_teardown(two_are_asked_at_the_same_time, setup, teardown),
		cmocka_unit_test_setup_teardown(a_formula_needs_one_metric, setup, teardown),
		cmocka_unit_test_setup_teardown(an_object_has_a_limit_of_metrics, setup, teardown),
		cmocka_unit_test_setup_teardown(no_more_are_taken_from_the_hpa, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
