/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Targets whose replicas only /scale has: kinds that keep them elsewhere, and kinds that may not be
 * watched.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../fakes/fakecluster.h"
#include "../../fakes/fakeloop.h"
#include "../../fakes/fakeobjects.h"

#include "base/log.h"
#include "base/mem.h"
#include "cache/objects/targets.h"
#include "kube/denial.h"

#define ROLLOUT(name) "/apis/argoproj.io/v1alpha1/namespaces/shop/rollouts/" name
#define WEB           ROLLOUT("web")
#define SIZE(n)       "{'spec':{'size':" #n "}}"
#define REPLICAS(n)   "{'spec':{'replicas':" #n "}}"

static struct {
	struct kinds *kinds;
	struct targets *targets;
	unsigned told, warnings;
} t;

static void on_change(void *arg, struct object *o, unsigned changes)
{
	const char *owner_key = o->key;

	assert_int_equal(changes, OBJECT_TARGET);
	(void)arg;
	(void)owner_key;
	t.told++;
}

static void count_warning(void *arg, enum log_level level, const char *line)
{
	(void)arg;
	(void)line;
	t.warnings += level == LOG_LEVEL_WARN;
}

static int setup(void **state)
{
	struct kube *kube = fakecluster_start(fakeloop_start());

	(void)state;
	memset(&t, 0, sizeof(t));
	log_set_sink(count_warning, NULL);
	t.kinds = kinds_new(kube);
	t.targets = targets_new(kube, t.kinds);
	targets_listen(t.targets, on_change, &t);
	targets_start(t.targets, NULL, 0);
	targets_open(t.targets);
	return 0;
}

static int setup_elsewhere(void **state)
{
	setup(state);
	fakecluster_replicas_in("/rollouts/", "size");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	targets_free(t.targets);
	fakeobjects_end();
	kinds_free(t.kinds);
	fakeloop_advance(0);
	fakecluster_end();
	fakeloop_end();
	log_set_sink(NULL, NULL);
	return 0;
}

static void want(const char *owner_key, const char *name)
{
	struct target_ref ref = { "argoproj.io", "v1alpha1", "rollouts", "shop", name };

	targets_want(t.targets, fakeobject(owner_key), &ref);
}

static const struct workload *workload_of(const char *owner_key)
{
	const struct workload *w;

	return targets_get(fakeobject(owner_key), &w) == TARGET_PRESENT ? w : NULL;
}

static int replicas(const char *owner_key)
{
	const struct workload *w = workload_of(owner_key);

	return w ? w->replicas : -1;
}

/* -1: none, for the reason in *err. */
static int read_environment(const char *owner_key, struct strmap *env, struct err *err)
{
	const struct workload *w = workload_of(owner_key);
	struct strmap wanted = { 0 }, unresolved = { 0 };
	int failed;

	assert_non_null(w);
	strmap_set(&wanted, "A", "");
	failed = w ? workload_environment(w, NULL, &wanted, NULL, env, &unresolved, err) : 0;
	strmap_done(&wanted);
	strmap_done(&unresolved);
	return failed;
}

static int ready_of(const char *owner_key)
{
	const struct workload *w = workload_of(owner_key);

	return w ? w->ready_replicas : -2;
}

static const char *version_of(const char *owner_key)
{
	const struct workload *w = workload_of(owner_key);

	return w ? w->resource_version : "none";
}

static unsigned scale_reads(void)
{
	return fakecluster_calls(KUBE_GET, "/scale");
}

/* ---- Replicas that do not stand in .spec.replicas ---- */

static void they_are_read_once_per_change_of_the_spec(void **state)
{
	(void)state;
	fakecluster_apply(WEB, SIZE(3));
	want("shop/web", "web");
	fakeloop_advance(10);
	assert_int_equal(replicas("shop/web"), 3);
	assert_int_equal(ready_of("shop/web"), -1);
	assert_int_equal(scale_reads(), 1);
	assert_int_equal(t.told, 1);
	fakecluster_change(WEB, "{'status':{'readyReplicas':2}}");
	fakeloop_advance(600000);
	assert_int_equal(scale_reads(), 1);
	assert_int_equal(ready_of("shop/web"), 2);
	assert_string_equal(version_of("shop/web"), fakecluster_text(WEB, "metadata.resourceVersion"));
	fakecluster_change(WEB, SIZE(0));
	fakeloop_advance(10);
	assert_int_equal(replicas("shop/web"), 0);
	assert_int_equal(scale_reads(), 2);
	assert_int_equal(t.told, 2);
	fakecluster_delete(WEB);
	fakeloop_advance(10);
	assert_null(workload_of("shop/web"));
	assert_int_equal(t.told, 3);
}

