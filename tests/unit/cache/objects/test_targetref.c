/* SPDX-License-Identifier: Apache-2.0 */
/* From scaleTargetRef to a watched target: kinds that appear, disappear and change while we run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../fakes/fakecluster.h"
#include "../../fakes/fakeloop.h"

#include "base/log.h"
#include "base/mem.h"
#include "cache/objects/targetref.h"

#define OBJECT  "/apis/keda.sh/v1alpha1/namespaces/shop/scaledobjects/web"
#define ARGO    "/apis/argoproj.io/v1alpha1"
#define ROLLOUT ARGO "/namespaces/shop/rollouts/web"
#define SPEC(ref)                                                                                                      \
	"{'spec':{'scaleTargetRef':{" ref                                                                              \
	"},'triggers':[{'type':'redis','metadata':{'address':'x:1','listName':'l'}}]}}"
#define OF_KIND(kind) SPEC("'apiVersion':'argoproj.io/v1alpha1','kind':'" kind "','name':'web'")
#define ROLLOUTS                                                                                                       \
	"{'resources':[{'name':'rollouts','kind':'Rollout','namespaced':true},{'name':'rollouts/"                      \
	"scale','kind':'Scale','namespaced':true},"                                                                    \
	"{'name':'reports','kind':'Report','namespaced':true},{'name':'clusters','kind':'Cluster','namespaced':false}" \
	",{'name':'clusters/scale','kind':'Scale','namespaced':false}]}"

static struct {
	struct store *store;
	struct kinds *kinds;
	struct targets *targets;
	struct targetref *refs;
	unsigned told;
} t;

static void on_change(void *arg, struct object *o, unsigned changes)
{
	(void)arg;
	assert_string_equal(o->key, "shop/web");
	assert_int_equal(changes, OBJECT_TARGET);
	t.told++;
}

static void on_object(void *arg, struct object *o, unsigned changes)
{
	(void)arg;
	if (changes & OBJECT_GONE)
		targets_release(o);
	else
		targetref_follow(t.refs, o, changes);
}

static void on_synced(void *arg)
{
	(void)arg;
	targets_open(t.targets);
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
	log_set_sink(drop_line, NULL);
	t.store = store_new(kube, NULL);
	t.kinds = kinds_new(kube);
	t.targets = targets_new(kube, t.kinds);
	t.refs = targetref_new(t.store, t.targets, t.kinds);
	targetref_listen(t.refs, on_change, NULL);
	store_listen(t.store, &(struct store_events){ .on_object = on_object, .on_synced = on_synced }, NULL);
	targets_start(t.targets, NULL, 0);
	store_start(t.store, NULL, 0);
	fakeloop_advance(10);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	store_clear(t.store);
	targetref_free(t.refs);
	targets_free(t.targets);
	kinds_free(t.kinds);
	store_free(t.store);
	fakeloop_advance(0);
	fakecluster_end();
	fakeloop_end();
	log_set_sink(NULL, NULL);
	return 0;
}

static int replicas(void)
{
	const struct workload *w;

	const struct object *o = store_object(t.store, "shop/web");

	return o && targets_get(o, &w) == TARGET_PRESENT ? w->replicas : -1;
}

static const char *found(const struct scaledobject *so, bool *waits)
{
	static char text[ERR_MSG_MAX + 64];
	char group[TARGETREF_TEXT], version[TARGETREF_TEXT], resource[TARGETREF_TEXT];
	struct err err = { 0 };

	if (targetref_find(t.refs, so, group, version, resource, waits, &err)) {
		assert_string_equal(resource, "");
		snprintf(text, sizeof(text), "%s: %s", err_kind_name(err.kind), err.msg);
	} else {
		snprintf(text, sizeof(text), "%s|%s|%s", group, version, resource);
	}
	return text;
}

static const char *found_now(void)
{
	bool waits;

	return found(store_object(t.store, "shop/web")->of.so, &waits);
}

static void kinds_lead_to_their_resources(void **state)
{
	struct scaledobject so = { .spec.target_kind = (char[]){ "StatefulSet" } };
	bool waits;

	(void)state;
	assert_string_equal(found(&so, &waits), "apps|v1|statefulsets");
	assert_false(waits);
	so.spec.target_kind = NULL;
	assert_string_equal(found(&so, NULL), "apps|v1|deployments");
	so.spec.target_api_version = (char[]){ "a/b/c" };
	assert_string_equal(found(&so, &waits),
		"invalid: spec.scaleTargetRef.apiVersion: \"a/b/c\" is not a group and version, like apps/v1");
	so.spec.target_api_version = (char[]){ "argoproj.io/v1alpha1" };
	assert_string_equal(found(&so, &waits), "temporary: its kind is being looked up");
	assert_true(waits);
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_GET, ARGO, 1, 500);
	fakeloop_advance(10);
	assert_string_equal(found(&so, &waits),
		"temporary: discovery of argoproj.io/v1alpha1: HTTP 500 refused by the test");
	assert_false(waits);
}

static void a_kind_is_looked_up_and_watched(void **state)
{
	(void)state;
	fakecluster_serve(ARGO, ROLLOUTS);
	fakecluster_apply(ROLLOUT, "{'spec':{'replicas':3}}");
	fakecluster_apply(OBJECT, OF_KIND("Rollout"));
	fakeloop_advance(20);
	assert_int_equal(replicas(), 3);
	assert_string_equal(found_now(), "argoproj.io|v1alpha1|rollouts");
	assert_int_equal(fakecluster_watches("/rollouts"), 1);
	assert_int_equal(t.told, 1);
	fakecluster_delete(OBJECT);
	fakeloop_advance(10);
	assert_int_equal(fakecluster_watches("/rollouts"), 0);
	fakeloop_advance(700000);
	fakecluster_forget_calls();
	fakeloop_advance(3600000);
	assert_int_equal(fakecluster_calls(KUBE_GET, ARGO), 0);
}

static void unscalable_targets_are_refused(void **state)
{
	(void)state;
	fakecluster_serve(ARGO, ROLLOUTS);
	fakecluster_apply(OBJECT, OF_KIND("Report"));
	fakeloop_advance(20);
	assert_string_equal(found_now(), "invalid: kind Report of argoproj.io/v1alpha1 has no scale subresource");
	assert_true(targetref_unscalable(t.refs, store_object(t.store, "shop/web")->of.so));
	assert_int_equal(t.told, 1);
	fakecluster_apply(OBJECT, OF_KIND("Cluster"));
	fakeloop_advance(20);
	assert_string_equal(found_now(),
		"invalid: kind Cluster of argoproj.io/v1alpha1 is not namespaced, so a ScaledObject cannot scale it");
	assert_false(targetref_unscalable(t.refs, store_object(t.store, "shop/web")->of.so));
	fakecluster_apply(OBJECT, OF_KIND("Rolout"));
	fakeloop_advance(20);
	assert_string_equal(found_now(), "missing: no kind Rolout in argoproj.io/v1alpha1: is its CRD installed?");
	assert_int_equal(fakecluster_watches("argoproj.io"), 0);
	assert_false(targetref_unscalable(t.refs, store_object(t.store, "shop/web")->of.so));
}

static void the_kind_changes_while_we_run(void **state)
{
	(void)state;
	fakecluster_serve(ARGO, ROLLOUTS);
	fakecluster_apply(ROLLOUT, "{'spec':{'replicas':3}}");
	fakecluster_apply("/apis/apps/v1/namespaces/shop/deployments/web", "{'spec':{'replicas':5}}");
	fakecluster_apply(OBJECT, SPEC("'name':'web'"));
	fakeloop_advance(20);
	assert_int_equal(replicas(), 5);
	fakecluster_apply(OBJECT, OF_KIND("Rollout"));
	fakeloop_advance(20);
	assert_int_equal(replicas(), 3);
	assert_int_equal(fakecluster_watches("/deployments"), 0);
	fakecluster_apply(OBJECT, SPEC("'apiVersion':'apps/v1','name':'web'"));
	fakeloop_advance(20);
	assert_int_equal(replicas(), 5);
	assert_int_equal(fakecluster_watches("/rollouts"), 0);
}

static void the_crd_comes_and_goes(void **state)
{
	(void)state;
	fakecluster_apply(OBJECT, OF_KIND("Rollout"));
	fakeloop_advance(60000);
	assert_string_equal(found_now(), "missing: no kind Rollout in argoproj.io/v1alpha1: is its CRD installed?");
	assert_int_equal(t.told, 1);
	fakecluster_serve(ARGO, ROLLOUTS);
	fakecluster_apply(ROLLOUT, "{'spec':{'replicas':3}}");
	fakeloop_advance(37000);
	assert_int_equal(replicas(), 3);
	assert_int_equal(t.told, 2);
	/* As a real server does it: the objects, then the lists, then discovery. */
	fakecluster_delete(ROLLOUT);
	fakeloop_advance(10);
	fakecluster_trouble("/rollouts", ERR_MISSING, "the server could not find the requested resource");
	fakeloop_advance(1000);
	fakecluster_serve(ARGO, NULL);
	fakeloop_advance(10000);
	assert_string_equal(found_now(), "missing: no kind Rollout in argoproj.io/v1alpha1: is its CRD installed?");
	assert_int_equal(fakecluster_watches("/rollouts"), 0);
	assert_int_equal(t.told, 3);
	fakecluster_serve(ARGO, ROLLOUTS);
	fakecluster_apply(ROLLOUT, "{'spec':{'replicas':4}}");
	fakecluster_trouble("/rollouts", ERR_NONE, NULL);
	fakeloop_advance(37000);
	assert_int_equal(replicas(), 4);
}

