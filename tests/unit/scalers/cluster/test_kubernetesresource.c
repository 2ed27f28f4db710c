/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kubernetes-resource trigger: parameters; numbers in keys, from a watch of their object.
 * Failures, deletion and malformed objects never give 0.
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
#include "../pairs.h"
#include "clusterworld.h"

#include "base/buf.h"
#include "base/mem.h"
#include "scalers/cluster/keyvalues.h"
#include "scalers/scaler.h"
#include "scalers/sources.h"
#include "scalers/types.h"

#define MAPS    "/api/v1/namespaces/shop/configmaps"
#define SECRETS "/api/v1/namespaces/shop/secrets"
#define QUEUE   MAPS "/queue"
#define PLAIN   "resourceKind=ConfigMap|resourceName=queue|key=n|targetValue=5"

const struct scaler_type *const clusterworld_type = &kubernetesresource_scaler_type;

/* ---- Parameters ---- */

static int build_as(const char *pairs, const char *metric_type, const char *secrets_denied, struct scaler *out,
	struct err *err)
{
	const struct scaler_params params = { .type = "kubernetes-resource",
		.index = 1,
		.namespace_ = "shop",
		.metric_type = metric_type,
		.secrets_denied = secrets_denied };

	return pairs_build(&params, pairs, NULL, NULL, out, err);
}

static int build(const char *pairs, struct scaler *out, struct err *err)
{
	return build_as(pairs, NULL, NULL, out, err);
}

static char *text_of(const struct keyvalues_of *of)
{
	return mem_printf("%s %s %s %s %s %s %s", of->namespace_, of->kind == KEYDATA_SECRET ? "Secret" : "ConfigMap",
		of->name, of->key, keynumber_formats[of->how.format], keynumber_types[of->how.type],
		of->how.location ? of->how.location : "");
}

