/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/gather.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"

static void no_kubeconfig(void **state)
{
	struct doctor_setup setup = { .kubeconfig = "/nonexistent/kubeconfig" };
	json_t *facts;

	(void)state;
	assert_false(gather_apiserver(&setup, &facts));
	assert_string_equal(setup.manifests.namespace_, "kscaled");
	assert_true(json_str_is(json_object_get(facts, "kubeconfig"), "error", "missing"));
	json_decref(facts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_kubeconfig),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