/* Such a kind may use .spec.replicas for anything, even a number that could be one of replicas. */
static void spec_replicas_may_be_another_thing(void **state)
{
	static const char *const odd[] = { "'many'", "{'min':1,'max':9}", "1099511627776", "-1", "2.5", "[]", "true",
		"8" };

	(void)state;
	fakecluster_apply(WEB, SIZE(3));
	want("shop/web", "web");
	for (size_t i = 0; i < MEM_COUNT(odd); i++) {
		MEM_AUTO char *change = mem_printf("{'spec':{'replicas':%s,'size':%zu}}", odd[i], i);

		fakecluster_change(WEB, change);
		fakeloop_advance(10);
		assert_int_equal(replicas("shop/web"), i);
		assert_null(targets_trouble(fakeobject("shop/web")));
	}
	assert_int_equal(scale_reads(), MEM_COUNT(odd));
}

static void replicas_in_their_usual_place(void **state)
{
	(void)state;
	fakecluster_apply(WEB, REPLICAS(3));
	want("shop/web", "web");
	fakeloop_advance(10);
	fakecluster_change(WEB, REPLICAS(4));
	fakeloop_advance(10);
	assert_int_equal(replicas("shop/web"), 4);
	fakecluster_change(WEB, "{'status':{'readyReplicas':2}}");
	fakeloop_advance(600000);
	assert_int_equal(ready_of("shop/web"), 2);
	assert_int_equal(scale_reads(), 2);
	assert_int_equal(fakecluster_calls(FAKECLUSTER_ANY, ""), 2);
}

static void changes_while_it_is_read(void **state)
{
	(void)state;
	fakecluster_answer_lag(100);
	fakecluster_apply(WEB, SIZE(3));
	want("shop/web", "web");
	fakeloop_advance(10);
	for (int i = 0; i < 5; i++) {
		fakecluster_change(WEB, i % 2 ? SIZE(4) : SIZE(5));
		fakeloop_advance(10);
	}
	assert_null(workload_of("shop/web"));
	fakeloop_advance(300);
	assert_int_equal(replicas("shop/web"), 5);
	assert_string_equal(version_of("shop/web"), fakecluster_text(WEB, "metadata.resourceVersion"));
	assert_int_equal(scale_reads(), 2);
	assert_int_equal(t.told, 1);
	/* Gone while it is read. */
	fakecluster_change(WEB, SIZE(7));
	fakeloop_advance(10);
	fakecluster_delete(WEB);
	fakeloop_advance(300);
	assert_null(workload_of("shop/web"));
	assert_int_equal(fakecluster_under_way(), 0);
}

static void released_while_it_is_read(void **state)
{
	(void)state;
	fakecluster_apply(WEB, SIZE(3));
	fakecluster_answer_lag(100);
	want("shop/web", "web");
	fakeloop_advance(10);
	assert_int_equal(fakecluster_under_way(), 1);
	targets_release(fakeobject("shop/web"));
	assert_int_equal(fakecluster_under_way(), 0);
	fakeloop_advance(1000);
	assert_int_equal(t.told, 0);
}

static void a_late_wish(void **state)
{
	(void)state;
	fakecluster_apply(WEB, SIZE(3));
	want("shop/first", "first");
	fakeloop_advance(10);
	want("shop/web", "web");
	fakeloop_advance(10);
	assert_int_equal(replicas("shop/web"), 3);
	assert_int_equal(scale_reads(), 1);
	assert_int_equal(fakecluster_calls(KUBE_GET, ""), 2);
}

/*
 * Deleted and recreated; the read saw the new one, the watch reports the old one's end while its
 * scale is being read.
 */
static void the_end_of_a_predecessor(void **state)
{
	(void)state;
	fakecluster_apply(WEB, SIZE(3));
	want("shop/first", "first");
	fakeloop_advance(10);
	fakecluster_watch_lag(5);
	fakecluster_delete(WEB);
	fakecluster_apply(WEB, SIZE(7));
	want("shop/web", "web");
	fakecluster_answer_lag(1);
	fakeloop_advance(3); /* the object was read; its scale is asked for */
	fakecluster_answer_lag(50);
	fakeloop_advance(100);
	assert_int_equal(replicas("shop/web"), 7);
}

