/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scale targets: wanted, read once when the list has passed them, then kept by the watch;
 * whatever comes first.
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
#include "../../fakes/fakeobjects.h"

#include "base/log.h"
#include "base/mem.h"
#include "cache/objects/targets.h"

#define DEPLOYMENT(name) "/apis/apps/v1/namespaces/shop/deployments/" name
#define WEB              DEPLOYMENT("web")
#define REPLICAS(n)      "{'spec':{'replicas':" #n "}}"

static struct {
	struct kinds *kinds;
	struct targets *targets;
	unsigned told;
	char all[1024]; /* keys notified */
} t;

static void on_change(void *arg, struct object *o, unsigned changes)
{
	const char *owner_key = o->key;

	assert_int_equal(changes, OBJECT_TARGET);
	assert_ptr_equal(arg, &t);
	t.told++;
	if (strlen(t.all) + strlen(owner_key) + 2 < sizeof(t.all)) {
		strcat(t.all, owner_key);
		strcat(t.all, " ");
	}
}

static void forget_told(void)
{
	t.told = 0;
	t.all[0] = '\0';
}

static void drop_line(void *arg, enum log_level level, const char *line)
{
	(void)arg;
	(void)level;
	(void)line;
}

static int setup_for(const char *const *namespaces, size_t count)
{
	struct kube *kube;

	memset(&t, 0, sizeof(t));
	log_set_sink(drop_line, NULL);
	kube = fakecluster_start(fakeloop_start());
	t.kinds = kinds_new(kube);
	t.targets = targets_new(kube, t.kinds);
	targets_listen(t.targets, on_change, &t);
	targets_start(t.targets, namespaces, count);
	targets_open(t.targets);
	return 0;
}

static int setup(void **state)
{
	(void)state;
	return setup_for(NULL, 0);
}

