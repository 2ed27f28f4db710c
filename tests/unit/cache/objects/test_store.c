/* SPDX-License-Identifier: Apache-2.0 */
/* The store's content, from watches and from answered writes, in either order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../fakes/fakecluster.h"
#include "../../fakes/fakeloop.h"

#include "base/log.h"
#include "base/mem.h"
#include "cache/objects/store.h"

#define SO(namespace_, name)  "/apis/keda.sh/v1alpha1/namespaces/" namespace_ "/scaledobjects/" name
#define HPA(namespace_, name) "/apis/autoscaling/v2/namespaces/" namespace_ "/horizontalpodautoscalers/" name
#define SJ(namespace_, name)  "/apis/keda.sh/v1alpha1/namespaces/" namespace_ "/scaledjobs/" name
#define WEB                   SO("shop", "web")
#define WEB_JOB               SJ("shop", "web")
#define WEB_JOB_KEY           "scaledjobs/shop/web"
#define WEB_HPA               HPA("shop", "keda-hpa-web")

#define OWNED_BY(name) "'ownerReferences':[{'kind':'ScaledObject','name':'" name "','uid':'u','controller':true}]"

#define MANAGED "'labels':{'kscaled.io/managed':'true'}"

static struct {
	struct kube *kube;
	struct counters *counters;
	struct store *store;
	unsigned told, told_objects, told_jobs, told_hpas, told_synced, told_auths, told_known;
	char last_auth[STORE_KEY_MAX];
	char last[STORE_KEY_MAX]; /* last key notified */
	char all[1024];           /* all keys notified, each with a blank */
} t;

static void on_object(void *arg, struct object *o, unsigned changes)
{
	bool job = o->kind == SCALED_JOB;

	assert_ptr_equal(arg, &t);
	assert_int_not_equal(changes, 0);
	assert_int_equal((changes & OBJECT_GONE) != 0, o->gone);
	assert_ptr_equal(store_object(t.store, o->key), o->gone ? NULL : o);
	t.told++;
	t.told_objects += (changes & OBJECT_STORED) && !job;
	t.told_jobs += (changes & OBJECT_STORED) && job;
	t.told_hpas += (changes & (OBJECT_HPA | OBJECT_HPA_STATUS)) != 0;
	snprintf(t.last, sizeof(t.last), "%s", o->key);
	if (strlen(t.all) + strlen(o->key) + 2 < sizeof(t.all)) {
		strcat(t.all, o->key);
		strcat(t.all, " ");
	}
}

static void on_triggerauth(void *arg, const char *key)
{
	assert_ptr_equal(arg, &t);
	t.told_auths++;
	t.told_known += key == NULL;
	snprintf(t.last_auth, sizeof(t.last_auth), "%s", key ? key : "");
}

static void on_synced(void *arg)
{
	assert_ptr_equal(arg, &t);
	t.told++;
	t.told_synced++;
}

static void forget_told(void)
{
	t.told = t.told_objects = t.told_jobs = t.told_hpas = t.told_synced = t.told_auths = t.told_known = 0;
	t.last[0] = t.all[0] = '\0';
}

static char last_error[512];

static void on_line(void *arg, enum log_level level, const char *line)
{
	(void)arg;
	if (level == LOG_LEVEL_ERROR)
		snprintf(last_error, sizeof(last_error), "%s", line);
}

static void begin(const char *const *namespaces, size_t count)
{
	store_start(t.store, namespaces, count);
	fakeloop_advance(10);
}

static int setup_unstarted(void **state)
{
	static const struct store_events events = { on_object, on_triggerauth, on_synced };

	(void)state;
	memset(&t, 0, sizeof(t));
	*last_error = '\0';
	log_set_sink(on_line, NULL);
	t.kube = fakecluster_start(fakeloop_start());
	t.counters = counters_new();
	t.store = store_new(t.kube, t.counters);
	store_listen(t.store, &events, &t);
	return 0;
}

static int setup(void **state)
{
	setup_unstarted(state);
	begin(NULL, 0);
	forget_told();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	store_free(t.store);
	counters_free(t.counters);
	fakeloop_advance(0);
	fakecluster_end();
	fakeloop_end();
	log_set_sink(NULL, NULL);
	return 0;
}