static void accepted(void **state)
{
	static const struct {
		const char *metadata, *metric_type, *metric, *asked, *source;
		int64_t target_milli;
		double activation;
		enum metric_target_type type;
	} rows[] = {
		{ PLAIN, NULL, "s1-configmap-queue-n", "shop ConfigMap queue n number float64 ", "ConfigMap shop/queue",
			5000, 0, METRIC_AVERAGE_VALUE },
		{ "resourceKind=Secret|resourceName=a.b|key=Jobs.txt|targetValue=0.5|activationTargetValue=3.5|"
		  "valueType=quantity|format= |valueLocation=",
			"Value", "s1-secret-a-b-Jobs-txt", "shop Secret a.b Jobs.txt number quantity ",
			"Secret shop/a.b", 500, 3.5, METRIC_VALUE },
		{ "resourceKind=ConfigMap|resourceName=queue|key=n|targetValue=5|format=json|valueLocation=a.b c|"
		  "valueType=int64|activationTargetValue=-1",
			"AverageValue", "s1-configmap-queue-n", "shop ConfigMap queue n json int64 a.b c",
			"ConfigMap shop/queue", 5000, -1, METRIC_AVERAGE_VALUE },
		{ "resourceKind=ConfigMap|resourceName=queue|key=n|targetValue=5|format=yaml|valueLocation=a\\.b.0",
			NULL, "s1-configmap-queue-n", "shop ConfigMap queue n yaml float64 a\\.b.0",
			"ConfigMap shop/queue", 5000, 0, METRIC_AVERAGE_VALUE },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct scaler s;
		struct err err = { 0 };
		char *asked;

		if (build_as(rows[i].metadata, rows[i].metric_type, NULL, &s, &err))
			fail_msg("%s: %s", rows[i].metadata, err.msg);
		assert_string_equal(s.metric_name, rows[i].metric);
		asked = text_of(s.question->data);
		assert_string_equal(asked, rows[i].asked);
		free(asked);
		assert_string_equal(s.question->source, rows[i].source);
		assert_string_equal(s.question->namespace_, "shop");
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
		{ "resourceName=q|key=n|targetValue=5", NULL,
			"trigger 1 (kubernetes-resource): missing required parameter \"resourceKind\" in "
			"[triggerMetadata]" },
		{ "resourceKind=ConfigMap|key=n|targetValue=5", NULL, "missing required parameter \"resourceName\"" },
		{ "resourceKind=ConfigMap|resourceName=q|targetValue=5", NULL, "missing required parameter \"key\"" },
		{ "resourceKind=configmap|resourceName=q|key=n|targetValue=5", NULL,
			"unable to set param \"resourceKind\" value \"configmap\": must be one of Secret, ConfigMap" },
		{ "resourceKind=Pod|resourceName=q|key=n|targetValue=5", NULL, "\"resourceKind\" value \"Pod\"" },
		{ "resourceKind=Secret|resourceName=../x|key=n|targetValue=5", NULL,
			"parameter \"resourceName\" value \"../x\" cannot be the name of a Secret" },
		{ "resourceKind=Secret|resourceName=Q|key=n|targetValue=5", NULL,
			"\"resourceName\" value \"Q\" cannot be the name of a Secret" },
		{ "resourceKind=Secret|resourceName=q|key=a/b|targetValue=5", NULL,
			"parameter \"key\" value \"a/b\" cannot be a key: letters, digits" },
		{ PLAIN "|format=xml", NULL, "\"format\" value \"xml\": must be one of number, json, yaml" },
		{ PLAIN "|valueType=float", NULL,
			"\"valueType\" value \"float\": must be one of float64, int64, quantity" },
		{ PLAIN "|valueLocation=a", NULL,
			"parameter \"valueLocation\" is only supported with json or yaml format" },
		{ PLAIN "|format=json", NULL, "parameter \"valueLocation\" is required for json format" },
		{ PLAIN "|format=yaml|valueLocation= ", NULL,
			"parameter \"valueLocation\" is required for yaml format" },
		{ PLAIN "|format=json|valueLocation=a|valueLocation=a.#(", NULL,
			"parameter \"valueLocation\" value \"a.#(\", for format json: position 3" },
		{ "resourceKind=ConfigMap|resourceName=q|key=n", NULL, "no targetValue given" },
		{ "resourceKind=ConfigMap|resourceName=q|key=n|targetValue=0", NULL,
			"parameter \"targetValue\" value \"0\" must be greater than 0" },
		{ "resourceKind=ConfigMap|resourceName=q|key=n|targetValue=-1", NULL, "must be greater than 0" },
		{ PLAIN "|activationTargetValue=x", NULL, "\"activationTargetValue\" value \"x\": must be a number" },
		{ PLAIN, "Utilization", "'Utilization' metric type is unsupported" },
		/* no parameter is read from the environment */
		{ "resourceKind=ConfigMap|resourceNameFromEnv=Q|key=n|targetValue=5", NULL,
			"missing required parameter \"resourceName\" in [triggerMetadata]" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct scaler s;
		struct err err = { 0 };
		int rc = build_as(rows[i].metadata, rows[i].metric_type, NULL, &s, &err);

		pairs_refused(rc, rows[i].metadata, &err, rows[i].message);
	}
}

static void denied_secrets(void **state)
{
	static const char secret[] = "resourceKind=Secret|resourceName=q|key=n|targetValue=5";
	struct scaler s;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(build_as(secret, NULL, "only those of ops", &s, &err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_string_equal(err.msg, "trigger 1 (kubernetes-resource): Secret shop/q is not read: only those of ops");
	assert_int_equal(build_as(PLAIN, NULL, "only those of ops", &s, &err), 0);
	scaler_done(&s);
}

static void unknown_keys(void **state)
{
	struct scaler s;

	(void)state;
	assert_int_equal(build(PLAIN "|valuetype=int64", &s, NULL), 0);
	assert_string_equal(s.unknown, "\"valuetype\" (did you mean \"valueType\"?)");
	scaler_done(&s);
}

/* ---- Reading ---- */

static int setup(void **state)
{
	(void)state;
	return clusterworld_setup(&keyvalues_part);
}

static int teardown(void **state)
{
	(void)state;
	return clusterworld_teardown(&keyvalues_part);
}

static struct question *question(const char *metadata)
{
	struct scaler s;
	struct err err = { 0 };
	struct question *q;

	if (build(metadata, &s, &err))
		fail_msg("%s", err.msg);
	q = question_ref(s.question);
	scaler_done(&s);
	return q;
}

static void expect_failure(struct question *q, enum err_kind kind, const char *message)
{
	if (clusterworld_answer_of(q) != -1)
		fail_msg("%g, not \"%s\"", world.value, message);
	assert_string_equal(world.err.msg, message);
	assert_int_equal(world.err.kind, kind);
}

static void the_number_of_a_key(void **state)
{
	struct question *q = question(PLAIN), *where = question(PLAIN "|format=json|valueLocation=jobs");

	(void)state;
	fakecluster_apply(QUEUE, "{'data':{'n':'12abc','other':'5'}}");
	assert_true(clusterworld_answer_of(q) == 12);
	fakecluster_change(QUEUE, "{'data':{'n':'0'}}");
	fakeloop_advance(10);
	assert_true(clusterworld_answer_of(q) == 0); /* what stands there */
	/* A second location in it later uses the same watch. */
	fakecluster_change(QUEUE, "{'data':{'n':'{\\\"jobs\\\":7}'}}");
	assert_true(clusterworld_answer_of(where) == 7);
	expect_failure(q, ERR_INVALID,
		"ConfigMap shop/queue: key \"n\": the text does not begin with a number like 12 or 0.5");
	assert_int_equal(fakecluster_watches(""), 1);
	question_unref(q);
	question_unref(where);
}

static void secrets_are_decoded(void **state)
{
	struct question *q = question("resourceKind=Secret|resourceName=queue|key=n|targetValue=5");

	(void)state;
	fakecluster_apply(SECRETS "/queue", "{'data':{'n':'NDI=','pw':'aHVudGVyMg=='}}");
	fakecluster_apply(QUEUE, "{'data':{'n':'7'}}"); /* a ConfigMap of the same name is another object */
	assert_true(clusterworld_answer_of(q) == 42);
	fakecluster_change(SECRETS "/queue", "{'data':{'n':'aHVudGVyMg=='}}");
	fakeloop_advance(10);
	expect_failure(q, ERR_INVALID,
		"Secret shop/queue: key \"n\": the text does not begin with a number like 12 or 0.5");
	fakecluster_change(SECRETS "/queue", "{'data':{'n':'%%%'}}");
	fakeloop_advance(10);
	expect_failure(q, ERR_INVALID, "Secret shop/queue: key \"n\" is not base64");
	question_unref(q);
}

static void what_is_missing_is_an_error(void **state)
{
	struct question *q = question(PLAIN);

	(void)state;
	expect_failure(q, ERR_INVALID, "ConfigMap shop/queue does not exist");
	fakecluster_apply(QUEUE, "{'data':{'m':'1'},'binaryData':{'n':'NDI='}}");
	fakeloop_advance(10);
	expect_failure(q, ERR_INVALID, "ConfigMap shop/queue has no key \"n\"");
	fakecluster_change(QUEUE, "{'data':{'n':'3'}}");
	fakeloop_advance(10);
	assert_true(clusterworld_answer_of(q) == 3);
	fakecluster_change(QUEUE, "{'data':null}");
	fakeloop_advance(10);
	expect_failure(q, ERR_INVALID, "ConfigMap shop/queue has no key \"n\"");
	fakecluster_delete(QUEUE);
	fakeloop_advance(10);
	expect_failure(q, ERR_INVALID, "ConfigMap shop/queue does not exist");
	fakecluster_apply(QUEUE, "{'data':{'n':'4'}}");
	fakeloop_advance(10);
	assert_true(clusterworld_answer_of(q) == 4);
	question_unref(q);
}

static void one_watch_for_each_object(void **state)
{
	struct question *n = question(PLAIN),
			*m = question("resourceKind=ConfigMap|resourceName=queue|key=m|targetValue=1"),
			*other = question("resourceKind=ConfigMap|resourceName=other|key=n|targetValue=1");

	(void)state;
	fakecluster_apply(QUEUE, "{'data':{'n':'1','m':'2'}}");
	fakecluster_apply(MAPS "/other", "{'data':{'n':'3'}}");
	assert_true(clusterworld_answer_of(n) == 1);
	assert_true(clusterworld_answer_of(m) == 2);
	assert_true(clusterworld_answer_of(n) == 1);
	assert_true(clusterworld_answer_of(other) == 3);
	assert_int_equal(fakecluster_watches(""), 2);
	/* One of the two is not used any more. */
	for (int i = 0; i < 5; i++) {
		fakeloop_advance(100000);
		assert_true(clusterworld_answer_of(m) == 2);
	}
	assert_int_equal(fakecluster_watches(""), 1);
	fakecluster_change(QUEUE, "{'data':{'n':'5'}}");
	fakeloop_advance(10);
	assert_true(clusterworld_answer_of(n) == 5);
	fakeloop_advance(400000);
	assert_int_equal(fakecluster_watches(""), 0);
	question_unref(n);
	question_unref(m);
	question_unref(other);
}

/* Known numbers stay valid while the object is listed for a new one. */
static void a_hundred_numbers_of_one_object(void **state)
{
	struct question *q[100];
	struct buf text = BUF_INIT(65536);

	(void)state;
	buf_puts(&text, "{'data':{");
	for (int i = 0; i < 100; i++)
		buf_printf(&text, "%s'n%d':'%d'", i ? "," : "", i, 1000 + i);
	buf_puts(&text, "}}");
	fakecluster_apply(QUEUE, text.data);
	buf_done(&text);
	for (int i = 0; i < 100; i++) {
		MEM_AUTO char *pairs = mem_printf("resourceKind=ConfigMap|resourceName=queue|key=n%d|targetValue=5", i);

		q[i] = question(pairs);
	}
	for (int i = 0; i < 100; i++) {
		assert_true(clusterworld_answer_of(q[i]) == 1000 + i);
		assert_true(clusterworld_answer_of(q[0]) == 1000);
	}
	assert_int_equal(fakecluster_watches(MAPS), 1);
	fakecluster_change(QUEUE, "{'data':{'n7':'7','n99':'99'}}");
	fakeloop_advance(50);
	for (int i = 0; i < 100; i++) {
		assert_true(clusterworld_answer_of(q[i]) == (i == 7 || i == 99 ? i : 1000 + i));
		question_unref(q[i]);
	}
}

static size_t comparisons;

int __real_strcmp(const char *a, const char *b);
int __wrap_strcmp(const char *a, const char *b);

int __wrap_strcmp(const char *a, const char *b)
{
	comparisons++;
	return __real_strcmp(a, b);
}

/* Releasing a number must not compare it with all others. */
static void a_thousand_numbers_of_one_object(void **state)
{
	struct scaler_sources s = { .kube = world.sources.kube };

	(void)state;
	keyvalues_part.begin(&s);
	comparisons = 0;
	for (int i = 0; i < 1000; i++) {
		MEM_AUTO char *key = mem_printf("n%d", i / 2 * 7919 % 1000);
		const struct keyvalues_of of = { .kind = KEYDATA_CONFIG_MAP,
			.namespace_ = (char[]){ "shop" },
			.name = (char[]){ "queue" },
			.key = key,
			.how = { .type = i % 2 ? KEYNUMBER_QUANTITY : KEYNUMBER_FLOAT64 } };

		keyvalues_get(s.keys, &of);
	}
	keyvalues_part.end(&s);
	assert_true(comparisons < 20 * 1000);
}

static void too_late(void **state)
{
	struct question *q = question(PLAIN);
	void *handle;

	(void)state;
	fakecluster_apply(QUEUE, "{'data':{'n':'1'}}");
	fakecluster_page(1, 20000);
	fakecluster_trouble(MAPS, ERR_TEMPORARY, "connection refused");
	clusterworld_ask(q);
	handle = clusterworld_ask(q);
	fakeloop_advance(1000);
	assert_int_equal(world.answers, 0);
	question_cancel(handle);
	fakeloop_advance(CLUSTERWORLD_ASK_MS);
	assert_int_equal(world.answers, 1);
	assert_int_equal(world.err.kind, ERR_TEMPORARY);
	assert_string_equal(world.err.msg, "ConfigMap shop/queue cannot be read: connection refused");
	question_unref(q);
}

static void forbidden_is_an_error(void **state)
{
	struct question *q = question("resourceKind=Secret|resourceName=queue|key=n|targetValue=5");

	(void)state;
	fakecluster_apply(SECRETS "/queue", "{'data':{'n':'NDI='}}");
	fakecluster_trouble(SECRETS, ERR_DENIED, "secrets is forbidden");
	expect_failure(q, ERR_DENIED,
		"Secret shop/queue cannot be read: a role with the verbs list and watch on secrets is missing, or not "
		"bound in this namespace: secrets is forbidden");
	fakecluster_trouble(SECRETS, ERR_DENIED, NULL);
	fakeloop_advance(5000);
	assert_true(clusterworld_answer_of(q) == 42);
	/* Permission is withdrawn while the watch works: an error at once. */
	fakecluster_trouble(SECRETS, ERR_DENIED, "secrets is forbidden");
	fakeloop_advance(10);
	assert_true(clusterworld_answer_of(q) == -1);
	question_unref(q);
}

static void a_number_holds_for_half_a_minute(void **state)
{
	struct question *q = question(PLAIN), *late = question(PLAIN "|valueType=int64");
	void *watch = q->type->watch(&world.sources, q, clusterworld_on_look, NULL);

	(void)state;
	assert_int_equal(q->type->watch_report(watch).state, WATCH_STARTING);
	fakecluster_apply(QUEUE, "{'data':{'n':'1.5'}}");
	fakeloop_advance(100);
	assert_int_equal(q->type->watch_report(watch).state, WATCH_ON);
	assert_true(clusterworld_answer_of(q) == 1.5);
	fakecluster_trouble(MAPS, ERR_TEMPORARY, "connection refused");
	fakeloop_advance(10000);
	fakecluster_change(QUEUE, "{'data':{'n':'2.5'}}");
	assert_int_equal(q->type->watch_report(watch).state, WATCH_FAILING);
	assert_non_null(strstr(q->type->watch_report(watch).why, "connection refused"));
	assert_true(clusterworld_answer_of(q) == 1.5);
	/* A new number restarts the watch, which does not renew the other one. */
	assert_true(clusterworld_answer_of(late) == -1);
	fakeloop_advance(25000);
	assert_true(clusterworld_answer_of(q) == -1);
	assert_int_equal(world.err.kind, ERR_TEMPORARY);
	assert_non_null(strstr(world.err.msg, "connection refused"));
	world.looks = 0;
	fakecluster_trouble(MAPS, ERR_TEMPORARY, NULL);
	fakeloop_advance(10000);
	assert_true(world.looks > 0);
	assert_int_equal(q->type->watch_report(watch).state, WATCH_ON);
	assert_true(clusterworld_answer_of(q) == 2.5);
	assert_true(clusterworld_answer_of(late) == 2);
	q->type->unwatch(watch);
	question_unref(q);
	question_unref(late);
}

/* ---- Watching ---- */

static void looks_when_the_number_changes(void **state)
{
	struct question *q = question(PLAIN);
	void *watch = q->type->watch(&world.sources, q, clusterworld_on_look, NULL);

	(void)state;
	fakecluster_apply(QUEUE, "{'data':{'n':'1'}}");
	fakeloop_advance(100);
	assert_true(world.looks > 0);
	world.looks = 0;
	fakecluster_change(QUEUE, "{'metadata':{'annotations':{'x':'y'}},'data':{'m':'2'}}");
	fakeloop_advance(100);
	fakecluster_change(QUEUE, "{'data':{'n':'1.0 '}}");
	fakeloop_advance(100);
	assert_int_equal(world.looks, 0);
	fakecluster_change(QUEUE, "{'data':{'n':'2'}}");
	fakeloop_advance(100);
	assert_int_equal(world.looks, 1);
	fakecluster_change(QUEUE, "{'data':{'n':'two'}}");
	fakeloop_advance(100);
	assert_int_equal(world.looks, 2);
	fakecluster_delete(QUEUE);
	fakeloop_advance(100);
	assert_int_equal(world.looks, 3);
	fakecluster_apply(QUEUE, "{'data':{'n':'2'}}");
	fakeloop_advance(100);
	assert_int_equal(world.looks, 4);
	/* A watcher keeps it. */
	fakeloop_advance(3600000);
	assert_int_equal(fakecluster_watches(""), 1);
	q->type->unwatch(watch);
	fakeloop_advance(3600000);
	assert_int_equal(fakecluster_watches(""), 0);
	question_unref(q);
}

static void *watches[2];

static void on_look_end(void *arg)
{
	(void)arg;
	world.looks++;
	for (size_t i = 0; i < MEM_COUNT(watches); i++)
		kubernetesresource_scaler_type.unwatch(watches[i]);
}

static void one_who_is_told_ends_all(void **state)
{
	struct question *q = question(PLAIN);

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(watches); i++)
		watches[i] = q->type->watch(&world.sources, q, on_look_end, NULL);
	fakeloop_advance(100);
	assert_int_equal(world.looks, 1);
	question_unref(q);
}

#define WORLD(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepted),
		cmocka_unit_test(rejected),
		cmocka_unit_test(denied_secrets),
		cmocka_unit_test(unknown_keys),
		WORLD(the_number_of_a_key),
		WORLD(secrets_are_decoded),
		WORLD(what_is_missing_is_an_error),
		WORLD(one_watch_for_each_object),
		WORLD(a_hundred_numbers_of_one_object),
		WORLD(a_thousand_numbers_of_one_object),
		WORLD(too_late),
		WORLD(forbidden_is_an_error),
		WORLD(a_number_holds_for_half_a_minute),
		WORLD(looks_when_the_number_changes),
		WORLD(one_who_is_told_ends_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
