/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recorded decisions and changes of replicas; each change is recorded once, whoever reports it
 * first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../fakes/fakecluster.h"
#include "../fakes/fakeloop.h"
#include "../fakes/fakeobjects.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "cache/cache.h"
#include "decide/verdict.h"
#include "scalers/sources.h"

#define SO      "/apis/keda.sh/v1alpha1/namespaces/shop/scaledobjects/web"
#define HPA     "/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/keda-hpa-web"
#define WEB     "/apis/apps/v1/namespaces/shop/deployments/web"
#define KEY     "shop/web"
#define SJ      "/apis/keda.sh/v1alpha1/namespaces/shop/scaledjobs/web" /* of the same name */
#define JOB_KEY "scaledjobs/shop/web"
#define BY(replicas, manager, subresource)                                                                             \
	"{'spec':{'replicas':" #replicas "},'metadata':{'managedFields':[{'manager':'" manager                         \
	"','subresource':'" subresource "','time':'2026-01-02T03:04:05Z','fieldsV1':{'f:spec':{'f:replicas':{}}}}]}}"

static struct {
	struct counters *counters;
	struct scaler_sources sources;
	struct cache *cache;
	uint64_t mark; /* of the decision noted last */
} t;

static void drop_line(void *arg, enum log_level level, const char *line)
{
	(void)arg;
	(void)level;
	(void)line;
}

/* As the store has it now; one that it does not have is gone. */
static struct object *of(const char *key)
{
	struct object *o = store_object(t.cache->store, key);

	if (o)
		return o;
	o = fakeobject(key);
	o->gone = true;
	return o;
}

static void want(const char *name)
{
	struct target_ref ref = { "apps", "v1", "deployments", "shop", name };

	targets_want(t.cache->targets, of(KEY), &ref);
}

static int setup(void **state)
{
	struct loop *loop = fakeloop_start();
	struct kube *kube = fakecluster_start(loop);

	(void)state;
	memset(&t, 0, sizeof(t));
	log_set_sink(drop_line, NULL);
	t.counters = counters_new();
	t.sources.loop = loop;
	t.cache = cache_new(&(struct cache_config){ .kube = kube,
		.counters = t.counters,
		.sources = &t.sources,
		.lookups = { .cluster_namespace = "keda" } });
	cache_start(t.cache, NULL, 0);
	fakecluster_apply(SO, "{'spec':{'scaleTargetRef':{'name':'web'},'triggers':[{'type':'redis','metadata':{}}]}}");
	fakecluster_apply(WEB, "{'spec':{'replicas':0}}");
	fakeloop_advance(10);
	want("web");
	fakeloop_advance(10);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	cache_free(t.cache);
	fakeobjects_end();
	counters_free(t.counters);
	fakeloop_advance(0);
	fakecluster_end();
	fakeloop_end();
	log_set_sink(NULL, NULL);
	return 0;
}

/* ---- Decisions ---- */

static void decide(enum scale_rule rule, int32_t replicas, const char *text, const struct verdict_trigger *triggers,
	size_t count, const struct composite *composite)
{
	struct journal_facts facts = { .now_unix_ms = fakeloop_wall_ms(),
		.triggers = triggers,
		.trigger_count = count,
		.composite = composite };
	struct journal_verdict d = { .rule = scale_rule_name(rule), .replicas = replicas };

	journal_decided(of(KEY), ++t.mark, &facts, &d, text);
}

static const struct journal_object *get(void)
{
	const struct journal_object *o = journal_get(of(KEY));

	assert_non_null(o);
	return o;
}

static void nothing_is_known_at_first(void **state)
{
	struct journal_facts facts = { .now_unix_ms = 1 };
	struct journal_verdict d = { .rule = "active" };

	(void)state;
	assert_null(journal_get(of(KEY)));
	assert_null(journal_get(of("shop/none")));
	assert_false(journal_stands(of("shop/none"), 7, 1));
	journal_decided(of("shop/none"), 7, &facts, &d, "x");
	assert_false(journal_stands(of("shop/none"), 7, 1));
	journal_scaled(of("shop/none"), 1, 0, 1, "x");
	assert_null(journal_get(of("shop/none")));
}