static void a_deletion_knows_the_resource_from_the_status(void **state)
{
	static const struct {
		const char *status;
		const char *resource;
	} cases[] = {
		{ "'group':'argoproj.io','version':'v1alpha1','kind':'Rollout','resource':'rollouts'", "rollouts" },
		{ "'group':'argoproj.io','version':'v1alpha1','kind':'Rollout','resource':'../secrets'", NULL },
		{ "'group':'argoproj.io','version':'v1beta1','kind':'Rollout','resource':'rollouts'", NULL },
		{ "'group':'argoproj.io','version':'v1alpha1','kind':'Other','resource':'rollouts'", NULL },
		{ "'group':'argoproj.io','version':'v1alpha1','kind':'Rollout','resource':''", NULL },
	};
	char group[TARGETREF_TEXT], version[TARGETREF_TEXT], resource[TARGETREF_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		MEM_AUTO char *status = mem_printf("{'status':{'scaleTargetGVKR':{%s}}}", cases[i].status);

		fakecluster_apply(OBJECT, OF_KIND("Rollout"));
		fakecluster_change(OBJECT, status);
		fakeloop_advance(10);
		assert_int_equal(targetref_stored(store_object(t.store, "shop/web")->of.so, group, version, resource),
			cases[i].resource ? 0 : -1);
		assert_string_equal(resource, cases[i].resource ? cases[i].resource : "");
	}
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(kinds_lead_to_their_resources),
		CASE(a_kind_is_looked_up_and_watched),
		CASE(unscalable_targets_are_refused),
		CASE(the_kind_changes_while_we_run),
		CASE(the_crd_comes_and_goes),
		CASE(a_deletion_knows_the_resource_from_the_status),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