static int setup_two_namespaces(void **state)
{
	static const char *const namespaces[] = { "shop", "bank" };

	(void)state;
	return setup_for(namespaces, 2);
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

static void want_in(const char *owner_key, const char *resource, const char *namespace_, const char *name)
{
	struct target_ref ref = { "apps", "v1", resource, namespace_, name };

	targets_want(t.targets, fakeobject(owner_key), &ref);
}

static void want(const char *owner_key, const char *name)
{
	want_in(owner_key, "deployments", "shop", name);
}

static enum target_state state_of(const char *owner_key)
{
	const struct workload *w;
	enum target_state state = targets_get(fakeobject(owner_key), &w);

	assert_int_equal(state == TARGET_PRESENT, w != NULL);
	return state;
}

static int replicas(const char *owner_key)
{
	const struct workload *w;

	return targets_get(fakeobject(owner_key), &w) == TARGET_PRESENT ? w->replicas : -1;
}

static unsigned reads(void)
{
	return fakecluster_calls(FAKECLUSTER_ANY, "");
}

/* ---- By list and watch ---- */

static void the_first_wish_of_a_kind_starts_its_watch(void **state)
{
	(void)state;
	fakecluster_apply(WEB, REPLICAS(3));
	fakecluster_apply(DEPLOYMENT("unwanted"), REPLICAS(1));
	assert_int_equal(state_of("shop/web"), TARGET_UNREAD);
	want("shop/web", "web");
	want("shop/none", "none");
	want_in("shop/db", "statefulsets", "shop", "db");
	assert_int_equal(state_of("shop/web"), TARGET_UNREAD);
	assert_int_equal(t.told, 0);
	fakeloop_advance(10);
	assert_int_equal(replicas("shop/web"), 3);
	assert_int_equal(state_of("shop/none"), TARGET_MISSING);
	assert_int_equal(state_of("shop/db"), TARGET_MISSING);
	assert_int_equal(t.told, 3);
	assert_int_equal(fakecluster_watches("/apis/apps/v1/deployments"), 1);
	assert_int_equal(fakecluster_watches(""), 2);
	assert_int_equal(reads(), 0);
}

static int setup_closed(void **state)
{
	struct kube *kube;

	(void)state;
	memset(&t, 0, sizeof(t));
	log_set_sink(drop_line, NULL);
	kube = fakecluster_start(fakeloop_start());
	t.kinds = kinds_new(kube);
	t.targets = targets_new(kube, t.kinds);
	targets_start(t.targets, NULL, 0);
	return 0;
}

/*
 * At a start the objects come page by page; the lists of their targets wait for them, so that none
 * is read by itself.
 */
static void lists_wait_for_the_wanted_targets(void **state)
{
	(void)state;
	fakecluster_apply(WEB, REPLICAS(3));
	fakecluster_apply(DEPLOYMENT("b"), REPLICAS(4));
	want("shop/web", "web");
	fakeloop_advance(900);
	want("shop/b", "b");
	want_in("shop/gone", "statefulsets", "shop", "gone");
	targets_release(fakeobject("shop/gone"));
	assert_int_equal(fakecluster_watches(""), 0);
	targets_open(t.targets);
	targets_open(t.targets);
	fakeloop_advance(10);
	assert_int_equal(replicas("shop/web"), 3);
	assert_int_equal(replicas("shop/b"), 4);
	assert_int_equal(fakecluster_watches(""), 1);
	assert_int_equal(reads(), 0);
}

static void lists_do_not_wait_for_ever(void **state)
{
	(void)state;
	fakecluster_apply(WEB, REPLICAS(3));
	want("shop/web", "web");
	fakeloop_advance(1100);
	assert_int_equal(replicas("shop/web"), 3);
}

static void relevant_changes_are_reported(void **state)
{
	(void)state;
	fakecluster_apply(WEB, REPLICAS(3));
	want("shop/web", "web");
	fakeloop_advance(10);
	forget_told();
	fakecluster_change(WEB, "{'status':{'readyReplicas':2}}");
	fakecluster_change(WEB, "{'metadata':{'annotations':{'a':'b'}}}");
	fakeloop_advance(10);
	assert_int_equal(t.told, 0);
	fakecluster_change(WEB, REPLICAS(4));
	fakeloop_advance(10);
	assert_string_equal(t.all, "shop/web ");
	assert_int_equal(replicas("shop/web"), 4);
	fakecluster_change(WEB,
		"{'spec':{'template':{'spec':{'containers':[{'name':'c','env':[{'name':'A','value':'1'}]}]}}}}");
	fakeloop_advance(10);
	assert_int_equal(t.told, 2);
	fakecluster_delete(WEB);
	fakeloop_advance(10);
	assert_int_equal(t.told, 3);
	assert_int_equal(state_of("shop/web"), TARGET_MISSING);
	fakecluster_apply(WEB, REPLICAS(1));
	fakeloop_advance(10);
	assert_int_equal(t.told, 4);
	assert_int_equal(replicas("shop/web"), 1);
}

static void a_relist_finds_deleted_targets(void **state)
{
	(void)state;
	fakecluster_apply(WEB, REPLICAS(3));
	fakecluster_apply(DEPLOYMENT("stays"), REPLICAS(1));
	want("shop/web", "web");
	want("shop/stays", "stays");
	fakeloop_advance(10);
	fakecluster_hold_watches(true);
	fakecluster_delete(WEB);
	forget_told();
	fakecluster_relist("");
	fakeloop_advance(10);
	assert_int_equal(state_of("shop/web"), TARGET_MISSING);
	assert_int_equal(replicas("shop/stays"), 1);
	assert_string_equal(t.all, "shop/web ");
}

static void a_target_may_be_shared(void **state)
{
	(void)state;
	fakecluster_apply(WEB, REPLICAS(3));
	want("shop/a", "web");
	want("shop/b", "web");
	fakeloop_advance(10);
	assert_int_equal(replicas("shop/a"), 3);
	assert_int_equal(replicas("shop/b"), 3);
	forget_told();
	fakecluster_change(WEB, REPLICAS(4));
	fakeloop_advance(10);
	assert_int_equal(t.told, 2);
	targets_release(fakeobject("shop/a"));
	assert_int_equal(state_of("shop/a"), TARGET_UNREAD);
	assert_int_equal(replicas("shop/b"), 4);
	assert_int_equal(fakecluster_watches(""), 1);
	targets_release(fakeobject("shop/b"));
	targets_release(fakeobject("shop/b"));
	assert_int_equal(fakecluster_watches(""), 0);
}

static void an_owner_wants_one_at_a_time(void **state)
{
	(void)state;
	fakecluster_apply(WEB, REPLICAS(3));
	want("shop/web", "web");
	fakeloop_advance(10);
	want("shop/web", "web");
	assert_int_equal(replicas("shop/web"), 3);
	want_in("shop/web", "statefulsets", "shop", "web");
	assert_int_equal(state_of("shop/web"), TARGET_UNREAD);
	assert_int_equal(fakecluster_watches("/deployments"), 0);
	fakeloop_advance(10);
	assert_int_equal(state_of("shop/web"), TARGET_MISSING);
	forget_told();
	fakecluster_change(WEB, REPLICAS(4));
	fakeloop_advance(10);
	assert_int_equal(t.told, 0);
}

static void watches_keep_to_the_namespaces(void **state)
{
	(void)state;
	fakecluster_apply(WEB, REPLICAS(3));
	fakecluster_apply("/apis/apps/v1/namespaces/bank/deployments/web", REPLICAS(5));
	want("shop/web", "web");
	want_in("bank/web", "deployments", "bank", "web");
	fakeloop_advance(10);
	assert_int_equal(fakecluster_watches("/apis/apps/v1/namespaces/shop/deployments"), 1);
	assert_int_equal(fakecluster_watches("/apis/apps/v1/namespaces/bank/deployments"), 1);
	assert_int_equal(replicas("shop/web"), 3);
	assert_int_equal(replicas("bank/web"), 5);
	targets_release(fakeobject("bank/web"));
	assert_int_equal(fakecluster_watches(""), 1);
}

/* ---- Named after its kind's list ---- */

static void begin_with_a_synced_kind(void)
{
	want("shop/first", "first");
	fakeloop_advance(10);
	forget_told();
}

static void a_late_wish_is_read_once(void **state)
{
	(void)state;
	fakecluster_apply(WEB, REPLICAS(3));
	begin_with_a_synced_kind();
	want("shop/web", "web");
	want("shop/none", "none");
	assert_int_equal(state_of("shop/web"), TARGET_UNREAD);
	fakeloop_advance(10);
	assert_int_equal(replicas("shop/web"), 3);
	assert_int_equal(state_of("shop/none"), TARGET_MISSING);
	assert_int_equal(fakecluster_calls(KUBE_GET, "/apis/apps/v1/namespaces/shop/deployments/web"), 1);
	assert_int_equal(reads(), 2);
	assert_int_equal(t.told, 2);
	fakecluster_change(WEB, REPLICAS(4));
	fakeloop_advance(10);
	assert_int_equal(replicas("shop/web"), 4);
	assert_int_equal(reads(), 2);
}

/* Its page of the list under way has passed: the end of the list says nothing about it. */
static void a_wish_in_the_middle_of_the_list(void **state)
{
	(void)state;
	for (int lag = 1; lag < 100; lag += 30) {
		fakecluster_page(1, 20);
		fakecluster_answer_lag(lag);
		fakecluster_apply(DEPLOYMENT("first"), REPLICAS(1));
		fakecluster_apply(WEB, REPLICAS(3));
		fakecluster_apply(DEPLOYMENT("c"), REPLICAS(1));
		fakecluster_apply(DEPLOYMENT("d"), REPLICAS(1));
		want("shop/first", "first");
		fakeloop_advance(45);
		want("shop/web", "web");
		want("shop/none", "none");
		fakeloop_advance(1000);
		assert_int_equal(replicas("shop/web"), 3);
		assert_int_equal(state_of("shop/none"), TARGET_MISSING);
		assert_int_equal(t.told, 3);
		teardown(state);
		setup(state);
	}
}

static void a_read_that_fails_is_tried_again(void **state)
{
	(void)state;
	fakecluster_apply(WEB, REPLICAS(3));
	begin_with_a_synced_kind();
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_GET, "", 2, 500);
	want("shop/web", "web");
	fakeloop_advance(100);
	assert_int_equal(state_of("shop/web"), TARGET_UNREAD);
	assert_null(targets_trouble(fakeobject("shop/web"))); /* passing errors are not reported */
	fakeloop_advance(1000);
	assert_int_equal(replicas("shop/web"), 3);
	assert_int_equal(reads(), 3);
	assert_int_equal(t.told, 1);
}