static void the_newest_decision_is_whole(void **state)
{
	struct err down = { .kind = ERR_TEMPORARY, .msg = "connection refused" },
		   late = { .kind = ERR_TEMPORARY, .msg = "timed out" };
	struct verdict_trigger triggers[] = {
		{ .metric_name = "s0-redis-jobs", .reading = { 12.5, true } },
		{ .metric_name = "s1-redis-mail", .err = &down, .failures = 3 },
		{ .metric_name = "s2-redis-fax",
			.reading = { 40, true },
			.source_err = &late,
			.failures = 9,
			.falling_back = true },
	};
	struct composite composite = { .value = 7.5, .active = true };
	const struct journal_object *o;

	(void)state;
	decide(SCALE_RULE_ACTIVE_PARTIAL, 4, "the HPA scales", triggers, 3, &composite);
	o = get();
	assert_true(o->decided);
	assert_true(o->decided_at_unix_ms == fakeloop_wall_ms());
	assert_string_equal(o->decision.rule, "active-partial");
	assert_int_equal(o->decision.replicas, 4);
	assert_string_equal(o->text, "the HPA scales");
	assert_int_equal(o->trigger_count, 3);
	assert_string_equal(o->triggers[0].metric, "s0-redis-jobs");
	assert_true(o->triggers[0].value == 12.5 && o->triggers[0].active && !o->triggers[0].failing &&
		!o->triggers[0].falling_back);
	assert_null(o->triggers[0].trouble);
	assert_true(o->triggers[1].failing && o->triggers[1].failures == 3);
	assert_string_equal(o->triggers[1].trouble, "connection refused");
	assert_true(o->triggers[2].falling_back && !o->triggers[2].failing && o->triggers[2].value == 40);
	assert_string_equal(o->triggers[2].trouble, "timed out");
	assert_true(o->has_composite && o->composite == 7.5);
	assert_null(o->composite_trouble);
	composite = (struct composite){ .failing = true,
		.value = 3,
		.err = { .kind = ERR_INVALID, .msg = "column 3: % by zero" } };
	triggers[1].err = NULL;
	decide(SCALE_RULE_ACTIVE, 4, "shorter", triggers, 2, &composite);
	assert_int_equal(o->trigger_count, 2);
	assert_false(o->triggers[1].failing);
	assert_null(o->triggers[1].trouble);
	assert_string_equal(o->text, "shorter");
	assert_string_equal(o->composite_trouble, "column 3: % by zero");
	assert_true(o->composite == 0);
	decide(SCALE_RULE_ACTIVE, 4, "longer than the one before", NULL, 0, NULL);
	assert_int_equal(o->trigger_count, 0);
	assert_null(o->triggers);
	assert_false(o->has_composite);
	assert_null(o->composite_trouble);
	assert_string_equal(o->text, "longer than the one before");
}

static void only_different_decisions_are_kept(void **state)
{
	const struct journal_object *o;

	(void)state;
	decide(SCALE_RULE_INACTIVE, 0, "idle", NULL, 0, NULL);
	fakeloop_advance(5000);
	decide(SCALE_RULE_INACTIVE, 0, "idle still", NULL, 0, NULL);
	o = get();
	assert_int_equal(o->decision_count, 1);
	assert_string_equal(o->decisions[0].text, "idle");
	assert_true(o->decisions[0].at_unix_ms == fakeloop_wall_ms() - 5000);
	assert_true(o->decided_at_unix_ms == fakeloop_wall_ms());
	assert_string_equal(o->text, "idle still");
	decide(SCALE_RULE_ACTIVATE, 1, "up", NULL, 0, NULL);
	decide(SCALE_RULE_ACTIVE, 1, "active", NULL, 0, NULL);
	decide(SCALE_RULE_ACTIVE, 2, "active at 2", NULL, 0, NULL);
	assert_int_equal(o->decision_count, 4);
	assert_string_equal(o->decisions[1].rule, "activate");
	assert_int_equal(o->decisions[3].replicas, 2);
	assert_string_equal(o->decisions[3].text, "active at 2");
	for (int i = 3; i < 30; i++)
		decide(SCALE_RULE_ACTIVE, i, "more", NULL, 0, NULL);
	assert_int_equal(o->decision_count, JOURNAL_DECISIONS_MAX);
	assert_int_equal(o->decisions[0].replicas, 20);
	assert_int_equal(o->decisions[9].replicas, 29);
}

