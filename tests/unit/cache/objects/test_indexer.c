/* SPDX-License-Identifier: Apache-2.0 */
/* A kind that counts its objects: each decoded one is freed exactly once. */
#include "cache/objects/indexer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../fakes/fakecluster.h"
#include "../../fakes/fakeloop.h"

#include "base/log.h"
#include "base/mem.h"

#define API                     "/apis/example.com/v1"
#define THING(namespace_, name) API "/namespaces/" namespace_ "/things/" name
#define A                       THING("shop", "a")
#define B                       THING("shop", "b")

struct thing {
	struct meta meta;
	json_int_t size;
};

static struct {
	struct kube *kube;
	struct counters *counters;
	struct indexer *indexer;
	int alive;           /* decoded and not freed */
	char events[64];     /* "+" added, "=" changed, "-" deleted, "?" known or not, "!" a list is complete */
	bool free_when_gone; /* the listener frees the indexer, and has nothing beside the objects */
	const char *key;     /* of THING("shop", "a") */
	char errors[1024];
} t;

static void *decode(const json_t *object, struct err *err)
{
	struct thing *thing = mem_zalloc(sizeof(*thing));
	const json_t *size = json_object_get(json_object_get(object, "spec"), "size");

	if (size && !json_is_integer(size))
		err_set(err, ERR_INVALID, "spec.size is not a number");
	else if (meta_decode(object, &thing->meta, err) == 0) {
		thing->size = json_integer_value(size);
		t.alive++;
		return thing;
	}
	free(thing);
	return NULL;
}

static void thing_free(void *object)
{
	struct thing *thing = object;

	t.alive--;
	meta_done(&thing->meta);
	free(thing);
}

static void note(char event)
{
	size_t len = strlen(t.events);

	assert_true(len + 1 < sizeof(t.events));
	t.events[len] = event;
	t.events[len + 1] = '\0';
}

/* The listener's data is a counter of its calls. */
static void on_changed(void *arg, const void *before, const void *now, void **beside)
{
	assert_ptr_equal(arg, &t);
	note(!before ? '+' : now ? '=' : '-');
	if (t.free_when_gone) {
		if (!now)
			indexer_free(t.indexer);
		return;
	}
	if (!before) {
		assert_null(*beside);
		*beside = mem_zalloc(sizeof(int));
	}
	assert_non_null(*beside);
	++*(int *)*beside;
	if (t.key)
		assert_ptr_equal(indexer_get(t.indexer, t.key), now); /* gone before it is reported so */
	if (!now)
		free(*beside);
}

static void on_known(void *arg, const char *namespace_)
{
	(void)namespace_;
	assert_ptr_equal(arg, &t);
	note('?');
}

static void on_synced(void *arg)
{
	assert_ptr_equal(arg, &t);
	note('!');
}

static void on_line(void *arg, enum log_level level, const char *line)
{
	size_t len = strlen(t.errors);

	(void)arg;
	if (level == LOG_LEVEL_ERROR)
		snprintf(t.errors + len, sizeof(t.errors) - len, "%s\n", line);
}

/* Without namespaces: all. */
static void begin(const struct indexer_kind *kind, const char *const *namespaces, size_t count)
{
	static const struct indexer_events events = { on_changed, on_known, on_synced };

	t.indexer = indexer_new(t.kube, kind, t.counters, &events, &t);
	indexer_start(t.indexer, namespaces, count);
	fakeloop_advance(10);
}

#define KIND .kind = "Thing", .resource = "things", .group_path = API, .decode = decode, .free = thing_free

static const struct indexer_kind plain = { KIND };

/* What has been noted since the last call. */
static void assert_events(const char *wanted)
{
	fakeloop_advance(10);
	assert_string_equal(t.events, wanted);
	t.events[0] = '\0';
}