static double value_of(enum counters_type type, const char *family, const char *kind)
{
	static const char *const labels[] = { "kind", NULL };

	return counters_get(counters_declare(t.counters, type, family, "", labels), (const char *const[]){ kind });
}

static double counted(const char *kind)
{
	return value_of(COUNTERS_GAUGE, "kscaled_objects", kind);
}

/* The object as an answered write would return it: as stored at the server now. */
static json_t *answer_of(const char *path)
{
	return json_deep_copy(fakecluster_get(path));
}

static const struct scaledobject *object_of(const char *key)
{
	const struct object *o = store_object(t.store, key);

	return o ? o->of.so : NULL;
}

static int32_t polling(const char *key)
{
	const struct scaledobject *so = object_of(key);

	return so ? so->spec.polling_interval_s : -1;
}

/* ---- Lists and watches ---- */

static void existing_objects_are_known_when_synced(void **state)
{
	(void)state;
	fakecluster_apply(WEB, "{'spec':{'pollingInterval':7}}");
	fakecluster_apply(SO("bank", "web"), "{'spec':{}}");
	fakecluster_apply(WEB_HPA, "{'metadata':{" MANAGED "," OWNED_BY("web") "}}");
	fakecluster_apply(HPA("shop", "others"), "{'spec':{'scaleTargetRef':{'name':'other'}}}");
	assert_false(store_synced(t.store));
	begin(NULL, 0);
	assert_true(store_synced(t.store));
	assert_int_equal(t.told_synced, 1);
	assert_int_equal(t.told_objects, 2);
	/*
	 * one that is there; and each object, when it is known which are not, and when its rivals
	 * are
	 */
	assert_int_equal(t.told_hpas, 5);
	assert_int_equal(store_count(t.store, SCALED_OBJECT), 2);
	assert_int_equal(polling("shop/web"), 7);
	assert_non_null(store_hpa(t.store, "shop/keda-hpa-web"));
	assert_null(store_hpa(t.store, "shop/others")); /* not marked as ours */
	assert_true(counted("ScaledObject") == 2);
	assert_true(counted("HorizontalPodAutoscaler") == 2);
	/* Once for the store's life. */
	fakecluster_relist("");
	fakeloop_advance(10);
	assert_int_equal(t.told_synced, 1);
	assert_int_equal(t.told, 8);
}

static void only_the_watched_namespaces_count(void **state)
{
	static const char *const namespaces[] = { "shop", "bank" };

	(void)state;
	fakecluster_apply(WEB, "{'spec':{}}");
	fakecluster_apply(SO("bank", "web"), "{'spec':{}}");
	fakecluster_apply(SO("lab", "web"), "{'spec':{}}");
	fakecluster_trouble("/namespaces/bank/scaledobjects", ERR_DENIED, "forbidden");
	begin(namespaces, 2);
	/*
	 * of ScaledObjects, ScaledJobs, HPAs and TriggerAuthentications in each, and of
	 * ClusterTriggerAuthentications
	 */
	assert_int_equal(fakecluster_watches(""), 9);
	assert_false(store_synced(t.store));
	assert_string_equal(store_trouble(t.store), "watching scaledobjects: forbidden");
	fakecluster_trouble("/namespaces/bank/scaledobjects", ERR_NONE, NULL);
	fakeloop_advance(2000);
	assert_true(store_synced(t.store));
	assert_null(store_trouble(t.store));
	assert_int_equal(store_count(t.store, SCALED_OBJECT), 2);
	/* A relist of one namespace says nothing about the other. */
	fakecluster_relist("/namespaces/bank/");
	fakeloop_advance(10);
	assert_int_equal(store_count(t.store, SCALED_OBJECT), 2);
}

