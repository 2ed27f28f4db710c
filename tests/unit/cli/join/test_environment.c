/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/join/environment.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"

#define HEAD "# Written by kscaled join: options that follow from its arguments, which were:\n" HOSTFILES_CALL

/* All options that restrict rights are recorded. */
static void records_the_arguments(void **state)
{
	const struct manifests_params params = { .host = "10.0.0.7:9443",
		.namespace_ = "scaling",
		.service_name = "metrics",
		.watch_namespaces = "a,b",
		.scale_kinds = "*",
		.no_scaledjobs = true,
		.restrict_secrets = true,
		.service_account_tokens = true,
		.no_webhook = true };
	const struct hostfiles files = { "/none/etc", "/none/state" };
	const struct environment all = { .kubeconfig = "/none/admin conf",
		.params = &params,
		.files = &files,
		.given_port = 9443,
		.port = 9443 };
	MEM_AUTO char *text = environment_text(&all);

	(void)state;
	assert_string_equal(text,
		HEAD "--kubeconfig='/none/admin conf' --host=10.0.0.7:9443 --port=9443 --config-dir=/none/etc "
		     "--state-dir=/none/state --namespace=scaling --service-name=metrics --watch-namespace=a,b "
		     "--scale-kinds='*' --no-scaledjobs --restrict-secret-access --service-account-tokens "
		     "--no-webhook\n"
		     "KSCALED_NAMESPACE=scaling\nKSCALED_WATCH_NAMESPACE=a,b\nKSCALED_SERVICE_NAME=metrics\n"
		     "KSCALED_RESTRICT_SECRET_ACCESS=true\nKSCALED_WEBHOOK=false\nKSCALED_SECURE_PORT=9443\n");
}

static void defaults_are_not_written(void **state)
{
	const struct manifests_params params = { .host = NULL };
	const struct hostfiles files = { HOSTFILES_CONFIG, HOSTFILES_STATE };
	struct environment usual = { .kubeconfig = "/none/k", .params = &params, .files = &files, .port = 8443 };
	MEM_AUTO char *text = environment_text(&usual), *said = NULL;

	(void)state;
	assert_string_equal(text, HEAD "--kubeconfig=/none/k\n");
	/* Explicitly the default. */
	usual.given_port = 8443;
	said = environment_text(&usual);
	assert_string_equal(said, HEAD "--kubeconfig=/none/k --port=8443\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_the_arguments),
		cmocka_unit_test(defaults_are_not_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
