/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/validate/validate.h"

#include "../../crd/given.h"

typedef int (*validate_fn)(const struct scaledobject *so, struct err *err);

static int validate_alone(const struct scaledobject *so, struct err *err)
{
	return validate_admission(scaled_of_object(so), NULL, err);
}

static int validate_reconciled(const struct scaledobject *so, struct err *err)
{
	return validate_for_reconcile(scaled_of_object(so), NULL, err);
}

static void check_passes(validate_fn validate, const char *object)
{
	struct scaledobject *so = given_scaledobject(object);
	struct err err = { 0 };

	if (validate(so, &err) != 0)
		fail_msg("%s: %s", object, err.msg);
	scaledobject_free(so);
}

static void check_refused(validate_fn validate, const char *object, const char *message)
{
	struct scaledobject *so = given_scaledobject(object);
	struct err err = { 0 };

	if (validate(so, &err) != -1)
		fail_msg("%s: not refused", object);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_string_equal(err.msg, message);
	assert_int_equal(validate(so, NULL), -1);
	scaledobject_free(so);
}

#define SPEC(fields)           GIVEN_SO("", GIVEN_TARGET "," GIVEN_TRIGGERS "," fields)
#define TRIGGER(fields)        GIVEN_SO("", GIVEN_TARGET ",'triggers':[{" fields "}]")
#define TARGET(fields)         GIVEN_SO("", "'scaleTargetRef':{" fields "}," GIVEN_TRIGGERS)
#define ADVANCED(fields)       SPEC("'advanced':{" fields "}")
#define ANNOTATED(annotations) GIVEN_SO(",'annotations':{" annotations "}", GIVEN_TARGET "," GIVEN_TRIGGERS)
#define FORMULA(fields, triggers)                                                                                      \
	GIVEN_SO("",                                                                                                   \
		GIVEN_TARGET ",'advanced':{'scalingModifiers':{'formula':'a'," fields "}},'triggers':[" triggers "]")
#define ADVANCED_FORMULA(formula)                                                                                      \
	GIVEN_SO("",                                                                                                   \
		GIVEN_TARGET ",'advanced':{'scalingModifiers':{'formula':'" formula                                    \
			     "','target':'1'}},'triggers':[" ONE ",{'type':'cpu','name':'b'}]")
#define ONE    "{'type':'redis','name':'a'}"
#define NAME63 "a23456789012345678901234567890123456789012345678901234567890123"