static int setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	log_set_sink(on_line, NULL);
	t.kube = fakecluster_start(fakeloop_start());
	t.counters = counters_new();
	t.key = "shop/a";
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	if (t.indexer)
		indexer_clear(t.indexer); /* frees what stands beside the objects */
	indexer_free(t.indexer);
	fakeloop_advance(0);
	assert_int_equal(t.alive, 0);
	counters_free(t.counters);
	fakecluster_end();
	fakeloop_end();
	log_set_sink(NULL, NULL);
	return 0;
}

static double counted(enum counters_type type, const char *family)
{
	static const char *const labels[] = { "kind", NULL };

	return counters_get(counters_declare(t.counters, type, family, "", labels), (const char *const[]){ "Thing" });
}

static json_int_t size_of(const char *key)
{
	const struct thing *thing = indexer_get(t.indexer, key);

	return thing ? thing->size : -1;
}

static void each_version_is_one_event(void **state)
{
	(void)state;
	fakecluster_apply(A, "{'spec':{'size':1}}");
	begin(&plain, NULL, 0);
	assert_events("+?!");
	fakecluster_change(A, "{'spec':{'size':2}}");
	assert_events("=");
	assert_int_equal(size_of("shop/a"), 2);
	assert_int_equal(t.alive, 1);
	assert_int_equal(*(int *)indexer_beside(t.indexer, "shop/a"), 2);
	fakecluster_relist("");
	assert_events("!"); /* the same version again */
	assert_int_equal(t.alive, 1);
	fakecluster_delete(A);
	assert_events("-");
	assert_int_equal(t.alive, 0);
	assert_null(indexer_get(t.indexer, "shop/a"));
	assert_null(indexer_beside(t.indexer, "shop/a"));
	assert_true(counted(COUNTERS_GAUGE, "kscaled_objects") == 0);
}

static void every_read_is_an_event_if_the_kind_asks_for_it(void **state)
{
	static const struct indexer_kind kind = { KIND, .every_read = true };

	(void)state;
	fakecluster_apply(A, "{}");
	begin(&kind, NULL, 0);
	assert_events("+?!");
	fakecluster_relist("");
	assert_events("=!");
}

/* Kinds in one table must not take each other's names. */
static void keys_have_the_prefix_of_the_kind(void **state)
{
	static const struct indexer_kind kind = { KIND, .key_prefix = "things/" };

	(void)state;
	t.key = "things/shop/a";
	fakecluster_apply(A, "{'spec':{'size':1}}");
	begin(&kind, NULL, 0);
	assert_events("+?!");
	assert_int_equal(size_of("things/shop/a"), 1);
	assert_null(indexer_get(t.indexer, "shop/a"));
	fakecluster_delete(A);
	assert_events("-");
}

/* The last readable version stays in use, however often the object is written wrongly. */
static void an_unreadable_version_leaves_the_last_one(void **state)
{
	(void)state;
	fakecluster_apply(A, "{'spec':{'size':1}}");
	begin(&plain, NULL, 0);
	assert_events("+?!");
	fakecluster_change(A, "{'spec':{'size':'two'}}");
	assert_events("");
	assert_int_equal(size_of("shop/a"), 1);
	assert_non_null(strstr(t.errors, "Thing shop/a cannot be read"));
	assert_non_null(strstr(t.errors, "spec.size is not a number"));
	assert_true(counted(COUNTERS_COUNTER, "kscaled_objects_unreadable_total") == 1);
	fakecluster_change(A, "{'spec':{'size':3}}");
	assert_events("=");
	assert_int_equal(size_of("shop/a"), 3);
	/* It is deleted also while it cannot be read. */
	fakecluster_change(A, "{'spec':{'size':'four'}}");
	fakecluster_delete(A);
	assert_events("-");
}

