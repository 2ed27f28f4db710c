/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/conditions.h"

#include "../crd/given.h"
#include "said.h"

#define T          1767323045000 /* 2026-01-02T03:04:05Z */
#define GENERATION ",'generation':4"

static const struct metric_spec metrics[] = {
	{ .name = "s0-redis-jobs", .target = { 5000, QUANTITY_DECIMAL_SI } },
	{ .name = "s1-redis-mail", .target = { 5000, QUANTITY_DECIMAL_SI } },
};

static const struct annotations unpaused = { .paused_replicas = INT32_UNSET };

static const struct reconcile_outcome all_set_up = {
	.annotations = &unpaused,
	.group = "apps",
	.version = "v1",
	.kind = "Deployment",
	.resource = "deployments",
	.replicas = 3,
	.hpa_name = "keda-hpa-web",
	.metrics = metrics,
	.metric_count = 2,
};

static struct scaledobject *object_of(const char *spec, const char *status)
{
	char *text = mem_printf("{'metadata':{'name':'web','namespace':'shop','uid':'u'" GENERATION
				"},'spec':{" GIVEN_TARGET
				"%s,'triggers':[{'type':'redis','metadata':{},'authenticationRef':{'name':'one'}},{'"
				"type':'redis','metadata':{}},{'type':'cron','metadata':{},'authenticationRef':{'name':"
				"'two'}}]},'status':%s}",
		spec, status);
	struct scaledobject *so = given_scaledobject(text);

	free(text);
	return so;
}

static struct scaledobject *object_with(const char *status)
{
	return object_of("", status);
}

#define READY       "True ScaledObjectReady: ScaledObject is defined correctly and is ready for scaling"
#define NO_FALLBACK "False NoFallbackFound: No fallbacks are active on this scaled object"

/* ---- After a reconcile ---- */

static void test_first_reconcile(void **state)
{
	struct scaledobject *so = object_with("null");
	json_t *encoded, *wanted;

	(void)state;
	conditions_after_reconcile(so, &all_set_up, T, &so->status);
	encoded = scaledobject_status_encode(&so->status);
	wanted = given_json(
		"{'scaleTargetKind':'apps/"
		"v1.Deployment','scaleTargetGVKR':{'group':'apps','version':'v1','kind':'Deployment','resource':'"
		"deployments'},'originalReplicaCount':3,"
		"'externalMetricNames':['s0-redis-jobs','s1-redis-mail'],'hpaName':'keda-hpa-web','triggersTypes':'"
		"redis,cron','authenticationsTypes':'one,two','conditions':["
		"{'type':'Ready','status':'True','reason':'ScaledObjectReady','message':'ScaledObject is defined "
		"correctly and is ready for "
		"scaling','lastTransitionTime':'2026-01-02T03:04:05Z','observedGeneration':4},"
		"{'type':'Active','status':'Unknown','lastTransitionTime':'2026-01-02T03:04:05Z','observedGeneration':"
		"4},"
		"{'type':'Fallback','status':'False','reason':'NoFallbackFound','message':'No fallbacks are active on "
		"this scaled object','lastTransitionTime':'2026-01-02T03:04:05Z','observedGeneration':4},"
		"{'type':'Paused','status':'False','lastTransitionTime':'2026-01-02T03:04:05Z','observedGeneration':4}]"
		"}");
	if (!json_equal(encoded, wanted))
		fail_msg("%s", json_text(encoded));
	json_decref(encoded);
	json_decref(wanted);
	scaledobject_free(so);
}

static void test_reconcile_again_changes_nothing(void **state)
{
	struct scaledobject *so = object_with("null");
	struct scaledobject_status again = { 0 };

	(void)state;
	conditions_after_reconcile(so, &all_set_up, T, &so->status);
	scaledobject_status_copy(&again, &so->status);
	conditions_after_reconcile(so, &all_set_up, T + 60000, &again);
	assert_null(scaledobject_status_patch(&so->status, &again, true));
	scaledobject_status_done(&again);
	scaledobject_free(so);
}

static void test_reconcile_failed(void **state)
{
	struct scaledobject *so = object_with("{'externalMetricNames':['s0-redis-jobs'],'hpaName':'old','"
					      "triggersActivity':{'s0-redis-jobs':{'isActive':true}}}");
	struct err err = { .kind = ERR_INVALID,
		.msg = "ScaledObject doesn't have correct scaleTargetRef specification: no such thing" };
	struct reconcile_outcome failed = { .err = &err, .replicas = INT32_UNSET };

	(void)state;
	conditions_after_reconcile(so, &failed, T, &so->status);
	assert_string_equal(said(&so->status, "Ready"),
		"False ScaledObjectCheckFailed: ScaledObject doesn't have correct scaleTargetRef specification: no "
		"such thing");
	assert_string_equal(said(&so->status, "Active"), "Unknown UnknownState: ScaledObject check failed");
	assert_string_equal(said(&so->status, "Fallback"), NO_FALLBACK);
	assert_string_equal(said(&so->status, "Paused"), "False : ");
	/* known values stay */
	assert_int_equal(so->status.external_metric_count, 1);
	assert_int_equal(so->status.activity_count, 1);
	assert_string_equal(so->status.hpa_name, "old");
	assert_int_equal(so->status.original_replicas, INT32_UNSET);
	assert_null(so->status.target_kind);
	assert_string_equal(so->status.triggers_types, "redis,cron");
	/* and when it is valid again, Ready says so; Active waits for a tick */
	conditions_after_reconcile(so, &all_set_up, T, &so->status);
	assert_string_equal(said(&so->status, "Ready"), READY);
	assert_string_equal(said(&so->status, "Active"), "Unknown UnknownState: ScaledObject check failed");
	scaledobject_free(so);
}

