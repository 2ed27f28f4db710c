/* SPDX-License-Identifier: Apache-2.0 */
/* KEDA's rules for a trigger's AWS identity, as a table, and its parameters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/fingerprint.h"
#include "base/mem.h"
#include "base/text.h"
#include "net/identity/awskeys.h"
#include "net/identity/awsown.h"
#include "net/identity/awsrole.h"
#include "scalers/login/awslogin.h"

#define OWN "kscaled's own AWS identity"

static const struct pod_identity aws = { .provider = "aws", .may_be_kscaled = true },
				 role = { .provider = "aws",
					 .role_arn = "r",
					 .external_id = "x",
					 .may_be_kscaled = true },
				 forbidden = { .provider = "aws" },
				 forbidden_role = { .provider = "aws", .role_arn = "r" },
				 none = { .provider = "none", .may_be_kscaled = true },
				 eks = { .provider = "aws-eks", .may_be_kscaled = true },
				 nothing = { .may_be_kscaled = true };

static void rules(void **state)
{
	static const struct {
		struct awslogin_config config;
		enum awslogin_kind kind;
		const char *role, *external_id, *error;
	} rows[] = {
		/* podIdentity aws: all other parameters are ignored, except a role */
		{ { .pod = &aws }, AWSLOGIN_OWN, NULL, NULL, NULL },
		{ { .pod = &aws, .key_id = "k", .secret = "s" }, AWSLOGIN_OWN, NULL, NULL, NULL },
		{ { .pod = &aws, .by_operator = true, .role = "o" }, AWSLOGIN_ROLE_BY_TOKEN, "o", NULL, NULL },
		{ { .pod = &role }, AWSLOGIN_ROLE_BY_TOKEN, "r", "x", NULL },
		{ { .pod = &role, .role = "o", .key_id = "k" }, AWSLOGIN_ROLE_BY_TOKEN, "r", "x", NULL },
		{ { .pod = &forbidden }, AWSLOGIN_OWN, NULL, NULL, OWN },
		{ { .pod = &forbidden_role, .key_id = "k", .secret = "s" }, AWSLOGIN_OWN, NULL, NULL, OWN },
		/* otherwise */
		{ { .pod = &nothing, .by_operator = true }, AWSLOGIN_OWN, NULL, NULL, NULL },
		{ { .pod = &none, .by_operator = true, .role = "o", .key_id = "k" }, AWSLOGIN_OWN, NULL, NULL, NULL },
		{ { .by_operator = true }, AWSLOGIN_OWN, NULL, NULL, OWN },
		{ { .pod = &none, .role = "o" }, AWSLOGIN_ROLE, "o", NULL, NULL },
		{ { .pod = &none, .role = "o", .key_id = "k", .secret = "s" }, AWSLOGIN_ROLE, "o", NULL, NULL },
		{ { .role = "o" }, AWSLOGIN_ROLE, NULL, NULL, OWN },
		{ { .key_id = "k", .secret = "s" }, AWSLOGIN_KEYS, NULL, NULL, NULL },
		{ { .pod = &nothing, .key_id = "k", .secret = "s" }, AWSLOGIN_KEYS, NULL, NULL, NULL },
		{ { .key_id = "k" }, AWSLOGIN_KEYS, NULL, NULL, "awsSecretAccessKey not found" },
		{ { .secret = "s" }, AWSLOGIN_KEYS, NULL, NULL, "awsAccessKeyID not found" },
		{ { .pod = &nothing }, AWSLOGIN_KEYS, NULL, NULL, "awsAccessKeyID not found" },
		/* podIdentity aws-eks: the annotation's role, if any, then the same */
		{ { .pod = &eks, .role = "o", .key_id = "k" }, AWSLOGIN_ROLE, "o", NULL, NULL },
		{ { .pod = &eks, .by_operator = true }, AWSLOGIN_OWN, NULL, NULL, NULL },
		{ { .pod = &eks, .key_id = "k", .secret = "s" }, AWSLOGIN_KEYS, NULL, NULL, NULL },
		{ { .pod = &eks }, AWSLOGIN_KEYS, NULL, NULL, "which is missing, as is identityOwner" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct awslogin_choice as;
		struct err err = { 0 };
		int rc = awslogin_decide(&rows[i].config, &as, &err);

		if (rc != (rows[i].error ? -1 : 0) || (rows[i].error && !strstr(err.msg, rows[i].error)))
			fail_msg("row %zu: %d %s", i, rc, err.msg);
		if (rc)
			continue;
		assert_int_equal(as.kind, rows[i].kind);
		assert_true(text_equal(as.role, rows[i].role) && text_equal(as.external_id, rows[i].external_id));
	}
}

