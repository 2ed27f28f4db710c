/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built scalers: built on first use, rebuilt when the object or its environment changes, with
 * the same question for the same values.
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
#include "scalers_fixture.h"

#define WEB               "/apis/keda.sh/v1alpha1/namespaces/shop/scaledobjects/web"
#define TARGET            "/apis/apps/v1/namespaces/shop/deployments/web"
#define JOB               "/apis/keda.sh/v1alpha1/namespaces/shop/scaledjobs/web" /* of the same name */
#define JOB_KEY           "scaledjobs/shop/web"
#define SPEC(triggers)    "{'spec':{'scaleTargetRef':{'name':'web'},'triggers':[" triggers "]}}"
#define TRIGGER(metadata) "{'type':'scripted','metadata':{" metadata "}}"
#define FROM_ENV          SPEC(TRIGGER("'sourceFromEnv':'SOURCE'"))
#define JOB_SPEC(containers, triggers)                                                                                 \
	"{'spec':{'jobTargetRef':{'template':{'spec':{'containers':[" containers "]}}},'triggers':[" triggers "]}}"
#define MAIN(entries)            "{'name':'main','env':[" entries "]}"
#define JOB_FROM_ENV(containers) JOB_SPEC(containers, TRIGGER("'sourceFromEnv':'SOURCE'"))

#define ENV(entries) "{'spec':{'replicas':1,'template':{'spec':{'containers':[{'name':'main','env':[" entries "]}]}}}}"

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

/* The question of the trigger, counted; or the failure's kind. */
static struct question *question(size_t index)
{
	struct built built;
	struct err err = { 0 };

	if (scalers_fixture_get(&t, &built, &err))
		fail_msg("%s", err.msg);
	assert_true(index < built.count);
	return question_ref(built.list[index].question);
}

static void expect_source(const char *source)
{
	struct question *q = question(0);

	assert_string_equal(q->source, source);
	question_unref(q);
}

static void expect_failure(enum err_kind kind, const char *begins)
{
	struct built built;
	struct err err = { 0 };

	assert_int_equal(scalers_fixture_get(&t, &built, &err), -1);
	if (err.kind != kind || strncmp(err.msg, begins, strlen(begins)) != 0)
		fail_msg("%s: \"%s\", not \"%s\"", err_kind_name(err.kind), err.msg, begins);
	assert_int_equal(scalers_fixture_get(&t, &built, NULL), -1);
}

static enum target_state target_state(void)
{
	const struct workload *w;

	return targets_get(scalers_fixture_object(&t), &w);
}

/* ---- Getting and finding ---- */

static void triggers_are_built_in_their_order(void **state)
{
	struct built built;
	struct err err = { 0 };

	(void)state;
	assert_null(scalers_fixture_object(&t));
	apply(WEB, SPEC(TRIGGER("'source':'a'") "," TRIGGER("'source':'b','threshold':'9','activation':'3'")));
	assert_int_equal(scalers_fixture_get(&t, &built, &err), 0);
	assert_int_equal(built.count, 2);
	assert_string_equal(built.list[0].metric_name, "s0-scripted-a");
	assert_string_equal(built.list[1].metric_name, "s1-scripted-b");
	assert_int_equal(built.list[1].target.milli, 9000);
	assert_true(built.list[1].activation == 3);
}

/* Also for holders during its deletion. */
static void one_that_is_gone_has_none(void **state)
{
	struct built built;
	struct err err = { 0 };
	struct object *held;

	(void)state;
	apply(WEB, SPEC(TRIGGER("'source':'a'")));
	assert_int_equal(scalers_fixture_get(&t, &built, &err), 0);
	held = object_ref(scalers_fixture_object(&t));
	fakecluster_delete(WEB);
	fakeloop_advance(10);
	assert_null(scalers_fixture_object(&t));
	assert_int_equal(scalers_get(t.cache->scalers, held, &built, &err), -1);
	assert_int_equal(err.kind, ERR_MISSING);
	assert_string_equal(err.msg, "scaledobject shop/web not found");
	object_unref(held);
}

