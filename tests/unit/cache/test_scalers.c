/* SPDX-License-Identifier: Apache-2.0 */
/* The built scalers: made when somebody asks, made anew when the object or the environment they came from changes, and the same question for the same values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../fakes/fakecluster.h"
#include "../fakes/fakeloop.h"
#include "../fakes/fakesource.h"

#include "base/log.h"
#include "base/mem.h"
#include "cache/scalers.h"

#define WEB "/apis/keda.sh/v1alpha1/namespaces/shop/scaledobjects/web"
#define TARGET "/apis/apps/v1/namespaces/shop/deployments/web"
#define SPEC(triggers) "{'spec':{'scaleTargetRef':{'name':'web'},'triggers':[" triggers "]}}"
#define TRIGGER(metadata) "{'type':'scripted','metadata':{" metadata "}}"
#define FROM_ENV SPEC(TRIGGER("'sourceFromEnv':'SOURCE'"))
#define ENV(entries) "{'spec':{'replicas':1,'template':{'spec':{'containers':[{'name':'main','env':[" entries "]}]}}}}"

static struct {
	struct store *store;
	struct targets *targets;
	struct scalers *scalers;
} t;

static void drop_line(void *arg, enum log_level level, const char *line)
{
	(void)arg;
	(void)level;
	(void)line;
}

static int setup(void **state)
{
	struct kube *kube = fakecluster_start(fakeloop_start());

	(void)state;
	log_set_sink(drop_line, NULL);
	fakesource_start();
	t.store = store_new(kube, NULL);
	t.targets = targets_new(kube);
	t.scalers = scalers_new(t.store, t.targets);
	targets_start(t.targets, NULL, 0);
	store_start(t.store, NULL, 0);
	fakeloop_advance(10);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	scalers_free(t.scalers);
	targets_free(t.targets);
	store_free(t.store);
	fakeloop_advance(0);
	fakecluster_end();
	fakesource_end();
	fakeloop_end();
	log_set_sink(NULL, NULL);
	return 0;
}

static void apply(const char *path, const char *text)
{
	fakecluster_apply(path, text);
	fakeloop_advance(10);
}

/* The question of the trigger, counted; or the failure's kind. */
static struct question *question(size_t index)
{
	struct built built;
	struct err err = { 0 };

	if (scalers_get(t.scalers, "shop/web", &built, &err))
		fail_msg("%s", err.msg);
	assert_true(index < built.count);
	return question_ref(built.list[index].question);
}

static void expect_key(const char *key)
{
	struct question *q = question(0);

	assert_string_equal(q->key, key);
	question_unref(q);
}

static void expect_failure(enum err_kind kind, const char *begins)
{
	struct built built;
	struct err err = { 0 };

	assert_int_equal(scalers_get(t.scalers, "shop/web", &built, &err), -1);
	if (err.kind != kind || strncmp(err.msg, begins, strlen(begins)) != 0)
		fail_msg("%s: \"%s\", not \"%s\"", err_kind_name(err.kind), err.msg, begins);
	assert_int_equal(scalers_get(t.scalers, "shop/web", &built, NULL), -1);
}

static enum target_state target_state(void)
{
	const struct workload *w;

	return targets_get(t.targets, "shop/web", &w);
}

/* --- getting and finding ------------------------------------------------------------------------------------------------------ */

static void triggers_are_built_in_their_order(void **state)
{
	struct built built;
	struct err err = { 0 };

	(void)state;
	expect_failure(ERR_MISSING, "scaledobject shop/web not found");
	apply(WEB, SPEC(TRIGGER("'source':'a'") "," TRIGGER("'source':'b','threshold':'9','activation':'3'")));
	assert_int_equal(scalers_get(t.scalers, "shop/web", &built, &err), 0);
	assert_int_equal(built.count, 2);
	assert_string_equal(built.list[0].metric_name, "s0-scripted-a");
	assert_string_equal(built.list[1].metric_name, "s1-scripted-b");
	assert_int_equal(built.list[1].target.milli, 9000);
	assert_true(built.list[1].activation == 3);
}

