/* SPDX-License-Identifier: Apache-2.0 */
/* Azure's clouds by KEDA's names, and their hosts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/identity/azurecloud.h"

static void suffixes(void **state)
{
	static const struct {
		const char *cloud, *own;
		enum azurecloud_service service;
		const char *suffix, *error;
	} rows[] = {
		{ NULL, NULL, AZURECLOUD_BLOB, "blob.core.windows.net", NULL },
		{ "", "ignored", AZURECLOUD_QUEUE, "queue.core.windows.net", NULL },
		{ "azurepubliccloud", "ignored", AZURECLOUD_SERVICE_BUS, "servicebus.windows.net", NULL },
		{ "AzureCloud", NULL, AZURECLOUD_KEY_VAULT, "vault.azure.net", NULL },
		{ "AzureUSGovernmentCloud", NULL, AZURECLOUD_QUEUE, "queue.core.usgovcloudapi.net", NULL },
		{ "AZUREUSGOVERNMENT", NULL, AZURECLOUD_SERVICE_BUS, "servicebus.usgovcloudapi.net", NULL },
		{ "AzureUSGovernmentCloud", NULL, AZURECLOUD_KEY_VAULT, "vault.usgovcloudapi.net", NULL },
		{ "AzureChinaCloud", NULL, AZURECLOUD_BLOB, "blob.core.chinacloudapi.cn", NULL },
		{ "AzureChinaCloud", NULL, AZURECLOUD_SERVICE_BUS, "servicebus.chinacloudapi.cn", NULL },
		{ "AzureChinaCloud", NULL, AZURECLOUD_KEY_VAULT, "vault.azure.cn", NULL },
		{ "AzureGermanCloud", NULL, AZURECLOUD_BLOB, "blob.core.cloudapi.de", NULL },
		{ "private", "queue.core.local", AZURECLOUD_QUEUE, "queue.core.local", NULL },
		{ "Private", NULL, AZURECLOUD_QUEUE, NULL, "s must be provided for Private cloud type" },
		{ "Private", "", AZURECLOUD_QUEUE, NULL, "s must be provided for Private cloud type" },
		{ "Cloud", "x", AZURECLOUD_QUEUE, NULL,
			"parameter \"cloud\": invalid cloud environment Cloud: valid are AzurePublicCloud, "
			"AzureUSGovernmentCloud, AzureChinaCloud, AzureGermanCloud and Private" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct err err = { 0 };
		MEM_AUTO char *suffix;
		int rc = azurecloud_suffix(rows[i].cloud, rows[i].service, "s", rows[i].own, &suffix, &err);

		assert_int_equal(rc, rows[i].error ? -1 : 0);
		if (rows[i].error)
			assert_string_equal(err.msg, rows[i].error);
		else
			assert_string_equal(suffix, rows[i].suffix);
	}
}

static void host_labels(void **state)
{
	static const char *const good[] = { "a", "shop2", "shop-sb", "ABC" },
				 *const bad[] = { "", "-a", "a.b", "a/b", "a@b", "a b", "a:1", "\xC3\xA4",
					 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" };

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(good); i++)
		assert_true(azurecloud_is_label(good[i]));
	for (size_t i = 0; i < MEM_COUNT(bad); i++)
		assert_false(azurecloud_is_label(bad[i]));
}

static void microsoft_hosts(void **state)
{
	static const struct {
		const char *host;
		enum azurecloud_service service;
		bool is;
	} rows[] = {
		{ "shop.queue.core.windows.net", AZURECLOUD_QUEUE, true },
		{ "shop.BLOB.core.Windows.net", AZURECLOUD_BLOB, true },
		{ "a.blob.core.usgovcloudapi.net", AZURECLOUD_BLOB, true },
		{ "a.servicebus.windows.net", AZURECLOUD_SERVICE_BUS, true },
		{ "a.servicebus.chinacloudapi.cn", AZURECLOUD_SERVICE_BUS, true },
		{ "a.vault.azure.net", AZURECLOUD_KEY_VAULT, true },
		{ "a.eastus.prometheus.monitor.azure.com", AZURECLOUD_PROMETHEUS, true },
		{ "dev.azure.com", AZURECLOUD_DEVOPS, true },
		{ "shop.visualstudio.com", AZURECLOUD_DEVOPS, true },
		{ "shop.postgres.database.azure.com", AZURECLOUD_POSTGRES, true },
		{ "shop.private.Postgres.database.azure.com", AZURECLOUD_POSTGRES, true },
		{ "shop.postgres.database.usgovcloudapi.net", AZURECLOUD_POSTGRES, true },
		{ "shop.postgres.database.chinacloudapi.cn", AZURECLOUD_POSTGRES, true },
		{ "", AZURECLOUD_BLOB, false },
		{ ".core.windows.net", AZURECLOUD_BLOB, false },
		{ "core.windows.net", AZURECLOUD_BLOB, false },
		{ "evilcore.windows.net", AZURECLOUD_BLOB, false },
		{ "shop.core.windows.net.example", AZURECLOUD_BLOB, false },
		{ "a.blob.core.cloudapi.de", AZURECLOUD_BLOB, false },
		{ "a.servicebus.windows.net", AZURECLOUD_BLOB, false },
		{ "a.vault.azure.net", AZURECLOUD_PROMETHEUS, false },
		{ "a.monitor.azure.com", AZURECLOUD_PROMETHEUS, false },
		{ "a.dev.azure.com", AZURECLOUD_DEVOPS, false },
		{ ".visualstudio.com", AZURECLOUD_DEVOPS, false },
		{ "a.b.visualstudio.com", AZURECLOUD_DEVOPS, false },
		{ "visualstudio.com", AZURECLOUD_DEVOPS, false },
		{ "postgres.database.azure.com", AZURECLOUD_POSTGRES, false },
		{ "shop.database.azure.com", AZURECLOUD_POSTGRES, false },
		{ "shop.postgres.database.cloudapi.de", AZURECLOUD_POSTGRES, false },
		{ "shop.mysql.database.azure.com", AZURECLOUD_POSTGRES, false },
		{ "shop.postgres.database.azure.com", AZURECLOUD_NONE, false },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++)
		if (azurecloud_has_host(rows[i].host, rows[i].service) != rows[i].is)
			fail_msg("%s", rows[i].host);
}

static void vault_authorities(void **state)
{
	static const struct {
		const char *host, *vaults, *authority;
	} rows[] = {
		{ "shop.vault.azure.net", "vault.azure.net", "https://login.microsoftonline.com" },
		{ "Shop.Vault.usgovcloudapi.net", "vault.usgovcloudapi.net", "https://login.microsoftonline.us" },
		{ "shop.vault.azure.cn", "vault.azure.cn", "https://login.chinacloudapi.cn" },
		{ ".vault.azure.cn", "vault.azure.net", "https://login.microsoftonline.com" },
		{ "vault.azure.cn", "vault.azure.net", "https://login.microsoftonline.com" },
		{ "evilvault.azure.cn", "vault.azure.net", "https://login.microsoftonline.com" },
		{ "shop.vault.microsoftazure.de", "vault.azure.net", "https://login.microsoftonline.com" },
		{ "vault.private.test", "vault.azure.net", "https://login.microsoftonline.com" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		assert_string_equal(azurecloud_vault_suffix(rows[i].host), rows[i].vaults);
		assert_string_equal(azurecloud_authority(rows[i].vaults), rows[i].authority);
	}
	assert_null(azurecloud_authority("vault.microsoftazure.de"));
	assert_null(azurecloud_authority("https://vault.private.test"));
}

static void postgres_scopes(void **state)
{
	static const char *const rows[][2] = {
		{ "a.postgres.database.azure.com", "https://ossrdbms-aad.database.windows.net/.default" },
		{ "a.postgres.database.usgovcloudapi.net", "https://ossrdbms-aad.database.usgovcloudapi.net/.default" },
		{ "a.postgres.database.chinacloudapi.cn", "https://ossrdbms-aad.database.chinacloudapi.cn/.default" },
		{ "db.shop", "https://ossrdbms-aad.database.windows.net/.default" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++)
		assert_string_equal(azurecloud_postgres_scope(rows[i][0]), rows[i][1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(suffixes),
		cmocka_unit_test(host_labels),
		cmocka_unit_test(microsoft_hosts),
		cmocka_unit_test(vault_authorities),
		cmocka_unit_test(postgres_scopes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
