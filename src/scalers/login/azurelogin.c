/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/login/azurelogin.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "net/identity/entra.h"

/* The scopes of tokens. */
static const char *const scopes[] = {
	[AZURECLOUD_BLOB] = "https://storage.azure.com/.default",
	[AZURECLOUD_QUEUE] = "https://storage.azure.com/.default",
	[AZURECLOUD_SERVICE_BUS] = "https://servicebus.azure.net/.default",
	[AZURECLOUD_KEY_VAULT] = "https://vault.azure.net/.default",
	[AZURECLOUD_DEVOPS] = "499b84ac-1321-427f-aa17-267ca6975798/.default", /* Azure DevOps */
	[AZURECLOUD_PROMETHEUS] = NULL,
	[AZURECLOUD_POSTGRES] = NULL,
	[AZURECLOUD_NONE] = NULL,
};

int azurelogin_is_workload(const struct pod_identity *pod, const char *type, struct err *err)
{
	if (!pod || !text_is_given(pod->provider) || strcmp(pod->provider, "none") == 0)
		return 0;
	if (strcmp(pod->provider, "azure-workload") != 0)
		return err_set(err, ERR_INVALID, "pod identity %s not supported for %s", pod->provider, type);
	return azurelogin_is_workload_or_none(pod, err);
}

int azurelogin_is_workload_or_none(const struct pod_identity *pod, struct err *err)
{
	if (!pod || !text_is_given(pod->provider) || strcmp(pod->provider, "azure-workload") != 0)
		return 0;
	if (!pod->may_be_kscaled)
		return err_set(err, ERR_INVALID,
			"podIdentity azure-workload asks for kscaled's own Azure identity, which needs a "
			"ClusterTriggerAuthentication or option cloud-identity all; give the trigger credentials of "
			"its own instead");
	return 1;
}

/* As in KEDA, another authority counts only with a tenant. */
struct identity *azurelogin_new(const struct pod_identity *pod, const char *scope, const struct disclosure *to,
	struct err *err)
{
	struct disclosure whole = *to;
	const struct entra_config config = {
		.authority = text_is_given(pod->identity_tenant_id) ? pod->identity_authority_host : NULL,
		.tenant = pod->identity_tenant_id,
		.client_id = pod->identity_id,
		.scope = scope ? scope : scopes[to->service],
	};
	struct identity *identity = NULL;

	whole.cloud = DISCLOSURE_AZURE;
	whole.trusted = pod->azure_trusted;
	if (disclosure_check(&whole, err) == 0)
		identity = entra_own_new(&config, err);
	if (!identity)
		err_wrap(err, "podIdentity azure-workload");
	return identity;
}