/* The first count is kept, whatever the target has later; entries of metrics that are gone go. */
static void test_reconcile_keeps_and_prunes(void **state)
{
	struct scaledobject *so = object_of(",'fallback':{'failureThreshold':3,'replicas':6}",
		"{'originalReplicaCount':0,'externalMetricNames':['s0-redis-jobs','s1-old'],'resourceMetricNames':['"
		"cpu'],'compositeScalerName':'composite-metric',"
		"'health':{'s1-old':{'numberOfFailures':1,'status':'Failing'},'s0-redis-jobs':{'numberOfFailures':2,'"
		"status':'Failing'}},"
		"'triggersActivity':{'s1-old':{'isActive':true},'s0-redis-jobs':{'isActive':true},'s2-old':{'isActive':"
		"true}}}");

	(void)state;
	conditions_after_reconcile(so, &all_set_up, T, &so->status);
	assert_int_equal(so->status.original_replicas, 0);
	assert_int_equal(so->status.external_metric_count, 2);
	assert_string_equal(so->status.external_metric_names[1], "s1-redis-mail");
	assert_int_equal(so->status.resource_metric_count, 0);
	assert_null(so->status.composite_scaler_name);
	assert_int_equal(so->status.health_count, 1);
	assert_string_equal(so->status.health[0].metric, "s0-redis-jobs");
	assert_int_equal(so->status.activity_count, 1);
	assert_string_equal(so->status.activity[0].metric, "s0-redis-jobs");
	scaledobject_free(so);
}

/* A successful reconcile does not hide the loop's findings, but replaces anything else. */
static void test_reconcile_leaves_the_loops_ready(void **state)
{
	static const struct {
		const char *ready, *after;
	} cases[] = {
		{ "'False','reason':'TriggerError','message':'m'", "False TriggerError: m" },
		{ "'Unknown','reason':'PartialTriggerError','message':'m'", "Unknown PartialTriggerError: m" },
		{ "'False','reason':'ErrorGettingCurrentReplicas','message':'m'",
			"False ErrorGettingCurrentReplicas: m" },
		{ "'False','reason':'ScaledObjectCheckFailed','message':'m'", READY },
		{ "'Unknown'", READY },
		{ "'True','reason':'ScaledObjectReady','message':'ScaledObject is paused'", READY },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *status = mem_printf("{'conditions':[{'type':'Ready','status':%s,'observedGeneration':1}]}",
			cases[i].ready);
		struct scaledobject *so = object_with(status);

		conditions_after_reconcile(so, &all_set_up, T, &so->status);
		assert_string_equal(said(&so->status, "Ready"), cases[i].after);
		assert_int_equal(conditions_get(&so->status.conditions, "Ready")->observed_generation, 4);
		scaledobject_free(so);
		free(status);
	}
}

/* An object that KEDA left paused, or falling back. */
static void test_reconcile_after_keda(void **state)
{
	struct scaledobject *so = object_with(
		"{'pausedReplicaCount':3,'conditions':[{'type':'Ready','status':'True'},{'type':'Active','status':'"
		"False'},{'type':'Fallback','status':'True','reason':'FallbackExists','message':'x'},"
		"{'type':'Paused','status':'True','reason':'ScaledObjectPaused','message':'ScaledObject is paused'}]}");
	struct err err = { .kind = ERR_INVALID, .msg = "m" };
	struct reconcile_outcome failed = { .err = &err, .replicas = INT32_UNSET };

	(void)state;
	conditions_after_reconcile(so, &failed, T, &so->status);
	assert_string_equal(said(&so->status, "Paused"), "True ScaledObjectPaused: ScaledObject is paused");
	assert_int_equal(so->status.paused_replicas, 3);
	conditions_after_reconcile(so, &all_set_up, T, &so->status);
	assert_string_equal(said(&so->status, "Paused"),
		"False ScaledObjectUnpaused: pause annotation removed for ScaledObject");
	assert_string_equal(said(&so->status, "Fallback"), NO_FALLBACK);
	assert_int_equal(so->status.paused_replicas, INT32_UNSET);
	scaledobject_free(so);
}

static void test_core_group(void **state)
{
	struct reconcile_outcome core = all_set_up;
	struct scaledobject *so = object_with("null");

	(void)state;
	core.group = "";
	conditions_after_reconcile(so, &core, T, &so->status);
	assert_string_equal(so->status.target_kind, "/v1.Deployment");
	assert_string_equal(so->status.gvkr_group, "");
	scaledobject_free(so);
}

static void test_broken_spec(void **state)
{
	struct scaledobject *so = given_scaledobject(
		"{'metadata':{'name':'web'},'spec':{'triggers':[3]},'status':{'triggersTypes':'redis'}}");
	struct reconcile_outcome failed = { .err = so->spec_err, .replicas = INT32_UNSET };

	(void)state;
	conditions_after_reconcile(so, &failed, T, &so->status);
	assert_string_equal(so->status.triggers_types, "redis");
	scaledobject_free(so);
}