static void a_missing_hpa_is_one_that_a_list_did_not_show(void **state)
{
	static const char *const namespaces[] = { "shop", "bank" };
	const char *trouble;

	(void)state;
	fakecluster_apply(WEB, "{'spec':{}}");
	fakecluster_apply(SO("bank", "web"), "{'spec':{}}");
	fakecluster_trouble("/namespaces/bank/horizontalpodautoscalers", ERR_DENIED, "forbidden");
	assert_false(store_knows_hpas(t.store, "shop", &trouble));
	begin(namespaces, 2);
	assert_true(store_knows_hpas(t.store, "shop", &trouble));
	assert_false(store_knows_hpas(t.store, "bank", &trouble));
	assert_string_equal(trouble, "watching horizontalpodautoscalers: forbidden");
	/*
	 * for each object its rivals; whether the HPAs of its namespace are known, and why the
	 * other's are not
	 */
	assert_int_equal(t.told_hpas, 4);
	assert_false(store_knows_hpas(t.store, "lab", &trouble));
	assert_null(trouble);
	forget_told();
	fakecluster_trouble("/namespaces/bank/horizontalpodautoscalers", ERR_NONE, NULL);
	fakeloop_advance(2000);
	assert_true(store_knows_hpas(t.store, "bank", &trouble));
	assert_null(strstr(t.all, "shop/web"));
	assert_non_null(strstr(t.all, "bank/web"));
	/* A later failure takes nothing back. */
	fakecluster_trouble("", ERR_TEMPORARY, "connection refused");
	fakeloop_advance(2000);
	assert_true(store_knows_hpas(t.store, "bank", &trouble));
}

static void changes_are_reported_by_key(void **state)
{
	(void)state;
	fakecluster_apply(WEB, "{'spec':{}}");
	fakeloop_advance(10);
	assert_string_equal(t.last, "shop/web");
	assert_int_equal(t.told_objects, 1);
	fakecluster_change(WEB, "{'spec':{'pollingInterval':8}}");
	fakeloop_advance(10);
	assert_int_equal(t.told_objects, 2);
	assert_int_equal(polling("shop/web"), 8);
	fakecluster_delete(WEB);
	fakeloop_advance(10);
	assert_int_equal(t.told_objects, 3);
	assert_null(object_of("shop/web"));
	assert_true(counted("ScaledObject") == 0);
}

static void an_hpas_change_is_reported_for_its_object(void **state)
{
	(void)state;
	/* An HPA of an unknown object is reported when that appears. */
	fakecluster_apply(WEB_HPA, "{'metadata':{" MANAGED "," OWNED_BY("web") "}}");
	fakeloop_advance(10);
	assert_string_equal(t.all, "");
	fakecluster_apply(WEB, "{'spec':{}}");
	fakecluster_apply(SO("shop", "other"), "{'spec':{}}");
	fakeloop_advance(10);
	forget_told();
	fakecluster_change(WEB_HPA, "{'spec':{'maxReplicas':3}}");
	fakeloop_advance(10);
	assert_string_equal(t.all, "shop/web ");
	forget_told();
	fakecluster_change(WEB_HPA, "{'metadata':{" OWNED_BY("other") "}}");
	fakeloop_advance(10);
	assert_string_equal(t.all, "shop/other shop/web ");
	forget_told();
	fakecluster_change(WEB_HPA, "{'metadata':{'ownerReferences':null}}");
	fakeloop_advance(10);
	assert_string_equal(t.all, "shop/other ");
	forget_told();
	fakecluster_change(WEB_HPA, "{'metadata':{" OWNED_BY("web") "}}");
	fakecluster_change(WEB_HPA, "{'metadata':{'labels':null}}");
	fakeloop_advance(10);
	assert_string_equal(t.all, "shop/web shop/web ");
	assert_non_null(store_hpa(t.store, "shop/keda-hpa-web"));
	forget_told();
	fakecluster_change(WEB_HPA, "{'metadata':{'ownerReferences':null}}"); /* no one owns it now */
	fakeloop_advance(10);
	assert_string_equal(t.all, "shop/web ");
	assert_null(store_hpa(t.store, "shop/keda-hpa-web"));
}