static void the_same_decision_allocates_nothing(void **state)
{
	struct err down = { .kind = ERR_TEMPORARY, .msg = "connection refused" };
	struct verdict_trigger triggers[] = { { .metric_name = "s0-redis-jobs", .err = &down },
		{ .metric_name = "s1-redis-mail", .reading = { 1, true } } };
	struct composite composite = { .failing = true, .err = { .kind = ERR_INVALID, .msg = "column 3: % by zero" } };
	struct journal_object before;
	const char *trouble;

	(void)state;
	decide(SCALE_RULE_ERROR_HOLD, 1, "held", triggers, 2, &composite);
	before = *get();
	trouble = before.triggers[0].trouble;
	triggers[1].reading.value = 2;
	decide(SCALE_RULE_ERROR_HOLD, 1, "held", triggers, 2, &composite);
	assert_ptr_equal(get()->text, before.text);
	assert_ptr_equal(get()->triggers, before.triggers);
	assert_ptr_equal(get()->triggers[0].trouble, trouble);
	assert_ptr_equal(get()->decisions, before.decisions);
	assert_ptr_equal(get()->composite_trouble, before.composite_trouble);
	assert_true(get()->triggers[1].value == 2);
}

static void an_unchanged_decision_is_only_dated(void **state)
{
	struct journal_object before;

	(void)state;
	assert_false(journal_stands(of(KEY), 0, 1));
	decide(SCALE_RULE_INACTIVE, 0, "idle", NULL, 0, NULL);
	before = *get();
	assert_true(before.mark == t.mark);
	assert_false(journal_stands(of(KEY), t.mark + 1, before.decided_at_unix_ms + 5000));
	assert_true(get()->decided_at_unix_ms == before.decided_at_unix_ms);
	assert_true(journal_stands(of(KEY), t.mark, before.decided_at_unix_ms + 5000));
	assert_true(get()->decided_at_unix_ms == before.decided_at_unix_ms + 5000);
	assert_ptr_equal(get()->text, before.text);
	assert_int_equal(get()->decision_count, 1);
}

/* Changes of replicas alone are no decision. */
static void a_change_does_not_stand(void **state)
{
	(void)state;
	journal_scaled(of(KEY), 1, 0, 1, "x");
	assert_false(journal_stands(of(KEY), 0, 1));
}

/* Never inside a character. */
static void long_texts_are_cut(void **state)
{
	char text[500] = "x";

	(void)state;
	for (size_t i = 0; i < 200; i++)
		strcat(text, "\xC3\xA4");
	decide(SCALE_RULE_ACTIVE, 1, text, NULL, 0, NULL);
	assert_int_equal(strlen(get()->text), JOURNAL_TEXT_MAX - 1);
	assert_int_equal(strlen(get()->decisions[0].text), JOURNAL_TEXT_MAX - 1);
}

static void deleted_objects_are_forgotten(void **state)
{
	(void)state;
	decide(SCALE_RULE_ACTIVE, 1, "active", NULL, 0, NULL);
	fakecluster_change(WEB, BY(1, "kubectl", "scale"));
	fakeloop_advance(10);
	assert_int_equal(get()->change_count, 1);
	fakecluster_change(SO, "{'spec':{'maxReplicaCount':5}}");
	fakeloop_advance(10);
	assert_int_equal(get()->change_count, 1);
	fakecluster_delete(SO);
	fakeloop_advance(10);
	assert_null(journal_get(of(KEY)));
	fakecluster_change(WEB, BY(2, "kubectl", "scale"));
	fakeloop_advance(10);
	assert_null(journal_get(of(KEY)));
}

/* ---- Changes ---- */

static void check_change(size_t index, int32_t from, int32_t to, const char *who, const char *why)
{
	const struct journal_object *o = get();

	assert_true(index < o->change_count);
	assert_int_equal(o->changes[index].from, from);
	assert_int_equal(o->changes[index].to, to);
	assert_string_equal(o->changes[index].who, who);
	assert_string_equal(o->changes[index].why, why);
}

static void change_target(const char *text)
{
	fakecluster_change(WEB, text);
	fakeloop_advance(10);
}

