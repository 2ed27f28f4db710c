/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/azurelogin.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "net/identity/entra.h"
#include "scalers/azurecloud.h"

/* What a token is for. */
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

#define HOST_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-."

static bool has(const char *text)
{
	return text && *text;
}

int azurelogin_is_workload(const struct pod_identity *pod, const char *type, struct err *err)
{
	if (!pod || !has(pod->provider) || strcmp(pod->provider, "none") == 0)
		return 0;
	if (strcmp(pod->provider, "azure-workload") != 0)
		return err_set(err, ERR_INVALID, "pod identity %s not supported for %s", pod->provider, type);
	return azurelogin_is_workload_or_none(pod, err);
}

int azurelogin_is_workload_or_none(const struct pod_identity *pod, struct err *err)
{
	if (!pod || !has(pod->provider) || strcmp(pod->provider, "azure-workload") != 0)
		return 0;
	if (!pod->may_be_kscaled)
		return err_set(err, ERR_INVALID,
			"podIdentity azure-workload asks for kscaled's own Azure identity, which triggers may use by a "
			"ClusterTriggerAuthentication, or, where kscaled runs with cloud-identity all, by any; give "
			"the trigger credentials of its own instead");
	return 1;
}

/* ---- To whom its token goes ---- */

/* A host of the list, or below one: "core.local" stands for "queue.core.local", too. */
static bool is_listed(const char *host, const char *list)
{
	size_t host_len = strlen(host);

	for (const char *at = list ? list : ""; *at;) {
		size_t len = strcspn(at, ", "), behind = host_len - len;

		if ((len == 1 && *at == '*') ||
			(len > 0 && len <= host_len && strncasecmp(host + behind, at, len) == 0 &&
				(behind == 0 || host[behind - 1] == '.')))
			return true;
		at += len + strspn(at + len, ", ");
	}
	return false;
}

/* What stands in a URL must be read by everybody as the host that was looked at here. */
static int check_host(const struct pod_identity *pod, enum azurecloud_service service, const char *host,
	struct err *err)
{
	size_t len = strcspn(host, ":");
	MEM_AUTO char *name = mem_dupn(host, len);
	const char *port = host[len] ? host + len + 1 : "443";

	if (len == 0 || strspn(name, HOST_LETTERS) != len || !*port || strlen(port) > 5 ||
		strspn(port, "0123456789") != strlen(port))
		return err_set(err, ERR_INVALID, "\"%.200s\" is no host's name", host);
	if (!azurecloud_has_host(name, service) && !is_listed(name, pod->azure_trusted))
		return err_set(err, ERR_INVALID,
			"%.200s is none of Microsoft's hosts%s, and kscaled shows its own Azure token to no "
			"other; "
			"whoever runs kscaled may name it by --azure-trusted-hosts",
			name, service == AZURECLOUD_NONE ? "" : " for that");
	return 0;
}

/* Another authority counts only with a tenant, as in KEDA. */
struct identity *azurelogin_new(const struct pod_identity *pod, enum azurecloud_service service, const char *scope,
	const char *host, struct err *err)
{
	const struct entra_config config = {
		.authority = has(pod->identity_tenant_id) ? pod->identity_authority_host : NULL,
		.tenant = pod->identity_tenant_id,
		.client_id = pod->identity_id,
		.scope = scope ? scope : scopes[service],
	};
	struct identity *identity = NULL;

	if (check_host(pod, service, host, err) == 0)
		identity = entra_new(&config, err);
	if (!identity)
		err_wrap(err, "podIdentity azure-workload");
	return identity;
}
