/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kubernetes-workload trigger: parameters; pods counted by a watch, whose failure never gives
 * 0.
 */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../fakes/fakecluster.h"
#include "../../fakes/fakeloop.h"
#include "../pairs.h"
#include "clusterworld.h"

#include "base/mem.h"
#include "scalers/cluster/podcounts.h"
#include "scalers/cluster/podtable.h"
#include "scalers/scaler.h"
#include "scalers/sources.h"
#include "scalers/types.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define PODS     "/api/v1/namespaces/shop/pods"

const struct scaler_type *const clusterworld_type = &workload_scaler_type;

/* ---- Parameters ---- */

static int build(const char *pairs, const char *metric_type, struct scaler *out, struct err *err)
{
	const struct scaler_params params = { .type = "kubernetes-workload",
		.index = 1,
		.namespace_ = "shop",
		.metric_type = metric_type };

	return pairs_build(&params, pairs, NULL, NULL, out, err);
}

static void accepted(void **state)
{
	static const struct {
		const char *metadata, *metric_type, *selector;
		bool nodes;
		int64_t target_milli;
		double activation;
		enum metric_target_type type;
	} rows[] = {
		{ "podSelector=app=web|value=1", NULL, "app=web", false, 1000, 0, METRIC_AVERAGE_VALUE },
		{ "podSelector= app == web , tier in (a, b) |value=0.5|activationValue=3.5|groupByNode=true", "Value",
			"app=web,tier in (a,b)", true, 500, 3.5, METRIC_VALUE },
		{ "podSelector=!canary|value=1e3|activationValue=-1|groupByNode=F", "AverageValue", "!canary", false,
			1000000, -1, METRIC_AVERAGE_VALUE },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct podcounts_of *of;
		struct scaler s;
		struct err err = { 0 };

		if (build(rows[i].metadata, rows[i].metric_type, &s, &err))
			fail_msg("%s: %s", rows[i].metadata, err.msg);
		assert_string_equal(s.metric_name, "s1-workload-shop");
		of = s.question->data;
		assert_string_equal(of->namespace_, "shop");
		assert_string_equal(of->selector, rows[i].selector);
		assert_int_equal(of->nodes, rows[i].nodes);
		assert_string_equal(s.question->source, "pods in shop");
		assert_int_equal(s.target.milli, rows[i].target_milli);
		assert_true(s.activation == rows[i].activation);
		assert_int_equal(s.target_type, rows[i].type);
		assert_null(s.unknown);
		scaler_done(&s);
	}
}

