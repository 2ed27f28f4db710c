/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often an object is reconciled and its scalers are built: for relevant changes, and never for
 * an echo.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../world.h"

#include "../../fakes/fakecluster.h"
#include "../../fakes/fakesource.h"

#include "base/mem.h"
#include "cache/readings/scalers_parts.h"

#define WEB       SCALEDOBJECT("web")
#define WEB_HPA   HPA("keda-hpa-web")
#define STATUS    "/scaledobjects/web/status"
#define MINUTE_MS 60000

static unsigned builds, visits;

int __real_scalers_build(struct scalers *s, struct object *o, struct err *err);
int __wrap_scalers_build(struct scalers *s, struct object *o, struct err *err);

int __wrap_scalers_build(struct scalers *s, struct object *o, struct err *err)
{
	builds++;
	return __real_scalers_build(s, o, err);
}

/* Called for every HPA that is read. */
const struct owner_ref *__real_meta_controller(const struct meta *m);
const struct owner_ref *__wrap_meta_controller(const struct meta *m);

const struct owner_ref *__wrap_meta_controller(const struct meta *m)
{
	visits++;
	return __real_meta_controller(m);
}

static double looks_total(void)
{
	static const char *const labels[] = { "type", NULL };
	struct counters_family *f = counters_declare(world.cache->counters, COUNTERS_COUNTER,
		"kscaled_reconciles_total", "", labels);

	return counters_get(f, (const char *const[]){ "scaledobject" });
}

static double looks_before;

static void count_anew(void)
{
	looks_before = looks_total();
	builds = visits = 0;
	fakecluster_forget_calls();
}

static int looks(void)
{
	return (int)(looks_total() - looks_before);
}

/* An object that has been there for a while. */
static int setup(void **state)
{
	world_setup(state);
	world_ready_object("web", 0, "");
	world_pass(MINUTE_MS);
	count_anew();
	return 0;
}

static void a_creation_is_two_looks_and_one_build(void **state)
{
	(void)state;
	world_deployment("api", 0);
	world_scaledobject("api", "");
	world_pass(MINUTE_MS);
	world_expect("api", "Ready", "True");
	assert_int_equal(looks(), 2);
	assert_int_equal(builds, 1);
	count_anew();
	/* The finalizer is a write of its own, and so a look. */
	world_deployment("db", 3);
	world_scaledobject("db", "'advanced':{'restoreToOriginalReplicaCount':true}");
	world_pass(MINUTE_MS);
	world_expect("db", "Ready", "True");
	assert_int_equal(looks(), 3);
	assert_int_equal(builds, 1);
}

static void a_status_of_ours_leads_to_nothing(void **state)
{
	(void)state;
	fakesource_answer("web", 7);
	world_pass(MINUTE_MS);
	world_expect("web", "Active", "True");
	assert_true(fakecluster_calls(KUBE_MERGE_PATCH, STATUS) > 0);
	assert_int_equal(builds, 0);
	assert_int_equal(looks(), 0);
	count_anew();
	fakecluster_watch_lag(1); /* the watch is faster than the answer */
	fakecluster_answer_lag(50);
	fakesource_fail("web", "down");
	world_pass(MINUTE_MS);
	assert_true(fakecluster_calls(KUBE_MERGE_PATCH, STATUS) > 0);
	assert_int_equal(builds, 0);
	assert_int_equal(looks(), 0);
}

static void a_status_of_others_is_put_right_without_a_look(void **state)
{
	(void)state;
	fakecluster_change(WEB, "{'status':{'hpaName':'other','originalReplicaCount':9}}");
	world_pass(100);
	assert_string_equal(fakecluster_text(WEB, "status.hpaName"), "keda-hpa-web");
	assert_int_equal(fakecluster_number(WEB, "status.originalReplicaCount"), 0);
	assert_int_equal(looks(), 0);
	assert_int_equal(builds, 0);
}

static void a_status_of_the_hpa_leads_to_nothing(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		MEM_AUTO char *status = mem_printf(
			"{'status':{'currentReplicas':1,'desiredReplicas':%d,'lastScaleTime':'2026-01-01T00:00:%02dZ',"
			"'currentMetrics':[{'type':'External','external':{'current':{'averageValue':'%d'}}}],"
			"'conditions':[{'type':'ScalingActive','status':'%s','reason':'r','message':'m'}]}}",
			i, i, i, i % 2 ? "True" : "False");

		fakecluster_change(WEB_HPA, status);
		world_pass(100);
	}
	assert_int_equal(looks(), 0);
	assert_int_equal(builds, 0);
	/* The next tick uses it. */
	world_pass(MINUTE_MS);
	world_expect("web", "HPAActive", "True");
	fakecluster_change(WEB_HPA,
		"{'status':{'conditions':[{'type':'ScalingActive','status':'False','reason':'r','message':'m'}]}}");
	world_pass(MINUTE_MS);
	world_expect("web", "HPAActive", "False");
}