static void a_relist_removes_deleted_objects(void **state)
{
	(void)state;
	fakecluster_page(2, 1);
	for (int i = 0; i < 5; i++) {
		MEM_AUTO char *path = mem_printf(SO("shop", "web-%d"), i);

		fakecluster_apply(path, "{'spec':{}}");
	}
	fakeloop_advance(10);
	fakecluster_hold_watches(true);
	fakecluster_delete(SO("shop", "web-1"));
	fakecluster_delete(SO("shop", "web-4"));
	fakeloop_advance(10);
	assert_int_equal(store_count(t.store, SCALED_OBJECT), 5);
	forget_told();
	fakecluster_relist("/scaledobjects");
	fakeloop_advance(10);
	assert_int_equal(store_count(t.store, SCALED_OBJECT), 3);
	/* The unchanged ones are no news. */
	assert_int_equal(t.told, 2);
	/* A second list that is cut off and restarted. */
	fakecluster_relist("/scaledobjects");
	fakeloop_advance(2);
	fakecluster_relist("/scaledobjects");
	fakeloop_advance(10);
	assert_int_equal(store_count(t.store, SCALED_OBJECT), 3);
}

/* An etcd that was restored from a backup counts from an earlier number. */
static void a_list_is_true_whatever_was_known(void **state)
{
	json_t *newer;

	(void)state;
	fakecluster_apply(WEB, "{'spec':{'pollingInterval':7}}");
	fakeloop_advance(10);
	newer = answer_of(WEB);
	json_object_set_new(json_object_get(newer, "metadata"), "resourceVersion", json_string("999999"));
	json_object_set_new(json_object_get(newer, "spec"), "pollingInterval", json_integer(9));
	store_learn(t.store, SCALED_OBJECT, newer);
	json_decref(newer);
	assert_int_equal(polling("shop/web"), 9);
	fakecluster_relist("");
	fakeloop_advance(10);
	assert_int_equal(polling("shop/web"), 7);
}

/* ---- Answers and the watch ---- */

static void an_answer_is_ahead_of_the_watch(void **state)
{
	json_t *object;

	(void)state;
	fakecluster_apply(WEB, "{'spec':{'pollingInterval':1}}");
	fakeloop_advance(10);
	fakecluster_hold_watches(true);
	fakecluster_change(WEB, "{'spec':{'pollingInterval':2}}");
	fakecluster_change(WEB, "{'spec':{'pollingInterval':3}}");
	object = answer_of(WEB);
	forget_told();
	store_learn(t.store, SCALED_OBJECT, object);
	assert_int_equal(polling("shop/web"), 3);
	assert_int_equal(t.told_objects, 1);
	/* The watch comes by the older one, and by the same one: no news, and nothing is undone. */
	fakecluster_hold_watches(false);
	fakeloop_advance(10);
	assert_int_equal(polling("shop/web"), 3);
	assert_int_equal(t.told_objects, 1);
	json_decref(object);
}

static void an_older_answer_is_skipped(void **state)
{
	json_t *object;

	(void)state;
	fakecluster_apply(WEB, "{'spec':{'pollingInterval':1}}");
	object = answer_of(WEB);
	fakecluster_change(WEB, "{'spec':{'pollingInterval':2}}");
	fakeloop_advance(10);
	store_learn(t.store, SCALED_OBJECT, object);
	assert_int_equal(polling("shop/web"), 2);
	json_decref(object);
}

/* The answer to a write comes after the watch has reported the deletion. */
static void an_answer_about_a_deleted_object_raises_no_ghost(void **state)
{
	json_t *object, *hpa;

	(void)state;
	fakecluster_apply(WEB, "{'spec':{}}");
	fakecluster_apply(WEB_HPA, "{'metadata':{" MANAGED "," OWNED_BY("web") "}}");
	fakeloop_advance(10);
	object = answer_of(WEB);
	hpa = answer_of(WEB_HPA);
	fakecluster_delete(WEB);
	fakecluster_delete(WEB_HPA);
	fakeloop_advance(10);
	forget_told();
	store_learn(t.store, SCALED_OBJECT, object);
	store_learn_hpa(t.store, hpa);
	assert_null(object_of("shop/web"));
	assert_null(store_hpa(t.store, "shop/keda-hpa-web"));
	assert_int_equal(t.told, 0);
	json_decref(object);
	json_decref(hpa);
}