static void changes_by_others_are_noted(void **state)
{
	(void)state;
	change_target(BY(2, "kubectl-edit", ""));
	check_change(0, 0, 2, "kubectl-edit", "");
	assert_true(get()->changes[0].at_unix_ms <= fakeloop_wall_ms() &&
		get()->changes[0].at_unix_ms >= fakeloop_wall_ms() - 10);
	assert_false(get()->decided);
	change_target(BY(3, "kubectl", "scale"));
	check_change(1, 2, 3, "kubectl", "through /scale");
	change_target("{'spec':{'replicas':4},'metadata':{'managedFields':null}}");
	check_change(2, 3, 4, "unknown", "");
	change_target(BY(5, "kube-controller-manager", "scale"));
	check_change(3, 4, 5, "kube-controller-manager", "through /scale");
	/* other changes are none of replicas */
	change_target("{'spec':{'template':{'spec':{'containers':[{'name':'c','env':[{'name':'A','value':'1'}]}]}}}}");
	assert_int_equal(get()->change_count, 4);
}

static void the_hpa_is_named(void **state)
{
	(void)state;
	fakecluster_apply(HPA,
		"{'metadata':{'labels':{'kscaled.io/"
		"managed':'true'},'ownerReferences':[{'kind':'ScaledObject','name':'web','uid':'u','controller':true}]}"
		",'spec':{}}");
	fakeloop_advance(10);
	change_target(BY(5, "kube-controller-manager", "scale"));
	check_change(0, 0, 5, "HorizontalPodAutoscaler keda-hpa-web", "desired by the HPA");
	change_target(BY(6, "k3s", "scale"));
	check_change(1, 5, 6, "HorizontalPodAutoscaler keda-hpa-web", "desired by the HPA");
	change_target(BY(7, "kube-controller-manager", ""));
	check_change(2, 6, 7, "kube-controller-manager", "");
	change_target(BY(8, "kubectl", "scale"));
	check_change(3, 7, 8, "kubectl", "through /scale");
}

/*
 * After a workload was set to 0 through /scale the API server names no author. Then the HPA's own
 * record is used, whether it comes before or after the change.
 */
static void the_hpa_is_named_by_its_own_word(void **state)
{
	char now[TIMESTAMP_TEXT_MAX];
	MEM_AUTO char *says = NULL;

	(void)state;
	fakecluster_apply(HPA,
		"{'metadata':{'labels':{'kscaled.io/"
		"managed':'true'},'ownerReferences':[{'kind':'ScaledObject','name':'web','uid':'u','controller':true}]}"
		",'spec':{}}");
	fakeloop_advance(10);
	change_target("{'spec':{'replicas':1}}");
	change_target("{'spec':{'replicas':3}}");
	check_change(1, 1, 3, "unknown", "");
	timestamp_format(fakeloop_wall_ms(), now);
	says = mem_printf("{'status':{'desiredReplicas':3,'lastScaleTime':'%s'}}", now);
	fakecluster_change(HPA, says);
	fakeloop_advance(10);
	check_change(0, 0, 1, "unknown", "");
	check_change(1, 1, 3, "HorizontalPodAutoscaler keda-hpa-web", "desired by the HPA");
	change_target("{'spec':{'replicas':2}}");
	check_change(2, 3, 2, "unknown", "");
	change_target("{'spec':{'replicas':3}}");
	check_change(3, 2, 3, "HorizontalPodAutoscaler keda-hpa-web", "desired by the HPA");
	/* An old wish of the HPA does not explain a new change. */
	fakeloop_advance(20000);
	change_target("{'spec':{'replicas':2}}");
	change_target("{'spec':{'replicas':3}}");
	check_change(5, 2, 3, "unknown", "");
	/* And our own is ours, also when others were faster than our answer. */
	change_target("{'spec':{'replicas':0}}");
	change_target("{'spec':{'replicas':1}}");
	change_target("{'spec':{'replicas':4}}");
	journal_scaled(of(KEY), fakeloop_wall_ms(), 0, 1, "active");
	check_change(7, 0, 1, "kscaled", "active");
	check_change(8, 1, 4, "unknown", "");
}

static void our_change_is_recorded_once_when_the_answer_comes_first(void **state)
{
	(void)state;
	journal_scaled(of(KEY), 1000, 0, 1, "s0-redis-jobs is active");
	check_change(0, 0, 1, "kscaled", "s0-redis-jobs is active");
	assert_true(get()->changes[0].at_unix_ms == 1000);
	change_target(BY(1, "kscaled", "scale"));
	assert_int_equal(get()->change_count, 1);
	change_target(BY(3, "kubectl", "scale"));
	check_change(1, 1, 3, "kubectl", "through /scale");
	assert_int_equal(get()->change_count, 2);
}