static void namespaces_are_known_one_by_one(void **state)
{
	static const char *const namespaces[] = { "shop", "bank" };
	const char *trouble = "";

	(void)state;
	fakecluster_trouble("/namespaces/bank/things", ERR_DENIED, "forbidden");
	begin(&plain, namespaces, 2);
	assert_events("?!?");
	assert_false(indexer_synced(t.indexer));
	assert_true(indexer_knows(t.indexer, "shop", &trouble));
	assert_null(trouble);
	assert_false(indexer_knows(t.indexer, "bank", &trouble));
	assert_string_equal(trouble, "watching things: forbidden");
	assert_string_equal(indexer_trouble(t.indexer), trouble);
	assert_true(indexer_watches(t.indexer, "bank"));
	assert_false(indexer_watches(t.indexer, "lab"));
	assert_false(indexer_knows(t.indexer, "lab", &trouble));
	assert_null(trouble);
	fakecluster_trouble("/namespaces/bank/things", ERR_NONE, NULL);
	fakeloop_advance(2000);
	assert_true(indexer_synced(t.indexer));
	assert_null(indexer_trouble(t.indexer));
}

static void a_cluster_wide_kind_has_one_watch(void **state)
{
	static const struct indexer_kind kind = { KIND, .cluster_wide = true };
	static const char *const namespaces[] = { "shop", "bank" };

	(void)state;
	begin(&kind, namespaces, 2);
	assert_int_equal(fakecluster_watches(""), 1);
	assert_int_equal(fakecluster_watches("/namespaces/"), 0);
	assert_events("?!");
}

static void a_missing_kind_is_an_error_unless_it_is_optional(void **state)
{
	static const struct indexer_kind optional = { KIND, .optional = true };

	(void)state;
	fakecluster_trouble("/things", ERR_MISSING, "not found");
	begin(&optional, NULL, 0);
	assert_string_equal(t.errors, "");
	indexer_free(t.indexer);
	begin(&plain, NULL, 0);
	assert_non_null(strstr(t.errors, "are the CRDs installed?"));
}

static void an_answer_to_a_write_comes_before_the_watch(void **state)
{
	json_t *first, *second;

	(void)state;
	fakecluster_apply(A, "{'spec':{'size':1}}");
	begin(&plain, NULL, 0);
	assert_events("+?!");
	first = json_deep_copy(fakecluster_get(A));
	fakecluster_hold_watches(true);
	fakecluster_change(A, "{'spec':{'size':2}}");
	second = json_deep_copy(fakecluster_get(A));
	indexer_learn(t.indexer, second);
	assert_events("=");
	indexer_learn(t.indexer, first); /* an older answer, late */
	indexer_learn(t.indexer, NULL);  /* no content */
	assert_events("");
	assert_int_equal(size_of("shop/a"), 2);
	fakecluster_hold_watches(false);
	assert_events(""); /* the event of that write */
	assert_int_equal(t.alive, 1);
	indexer_forget(t.indexer, "shop/a");
	indexer_forget(t.indexer, "shop/a");
	assert_events("-");
	json_decref(first);
	json_decref(second);
}

static void an_answer_about_a_deleted_object_is_dropped(void **state)
{
	json_t *late;

	(void)state;
	fakecluster_apply(A, "{}");
	begin(&plain, NULL, 0);
	late = json_deep_copy(fakecluster_get(A));
	fakecluster_delete(A);
	assert_events("+?!-");
	indexer_learn(t.indexer, late);
	assert_events("");
	assert_int_equal(indexer_count(t.indexer), 0);
	json_decref(late);
}

/* An object created while a list is read is not in that list, and stays. */
static void a_created_object_survives_the_list_under_way(void **state)
{
	(void)state;
	fakecluster_apply(THING("bank", "x"), "{}");
	fakecluster_apply(THING("bank", "y"), "{}");
	t.key = NULL;
	begin(&plain, NULL, 0);
	assert_events("++?!");
	fakecluster_page(1, 20);
	fakecluster_relist("");
	fakeloop_advance(10);
	fakecluster_apply(A, "{}");
	indexer_learn(t.indexer, fakecluster_get(A));
	assert_events("+");
	fakeloop_advance(100);
	assert_events("!");
	assert_int_equal(indexer_count(t.indexer), 3);
}

