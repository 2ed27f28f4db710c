/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/condition.h"

#include "given.h"

#define T 1767323045000 /* 2026-01-02T03:04:05Z */

static int decode(const char *quoted, struct conditions *out, struct err *err)
{
	json_t *array = given_json(quoted);
	struct json_at at = json_root(array);
	int rc = conditions_decode(&at, out, err);

	json_decref(array);
	return rc;
}

static void test_round_trip(void **state)
{
	struct conditions c;
	struct err err = { 0 };
	json_t *encoded, *wanted;

	(void)state;
	assert_int_equal(decode("[{'type':'Ready','status':'True','reason':'R','message':'M','lastTransitionTime':'"
				"2026-01-02T03:04:05Z','observedGeneration':3},{'type':'Paused','status':'False'},"
				"{'type':'Odd','status':'maybe','reason':''}]",
				 &c, &err),
		0);
	assert_int_equal(c.count, 3);
	assert_int_equal(conditions_get(&c, "Ready")->status, CONDITION_TRUE);
	assert_int_equal(conditions_get(&c, "Ready")->since_unix_ms, T);
	assert_int_equal(conditions_get(&c, "Ready")->observed_generation, 3);
	assert_string_equal(conditions_get(&c, "Paused")->reason, "");
	assert_int_equal(conditions_get(&c, "Odd")->status, CONDITION_UNKNOWN);
	assert_null(conditions_get(&c, "Active"));
	encoded = conditions_encode(&c);
	wanted = given_json("[{'type':'Ready','status':'True','reason':'R','message':'M','lastTransitionTime':'2026-01-"
			    "02T03:04:05Z','observedGeneration':3},{'type':'Paused','status':'False'},"
			    "{'type':'Odd','status':'Unknown'}]");
	assert_true(json_equal(encoded, wanted));
	json_decref(encoded);
	json_decref(wanted);
	conditions_done(&c);
	conditions_done(&c);
}

static void test_refused(void **state)
{
	static const char *const cases[] = { "{}", "[3]", "[{'type':'A','status':'True'},{'status':'True'}]",
		"[{'type':[]}]", "[{'type':'A','lastTransitionTime':'x'}]", "[{'type':'A','observedGeneration':'x'}]" };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct conditions c;
		struct err err = { 0 };

		assert_int_equal(decode(cases[i], &c, &err), -1);
		assert_int_equal(err.kind, ERR_INVALID);
		assert_int_equal(c.count, 0);
		assert_null(c.list);
	}
}

static void test_absent(void **state)
{
	struct json_at nothing = { 0 };
	struct conditions c;

	(void)state;
	assert_int_equal(conditions_decode(&nothing, &c, NULL), 0);
	assert_int_equal(c.count, 0);
}

static void test_set(void **state)
{
	struct conditions c = { 0 };
	const struct condition *ready;

	(void)state;
	assert_true(conditions_set(&c, "Ready", CONDITION_UNKNOWN, "", "", T, 1));
	assert_true(conditions_set(&c, "Paused", CONDITION_FALSE, "", "", T, 1));
	assert_true(conditions_set(&c, "Ready", CONDITION_TRUE, "Good", "fine", T + 1000, 1));
	ready = conditions_get(&c, "Ready");
	assert_int_equal(ready->since_unix_ms, T + 1000);
	/* Another reason is a change, yet no transition. */
	assert_true(conditions_set(&c, "Ready", CONDITION_TRUE, "Better", "fine", T + 2000, 1));
	assert_int_equal(ready->since_unix_ms, T + 1000);
	/* Neither time nor generation counts as a change. */
	assert_false(conditions_set(&c, "Ready", CONDITION_TRUE, "Better", "fine", T + 3000, 2));
	assert_int_equal(ready->since_unix_ms, T + 1000);
	assert_int_equal(ready->observed_generation, 2);
	/* Its own texts may be given back to it. */
	assert_false(conditions_set(&c, "Ready", CONDITION_TRUE, ready->reason, ready->message, T, 2));
	assert_int_equal(c.count, 2);
	conditions_done(&c);
}

/*
 * A time that was never stored (KEDA's own schema drops it) stays unknown until the status changes.
 */
static void test_set_unknown_time(void **state)
{
	struct conditions c;

	(void)state;
	assert_int_equal(decode("[{'type':'Ready','status':'True'}]", &c, NULL), 0);
	conditions_set(&c, "Ready", CONDITION_TRUE, "R", "", T, 0);
	assert_int_equal(conditions_get(&c, "Ready")->since_unix_ms, 0);
	conditions_set(&c, "Ready", CONDITION_FALSE, "R", "", T, 0);
	assert_int_equal(conditions_get(&c, "Ready")->since_unix_ms, T);
	conditions_done(&c);
}