static void our_change_is_recorded_once_when_the_watch_comes_first(void **state)
{
	(void)state;
	change_target(BY(1, "kscaled", "scale"));
	check_change(0, 0, 1, "kscaled", "");
	journal_scaled(of(KEY), fakeloop_wall_ms(), 0, 1, "s0-redis-jobs is active");
	check_change(0, 0, 1, "kscaled", "s0-redis-jobs is active");
	assert_int_equal(get()->change_count, 1);
	change_target(BY(0, "kscaled", "scale"));
	journal_scaled(of(KEY), fakeloop_wall_ms(), 1, 0, "cooldown over");
	check_change(1, 1, 0, "kscaled", "cooldown over");
	journal_scaled(of(KEY), fakeloop_wall_ms(), 0, 1, NULL);
	check_change(2, 0, 1, "kscaled", "");
	change_target(BY(1, "kscaled", "scale"));
	assert_int_equal(get()->change_count, 3);
}

/* Without managedFields (an API server may drop them) it is still the same change. */
static void our_change_without_a_name(void **state)
{
	(void)state;
	change_target("{'spec':{'replicas':1}}");
	check_change(0, 0, 1, "unknown", "");
	journal_scaled(of(KEY), fakeloop_wall_ms(), 0, 1, "active");
	check_change(0, 0, 1, "kscaled", "active");
	assert_int_equal(get()->change_count, 1);
}

static void others_may_be_faster_than_our_answer(void **state)
{
	(void)state;
	change_target(BY(1, "kscaled", "scale"));
	change_target(BY(4, "kubectl", "scale"));
	journal_scaled(of(KEY), fakeloop_wall_ms(), 0, 1, "active");
	check_change(0, 0, 1, "kscaled", "active");
	check_change(1, 1, 4, "kubectl", "through /scale");
	assert_int_equal(get()->change_count, 2);
	/* the watch saw both changes as one: known changes are not recorded again */
	change_target(BY(0, "kscaled", "scale"));
	fakecluster_hold_watches(true);
	change_target(BY(1, "kscaled", "scale"));
	change_target(BY(6, "kubectl", "scale"));
	fakecluster_relist("");
	fakecluster_hold_watches(false);
	fakeloop_advance(3000);
	journal_scaled(of(KEY), fakeloop_wall_ms(), 0, 1, "active again");
	fakeloop_advance(10);
	change_target(BY(7, "kubectl", "scale"));
	assert_string_equal(get()->changes[get()->change_count - 1].who, "kubectl");
	assert_int_equal(get()->changes[get()->change_count - 1].from, 6);
}

/* An answer of ours that was lost long ago does not get the reason of another change. */
static void an_old_change_stays_as_it_is(void **state)
{
	(void)state;
	change_target(BY(1, "kscaled", "scale"));
	change_target(BY(0, "kubectl", "scale"));
	fakeloop_advance(120000);
	journal_scaled(of(KEY), fakeloop_wall_ms(), 0, 1, "active");
	check_change(0, 0, 1, "kscaled", "");
	check_change(2, 0, 1, "kscaled", "active");
	assert_int_equal(get()->change_count, 3);
}

static void another_target_is_no_change(void **state)
{
	(void)state;
	fakecluster_apply("/apis/apps/v1/namespaces/shop/deployments/other", "{'spec':{'replicas':7}}");
	want("other");
	fakeloop_advance(10);
	assert_null(journal_get(of(KEY)));
	fakecluster_delete("/apis/apps/v1/namespaces/shop/deployments/other");
	fakeloop_advance(10);
	fakecluster_apply("/apis/apps/v1/namespaces/shop/deployments/other", "{'spec':{'replicas':2}}");
	fakeloop_advance(10);
	assert_null(journal_get(of(KEY)));
	fakecluster_change("/apis/apps/v1/namespaces/shop/deployments/other", BY(3, "kubectl", "scale"));
	fakeloop_advance(10);
	check_change(0, 2, 3, "kubectl", "through /scale");
}

static void ten_changes_are_kept(void **state)
{
	(void)state;
	for (int32_t i = 0; i < 25; i++)
		journal_scaled(of(KEY), i, i, i + 1, "more");
	assert_int_equal(get()->change_count, JOURNAL_CHANGES_MAX);
	check_change(0, 15, 16, "kscaled", "more");
	check_change(9, 24, 25, "kscaled", "more");
}

/* ---- Of a ScaledJob ---- */