static void a_created_hpa_is_known_at_once_and_survives_the_list_under_way(void **state)
{
	json_t *hpa;

	(void)state;
	fakecluster_page(1, 5);
	fakecluster_apply(WEB, "{'spec':{}}");
	fakecluster_apply(HPA("shop", "a"), "{'metadata':{" MANAGED "}}");
	fakecluster_apply(HPA("shop", "b"), "{'metadata':{" MANAGED "}}");
	fakeloop_advance(10);
	fakecluster_relist("");
	fakeloop_advance(3);
	fakecluster_apply(WEB_HPA, "{'metadata':{" MANAGED "," OWNED_BY("web") "}}");
	hpa = answer_of(WEB_HPA);
	store_learn_hpa(t.store, hpa);
	assert_non_null(store_hpa(t.store, "shop/keda-hpa-web"));
	assert_string_equal(t.last, "shop/web");
	fakecluster_hold_watches(true);
	fakeloop_advance(100); /* the list ends without it */
	assert_non_null(store_hpa(t.store, "shop/keda-hpa-web"));
	/* The next list knows better. */
	fakecluster_delete(WEB_HPA);
	fakecluster_relist("");
	fakeloop_advance(100);
	assert_null(store_hpa(t.store, "shop/keda-hpa-web"));
	json_decref(hpa);
}

/*
 * An admission plugin took our label away: the watch will never show it, so its absence there means
 * nothing.
 */
static void an_hpa_without_our_label_is_learned_too(void **state)
{
	json_t *hpa;

	(void)state;
	fakecluster_apply(WEB_HPA, "{'metadata':{" OWNED_BY("web") "}}");
	hpa = answer_of(WEB_HPA);
	fakecluster_apply(HPA("shop", "newer"), "{'metadata':{" MANAGED "}}");
	fakeloop_advance(10);
	store_learn_hpa(t.store, hpa);
	assert_non_null(store_hpa(t.store, "shop/keda-hpa-web"));
	json_decref(hpa);
}

static void the_deletion_of_a_predecessor_is_not_that_of_the_object(void **state)
{
	json_t *anew;

	(void)state;
	fakecluster_apply(WEB, "{'spec':{'pollingInterval':1}}");
	fakeloop_advance(10);
	fakecluster_hold_watches(true);
	fakecluster_delete(WEB);
	fakecluster_apply(WEB, "{'spec':{'pollingInterval':2}}");
	anew = answer_of(WEB);
	store_learn(t.store, SCALED_OBJECT, anew);
	fakecluster_hold_watches(false);
	forget_told();
	fakeloop_advance(10);
	assert_int_equal(polling("shop/web"), 2);
	assert_int_equal(t.told, 0);
	json_decref(anew);
}

static void a_write_that_met_not_found_forgets_the_object(void **state)
{
	(void)state;
	fakecluster_apply(WEB, "{'spec':{}}");
	fakecluster_apply(WEB_HPA, "{'metadata':{" MANAGED "," OWNED_BY("web") "}}");
	fakeloop_advance(10);
	fakecluster_delete(WEB_HPA);
	forget_told();
	store_forget_hpa(t.store, "shop/keda-hpa-web");
	assert_null(store_hpa(t.store, "shop/keda-hpa-web"));
	assert_string_equal(t.all, "shop/web ");
	fakeloop_advance(10);
	assert_int_equal(t.told, 1);
	store_forget_hpa(t.store, "shop/unknown");
}

/* ---- Bad input ---- */