static void metrics_are_found_without_regard_to_case(void **state)
{
	struct built built;
	struct err err = { 0 };

	(void)state;
	apply(WEB,
		SPEC(TRIGGER("'source':'a'") "," TRIGGER(
			"'source':'B'") ",{'type':'cpu','metricType':'Utilization','metadata':{'value':'60'}}"));
	assert_int_equal(scalers_fixture_get(&t, &built, &err), 0);
	assert_ptr_equal(scalers_find(&built, "S1-Scripted-b", &err), &built.list[1]);
	assert_null(scalers_find(&built, built.list[2].metric_name, &err)); /* not used here */
	assert_null(scalers_find(&built, "s2-scripted-b", &err));
	assert_int_equal(err.kind, ERR_MISSING);
	assert_string_equal(err.msg, "scaledobject shop/web has no metric s2-scripted-b");
}

static void scalers_stay_while_nothing_changes(void **state)
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
	expect_source("source other");
	fakecluster_delete(WEB);
	fakeloop_advance(10);
	assert_null(scalers_fixture_object(&t));
}

static void ignore_answer(void *arg, const struct answer *answer, const struct err *err, int64_t completed_at_ms)
{
	(void)arg;
	(void)answer;
	(void)err;
	(void)completed_at_ms;
}

static void a_known_question_is_kept_once(void **state)
{
	struct question *first, *second;

	(void)state;
	apply(WEB, SPEC(TRIGGER("'source':'a'")));
	first = question(0);
	readings_ask(t.cache->readings, first, 0, 0, INT64_MAX, ignore_answer, NULL);
	apply(WEB, SPEC(TRIGGER("'source':'a','threshold':'9'") "," TRIGGER("'source':'b'")));
	second = question(0);
	assert_ptr_equal(first, second);
	question_unref(second);
	second = question(1);
	assert_string_equal(second->source, "source b");
	question_unref(first);
	question_unref(second);
}

static void a_wrong_spec_has_the_error_of_ready(void **state)
{
	(void)state;
	apply(WEB, SPEC(TRIGGER("'source':'a','threshold':'x'")));
	expect_failure(ERR_INVALID, "trigger 0 (scripted): unable to set param \"threshold\"");
	apply(WEB, SPEC("{'type':'predictkube','metadata':{}}"));
	expect_failure(ERR_INVALID, "trigger 0: no scaler found for type: predictkube");
	apply(WEB, SPEC(""));
	expect_failure(ERR_INVALID, "ScaledObject doesn't have correct triggers specification: ");
	apply(WEB, "{'spec':{'scaleTargetRef':7}}");
	expect_failure(ERR_INVALID, "spec.scaleTargetRef: must be");
	/* The second of two is wrong: none is built. */
	apply(WEB, SPEC(TRIGGER("'source':'a'") "," TRIGGER("'threshold':'1'")));
	expect_failure(ERR_INVALID, "trigger 1 (scripted): missing required parameter \"source\"");
	apply(WEB, SPEC(TRIGGER("'source':'a'")));
	expect_source("source a");
}

/* ---- The target ---- */

