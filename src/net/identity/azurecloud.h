/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_IDENTITY_AZURECLOUD_H
#define NET_IDENTITY_AZURECLOUD_H

/*
 * Azure's clouds and how the names of their services end, as KEDA has them: for the types of Azure
 * and for Azure Key Vault as an authentication source. Pure.
 */

#include <stdbool.h>

#include "base/err.h"

enum azurecloud_service {
	AZURECLOUD_BLOB,        /* "blob.core.windows.net" */
	AZURECLOUD_QUEUE,       /* "queue.core.windows.net" */
	AZURECLOUD_SERVICE_BUS, /* "servicebus.windows.net", of Event Hubs, too */
	AZURECLOUD_KEY_VAULT,   /* "vault.azure.net" */
	/* for azurecloud_has_host alone */
	AZURECLOUD_PROMETHEUS, /* "prometheus.monitor.azure.com" */
	AZURECLOUD_DEVOPS,     /* dev.azure.com, "visualstudio.com" */
	AZURECLOUD_POSTGRES,   /* "postgres.database.azure.com" */
	AZURECLOUD_NONE,       /* others' servers: no host is one */
};

/*
 * How the hosts' names of a service end. cloud: KEDA's name in any case of letters; NULL and "":
 * the public one. In cloud Private it is what `own` says, which is the parameter `own_name`;
 * elsewhere that is ignored, as in KEDA. 0 with *out, which the caller owns; -1 with ERR_INVALID.
 */
int azurecloud_suffix(const char *cloud, enum azurecloud_service service, const char *own_name, const char *own,
	char **out, struct err *err);

/*
 * What a token for Azure Managed Prometheus is for (a scope); own: of cloud Private, what
 * azureManagedPrometheusResourceURL says. As azurecloud_suffix.
 */
int azurecloud_prometheus_scope(const char *cloud, const char *own, char **out, struct err *err);

/*
 * What a token for a PostgreSQL server is for: that of the cloud whose host it is, of the public
 * one for hosts that are none of Microsoft's. Static.
 */
const char *azurecloud_postgres_scope(const char *host);

/*
 * Whether a text can be one label of a host's name, such as an account's or a namespace's: it
 * becomes part of a host's name to which credentials are sent.
 */
bool azurecloud_is_label(const char *text);

/* Whether a host is one of the service, in a cloud that is Microsoft's. */
bool azurecloud_has_host(const char *host, enum azurecloud_service service);

/*
 * How the names of vaults end in the cloud of this vault, by its own name; of a vault that is in
 * none in the public one.
 */
const char *azurecloud_vaults(const char *host);
/*
 * Where the tokens for vaults whose names end so come from ("https://login.microsoftonline.com");
 * NULL: they are in no cloud of Microsoft's.
 */
const char *azurecloud_authority(const char *vaults);

#endif