static void an_unreadable_object_is_reported_and_harmless(void **state)
{
	const struct scaledobject *web;
	static const char *const answers[] = { "{}", "[]", "{'metadata':{'name':7}}", "{'metadata':{'name':''}}",
		"{'kind':'Status','status':'Success'}" };

	(void)state;
	fakecluster_apply(WEB, "{'spec':'nonsense','status':[1]}");
	fakecluster_apply(SO("shop", "deep"), "{'metadata':{'labels':{'a':7}},'spec':{}}");
	fakecluster_apply(WEB_HPA, "{'metadata':{" MANAGED "},'spec':7,'status':{'conditions':[1,{'type':2}]}}");
	fakeloop_advance(10);
	web = object_of("shop/web");
	assert_true(web && web->spec_err);
	assert_non_null(store_hpa(t.store, "shop/keda-hpa-web"));
	assert_null(object_of("shop/deep"));
	assert_true(value_of(COUNTERS_COUNTER, "kscaled_objects_unreadable_total", "ScaledObject") == 1);
	assert_non_null(strstr(last_error, "ScaledObject shop/deep cannot be read, so nothing is done about it: "));
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		char text[128];
		json_t *object;

		snprintf(text, sizeof(text), "%s", answers[i]);
		for (char *c = text; *c; c++)
			*c = *c == '\'' ? '"' : *c;
		object = json_loads(text, 0, NULL);
		assert_non_null(object);
		store_learn(t.store, SCALED_OBJECT, object);
		store_learn_hpa(t.store, object);
		json_decref(object);
	}
	store_learn(t.store, SCALED_OBJECT, NULL);
	store_learn_hpa(t.store, NULL);
	assert_int_equal(store_count(t.store, SCALED_OBJECT), 1);
}

static void add_polling(void *arg, struct object *o)
{
	assert_int_equal(strncmp(o->key, "shop/", 5), 0);
	*(int *)arg += o->of.so->spec.polling_interval_s;
}

static void each_object_is_shown_once(void **state)
{
	int sum = 0;

	(void)state;
	fakecluster_apply(SO("shop", "a"), "{'spec':{'pollingInterval':1}}");
	fakecluster_apply(SO("shop", "b"), "{'spec':{'pollingInterval':10}}");
	fakeloop_advance(10);
	store_each_object(t.store, add_polling, &sum);
	assert_int_equal(sum, 11);
}

/* ---- ScaledJobs ---- */

static void keys_tell_the_kind(void **state)
{
	static const struct {
		const char *key;
		enum scaled_kind kind;
	} cases[] = {
		{ "shop/web", SCALED_OBJECT },
		{ "scaledjobs/shop/web", SCALED_JOB },
		{ "scaledjobs/web", SCALED_OBJECT }, /* a namespace of that name */
		{ "scaledjobs/scaledjobs/web", SCALED_JOB },
		{ "scaledjobs2/web", SCALED_OBJECT },
	};
	char long_name[254], key[STORE_KEY_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(store_key_kind(cases[i].key), cases[i].kind);
	}
	assert_string_equal(store_key("scaledjobs", "web", key), "scaledjobs/web");
	assert_string_equal(store_job_key("shop", "web", key), WEB_JOB_KEY);
	memset(long_name, 'x', 253);
	long_name[253] = '\0';
	assert_int_equal(strlen(store_job_key(long_name, long_name, key)), STORE_KEY_MAX - 1);
}

static void a_scaledjob_and_a_scaledobject_may_share_a_name(void **state)
{
	const char *trouble;
	const struct object *object, *job;

	(void)state;
	assert_true(store_knows(t.store, SCALED_JOB, "shop", &trouble));
	fakecluster_apply(WEB, "{'spec':{'pollingInterval':1}}");
	fakecluster_apply(WEB_JOB, "{'spec':{'pollingInterval':2}}");
	fakeloop_advance(10);
	assert_string_equal(t.all, "shop/web " WEB_JOB_KEY " ");
	assert_int_equal(t.told_objects, 1);
	assert_int_equal(t.told_jobs, 1);
	assert_int_equal(store_count(t.store, SCALED_OBJECT), 1);
	assert_int_equal(store_count(t.store, SCALED_JOB), 1);
	assert_true(counted("ScaledJob") == 1);
	object = store_object(t.store, "shop/web");
	assert_int_equal(object->kind, SCALED_OBJECT);
	assert_string_equal(object->path, "shop/web");
	assert_int_equal(object->of.polling_interval_s, 1);
	job = store_object(t.store, WEB_JOB_KEY);
	assert_int_equal(job->kind, SCALED_JOB);
	assert_string_equal(job->path, "shop/web");
	assert_null(job->of.so);
	assert_int_equal(job->of.polling_interval_s, 2);
	fakecluster_delete(WEB);
	fakeloop_advance(10);
	assert_null(store_object(t.store, "shop/web"));
	assert_ptr_equal(store_object(t.store, WEB_JOB_KEY), job);
	forget_told();
	fakecluster_delete(WEB_JOB);
	fakeloop_advance(10);
	assert_string_equal(t.all, WEB_JOB_KEY " ");
	assert_int_equal(t.told_jobs, 1);
	assert_null(store_object(t.store, WEB_JOB_KEY));
}