static void the_target_is_wanted_with_the_object(void **state)
{
	static const char *const none[] = {
		"{'spec':{'scaleTargetRef':{'name':'web','kind':'ReplicaSet'},'triggers':[" TRIGGER(
			"'source':'a'") "]}}",
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

/* ---- From the target's environment ---- */

static void the_environment_is_waited_for(void **state)
{
	(void)state;
	fakecluster_apply(WEB, FROM_ENV);
	fakecluster_apply(TARGET, ENV("{'name':'SOURCE','value':'a'}"));
	fakecluster_trouble("/deployments", ERR_DENIED, "forbidden");
	fakeloop_advance(10);
	expect_failure(ERR_TEMPORARY,
		"the scale target's environment is not read yet: watching apps/v1/deployments: kscaled may "
		"not scale deployments.apps: apply `kscaled manifests` with it among the --scale-kinds: forbidden");
	fakecluster_trouble("/deployments", ERR_NONE, NULL);
	fakeloop_advance(2000);
	expect_source("source a");
	fakecluster_delete(TARGET);
	fakeloop_advance(10);
	expect_failure(ERR_INVALID, "the scale target web does not exist, so its environment cannot be read");
	apply(TARGET, ENV("{'name':'SOURCE','value':'b'}"));
	expect_source("source b");
}

static void a_changed_environment_is_followed(void **state)
{
	struct question *before, *after;

	(void)state;
	apply(WEB, FROM_ENV);
	apply(TARGET, ENV("{'name':'SOURCE','value':'a'}"));
	expect_source("source a");
	/* Replicas and other variables change nothing about the question. */
	before = question(0);
	fakecluster_change(TARGET, "{'spec':{'replicas':5}}");
	apply(TARGET, ENV("{'name':'OTHER','value':'x'},{'name':'SOURCE','value':'a'}"));
	after = question(0);
	assert_string_equal(before->key, after->key);
	question_unref(before);
	question_unref(after);
	apply(TARGET, ENV("{'name':'SOURCE','value':'b'}"));
	expect_source("source b");
	apply(TARGET, ENV("{'name':'SOURCE','valueFrom':{'fieldRef':{'fieldPath':'x'}}}"));
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
	apply(TARGET,
		"{'spec':{'template':{'spec':{'containers':[{'name':'one','env':[{'name':'SOURCE','value':'a'}]},{'"
		"name':'two','env':[{'name':'SOURCE','value':'b'}]}]}}}}");
	apply(WEB, FROM_ENV);
	expect_source("source a");
	fakecluster_change(WEB, "{'spec':{'scaleTargetRef':{'envSourceContainerName':'two'}}}");
	fakeloop_advance(10);
	expect_source("source b");
	fakecluster_change(WEB, "{'spec':{'scaleTargetRef':{'envSourceContainerName':'three'}}}");
	fakeloop_advance(10);
	expect_failure(ERR_INVALID, "");
}

/* ---- From a TriggerAuthentication ---- */

#define AUTH            "/apis/keda.sh/v1alpha1/namespaces/shop/triggerauthentications/auth"
#define SECRET          "/api/v1/namespaces/shop/secrets/creds"
#define AUTH_SPEC       "{'spec':{'secretTargetRef':[{'parameter':'source','name':'creds','key':'source'}]}}"
#define REFERRING(name) "{'type':'scripted','metadata':{},'authenticationRef':{'name':'" name "'}}"

static void a_secret_is_waited_for_and_followed(void **state)
{
	uint64_t before;

	(void)state;
	apply(AUTH, AUTH_SPEC);
	fakecluster_apply(SECRET, "{'data':{'source':'YQ=='}}");
	apply(WEB, SPEC(REFERRING("auth")));
	assert_int_equal(fakecluster_watches("/secrets"), 0); /* not requested yet */
	expect_failure(ERR_WAITING,
		"trigger 0 (scripted): TriggerAuthentication shop/auth: secretTargetRef parameter \"source\": Secret "
		"shop/creds is not read yet");
	assert_true(scalers_questions(scalers_fixture_object(&t)) == 0);
	fakeloop_advance(10);
	assert_int_equal(t.told, 1);
	expect_source("source a");
	before = scalers_questions(scalers_fixture_object(&t));
	assert_true(before != 0);
	/* Rotated: reported at once, and the question changes. */
	apply(SECRET, "{'data':{'source':'Yg=='}}");
	assert_int_equal(t.told, 2);
	expect_source("source b");
	assert_true(scalers_questions(scalers_fixture_object(&t)) != before);
	/* A missing reference is the object's fault, and stays so until something changes. */
	apply(SECRET, "{'data':{'other':'Yg=='}}");
	assert_int_equal(t.told, 3);
	expect_failure(ERR_INVALID,
		"trigger 0 (scripted): TriggerAuthentication shop/auth: secretTargetRef parameter \"source\": Secret "
		"shop/creds ");
	fakecluster_delete(AUTH);
	fakeloop_advance(10);
	assert_int_equal(t.told, 4);
	expect_failure(ERR_INVALID, "trigger 0 (scripted): TriggerAuthentication shop/auth does not exist");
	assert_int_equal(fakecluster_watches("/secrets"), 0); /* no one needs it any more */
	apply(AUTH, AUTH_SPEC);
	expect_failure(ERR_WAITING, "");
	apply(SECRET, "{'data':{'source':'Yw=='}}");
	expect_source("source c");
	fakecluster_delete(WEB);
	fakeloop_advance(10);
	assert_int_equal(fakecluster_watches("/secrets"), 0);
}

static void all_references_are_asked_for_behind_one_that_fails(void **state)
{
	(void)state;
	apply(AUTH, AUTH_SPEC);
	fakecluster_apply(SECRET, "{'data':{'source':'YQ=='}}");
	apply(WEB, SPEC(REFERRING("gone") "," REFERRING("auth")));
	expect_failure(ERR_INVALID, "trigger 0 (scripted): TriggerAuthentication shop/gone does not exist");
	fakeloop_advance(10);
	assert_int_equal(fakecluster_watches("/secrets"), 1);
	expect_failure(ERR_INVALID, "trigger 0 (scripted): TriggerAuthentication shop/gone does not exist");
	apply("/apis/keda.sh/v1alpha1/namespaces/shop/triggerauthentications/gone", AUTH_SPEC);
	expect_source("source a");
	/* Its status changes without a notification. */
	t.told = 0;
	fakecluster_change(AUTH, "{'status':{'scaledobjects':'web'}}");
	fakeloop_advance(10);
	assert_int_equal(t.told, 0);
}

static void secrets_of_the_environment_are_followed(void **state)
{
	(void)state;
	fakecluster_apply(SECRET, "{'data':{'source':'YQ==','other':'eA=='}}");
	apply(TARGET,
		ENV("{'name':'SOURCE','valueFrom':{'secretKeyRef':{'name':'creds','key':'source'}}},{'name':'OTHER','"
		    "valueFrom':{'secretKeyRef':{'name':'others','key':'x'}}}"));
	apply(WEB, FROM_ENV);
	expect_failure(ERR_WAITING, "Secret shop/creds is not read yet");
	fakeloop_advance(10);
	expect_source("source a");
	assert_int_equal(fakecluster_watches("/secrets"), 1); /* OTHER concerns no one */
	apply(SECRET, "{'data':{'source':'Yg=='}}");
	expect_source("source b");
	fakecluster_delete(SECRET);
	fakeloop_advance(10);
	expect_failure(ERR_INVALID,
		"trigger 0 (scripted): parameter \"sourceFromEnv\": environment variable SOURCE of the target's "
		"container is not available: Secret shop/creds ");
}

/* ---- Of a ScaledJob ---- */

static void a_scaledjob_is_no_scaledobject_of_its_name(void **state)
{
	struct question *before, *after;
	struct built built;
	struct err err = { 0 };

	(void)state;
	apply(WEB, SPEC(TRIGGER("'source':'a'")));
	apply(JOB, JOB_SPEC(MAIN(""), TRIGGER("'source':'b','threshold':'9'") "," TRIGGER("'source':'a'")));
	expect_source("source a");
	before = question(0);
	t.key = JOB_KEY;
	expect_source("source b");
	assert_int_equal(scalers_fixture_get(&t, &built, &err), 0);
	assert_int_equal(built.of.kind, SCALED_JOB);
	assert_int_equal(built.count, 2);
	assert_int_equal(built.list[0].target.milli, 9000);
	assert_null(built.formula);
	assert_string_equal(built.list[1].question->key, before->key); /* one reading will do for both */
	assert_ptr_equal(scalers_find(&built, "s1-scripted-a", &err), &built.list[1]);
	assert_null(scalers_find(&built, "s0-scripted-a", &err));
	assert_string_equal(err.msg, "scaledjob shop/web has no metric s0-scripted-a");
	/* One object's changes do not affect the other. */
	apply(JOB, JOB_SPEC(MAIN(""), TRIGGER("'source':'c'")));
	expect_source("source c");
	t.key = "shop/web";
	after = question(0);
	assert_ptr_equal(before, after);
	question_unref(after);
	question_unref(before);
	fakecluster_delete(WEB);
	fakeloop_advance(10);
	assert_null(scalers_fixture_object(&t));
	t.key = JOB_KEY;
	expect_source("source c");
	fakecluster_delete(JOB);
	fakeloop_advance(10);
	assert_null(scalers_fixture_object(&t));
}

static void a_wrong_scaledjob_has_the_error_of_ready(void **state)
{
	(void)state;
	t.key = JOB_KEY;
	apply(JOB, "{'spec':{'triggers':[" TRIGGER("'source':'a'") "]}}");
	expect_failure(ERR_INVALID, "ScaledJob.spec.jobTargetRef not found: ");
	apply(JOB, JOB_SPEC(MAIN(""), ""));
	expect_failure(ERR_INVALID, "ScaledJob doesn't have correct triggers specification: ");
	apply(JOB, JOB_SPEC(MAIN(""), TRIGGER("'source':'a','threshold':'x'")));
	expect_failure(ERR_INVALID, "trigger 0 (scripted): unable to set param \"threshold\"");
	apply(JOB, JOB_SPEC(MAIN(""), TRIGGER("'source':'a'")));
	expect_source("source a");
}

static void its_environment_is_that_of_its_pod_template(void **state)
{
	(void)state;
	t.key = JOB_KEY;
	apply(TARGET, ENV("{'name':'SOURCE','value':'of a Deployment of the same name'}"));
	apply(JOB, JOB_FROM_ENV(MAIN("{'name':'SOURCE','value':'a'}")));
	expect_source("source a");
	apply(JOB, JOB_FROM_ENV(MAIN("{'name':'SOURCE','value':'b'}")));
	expect_source("source b");
	assert_int_equal(fakecluster_watches("apps"), 0);
	apply(JOB, JOB_FROM_ENV(MAIN("")));
	expect_failure(ERR_INVALID, "trigger 0 (scripted): ");
}

static void its_container_is_the_one_that_is_named(void **state)
{
	(void)state;
	t.key = JOB_KEY;
	apply(JOB,
		JOB_FROM_ENV(MAIN(
			"{'name':'SOURCE','value':'a'}") ",{'name':'side','env':[{'name':'SOURCE','value':'b'}]}"));
	expect_source("source a");
	fakecluster_change(JOB, "{'spec':{'envSourceContainerName':'side'}}");
	fakeloop_advance(10);
	expect_source("source b");
	fakecluster_change(JOB, "{'spec':{'envSourceContainerName':'third'}}");
	fakeloop_advance(10);
	expect_failure(ERR_INVALID, "spec.envSourceContainerName: web has no container \"third\"");
}

static void secrets_of_its_environment_are_followed_and_released(void **state)
{
	(void)state;
	t.key = JOB_KEY;
	fakecluster_apply(SECRET, "{'data':{'source':'YQ=='}}");
	apply(JOB,
		JOB_FROM_ENV(MAIN("{'name':'SOURCE','valueFrom':{'secretKeyRef':{'name':'creds','key':'source'}}}")));
	expect_failure(ERR_WAITING, "Secret shop/creds is not read yet");
	fakeloop_advance(10);
	assert_int_equal(t.told, 1);
	expect_source("source a");
	apply(SECRET, "{'data':{'source':'Yg=='}}");
	assert_int_equal(t.told, 2);
	expect_source("source b");
	fakecluster_delete(JOB);
	fakeloop_advance(10);
	assert_int_equal(fakecluster_watches("/secrets"), 0);
}

/* A Secret that both refer to is watched once, and until neither needs it. */
static void an_authentication_serves_both(void **state)
{
	(void)state;
	apply(AUTH, AUTH_SPEC);
	fakecluster_apply(SECRET, "{'data':{'source':'YQ=='}}");
	apply(WEB, SPEC(REFERRING("auth")));
	apply(JOB, JOB_SPEC(MAIN(""), REFERRING("auth")));
	expect_failure(ERR_WAITING, "trigger 0 (scripted): TriggerAuthentication shop/auth: ");
	fakeloop_advance(10);
	expect_source("source a");
	t.key = JOB_KEY;
	expect_source("source a");
	assert_int_equal(fakecluster_watches("/secrets"), 1);
	fakecluster_delete(JOB);
	fakeloop_advance(10);
	assert_int_equal(fakecluster_watches("/secrets"), 1);
	t.key = "shop/web";
	expect_source("source a");
	fakecluster_delete(WEB);
	fakeloop_advance(10);
	assert_int_equal(fakecluster_watches("/secrets"), 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(triggers_are_built_in_their_order),
		CASE(one_that_is_gone_has_none),
		CASE(metrics_are_found_without_regard_to_case),
		CASE(scalers_stay_while_nothing_changes),
		CASE(a_known_question_is_kept_once),
		CASE(a_wrong_spec_has_the_error_of_ready),
		CASE(the_target_is_wanted_with_the_object),
		CASE(the_environment_is_waited_for),
		CASE(a_changed_environment_is_followed),
		CASE(without_the_environment_the_target_does_not_matter),
		CASE(a_named_container_is_the_one),
		CASE(a_secret_is_waited_for_and_followed),
		CASE(all_references_are_asked_for_behind_one_that_fails),
		CASE(secrets_of_the_environment_are_followed),
		CASE(a_scaledjob_is_no_scaledobject_of_its_name),
		CASE(a_wrong_scaledjob_has_the_error_of_ready),
		CASE(its_environment_is_that_of_its_pod_template),
		CASE(its_container_is_the_one_that_is_named),
		CASE(secrets_of_its_environment_are_followed_and_released),
		CASE(an_authentication_serves_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