/* Without ticks only a reconcile can show the HPA's state. */
static void the_hpa_of_a_wrong_object_is_watched(void **state)
{
	(void)state;
	world_scaledobject("web", "'minReplicaCount':5,'maxReplicaCount':2");
	world_pass(1000);
	world_expect("web", "Ready", "False");
	fakecluster_change(WEB_HPA,
		"{'status':{'conditions':[{'type':'ScalingActive','status':'False','reason':'r','message':'m'}]}}");
	world_pass(1000);
	world_expect("web", "HPAActive", "False r");
}

static void relevant_changes_lead_to_a_reconcile(void **state)
{
	static const struct {
		const char *path, *change;
		int looks;
		unsigned builds;
	} cases[] = {
		/* and one after the HPA, which has it too */
		{ WEB, "{'metadata':{'annotations':{'a':'b'}}}", 2, 0 },
		{ WEB, "{'metadata':{'labels':{'a':'b'}}}", 2, 0 },
		{ WEB, "{'spec':{'cooldownPeriod':77}}", 1, 1 },
		{ WEB, "{'metadata':{'finalizers':['example.com/x']}}", 1, 0 },
		{ WEB_HPA, "{'spec':{'maxReplicas':7}}", 2, 0 },
		{ WEB_HPA, "{'metadata':{'labels':{'kscaled.io/managed':null}}}", 2, 0 },
		{ WEB_HPA, "{'metadata':{'annotations':{'note':'x'}}}", 1, 0 },
		{ DEPLOYMENT("web"), "{'metadata':{'annotations':{'note':'x'}}}", 0, 0 },
		{ WEB, "{'metadata':{'annotations':{'autoscaling.keda.sh/paused':'true'}}}", 2, 0 },
		{ WEB, "{'metadata':{'annotations':{'autoscaling.keda.sh/paused':null}}}", 2, 0 },
		{ DEPLOYMENT("web"), "{'spec':{'replicas':4}}", 1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		count_anew();
		fakecluster_change(cases[i].path, cases[i].change);
		world_pass(2000);
		if (looks() != cases[i].looks || builds != cases[i].builds)
			fail_msg("%s %s: %d looks, %u builds", cases[i].path, cases[i].change, looks(), builds);
	}
	count_anew();
	fakecluster_delete(WEB_HPA);
	world_pass(1000);
	assert_int_equal(looks(), 2);
	count_anew();
	fakecluster_change(WEB, "{'metadata':{'annotations':{'autoscaling.keda.sh/paused':'perhaps'}}}");
	world_pass(1000);
	assert_int_equal(looks(), 1);
	count_anew();
	fakecluster_delete(WEB); /* it has a finalizer of others */
	world_pass(1000);
	assert_int_equal(looks(), 1);
}

static void a_paused_creation_does_not_wait_for_its_target(void **state)
{
	(void)state;
	fakecluster_fail(FAKECLUSTER_HANG, KUBE_GET, "/deployments/", FAKECLUSTER_ANY, 0);
	fakecluster_apply(SCALEDOBJECT("api"),
		"{'metadata':{'annotations':{'autoscaling.keda.sh/"
		"paused':'true'}},'spec':{'scaleTargetRef':{'name':'api'},"
		"'triggers':[{'type':'scripted','metadata':{'source':'api'}}]}}");
	world_pass(100);
	assert_true(looks() > 0);
	fakecluster_heal();
	world_pass(MINUTE_MS);
	world_expect("api", "Paused", "True");
}

static void create(int count)
{
	for (int i = 0; i < count; i++) {
		MEM_AUTO char *name = mem_printf("web-%d-%d", count, i);

		world_deployment(name, 0);
		world_scaledobject(name, "'pollingInterval':3600");
	}
	world_pass(2 * MINUTE_MS);
}

/* Of n objects each looks at its own HPA. */
static void a_flood_of_creations_costs_no_more_for_each(void **state)
{
	unsigned few, many;

	(void)state;
	create(100);
	few = visits;
	count_anew();
	create(300);
	many = visits;
	assert_int_equal(looks(), 600);
	assert_true(few > 100);
	assert_true(many <= 3 * few + few / 2);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_creation_is_two_looks_and_one_build),
		CASE(a_status_of_ours_leads_to_nothing),
		CASE(a_status_of_others_is_put_right_without_a_look),
		CASE(a_status_of_the_hpa_leads_to_nothing),
		CASE(the_hpa_of_a_wrong_object_is_watched),
		CASE(relevant_changes_lead_to_a_reconcile),
		CASE(a_paused_creation_does_not_wait_for_its_target),
		CASE(a_flood_of_creations_costs_no_more_for_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