/* ---- After a tick ---- */

struct tick {
	struct verdict_trigger triggers[2];
	struct scale_facts facts;
	struct scale_decision d;
};

static const struct err source_down = { .kind = ERR_TEMPORARY, .msg = "down" };

static void tick(const struct scaledobject *so, const char *letters, int32_t replicas, int64_t last_active, int64_t now,
	const struct hpa *hpa, struct scaledobject_status *status, struct tick *t)
{
	*t = (struct tick){ .facts = { .spec = &so->spec,
				    .now_unix_ms = now,
				    .triggers = t->triggers,
				    .trigger_count = 2,
				    .replicas_known = replicas >= 0,
				    .replicas = replicas,
				    .last_active_unix_ms = last_active } };
	for (int i = 0; i < 2; i++)
		t->triggers[i] = (struct verdict_trigger){ .metric_name = metrics[i].name,
			.reading = { 1, letters[i] != 'i' },
			.err = letters[i] == 'E' ? &source_down : NULL };
	t->d = scale_decide(&t->facts);
	conditions_after_tick(so, &t->facts, &t->d, hpa, now, status);
}

static struct scaledobject *reconciled(void)
{
	struct scaledobject *so = object_with("null");

	conditions_after_reconcile(so, &all_set_up, T, &so->status);
	return so;
}

/*
 * A life: quiet, active for long, failing for a moment, quiet again, asleep. Each step has the
 * expected writes.
 */
static void test_life(void **state)
{
	static const struct {
		const char *letters;
		int32_t replicas;
		int64_t after_ms;
		int64_t last_active_ms;
		bool written;
		const char *ready, *active;
		int64_t stored_ms;
	} steps[] = {
		{ "ii", 0, 0, 0, true, READY,
			"False ScalerNotActive: Scaling is not performed because triggers are not active", 0 },
		{ "ii", 0, 5000, 0, false, READY,
			"False ScalerNotActive: Scaling is not performed because triggers are not active", 0 },
		{ "iA", 0, 10000, 0, true, READY, "True ScalerActive: Scaling is performed because triggers are active",
			10000 },
		{ "iA", 1, 15000, 10000, false, READY,
			"True ScalerActive: Scaling is performed because triggers are active", 10000 },
		{ "iA", 4, 600000, 595000, false, READY,
			"True ScalerActive: Scaling is performed because triggers are active", 10000 },
		{ "EA", 4, 605000, 600000, true,
			"Unknown PartialTriggerError: Some triggers defined in ScaledObject are not working correctly: "
			"s0-redis-jobs: down",
			"True ScalerActive: Scaling is performed because triggers are active", 10000 },
		{ "iA", 4, 610000, 605000, true, READY,
			"True ScalerActive: Scaling is performed because triggers are active", 10000 },
		{ "ii", 4, 615000, 610000, true, READY,
			"False ScalerCooldown: Scaler cooling down because triggers are not active", 610000 },
		{ "ii", 4, 620000, 610000, false, READY,
			"False ScalerCooldown: Scaler cooling down because triggers are not active", 610000 },
		{ "iE", 4, 625000, 610000, true,
			"False TriggerError: Triggers defined in ScaledObject are not working correctly: "
			"s1-redis-mail: down",
			"False ScalerNotActive: Scaling is not performed because triggers are not active", 610000 },
		{ "iE", 4, 630000, 610000, false,
			"False TriggerError: Triggers defined in ScaledObject are not working correctly: "
			"s1-redis-mail: down",
			"False ScalerNotActive: Scaling is not performed because triggers are not active", 610000 },
		{ "ii", 4, 915000, 610000, true, READY,
			"False ScalerNotActive: Scaling is not performed because triggers are not active", 610000 },
		{ "ii", 0, 920000, 610000, false, READY,
			"False ScalerNotActive: Scaling is not performed because triggers are not active", 610000 },
		{ "ii", -1, 925000, 610000, true,
			"False ErrorGettingCurrentReplicas: Error getting current replicas count for ScaleTarget",
			"False ScalerNotActive: Scaling is not performed because triggers are not active", 610000 },
	};
	struct scaledobject *so = reconciled();

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct scaledobject_status before = { 0 };
		struct tick t;
		char *patch;

		scaledobject_status_copy(&before, &so->status);
		tick(so, steps[i].letters, steps[i].replicas, steps[i].last_active_ms ? T + steps[i].last_active_ms : 0,
			T + steps[i].after_ms, NULL, &so->status, &t);
		patch = scaledobject_status_patch(&before, &so->status, true);
		if ((patch != NULL) != steps[i].written)
			fail_msg("step %zu: %s", i, patch != NULL ? patch : "nothing is written");
		assert_string_equal(said(&so->status, "Ready"), steps[i].ready);
		assert_string_equal(said(&so->status, "Active"), steps[i].active);
		assert_int_equal(so->status.last_active_unix_ms, steps[i].stored_ms ? T + steps[i].stored_ms : 0);
		free(patch);
		scaledobject_status_done(&before);
	}
	scaledobject_free(so);
}