static void an_unreadable_scale_is_reported(void **state)
{
	(void)state;
	fakecluster_apply(WEB, SIZE(3));
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_GET, "/scale", FAKECLUSTER_ANY, 500);
	want("shop/web", "web");
	fakeloop_advance(100);
	assert_null(targets_trouble(fakeobject("shop/web")));
	fakeloop_advance(600000);
	assert_string_equal(targets_trouble(fakeobject("shop/web")),
		"reading the scale of argoproj.io/v1alpha1/rollouts/shop/web: HTTP 500 refused by the test");
	assert_int_equal(t.told > 0, 1);
	assert_int_equal(t.warnings, 2);
	assert_in_range(scale_reads(), 15, 40);
	fakecluster_heal();
	fakeloop_advance(40000);
	assert_int_equal(replicas("shop/web"), 3);
	assert_null(targets_trouble(fakeobject("shop/web")));
}

static void our_own_write_is_known(void **state)
{
	json_t *scale;

	(void)state;
	fakecluster_apply(WEB, SIZE(3));
	want("shop/web", "web");
	fakeloop_advance(10);
	fakecluster_watch_lag(100);
	fakecluster_change(WEB, SIZE(9));
	scale = json_pack("{s:{s:s}, s:{s:i}}", "metadata", "resourceVersion",
		fakecluster_text(WEB, "metadata.resourceVersion"), "spec", "replicas", 9);
	targets_learn_scale(fakeobject("shop/web"), scale);
	json_decref(scale);
	assert_int_equal(replicas("shop/web"), 9);
	fakeloop_advance(200);
	assert_int_equal(replicas("shop/web"), 9);
	assert_int_equal(scale_reads(), 1);
	assert_int_equal(t.told, 1);
}

/* ---- Kinds that may not be watched ---- */

static void deny(void)
{
	fakecluster_trouble("/rollouts", ERR_DENIED, "forbidden");
}

static void then_scale_is_read_now_and_then(void **state)
{
	struct strmap env = { 0 };
	struct err err = { 0 };

	(void)state;
	fakecluster_apply(WEB, REPLICAS(3));
	deny();
	want("shop/web", "web");
	want("shop/none", "none");
	fakeloop_advance(10);
	assert_int_equal(replicas("shop/web"), 3);
	assert_null(targets_trouble(fakeobject("shop/web")));
	assert_null(workload_of("shop/none"));
	assert_int_equal(t.told, 2);
	assert_int_equal(t.warnings, 1);
	assert_int_equal(read_environment("shop/web", &env, &err), -1);
	assert_int_equal(err.kind, ERR_DENIED);
	assert_string_equal(err.msg,
		"the environment of the scale target cannot be read: kscaled needs a role with the verbs get, list and "
		"watch on rollouts.argoproj.io");
	fakecluster_change(WEB, REPLICAS(5));
	fakecluster_apply(ROLLOUT("none"), REPLICAS(1));
	fakeloop_advance(18100);
	assert_int_equal(replicas("shop/web"), 5);
	assert_string_equal(version_of("shop/web"), fakecluster_text(WEB, "metadata.resourceVersion"));
	assert_int_equal(replicas("shop/none"), 1);
	fakecluster_delete(WEB);
	fakeloop_advance(18100);
	assert_null(workload_of("shop/web"));
	/* One wanted now is read now. */
	fakecluster_apply(ROLLOUT("b"), REPLICAS(2));
	want("shop/b", "b");
	fakeloop_advance(10);
	assert_int_equal(replicas("shop/b"), 2);
	fakecluster_forget_calls();
	fakeloop_advance(600000);
	assert_in_range(scale_reads(), 100, 150); /* three targets */
	assert_int_equal(t.warnings, 1);
	targets_release(fakeobject("shop/web"));
	targets_release(fakeobject("shop/none"));
	targets_release(fakeobject("shop/b"));
	fakecluster_forget_calls();
	fakeloop_advance(600000);
	assert_int_equal(scale_reads(), 0);
}

