/* SPDX-License-Identifier: Apache-2.0 */
/* Notifications of the store: real changes, and nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "../../fakes/fakecluster.h"
#include "../../fakes/fakeloop.h"

#include "base/log.h"
#include "cache/objects/store.h"
#include "kube/objecttext.h"

#define WEB            "/apis/keda.sh/v1alpha1/namespaces/shop/scaledobjects/web"
#define WEB_JOB        "/apis/keda.sh/v1alpha1/namespaces/shop/scaledjobs/web"
#define WEB_HPA        "/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/keda-hpa-web"
#define OWNED_BY(name) "'ownerReferences':[{'kind':'ScaledObject','name':'" name "','uid':'u','controller':true}]"
#define MANAGED        "'labels':{'kscaled.io/managed':'true'}"

static struct {
	struct store *store;
	unsigned told, changes; /* how often, and the last changes */
} t;

static void on_change(void *arg, struct object *o, unsigned changes)
{
	assert_ptr_equal(arg, &t);
	assert_non_null(o);
	t.told++;
	t.changes = changes;
}

static void drop_line(void *arg, enum log_level level, const char *line)
{
	(void)arg;
	(void)level;
	(void)line;
}

static int setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	log_set_sink(drop_line, NULL);
	t.store = store_new(fakecluster_start(fakeloop_start()), NULL);
	store_start(t.store, NULL, 0);
	fakeloop_advance(10);
	store_listen(t.store, &(struct store_events){ .on_object = on_change }, &t);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	store_free(t.store);
	fakeloop_advance(0);
	fakecluster_end();
	fakeloop_end();
	log_set_sink(NULL, NULL);
	return 0;
}

/* As an answered write would return it: as stored at the server now. */
static void learn_web(void)
{
	json_t *answer = json_deep_copy(fakecluster_get(WEB));

	store_learn(t.store, SCALED_OBJECT, answer);
	json_decref(answer);
}

/* Each with all bits that it means and no other. */
static void changes_are_reported(void **state)
{
	static const struct {
		const char *path, *change;
		unsigned changes;
	} cases[] = {
		{ WEB, "{'spec':{'pollingInterval':8}}", OBJECT_SPEC },
		{ WEB, "{'metadata':{'annotations':{'a':'b'}}}", OBJECT_ANNOTATIONS },
		{ WEB, "{'metadata':{'labels':{'a':'b'}}}", OBJECT_META },
		{ WEB, "{'metadata':{'finalizers':['f']}}", OBJECT_META },
		{ WEB, "{'metadata':{'finalizers':['g']}}", OBJECT_META },
		{ WEB, "{'status':{'hpaName':'x'}}", OBJECT_STATUS },
		{ WEB, "{'status':{'hpaName':'y'},'metadata':{'labels':null}}", OBJECT_STATUS | OBJECT_META },
		{ WEB, "{'metadata':{'managedFields':[{}]}}", 0 },
		{ WEB_JOB, "{'status':{'conditions':[]}}", OBJECT_STATUS },
		{ WEB_JOB, "{'spec':{'maxReplicaCount':8}}", OBJECT_SPEC },
		{ WEB_HPA, "{'spec':{'maxReplicas':8}}", OBJECT_HPA },
		{ WEB_HPA, "{'metadata':{'annotations':{'a':'b'}}}", OBJECT_HPA },
		{ WEB_HPA, "{'status':{'currentMetrics':[{}],'currentReplicas':2}}", 0 },
		{ WEB_HPA, "{'status':{'desiredReplicas':2}}", OBJECT_HPA_STATUS },
		{ WEB_HPA, "{'status':{'lastScaleTime':'2026-01-01T00:00:00Z'}}", OBJECT_HPA_STATUS },
		{ WEB_HPA, "{'status':{'conditions':[{'type':'ScalingActive','status':'True'}]}}", OBJECT_HPA_STATUS },
		{ WEB_HPA,
			"{'status':{'conditions':[{'type':'ScalingActive','status':'True'},{'type':'AbleToScale'}]}}",
			0 },
		{ WEB_HPA,
			"{'metadata':{'ownerReferences':[{'kind':'ScaledObject','name':'web','uid':'v','controller':"
			"true}]}}",
			OBJECT_HPA },
	};

	(void)state;
	fakecluster_apply(WEB, "{'spec':{'pollingInterval':7}}");
	fakecluster_apply(WEB_JOB, "{'spec':{}}");
	fakecluster_apply(WEB_HPA, "{'metadata':{" MANAGED "," OWNED_BY("web") "},'spec':{'maxReplicas':3}}");
	fakeloop_advance(10);
	assert_int_equal(t.changes, OBJECT_HPA | OBJECT_HPA_STATUS);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		t.changes = 0;
		fakecluster_change(cases[i].path, cases[i].change);
		fakeloop_advance(10);
		if (t.changes != cases[i].changes)
			fail_msg("%s: %s: %#x, not %#x", cases[i].path, cases[i].change, t.changes, cases[i].changes);
	}
	fakecluster_delete(WEB_JOB);
	fakeloop_advance(10);
	assert_int_equal(t.changes, OBJECT_GONE);
}