static void a_read_that_keeps_failing_is_reported_and_backs_off(void **state)
{
	static const int statuses[] = { 403, 500, 0 };

	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		fakecluster_apply(WEB, REPLICAS(3));
		begin_with_a_synced_kind();
		fakecluster_fail(statuses[i] ? FAKECLUSTER_REFUSE : FAKECLUSTER_HANG, KUBE_GET, "", FAKECLUSTER_ANY,
			statuses[i]);
		want("shop/web", "web");
		fakeloop_advance(600000);
		assert_non_null(
			strstr(targets_trouble(fakeobject("shop/web")), "reading apps/v1/deployments/shop/web: "));
		assert_true(t.told > 0);
		assert_in_range(reads(), 10, 30);
		assert_null(targets_trouble(fakeobject("shop/first")));
		fakecluster_heal();
		fakeloop_advance(31000);
		assert_int_equal(replicas("shop/web"), 3);
		assert_null(targets_trouble(fakeobject("shop/web")));
		teardown(state);
		setup(state);
	}
}

static void the_watch_beats_the_read(void **state)
{
	(void)state;
	fakecluster_apply(WEB, REPLICAS(3));
	begin_with_a_synced_kind();
	fakecluster_answer_lag(1000);
	want("shop/web", "web");
	fakeloop_advance(10); /* read at the server, the answer on its way */
	fakecluster_change(WEB, REPLICAS(4));
	fakeloop_advance(10);
	assert_int_equal(replicas("shop/web"), 4);
	assert_int_equal(fakecluster_under_way(), 0);
	fakeloop_advance(2000);
	assert_int_equal(replicas("shop/web"), 4);
	assert_int_equal(t.told, 1);
	/* Also when it reports the end. */
	fakecluster_apply(DEPLOYMENT("b"), REPLICAS(1));
	fakeloop_advance(10);
	want("shop/b", "b");
	fakeloop_advance(10);
	fakecluster_delete(DEPLOYMENT("b"));
	fakeloop_advance(10);
	assert_int_equal(state_of("shop/b"), TARGET_MISSING);
	fakeloop_advance(2000);
	assert_int_equal(state_of("shop/b"), TARGET_MISSING);
}