static void until_the_watch_is_allowed(void **state)
{
	struct strmap env = { 0 };

	(void)state;
	fakecluster_apply(WEB,
		"{'spec':{'replicas':3,'template':{'spec':{'containers':[{'name':'c','env':[{'name':'A','value':'1'}]}]"
		"}}}}");
	deny();
	want("shop/web", "web");
	fakeloop_advance(1800000);
	t.told = 0;
	fakecluster_trouble("/rollouts", ERR_NONE, NULL);
	fakeloop_advance(370000);
	assert_int_equal(fakecluster_watches("/rollouts"), 1);
	assert_int_equal(t.told, 1);
	assert_int_equal(read_environment("shop/web", &env, NULL), 0);
	assert_string_equal(strmap_get(&env, "A"), "1");
	strmap_done(&env);
	fakecluster_forget_calls();
	fakecluster_change(WEB, REPLICAS(4));
	fakeloop_advance(600000);
	assert_int_equal(replicas("shop/web"), 4);
	assert_int_equal(scale_reads(), 1);
	/* Taken away again. */
	deny();
	fakecluster_change(WEB, REPLICAS(5));
	fakeloop_advance(10);
	assert_int_equal(replicas("shop/web"), 5);
	assert_int_equal(read_environment("shop/web", &env, NULL), -1);
}

static void an_older_answer_undoes_nothing(void **state)
{
	json_t *scale;

	(void)state;
	fakecluster_apply(WEB, REPLICAS(3));
	deny();
	want("shop/web", "web");
	fakeloop_advance(10);
	fakecluster_answer_lag(100);
	while (fakecluster_under_way() == 0)
		fakeloop_advance(10);
	fakeloop_advance(2); /* read at the server */
	fakecluster_change(WEB, REPLICAS(8));
	scale = json_pack("{s:{s:s}, s:{s:i}}", "metadata", "resourceVersion",
		fakecluster_text(WEB, "metadata.resourceVersion"), "spec", "replicas", 8);
	targets_learn_scale(fakeobject("shop/web"), scale);
	json_decref(scale);
	assert_int_equal(replicas("shop/web"), 8);
	fakeloop_advance(200);
	assert_int_equal(replicas("shop/web"), 8);
}

static void a_denied_scale_is_reported(void **state)
{
	(void)state;
	fakecluster_apply(WEB, REPLICAS(3));
	deny();
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_GET, "/scale", FAKECLUSTER_ANY, 403);
	want("shop/web", "web");
	fakeloop_advance(DENIAL_GRACE_MS / 2);
	assert_int_equal(t.told, 0); /* the API server may have just started */
	fakeloop_advance(2 * DENIAL_GRACE_MS);
	assert_string_equal(targets_trouble(fakeobject("shop/web")),
		"reading the scale of argoproj.io/v1alpha1/rollouts/shop/web: kscaled may not scale "
		"rollouts.argoproj.io: apply `kscaled manifests` with it among the --scale-kinds: HTTP 403 refused by "
		"the test");
	assert_int_equal(t.told, 1);
	fakecluster_heal();
	fakeloop_advance(40000);
	assert_int_equal(replicas("shop/web"), 3);
}

/* ---- Whose Pod template is a Deployment's ---- */

#define PODS "/apis/apps/v1/namespaces/shop/deployments/pods"
#define ROLLOUT_OF(name)                                                                                               \
	"{'spec':{'replicas':1,'workloadRef':{'apiVersion':'apps/v1','kind':'Deployment','name':'" name "'}}}"
#define PODS_WITH(value)                                                                                               \
	"{'spec':{'replicas':0,'template':{'spec':{'containers':[{'name':'c','env':[{'name':'A','value':'" value       \
	"'}]}]}}}}"

/* "": there are no containers; NULL: the state is not TARGET_PRESENT. */
static void expect_pods(const char *owner_key, enum target_state state, const char *value)
{
	struct strmap wanted = { 0 }, env = { 0 }, unresolved = { 0 };
	const struct workload *w;
	const char *trouble;

	assert_int_equal(targets_get_pods(fakeobject(owner_key), &w, &trouble), state);
	assert_null(trouble);
	if (state != TARGET_PRESENT)
		return;
	strmap_set(&wanted, "A", "");
	assert_int_equal(workload_environment(w, NULL, &wanted, NULL, &env, &unresolved, NULL), 0);
	if (*value)
		assert_string_equal(strmap_get(&env, "A"), value);
	else
		assert_int_equal(w->container_count, 0);
	strmap_done(&wanted);
	strmap_done(&env);
	strmap_done(&unresolved);
}