static void test_activity(void **state)
{
	struct scaledobject *so = reconciled();
	struct tick t;

	(void)state;
	tick(so, "AE", 1, 0, T, NULL, &so->status, &t);
	assert_int_equal(so->status.activity_count, 2);
	assert_string_equal(so->status.activity[0].metric, "s0-redis-jobs");
	assert_true(so->status.activity[0].active);
	assert_false(so->status.activity[1].active); /* failing: its reading does not count */
	/* a tick without answers knows nothing */
	t.facts.trigger_count = 0;
	t.d = scale_decide(&t.facts);
	conditions_after_tick(so, &t.facts, &t.d, NULL, T, &so->status);
	assert_true(so->status.activity[0].active);
	assert_string_equal(said(&so->status, "Ready"),
		"Unknown PartialTriggerError: Some triggers defined in ScaledObject are not working correctly: "
		"s1-redis-mail: down");
	assert_string_equal(said(&so->status, "Active"),
		"True ScalerActive: Scaling is performed because triggers are active");
	scaledobject_free(so);
}

/*
 * A text that differs at each poll would be a write at each poll: the cause is repeated only when
 * it is new.
 */
static void test_cause(void **state)
{
	struct scaledobject *so = reconciled();
	static const struct err refused = { .kind = ERR_TEMPORARY, .msg = "timed out after 17 ms" },
				password = { .kind = ERR_DENIED, .msg = "WRONGPASS" };
	struct tick t;

	(void)state;
	tick(so, "Ei", 1, 0, T, NULL, &so->status, &t);
	assert_string_equal(said(&so->status, "Ready"),
		"False TriggerError: Triggers defined in ScaledObject are not working correctly: s0-redis-jobs: down");
	t.triggers[0].err = &refused;
	conditions_after_tick(so, &t.facts, &t.d, NULL, T, &so->status);
	assert_string_equal(said(&so->status, "Ready"),
		"False TriggerError: Triggers defined in ScaledObject are not working correctly: s0-redis-jobs: down");
	t.triggers[0].err = &password;
	t.facts.cause_is_news = true;
	conditions_after_tick(so, &t.facts, &t.d, NULL, T, &so->status);
	assert_string_equal(said(&so->status, "Ready"),
		"False TriggerError: Triggers defined in ScaledObject are not working correctly: s0-redis-jobs: "
		"WRONGPASS");
	tick(so, "ii", 1, 0, T, NULL, &so->status, &t);
	assert_string_equal(said(&so->status, "Ready"), READY);
	scaledobject_free(so);
}

/*
 * A loop that still runs with the last valid spec neither hides a failed reconcile nor writes at
 * each tick.
 */
static void test_tick_beside_failed_check(void **state)
{
	struct scaledobject *so = reconciled();
	struct err err = { .kind = ERR_INVALID, .msg = "wrong" };
	struct reconcile_outcome failed = { .err = &err, .replicas = INT32_UNSET };
	struct scaledobject_status before = { 0 };
	struct tick t;

	(void)state;
	conditions_after_reconcile(so, &failed, T, &so->status);
	tick(so, "AA", 3, 0, T + 5000, NULL, &so->status, &t);
	assert_string_equal(said(&so->status, "Ready"), "False ScaledObjectCheckFailed: wrong");
	assert_string_equal(said(&so->status, "Active"), "Unknown UnknownState: ScaledObject check failed");
	scaledobject_status_copy(&before, &so->status);
	tick(so, "AA", 3, T + 5000, T + 10000, NULL, &so->status, &t);
	assert_null(scaledobject_status_patch(&before, &so->status, true));
	scaledobject_status_done(&before);
	scaledobject_free(so);
}

/* Whose replicas cannot be read writes no time at each tick either. */
static void test_tick_with_unknown_replicas(void **state)
{
	struct scaledobject *so = reconciled();
	struct scaledobject_status before = { 0 };
	struct tick t;

	(void)state;
	tick(so, "AA", -1, 0, T + 5000, NULL, &so->status, &t);
	scaledobject_status_copy(&before, &so->status);
	tick(so, "AA", -1, T + 5000, T + 10000, NULL, &so->status, &t);
	assert_null(scaledobject_status_patch(&before, &so->status, true));
	scaledobject_status_done(&before);
	scaledobject_free(so);
}