/*
 * Deleted and recreated; the read saw the new one, the watch reports the old one's end afterwards.
 */
static void the_end_of_a_predecessor(void **state)
{
	(void)state;
	fakecluster_apply(WEB, REPLICAS(3));
	begin_with_a_synced_kind();
	fakecluster_watch_lag(50);
	fakecluster_delete(WEB);
	fakecluster_apply(WEB, REPLICAS(5));
	want("shop/web", "web");
	fakeloop_advance(10);
	assert_int_equal(replicas("shop/web"), 5);
	fakeloop_advance(100);
	assert_int_equal(replicas("shop/web"), 5);
	assert_int_equal(t.told, 1);
}

static void releasing_while_it_is_read(void **state)
{
	(void)state;
	fakecluster_apply(WEB, REPLICAS(3));
	begin_with_a_synced_kind();
	want("shop/web", "web");
	targets_release(fakeobject("shop/web"));
	assert_int_equal(fakecluster_under_way(), 0);
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_GET, "", FAKECLUSTER_ANY, 500);
	want("shop/web", "web");
	fakeloop_advance(100); /* it waits for the next try */
	targets_release(fakeobject("shop/web"));
	fakeloop_advance(60000);
	assert_int_equal(t.told, 0);
}

/* ---- Answers to scale writes ---- */

static json_t *scale(const char *version, int count)
{
	json_t *s = json_pack("{s:{s:s}, s:{}}", "metadata", "resourceVersion", version, "spec");

	if (count > 0) /* omitempty */
		json_object_set_new(json_object_get(s, "spec"), "replicas", json_integer(count));
	return s;
}

static void learn(const char *version, int count)
{
	json_t *s = scale(version, count);

	targets_learn_scale(fakeobject("shop/web"), s);
	json_decref(s);
}

static void an_answered_write_is_ahead_of_the_watch(void **state)
{
	const struct workload *w;

	(void)state;
	fakecluster_apply(WEB, REPLICAS(3));
	want("shop/web", "web");
	fakeloop_advance(10);
	fakecluster_watch_lag(100);
	fakecluster_change(WEB, "{'metadata':{'labels':{'older':'x'}}}");
	fakecluster_change(WEB, REPLICAS(0));
	forget_told();
	learn(fakecluster_text(WEB, "metadata.resourceVersion"), 0);
	assert_int_equal(replicas("shop/web"), 0);
	fakeloop_advance(200); /* the older event and the write's own: nothing is undone, nothing is news */
	assert_int_equal(replicas("shop/web"), 0);
	assert_int_equal(t.told, 0);
	/* Set back by someone: that is reported. */
	fakecluster_change(WEB, REPLICAS(3));
	fakeloop_advance(200);
	assert_int_equal(t.told, 1);
	/* An answer that is older than the watch's state. */
	learn("1", 9);
	assert_int_equal(replicas("shop/web"), 3);
	targets_get(fakeobject("shop/web"), &w);
	assert_string_equal(w->resource_version, fakecluster_text(WEB, "metadata.resourceVersion"));
}

/*
 * The answer to our write, or to a read, may be about the one of that name that is not there any
 * more, or not yet.
 */
