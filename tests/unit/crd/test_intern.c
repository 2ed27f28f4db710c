/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/intern.h"

#include "given.h"

#include "base/mem.h"

static void usual_ones_stand_once(void **state)
{
	char own[] = "ScaledObjectReady";
	const char *a = intern_dup(own), *b = NULL;

	(void)state;
	intern_take(&b, mem_dup(own));
	assert_string_equal(a, own);
	assert_ptr_not_equal(a, own);
	assert_ptr_equal(a, b);
	intern_free(a);
	intern_free(b);
	intern_free(a); /* nothing happens to it */
	assert_string_equal(b, own);
	intern_take(&b, mem_dup(""));
	assert_ptr_equal(intern_dup(""), b);
}

static void others_are_copies(void **state)
{
	char own[] = "Read"; /* how a usual one begins */
	char *taken = mem_dup("Readyy");
	const char *a = intern_dup(own), *b = NULL;

	(void)state;
	intern_take(&b, taken);
	assert_string_equal(a, "Read");
	assert_ptr_not_equal(a, own);
	assert_ptr_equal(b, taken);
	intern_free(a);
	intern_free(b);
}

static void null_is_absent(void **state)
{
	(void)state;
	assert_null(intern_dup(NULL));
	intern_free(NULL);
}

static void slots(void **state)
{
	const char *slot = NULL;

	(void)state;
	intern_set(&slot, "something of its own");
	intern_set(&slot, slot); /* the text that it replaces */
	assert_string_equal(slot, "something of its own");
	intern_set(&slot, "Ready");
	assert_ptr_equal(slot, intern_dup("Ready"));
	intern_set(&slot, "another");
	intern_set(&slot, NULL);
	assert_null(slot);
	intern_set(&slot, NULL);
	intern_take(&slot, mem_dup("taken"));
	assert_string_equal(slot, "taken");
	intern_take(&slot, NULL);
	assert_null(slot);
}

static void of_json(void **state)
{
	json_t *object = json_pack("{s:s, s:s, s:i}", "type", "Ready", "other", "something", "wrong", 3);
	struct json_at at = json_root(object);
	struct err err = { 0 };
	const char *text = NULL;

	(void)state;
	assert_int_equal(intern_get(&at, "type", &text, &err), 0);
	assert_ptr_equal(text, intern_dup("Ready"));
	assert_int_equal(intern_get(&at, "absent", &text, &err), 0);
	assert_string_equal(text, "Ready");
	assert_int_equal(intern_get(&at, "other", &text, &err), 0);
	assert_string_equal(text, "something");
	assert_int_equal(intern_get(&at, "wrong", &text, &err), -1);
	assert_string_equal(text, "something");
	assert_int_equal(err.kind, ERR_INVALID);
	intern_free(text);
	json_decref(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usual_ones_stand_once),
		cmocka_unit_test(others_are_copies),
		cmocka_unit_test(null_is_absent),
		cmocka_unit_test(slots),
		cmocka_unit_test(of_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
