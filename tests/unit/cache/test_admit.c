/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Admission: which facts are looked up, when, and what happens if they are unavailable. The rules
 * themselves are tested in tests/unit/decide.
 */
#include "cache/admit.h"

#include "../crd/given.h"
#include "../fakes/fakecluster.h"
#include "../fakes/fakeloop.h"
#include "../fakes/fakesource.h"

#include "base/log.h"
#include "decide/validate/validate.h"
#include "net/loop.h"
#include "net/network.h"
#include "net/sourcerules.h"

#define SHOP(group, resource) "/apis/" group "/namespaces/shop/" resource "/"
#define OBJECTS               SHOP("keda.sh/v1alpha1", "scaledobjects")
#define HPAS                  SHOP("autoscaling/v2", "horizontalpodautoscalers")
#define DEPLOYMENTS           SHOP("apps/v1", "deployments")
#define LIMIT_RANGES          "/api/v1/namespaces/shop/limitranges/"

static struct auth_lookup rules;

static struct {
	struct kube *kube;
	struct store *store;
	struct admit *admit;
	struct admit_wait *wait;
	int verdicts;
	bool allowed;
	char reason[64], message[600], warnings[4096];
	size_t warning_count;
} t;

static unsigned compared; /* with other ScaledObjects */

int __real_validate_beside(const struct scaledobject *so, const struct scaledobject *other, const char **reason,
	struct err *err);
int __wrap_validate_beside(const struct scaledobject *so, const struct scaledobject *other, const char **reason,
	struct err *err);

int __wrap_validate_beside(const struct scaledobject *so, const struct scaledobject *other, const char **reason,
	struct err *err)
{
	compared++;
	return __real_validate_beside(so, other, reason, err);
}

static bool marks_meet; /* as two may by chance */

uint64_t __real_index_mark(const char *namespace_, const char *kind, const char *name);
uint64_t __wrap_index_mark(const char *namespace_, const char *kind, const char *name);

uint64_t __wrap_index_mark(const char *namespace_, const char *kind, const char *name)
{
	return marks_meet ? 7 : __real_index_mark(namespace_, kind, name);
}

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
	memset(&t, 0, sizeof(t));
	marks_meet = false;
	t.kube = kube;
	log_set_sink(drop_line, NULL);
	fakesource_start();
	t.store = store_new(kube, NULL);
	rules = (struct auth_lookup){ .cluster_namespace = "kscaled", .cloud = AUTH_CLOUD_CLUSTER };
	t.admit = admit_new(t.store, kube, &rules);
	store_start(t.store, NULL, 0);
	fakeloop_advance(10);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	admit_free(t.admit);
	store_free(t.store);
	fakeloop_advance(0);
	fakecluster_end();
	fakesource_end();
	fakeloop_end();
	log_set_sink(NULL, NULL);
	return 0;
}

static void on_verdict(void *arg, const struct admit_verdict *verdict)
{
	assert_ptr_equal(arg, &t);
	t.wait = NULL;
	t.verdicts++;
	t.allowed = verdict->allowed;
	t.warning_count = verdict->warning_count;
	t.warnings[0] = '\0';
	snprintf(t.reason, sizeof(t.reason), "%s", verdict->reason);
	snprintf(t.message, sizeof(t.message), "%s", verdict->message);
	for (size_t i = 0; i < verdict->warning_count; i++)
		snprintf(t.warnings + strlen(t.warnings), sizeof(t.warnings) - strlen(t.warnings), "%s\n",
			verdict->warnings[i]);
}

#define DEADLINE_MS 5000

static void ask(const char *kind, const char *object, const char *old_object, bool dry_run)
{
	json_t *value = given_json(object), *old = old_object ? given_json(old_object) : NULL;
	struct admit_request request = { .kind = kind,
		.object = value,
		.old_object = old,
		.dry_run = dry_run,
		.deadline_ms = loop_now_ms(kube_loop(NULL)) + DEADLINE_MS };
	int before = t.verdicts;

	fakecluster_forget_calls();
	t.wait = admit_ask(t.admit, &request, on_verdict, &t);
	assert_int_equal(t.verdicts, before); /* never before it returned */
	json_decref(value);
	json_decref(old);
}

static void judge(const char *kind, const char *object, const char *old_object)
{
	int before = t.verdicts;

	ask(kind, object, old_object, false);
	fakeloop_advance(100);
	assert_int_equal(t.verdicts, before + 1);
}

static void expect_allowed(void)
{
	if (!t.allowed)
		fail_msg("refused: %s", t.message);
	assert_string_equal(t.reason, "");
	assert_string_equal(t.message, "");
}

static void expect_refused(const char *reason, const char *part)
{
	if (t.allowed)
		fail_msg("not refused: %s", part);
	assert_string_equal(t.reason, reason);
	assert_has(t.message, part);
}

#define HERE(spec)     "{'metadata':{'name':'a','namespace':'shop'},'spec':{" spec "}}"
#define TRIGGERS       "'triggers':[{'type':'scripted','metadata':{'source':'a'}}]"
#define CPU            "'minReplicaCount':1,'triggers':[{'type':'cpu','metadata':{}}]"
#define SO(name, spec) "{'metadata':{'name':'" name "','namespace':'shop'},'spec':{" spec "}}"
#define WEB            SO("web", GIVEN_TARGET "," TRIGGERS)

/* An unreadable parameter is a warning; a setting that this installation forbids is not. */
static void forbidden_objects_are_refused(void **state)
{
	static const char forbidden[] = SO("web",
		GIVEN_TARGET ",'triggers':[{'type':'scripted','metadata':{'source':'forbidden'}}]");

	(void)state;
	judge("ScaledObject", forbidden, NULL);
	expect_refused("requires-tls", "trigger 0 (scripted): forbidden here");
	judge("ScaledObject",
		SO("web", GIVEN_TARGET ",'triggers':[{'type':'scripted','metadata':{'source':'a','activation':'x'}}]"),
		NULL);
	expect_allowed();
	assert_int_equal(t.warning_count, 1);
	/* The environment need not be known. */
	judge("ScaledObject",
		SO("web", GIVEN_TARGET ",'triggers':[{'type':'scripted','metadata':{'sourceFromEnv':'X'}}]"), NULL);
	expect_allowed();
}

