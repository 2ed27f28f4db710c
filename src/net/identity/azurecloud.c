/* SPDX-License-Identifier: Apache-2.0 */
#include "net/identity/azurecloud.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/dnsname.h"
#include "base/mem.h"

/* ---- The table ---- */

static const struct {
	const char *names[3];
	const char *storage, *service_bus, *key_vault, *prometheus; /* NULL: not available */
	const char *authority;                                      /* of Entra ID; NULL: the cloud has ended */
	const char *postgres, *postgres_scope;
} clouds[] = {
	{ { "AzurePublicCloud", "AzureCloud" }, "core.windows.net", "servicebus.windows.net", "vault.azure.net",
		"prometheus.monitor.azure.com", "https://login.microsoftonline.com", "postgres.database.azure.com",
		"https://ossrdbms-aad.database.windows.net/.default" },
	{ { "AzureUSGovernmentCloud", "AzureUSGovernment" }, "core.usgovcloudapi.net", "servicebus.usgovcloudapi.net",
		"vault.usgovcloudapi.net", "prometheus.monitor.azure.us", "https://login.microsoftonline.us",
		"postgres.database.usgovcloudapi.net", "https://ossrdbms-aad.database.usgovcloudapi.net/.default" },
	{ { "AzureChinaCloud" }, "core.chinacloudapi.cn", "servicebus.chinacloudapi.cn", "vault.azure.cn",
		"prometheus.monitor.azure.cn", "https://login.chinacloudapi.cn", "postgres.database.chinacloudapi.cn",
		"https://ossrdbms-aad.database.chinacloudapi.cn/.default" },
	{ { "AzureGermanCloud" }, "core.cloudapi.de", "servicebus.cloudapi.de", "vault.microsoftazure.de", NULL, NULL,
		NULL, NULL },
};
#define PRIVATE "Private"

static const char *const storage_services[] = { [AZURECLOUD_BLOB] = "blob", [AZURECLOUD_QUEUE] = "queue" };

/* MEM_COUNT(clouds): unknown. */
static size_t find(const char *name)
{
	size_t i = 0;

	for (; i < MEM_COUNT(clouds); i++)
		for (const char *const *one = clouds[i].names; *one; one++)
			if (strcasecmp(*one, name) == 0)
				return i;
	return i;
}

static const char *names_end(size_t cloud, enum azurecloud_service service)
{
	switch (service) {
	case AZURECLOUD_BLOB:
	case AZURECLOUD_QUEUE: return clouds[cloud].storage;
	case AZURECLOUD_SERVICE_BUS: return clouds[cloud].service_bus;
	case AZURECLOUD_KEY_VAULT: return clouds[cloud].key_vault;
	case AZURECLOUD_PROMETHEUS: return clouds[cloud].prometheus;
	case AZURECLOUD_POSTGRES: return clouds[cloud].postgres;
	case AZURECLOUD_DEVOPS:
	case AZURECLOUD_NONE: break;
	}
	return NULL;
}

static char *suffix_in(size_t cloud, enum azurecloud_service service)
{
	const char *end = names_end(cloud, service);

	if (service == AZURECLOUD_BLOB || service == AZURECLOUD_QUEUE)
		return mem_printf("%s.%s", storage_services[service], end);
	return mem_dup(end);
}

/* 0: *out is a cloud of the table; 1: Private, with `own` given. */
static int choose(const char *cloud, const char *own_name, const char *own, size_t *out, struct err *err)
{
	*out = cloud && *cloud ? find(cloud) : 0;
	if (*out < MEM_COUNT(clouds))
		return 0;
	if (strcasecmp(cloud, PRIVATE) != 0)
		return err_set(err, ERR_INVALID,
			"parameter \"cloud\": invalid cloud environment %.100s: valid are AzurePublicCloud, "
			"AzureUSGovernmentCloud, AzureChinaCloud, AzureGermanCloud and Private",
			cloud);
	if (!own || !*own)
		return err_set(err, ERR_INVALID, "%s must be provided for Private cloud type", own_name);
	return 1;
}

int azurecloud_suffix(const char *cloud, enum azurecloud_service service, const char *own_name, const char *own,
	char **out, struct err *err)
{
	size_t i;
	int rc = choose(cloud, own_name, own, &i, err);

	*out = rc < 0 ? NULL : rc ? mem_dup(own) : suffix_in(i, service);
	return rc < 0 ? -1 : 0;
}

int azurecloud_prometheus_scope(const char *cloud, const char *own, char **out, struct err *err)
{
	size_t i;
	int rc = choose(cloud, "azureManagedPrometheusResourceURL", own, &i, err);

	*out = NULL;
	if (rc < 0)
		return -1;
	if (!rc && !clouds[i].prometheus)
		return err_set(err, ERR_INVALID,
			"parameter \"cloud\": azure managed prometheus is not available in cloud %.100s", cloud);
	*out = rc ? mem_dup(own) : mem_printf("https://%s/.default", clouds[i].prometheus);
	return 0;
}

/* ---- Hosts ---- */

bool azurecloud_is_label(const char *text)
{
	size_t len = strlen(text);

	return len > 0 && len <= 63 && text[0] != '-' &&
		strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") == len;
}

/* An organization is a single label: deeper names are not Azure DevOps. */
static bool is_devops(const char *host)
{
	const char *dot = strchr(host, '.');

	return strcasecmp(host, "dev.azure.com") == 0 ||
		(dot && dot > host && strcasecmp(dot, ".visualstudio.com") == 0);
}

/*
 * MEM_COUNT(clouds): in no cloud. The German cloud has ended: its names may belong to others now.
 */
static size_t find_by_host(const char *host, enum azurecloud_service service)
{
	for (size_t i = 0; i < MEM_COUNT(clouds); i++) {
		const char *end = names_end(i, service);

		if (clouds[i].authority && end && dnsname_is_below(host, end))
			return i;
	}
	return MEM_COUNT(clouds);
}

bool azurecloud_has_host(const char *host, enum azurecloud_service service)
{
	return service == AZURECLOUD_DEVOPS ? is_devops(host) : find_by_host(host, service) < MEM_COUNT(clouds);
}

const char *azurecloud_vault_suffix(const char *host)
{
	size_t i = find_by_host(host, AZURECLOUD_KEY_VAULT);

	return clouds[i < MEM_COUNT(clouds) ? i : 0].key_vault;
}

const char *azurecloud_authority(const char *vaults)
{
	for (size_t i = 0; i < MEM_COUNT(clouds); i++)
		if (strcmp(vaults, clouds[i].key_vault) == 0)
			return clouds[i].authority;
	return NULL;
}

const char *azurecloud_postgres_scope(const char *host)
{
	size_t cloud = find_by_host(host, AZURECLOUD_POSTGRES);

	return clouds[cloud < MEM_COUNT(clouds) ? cloud : 0].postgres_scope;
}
