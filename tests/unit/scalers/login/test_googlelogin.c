/* SPDX-License-Identifier: Apache-2.0 */
/* KEDA's rules for a trigger's Google identity, and its parameters. */
#include "../../fakes/fakekey.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/identity/googlekey.h"
#include "net/identity/googleown.h"
#include "scalers/login/googlelogin.h"

#define SCOPE GOOGLEKEY_MONITORING_READ
#define URL   "https://oauth2.googleapis.com/token"

static const struct pod_identity gcp = { .provider = "gcp", .may_be_kscaled = true }, forbidden = { .provider = "gcp" },
				 none = { .provider = "none", .may_be_kscaled = true },
				 aws = { .provider = "aws", .may_be_kscaled = true };

static int read_with(const char *variable, const char *key, const struct pod_identity *pod, struct googlelogin *out,
	struct err *err)
{
	MEM_AUTO char *by_env = fakekey_google(URL, "by-env");
	struct strmap m = { 0 }, a = { 0 }, e = { 0 };
	struct scaler_params params = { .type = "x", .metadata = &m, .auth = &a, .env = &e, .identity = pod };
	const struct param_table *const tables[] = { &googlelogin_table, NULL };
	int rc;

	params.tables = tables;
	if (variable)
		strmap_set(&m, "credentialsFromEnv", variable);
	if (key)
		strmap_set(&a, "GoogleApplicationCredentials", key);
	strmap_set(&e, "KEY", by_env);
	strmap_set(&e, "NONSENSE", "secret-value");
	rc = googlelogin_read(&params, SCOPE, out, err);
	strmap_done(&m);
	strmap_done(&a);
	strmap_done(&e);
	return rc;
}

/* project: NULL: kscaled's own identity; "": no identity. */
static void rules(void **state)
{
	MEM_AUTO char *key = fakekey_google(URL, "by-key");
	const struct {
		const char *variable, *key;
		const struct pod_identity *pod;
		const char *project, *error;
	} rows[] = {
		{ NULL, NULL, &gcp, NULL, NULL },
		{ "KEY", key, &gcp, NULL, NULL },
		{ "KEY", key, &forbidden, NULL, "kscaled's own Google identity" },
		{ "KEY", key, NULL, "by-key", NULL },
		{ "KEY", key, &none, "by-key", NULL },
		{ NULL, key, &aws, "by-key", NULL },
		{ "KEY", NULL, NULL, "by-env", NULL },
		{ NULL, NULL, NULL, "", NULL },
		{ NULL, NULL, &none, "", NULL },
		{ "GONE", NULL, NULL, NULL, "no environment variable GONE with a value" },
		{ "NONSENSE", NULL, NULL, NULL, "parameter \"credentialsFromEnv\": the key is not a JSON object" },
		{ NULL, "secret-value", NULL, NULL,
			"parameter \"GoogleApplicationCredentials\": the key is not a JSON object" },
		{ NULL, "{\"type\":\"external_account\"}", NULL, NULL,
			"the key's type is external_account, which is not supported: it must be service_account" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct googlelogin g;
		struct err err = { 0 };
		int rc = read_with(rows[i].variable, rows[i].key, rows[i].pod, &g, &err);

		if (rc != (rows[i].error ? -1 : 0) || (rows[i].error && !strstr(err.msg, rows[i].error)))
			fail_msg("row %zu: %d %s", i, rc, err.msg);
		assert_null(strstr(err.msg, "secret-value"));
		if (rc == 0 && !rows[i].project) {
			assert_true(g.own && g.identity);
			assert_null(g.project);
		} else if (rc == 0 && !*rows[i].project) {
			assert_true(!g.own && !g.identity);
		} else if (rc == 0) {
			assert_true(!g.own && g.identity);
			assert_string_equal(g.project, rows[i].project);
		}
		googlelogin_done(&g);
	}
}

static void key_files_are_not_read(void **state)
{
	struct strmap m = { 0 };
	struct scaler_params params = { .type = "x", .metadata = &m };
	struct googlelogin g;
	struct err err = { 0 };

	(void)state;
	strmap_set(&m, "credentialsFromEnvFile", "KEY_FILE");
	assert_int_equal(googlelogin_read(&params, SCOPE, &g, &err), -1);
	assert_non_null(strstr(err.msg, "no file that a trigger names is read"));
	strmap_done(&m);
}

static void unknown_values_are_no_error(void **state)
{
	struct strmap m = { 0 }, a = { 0 };
	struct scaler_params params = { .type = "x", .metadata = &m, .auth = &a, .unknown = "?" };
	struct googlelogin g;
	struct err err = { 0 };

	(void)state;
	strmap_set(&a, "GoogleApplicationCredentials", "?");
	assert_int_equal(googlelogin_read(&params, SCOPE, &g, &err), 1);
	assert_null(g.identity);
	strmap_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules),
		cmocka_unit_test(key_files_are_not_read),
		cmocka_unit_test(unknown_values_are_no_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