static struct objecttext_part part(const char *text)
{
	return (struct objecttext_part){ text, strlen(text) };
}

/* The watch was quicker than the answer: by object and version. */
static void a_stored_version_is_known(void **state)
{
	const struct meta *meta;
	struct objecttext text;

	(void)state;
	fakecluster_apply(WEB, "{'spec':{'pollingInterval':7}}");
	fakeloop_advance(10);
	meta = store_object(t.store, "shop/web")->of.meta;
	text = (struct objecttext){ .namespace_ = part("shop"),
		.name = part("web"),
		.uid = part(meta->uid),
		.version = part(meta->resource_version) };
	assert_true(store_has(t.store, &text));
	text.version = part("1234567");
	assert_false(store_has(t.store, &text));
	text.version = part(meta->resource_version);
	text.uid = part("another");
	assert_false(store_has(t.store, &text));
	text.uid = part(meta->uid);
	text.name = part("wob");
	assert_false(store_has(t.store, &text));
	assert_false(store_has(t.store, &(struct objecttext){ .namespace_ = part("") }));
}

/* A status and finalizers that we wrote are not reported; those that others wrote meanwhile are. */
static void an_answer_reports_only_foreign_changes(void **state)
{
	(void)state;
	fakecluster_apply(WEB, "{'spec':{'pollingInterval':7}}");
	fakeloop_advance(10);
	t.told = 0;
	fakecluster_hold_watches(true);
	fakecluster_change(WEB, "{'status':{'hpaName':'x'},'metadata':{'finalizers':['f']}}");
	learn_web();
	assert_int_equal(t.told, 0);
	assert_string_equal(store_object(t.store, "shop/web")->of.status->hpa_name, "x");
	fakecluster_change(WEB, "{'status':{'hpaName':'y'},'spec':{'pollingInterval':8}}");
	learn_web();
	assert_int_equal(t.changes, OBJECT_SPEC);
	fakecluster_hold_watches(false);
	fakeloop_advance(10);
	assert_int_equal(t.told, 1);
}

static const char *version_of(const char *path)
{
	return json_str_or_empty(json_object_get(fakecluster_get(path), "metadata"), "resourceVersion");
}

/* One event after the other, and the content of the HPA afterwards. */
static const struct hpa *hpa_after(const char *change)
{
	fakecluster_change(WEB_HPA, change);
	fakeloop_advance(10);
	return store_hpa(t.store, "shop/keda-hpa-web");
}

/*
 * An object that differs only in fields that are not read is not decoded; its version is known
 * anyway.
 */