static void metrics_are_found_without_regard_to_case(void **state)
{
	const struct scaler *scaler;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(scalers_find(t.scalers, "shop/web", "s0-scripted-a", &scaler, &err), -1);
	assert_int_equal(err.kind, ERR_MISSING);
	apply(WEB, SPEC(TRIGGER("'source':'a'") "," TRIGGER("'source':'B'")));
	assert_int_equal(scalers_find(t.scalers, "shop/web", "S1-Scripted-b", &scaler, &err), 0);
	assert_string_equal(scaler->metric_name, "s1-scripted-B");
	assert_int_equal(scalers_find(t.scalers, "shop/web", "s2-scripted-b", &scaler, &err), -1);
	assert_int_equal(err.kind, ERR_MISSING);
	assert_string_equal(err.msg, "scaledobject shop/web has no metric s2-scripted-b");
}

static void what_was_built_stays_while_nothing_changes(void **state)
{
	struct question *first, *second;

	(void)state;
	apply(WEB, SPEC(TRIGGER("'source':'a'")));
	first = question(0);
	second = question(0);
	assert_ptr_equal(first, second);
	question_unref(second);
	apply(WEB, SPEC(TRIGGER("'source':'a','threshold':'9'")));
	second = question(0);
	assert_string_equal(first->key, second->key);
	question_unref(first);
	question_unref(second);
	apply(WEB, SPEC(TRIGGER("'source':'other'")));
	expect_key("scripted other");
	fakecluster_delete(WEB);
	fakeloop_advance(10);
	expect_failure(ERR_MISSING, "scaledobject shop/web not found");
}

static void a_wrong_spec_is_refused_as_ready_says_it(void **state)
{
	(void)state;
	apply(WEB, SPEC(TRIGGER("'source':'a','threshold':'x'")));
	expect_failure(ERR_INVALID, "trigger 0 (scripted): unable to set param \"threshold\"");
	apply(WEB, SPEC("{'type':'kafka','metadata':{}}"));
	expect_failure(ERR_INVALID, "trigger 0: no scaler found for type: kafka");
	apply(WEB, SPEC(""));
	expect_failure(ERR_INVALID, "ScaledObject doesn't have correct triggers specification: ");
	apply(WEB, "{'spec':{'scaleTargetRef':7}}");
	expect_failure(ERR_INVALID, "spec.scaleTargetRef: must be");
	/* The second of two is wrong: none is built. */
	apply(WEB, SPEC(TRIGGER("'source':'a'") "," TRIGGER("'threshold':'1'")));
	expect_failure(ERR_INVALID, "trigger 1 (scripted): missing required parameter \"source\"");
	apply(WEB, SPEC(TRIGGER("'source':'a'")));
	expect_key("scripted a");
}

/* --- the target --------------------------------------------------------------------------------------------------------------- */

static void the_target_is_wanted_with_the_object(void **state)
{
	static const char *const none[] = {
		"{'spec':{'scaleTargetRef':{'name':'web','kind':'ReplicaSet'},'triggers':[" TRIGGER("'source':'a'") "]}}",
		"{'spec':{'scaleTargetRef':{'name':'web','apiVersion':'apps/v1beta2'},'triggers':[" TRIGGER("'source':'a'") "]}}",
		"{'spec':{'scaleTargetRef':{'name':'web','apiVersion':'/'},'triggers':[" TRIGGER("'source':'a'") "]}}",
		"{'spec':{'scaleTargetRef':{'name':'../secrets/x'},'triggers':[" TRIGGER("'source':'a'") "]}}",
		"{'spec':{'scaleTargetRef':{},'triggers':[" TRIGGER("'source':'a'") "]}}",
		"{'spec':{}}",
		"{}",
	};

	(void)state;
	apply(TARGET, ENV(""));
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		apply(WEB, none[i]);
		assert_int_equal(target_state(), TARGET_UNREAD);
		assert_int_equal(fakecluster_watches("apps"), 0);
		apply(WEB, SPEC(TRIGGER("'source':'a'")));
		assert_int_equal(target_state(), TARGET_PRESENT);
	}
	fakecluster_delete(WEB);
	fakeloop_advance(10);
	assert_int_equal(fakecluster_watches("apps"), 0);
}