static void test_hpa_active(void **state)
{
	static const struct {
		const char *condition, *said;
	} cases[] = {
		{ "'status':'True','reason':'ValidMetricFound','message':'m'",
			"True HPAActive: HPA is actively scaling" },
		{ "'status':'False','reason':'ScalingDisabled','message':'scaling is disabled since the replica count "
		  "of the target is zero'",
			"True ScalingDisabled: scaling is disabled since the replica count of the target is zero" },
		{ "'status':'False','reason':'FailedGetExternalMetric','message':'the metric'",
			"False FailedGetExternalMetric: HPA is not actively scaling: the metric" },
		{ "'status':'False','message':'x'", "False HPAMetricsUnavailable: HPA is not actively scaling: x" },
		{ "'status':'Unknown','reason':'r','message':'x'", "False r: HPA is not actively scaling: x" },
		{ "'reason':'r'", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text =
			mem_printf("{'metadata':{'name':'h'},'status':{'conditions':[{'type':'ScalingActive',%s}]}}",
				cases[i].condition);
		json_t *object = given_json(text);
		struct hpa *hpa = hpa_decode(object, NULL);
		struct scaledobject *so = reconciled();
		struct tick t;

		tick(so, "ii", -1, 0, T, hpa, &so->status, &t); /* not on KEDA's early return */
		assert_string_equal(said(&so->status, "HPAActive"), "");
		tick(so, "ii", 0, 0, T, hpa, &so->status, &t);
		assert_string_equal(said(&so->status, "HPAActive"), cases[i].said);
		assert_string_equal(said(&so->status, "Ready"), READY);
		tick(so, "ii", 0, 0, T, NULL, &so->status, &t);
		assert_string_equal(said(&so->status, "HPAActive"), cases[i].said);
		scaledobject_free(so);
		hpa_free(hpa);
		json_decref(object);
		free(text);
	}
}

/* No tick may come while the check fails; the HPA works on, and its state is still reported. */
static void test_hpa_active_beside_failed_check(void **state)
{
	json_t *object = given_json("{'metadata':{'name':'h'},'status':{'conditions':[{'type':'ScalingActive','status':"
				    "'False','reason':'FailedGetExternalMetric','message':'the metric'}]}}");
	struct hpa *hpa = hpa_decode(object, NULL);
	struct scaledobject *so = reconciled();
	struct err err = { .kind = ERR_MISSING, .msg = "there is no Secret" };
	struct reconcile_outcome o = all_set_up;

	(void)state;
	o.hpa = hpa;
	conditions_after_reconcile(so, &o, T, &so->status);
	assert_string_equal(said(&so->status, "HPAActive"), ""); /* the ticks say it */
	o.err = &err;
	conditions_after_reconcile(so, &o, T, &so->status);
	assert_string_equal(said(&so->status, "HPAActive"),
		"False FailedGetExternalMetric: HPA is not actively scaling: the metric");
	o.hpa = NULL;
	conditions_after_reconcile(so, &o, T, &so->status);
	assert_string_equal(said(&so->status, "HPAActive"),
		"False FailedGetExternalMetric: HPA is not actively scaling: the metric");
	scaledobject_free(so);
	hpa_free(hpa);
	json_decref(object);
}

/* ---- Pausing ---- */

static void reconcile_with(struct scaledobject *so, const struct annotations *says, const struct err *err)
{
	struct reconcile_outcome o = all_set_up;

	o.annotations = says;
	o.err = err;
	conditions_after_reconcile(so, &o, T, &so->status);
}

#define PAUSED       "True ScaledObjectPaused: ScaledObject is paused"
#define UNPAUSED     "False ScaledObjectUnpaused: pause annotation removed for ScaledObject"
#define READY_PAUSED "True ScaledObjectReady: ScaledObject is paused"

static void test_pausing(void **state)
{
	static const struct err wrong = { .kind = ERR_INVALID, .msg = "wrong" };
	static const struct {
		struct annotations says;
		const struct err *err;
		const char *paused, *ready;
		int32_t replicas;
	} steps[] = {
		{ { .paused_replicas = INT32_UNSET }, NULL, "False : ", READY, INT32_UNSET },
		{ { .paused = true, .paused_replicas = INT32_UNSET }, NULL, PAUSED, READY_PAUSED, INT32_UNSET },
		{ { .paused = true, .paused_replicas = 0 }, NULL, PAUSED, READY_PAUSED, 0 },
		{ { .paused = true, .paused_replicas = 4 }, NULL, PAUSED, READY_PAUSED, 4 },
		{ { .paused = true, .paused_replicas = 5 }, &wrong, PAUSED, "False ScaledObjectCheckFailed: wrong", 5 },
		{ { .scale_in_paused = true, .paused_replicas = INT32_UNSET }, NULL, PAUSED, READY, INT32_UNSET },
		{ { .scale_out_paused = true, .paused_replicas = INT32_UNSET }, NULL, PAUSED, READY, INT32_UNSET },
		{ { .force_active = true, .paused_replicas = INT32_UNSET }, NULL, UNPAUSED, READY, INT32_UNSET },
		{ { .paused = true, .paused_replicas = 4 }, NULL, PAUSED, READY_PAUSED, 4 },
		{ { .paused_replicas = INT32_UNSET }, &wrong, UNPAUSED, "False ScaledObjectCheckFailed: wrong",
			INT32_UNSET },
	};
	struct scaledobject *so = object_with("null");

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		reconcile_with(so, &steps[i].says, steps[i].err);
		if (strcmp(said(&so->status, "Paused"), steps[i].paused) != 0)
			fail_msg("step %zu: %s", i, said(&so->status, "Paused"));
		assert_string_equal(said(&so->status, "Ready"), steps[i].ready);
		assert_int_equal(so->status.paused_replicas, steps[i].replicas);
	}
	scaledobject_free(so);
}

/* The loop's last findings do not stay while it is stopped. */
static void test_pausing_while_failing(void **state)
{
	static const struct annotations paused = { .paused = true, .paused_replicas = INT32_UNSET };
	struct scaledobject *so = object_with(
		"{'conditions':[{'type':'Ready','status':'False','reason':'TriggerError','message':'m'},{'type':'"
		"Active','status':'True','reason':'ScalerActive'}]}");

	(void)state;
	reconcile_with(so, &paused, NULL);
	assert_string_equal(said(&so->status, "Ready"), READY_PAUSED);
	assert_string_equal(said(&so->status, "Active"), "True ScalerActive: ");
	reconcile_with(so, &unpaused, NULL);
	assert_string_equal(said(&so->status, "Ready"), READY);
	scaledobject_free(so);
}