static void an_answer_about_another_of_its_name(void **state)
{
	json_t *s = scale("999", 9), *meta = json_object_get(s, "metadata");
	const char *uid;

	(void)state;
	fakecluster_apply(WEB, REPLICAS(3));
	want("shop/web", "web");
	fakeloop_advance(10);
	uid = fakecluster_text(WEB, "metadata.uid");
	json_object_set_new(meta, "uid", json_string("another"));
	targets_learn_scale(fakeobject("shop/web"), s);
	assert_int_equal(replicas("shop/web"), 3);
	json_object_set_new(meta, "uid", json_string(uid));
	targets_learn_scale(fakeobject("shop/web"), s);
	assert_int_equal(replicas("shop/web"), 9);
	json_decref(s);
}

static void odd_answers_are_ignored(void **state)
{
	json_t *empty = json_object();

	(void)state;
	learn("5", 1); /* no one wants it */
	fakecluster_apply(WEB, REPLICAS(3));
	want("shop/web", "web");
	learn("5", 1); /* not read yet */
	fakeloop_advance(10);
	targets_learn_scale(fakeobject("shop/web"), empty);
	targets_learn_scale(fakeobject("shop/web"), NULL);
	assert_int_equal(replicas("shop/web"), 3);
	json_decref(empty);
}

/* ---- Trouble ---- */

static void a_failing_watch_is_reported_to_waiting_owners(void **state)
{
	(void)state;
	fakecluster_apply(WEB, REPLICAS(3));
	fakecluster_trouble("/deployments", ERR_DENIED, "forbidden");
	want("shop/web", "web");
	fakeloop_advance(10);
	assert_string_equal(targets_trouble(fakeobject("shop/web")),
		"watching apps/v1/deployments: kscaled may not scale deployments.apps: apply `kscaled manifests` with "
		"it among the --scale-kinds: forbidden");
	assert_string_equal(t.all, "shop/web ");
	fakecluster_trouble("/deployments", ERR_NONE, NULL);
	fakeloop_advance(2000);
	assert_null(targets_trouble(fakeobject("shop/web")));
	assert_int_equal(replicas("shop/web"), 3);
	/* Later it is not reported: the last state stays in use. */
	forget_told();
	fakecluster_trouble("/deployments", ERR_TEMPORARY, "connection refused");
	fakeloop_advance(10);
	assert_int_equal(replicas("shop/web"), 3);
	assert_int_equal(t.told, 0);
}

/*
 * Impossible for Deployments, says the API server; if it comes, it is not a number of replicas, and
 * is reported.
 */
static void unreadable_objects_are_reported(void **state)
{
	(void)state;
	fakecluster_apply(WEB, REPLICAS(3));
	want("shop/web", "web");
	fakeloop_advance(10);
	fakecluster_change(WEB, "{'spec':{'replicas':99999999999}}");
	fakeloop_advance(60000);
	assert_int_equal(replicas("shop/web"), 3);
	assert_non_null(targets_trouble(fakeobject("shop/web")));
	fakecluster_change(WEB, REPLICAS(4));
	fakeloop_advance(10);
	assert_int_equal(replicas("shop/web"), 4);
	assert_null(targets_trouble(fakeobject("shop/web")));
	fakecluster_change(WEB, "{'metadata':{'uid':7}}");
	fakeloop_advance(10);
	assert_int_equal(replicas("shop/web"), 4);
	assert_non_null(targets_trouble(fakeobject("shop/web")));
	assert_non_null(strstr(targets_trouble(fakeobject("shop/web")), "metadata.uid: "));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(the_first_wish_of_a_kind_starts_its_watch),
		cmocka_unit_test_setup_teardown(lists_wait_for_the_wanted_targets, setup_closed, teardown),
		cmocka_unit_test_setup_teardown(lists_do_not_wait_for_ever, setup_closed, teardown),
		CASE(relevant_changes_are_reported),
		CASE(a_relist_finds_deleted_targets),
		CASE(a_target_may_be_shared),
		CASE(an_owner_wants_one_at_a_time),
		cmocka_unit_test_setup_teardown(watches_keep_to_the_namespaces, setup_two_namespaces, teardown),
		CASE(a_late_wish_is_read_once),
		CASE(a_wish_in_the_middle_of_the_list),
		CASE(a_read_that_fails_is_tried_again),
		CASE(a_read_that_keeps_failing_is_reported_and_backs_off),
		CASE(the_watch_beats_the_read),
		CASE(the_end_of_a_predecessor),
		CASE(releasing_while_it_is_read),
		CASE(an_answered_write_is_ahead_of_the_watch),
		CASE(an_answer_about_another_of_its_name),
		CASE(odd_answers_are_ignored),
		CASE(a_failing_watch_is_reported_to_waiting_owners),
		CASE(unreadable_objects_are_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