static void test_good(void **state)
{
	static const char *const cases[] = {
		GIVEN_SO("", GIVEN_TARGET "," GIVEN_TRIGGERS),
		SPEC("'minReplicaCount':0,'maxReplicaCount':1"),
		SPEC("'minReplicaCount':3,'maxReplicaCount':3,'idleReplicaCount':2"),
		SPEC("'minReplicaCount':0,'idleReplicaCount':0"), /* KEDA accepts it when the minimum is written */
		SPEC("'minReplicaCount':100"),
		SPEC("'pollingInterval':1,'cooldownPeriod':0,'initialCooldownPeriod':0"),
		TARGET("'name':'a.b-c.1'"),
		TRIGGER("'type':'redis','metricType':'Value'"),
		TRIGGER("'type':'cpu','metricType':'Utilization'"),
		GIVEN_SO("",
			GIVEN_TARGET ",'triggers':[{'type':'a','name':'x'},{'type':'a','name':'y'},{'type':'a'},{'type'"
				     ":'a','name':''},{'type':'a','name':''}]"),
		ADVANCED("'horizontalPodAutoscalerConfig':{'name':'" NAME63 "'}"),
		TARGET("'name':'db','kind':'StatefulSet','apiVersion':'apps/v1'"),
		TARGET("'name':'x','kind':'Rollout','apiVersion':'argoproj.io/v1alpha1'"),
		TARGET("'name':'x','apiVersion':'v1','kind':'ReplicationController'"),
		TRIGGER("'type':'nobody-knows-this-one'"), /* types are for the scalers' registry to know */
		TRIGGER("'type':'redis','useCachedMetrics':true,'authenticationRef':{'name':'ta','kind':''}"),
		TRIGGER("'type':'redis','authenticationRef':{'name':'ta','kind':'ClusterTriggerAuthentication'}"),
		SPEC("'fallback':{'failureThreshold':0,'replicas':0}"),
		SPEC("'fallback':{'failureThreshold':3,'replicas':6,'behavior':'currentReplicasIfLower'}"),
		ANNOTATED("'autoscaling.keda.sh/paused-replicas':'3','scaledobject.keda.sh/"
			  "transfer-hpa-ownership':'true','example.com/x':'y'"),
		ADVANCED("'scalingModifiers':{}"),
		FORMULA("'target':'0.5'", "{'type':'redis','name':'a'},{'type':'cpu'}"),
		FORMULA("'target':'1'", ONE ",{'type':'redis'}"),
		FORMULA("'target':'1'", "{'type':'cron'},{'type':'redis','name':''}," ONE),
		FORMULA("'target':'1e3','activationTarget':'-2','metricType':'Value'", "{'type':'redis','name':'a'}"),
		GIVEN_SO("",
			GIVEN_TARGET
			",'advanced':{'scalingModifiers':{'formula':'a','target':'2'}},'fallback':{'failureThreshold':"
			"1,'replicas':1,'behavior':'scalingModifiers'},'triggers':[{'type':'redis','name':'a'}]"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_passes(validate_alone, cases[i]);
}

static void test_refused(void **state)
{
	static const struct {
		const char *object, *message;
	} cases[] = {
		{ GIVEN_SO("", GIVEN_TARGET ",'triggers':[{'type':3}]"),
			"spec.triggers[0].type: must be a string, not a number" },
		{ GIVEN_SO("", GIVEN_TRIGGERS), "spec.scaleTargetRef.name: missing: name the workload to scale" },
		{ TARGET("'name':''"), "spec.scaleTargetRef.name: missing: name the workload to scale" },
		{ TARGET("'name':'../secrets/x'"),
			"spec.scaleTargetRef.name: \"../secrets/x\" cannot be the name of a workload: lower case "
			"letters, digits, '-' and '.' are allowed" },
		{ TARGET("'name':'a.-b'"),
			"spec.scaleTargetRef.name: \"a.-b\" cannot be the name of a workload: lower case letters, "
			"digits, '-' and '.' are allowed" },
		{ TARGET("'name':'web','kind':'a/b'"),
			"spec.scaleTargetRef.kind: \"a/b\" is not a kind, like Deployment" },
		{ TARGET("'name':'web','apiVersion':'apps/v1/x'"),
			"spec.scaleTargetRef.apiVersion: \"apps/v1/x\" is not a group and version, like apps/v1" },
		{ SPEC("'minReplicaCount':5,'maxReplicaCount':4"),
			"spec.minReplicaCount: 5 is more than maxReplicaCount 4: lower one or raise the other" },
		{ SPEC("'minReplicaCount':101"),
			"spec.minReplicaCount: 101 is more than maxReplicaCount 100 (the default): lower one or raise "
			"the other" },
		{ SPEC("'minReplicaCount':2,'idleReplicaCount':2"),
			"spec.idleReplicaCount: 2 must be less than minReplicaCount 2" },
		{ SPEC("'idleReplicaCount':0"),
			"spec.idleReplicaCount: 0 must be less than minReplicaCount 0 (the default)" },
		{ SPEC("'minReplicaCount':-1"), "spec.minReplicaCount: -1 is too small: at least 0" },
		{ SPEC("'maxReplicaCount':0"), "spec.maxReplicaCount: 0 is too small: at least 1" },
		{ SPEC("'idleReplicaCount':-1"), "spec.idleReplicaCount: -1 is too small: at least 0" },
		{ SPEC("'pollingInterval':0"), "spec.pollingInterval: 0 is too small: at least 1" },
		{ SPEC("'cooldownPeriod':-1"), "spec.cooldownPeriod: -1 is too small: at least 0" },
		{ SPEC("'initialCooldownPeriod':-7"), "spec.initialCooldownPeriod: -7 is too small: at least 0" },
		{ SPEC("'fallback':{'replicas':-1,'failureThreshold':1}"),
			"spec.fallback.replicas: -1 is too small: at least 0" },
		{ SPEC("'fallback':{'replicas':1,'failureThreshold':-2}"),
			"spec.fallback.failureThreshold: -2 is too small: at least 0" },
		{ SPEC("'fallback':{'replicas':1,'failureThreshold':2,'behavior':'none'}"),
			"spec.fallback.behavior: \"none\" is unknown: static, currentReplicas, "
			"currentReplicasIfHigher, currentReplicasIfLower or scalingModifiers" },
		{ GIVEN_SO("",
			  GIVEN_TARGET ",'fallback':{'replicas':1,'failureThreshold':2},'triggers':[{'type':'cpu'},{'"
				       "type':'memory'}]"),
			"spec.fallback: it has no effect on cpu and memory, which the HPA controller reads by itself: "
			"add another trigger or remove it" },
		{ SPEC("'fallback':{'replicas':1,'failureThreshold':2,'behavior':'scalingModifiers'}"),
			"spec.fallback.behavior: scalingModifiers needs a formula: set "
			"spec.advanced.scalingModifiers.formula or choose another behavior" },
		{ ADVANCED("'scalingModifiers':{'target':'2'}"),
			"spec.advanced.scalingModifiers.formula: missing: scalingModifiers do nothing without one" },
		{ ADVANCED("'scalingModifiers':{'formula':'a'}"),
			"spec.advanced.scalingModifiers.target: missing: a formula needs one" },
		{ FORMULA("'target':'0'", ONE),
			"spec.advanced.scalingModifiers.target: \"0\" is not a number of 0.001 or more" },
		{ FORMULA("'target':'-1'", ONE),
			"spec.advanced.scalingModifiers.target: \"-1\" is not a number of 0.001 or more" },
		{ FORMULA("'target':'1m'", ONE),
			"spec.advanced.scalingModifiers.target: \"1m\" is not a number of 0.001 or more" },
		{ FORMULA("'target':' 1'", ONE),
			"spec.advanced.scalingModifiers.target: \" 1\" is not a number of 0.001 or more" },
		{ FORMULA("'target':'inf'", ONE),
			"spec.advanced.scalingModifiers.target: \"inf\" is not a number of 0.001 or more" },
		{ FORMULA("'target':'0.0001'", ONE),
			"spec.advanced.scalingModifiers.target: \"0.0001\" is not a number of 0.001 or more" },
		{ FORMULA("'target':'1e999'", ONE),
			"spec.advanced.scalingModifiers.target: \"1e999\" is not a number of 0.001 or more" },
		{ FORMULA("'target':'1','activationTarget':'x'", ONE),
			"spec.advanced.scalingModifiers.activationTarget: \"x\" is not a number" },
		{ FORMULA("'target':'1','metricType':'Utilization'", ONE),
			"spec.advanced.scalingModifiers.metricType: \"Utilization\" cannot be used for a formula: "
			"AverageValue or Value" },
		{ ADVANCED_FORMULA("a + b"),
			"spec.advanced.scalingModifiers.formula: column 5: unknown name \"b\" (the triggers are a)" },
		{ ADVANCED_FORMULA("a +"),
			"spec.advanced.scalingModifiers.formula: column 4: the formula ends too early" },
		{ GIVEN_SO("",
			  GIVEN_TARGET
			  ",'advanced':{'scalingModifiers':{'formula':'a + b','target':'1'}},'triggers':[" ONE
			  ",{'type':'redis'}]"),
			"spec.advanced.scalingModifiers.formula: column 5: unknown name \"b\" (the triggers are a and "
			"one without a name)" },
		{ TRIGGER("'type':'redis','authenticationRef':{'name':'ta','kind':'Secret'}"),
			"spec.triggers[0].authenticationRef.kind: \"Secret\" is unknown: TriggerAuthentication or "
			"ClusterTriggerAuthentication" },
		{ TRIGGER("'type':'redis','authenticationRef':{'name':''}"),
			"spec.triggers[0].authenticationRef.name: \"\" cannot be the name of an object: lower case "
			"letters, digits, '-' and '.' are allowed" },
		{ ANNOTATED("'autoscaling.keda.sh/paused-replicas':'-1'"),
			"metadata.annotations[autoscaling.keda.sh/paused-replicas]: \"-1\" is not a whole number from "
			"0 to 2147483647" },
		{ GIVEN_SO("", GIVEN_TARGET),
			"spec.triggers: no triggers defined in the ScaledObject: at least one is needed" },
		{ GIVEN_SO("", GIVEN_TARGET ",'triggers':[]"),
			"spec.triggers: no triggers defined in the ScaledObject: at least one is needed" },
		{ TRIGGER("'metadata':{}"),
			"spec.triggers[0].type: missing: say what kind of source it is, like redis" },
		{ TRIGGER("'type':'cron','useCachedMetrics':true"),
			"spec.triggers[0].useCachedMetrics: property \"useCachedMetrics\" is not supported for "
			"\"cron\" scaler: remove it" },
		{ TRIGGER("'type':'redis','metricType':'Sum'"),
			"spec.triggers[0].metricType: \"Sum\" is unknown: AverageValue, Value or, for cpu and memory, "
			"Utilization" },
		{ TRIGGER("'type':'redis','metricType':'Utilization'"),
			"spec.triggers[0].metricType: Utilization is for cpu and memory only: redis needs AverageValue "
			"or Value" },
		{ GIVEN_SO("",
			  GIVEN_TARGET
			  ",'triggers':[{'type':'a','name':'x'},{'type':'b','name':'y'},{'type':'c','name':'x'}]"),
			"spec.triggers: the name \"x\" is used twice: each trigger needs a name of its own" },
		{ "{'metadata':{'name':'" NAME63 "4'},'spec':{" GIVEN_TARGET "," GIVEN_TRIGGERS "}}",
			"metadata.name: \"" NAME63 "4\" has 64 characters: at most 63, as it becomes the value of a "
			"label: create it anew under a shorter name" },
		{ "{'metadata':{'name':'" NAME63 "'},'spec':{" GIVEN_TARGET "," GIVEN_TRIGGERS "}}",
			"the name of the HorizontalPodAutoscaler \"keda-hpa-" NAME63
			"\" has 72 characters: at most 63: set spec.advanced.horizontalPodAutoscalerConfig.name or "
			"shorten metadata.name" },
		{ ADVANCED("'horizontalPodAutoscalerConfig':{'name':'My_HPA'}"),
			"spec.advanced.horizontalPodAutoscalerConfig.name: \"My_HPA\" cannot be the name of an object: "
			"lower case letters, digits, '-' and '.' are allowed" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_refused(validate_alone, cases[i].object, cases[i].message);
}

static void count_faults(void *arg, const struct err *err)
{
	(void)err;
	++*(unsigned *)arg;
}

/* Rules of KEDA's webhook that its reconciler does not have apply to new objects only. */
static void test_stored_objects_go_on(void **state)
{
#define NAMED(name, more) "{'metadata':{'name':'" name "','namespace':'shop'},'spec':{" GIVEN_TARGET more "}}"
	static const struct {
		const char *object, *reason;
	} cases[] = {
		{ NAMED(NAME63, "," GIVEN_TRIGGERS), "hpa-name-too-long" },
		{ NAMED("web",
			  "," GIVEN_TRIGGERS ",'advanced':{'horizontalPodAutoscalerConfig':{'name':'keda-hpa-" NAME63
			  "'}}"),
			"hpa-name-too-long" },
		{ NAMED("web", ",'fallback':{'replicas':1,'failureThreshold':2},'triggers':[{'type':'cpu'}]"),
			"incorrect-fallback" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scaledobject *so = given_scaledobject(cases[i].object);
		struct scaled of = scaled_of_object(so);
		const char *reason = NULL;
		unsigned faults = 0;

		assert_int_equal(validate_admission(of, &reason, NULL), -1);
		assert_string_equal(reason, cases[i].reason);
		assert_int_equal(validate_stored(of, &reason, NULL), 0);
		assert_null(reason);
		assert_int_equal(validate_for_reconcile(of, NULL, NULL), 0);
		validate_every(of, count_faults, &faults);
		assert_int_equal(faults, 0);
		validate_only_new(of, count_faults, &faults);
		assert_int_equal(faults, 1);
		scaledobject_free(so);
	}
	/* Without a lower number there is no way to it; with one its periods are judged. */
	check_passes(validate_alone, SPEC("'minReplicaCount':1,'cooldownPeriod':-1,'initialCooldownPeriod':-1"));
	check_refused(validate_alone, SPEC("'minReplicaCount':2,'idleReplicaCount':0,'cooldownPeriod':-1"),
		"spec.cooldownPeriod: -1 is too small: at least 0");
}

/* The reason for programs besides the text: KEDA's if it has one. */
static void test_reasons(void **state)
{
	static const struct {
		const char *object, *reason;
	} cases[] = {
		{ GIVEN_SO("", GIVEN_TARGET ",'triggers':3"), "incorrect-spec" },
		{ GIVEN_SO("", GIVEN_TRIGGERS), "incorrect-target" },
		{ SPEC("'minReplicaCount':5,'maxReplicaCount':4"), "incorrect-replicas" },
		{ SPEC("'idleReplicaCount':0"), "incorrect-replicas" },
		{ GIVEN_SO("", GIVEN_TARGET), "incorrect-triggers" },
		{ "{'metadata':{'name':'" NAME63 "4'},'spec':{" GIVEN_TARGET "," GIVEN_TRIGGERS "}}", "name-too-long" },
		{ "{'metadata':{'name':'" NAME63 "'},'spec':{" GIVEN_TARGET "," GIVEN_TRIGGERS "}}",
			"hpa-name-too-long" },
		{ ADVANCED("'horizontalPodAutoscalerConfig':{'name':'My_HPA'}"), "incorrect-hpa-name" },
		{ SPEC("'pollingInterval':0"), "incorrect-periods" },
		{ SPEC("'fallback':{'replicas':-1,'failureThreshold':1}"), "incorrect-fallback" },
		{ ANNOTATED("'autoscaling.keda.sh/paused':'yes'"), "incorrect-annotations" },
		{ ADVANCED("'scalingModifiers':{'target':'1'}"), "scaling-modifiers" },
		{ SPEC("'fallback':{'replicas':1,'failureThreshold':1,'behavior':'scalingModifiers'}"),
			"scaling-modifiers-fallback" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scaledobject *so = given_scaledobject(cases[i].object);
		const char *reason = "";

		assert_int_equal(validate_admission(scaled_of_object(so), &reason, NULL), -1);
		assert_string_equal(reason, cases[i].reason);
		scaledobject_free(so);
	}
	{
		struct scaledobject *so = given_scaledobject(SPEC("'minReplicaCount':1"));
		const char *reason = "";

		assert_int_equal(validate_admission(scaled_of_object(so), &reason, NULL), 0);
		assert_null(reason);
		scaledobject_free(so);
	}
}

#define POLLING                                                                                                        \
	"spec.pollingInterval has no effect on scaling: it matters when minReplicaCount or idleReplicaCount is 0, or " \
	"a trigger has useCachedMetrics"
#define COOLDOWN "spec.cooldownPeriod has no effect: it matters when minReplicaCount or idleReplicaCount is 0"
#define IDLE                                                                                                           \
	"spec.idleReplicaCount of more than 0 does not hold: the HPA goes on and raises the workload to "              \
	"minReplicaCount again, and so on in turns: only 0 stops it"
#define CRON_BY_VALUE                                                                                                  \
	"spec.triggers: metricType Value of a cron trigger makes the HPA multiply the replicas that there are by "     \
	"desiredReplicas, again and again up to maxReplicaCount: leave it out"

static void test_warnings(void **state)
{
	static const struct {
		const char *object, *first, *second;
	} cases[] = {
		{ SPEC("'minReplicaCount':2"), NULL, NULL },
		{ SPEC("'pollingInterval':5,'cooldownPeriod':5"), NULL, NULL },
		{ SPEC("'pollingInterval':5,'cooldownPeriod':5,'minReplicaCount':0"), NULL, NULL },
		{ SPEC("'pollingInterval':5,'cooldownPeriod':5,'minReplicaCount':2,'idleReplicaCount':0"), NULL, NULL },
		{ SPEC("'pollingInterval':5,'cooldownPeriod':5,'minReplicaCount':2"), POLLING, COOLDOWN },
		{ SPEC("'pollingInterval':5,'minReplicaCount':2"), POLLING, NULL },
		{ SPEC("'cooldownPeriod':5,'minReplicaCount':2"), COOLDOWN, NULL },
		{ SPEC("'pollingInterval':5,'cooldownPeriod':5,'minReplicaCount':3,'idleReplicaCount':1"), IDLE, NULL },
		{ SPEC("'minReplicaCount':3,'idleReplicaCount':2"), IDLE, NULL },
		{ GIVEN_SO("",
			  GIVEN_TARGET ",'pollingInterval':5,'cooldownPeriod':5,'minReplicaCount':1,'triggers':[{'type'"
				       ":'a'},{'type':'b','useCachedMetrics':true}]"),
			COOLDOWN, NULL },
		{ GIVEN_SO("",
			  GIVEN_TARGET ",'triggers':[{'type':'redis','metricType':'Value'},{'type':'cron','metricType':"
				       "'AverageValue'}]"),
			NULL, NULL },
		{ GIVEN_SO("",
			  GIVEN_TARGET ",'cooldownPeriod':5,'minReplicaCount':1,'triggers':[{'type':'cron','metricType'"
				       ":'Value'},{'type':'cron','metricType':'Value'}]"),
			COOLDOWN, CRON_BY_VALUE },
		{ GIVEN_SO("",
			  GIVEN_TARGET ",'advanced':{'scalingModifiers':{'formula':'c','target':'2'}},'triggers':[{'"
				       "type':'cron','name':'c','metricType':'Value'}]"),
			NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scaledobject *so = given_scaledobject(cases[i].object);
		const char *texts[VALIDATE_WARNINGS_MAX] = { NULL, NULL };

		assert_int_equal(validate_warnings(so, texts), (cases[i].first != NULL) + (cases[i].second != NULL));
		if (cases[i].first != NULL)
			assert_string_equal(texts[0], cases[i].first);
		if (cases[i].second != NULL)
			assert_string_equal(texts[1], cases[i].second);
		scaledobject_free(so);
	}
}

/* KEDA's step texts in front. */
static void test_for_reconcile(void **state)
{
	(void)state;
	check_passes(validate_reconciled, GIVEN_SO("", GIVEN_TARGET "," GIVEN_TRIGGERS));
	check_refused(validate_reconciled, GIVEN_SO("", GIVEN_TRIGGERS),
		"ScaledObject doesn't have correct scaleTargetRef specification: spec.scaleTargetRef.name: missing: "
		"name the workload to scale");
	check_refused(validate_reconciled, SPEC("'maxReplicaCount':0"),
		"ScaledObject doesn't have correct Idle/Min/Max Replica Counts specification: spec.maxReplicaCount: 0 "
		"is too small: at least 1");
	check_refused(validate_reconciled, GIVEN_SO("", GIVEN_TARGET),
		"ScaledObject doesn't have correct triggers specification: spec.triggers: no triggers defined in the "
		"ScaledObject: at least one is needed");
	check_refused(validate_reconciled, GIVEN_SO("", GIVEN_TARGET ",'triggers':3"),
		"spec.triggers: must be an array, not a number");
	check_refused(validate_reconciled, SPEC("'pollingInterval':0"),
		"spec.pollingInterval: 0 is too small: at least 1");
}

/* A name of any length and any bytes gives a message, not an overflow. */
static void test_long_texts(void **state)
{
	size_t len = 100000;
	char *name = mem_zalloc(len + 1), *text;

	(void)state;
	memset(name, 'x', len);
	text = mem_printf("{'metadata':{'name':'web','annotations':{'autoscaling.keda.sh/"
			  "%s':''}},'spec':{'scaleTargetRef':{'name':'%s','kind':'%s','apiVersion':'%s/"
			  "v1'},'advanced':{'horizontalPodAutoscalerConfig':{'name':'%s'}},"
			  "'triggers':[{'type':'%s','name':'%s','metricType':'%s'}]}}",
		name, name, name, name, name, name, name, name);
	{
		struct scaledobject *so = given_scaledobject(text);
		struct err err = { 0 };

		assert_int_equal(validate_admission(scaled_of_object(so), NULL, &err), -1);
		free(so->spec.target_name);
		so->spec.target_name = mem_dup("web");
		assert_int_equal(validate_admission(scaled_of_object(so), NULL, &err), -1);
		assert_has(err.msg, "kind");
		free(so->spec.target_kind);
		so->spec.target_kind = NULL;
		assert_int_equal(validate_admission(scaled_of_object(so), NULL, &err), -1);
		assert_has(err.msg, "apiVersion");
		free(so->spec.target_api_version);
		so->spec.target_api_version = NULL;
		assert_int_equal(validate_admission(scaled_of_object(so), NULL, &err), -1);
		assert_has(err.msg, "metricType");
		free(so->spec.triggers[0].metric_type);
		so->spec.triggers[0].metric_type = NULL;
		assert_int_equal(validate_admission(scaled_of_object(so), NULL, &err), -1);
		assert_has(err.msg, "HorizontalPodAutoscaler");
		scaledobject_free(so);
	}
	free(text);
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_stored_objects_go_on),
		cmocka_unit_test(test_warnings),
		cmocka_unit_test(test_for_reconcile),
		cmocka_unit_test(test_long_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