static void kinds_lead_to_their_resources(void **state)
{
	char group[254], version[254], resource[254];
	struct scaledobject so = { .spec.target_kind = (char[]){ "StatefulSet" } };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(scalers_target_ref(&so, group, version, resource, &err), 0);
	assert_string_equal(group, "apps");
	assert_string_equal(version, "v1");
	assert_string_equal(resource, "statefulsets");
	so.spec.target_kind = NULL;
	assert_int_equal(scalers_target_ref(&so, group, version, resource, &err), 0);
	assert_string_equal(resource, "deployments");
	so.spec.target_api_version = (char[]){ "argoproj.io/v1alpha1" };
	assert_int_equal(scalers_target_ref(&so, group, version, resource, &err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
}

/* --- from the target's environment -------------------------------------------------------------------------------------------- */

static void the_environment_is_waited_for(void **state)
{
	(void)state;
	fakecluster_apply(WEB, FROM_ENV);
	fakecluster_apply(TARGET, ENV("{'name':'SOURCE','value':'a'}"));
	fakecluster_trouble("/deployments", ERR_DENIED, "forbidden");
	fakeloop_advance(10);
	expect_failure(ERR_TEMPORARY, "the scale target's environment is not read yet: watching apps/v1/deployments: forbidden");
	fakecluster_trouble("/deployments", ERR_NONE, NULL);
	fakeloop_advance(2000);
	expect_key("scripted a");
	fakecluster_delete(TARGET);
	fakeloop_advance(10);
	expect_failure(ERR_INVALID, "the scale target web does not exist, so its environment cannot be read");
	apply(TARGET, ENV("{'name':'SOURCE','value':'b'}"));
	expect_key("scripted b");
}

static void a_changed_environment_is_followed(void **state)
{
	struct question *before, *after;

	(void)state;
	apply(WEB, FROM_ENV);
	apply(TARGET, ENV("{'name':'SOURCE','value':'a'}"));
	expect_key("scripted a");
	/* Replicas and other variables change nothing about the question. */
	before = question(0);
	fakecluster_change(TARGET, "{'spec':{'replicas':5}}");
	apply(TARGET, ENV("{'name':'OTHER','value':'x'},{'name':'SOURCE','value':'a'}"));
	after = question(0);
	assert_string_equal(before->key, after->key);
	question_unref(before);
	question_unref(after);
	apply(TARGET, ENV("{'name':'SOURCE','value':'b'}"));
	expect_key("scripted b");
	apply(TARGET, ENV("{'name':'SOURCE','valueFrom':{'secretKeyRef':{'name':'s','key':'k'}}}"));
	expect_failure(ERR_INVALID, "trigger 0 (scripted): ");
	apply(TARGET, ENV(""));
	expect_failure(ERR_INVALID, "trigger 0 (scripted): ");
}

static void without_the_environment_the_target_does_not_matter(void **state)
{
	struct question *before, *after;

	(void)state;
	apply(WEB, SPEC(TRIGGER("'source':'a'")));
	before = question(0);
	apply(TARGET, ENV("{'name':'SOURCE','value':'b'}"));
	after = question(0);
	assert_ptr_equal(before, after);
	question_unref(before);
	question_unref(after);
}

static void a_named_container_is_the_one(void **state)
{
	(void)state;
	apply(TARGET, "{'spec':{'template':{'spec':{'containers':[{'name':'one','env':[{'name':'SOURCE','value':'a'}]},{'name':'two','env':[{'name':'SOURCE','value':'b'}]}]}}}}");
	apply(WEB, FROM_ENV);
	expect_key("scripted a");
	fakecluster_change(WEB, "{'spec':{'scaleTargetRef':{'envSourceContainerName':'two'}}}");
	fakeloop_advance(10);
	expect_key("scripted b");
	fakecluster_change(WEB, "{'spec':{'scaleTargetRef':{'envSourceContainerName':'three'}}}");
	fakeloop_advance(10);
	expect_failure(ERR_INVALID, "");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(triggers_are_built_in_their_order),
		CASE(metrics_are_found_without_regard_to_case),
		CASE(what_was_built_stays_while_nothing_changes),
		CASE(a_wrong_spec_is_refused_as_ready_says_it),
		CASE(the_target_is_wanted_with_the_object),
		CASE(kinds_lead_to_their_resources),
		CASE(the_environment_is_waited_for),
		CASE(a_changed_environment_is_followed),
		CASE(without_the_environment_the_target_does_not_matter),
		CASE(a_named_container_is_the_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