static void the_same_in_another_version_is_kept(void **state)
{
	const struct hpa *first, *later;

	(void)state;
	fakecluster_apply(WEB, "{'spec':{'pollingInterval':7}}");
	fakecluster_apply(WEB_HPA, "{'metadata':{" MANAGED "," OWNED_BY("web") "},'spec':{'maxReplicas':3}}");
	for (int i = 0; i < 10; i++) /* their versions have two digits */
		hpa_after("{'status':{'currentMetrics':[{}]}}");
	first = hpa_after("{'status':{'currentReplicas':1}}");
	t.told = 0;
	later = hpa_after("{'status':{'currentMetrics':[{'a':1}]},'metadata':{'managedFields':[{}]}}");
	assert_ptr_equal(later, first);
	assert_string_equal(later->meta.resource_version, version_of(WEB_HPA));
	assert_int_equal(t.told, 0);
	later = hpa_after("{'status':{'currentMetrics':[{'a':2}],'currentReplicas':2}}");
	assert_int_equal(later->current_replicas, 2);
	later = hpa_after("{'spec':{'maxReplicas':4}}");
	assert_true(t.changes & OBJECT_HPA);
	/* Deleted and recreated with the same content: another object. */
	fakecluster_delete(WEB_HPA);
	fakecluster_apply(WEB_HPA, "{'metadata':{" MANAGED "," OWNED_BY("web") "},'spec':{'maxReplicas':4}}");
	fakeloop_advance(10);
	assert_string_equal(store_hpa(t.store, "shop/keda-hpa-web")->meta.uid,
		json_str_or_empty(json_object_get(fakecluster_get(WEB_HPA), "metadata"), "uid"));
}

/* A list is true whatever was known: after it the text is compared with its events alone. */
static void objects_of_a_list_are_read_again(void **state)
{
	const struct hpa *first;

	(void)state;
	fakecluster_apply(WEB, "{'spec':{'pollingInterval':7}}");
	fakecluster_apply(WEB_HPA, "{'metadata':{" MANAGED "," OWNED_BY("web") "},'spec':{'maxReplicas':3}}");
	fakeloop_advance(10);
	fakecluster_relist("horizontalpodautoscalers");
	fakeloop_advance(10);
	first = hpa_after("{'status':{'currentMetrics':[{}]}}");
	assert_non_null(first);
	assert_string_equal(first->meta.resource_version, version_of(WEB_HPA));
}

/* The echo of an answered write is not decoded: it is known already. */
static void the_echo_of_a_write_is_known(void **state)
{
	const struct object *o;
	const struct scaledobject *kept;

	(void)state;
	fakecluster_apply(WEB, "{'spec':{'pollingInterval':7}}");
	fakeloop_advance(10);
	fakecluster_change(WEB, "{'status':{'hpaName':'x'}}");
	learn_web();
	o = store_object(t.store, "shop/web");
	kept = o->of.so;
	t.told = 0;
	fakeloop_advance(10);
	assert_ptr_equal(o->of.so, kept);
	assert_int_equal(t.told, 0);
	fakecluster_change(WEB, "{'status':{'hpaName':'y'}}");
	fakeloop_advance(10);
	assert_string_equal(o->of.status->hpa_name, "y");
}

/*
 * Deleted and recreated while the watch was away: nothing kept for the old one applies to the new
 * one, and holders of the old record see that it is gone.
 */
static void a_recreated_object_is_another_record(void **state)
{
	struct object *old;
	json_t *anew;

	(void)state;
	fakecluster_apply(WEB, "{'spec':{'pollingInterval':7}}");
	fakeloop_advance(10);
	old = object_ref(store_object(t.store, "shop/web"));
	assert_int_equal(old->of.polling_interval_s, 7);
	t.told = 0;
	fakecluster_hold_watches(true);
	fakecluster_delete(WEB);
	fakecluster_apply(WEB, "{'spec':{'pollingInterval':8}}");
	anew = json_deep_copy(fakecluster_get(WEB));
	store_learn(t.store, SCALED_OBJECT, anew);
	json_decref(anew);
	assert_int_equal(t.told, 2);
	assert_int_equal(t.changes, OBJECT_SPEC);
	assert_true(old->gone);
	assert_null(old->of.so);
	assert_string_equal(old->path, "shop/web");
	assert_ptr_not_equal(store_object(t.store, "shop/web"), old);
	assert_string_not_equal(store_object(t.store, "shop/web")->uid, old->uid);
	assert_int_equal(store_object(t.store, "shop/web")->of.polling_interval_s, 8);
	object_unref(old);
	fakecluster_hold_watches(false);
	fakeloop_advance(10);
	assert_int_equal(t.told, 2);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(changes_are_reported),
		CASE(the_same_in_another_version_is_kept),
		CASE(objects_of_a_list_are_read_again),
		CASE(the_echo_of_a_write_is_known),
		CASE(a_stored_version_is_known),
		CASE(a_recreated_object_is_another_record),
		CASE(an_answer_reports_only_foreign_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