static void a_pod_template_of_a_deployment_is_followed(void **state)
{
	(void)state;
	fakecluster_apply(WEB, ROLLOUT_OF("pods"));
	fakecluster_apply(ROLLOUT("two"), ROLLOUT_OF("pods"));
	want("shop/web", "web");
	want("shop/two", "two");
	expect_pods("shop/web", TARGET_UNREAD, NULL);
	fakeloop_advance(20);
	expect_pods("shop/web", TARGET_MISSING, NULL);
	assert_int_equal(replicas("shop/web"), 1);
	t.told = 0;
	fakecluster_apply(PODS, PODS_WITH("1"));
	fakeloop_advance(10);
	assert_int_equal(t.told, 2); /* each owner */
	expect_pods("shop/web", TARGET_PRESENT, "1");
	expect_pods("shop/two", TARGET_PRESENT, "1");
	assert_int_equal(replicas("shop/web"), 1);
	fakecluster_change(PODS, PODS_WITH("2"));
	fakeloop_advance(10);
	assert_int_equal(t.told, 4);
	expect_pods("shop/web", TARGET_PRESENT, "2");
	/* Another one, and none. */
	fakecluster_apply("/apis/apps/v1/namespaces/shop/deployments/other", PODS_WITH("3"));
	fakecluster_change(WEB, ROLLOUT_OF("other"));
	fakeloop_advance(20);
	expect_pods("shop/web", TARGET_PRESENT, "3");
	expect_pods("shop/two", TARGET_PRESENT, "2");
	fakecluster_change(WEB, ROLLOUT_OF("../secrets"));
	fakeloop_advance(20);
	expect_pods("shop/web", TARGET_PRESENT, "");
	/* The last one that needs Deployments releases them. */
	assert_int_equal(fakecluster_watches("/apis/apps/v1/deployments"), 1);
	targets_release(fakeobject("shop/two"));
	fakeloop_advance(10);
	assert_int_equal(fakecluster_watches("/apis/apps/v1/deployments"), 0);
}

/* Owners of the Deployment itself do not matter to those that borrow its template. */
static void a_deployment_may_be_a_target_and_lend_its_pods(void **state)
{
	const struct target_ref ref = { "apps", "v1", "deployments", "shop", "pods" };

	(void)state;
	fakecluster_apply(PODS, PODS_WITH("1"));
	fakecluster_apply(WEB, ROLLOUT_OF("pods"));
	targets_want(t.targets, fakeobject("shop/pods"), &ref);
	want("shop/web", "web");
	fakeloop_advance(20);
	expect_pods("shop/web", TARGET_PRESENT, "1");
	expect_pods("shop/pods", TARGET_PRESENT, "1");
	targets_release(fakeobject("shop/pods"));
	fakecluster_change(PODS, PODS_WITH("2"));
	fakeloop_advance(10);
	expect_pods("shop/web", TARGET_PRESENT, "2");
	targets_want(t.targets, fakeobject("shop/pods"), &ref);
	fakeloop_advance(10);
	expect_pods("shop/pods", TARGET_PRESENT, "2");
	targets_release(fakeobject("shop/web"));
	expect_pods("shop/pods", TARGET_PRESENT, "2");
	fakecluster_change(WEB, ROLLOUT_OF("pods"));
	want("shop/web", "web"); /* the borrowed one is released at the end */
	fakeloop_advance(20);
}

int main(void)
{
#define CASE(name)      cmocka_unit_test_setup_teardown(name, setup, teardown)
#define ELSEWHERE(name) cmocka_unit_test_setup_teardown(name, setup_elsewhere, teardown)
	const struct CMUnitTest tests[] = {
		ELSEWHERE(they_are_read_once_per_change_of_the_spec),
		ELSEWHERE(spec_replicas_may_be_another_thing),
		CASE(replicas_in_their_usual_place),
		ELSEWHERE(changes_while_it_is_read),
		ELSEWHERE(released_while_it_is_read),
		ELSEWHERE(a_late_wish),
		ELSEWHERE(the_end_of_a_predecessor),
		ELSEWHERE(an_unreadable_scale_is_reported),
		ELSEWHERE(our_own_write_is_known),
		CASE(then_scale_is_read_now_and_then),
		CASE(until_the_watch_is_allowed),
		CASE(a_pod_template_of_a_deployment_is_followed),
		CASE(a_deployment_may_be_a_target_and_lend_its_pods),
		CASE(an_older_answer_undoes_nothing),
		CASE(a_denied_scale_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