/*
 * A paused or refused object has no HPA and nothing that falls back; one that is paused in part has
 * both.
 */
static void test_pausing_removes_the_hpas_condition(void **state)
{
	static const struct annotations paused = { .paused = true, .paused_replicas = INT32_UNSET },
					in_part = { .scale_in_paused = true, .paused_replicas = INT32_UNSET };
	static const struct err another = { .kind = ERR_INVALID, .msg = "another was first" };
	static const struct {
		const struct annotations *says;
		const struct err *err;
		bool no_hpa;
		const char *fallback, *hpa_active;
	} rows[] = {
		{ &paused, NULL, true, "False NoFallbackFound: No fallbacks are active on this scaled object", "" },
		{ &in_part, NULL, false, "True FallbackExists: m", "True HPAActive: m" },
		{ &unpaused, &another, true, "False NoFallbackFound: No fallbacks are active on this scaled object",
			"" },
		{ &unpaused, &another, false, "True FallbackExists: m", "True HPAActive: m" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct scaledobject *so = object_of(",'fallback':{'failureThreshold':1,'replicas':2}",
			"{'conditions':[{'type':'HPAActive','status':'True','reason':'HPAActive','message':'m'},"
			"{'type':'Fallback','status':'True','reason':'FallbackExists','message':'m'}]}");
		struct reconcile_outcome o = all_set_up;

		o.annotations = rows[i].says;
		o.err = rows[i].err;
		o.no_hpa = rows[i].no_hpa;
		conditions_after_reconcile(so, &o, T, &so->status);
		assert_string_equal(said(&so->status, "Fallback"), rows[i].fallback);
		assert_string_equal(said(&so->status, "HPAActive"), rows[i].hpa_active);
		scaledobject_free(so);
	}
}

/* Annotations that cannot be read say nothing. */
static void test_pause_unreadable(void **state)
{
	static const struct annotations paused = { .paused = true, .paused_replicas = 4 };
	static const struct err wrong = { .kind = ERR_INVALID, .msg = "neither true nor false" };
	struct scaledobject *so = object_with("null");

	(void)state;
	reconcile_with(so, &paused, NULL);
	reconcile_with(so, NULL, &wrong);
	assert_string_equal(said(&so->status, "Paused"), PAUSED);
	assert_int_equal(so->status.paused_replicas, 4);
	scaledobject_free(so);
}

/* ---- Metrics of all kinds ---- */

static void test_metric_kinds(void **state)
{
	static const struct metric_spec kinds[] = {
		{ .kind = METRIC_RESOURCE, .name = "memory" },
		{ .name = "s1-redis-mail" },
		{ .kind = METRIC_CONTAINER_RESOURCE, .name = "cpu", .container = "app" },
		{ .kind = METRIC_RESOURCE, .name = "cpu" },
	};
	struct reconcile_outcome o = all_set_up;
	struct scaledobject *so = object_of(",'advanced':{'scalingModifiers':{'formula':'a','target':'1'}}", "null");

	(void)state;
	o.metrics = kinds;
	o.metric_count = 4;
	conditions_after_reconcile(so, &o, T, &so->status);
	assert_int_equal(so->status.external_metric_count, 1);
	assert_string_equal(so->status.external_metric_names[0], "s1-redis-mail");
	assert_int_equal(so->status.resource_metric_count, 2);
	assert_string_equal(so->status.resource_metric_names[0], "memory");
	assert_string_equal(so->status.resource_metric_names[1], "cpu");
	assert_string_equal(so->status.composite_scaler_name, "composite-metric");
	scaledobject_free(so);
}

/* ---- Fallback and health ---- */

/* A tick that changes nothing else, as its Ready waits. */
static void after_failures(const struct scaledobject *so, const struct verdict_trigger *triggers, size_t count,
	bool cause_is_news, int64_t now_unix_ms, struct scaledobject_status *status)
{
	const struct scale_facts facts = { .triggers = triggers,
		.trigger_count = count,
		.cause_is_news = cause_is_news,
		.ready_waits = true };
	const struct scale_decision d = { .rule = SCALE_RULE_REPLICAS_UNKNOWN };

	conditions_after_tick(so, &facts, &d, NULL, now_unix_ms, status);
}

#define FALLING       "True FallbackExists: At least one trigger is falling back on this scaled object"
#define WITH_FALLBACK ",'fallback':{'failureThreshold':3,'replicas':6}"

static void test_health(void **state)
{
	/* failures of both metrics, then the status of both: "failures status" */
	static const struct {
		int32_t failures[2];
		const char *trouble;
		bool written;
		const char *fallback, *health;
	} steps[] = {
		{ { 0, 0 }, NULL, true, NO_FALLBACK, "0 Happy 0 Happy" },
		{ { 0, 0 }, NULL, false, NO_FALLBACK, "0 Happy 0 Happy" },
		{ { 1, 0 }, NULL, true, NO_FALLBACK, "1 Failing 0 Happy" },
		{ { 2, 0 }, NULL, false, NO_FALLBACK, "1 Failing 0 Happy" },
		{ { 3, 0 }, NULL, false, NO_FALLBACK, "1 Failing 0 Happy" },
		{ { 4, 0 }, NULL, true, FALLING, "4 Failing 0 Happy" },
		{ { 5, 0 }, NULL, false, FALLING, "4 Failing 0 Happy" },
		{ { 90, 2 }, NULL, true, FALLING, "4 Failing 2 Failing" },
		{ { 0, 3 }, NULL, true, NO_FALLBACK, "0 Happy 2 Failing" },
		{ { 0, 9 }, "no pod of the target is ready", true, NO_FALLBACK, "0 Happy 9 Failing" },
		{ { 0, 10 }, "no pod of the target is ready", false, NO_FALLBACK, "0 Happy 9 Failing" },
		{ { 0, 11 }, NULL, true, FALLING, "0 Happy 9 Failing" },
		{ { 0, 0 }, NULL, true, NO_FALLBACK, "0 Happy 0 Happy" },
	};
	struct scaledobject *so = object_of(WITH_FALLBACK, "null");

	(void)state;
	conditions_after_reconcile(so, &all_set_up, T, &so->status);
	assert_string_equal(said(&so->status, "Fallback"), "Unknown : ");
	assert_int_equal(so->status.health_count, 0);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct verdict_trigger triggers[2] = { { .metric_name = metrics[0].name,
							       .failures = steps[i].failures[0] },
			{ .metric_name = metrics[1].name,
				.failures = steps[i].failures[1],
				.fallback_trouble = steps[i].trouble } };
		struct scaledobject_status before = { 0 };
		char text[100], *patch;

		scaledobject_status_copy(&before, &so->status);
		after_failures(so, triggers, 2, false, T + 1000, &so->status);
		patch = scaledobject_status_patch(&before, &so->status, true);
		if ((patch != NULL) != steps[i].written)
			fail_msg("step %zu: %s", i, patch != NULL ? patch : "nothing is written");
		assert_string_equal(said(&so->status, "Fallback"), steps[i].fallback);
		assert_int_equal(so->status.health_count, 2);
		snprintf(text, sizeof(text), "%d %s %d %s", (int)so->status.health[0].failures,
			so->status.health[0].failing ? "Failing" : "Happy", (int)so->status.health[1].failures,
			so->status.health[1].failing ? "Failing" : "Happy");
		assert_string_equal(text, steps[i].health);
		free(patch);
		scaledobject_status_done(&before);
	}
	/* a reconcile leaves it, until the fallback is taken away */
	conditions_after_reconcile(so, &all_set_up, T, &so->status);
	assert_int_equal(so->status.health_count, 2);
	free(so->spec.fallback->behavior);
	free(so->spec.fallback);
	so->spec.fallback = NULL;
	conditions_after_reconcile(so, &all_set_up, T, &so->status);
	assert_int_equal(so->status.health_count, 0);
	assert_string_equal(said(&so->status, "Fallback"), NO_FALLBACK);
	scaledobject_free(so);
}

