/* SPDX-License-Identifier: Apache-2.0 */
/* Connection strings of Service Bus, as from the portal and as people write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/text.h"
#include "scalers/azure/busconnection.h"

#define HOST "shop.servicebus.windows.net"
#define KEY  "SharedAccessKeyName=scaler;SharedAccessKey=c2VjcmV0LXZhbHVl="
#define SAS  "SharedAccessSignature sr=" HOST "&sig=c2VjcmV0&se=1999999999&skn=scaler"

static void accepted(void **state)
{
	static const struct {
		const char *text, *host, *key_name, *key, *signature, *entity_path;
	} rows[] = {
		{ "Endpoint=sb://" HOST "/;" KEY, HOST, "scaler", "c2VjcmV0LXZhbHVl=", NULL, NULL },
		{ "Endpoint=sb://" HOST ";" KEY ";EntityPath=orders/new", HOST, "scaler", "c2VjcmV0LXZhbHVl=", NULL,
			"orders/new" },
		/* Upper and lower case, blanks, line breaks, unknown keys. */
		{ "\n sharedaccesskey = c2VjcmV0LXZhbHVl= ;;TransportType=Amqp; SHAREDACCESSKEYNAME=scaler;\r\n"
		  "ENDPOINT=sb://" HOST "/;EntityPath=;\n",
			HOST, "scaler", "c2VjcmV0LXZhbHVl=", NULL, NULL },
		{ "Endpoint=sb://localhost:8443/x?y;" KEY, "localhost:8443", "scaler", "c2VjcmV0LXZhbHVl=", NULL,
			NULL },
		{ "Endpoint=sb://[::1]:8443;" KEY, "[::1]:8443", "scaler", "c2VjcmV0LXZhbHVl=", NULL, NULL },
		{ "Endpoint=sb://" HOST "/;SharedAccessSignature=" SAS, HOST, NULL, NULL, SAS, NULL },
		{ "Endpoint=sb://a/;" KEY ";Endpoint=sb://b/;SharedAccessKey=last", "b", "scaler", "last", NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct busconnection c;
		struct err err = { 0 };

		if (busconnection_parse(rows[i].text, &c, &err))
			fail_msg("%s: %s", rows[i].text, err.msg);
		assert_string_equal(c.host, rows[i].host);
		assert_true(text_equal(c.key_name, rows[i].key_name));
		assert_true(text_equal(c.key, rows[i].key));
		assert_true(text_equal(c.signature, rows[i].signature));
		assert_true(text_equal(c.entity_path, rows[i].entity_path));
		busconnection_done(&c);
		assert_null(c.host);
	}
}

static void rejected(void **state)
{
	static const char endpoint[] = "incorrectly formatted Endpoint value: it is sb://HOST/";
	static const struct {
		const char *text, *message;
	} rows[] = {
		{ "", "key \"Endpoint\" must not be empty" },
		{ "secret-value", "unmatched key value separated by '='" },
		{ KEY, "key \"Endpoint\" must not be empty" },
		{ "Endpoint=;" KEY, endpoint },
		{ "Endpoint=" HOST ";" KEY, endpoint },
		{ "Endpoint=sb:///;" KEY, endpoint },
		{ "Endpoint=sb://user:secret-value@" HOST ";" KEY, endpoint },
		{ "Endpoint=sb://a b/;" KEY, endpoint },
		{ "Endpoint=sb://host:99999/;" KEY, endpoint },
		{ "Endpoint=sb://" HOST "/;SharedAccessKey=secret-value",
			"key \"SharedAccessKeyName\" must not be empty" },
		{ "Endpoint=sb://" HOST "/;SharedAccessKeyName=secret-value;SharedAccessKey= ",
			"key \"SharedAccessKey\" or \"SharedAccessSignature\" cannot both be empty" },
		{ "Endpoint=sb://" HOST "/;SharedAccessSignature=sr=x&sig=secret-value",
			"its value begins with the word SharedAccessSignature" },
		/* Those of a storage account and of a web server. */
		{ "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=secret-value;EndpointSuffix=x",
			"key \"Endpoint\" must not be empty" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct busconnection c;
		struct err err = { 0 };

		if (busconnection_parse(rows[i].text, &c, &err) == 0)
			fail_msg("%s was accepted", rows[i].text);
		assert_int_equal(err.kind, ERR_INVALID);
		if (!strstr(err.msg, rows[i].message))
			fail_msg("%s: said \"%s\", not \"%s\"", rows[i].text, err.msg, rows[i].message);
		assert_null(strstr(err.msg, "secret-value"));
		assert_null(c.host);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(accepted), cmocka_unit_test(rejected) };

	return cmocka_run_group_tests_name("scalers/azure/busconnection", tests, NULL, NULL);
}