static void rejected(void **state)
{
	static const struct {
		const char *metadata, *metric_type, *message;
	} rows[] = {
		{ "value=1", NULL,
			"trigger 1 (kubernetes-workload): missing required parameter \"podSelector\" in "
			"[triggerMetadata]" },
		{ "podSelector=app=web", NULL, "no value given" },
		{ "podSelector=app=web|value=0", NULL, "parameter \"value\" value \"0\" must be greater than 0" },
		{ "podSelector=app=web|value=-2", NULL, "\"value\" value \"-2\" must be greater than 0" },
		{ "podSelector=app=web|value=one", NULL, "\"value\" value \"one\": must be a number" },
		{ "podSelector=app=web|value=1|activationValue=x", NULL,
			"\"activationValue\" value \"x\": must be a number" },
		{ "podSelector=app=web|value=1|groupByNode=yes", NULL,
			"\"groupByNode\" value \"yes\": must be true or false" },
		{ "podSelector=app in web|value=1", NULL,
			"parameter \"podSelector\": error parsing pod selector: \"app in web\" (character 8): "
			"\"in\" and \"notin\" need values in brackets" },
		{ "podSelector=app=web|value=1", "Utilization", "'Utilization' metric type is unsupported" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct scaler s;
		struct err err = { 0 };
		int rc = build(rows[i].metadata, rows[i].metric_type, &s, &err);

		pairs_refused(rc, rows[i].metadata, &err, rows[i].message);
	}
}

static void unknown_keys(void **state)
{
	struct scaler s;

	(void)state;
	assert_int_equal(build("podSelector=app=web|value=1|groupbyNode=true", NULL, &s, NULL), 0);
	assert_string_equal(s.unknown, "\"groupbyNode\" (did you mean \"groupByNode\"?)");
	scaler_done(&s);
}

/* ---- Counting ---- */

static int setup(void **state)
{
	(void)state;
	return clusterworld_setup(&podcounts_part);
}

static int teardown(void **state)
{
	(void)state;
	return clusterworld_teardown(&podcounts_part);
}

static void pod(const char *name, const char *app, const char *phase, const char *node)
{
	MEM_AUTO char *path = mem_printf(PODS "/%s", name);
	MEM_AUTO char *text = mem_printf("{'metadata':{'labels':{'app':'%s'}},'spec':{%s%s%s}}", app,
		*node ? "'nodeName':'" : "", node, *node ? "'" : "");
	MEM_AUTO char *status = mem_printf("{'status':{'phase':'%s'}}", phase);

	fakecluster_apply(path, text);
	fakecluster_change(path, status);
}

static struct question *question(const char *metadata)
{
	struct scaler s;
	struct err err = { 0 };
	struct question *q;

	if (build(metadata, NULL, &s, &err))
		fail_msg("%s", err.msg);
	q = question_ref(s.question);
	scaler_done(&s);
	return q;
}

static void counts_what_has_not_ended(void **state)
{
	struct question *pods = question("podSelector=app=web|value=1"),
			*nodes = question("podSelector=app=web|value=1|groupByNode=true");

	(void)state;
	assert_true(clusterworld_answer_of(pods) == 0); /* the API server has no pods */
	pod("a", "web", "Running", "n1");
	pod("b", "web", "Pending", "");
	pod("c", "web", "Unknown", "n1");
	pod("d", "web", "Succeeded", "n2");
	pod("e", "web", "Failed", "n3");
	pod("f", "db", "Running", "n4");
	fakeloop_advance(10);
	assert_true(clusterworld_answer_of(pods) == 3);
	assert_true(clusterworld_answer_of(nodes) == 1);
	fakecluster_change(PODS "/b", "{'spec':{'nodeName':'n2'},'status':{'phase':'Running'}}");
	fakeloop_advance(10);
	assert_true(clusterworld_answer_of(pods) == 3);
	assert_true(clusterworld_answer_of(nodes) == 2);
	fakecluster_change(PODS "/b", "{'status':{'phase':'Succeeded'}}"); /* reported as deleted */
	fakecluster_change(PODS "/c", "{'metadata':{'labels':{'app':'other'}}}");
	fakecluster_delete(PODS "/a");
	pod("g", "web", "Running", "n5");
	fakeloop_advance(10);
	assert_true(clusterworld_answer_of(pods) == 1);
	assert_true(clusterworld_answer_of(nodes) == 1);
	assert_int_equal(fakecluster_watches(PODS), 1); /* one for both */
	question_unref(pods);
	question_unref(nodes);
}

static void one_watch_per_namespace_and_selector(void **state)
{
	struct question *web = question("podSelector=app=web|value=1"),
			*same = question("podSelector= app == web|value=7"),
			*db = question("podSelector=app=db|value=1");

	(void)state;
	clusterworld_answer_of(web);
	clusterworld_answer_of(same);
	assert_int_equal(fakecluster_watches(""), 1);
	clusterworld_answer_of(db);
	assert_int_equal(fakecluster_watches(""), 2);
	/* Not used any more. */
	fakeloop_advance(240000);
	clusterworld_answer_of(web);
	fakeloop_advance(100000);
	assert_int_equal(fakecluster_watches(""), 1);
	fakeloop_advance(300000);
	assert_int_equal(fakecluster_watches(PODS), 0);
	/* Used again. */
	pod("a", "web", "Running", "n1");
	assert_true(clusterworld_answer_of(web) == 1);
	question_unref(web);
	question_unref(same);
	question_unref(db);
}

static void waits_for_the_first_list(void **state)
{
	struct question *q = question("podSelector=app=web|value=1");
	void *handle;

	(void)state;
	for (int i = 0; i < 20; i++) {
		char name[8];

		snprintf(name, sizeof(name), "p%d", i);
		pod(name, "web", "Running", "n");
	}
	fakecluster_page(5, 500);
	clusterworld_ask(q);
	handle = clusterworld_ask(q);
	fakeloop_advance(1000);
	assert_int_equal(world.answers, 0); /* an incomplete list gives no count */
	question_cancel(handle);
	fakeloop_advance(2000);
	assert_int_equal(world.answers, 1);
	assert_true(world.value == 20);
	question_unref(q);
}

static void too_late(void **state)
{
	struct question *q = question("podSelector=app=web|value=1");

	(void)state;
	pod("a", "web", "Running", "n");
	pod("b", "web", "Running", "n");
	fakecluster_page(1, 20000);
	clusterworld_ask(q);
	fakeloop_advance(CLUSTERWORLD_ASK_MS - 1);
	assert_int_equal(world.answers, 0);
	fakeloop_advance(1);
	assert_int_equal(world.answers, 1);
	assert_int_equal(world.err.kind, ERR_TEMPORARY);
	assert_string_equal(world.err.msg, "pods in shop: the list of pods did not come in time");
	question_unref(q);
}

static void forbidden_is_an_error(void **state)
{
	struct question *q = question("podSelector=app=web|value=1");

	(void)state;
	pod("a", "web", "Running", "n");
	fakecluster_trouble(PODS, ERR_DENIED, "pods is forbidden");
	assert_true(clusterworld_answer_of(q) == -1);
	assert_int_equal(world.err.kind, ERR_DENIED);
	assert_non_null(strstr(world.err.msg,
		"pods in shop: pods cannot be counted: a role with the verbs list and watch on pods is missing"));
	assert_non_null(strstr(world.err.msg, "pods is forbidden"));
	fakecluster_trouble(PODS, ERR_DENIED, NULL);
	fakeloop_advance(5000);
	assert_true(clusterworld_answer_of(q) == 1);
	/* Permission is withdrawn while the watch works: an error at once. */
	fakecluster_trouble(PODS, ERR_DENIED, "pods is forbidden");
	fakeloop_advance(10);
	assert_true(clusterworld_answer_of(q) == -1);
	question_unref(q);
}

static void a_count_holds_for_half_a_minute(void **state)
{
	struct question *q = question("podSelector=app=web|value=1");
	void *watch = q->type->watch(&world.sources, q, clusterworld_on_look, NULL);

	(void)state;
	assert_int_equal(q->type->watch_report(watch).state, WATCH_STARTING);
	pod("a", "web", "Running", "n");
	fakeloop_advance(100);
	assert_int_equal(q->type->watch_report(watch).state, WATCH_ON);
	assert_true(clusterworld_answer_of(q) == 1);
	fakecluster_trouble(PODS, ERR_TEMPORARY, "connection refused");
	fakeloop_advance(10000);
	fakecluster_delete(PODS "/a");
	assert_int_equal(q->type->watch_report(watch).state, WATCH_FAILING);
	assert_non_null(strstr(q->type->watch_report(watch).why, "connection refused"));
	assert_true(clusterworld_answer_of(q) == 1);
	fakeloop_advance(25000);
	assert_true(clusterworld_answer_of(q) == -1);
	assert_int_equal(world.err.kind, ERR_TEMPORARY);
	assert_non_null(strstr(world.err.msg, "connection refused"));
	world.looks = 0;
	fakecluster_trouble(PODS, ERR_TEMPORARY, NULL);
	fakeloop_advance(5000);
	assert_true(world.looks > 0);
	assert_int_equal(q->type->watch_report(watch).state, WATCH_ON);
	assert_true(clusterworld_answer_of(q) == 0);
	q->type->unwatch(watch);
	question_unref(q);
}

static void listed_anew_old_and_new_are_not_added(void **state)
{
	struct question *q = question("podSelector=app=web|value=1");

	(void)state;
	for (int i = 0; i < 4; i++) {
		char name[8];

		snprintf(name, sizeof(name), "old%d", i);
		pod(name, "web", "Running", "n");
	}
	assert_true(clusterworld_answer_of(q) == 4);
	fakecluster_hold_watches(true);
	for (int i = 0; i < 4; i++) {
		MEM_AUTO char *path = mem_printf(PODS "/old%d", i);
		char name[8];

		fakecluster_delete(path);
		snprintf(name, sizeof(name), "new%d", i);
		pod(name, "web", "Running", "n");
	}
	pod("new4", "web", "Running", "n");
	fakecluster_page(1, 1000);
	fakecluster_relist(PODS);
	fakecluster_hold_watches(false);
	fakeloop_advance(2500);
	assert_true(clusterworld_answer_of(q) == 4);
	fakeloop_advance(10000);
	assert_true(clusterworld_answer_of(q) == 5);
	question_unref(q);
}

/* ---- Watching ---- */

static void looks_when_the_count_changes(void **state)
{
	struct question *pods = question("podSelector=app=web|value=1"),
			*nodes = question("podSelector=app=web|value=1|groupByNode=true");
	void *by_pod = pods->type->watch(&world.sources, pods, clusterworld_on_look, NULL), *by_node;

	(void)state;
	pod("a", "web", "Running", "n1");
	fakeloop_advance(100);
	assert_true(world.looks > 0);
	world.looks = 0;
	fakecluster_change(PODS "/a", "{'metadata':{'annotations':{'x':'y'}}}");
	fakeloop_advance(100);
	assert_int_equal(world.looks, 0);
	pod("b", "web", "Running", "n1");
	fakeloop_advance(100);
	assert_int_equal(world.looks, 1);
	/* It uses the same watch; another pod on the same node does not change it. */
	pods->type->unwatch(by_pod);
	by_node = nodes->type->watch(&world.sources, nodes, clusterworld_on_look, NULL);
	world.looks = 0;
	pod("c", "web", "Running", "n1");
	fakeloop_advance(100);
	assert_int_equal(world.looks, 0);
	pod("d", "web", "Running", "n2");
	fakeloop_advance(100);
	assert_int_equal(world.looks, 1);
	/* A watcher keeps it. */
	fakeloop_advance(3600000);
	assert_int_equal(fakecluster_watches(""), 1);
	nodes->type->unwatch(by_node);
	fakeloop_advance(3600000);
	assert_int_equal(fakecluster_watches(""), 0);
	question_unref(pods);
	question_unref(nodes);
}

static void *watches[2];

static void on_look_end(void *arg)
{
	(void)arg;
	world.looks++;
	for (size_t i = 0; i < COUNT(watches); i++)
		workload_scaler_type.unwatch(watches[i]);
}

static void one_who_is_told_ends_all(void **state)
{
	struct question *q = question("podSelector=app=web|value=1");

	(void)state;
	for (size_t i = 0; i < COUNT(watches); i++)
		watches[i] = q->type->watch(&world.sources, q, on_look_end, NULL);
	fakeloop_advance(100);
	assert_int_equal(world.looks, 1);
	question_unref(q);
}

static void memory_of_a_thousand_pods(void **state)
{
	struct podtable table = { 0 };
	size_t before, after;
	json_t *pods[1000];

	(void)state;
	for (int i = 0; i < 1000; i++)
		pods[i] = json_pack("{s:{s:o},s:{s:o}}", "metadata", "name",
			json_sprintf("web-6d4cf56db6-x%04d-abcde", i), "spec", "nodeName",
			json_sprintf("node-%d.example.com", i % 50));
	before = mallinfo2().uordblks;
	for (int i = 0; i < 1000; i++)
		podtable_take(&table, pods[i], 1);
	podtable_listed(&table, 1);
	after = mallinfo2().uordblks;
	assert_int_equal(podtable_pods(&table), 1000);
	assert_int_equal(podtable_nodes(&table), 50);
	printf("# %zu bytes for 1,000 pods on 50 nodes\n", after - before);
	assert_true(after - before < 200 * 1024);
	podtable_done(&table);
	for (int i = 0; i < 1000; i++)
		json_decref(pods[i]);
}

#define WORLD(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepted),
		cmocka_unit_test(rejected),
		cmocka_unit_test(unknown_keys),
		WORLD(counts_what_has_not_ended),
		WORLD(one_watch_per_namespace_and_selector),
		WORLD(waits_for_the_first_list),
		WORLD(too_late),
		WORLD(forbidden_is_an_error),
		WORLD(a_count_holds_for_half_a_minute),
		WORLD(listed_anew_old_and_new_are_not_added),
		WORLD(looks_when_the_count_changes),
		WORLD(one_who_is_told_ends_all),
		cmocka_unit_test(memory_of_a_thousand_pods),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