/* Without a valid fallback nothing is counted, nor metrics that the status does not name. */
static void test_health_not_kept(void **state)
{
	struct verdict_trigger failing = { .metric_name = metrics[0].name, .failures = 100 },
			       other = { .metric_name = "s7-gone", .failures = 1 };
	struct scaledobject *so = object_with("null"), *with = object_of(WITH_FALLBACK, "null");

	(void)state;
	conditions_after_reconcile(so, &all_set_up, T, &so->status);
	after_failures(so, &failing, 1, false, T, &so->status);
	assert_int_equal(so->status.health_count, 0);
	assert_string_equal(said(&so->status, "Fallback"), NO_FALLBACK);
	conditions_after_reconcile(with, &all_set_up, T, &with->status);
	after_failures(with, &other, 1, false, T, &with->status);
	assert_int_equal(with->status.health_count, 0);
	scaledobject_free(so);
	scaledobject_free(with);
}

/*
 * Which trigger falls back and why, for users of kubectl; a text that differs at each poll is not
 * written at each poll.
 */
static void test_fallback_names_the_cause(void **state)
{
	struct err refused = { .kind = ERR_TEMPORARY, .msg = "redis:6379: connection refused" },
		   again = { .kind = ERR_TEMPORARY, .msg = "redis:6379: timed out" };
	struct err denied = { .kind = ERR_DENIED, .msg = "redis:6379: WRONGPASS" };
	const struct {
		const struct err *err;
		bool news;
		const char *says;
	} steps[] = {
		{ &refused, true, FALLING ": s1-redis-mail: redis:6379: connection refused" },
		{ &again, false, FALLING ": s1-redis-mail: redis:6379: connection refused" },
		{ &denied, true, FALLING ": s1-redis-mail: redis:6379: WRONGPASS" },
	};
	struct scaledobject *so = object_of(WITH_FALLBACK, "null");

	(void)state;
	conditions_after_reconcile(so, &all_set_up, T, &so->status);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct verdict_trigger triggers[] = { { .metric_name = metrics[0].name },
			{ .metric_name = "s1-redis-mail", .failures = 9, .source_err = steps[i].err } };

		after_failures(so, triggers, 2, steps[i].news, T, &so->status);
		assert_string_equal(said(&so->status, "Fallback"), steps[i].says);
	}
	scaledobject_free(so);
}