static int read_with(const char *const *metadata, const char *const *auth, const struct pod_identity *pod,
	const char *region, char key[FINGERPRINT_TEXT], struct err *err)
{
	struct strmap m = { 0 }, a = { 0 };
	struct scaler_params params = { .type = "x", .metadata = &m, .auth = &a, .identity = pod };
	struct identity *identity;
	int rc;

	for (; metadata && *metadata; metadata += 2)
		strmap_set(&m, metadata[0], metadata[1]);
	for (; auth && *auth; auth += 2)
		strmap_set(&a, auth[0], auth[1]);
	rc = awslogin_read(&params, region, &identity, err);
	assert_true(!identity == (rc != 0));
	if (identity)
		snprintf(key, FINGERPRINT_TEXT, "%s", identity_key(identity));
	identity_unref(identity);
	strmap_done(&m);
	strmap_done(&a);
	return rc;
}

#define T(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void expect(const char *key, struct identity *expected /* takes */)
{
	assert_string_equal(key, identity_key(expected));
	identity_unref(expected);
}

static void parameters(void **state)
{
	char key[FINGERPRINT_TEXT];
	struct err err = { 0 };

	(void)state;
	assert_int_equal(read_with(NULL, T("awsAccessKeyId", "k", "awsSecretAccessKey", "s", "awsSessionToken", "t"),
				 NULL, "eu-west-1", key, &err),
		0);
	expect(key, awskeys_new("k", "s", "t", NULL));
	assert_int_equal(read_with(T("awsAccessKeyID", "k"), T("awsSecretAccessKey", "s"), NULL, "eu-west-1", key,
				 &err),
		0);
	expect(key, awskeys_new("k", "s", NULL, NULL));
	assert_int_equal(read_with(T("identityOwner", "operator"), NULL, &nothing, "eu-west-1", key, &err), 0);
	expect(key, awsown_new("eu-west-1"));
	assert_int_equal(read_with(NULL, T("awsRoleArn", "o"), &aws, "eu-west-1", key, &err), 0);
	expect(key, awsrole_new("eu-west-1", "o", NULL, true));
	assert_int_equal(read_with(NULL, T("awsRoleArn", "o"), &nothing, "eu-west-1", key, &err), 0);
	expect(key, awsrole_new("eu-west-1", "o", NULL, false));
}

static void parameters_that_are_refused(void **state)
{
	char key[FINGERPRINT_TEXT];
	struct err err = { 0 };

	(void)state;
	assert_int_equal(read_with(NULL, NULL, &aws, "x.evil.example/", key, &err), -1);
	assert_string_equal(err.msg, "parameter \"awsRegion\": is not the name of an AWS region, such as eu-west-1");
	assert_int_equal(read_with(T("identityOwner", "me"), T("awsAccessKeyID", "k", "awsSecretAccessKey", "s"), NULL,
				 "eu-west-1", key, &err),
		-1);
	assert_non_null(strstr(err.msg, "identityOwner"));
	/* secrets are not read from metadata */
	assert_int_equal(read_with(T("awsAccessKeyID", "k", "awsSecretAccessKey", "s"), NULL, NULL, "eu-west-1", key,
				 &err),
		-1);
	assert_string_equal(err.msg, "awsSecretAccessKey not found");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules),
		cmocka_unit_test(parameters),
		cmocka_unit_test(parameters_that_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
