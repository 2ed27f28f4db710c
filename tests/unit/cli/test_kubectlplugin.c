/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/kubectlplugin.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"

static void plugin_is_known_by_name(void **state)
{
	char *own = program_invocation_short_name, plugin[] = "kubectl-kscaled", program[] = "kscaled",
	     other[] = "kubectl";

	(void)state;
	assert_false(kubectlplugin_runs());
	program_invocation_short_name = plugin;
	assert_true(kubectlplugin_runs());
	program_invocation_short_name = program;
	assert_false(kubectlplugin_runs());
	program_invocation_short_name = other;
	assert_false(kubectlplugin_runs());
	program_invocation_short_name = own;
}

static void which_kubeconfig(void **state)
{
	static const struct {
		const char *named, *home, *expected;
	} rows[] = {
		{ "/a/config", "/home/x", "/a/config" },
		{ "/a:/b", NULL, "/a:/b" },
		{ "", "/home/x", "/home/x/.kube/config" },
		{ NULL, "/home/x", "/home/x/.kube/config" },
		{ NULL, "", NULL },
		{ NULL, NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		MEM_AUTO char *path = NULL;

		unsetenv("KUBECONFIG");
		unsetenv("HOME");
		if (rows[i].named)
			setenv("KUBECONFIG", rows[i].named, 1);
		if (rows[i].home)
			setenv("HOME", rows[i].home, 1);
		path = kubectlplugin_kubeconfig();
		if (rows[i].expected)
			assert_string_equal(path, rows[i].expected);
		else
			assert_null(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plugin_is_known_by_name),
		cmocka_unit_test(which_kubeconfig),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