/* Also where its parameters cannot be read; once for each trigger. */
static void a_type_that_will_go_is_warned_of(void **state)
{
	(void)state;
	judge("ScaledObject",
		SO("web",
			GIVEN_TARGET ",'triggers':[{'type':'leaving','metadata':{'source':'a'}},{'type':'scripted',"
				     "'metadata':{'source':'a'}},{'type':'leaving','metadata':{}}]"),
		NULL);
	expect_allowed();
	assert_has(t.warnings, "trigger 0 (leaving): This scaler is deprecated.\n");
	assert_has(t.warnings, "trigger 2 (leaving): This scaler is deprecated.\n");
	assert_int_equal(t.warning_count, 3);
}

static void a_good_object_comes_in(void **state)
{
	(void)state;
	judge("ScaledObject", WEB, NULL);
	expect_allowed();
	assert_int_equal(t.warning_count, 0);
	/* neither the target nor LimitRanges: no trigger is cpu or memory */
	assert_int_equal(fakecluster_calls(FAKECLUSTER_ANY, ""), 0);
}

static void an_invalid_object_causes_no_request(void **state)
{
	static const struct {
		const char *object, *reason, *part;
	} cases[] = {
		{ SO("web", GIVEN_TARGET "," TRIGGERS ",'minReplicaCount':5,'maxReplicaCount':2"), "incorrect-replicas",
			"spec.minReplicaCount: 5" },
		{ SO("web", GIVEN_TARGET ",'triggers':7"), "incorrect-spec", "spec.triggers: must be an array" },
		{ "{'metadata':{'namespace':'shop'},'spec':{}}", "incorrect-spec", "metadata.name" },
		{ "{'metadata':{'name':'web','namespace':'../../secrets'},'spec':{" GIVEN_TARGET "," TRIGGERS "}}",
			"incorrect-spec", "metadata.namespace: \"../../secrets\"" },
		{ "{'metadata':{'name':'web'},'spec':{" GIVEN_TARGET "," TRIGGERS "}}", "incorrect-spec",
			"metadata.namespace: \"\"" },
		{ "{}", "incorrect-spec", "metadata" },
		{ "[]", "incorrect-spec", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		judge("ScaledObject", cases[i].object, NULL);
		expect_refused(cases[i].reason, cases[i].part);
		assert_int_equal(fakecluster_calls(FAKECLUSTER_ANY, ""), 0);
	}
}

static void other_objects_are_known_from_memory(void **state)
{
	(void)state;
	fakecluster_apply(OBJECTS "first", "{'spec':{" GIVEN_TARGET "," TRIGGERS "}}");
	fakecluster_apply("/apis/keda.sh/v1alpha1/namespaces/bank/scaledobjects/elsewhere",
		"{'spec':{'scaleTargetRef':{'name':'api'}," TRIGGERS "}}");
	fakeloop_advance(10);
	judge("ScaledObject", WEB, NULL);
	expect_refused("other-scaled-object", "already managed by the ScaledObject 'first'");
	judge("ScaledObject", SO("first", GIVEN_TARGET "," TRIGGERS), SO("first", GIVEN_TARGET));
	expect_allowed();
	judge("ScaledObject", SO("web", "'scaleTargetRef':{'name':'api'}," TRIGGERS), NULL);
	expect_allowed();
}

/* A namespace that fills up costs no more for each object. */
static void only_those_in_the_way_are_compared(void **state)
{
	(void)state;
	for (int i = 0; i < 200; i++) {
		MEM_AUTO char *path = mem_printf(OBJECTS "o%d", i);
		MEM_AUTO char *text = mem_printf("{'spec':{'scaleTargetRef':{'name':'o%d'}," TRIGGERS "}}", i);

		fakecluster_apply(path, text);
	}
	fakeloop_advance(100);
	compared = 0;
	judge("ScaledObject", WEB, NULL);
	expect_allowed();
	assert_int_equal(compared, 0);
	judge("ScaledObject", SO("web", "'scaleTargetRef':{'name':'o7'}," TRIGGERS), NULL);
	expect_refused("other-scaled-object", "already managed by the ScaledObject 'o7'");
	judge("ScaledObject",
		SO("web",
			GIVEN_TARGET ",'advanced':{'horizontalPodAutoscalerConfig':{'name':'keda-hpa-o8'}}," TRIGGERS),
		NULL);
	expect_refused("other-scaled-object-hpa", "already managed by the ScaledObject 'o8'");
	assert_int_equal(compared, 2);
	fakecluster_delete(OBJECTS "o7");
	fakecluster_change(OBJECTS "o8", "{'spec':{'advanced':{'horizontalPodAutoscalerConfig':{'name':'x'}}}}");
	fakeloop_advance(100);
	judge("ScaledObject",
		SO("web",
			"'scaleTargetRef':{'name':'o7'},'advanced':{'horizontalPodAutoscalerConfig':{'name':'keda-hpa-"
			"o8'}}," TRIGGERS),
		NULL);
	expect_allowed();
}

static void foreign_hpas_are_known_from_memory(void **state)
{
	(void)state;
	fakecluster_apply(HPAS "old",
		"{'spec':{'scaleTargetRef':{'apiVersion':'apps/v1','kind':'Deployment','name':'web'}}}");
	fakecluster_apply("/apis/autoscaling/v2/namespaces/bank/horizontalpodautoscalers/x",
		"{'spec':{'scaleTargetRef':{'apiVersion':'apps/v1','kind':'Deployment','name':'api'}}}");
	fakeloop_advance(10);
	judge("ScaledObject", WEB, NULL);
	expect_refused("other-hpa", "already managed by the hpa 'old'");
	judge("ScaledObject", SO("web", "'scaleTargetRef':{'name':'api'}," TRIGGERS), NULL);
	expect_allowed();
	/* It scales another target from now on, and has the annotation that allows sharing. */
	fakecluster_change(HPAS "old", "{'spec':{'scaleTargetRef':{'name':'api'}}}");
	fakeloop_advance(10);
	judge("ScaledObject", WEB, NULL);
	expect_allowed();
	judge("ScaledObject", SO("web", "'scaleTargetRef':{'name':'api'}," TRIGGERS), NULL);
	expect_refused("other-hpa", "already managed by the hpa 'old'");
	assert_int_equal(fakecluster_calls(FAKECLUSTER_ANY, ""), 0);
	fakecluster_change(HPAS "old", "{'metadata':{'annotations':{'validations.keda.sh/hpa-ownership':'false'}}}");
	fakeloop_advance(10);
	judge("ScaledObject", SO("web", "'scaleTargetRef':{'name':'api'}," TRIGGERS), NULL);
	expect_allowed();
	/* KEDA's, of another ScaledObject, and of this one. */
	fakecluster_apply(HPAS "keda",
		"{'metadata':{'ownerReferences':[{'kind':'ScaledObject','name':'b','uid':'u','controller':true}]},'"
		"spec':{'scaleTargetRef':{'kind':'Deployment','name':'web'}}}");
	fakeloop_advance(10);
	judge("ScaledObject", WEB, NULL);
	expect_refused("other-hpa", "already managed by the hpa 'keda'");
	judge("ScaledObject", SO("b", GIVEN_TARGET "," TRIGGERS), NULL);
	expect_allowed();
	/* Our own HPAs are not foreign, and a deleted one does not matter. */
	fakecluster_change(HPAS "keda", "{'metadata':{'labels':{'kscaled.io/managed':'true'}}}");
	fakeloop_advance(10);
	judge("ScaledObject", WEB, NULL);
	expect_allowed();
	fakecluster_change(HPAS "keda", "{'metadata':{'labels':null}}");
	fakecluster_delete(HPAS "keda");
	fakeloop_advance(10);
	judge("ScaledObject", WEB, NULL);
	expect_allowed();
}

static void cpu_needs_a_target_with_requests(void **state)
{
	(void)state;
	judge("ScaledObject", SO("web", GIVEN_TARGET "," CPU), NULL);
	expect_refused("missing-target", "the Deployment 'web' does not exist");
	assert_int_equal(fakecluster_calls(FAKECLUSTER_ANY, ""), 2);
	ask("ScaledObject", SO("web", GIVEN_TARGET "," CPU), NULL, true); /* a dry run */
	fakeloop_advance(100);
	expect_allowed();
	assert_int_equal(fakecluster_calls(FAKECLUSTER_ANY, ""), 0);
	fakecluster_apply(DEPLOYMENTS "web", "{'spec':{'template':{'spec':{'containers':[{'name':'app'}]}}}}");
	judge("ScaledObject", SO("web", GIVEN_TARGET "," CPU), NULL);
	expect_refused("missing-requests", "container app doesn't have the cpu request defined");
	fakecluster_apply(LIMIT_RANGES "default", "{'spec':{'limits':[{'type':'Container','default':{'cpu':'1'}}]}}");
	judge("ScaledObject", SO("web", GIVEN_TARGET "," CPU), NULL);
	expect_allowed();
	judge("ScaledObject",
		SO("web",
			GIVEN_TARGET
			",'minReplicaCount':1,'triggers':[{'type':'cpu','metricType':'Utilization','metadata':"
			"{'value':'50','containerName':'web'}}]"),
		NULL);
	expect_allowed();
	assert_string_equal(t.warnings,
		"spec.triggers[0].metadata.containerName: Deployment shop/web has no container \"web\"\n");
	judge("ScaledObject", SO("web", "'scaleTargetRef':{'name':'db','kind':'StatefulSet'}," CPU), NULL);
	expect_refused("missing-target", "the StatefulSet 'db' does not exist");
	assert_int_equal(fakecluster_calls(KUBE_GET, "/apis/apps/v1/namespaces/shop/statefulsets/db"), 1);
}

/*
 * Facts that are late are left out, with a warning: an API server in trouble must not keep objects
 * from being stored.
 */
static void facts_that_cannot_be_had_are_warnings(void **state)
{
	(void)state;
	fakecluster_fail(FAKECLUSTER_HANG, KUBE_GET, "/deployments", FAKECLUSTER_ANY, 0);
	ask("ScaledObject", SO("web", GIVEN_TARGET "," CPU), NULL, false);
	fakeloop_advance(DEADLINE_MS - 1);
	assert_int_equal(t.verdicts, 0);
	fakeloop_advance(2);
	assert_int_equal(t.verdicts, 1);
	expect_allowed();
	assert_has(t.warnings,
		"whether the workload requests cpu and memory was not checked: the API server did not answer in time");
	fakecluster_heal();
}

#define CPU_50 "'minReplicaCount':1,'triggers':[{'type':'cpu','metricType':'Utilization','metadata':{'value':'50'}}]"

/* kscaled's identity and rights there are for the log only. */
static void warnings_do_not_quote_the_api_server(void **state)
{
	static const struct {
		int http_status;
		const char *warning;
	} cases[] = {
		{ 403, "whether the workload requests cpu and memory was not checked: kscaled may not read it\n" },
		{ 500,
			"whether the workload requests cpu and memory was not checked: the API server did not answer "
			"in time\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fakecluster_fail(FAKECLUSTER_REFUSE, FAKECLUSTER_ANY, "", 2, cases[i].http_status);
		judge("ScaledObject", SO("web", GIVEN_TARGET "," CPU_50), NULL);
		expect_allowed();
		assert_string_equal(t.warnings, cases[i].warning); /* once, of both */
	}
}

static void count_verdict(void *arg, const struct admit_verdict *verdict)
{
	unsigned *verdicts = arg;

	assert_true(verdict->allowed);
	assert_int_equal(verdict->warning_count, 1);
	assert_has(verdict->warnings[0], "too many objects are being validated at once");
	(*verdicts)++;
}

/* Whoever may create objects, as a dry run or not, decides how many reviews there are. */
static void many_reviews_ask_little_and_last(void **state)
{
	json_t *object = given_json(SO("web", GIVEN_TARGET "," CPU_50));
	struct admit_request request = { .kind = "ScaledObject",
		.object = object,
		.deadline_ms = loop_now_ms(kube_loop(NULL)) + DEADLINE_MS };
	struct admit_wait *waits[20];
	unsigned verdicts = 0;

	(void)state;
	fakecluster_fail(FAKECLUSTER_HANG, FAKECLUSTER_ANY, "", FAKECLUSTER_ANY, 0);
	fakecluster_forget_calls();
	for (int i = 0; i < 20; i++)
		waits[i] = admit_ask(t.admit, &request, count_verdict, &verdicts);
	fakeloop_advance(10);
	assert_int_equal(verdicts, 4);
	assert_int_equal(fakecluster_calls(FAKECLUSTER_ANY, ""), 2 * 16);
	assert_int_equal(fakecluster_last_priority(), KUBE_ASIDE);
	fakecluster_heal();
	/* Whose end makes room for another. */
	admit_cancel(waits[0]);
	fakecluster_apply(DEPLOYMENTS "web", "{'spec':{'template':{'spec':{'containers':[{'name':'app'}]}}}}");
	judge("ScaledObject", SO("web", GIVEN_TARGET "," CPU_50), NULL);
	expect_refused("missing-requests", "container app doesn't have the cpu request defined");
	judge("ScaledObject", SO("web", GIVEN_TARGET "," CPU_50), NULL);
	expect_refused("missing-requests", "container app doesn't have the cpu request defined");
	assert_int_equal(verdicts, 4);
	for (int i = 1; i < 16; i++)
		admit_cancel(waits[i]);
	json_decref(object);
}

/* The requester must not learn which workloads of other namespaces are scaled. */
static void a_verdict_reveals_no_other_namespace(void **state)
{
	struct err err;

	(void)state;
	marks_meet = true;
	fakecluster_apply("/apis/keda.sh/v1alpha1/namespaces/bank/scaledobjects/theirs",
		"{'spec':{'advanced':{'horizontalPodAutoscalerConfig':{'name':'hpa'}}," GIVEN_TARGET "," TRIGGERS "}}");
	fakecluster_apply("/apis/autoscaling/v2/namespaces/bank/horizontalpodautoscalers/old",
		"{'spec':{'scaleTargetRef':{'apiVersion':'apps/v1','kind':'Deployment','name':'web'}}}");
	fakeloop_advance(2000);
	fakecluster_apply(OBJECTS "web", "{'spec':{" GIVEN_TARGET "," TRIGGERS "}}");
	fakeloop_advance(10);
	judge("ScaledObject", WEB, NULL);
	expect_allowed();
	judge("ScaledObject",
		SO("web", GIVEN_TARGET ",'advanced':{'horizontalPodAutoscalerConfig':{'name':'hpa'}}," TRIGGERS), NULL);
	expect_allowed();
	assert_int_equal(admit_among_others(t.store, store_object(t.store, "shop/web")->of.so, &err), 0);
	assert_int_equal(admit_among_hpas(t.store, store_object(t.store, "shop/web")->of.so, &err), 0);
	/* Those of its own are still found among them. */
	fakecluster_apply(HPAS "ours",
		"{'spec':{'scaleTargetRef':{'apiVersion':'apps/v1','kind':'Deployment','name':'web'}}}");
	fakeloop_advance(10);
	judge("ScaledObject", WEB, NULL);
	expect_refused("other-hpa", "already managed by the hpa 'ours'");
}

static void a_store_that_is_not_read_yet_is_a_warning(void **state)
{
	struct store *store = store_new(NULL, NULL);
	struct admit *admit = admit_new(store, NULL, &rules);
	json_t *object = given_json(WEB);
	struct admit_request request = { .kind = "ScaledObject",
		.object = object,
		.deadline_ms = loop_now_ms(kube_loop(NULL)) + DEADLINE_MS };

	(void)state;
	t.wait = admit_ask(admit, &request, on_verdict, &t);
	fakeloop_advance(100);
	expect_allowed();
	assert_has(t.warnings, "whether another ScaledObject has the same workload was not checked");
	assert_has(t.warnings,
		"whether another HorizontalPodAutoscaler scales the same workload was not checked: not all of them are "
		"known yet");
	json_decref(object);
	admit_free(admit);
	store_free(store);
}

static void a_namespace_that_is_not_watched_is_a_warning(void **state)
{
	static const char only[] =
		"metadata.namespace: \"shop\" is not in --watch-namespace: this kscaled does nothing "
		"there\n",
			  *const other = "other", *const shop = "shop";

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct store *store = store_new(t.kube, NULL);
		struct admit *all = t.admit;

		store_start(store, i == 0 ? &other : &shop, 1);
		fakeloop_advance(10);
		t.admit = admit_new(store, t.kube, &rules);
		judge("ScaledObject", WEB, NULL);
		expect_allowed();
		assert_string_equal(t.warnings, i == 0 ? only : "");
		judge("TriggerAuthentication", HERE("'env':[{'parameter':'p','name':'A'}]"), NULL);
		assert_string_equal(t.warnings, i == 0 ? only : "");
		judge("ClusterTriggerAuthentication", "{'metadata':{'name':'a'},'spec':{}}", NULL);
		assert_string_equal(t.warnings, "");
		admit_free(t.admit);
		t.admit = all;
		store_free(store);
		fakeloop_advance(0);
	}
}

static void hpas_that_cannot_be_watched_are_a_warning(void **state)
{
	struct kube *kube = t.kube;

	(void)state;
	admit_free(t.admit);
	store_free(t.store);
	fakecluster_trouble("/horizontalpodautoscalers", ERR_DENIED, "HTTP 403");
	t.store = store_new(kube, NULL);
	t.admit = admit_new(t.store, kube, &rules);
	store_start(t.store, NULL, 0);
	fakeloop_advance(10);
	judge("ScaledObject", WEB, NULL);
	expect_allowed();
	assert_has(t.warnings,
		"whether another HorizontalPodAutoscaler scales the same workload was not checked: kscaled cannot "
		"watch them at present, as its log tells\n");
}

static void warnings_go_along(void **state)
{
	(void)state;
	judge("ScaledObject", SO("web", GIVEN_TARGET ",'minReplicaCount':1,'pollingInterval':5," TRIGGERS), NULL);
	expect_allowed();
	assert_has(t.warnings, "spec.pollingInterval has no effect");
	/* Errors of the scalers about parameters, except those that they cannot see. */
	judge("ScaledObject",
		SO("web",
			GIVEN_TARGET
			",'triggers':[{'type':'predictkube','metadata':{},'authenticationRef':{'name':'x'}},{'type':'"
			"scripted','metadata':{}},{'type':'scripted','metadata':{},'authenticationRef':{'name':'x'}},"
			"{'type':'scripted','metadata':{'sourceFromEnv':'X'}}]"),
		NULL);
	expect_allowed();
	assert_int_equal(t.warning_count, 2);
	assert_has(t.warnings, "trigger 0: no scaler found for type: predictkube");
	assert_has(t.warnings, "trigger 1 (scripted): missing required parameter \"source\"");
	judge("ScaledObject",
		SO("web", GIVEN_TARGET ",'triggers':[{'type':'scripted','metadata':{'source':'a','treshold':'3'}}]"),
		NULL);
	expect_allowed();
	assert_string_equal(t.warnings,
		"trigger 0 (scripted): metadata has unknown parameters: \"treshold\" (did you mean "
		"\"threshold\"?)\n");
	/* A server where none may be. */
	network_of(kube_loop(t.kube))->rules = (struct sourcerules){ .judges = true };
	judge("ScaledObject",
		SO("web", GIVEN_TARGET ",'triggers':[{'type':'scripted','metadata':{'source':'localhost'}}]"), NULL);
	expect_allowed();
	assert_has(t.warnings,
		"trigger 0 (scripted): 127.0.0.1 is a loopback address, where no trigger's server may be");
	/* Each problem of a trigger. */
	judge("ScaledObject",
		SO("web", GIVEN_TARGET ",'triggers':[{'type':'scripted','metadata':{'sourc':'a','activation':'x'}}]"),
		NULL);
	expect_allowed();
	assert_string_equal(t.warnings,
		"trigger 0 (scripted): unable to set param \"activation\" value \"x\": must be a whole number\n"
		"trigger 0 (scripted): missing required parameter \"source\" in [triggerMetadata authParams "
		"resolvedEnv]\n"
		"trigger 0 (scripted): metadata has unknown parameters: \"sourc\" (did you mean "
		"\"source\"?)\n");
}

static void warnings_have_an_end(void **state)
{
	char *object = mem_dup("{'metadata':{'name':'web','namespace':'shop'},'spec':{" GIVEN_TARGET
			       ",'triggers':[{'type':'predictkube','metadata':{}}");

	(void)state;
	for (int i = 0; i < 50; i++) {
		char *longer = mem_printf("%s,{'type':'predictkube','metadata':{}}", object);

		free(object);
		object = longer;
	}
	{
		MEM_AUTO char *whole = mem_printf("%s]}}", object);

		judge("ScaledObject", whole, NULL);
	}
	expect_allowed();
	assert_int_equal(t.warning_count, 16);
	free(object);
}

#define FINALIZERS(list, spec)                                                                                         \
	"{'metadata':{'name':'web','namespace':'shop','finalizers':[" list "]},'spec':{" spec "}}"
#define WRONG GIVEN_TARGET ",'triggers':[]"

static void a_deletion_is_never_blocked(void **state)
{
	(void)state;
	judge("ScaledObject", FINALIZERS("'a'", WRONG), FINALIZERS("'a','b'", WRONG));
	expect_allowed();
	assert_int_equal(fakecluster_calls(FAKECLUSTER_ANY, ""), 0);
	judge("ScaledObject", FINALIZERS("", WRONG), FINALIZERS("'b'", WRONG ",'minReplicaCount':1"));
	expect_refused("incorrect-triggers", "spec.triggers: no triggers defined");
	judge("ScaledObject", FINALIZERS("'a'", WRONG), FINALIZERS("'a'", WRONG));
	expect_refused("incorrect-triggers", "spec.triggers: no triggers defined");
	judge("ScaledObject",
		"{'metadata':{'name':'web','namespace':'shop','deletionTimestamp':'2026-01-01T00:00:00Z'},'spec':{}}",
		FINALIZERS("'b'", WRONG));
	expect_allowed();
	judge("TriggerAuthentication", "{'metadata':{'name':'a'},'spec':{'oauth2':{'clientId':''}}}",
		"{'metadata':{'name':'a','finalizers':['f']},'spec':{'oauth2':{'clientId':''}}}");
	expect_allowed();
}

#define TEMPLATE       "'jobTargetRef':{'template':{'spec':{'containers':[{'name':'c','image':'i'}]}}}"
#define SJ(name, spec) "{'metadata':{'name':'" name "','namespace':'shop'},'spec':{" spec "}}"

/* By itself alone: it has no target, and no neighbour can be in its way. */
static void a_valid_scaledjob_is_admitted_without_requests(void **state)
{
	(void)state;
	/* a ScaledObject may have its name */
	fakecluster_apply(OBJECTS "j", "{'spec':{" GIVEN_TARGET "," TRIGGERS "}}");
	fakecluster_apply("/apis/keda.sh/v1alpha1/namespaces/shop/scaledjobs/other",
		"{'spec':{" TEMPLATE "," TRIGGERS "}}");
	fakeloop_advance(10);
	judge("ScaledJob", SJ("j", TEMPLATE "," TRIGGERS), NULL);
	expect_allowed();
	assert_string_equal(t.warnings, "");
	judge("ScaledJob", SJ("j", TEMPLATE "," TRIGGERS ",'minReplicaCount':1"), SJ("j", TEMPLATE "," TRIGGERS));
	expect_allowed();
	assert_int_equal(fakecluster_calls(FAKECLUSTER_ANY, ""), 0);
}

static void faults_of_a_scaledjob(void **state)
{
	static const struct {
		const char *object, *reason, *part;
	} cases[] = {
		{ SJ("j", TRIGGERS), "missing-job", "spec.jobTargetRef: missing" },
		{ SJ("j", "'jobTargetRef':{}," TRIGGERS), "incorrect-job", "spec.jobTargetRef.template: missing" },
		{ SJ("j", TEMPLATE), "incorrect-triggers",
			"spec.triggers: no triggers defined in the ScaledJob: at least one is needed" },
		{ SJ("j", TEMPLATE ",'triggers':[{'type':'a','name':'x'},{'type':'a','name':'x'}]"),
			"incorrect-triggers", "the name \"x\" is used twice" },
		{ SJ("j", TEMPLATE ",'triggers':[{'type':1}]"), "incorrect-spec",
			"spec.triggers[0].type: must be a string" },
		{ SJ("j", TEMPLATE "," TRIGGERS ",'maxReplicaCount':-1"), "incorrect-replicas",
			"spec.maxReplicaCount: -1" },
		{ SJ("j", TEMPLATE "," TRIGGERS ",'pollingInterval':'5'"), "incorrect-spec",
			"spec.pollingInterval: must be" },
		{ SJ("a234567890123456789012345678901234567890123456789012345678901234", TEMPLATE "," TRIGGERS),
			"name-too-long", "has 64" },
		{ "{'metadata':{'name':'j','namespace':'shop','annotations':{'autoscaling.keda.sh/"
		  "paused':'perhaps'}},'spec':{" TEMPLATE "," TRIGGERS "}}",
			"incorrect-annotations", "\"perhaps\" is neither true nor false" },
		{ "{'metadata':{'name':'j','namespace':'../x'},'spec':{" TEMPLATE "," TRIGGERS "}}", "incorrect-spec",
			"metadata.namespace: \"../x\"" },
		{ "{'metadata':{'name':'j'},'spec':{" TEMPLATE "," TRIGGERS "}}", "incorrect-spec",
			"metadata.namespace: \"\"" },
		{ "{'metadata':{'namespace':'shop'},'spec':{}}", "incorrect-spec", "metadata.name" },
		{ "{}", "incorrect-spec", "metadata" },
		{ "[]", "incorrect-spec", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		judge("ScaledJob", cases[i].object, NULL);
		expect_refused(cases[i].reason, cases[i].part);
		assert_int_equal(t.warning_count, 0);
		assert_int_equal(fakecluster_calls(FAKECLUSTER_ANY, ""), 0);
	}
}

/* Its own, and of its parameters the same as a ScaledObject's. */
static void warnings_of_a_scaledjob(void **state)
{
	(void)state;
	judge("ScaledJob",
		SJ("j", TEMPLATE ",'triggers':[{'type':'scripted','metadata':{'source':'a'},'metricType':'Value'}]"),
		NULL);
	expect_allowed();
	assert_has(t.warnings, "spec.triggers: metricType cannot be set in a ScaledJob");
	judge("ScaledJob",
		SJ("j", TEMPLATE ",'triggers':[{'type':'scripted','metadata':{'source':'a'},'useCachedMetrics':true}]"),
		NULL);
	expect_allowed();
	assert_string_equal(t.warnings, "spec.triggers: useCachedMetrics has no effect in a ScaledJob\n");
	judge("ScaledJob",
		SJ("j",
			TEMPLATE
			",'triggers':[{'type':'predictkube','metadata':{},'authenticationRef':{'name':'x'}},{'type':'"
			"scripted','metadata':{}},{'type':'scripted','metadata':{},'authenticationRef':{'name':'x'}},"
			"{'type':'scripted','metadata':{'sourceFromEnv':'X'}},{'type':'scripted','metadata':{'source':'"
			"a','treshold':'3'}}]"),
		NULL);
	expect_allowed();
	assert_int_equal(t.warning_count, 3);
	assert_has(t.warnings, "trigger 0: no scaler found for type: predictkube");
	assert_has(t.warnings, "trigger 1 (scripted): missing required parameter \"source\"");
	assert_has(t.warnings,
		"trigger 4 (scripted): metadata has unknown parameters: \"treshold\" (did you mean "
		"\"threshold\"?)");
}

/*
 * Faults of a Job that its schema does not cover; the API server would report only the first one.
 */
static void warnings_about_refused_jobs(void **state)
{
	(void)state;
	judge("ScaledJob",
		SJ("j",
			"'jobTargetRef':{'backoffLimit':-1,'selector':{'matchLabels':{'a':'b'}},'template':{'spec':{'"
			"restartPolicy':'Always','containers':[{'name':'c','image':'i'},{'name':'d'}]}}}," TRIGGERS),
		NULL);
	expect_allowed();
	assert_string_equal(t.warnings,
		"spec.jobTargetRef.template.spec.restartPolicy: \"Always\" is not for Jobs: Never or OnFailure\n"
		"spec.jobTargetRef.backoffLimit: -1 is too small: at least 0\n"
		"spec.jobTargetRef.selector: remove it: each Job is given one of its own\n"
		"spec.jobTargetRef.template.spec.containers[1].image: missing: a Job needs an image for each "
		"container\n");
}

#define SJ_FINALIZERS(list, spec)                                                                                      \
	"{'metadata':{'name':'j','namespace':'shop','finalizers':[" list "]},'spec':{" spec "}}"

static void a_scaledjobs_deletion_is_never_blocked(void **state)
{
	(void)state;
	judge("ScaledJob", SJ_FINALIZERS("", TRIGGERS), SJ_FINALIZERS("'a'", TRIGGERS));
	expect_allowed();
	judge("ScaledJob", SJ_FINALIZERS("'a'", TRIGGERS), SJ_FINALIZERS("'a','b'", TRIGGERS));
	expect_allowed();
	judge("ScaledJob", SJ_FINALIZERS("", TRIGGERS), SJ_FINALIZERS("'a'", TRIGGERS ",'minReplicaCount':1"));
	expect_refused("missing-job", "spec.jobTargetRef: missing");
	judge("ScaledJob", SJ_FINALIZERS("'a'", TRIGGERS), SJ_FINALIZERS("'a'", TRIGGERS));
	expect_refused("missing-job", "spec.jobTargetRef: missing");
	judge("ScaledJob",
		"{'metadata':{'name':'j','namespace':'shop','deletionTimestamp':'2026-01-01T00:00:00Z'},'spec':{}}",
		SJ_FINALIZERS("'a'", TRIGGERS));
	expect_allowed();
}

static void the_other_kinds(void **state)
{
	(void)state;
	judge("TriggerAuthentication",
		"{'metadata':{'name':'a','namespace':'shop'},'spec':{'secretTargetRef':[{'parameter':'p','name':'s','"
		"key':'k'}]}}",
		NULL);
	expect_allowed();
	judge("TriggerAuthentication",
		"{'metadata':{'name':'a','namespace':'shop'},'spec':{'podIdentity':{'provider':'azure-workload','"
		"identityId':''}}}",
		NULL);
	expect_refused("incorrect-pod-identity", "spec.podIdentity.identityId: empty");
	judge("ClusterTriggerAuthentication",
		"{'metadata':{'name':'a'},'spec':{'oauth2':{'type':'clientCredentials','clientId':'c','tokenUrl':'"
		"nowhere'}}}",
		NULL);
	expect_refused("incorrect-oauth2", "spec.oauth2.tokenUrl: must be a valid http or https URL");
	judge("ClusterTriggerAuthentication", "{'metadata':{'name':'a'},'spec':{'secretTargetRef':7}}", NULL);
	expect_refused("incorrect-spec", "spec.secretTargetRef");
	judge("Deployment", "{}", NULL);
	expect_refused("incorrect-spec", "kind: \"Deployment\" is not validated here");
	assert_int_equal(fakecluster_calls(FAKECLUSTER_ANY, ""), 0);
}

/* Errors for users of an authentication are warnings: it need not have users. */
static void an_unusable_authentication_gets_a_warning(void **state)
{
#define SECRETS(id) "'secrets':[{'parameter':'password','" id "'}]"
#define FROM(key)   "'" key "':{'valueFrom':{'secretKeyRef':{'name':'s','key':'k'}}}"
#define VAULT(login)                                                                                                   \
	"'hashiCorpVault':{'address':'http://v'," login ",'secrets':[{'parameter':'p','path':'a','key':'b'}]}"
	static const struct {
		const char *spec, *warning; /* NULL: none */
	} cases[] = {
		{ HERE("'gcpSecretManager':{" SECRETS("id':'redis") "}"),
			"TriggerAuthentication shop/a: gcpSecretManager: clientSecret is expected when not using a pod "
			"identity provider: give credentials.clientSecret" },
		{ HERE("'gcpSecretManager':{'credentials':{" FROM("clientSecret") "}," SECRETS("id':'../x") "}"),
			"gcpSecretManager parameter \"password\": secret ../x: the id is invalid" },
		{ HERE("'gcpSecretManager':{'podIdentity':{'provider':'aws'}," SECRETS("id':'redis") "}"),
			"gcp secret manager does not support pod identity provider - aws" },
		{ HERE("'gcpSecretManager':{'podIdentity':{'provider':'gcp'}," SECRETS("id':'redis") "}"),
			"gcpSecretManager.podIdentity asks for kscaled's own identity" },
		{ HERE("'gcpSecretManager':{'credentials':{" FROM("clientSecret") "}," SECRETS("id':'redis") "}"),
			NULL },
		{ HERE("'awsSecretManager':{'credentials':{" FROM("accessKey") "}," SECRETS("name':'redis") "}"),
			"awsSecretManager.region: missing" },
		{ HERE("'awsSecretManager':{'region':'eu-west-1','credentials':{" FROM("accessKey") "}," SECRETS(
			  "name':'redis") "}"),
			"AccessKeyID and AccessSecretKey are expected" },
		{ HERE("'awsSecretManager':{'region':'eu-west-1','credentials':{" FROM("accessKey") "," FROM(
			  "accessSecretKey") "}," SECRETS("name':'redis") "}"),
			NULL },
		{ HERE("'azureKeyVault':{'vaultUri':'http://v'," SECRETS("name':'redis") "}"),
			"azureKeyVault.vaultUri: must be an https URL" },
		{ HERE("'azureKeyVault':{'vaultUri':'https://v.vault.azure.net'," SECRETS("name':'redis") "}"),
			"clientID, tenantID and clientSecret are expected" },
		{ HERE("'podIdentity':{'provider':'azure'}"), "podIdentity provider \"azure\" is unknown" },
		{ HERE("'podIdentity':{'provider':'none'}"), NULL },
		{ HERE("'podIdentity':{'provider':'aws'}"), "podIdentity asks for kscaled's own identity" },
		{ HERE("'podIdentity':{'provider':'aws-eks'}"), "podIdentity asks for kscaled's own identity" },
		{ HERE("'podIdentity':{'provider':'azure-workload'}"), "podIdentity asks for kscaled's own identity" },
		{ HERE("'podIdentity':{'provider':'gcp'}"), "cloud-identity all" },
		{ HERE("'env':[{'parameter':'p','name':'A','containerName':'c'}]"), NULL },
		{ HERE("'filePath':'x'"), "filePath: only a ClusterTriggerAuthentication may read files" },
		{ HERE(VAULT("'authentication':'kubernetes','role':'r'")), "needs mount and role" },
		{ HERE(VAULT("'authentication':'token'")),
			"address \"http://v\" is not one of --vault-trusted-addresses" },
		{ HERE("'boundServiceAccountToken':[{'parameter':'p','serviceAccountName':'s'}]"), NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		judge("TriggerAuthentication", cases[i].spec, NULL);
		expect_allowed();
		if (t.warning_count != (cases[i].warning != NULL))
			fail_msg("%s: %s", cases[i].spec, t.warnings);
		if (cases[i].warning)
			assert_has(t.warnings, cases[i].warning);
	}
	judge("ClusterTriggerAuthentication",
		"{'metadata':{'name':'a'},'spec':{'filePath':'x','gcpSecretManager':{'podIdentity':{'provider':'gcp'}"
		"," SECRETS("id':'redis") "}}}",
		NULL);
	expect_allowed();
	assert_int_equal(t.warning_count, 0);
	rules.no_files = true;
	judge("ClusterTriggerAuthentication", "{'metadata':{'name':'a'},'spec':{'filePath':'x'}}", NULL);
	expect_allowed();
	assert_has(t.warnings, "filePath: no files are read: --filepath-auth-root-path");
	rules.restrict_secrets = true;
	judge("TriggerAuthentication", HERE("'secretTargetRef':[{'parameter':'p','name':'s','key':'k'}]"), NULL);
	expect_allowed();
	assert_has(t.warnings, "Secret shop/s is not read: --restrict-secret-access");
	/* The same Secret as a source. */
	judge("ScaledObject",
		SO("web", GIVEN_TARGET ",'triggers':[{'type':'scripted','metadata':{'source':'secret'}}]"), NULL);
	expect_allowed();
	assert_has(t.warnings, "trigger 0 (scripted): Secret s is not read: --restrict-secret-access");
	assert_int_equal(fakecluster_calls(FAKECLUSTER_ANY, ""), 0);
}

/* Warnings about kscaled's own identity at a cloud are the same as the refusals here. */
static void own_identities_are_warned_of_where_they_are_refused(void **state)
{
#define OWNING(more)                                                                                                   \
	"{'metadata':{'name':'o','namespace':'shop'},'spec':{" GIVEN_TARGET                                            \
	",'triggers':[{'type':'owning','metadata':{'source':'a'}" more "}]}}"
	static const char by_cluster[] = OWNING(
		",'authenticationRef':{'name':'a','kind':'ClusterTriggerAuthentication'}"),
			  by_itself[] = OWNING(""),
			  of_cluster[] = "{'metadata':{'name':'a'},'spec':{'podIdentity':"
					 "{'provider':'aws'}}}",
			  here[] = HERE("'podIdentity':{'provider':'aws'}");
	static const struct {
		const char *kind, *object;
		enum auth_cloud allowed; /* by this option, and by those that allow more */
	} cases[] = {
		{ "TriggerAuthentication", here, AUTH_CLOUD_ALL },
		{ "ClusterTriggerAuthentication", of_cluster, AUTH_CLOUD_CLUSTER },
		{ "ScaledObject", by_itself, AUTH_CLOUD_ALL },
		{ "ScaledObject", by_cluster, AUTH_CLOUD_CLUSTER },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (rules.cloud = AUTH_CLOUD_NONE; rules.cloud <= AUTH_CLOUD_ALL; rules.cloud++) {
			judge(cases[i].kind, cases[i].object, NULL);
			expect_allowed();
			if (t.warning_count != (rules.cloud < cases[i].allowed))
				fail_msg("%zu, %d: %s", i, (int)rules.cloud, t.warnings);
		}
	}
}

/* As KEDA left it. */
static void an_object_refused_when_new_may_be_changed(void **state)
{
#define OLD(more)                                                                                                      \
	"{'metadata':{'name':'a23456789012345678901234567890123456789012345678901234567890','namespace':'shop'},"      \
	"'spec':{" GIVEN_TARGET "," TRIGGERS more "}}"

	(void)state;
	judge("ScaledObject", OLD(""), NULL);
	expect_refused("hpa-name-too-long", "has 69 characters");
	judge("ScaledObject", OLD(",'maxReplicaCount':7"), OLD(""));
	expect_allowed();
	assert_int_equal(t.warning_count, 1);
	assert_has(t.warnings, "has 69 characters");
	/* But it must not become anything new. */
	judge("ScaledObject",
		SO("web",
			GIVEN_TARGET "," TRIGGERS ",'advanced':{'horizontalPodAutoscalerConfig':{'name':"
				     "'a2345678901234567890123456789012345678901234567890123456789012345'}}"),
		WEB);
	expect_refused("hpa-name-too-long", "has 65 characters");
}

/* A name is made after admission. */
static void a_generated_name_is_counted_in_full(void **state)
{
	(void)state;
	judge("ScaledObject",
		"{'metadata':{'generateName':'web-','namespace':'shop'},'spec':{" GIVEN_TARGET "," TRIGGERS "}}", NULL);
	expect_allowed();
	judge("ScaledObject",
		"{'metadata':{'generateName':'a23456789012345678901234567890123456789012345678901-','namespace':'shop'}"
		",'spec':{" GIVEN_TARGET "," TRIGGERS "}}",
		NULL);
	expect_refused("hpa-name-too-long", "has 66 characters");
	judge("ScaledJob",
		"{'metadata':{'generateName':'a23456789012345678901234567890123456789012345678901234567-','namespace':'"
		"shop'},'spec':{" TEMPLATE "," TRIGGERS "}}",
		NULL);
	expect_allowed();
	judge("ScaledJob",
		"{'metadata':{'generateName':'a234567890123456789012345678901234567890123456789012345678-','namespace':"
		"'shop'},'spec':{" TEMPLATE "," TRIGGERS "}}",
		NULL);
	expect_refused("name-too-long", "has 64");
}

static void a_question_can_be_taken_back(void **state)
{
	(void)state;
	ask("ScaledObject", SO("web", GIVEN_TARGET "," CPU), NULL, false);
	fakeloop_advance(1);
	admit_cancel(t.wait);
	ask("ScaledJob", "{'metadata':{'name':'j'},'spec':{}}", NULL, false);
	admit_cancel(t.wait);
	admit_cancel(NULL);
	fakeloop_advance(DEADLINE_MS);
	assert_int_equal(t.verdicts, 0);
	/* the end of everything takes it back, too: teardown */
	ask("ScaledObject", SO("web", GIVEN_TARGET "," CPU), NULL, false);
}

static void the_older_object_keeps_its_target(void **state)
{
	struct err err = { 0 };

	(void)state;
	fakecluster_apply(OBJECTS "z-old", "{'spec':{" GIVEN_TARGET "," TRIGGERS "}}");
	fakeloop_advance(2000);
	fakecluster_apply(OBJECTS "a-new", "{'spec':{" GIVEN_TARGET "," TRIGGERS "}}");
	fakecluster_apply(OBJECTS "b-new", "{'spec':{'scaleTargetRef':{'name':'api'}," TRIGGERS "}}");
	fakeloop_advance(10);
	assert_int_equal(admit_among_others(t.store, store_object(t.store, "shop/z-old")->of.so, &err), 0);
	assert_int_equal(admit_among_others(t.store, store_object(t.store, "shop/b-new")->of.so, &err), 0);
	assert_int_equal(admit_among_others(t.store, store_object(t.store, "shop/a-new")->of.so, &err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_string_equal(err.msg,
		"spec.scaleTargetRef: the workload 'web' of type 'apps/v1.Deployment' is already managed by the "
		"ScaledObject 'z-old'");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(forbidden_objects_are_refused),
		CASE(a_good_object_comes_in),
		CASE(a_type_that_will_go_is_warned_of),
		CASE(an_invalid_object_causes_no_request),
		CASE(other_objects_are_known_from_memory),
		CASE(only_those_in_the_way_are_compared),
		CASE(foreign_hpas_are_known_from_memory),
		CASE(cpu_needs_a_target_with_requests),
		CASE(facts_that_cannot_be_had_are_warnings),
		CASE(a_store_that_is_not_read_yet_is_a_warning),
		CASE(a_namespace_that_is_not_watched_is_a_warning),
		CASE(hpas_that_cannot_be_watched_are_a_warning),
		CASE(warnings_go_along),
		CASE(warnings_have_an_end),
		CASE(warnings_do_not_quote_the_api_server),
		CASE(many_reviews_ask_little_and_last),
		CASE(a_verdict_reveals_no_other_namespace),
		CASE(a_deletion_is_never_blocked),
		CASE(a_valid_scaledjob_is_admitted_without_requests),
		CASE(faults_of_a_scaledjob),
		CASE(warnings_of_a_scaledjob),
		CASE(warnings_about_refused_jobs),
		CASE(a_scaledjobs_deletion_is_never_blocked),
		CASE(the_other_kinds),
		CASE(an_unusable_authentication_gets_a_warning),
		CASE(own_identities_are_warned_of_where_they_are_refused),
		CASE(an_object_refused_when_new_may_be_changed),
		CASE(a_generated_name_is_counted_in_full),
		CASE(a_question_can_be_taken_back),
		CASE(the_older_object_keeps_its_target),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
