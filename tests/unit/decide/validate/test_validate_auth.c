/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for authentications. The structs are made by hand: decoding is tested in tests/unit/crd. */
#include "decide/validate/validate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* The fields are char * as they are owned elsewhere; nothing writes to these. */
#define TEXT(literal) ((char[]){ literal })

static void check(const struct triggerauth *t, const char *reason, const char *message)
{
	const char *got = "unset";
	struct err err = { 0 };

	assert_int_equal(validate_triggerauth(t, &got, &err), reason != NULL ? -1 : 0);
	assert_int_equal(validate_triggerauth(t, NULL, NULL), reason != NULL ? -1 : 0);
	if (reason == NULL) {
		assert_null(got);
		return;
	}
	assert_int_equal(err.kind, ERR_INVALID);
	assert_string_equal(err.msg, message);
	assert_string_equal(got, reason);
}

static void check_identity(struct triggerauth_identity id, const char *message)
{
	struct triggerauth t = { .identity = &id };

	check(&t, message != NULL ? "incorrect-pod-identity" : NULL, message);
}

static void identities(void **state)
{
	(void)state;
	check_identity((struct triggerauth_identity){ .provider = NULL }, NULL);
	check_identity((struct triggerauth_identity){ .provider = TEXT("none") }, NULL);
	check_identity((struct triggerauth_identity){ .provider = TEXT("gcp"), .identity_id = TEXT("") }, NULL);
	check_identity((struct triggerauth_identity){ .provider = TEXT("azure-workload") }, NULL);
	check_identity((struct triggerauth_identity){ .provider = TEXT("azure-workload"),
			       .identity_id = TEXT("i"),
			       .identity_tenant_id = TEXT("t"),
			       .identity_authority_host = TEXT("h") },
		NULL);
	check_identity((struct triggerauth_identity){ .provider = TEXT("azure-workload"),
			       .identity_authority_host = TEXT("") },
		NULL);
	check_identity((struct triggerauth_identity){ .provider = TEXT("azure-workload"), .identity_id = TEXT("") },
		"spec.podIdentity.identityId: empty: name the identity, or remove the field");
	check_identity((struct triggerauth_identity){ .provider = TEXT("azure-workload"),
			       .identity_authority_host = TEXT("h") },
		"spec.podIdentity.identityTenantId: missing: identityAuthorityHost needs it");
	check_identity((struct triggerauth_identity){ .provider = TEXT("azure-workload"),
			       .identity_tenant_id = TEXT("") },
		"spec.podIdentity.identityTenantId: empty: name the tenant, or remove the field");
	check_identity((struct triggerauth_identity){ .provider = TEXT("aws"),
			       .role_arn = TEXT("r"),
			       .external_id = TEXT("x"),
			       .identity_owner = TEXT("keda") },
		NULL);
	check_identity((struct triggerauth_identity){ .provider = TEXT("aws"), .identity_owner = TEXT("workload") },
		NULL);
	check_identity((struct triggerauth_identity){ .provider = TEXT("aws"),
			       .role_arn = TEXT("r"),
			       .identity_owner = TEXT("workload") },
		"spec.podIdentity.roleArn: can't be set when identityOwner is workload: the role is the one of the "
		"workload's service account");
	check_identity((struct triggerauth_identity){ .provider = TEXT("aws"), .external_id = TEXT("x") },
		"spec.podIdentity.externalID: requires roleArn to be set");
}

static void check_oauth2(struct triggerauth_oauth2 o, const char *message)
{
	struct triggerauth_identity none = { .provider = TEXT("none") };
	struct triggerauth t = { .oauth2 = &o, .identity = &none };

	check(&t, message != NULL ? "incorrect-oauth2" : NULL, message);
}

static void oauth2(void **state)
{
	static const char bad_url[] = "spec.oauth2.tokenUrl: must be a valid http or https URL";

	(void)state;
	check_oauth2((struct triggerauth_oauth2){ .client_id = TEXT("c"),
			     .token_url = TEXT("https://example.com/token") },
		NULL);
	check_oauth2((struct triggerauth_oauth2){ .type = TEXT("clientCredentials"),
			     .client_id = TEXT("c"),
			     .token_url = TEXT("HTTP://x") },
		NULL);
	check_oauth2((struct triggerauth_oauth2){ .type = TEXT("password"),
			     .client_id = TEXT("c"),
			     .token_url = TEXT("http://x") },
		"spec.oauth2.type: must be 'clientCredentials', got 'password'");
	check_oauth2((struct triggerauth_oauth2){ .client_id = TEXT(""), .token_url = TEXT("http://x") },
		"spec.oauth2.clientId: missing: it is required when oauth2 is configured");
	check_oauth2((struct triggerauth_oauth2){ .client_id = TEXT("c") },
		"spec.oauth2.tokenUrl: missing: it is required when oauth2 is configured");
	check_oauth2((struct triggerauth_oauth2){ .client_id = TEXT("c"), .token_url = TEXT("example.com/token") },
		bad_url);
	check_oauth2((struct triggerauth_oauth2){ .client_id = TEXT("c"), .token_url = TEXT("ftp://example.com") },
		bad_url);
	check_oauth2((struct triggerauth_oauth2){ .client_id = TEXT("c"), .token_url = TEXT("https:///token") },
		bad_url);
	check_oauth2((struct triggerauth_oauth2){ .client_id = TEXT("c"), .token_url = TEXT("https://a b/") }, bad_url);
}

static void a_spec_that_does_not_decode(void **state)
{
	struct err fault = { .kind = ERR_INVALID, .msg = "spec.env: must be an array, not a string" };
	struct triggerauth t = { .spec_err = &fault };

	(void)state;
	check(&t, "incorrect-spec", "spec.env: must be an array, not a string");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(identities),
		cmocka_unit_test(oauth2),
		cmocka_unit_test(a_spec_that_does_not_decode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