static void an_answer_about_a_scaledjob_is_ahead_of_the_watch(void **state)
{
	json_t *object;

	(void)state;
	fakecluster_apply(WEB_JOB, "{'spec':{'pollingInterval':1}}");
	fakeloop_advance(10);
	fakecluster_hold_watches(true);
	fakecluster_change(WEB_JOB, "{'spec':{'pollingInterval':3}}");
	object = answer_of(WEB_JOB);
	store_learn(t.store, SCALED_JOB, object);
	assert_int_equal(store_object(t.store, WEB_JOB_KEY)->of.polling_interval_s, 3);
	assert_int_equal(t.told_jobs, 2);
	assert_string_equal(t.last, WEB_JOB_KEY);
	fakecluster_hold_watches(false);
	fakeloop_advance(10);
	assert_int_equal(t.told_jobs, 2);
	json_decref(object);
}

/* Its CRD may not be there. */
static void without_scaledjobs_the_rest_goes_on(void **state)
{
	const char *trouble;

	(void)state;
	fakecluster_apply(WEB, "{'spec':{}}");
	fakecluster_apply(WEB_JOB, "{'spec':{}}");
	fakecluster_trouble("/scaledjobs", ERR_MISSING, "the server could not find the requested resource");
	begin(NULL, 0);
	assert_true(store_synced(t.store));
	assert_null(store_trouble(t.store));
	assert_int_equal(t.told_synced, 1);
	assert_false(store_knows(t.store, SCALED_JOB, "shop", &trouble));
	assert_string_equal(trouble, "watching scaledjobs: the server could not find the requested resource");
	assert_false(store_synced_scaledjobs(t.store, &trouble));
	assert_string_equal(trouble, "watching scaledjobs: the server could not find the requested resource");
	fakecluster_trouble("/scaledjobs", ERR_NONE, NULL);
	fakeloop_advance(2000);
	assert_true(store_knows(t.store, SCALED_JOB, "shop", &trouble));
	assert_null(trouble);
	assert_true(store_synced_scaledjobs(t.store, &trouble));
	assert_null(trouble);
	assert_int_equal(t.told_jobs, 1);
	assert_int_equal(t.told_synced, 1);
}

struct shown {
	char keys[256];
};

static void show(void *arg, struct object *o)
{
	struct shown *s = arg;

	assert_int_equal(o->kind, store_key_kind(o->key));
	snprintf(s->keys + strlen(s->keys), sizeof(s->keys) - strlen(s->keys), "%s=%s ", o->key, o->of.meta->name);
}

static void both_kinds_are_shown(void **state)
{
	struct shown all = { "" };

	(void)state;
	fakecluster_apply(WEB_JOB, "{'spec':{}}");
	fakecluster_apply(WEB, "{'spec':{}}");
	fakeloop_advance(10);
	store_each_object(t.store, show, &all);
	assert_string_equal(all.keys, "shop/web=web " WEB_JOB_KEY "=web ");
}

/* ---- TriggerAuthentications ---- */

#define TA(namespace_, name) "/apis/keda.sh/v1alpha1/namespaces/" namespace_ "/triggerauthentications/" name
#define CTA(name)            "/apis/keda.sh/v1alpha1/clustertriggerauthentications/" name
#define AUTH_SPEC            "{'spec':{'secretTargetRef':[{'parameter':'password','name':'redis','key':'pw'}]}}"

static void count_auth(void *arg, const struct triggerauth *auth)
{
	assert_non_null(auth);
	(*(unsigned *)arg)++;
}

