/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_IDENTITY_AZURECLOUD_H
#define NET_IDENTITY_AZURECLOUD_H

/*
 * Azure's clouds and the host suffixes of their services, as in KEDA: for Azure's trigger types and
 * for Azure Key Vault as an authentication source. Pure.
 */

#include <stdbool.h>

#include "base/err.h"

enum azurecloud_service {
	AZURECLOUD_BLOB,        /* "blob.core.windows.net" */
	AZURECLOUD_QUEUE,       /* "queue.core.windows.net" */
	AZURECLOUD_SERVICE_BUS, /* "servicebus.windows.net", also of Event Hubs */
	AZURECLOUD_KEY_VAULT,   /* "vault.azure.net" */
	/* for azurecloud_has_host only */
	AZURECLOUD_PROMETHEUS, /* "prometheus.monitor.azure.com" */
	AZURECLOUD_DEVOPS,     /* dev.azure.com, "visualstudio.com" */
	AZURECLOUD_POSTGRES,   /* "postgres.database.azure.com" */
	AZURECLOUD_NONE,       /* not Azure's: matches no host */
};

/*
 * The host suffix of a service. cloud: KEDA's name, in any case; NULL and "": the public cloud. In
 * cloud Private it is `own`, the value of parameter `own_name`; elsewhere that is ignored, as in
 * KEDA. 0 with *out, which the caller owns; -1 with ERR_INVALID.
 */
int azurecloud_suffix(const char *cloud, enum azurecloud_service service, const char *own_name, const char *own,
	char **out, struct err *err);

/*
 * The scope of a token for Azure Managed Prometheus. own: azureManagedPrometheusResourceURL, for
 * cloud Private. Otherwise as azurecloud_suffix.
 */
int azurecloud_prometheus_scope(const char *cloud, const char *own, char **out, struct err *err);

/*
 * The scope of a token for a PostgreSQL server: of the host's cloud; of the public one if the host
 * is in none. Static.
 */
const char *azurecloud_postgres_scope(const char *host);

/*
 * Whether text is a valid label of a host name, such as an account's or a namespace's; credentials
 * are sent to that host.
 */
bool azurecloud_is_label(const char *text);

/* Whether Microsoft runs the host, in any cloud, for this service. */
bool azurecloud_has_host(const char *host, enum azurecloud_service service);

/* The suffix of vault hosts in this vault's cloud; of the public one if the vault is in none. */
const char *azurecloud_vault_suffix(const char *host);
/*
 * The authority for vaults with this suffix ("https://login.microsoftonline.com"); NULL: no cloud
 * of Microsoft's.
 */
const char *azurecloud_authority(const char *vaults);

#endif
