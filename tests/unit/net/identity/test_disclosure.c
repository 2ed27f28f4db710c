/* SPDX-License-Identifier: Apache-2.0 */
/* Which servers may see kscaled's own tokens. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/identity/disclosure.h"

#define MSK     DISCLOSURE_MSK, AZURECLOUD_NONE, "eu-west-1"
#define CHINA   DISCLOSURE_MSK, AZURECLOUD_NONE, "cn-north-1"
#define GOOGLE  DISCLOSURE_GOOGLE, AZURECLOUD_NONE, NULL
#define QUEUE   DISCLOSURE_AZURE, AZURECLOUD_QUEUE, NULL
#define OTHER   DISCLOSURE_AZURE, AZURECLOUD_NONE, NULL
#define BROKER  "b-1.shop.x1y2z3.c2.kafka.eu-west-1.amazonaws.com"
#define NO_HOST "not a host name"
#define NO_MSK                                                                                                         \
	"is not one of Amazon MSK's hosts for this service in eu-west-1, and kscaled shows its own AWS token to no "   \
	"other"

static void hosts(void **state)
{
	static const struct {
		enum disclosure_cloud cloud;
		enum azurecloud_service service;
		const char *region, *host, *trusted;
		const char *why; /* NULL: shown */
	} rows[] = {
		{ MSK, BROKER, NULL, NULL },
		{ MSK, BROKER ":9098", NULL, NULL },
		{ MSK, "B-1-public.shop.x.c2.KAFKA.eu-west-1.amazonaws.com:9198", NULL, NULL },
		{ MSK, "boot-x1y2z3.c1.kafka-serverless.eu-west-1.amazonaws.com", NULL, NULL },
		{ CHINA, "b-1.shop.x.c2.kafka.cn-north-1.amazonaws.com.cn", NULL, NULL },
		{ CHINA, "b-1.shop.x.c2.kafka.cn-north-1.amazonaws.com", NULL, "is not one of Amazon MSK's hosts" },
		{ MSK, "b-1.shop.x.c2.kafka.eu-west-2.amazonaws.com", NULL, NO_MSK },
		{ MSK, "kafka.eu-west-1.amazonaws.com", NULL, NO_MSK },
		{ MSK, BROKER ".evil.example", NULL, NO_MSK },
		{ MSK, "evilkafka.eu-west-1.amazonaws.com", NULL, NO_MSK },
		{ MSK, "shop.elb.eu-west-1.amazonaws.com", NULL, NO_MSK }, /* a tenant chooses this host's name */
		{ MSK, "evil.example", NULL, NO_MSK "; an administrator can allow it with --aws-trusted-hosts" },
		{ MSK, "10.0.0.1", NULL, NO_MSK },
		{ MSK, "::1", NULL, NO_HOST },
		{ MSK, "evil.example/" BROKER, NULL, NO_HOST },
		{ MSK, "b1.kafka.shop.internal:9198", "shop.internal", NULL },
		{ MSK, "b1.kafka.workshop.internal", "shop.internal", NO_MSK },
		{ MSK, "evil.example", "*", NULL },
		{ GOOGLE, "monitoring.googleapis.com", NULL, NULL },
		{ GOOGLE, "MONITORING.googleapis.com:443", NULL, NULL },
		{ GOOGLE, "secretmanager.googleapis.com", NULL, NULL },
		{ GOOGLE, "monitoring.europe-west3.rep.googleapis.com", NULL, NULL },
		{ GOOGLE, "monitoring.googleapis.com:8443", NULL,
			"not one of Google's hosts for this service, and kscaled shows" },
		{ GOOGLE, "monitoring.googleapis.com.evil.example", NULL, "not one of Google's hosts" },
		{ GOOGLE, "xmonitoring.googleapis.com", NULL, "not one of Google's hosts" },
		{ GOOGLE, "monitoring.a.b.rep.googleapis.com", NULL, "not one of Google's hosts" },
		{ GOOGLE, "monitoring..rep.googleapis.com", NULL, "not one of Google's hosts" },
		{ GOOGLE, "storage.googleapis.com", NULL, "not one of Google's hosts" },
		{ GOOGLE, "10.0.0.1", NULL, "not one of Google's hosts" },
		{ GOOGLE, "monitoring.googleapis.com@evil.example", NULL, NO_HOST },
		{ GOOGLE, "", NULL, NO_HOST },
		{ QUEUE, "shop.queue.core.windows.net", NULL, NULL },
		{ QUEUE, "shop.servicebus.windows.net", NULL, "is not one of Microsoft's hosts for this service, and" },
		{ QUEUE, "shop.queue.core.local:8443", "a, CORE.local", NULL },
		{ QUEUE, "evil.example", "core.local", "can allow it with --azure-trusted-hosts" },
		{ OTHER, "shop.queue.core.windows.net", NULL, "is not one of Microsoft's hosts, and kscaled shows" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct disclosure d = { .cloud = rows[i].cloud,
			.service = rows[i].service,
			.region = rows[i].region,
			.host = rows[i].host,
			.trusted = rows[i].trusted };
		struct err err = { 0 };

		if (!disclosure_check(&d, &err) != !rows[i].why || !strstr(err.msg, rows[i].why ? rows[i].why : ""))
			fail_msg("%s: %s", rows[i].host, err.msg);
	}
}

/* A server that only claims to be the host must not get the token. */
static void verification_by_the_system_roots(void **state)
{
	static const enum disclosure_cloud clouds[] = { DISCLOSURE_AZURE, DISCLOSURE_GOOGLE, DISCLOSURE_MSK };

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(clouds); i++) {
		struct disclosure d = { .cloud = clouds[i],
			.region = "eu-west-1",
			.host = "a.example",
			.trusted = "*" };
		struct err err = { 0 };

		assert_int_equal(disclosure_check(&d, &err), 0);
		d.insecure = true;
		assert_int_equal(disclosure_check(&d, &err), -1);
		assert_non_null(strstr(err.msg, "parameter \"unsafeSsl\" does not go together with kscaled's own "));
		d.insecure = false;
		d.own_ca = true;
		assert_int_equal(disclosure_check(&d, &err), -1);
		assert_non_null(strstr(err.msg, "parameter \"ca\" does not go together with kscaled's own "));
		d.own_ca = false;
		d.clear = true;
		assert_int_equal(disclosure_check(&d, &err), -1);
		assert_non_null(strstr(err.msg, " only over TLS"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts),
		cmocka_unit_test(verification_by_the_system_roots),
	};

	return cmocka_run_group_tests_name("net/identity/disclosure", tests, NULL, NULL);
}