static void authentications_are_known_by_scope(void **state)
{
	const char *trouble;
	unsigned count = 0;

	(void)state;
	fakecluster_apply(TA("shop", "redis"), AUTH_SPEC);
	fakecluster_apply(CTA("redis"), AUTH_SPEC);
	assert_false(store_knows_triggerauths(t.store, false, "shop", &trouble));
	assert_null(trouble);
	begin((const char *const[]){ "shop" }, 1);
	assert_true(store_knows_triggerauths(t.store, false, "shop", &trouble));
	assert_true(store_knows_triggerauths(t.store, true, "shop", &trouble));
	assert_string_equal(store_triggerauth(t.store, false, "shop", "redis")->secrets[0].key, "pw");
	assert_string_equal(store_triggerauth(t.store, true, "shop", "redis")->meta.namespace_, "");
	assert_null(store_triggerauth(t.store, false, "bank", "redis"));
	assert_int_equal(t.told_auths, 4); /* each, and that each kind is known */
	assert_int_equal(t.told_known, 2);
	store_each_triggerauth(t.store, count_auth, &count);
	assert_int_equal(count, 2);
	assert_true(counted("TriggerAuthentication") == 1);
	forget_told();
	fakecluster_change(TA("shop", "redis"), "{'metadata':{'labels':{'a':'b'}}}");
	fakeloop_advance(10);
	assert_string_equal(t.last_auth, "shop/redis");
	fakecluster_delete(CTA("redis"));
	fakeloop_advance(10);
	assert_string_equal(t.last_auth, "/redis");
	assert_null(store_triggerauth(t.store, true, "", "redis"));
}

static void without_authentications_the_rest_goes_on(void **state)
{
	const char *trouble;

	(void)state;
	fakecluster_apply(WEB, "{'spec':{}}");
	fakecluster_trouble("triggerauthentications", ERR_DENIED, "forbidden");
	begin(NULL, 0);
	assert_true(store_synced(t.store));
	assert_null(store_trouble(t.store));
	assert_int_equal(t.told_synced, 1);
	assert_false(store_knows_triggerauths(t.store, true, "", &trouble));
	assert_string_equal(trouble, "watching clustertriggerauthentications: forbidden");
	assert_int_equal(t.told_known, 2);
	fakecluster_trouble("triggerauthentications", ERR_NONE, NULL);
	fakeloop_advance(2000);
	assert_true(store_knows_triggerauths(t.store, true, "", &trouble));
	assert_null(trouble);
	assert_int_equal(t.told_synced, 1);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(existing_objects_are_known_when_synced, setup_unstarted, teardown),
		cmocka_unit_test_setup_teardown(only_the_watched_namespaces_count, setup_unstarted, teardown),
		cmocka_unit_test_setup_teardown(a_missing_hpa_is_one_that_a_list_did_not_show, setup_unstarted,
			teardown),
		CASE(changes_are_reported_by_key),
		CASE(an_hpas_change_is_reported_for_its_object),
		CASE(a_relist_removes_deleted_objects),
		CASE(a_list_is_true_whatever_was_known),
		CASE(an_answer_is_ahead_of_the_watch),
		CASE(an_older_answer_is_skipped),
		CASE(an_answer_about_a_deleted_object_raises_no_ghost),
		CASE(a_created_hpa_is_known_at_once_and_survives_the_list_under_way),
		CASE(an_hpa_without_our_label_is_learned_too),
		CASE(the_deletion_of_a_predecessor_is_not_that_of_the_object),
		CASE(a_write_that_met_not_found_forgets_the_object),
		CASE(an_unreadable_object_is_reported_and_harmless),
		CASE(each_object_is_shown_once),
		cmocka_unit_test(keys_tell_the_kind),
		CASE(a_scaledjob_and_a_scaledobject_may_share_a_name),
		CASE(an_answer_about_a_scaledjob_is_ahead_of_the_watch),
		cmocka_unit_test_setup_teardown(without_scaledjobs_the_rest_goes_on, setup_unstarted, teardown),
		CASE(both_kinds_are_shown),
		cmocka_unit_test_setup_teardown(authentications_are_known_by_scope, setup_unstarted, teardown),
		cmocka_unit_test_setup_teardown(without_authentications_the_rest_goes_on, setup_unstarted, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
