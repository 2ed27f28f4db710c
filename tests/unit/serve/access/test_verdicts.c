/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../fake_kube.h"
#include "serve/access/verdicts.h"

#define LONG 3600000

/* The owner: keeps the entries whose review it was asked to start. */
static struct verdicts_entry *started[16];
static int start_count;

static struct kube_call *start(struct kube *k, const void *question, struct verdicts_entry *entry)
{
	(void)k;
	(void)question;
	started[start_count++] = entry;
	return NULL;
}

struct asker {
	struct verdicts *v;
	struct verdicts_wait *wait;
	int told;
	bool yes;
	char why[64], who[64];
	struct err err;
	struct asker *cancels; /* cancels this one in its callback */
	bool asks_again;
};

static void on_told(void *arg, const struct verdict *verdict, const struct err *err);

static void ask(struct asker *a, struct verdicts *v, const char *key)
{
	a->v = v;
	a->wait = verdicts_ask(v, key, strlen(key), NULL, on_told, a);
	assert_int_equal(a->told, 0); /* never before it returns */
}

static void on_told(void *arg, const struct verdict *verdict, const struct err *err)
{
	struct asker *a = arg;

	a->told++;
	assert_true(!verdict == (err != NULL));
	if (err)
		a->err = *err;
	if (verdict) {
		a->yes = verdict->yes;
		strcpy(a->why, verdict->why ? verdict->why : "");
		strcpy(a->who, verdict->who ? verdict->who->user.name : "");
	}
	if (a->cancels)
		verdicts_cancel(a->cancels->wait);
	if (a->asks_again)
		a->wait = verdicts_ask(a->v, "again", 5, NULL, on_told, a);
	a->asks_again = false;
}

static struct loop *loop;
static struct kube *kube;

static struct verdicts *make(int64_t keep_ms, size_t entries, size_t asking)
{
	struct verdicts_config config = { keep_ms, entries, asking, start, "it could not be asked" };

	start_count = 0;
	return verdicts_new(kube, &config);
}

static const struct verdict *peek(struct verdicts *v, const char *key)
{
	return verdicts_peek(v, key, strlen(key));
}

static void all_askers_share_one_review(void **state)
{
	struct verdicts *v = make(LONG, 10, 5);
	struct asker a = { 0 }, b = { 0 }, c = { 0 };
	char user_name[] = "mia";
	struct review_user user = { .name = user_name };

	(void)state;
	assert_null(peek(v, "k"));
	ask(&a, v, "k");
	ask(&b, v, "k");
	ask(&c, v, "other");
	assert_int_equal(start_count, 2);
	assert_null(peek(v, "k"));
	verdicts_settle(started[0], true, &user, NULL);
	assert_true(a.told == 1 && b.told == 1 && c.told == 0);
	assert_true(a.yes);
	assert_string_equal(b.who, "mia");
	assert_non_null(peek(v, "k"));
	assert_string_equal(peek(v, "k")->who->user.name, "mia");
	assert_null(peek(v, "other"));
	verdicts_settle(started[1], false, NULL, "because");
	assert_false(c.yes);
	assert_string_equal(c.why, "because");
	assert_string_equal(peek(v, "other")->why, "because");
	verdicts_free(v);
}

static void a_failed_review_is_not_remembered(void **state)
{
	struct verdicts *v = make(LONG, 10, 5);
	struct asker a = { 0 }, b = { 0 };
	struct err err = { .kind = ERR_DENIED, .http_status = 429, .msg = "no answer" };

	(void)state;
	ask(&a, v, "k");
	verdicts_fail(started[0], &err);
	assert_int_equal(a.told, 1);
	assert_string_equal(a.err.msg, "it could not be asked: no answer");
	assert_int_equal(a.err.kind, ERR_TEMPORARY); /* that we are denied is no denial to others */
	assert_int_equal(a.err.http_status, 0);      /* 429 is kept for the cap */
	assert_int_equal(verdicts_count(v), 0);
	ask(&b, v, "k");
	assert_int_equal(start_count, 2);
	verdicts_free(v); /* with a review under way and a waiter */
	assert_int_equal(b.told, 0);
}