/* An admission plugin removed the label, so the watch never delivers the object. */
static void an_object_without_the_label_is_learned_all_the_same(void **state)
{
	static const struct indexer_kind kind = { KIND, .label_selector = "ours=true", .label = "ours" };
	json_t *written;

	(void)state;
	fakecluster_apply(A, "{}");
	written = json_deep_copy(fakecluster_get(A));
	fakecluster_delete(A);
	fakecluster_apply(B, "{'metadata':{'labels':{'ours':'true'}}}"); /* the watch is past it */
	t.key = "shop/b";
	begin(&kind, NULL, 0);
	assert_events("+?!");
	t.key = "shop/a";
	indexer_learn(t.indexer, written);
	assert_events("+");
	t.key = NULL; /* several go at the end */
	json_decref(written);
}

static void only_the_stored_version_is_known(void **state)
{
	struct objecttext text = { 0 };
	char room[1024];
	char *json;

	(void)state;
	fakecluster_apply(A, "{}");
	begin(&plain, NULL, 0);
	assert_events("+?!");
	json = json_dumps(fakecluster_get(A), JSON_COMPACT);
	assert_true(strlen(json) < sizeof(room));
	objecttext_read(&text, json, strlen(json), room);
	assert_true(indexer_has(t.indexer, &text));
	text.version = (struct objecttext_part){ "1", 1 };
	assert_false(indexer_has(t.indexer, &text));
	text.name = (struct objecttext_part){ NULL, 0 };
	assert_false(indexer_has(t.indexer, &text));
	free(json);
}

static void add_size(void *arg, const void *object, void *beside)
{
	const struct thing *thing = object;

	assert_non_null(beside);
	*(json_int_t *)arg += thing->size;
}

static void all_objects_are_shown(void **state)
{
	json_int_t sum = 0;

	(void)state;
	fakecluster_apply(A, "{'spec':{'size':1}}");
	begin(&plain, NULL, 0);
	indexer_each(t.indexer, add_size, &sum);
	assert_int_equal(sum, 1);
	assert_int_equal(indexer_count(t.indexer), 1);
	assert_true(counted(COUNTERS_GAUGE, "kscaled_objects") == 1);
}

/* A listener may free the indexer in an event; it gets no further one. */
static void freed_in_an_event_it_sends_no_more(void **state)
{
	(void)state;
	t.free_when_gone = true;
	fakecluster_apply(A, "{}");
	fakecluster_apply(B, "{}");
	fakecluster_apply(THING("shop", "c"), "{}");
	begin(&plain, NULL, 0);
	assert_events("+++?!");
	fakecluster_hold_watches(true);
	fakecluster_delete(A);
	fakecluster_delete(B);
	fakecluster_relist("");
	assert_events("-");
	t.indexer = NULL;
	assert_int_equal(t.alive, 0);
	assert_int_equal(fakecluster_watches(""), 0);
	assert_true(counted(COUNTERS_GAUGE, "kscaled_objects") == 0);
	fakecluster_hold_watches(false);
	assert_events("");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(each_version_is_one_event),
		CASE(every_read_is_an_event_if_the_kind_asks_for_it),
		CASE(keys_have_the_prefix_of_the_kind),
		CASE(an_unreadable_version_leaves_the_last_one),
		CASE(namespaces_are_known_one_by_one),
		CASE(a_cluster_wide_kind_has_one_watch),
		CASE(a_missing_kind_is_an_error_unless_it_is_optional),
		CASE(an_answer_to_a_write_comes_before_the_watch),
		CASE(an_answer_about_a_deleted_object_is_dropped),
		CASE(a_created_object_survives_the_list_under_way),
		CASE(an_object_without_the_label_is_learned_all_the_same),
		CASE(only_the_stored_version_is_known),
		CASE(all_objects_are_shown),
		CASE(freed_in_an_event_it_sends_no_more),
	};
#undef CASE

	return cmocka_run_group_tests_name("cache/objects/indexer", tests, NULL, NULL);
}
