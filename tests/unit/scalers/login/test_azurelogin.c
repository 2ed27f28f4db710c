/* SPDX-License-Identifier: Apache-2.0 */
/* A trigger's Azure identity, and the hosts that may see kscaled's own token. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/identity/entra.h"
#include "scalers/login/azurelogin.h"

#define STORAGE "https://storage.azure.com/.default"
#define QUEUE   "shop.queue.core.windows.net"

static void workload_identity(void **state)
{
	static const struct pod_identity none = { .provider = "none", .may_be_kscaled = true },
					 nothing = { .may_be_kscaled = true },
					 aws = { .provider = "aws", .may_be_kscaled = true },
					 workload = { .provider = "azure-workload", .may_be_kscaled = true },
					 forbidden = { .provider = "azure-workload" };
	static const struct {
		const struct pod_identity *pod;
		int rc;
		const char *error;
	} rows[] = {
		{ NULL, 0, NULL },
		{ &nothing, 0, NULL },
		{ &none, 0, NULL },
		{ &workload, 1, NULL },
		{ &aws, -1, "pod identity aws not supported for azure-queue" },
		{ &forbidden, -1,
			"podIdentity azure-workload asks for kscaled's own Azure identity, which needs a "
			"ClusterTriggerAuthentication or option cloud-identity all; give the trigger credentials of "
			"its own instead" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct err err = { 0 };

		assert_int_equal(azurelogin_is_workload(rows[i].pod, "azure-queue", &err), rows[i].rc);
		assert_string_equal(err.msg, rows[i].error ? rows[i].error : "");
		err = (struct err){ 0 };
		assert_int_equal(azurelogin_is_workload_or_none(rows[i].pod, &err),
			rows[i].pod == &aws ? 0 : rows[i].rc);
		assert_string_equal(err.msg, rows[i].error && rows[i].pod != &aws ? rows[i].error : "");
	}
}

/* Equal identities share tokens, whatever the host. */
static void expect_same(const struct pod_identity *pod, const char *host, const struct entra_config *config)
{
	struct err err = { 0 };
	struct identity *i = azurelogin_new(pod, NULL,
				&(struct disclosure){ .service = AZURECLOUD_QUEUE, .host = host }, &err),
			*same = entra_own_new(config, NULL);

	if (!i)
		fail_msg("%s: %s", host, err.msg);
	assert_string_equal(identity_key(i), identity_key(same));
	identity_unref(i);
	identity_unref(same);
}

static void identities(void **state)
{
	struct pod_identity pod = { .provider = "azure-workload", .may_be_kscaled = true };
	struct entra_config config = { .scope = STORAGE };

	(void)state;
	expect_same(&pod, QUEUE, &config);
	pod.identity_id = config.client_id = "id";
	expect_same(&pod, "shop.blob.core.windows.net:443", &config);
	/* without a tenant the authority does not count */
	pod.identity_authority_host = "https://login.microsoftonline.us";
	expect_same(&pod, QUEUE, &config);
	pod.identity_tenant_id = config.tenant = "tenant";
	config.authority = pod.identity_authority_host;
	expect_same(&pod, QUEUE, &config);
}

static void token_hosts(void **state)
{
	static const struct {
		const char *trusted, *host;
		bool may;
	} rows[] = {
		{ NULL, QUEUE, true },
		/* Microsoft's, but it may belong to a tenant */
		{ NULL, "ns.servicebus.windows.net", false },
		{ NULL, "shop.queue.core.local", false },
		{ "core.local", "shop.queue.core.local", true },
		{ "a, core.local", "shop.queue.CORE.local:8443", true },
		{ "core.local,b", "core.local", true },
		{ "core.local", "score.local", false },
		{ "core.local", "e.example", false },
		{ ",, ", "e.example", false },
		{ "*", "e.example", true },
		/* not an ambiguous host */
		{ "*", "", false },
		{ "*", "e.example:", false },
		{ "*", "e.example:123456", false },
		{ NULL, "e.example/" QUEUE, false },
		{ NULL, "e.example?." QUEUE, false },
		{ NULL, QUEUE "@e.example", false },
		{ NULL, QUEUE ":443@e.example", false },
		{ NULL, "e.example\\." QUEUE, false },
		{ NULL, "[::1]", false },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct pod_identity pod = { .provider = "azure-workload", .azure_trusted = rows[i].trusted };
		struct err err = { 0 };
		struct identity *identity = azurelogin_new(&pod, NULL,
			&(struct disclosure){ .service = AZURECLOUD_QUEUE, .host = rows[i].host }, &err);

		if (!identity == rows[i].may)
			fail_msg("%s: %s", rows[i].host, err.msg);
		identity_unref(identity);
	}
}

static void refused(void **state)
{
	const struct disclosure queue = { .service = AZURECLOUD_QUEUE, .host = QUEUE },
				elsewhere = { .service = AZURECLOUD_QUEUE, .host = "shop.e.example" };
	struct pod_identity pod = { .provider = "azure-workload" };
	struct err err = { 0 };

	(void)state;
	assert_null(azurelogin_new(&pod, NULL, &elsewhere, &err));
	assert_string_equal(err.msg,
		"podIdentity azure-workload: shop.e.example is not one of Microsoft's hosts for this service, and "
		"kscaled shows its own Azure token to no other; an administrator can allow it with "
		"--azure-trusted-hosts");
	assert_null(
		azurelogin_new(&pod, STORAGE, &(struct disclosure){ .service = AZURECLOUD_NONE, .host = QUEUE }, &err));
	assert_string_equal(err.msg,
		"podIdentity azure-workload: " QUEUE
		" is not one of Microsoft's hosts, and kscaled shows its own Azure token to no other; an administrator "
		"can allow it with --azure-trusted-hosts");
	pod.identity_tenant_id = "a/b";
	assert_null(azurelogin_new(&pod, NULL, &queue, &err));
	assert_string_equal(err.msg,
		"podIdentity azure-workload: the tenant id \"a/b\" is invalid: it is a GUID or the name of a domain");
	pod.identity_tenant_id = "tenant";
	pod.identity_authority_host = "https://e.example";
	assert_null(azurelogin_new(&pod, NULL, &queue, &err));
	assert_non_null(strstr(err.msg, "the authority host is not one of Microsoft's"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(workload_identity),
		cmocka_unit_test(identities),
		cmocka_unit_test(token_hosts),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