/* A tick reports it, too; a tick that finds the object paused reports nothing. */
static void test_tick_counts(void **state)
{
	static const struct annotations paused = { .paused = true, .paused_replicas = INT32_UNSET };
	struct scaledobject *so = object_of(WITH_FALLBACK, "null");
	struct scaledobject_status before = { 0 };
	struct tick t;

	(void)state;
	conditions_after_reconcile(so, &all_set_up, T, &so->status);
	tick(so, "AA", 3, 0, T, NULL, &so->status, &t);
	t.triggers[0].failures = 4;
	t.triggers[0].falling_back = true;
	t.d = scale_decide(&t.facts);
	conditions_after_tick(so, &t.facts, &t.d, NULL, T, &so->status);
	assert_string_equal(said(&so->status, "Fallback"), FALLING);
	assert_int_equal(so->status.health[0].failures, 4);
	assert_string_equal(said(&so->status, "Ready"), READY);
	assert_true(so->status.activity[0].active);
	scaledobject_status_copy(&before, &so->status);
	t.triggers[0].failures = 0;
	t.triggers[0].reading.active = t.triggers[1].reading.active = false;
	t.facts.annotations = &paused;
	t.d = scale_decide(&t.facts);
	conditions_after_tick(so, &t.facts, &t.d, NULL, T + 1000, &so->status);
	assert_null(scaledobject_status_patch(&before, &so->status, true));
	scaledobject_status_done(&before);
	scaledobject_free(so);
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

/* Of an object with as many triggers as one may have: each was compared with all, at every tick. */
static void test_many_metrics(void **state)
{
	static struct metric_spec specs[MANY];
	static struct verdict_trigger triggers[MANY];
	static char names[MANY][32];
	struct reconcile_outcome many = all_set_up;
	struct scaledobject *so = object_of(WITH_FALLBACK, "null");
	struct scale_facts facts = { .spec = &so->spec, .triggers = triggers, .trigger_count = MANY };
	struct scale_decision d;

	(void)state;
	for (int i = 0; i < MANY; i++) {
		snprintf(names[i], sizeof(names[i]), "s%d-redis-jobs", i);
		specs[i] = (struct metric_spec){ .name = names[i], .target = { 5000, QUANTITY_DECIMAL_SI } };
		triggers[i] = (struct verdict_trigger){ .metric_name = names[i], .failures = i % 2 };
		triggers[i].reading.active = i % 3 == 0;
	}
	many.metrics = specs;
	many.metric_count = MANY;
	conditions_after_reconcile(so, &many, T, &so->status);
	d = scale_decide(&facts);
	for (int round = 0; round < 3; round++) {
		comparisons = 0;
		conditions_after_tick(so, &facts, &d, NULL, T, &so->status);
		assert_true(comparisons < 40 * MANY);
		comparisons = 0;
		conditions_after_reconcile(so, &many, T, &so->status);
		assert_true(comparisons < 60 * MANY);
	}
	assert_int_equal(so->status.health_count, MANY);
	assert_int_equal(so->status.activity_count, MANY);
	for (int i = 0; i < MANY; i++) {
		assert_int_equal(scaledobject_health(&so->status, names[i])->failing, i % 2);
		assert_int_equal(so->status.activity[i].active, i % 3 == 0);
	}
	/* the even ones go */
	for (int i = 0; i < MANY / 2; i++)
		specs[i] = specs[2 * i + 1];
	many.metric_count = MANY / 2;
	conditions_after_reconcile(so, &many, T, &so->status);
	assert_int_equal(so->status.health_count, MANY / 2);
	for (int i = 0; i < MANY; i++)
		assert_int_equal(scaledobject_health(&so->status, names[i]) != NULL, i % 2);
	scaledobject_free(so);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_reconcile),
		cmocka_unit_test(test_reconcile_again_changes_nothing),
		cmocka_unit_test(test_reconcile_failed),
		cmocka_unit_test(test_reconcile_keeps_and_prunes),
		cmocka_unit_test(test_reconcile_leaves_the_loops_ready),
		cmocka_unit_test(test_reconcile_after_keda),
		cmocka_unit_test(test_core_group),
		cmocka_unit_test(test_broken_spec),
		cmocka_unit_test(test_life),
		cmocka_unit_test(test_activity),
		cmocka_unit_test(test_cause),
		cmocka_unit_test(test_tick_beside_failed_check),
		cmocka_unit_test(test_tick_with_unknown_replicas),
		cmocka_unit_test(test_hpa_active),
		cmocka_unit_test(test_hpa_active_beside_failed_check),
		cmocka_unit_test(test_pausing),
		cmocka_unit_test(test_pausing_while_failing),
		cmocka_unit_test(test_pausing_removes_the_hpas_condition),
		cmocka_unit_test(test_pause_unreadable),
		cmocka_unit_test(test_metric_kinds),
		cmocka_unit_test(test_health),
		cmocka_unit_test(test_health_not_kept),
		cmocka_unit_test(test_fallback_names_the_cause),
		cmocka_unit_test(test_tick_counts),
		cmocka_unit_test(test_many_metrics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