static void create_jobs(int32_t running, int32_t count, const char *why)
{
	struct journal_facts facts = { .now_unix_ms = fakeloop_wall_ms() };
	struct journal_verdict d = { .rule = "create", .act = true, .replicas = count, .active = true };

	journal_decided(of(JOB_KEY), ++t.mark, &facts, &d, "creates Jobs");
	journal_scaled(of(JOB_KEY), fakeloop_wall_ms(), running, running + count, why);
}

static void a_scaledjob_is_no_scaledobject_of_its_name(void **state)
{
	const struct journal_object *o;

	(void)state;
	create_jobs(0, 1, "x");
	assert_null(journal_get(of(JOB_KEY)));
	fakecluster_apply(SJ, "{'spec':{}}");
	fakeloop_advance(10);
	decide(SCALE_RULE_INACTIVE, 0, "idle", NULL, 0, NULL);
	create_jobs(0, 3, "3 waiting");
	o = journal_get(of(JOB_KEY));
	assert_non_null(o);
	assert_string_equal(o->decision.rule, "create");
	assert_true(o->decision.act && o->decision.active);
	assert_int_equal(o->decision.replicas, 3);
	assert_string_equal(o->text, "creates Jobs");
	assert_int_equal(o->decision_count, 1);
	assert_int_equal(o->change_count, 1);
	assert_int_equal(o->changes[0].from, 0);
	assert_int_equal(o->changes[0].to, 3);
	assert_string_equal(o->changes[0].who, "kscaled");
	assert_string_equal(o->changes[0].why, "3 waiting");
	assert_string_equal(get()->decision.rule, "inactive");
	assert_int_equal(get()->change_count, 0);
	/* A change of the Deployment is not one of the Jobs. */
	change_target(BY(2, "kubectl-edit", ""));
	assert_int_equal(o->change_count, 1);
	assert_int_equal(get()->change_count, 1);
	fakecluster_delete(SO);
	fakeloop_advance(10);
	assert_null(journal_get(of(KEY)));
	assert_non_null(journal_get(of(JOB_KEY)));
	fakecluster_delete(SJ);
	fakeloop_advance(10);
	assert_null(journal_get(of(JOB_KEY)));
}

/*
 * A target at the same replicas twice is one change reported twice; Jobs created twice are twice as
 * many.
 */
static void equal_creations_are_each_recorded(void **state)
{
	(void)state;
	fakecluster_apply(SJ, "{'spec':{}}");
	fakeloop_advance(10);
	create_jobs(0, 3, "");
	create_jobs(0, 3, "");
	assert_int_equal(journal_get(of(JOB_KEY))->change_count, 2);
	assert_int_equal(journal_get(of(JOB_KEY))->decision_count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_is_known_at_first, setup, teardown),
		cmocka_unit_test_setup_teardown(the_newest_decision_is_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(only_different_decisions_are_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(the_same_decision_allocates_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(an_unchanged_decision_is_only_dated, setup, teardown),
		cmocka_unit_test_setup_teardown(a_change_does_not_stand, setup, teardown),
		cmocka_unit_test_setup_teardown(long_texts_are_cut, setup, teardown),
		cmocka_unit_test_setup_teardown(deleted_objects_are_forgotten, setup, teardown),
		cmocka_unit_test_setup_teardown(changes_by_others_are_noted, setup, teardown),
		cmocka_unit_test_setup_teardown(the_hpa_is_named, setup, teardown),
		cmocka_unit_test_setup_teardown(the_hpa_is_named_by_its_own_word, setup, teardown),
		cmocka_unit_test_setup_teardown(our_change_is_recorded_once_when_the_answer_comes_first, setup,
			teardown),
		cmocka_unit_test_setup_teardown(our_change_is_recorded_once_when_the_watch_comes_first, setup,
			teardown),
		cmocka_unit_test_setup_teardown(our_change_without_a_name, setup, teardown),
		cmocka_unit_test_setup_teardown(others_may_be_faster_than_our_answer, setup, teardown),
		cmocka_unit_test_setup_teardown(an_old_change_stays_as_it_is, setup, teardown),
		cmocka_unit_test_setup_teardown(another_target_is_no_change, setup, teardown),
		cmocka_unit_test_setup_teardown(ten_changes_are_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(a_scaledjob_is_no_scaledobject_of_its_name, setup, teardown),
		cmocka_unit_test_setup_teardown(equal_creations_are_each_recorded, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