static void verdicts_end(void **state)
{
	struct verdicts *v = make(0, 10, 5);
	struct asker a = { 0 }, b = { 0 };

	(void)state;
	ask(&a, v, "k");
	verdicts_settle(started[0], true, NULL, NULL);
	assert_int_equal(a.told, 1);
	assert_null(peek(v, "k"));
	ask(&b, v, "k");
	assert_int_equal(start_count, 2);
	verdicts_settle(started[1], false, NULL, NULL);
	assert_false(b.yes);
	assert_int_equal(verdicts_count(v), 1);
	verdicts_free(v);
}

static void the_oldest_makes_room(void **state)
{
	struct verdicts *v = make(LONG, 3, 2);
	struct asker askers[5] = { 0 };
	static const char *const keys[] = { "a", "b", "c", "d", "e" };

	(void)state;
	for (int i = 0; i < 5; i++) {
		ask(&askers[i], v, keys[i]);
		verdicts_settle(started[i], true, NULL, NULL);
		assert_true(verdicts_count(v) <= 3);
	}
	assert_null(peek(v, "a"));
	assert_null(peek(v, "b"));
	assert_non_null(peek(v, "c"));
	assert_non_null(peek(v, "e"));
	verdicts_free(v);
}

static void reviews_under_way_have_a_cap(void **state)
{
	struct verdicts *v = make(LONG, 10, 2);
	struct asker a = { 0 }, b = { 0 }, c = { 0 }, d = { 0 }, joins = { 0 };

	(void)state;
	ask(&a, v, "a");
	ask(&b, v, "b");
	ask(&c, v, "c");
	ask(&d, v, "d");
	ask(&joins, v, "a");
	assert_int_equal(start_count, 2);
	verdicts_cancel(d.wait);
	loop_turn(loop);
	assert_int_equal(c.told, 1);
	assert_int_equal(c.err.http_status, 429);
	assert_int_equal(d.told, 0);
	verdicts_settle(started[0], true, NULL, NULL);
	assert_true(a.told == 1 && joins.told == 1);
	ask(&d, v, "d"); /* there is room again */
	assert_int_equal(start_count, 3);
	verdicts_free(v);
}

static void a_cancelled_asker_gets_no_callback(void **state)
{
	struct verdicts *v = make(LONG, 10, 5);
	struct asker a = { 0 }, b = { 0 }, c = { 0 };

	(void)state;
	a.cancels = &b; /* from inside a callback of the same verdict */
	ask(&a, v, "k");
	ask(&b, v, "k");
	ask(&c, v, "k");
	verdicts_cancel(c.wait);
	verdicts_cancel(NULL);
	verdicts_settle(started[0], true, NULL, NULL);
	assert_true(a.told == 1 && b.told == 0 && c.told == 0);
	assert_non_null(peek(v, "k"));
	verdicts_free(v);
}

static void a_review_without_waiters_is_still_cached(void **state)
{
	struct verdicts *v = make(LONG, 10, 5);
	struct asker a = { 0 };

	(void)state;
	ask(&a, v, "k");
	verdicts_cancel(a.wait);
	verdicts_settle(started[0], true, NULL, NULL);
	assert_true(peek(v, "k")->yes);
	verdicts_free(v);
}

static void a_callback_may_ask_again(void **state)
{
	/* so small that a new question evicts the settled verdict during the callbacks */
	struct verdicts *v = make(LONG, 1, 5);
	struct asker a = { .asks_again = true }, b = { 0 };

	(void)state;
	a.v = v;
	ask(&a, v, "k");
	ask(&b, v, "k");
	verdicts_settle(started[0], false, NULL, "first");
	assert_int_equal(a.told, 1);
	assert_string_equal(b.why, "first");
	assert_int_equal(start_count, 2);
	verdicts_settle(started[1], true, NULL, NULL);
	assert_int_equal(a.told, 2);
	assert_true(a.yes);
	verdicts_free(v);
}

static int set_up(void **state)
{
	(void)state;
	loop = loop_new(NULL);
	kube = fake_kube_new(loop);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fake_kube_free(kube);
	loop_free(loop);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_askers_share_one_review, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_failed_review_is_not_remembered, set_up, tear_down),
		cmocka_unit_test_setup_teardown(verdicts_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_oldest_makes_room, set_up, tear_down),
		cmocka_unit_test_setup_teardown(reviews_under_way_have_a_cap, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_cancelled_asker_gets_no_callback, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_review_without_waiters_is_still_cached, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_callback_may_ask_again, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
