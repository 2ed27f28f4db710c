/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for a TriggerAuthentication or ClusterTriggerAuthentication (doc/keda.md 7.2). */
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"
#include "decide/validate/validate.h"

static bool is_written_empty(const char *text)
{
	return text && !*text;
}

static int check_azure(const struct triggerauth_identity *id, struct err *err)
{
	if (is_written_empty(id->identity_id))
		return err_set(err, ERR_INVALID,
			"spec.podIdentity.identityId: empty: name the identity, or remove the field");
	if (text_is_given(id->identity_authority_host) && !text_is_given(id->identity_tenant_id))
		return err_set(err, ERR_INVALID,
			"spec.podIdentity.identityTenantId: missing: identityAuthorityHost needs it");
	if (is_written_empty(id->identity_tenant_id))
		return err_set(err, ERR_INVALID,
			"spec.podIdentity.identityTenantId: empty: name the tenant, or remove the field");
	return 0;
}

static int check_aws(const struct triggerauth_identity *id, struct err *err)
{
	if (text_is_given(id->role_arn) && text_is_given(id->identity_owner) &&
		strcmp(id->identity_owner, "workload") == 0)
		return err_set(err, ERR_INVALID,
			"spec.podIdentity.roleArn: can't be set when identityOwner is workload: the role is the one of "
			"the workload's service account");
	if (text_is_given(id->external_id) && !text_is_given(id->role_arn))
		return err_set(err, ERR_INVALID, "spec.podIdentity.externalID: requires roleArn to be set");
	return 0;
}

static int check_identity(const struct triggerauth *t, struct err *err)
{
	const struct triggerauth_identity *id = t->identity;

	if (!id || !id->provider)
		return 0;
	if (strcmp(id->provider, "azure-workload") == 0)
		return check_azure(id, err);
	return strcmp(id->provider, "aws") == 0 ? check_aws(id, err) : 0;
}

/* http or https, and a host. */
static bool is_url(const char *text)
{
	size_t scheme = strncasecmp(text, "https://", 8) == 0 ? 8 : strncasecmp(text, "http://", 7) == 0 ? 7 : 0;

	return scheme > 0 && strcspn(text + scheme, "/?#") > 0 && !strpbrk(text, " \t\r\n");
}

static int check_oauth2(const struct triggerauth *t, struct err *err)
{
	const struct triggerauth_oauth2 *o = t->oauth2;

	if (!o)
		return 0;
	if (o->type && strcmp(o->type, "clientCredentials") != 0)
		return err_set(err, ERR_INVALID, "spec.oauth2.type: must be 'clientCredentials', got '%s'", o->type);
	if (!text_is_given(o->client_id))
		return err_set(err, ERR_INVALID,
			"spec.oauth2.clientId: missing: it is required when oauth2 is configured");
	if (!text_is_given(o->token_url))
		return err_set(err, ERR_INVALID,
			"spec.oauth2.tokenUrl: missing: it is required when oauth2 is configured");
	/* Not quoted: it may contain a password. */
	if (!is_url(o->token_url))
		return err_set(err, ERR_INVALID, "spec.oauth2.tokenUrl: must be a valid http or https URL");
	return 0;
}

static int check_decoded(const struct triggerauth *t, struct err *err)
{
	if (!t->spec_err)
		return 0;
	if (err)
		*err = *t->spec_err;
	return -1;
}

int validate_triggerauth(const struct triggerauth *t, const char **reason, struct err *err)
{
	static const struct {
		int (*check)(const struct triggerauth *t, struct err *err);
		const char *reason;
	} checks[] = {
		{ check_decoded, "incorrect-spec" },
		{ check_identity, "incorrect-pod-identity" },
		{ check_oauth2, "incorrect-oauth2" },
	};

	for (size_t i = 0; i < MEM_COUNT(checks); i++) {
		if (reason)
			*reason = checks[i].reason;
		if (checks[i].check(t, err) < 0)
			return -1;
	}
	if (reason)
		*reason = NULL;
	return 0;
}