static void copies_share_a_list_until_one_changes(void **state)
{
	struct conditions a = { 0 }, b, c = { 0 };

	(void)state;
	conditions_set(&a, "Ready", CONDITION_TRUE, "R", "M", T, 1);
	conditions_copy(&b, &a);
	assert_ptr_equal(b.list, a.list);
	assert_false(conditions_set(&b, "Ready", CONDITION_TRUE, "R", "M", T + 1000, 1));
	assert_ptr_equal(b.list, a.list);
	assert_true(conditions_set(&b, "Ready", CONDITION_FALSE, "R", "M", T + 1000, 1));
	assert_int_equal(conditions_get(&a, "Ready")->status, CONDITION_TRUE);
	assert_int_equal(conditions_get(&a, "Ready")->since_unix_ms, T);
	assert_int_equal(conditions_get(&b, "Ready")->status, CONDITION_FALSE);
	conditions_share(&b, &a); /* they differ */
	assert_ptr_not_equal(b.list, a.list);
	conditions_set(&b, "Ready", CONDITION_TRUE, "R", "M", T + 1000, 1);
	conditions_share(&b, &a); /* in the time alone */
	assert_ptr_not_equal(b.list, a.list);
	conditions_set(&c, "Ready", CONDITION_TRUE, "R", "M", T + 1, 1); /* the same second */
	conditions_share(&c, &a);
	assert_ptr_equal(c.list, a.list);
	conditions_observe(&c, "Ready", 1);
	conditions_observe(&c, "Active", 7);
	assert_ptr_equal(c.list, a.list);
	conditions_observe(&c, "Ready", 2);
	assert_int_equal(conditions_get(&c, "Ready")->observed_generation, 2);
	assert_int_equal(conditions_get(&a, "Ready")->observed_generation, 1);
	conditions_done(&a);
	assert_string_equal(conditions_get(&c, "Ready")->message, "M");
	conditions_copy(&a, &c);
	conditions_set(&a, "Active", CONDITION_FALSE, "", "", T, 1);
	assert_int_equal(c.count, 1);
	assert_int_equal(a.count, 2);
	conditions_done(&b);
	conditions_copy(&b, &a);
	conditions_remove(&b, "Paused");
	assert_ptr_equal(b.list, a.list);
	conditions_remove(&b, "Ready");
	assert_int_equal(b.count, 1);
	assert_int_equal(a.count, 2);
	assert_null(conditions_get(&b, "Ready"));
	assert_non_null(conditions_get(&a, "Ready"));
	conditions_remove(&b, "Active");
	assert_int_equal(b.count, 0);
	conditions_set(&b, "Active", CONDITION_TRUE, "", "", T, 1);
	assert_int_equal(b.count, 1);
	conditions_done(&a);
	conditions_done(&b);
	conditions_done(&c);
}

static void test_equal(void **state)
{
	struct conditions a = { 0 }, b = { 0 };

	(void)state;
	conditions_set(&a, "Ready", CONDITION_TRUE, "R", "M", T + 321, 1);
	conditions_set(&a, "Active", CONDITION_FALSE, "", "", T, 1);
	conditions_set(&b, "Ready", CONDITION_TRUE, "R", "M", T + 321, 1);
	conditions_set(&b, "Active", CONDITION_FALSE, "", "", T, 1);
	assert_true(conditions_equal(&a, &b, true));
	b.list->items[0].since_unix_ms = T; /* the same second, as read back */
	assert_true(conditions_equal(&a, &b, true));
	b.list->items[0].since_unix_ms = T + 1000;
	assert_false(conditions_equal(&a, &b, true));
	assert_true(conditions_equal(&a, &b, false));
	b.list->items[0].since_unix_ms = T;
	b.list->items[0].observed_generation = 2;
	assert_false(conditions_equal(&a, &b, true));
	assert_true(conditions_equal(&a, &b, false));
	conditions_set(&b, "Active", CONDITION_FALSE, "", "other", T, 1);
	assert_false(conditions_equal(&a, &b, false));
	conditions_set(&b, "Active", CONDITION_UNKNOWN, "", "", T, 1);
	assert_false(conditions_equal(&a, &b, false));
	conditions_set(&b, "Active", CONDITION_FALSE, "", "", T, 1);
	assert_true(conditions_equal(&a, &b, false));
	conditions_set(&b, "Paused", CONDITION_FALSE, "", "", T, 1);
	assert_false(conditions_equal(&a, &b, false));
	assert_false(conditions_equal(&b, &a, false));
	conditions_done(&a);
	conditions_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_absent),
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_set_unknown_time),
		cmocka_unit_test(copies_share_a_list_until_one_changes),
		cmocka_unit_test(test_equal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
