/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/gather.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"

static void claims_of_a_token(void **state)
{
	/*
	 * {"sub":"system:serviceaccount:a:b","exp":7}, whose length needs padding, and
	 * {"sub":"ä??"}
	 */
	static const char *const good[] = { "h.eyJzdWIiOiJzeXN0ZW06c2VydmljZWFjY291bnQ6YTpiIiwiZXhwIjo3fQ.s",
		"h.eyJzdWIiOiLDpD8_In0.s" };
	static const char *const none[] = { "", "opaque", "a.b", "..", "a.%%%.c", "a.bm90IEpTT04.c", "a.WzFd.c",
		"a.e30" };
	json_t *claims;

	(void)state;
	claims = gather_claims(good[0]);
	assert_string_equal(json_str_or_empty(claims, "sub"), "system:serviceaccount:a:b");
	assert_int_equal(json_integer_value(json_object_get(claims, "exp")), 7);
	json_decref(claims);
	claims = gather_claims(good[1]);
	assert_string_equal(json_str_or_empty(claims, "sub"), "\xC3\xA4??");
	json_decref(claims);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_null(gather_claims(none[i]));
}

static void no_kubeconfig(void **state)
{
	struct doctor_setup setup = { .kubeconfig = "/nonexistent/kubeconfig" };
	json_t *facts;

	(void)state;
	assert_false(gather_entrance(&setup, &facts));
	assert_string_equal(setup.namespace_, "kscaled");
	assert_true(json_str_is(json_object_get(facts, "kubeconfig"), "error", "missing"));
	json_decref(facts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(claims_of_a_token),
		cmocka_unit_test(no_kubeconfig),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
