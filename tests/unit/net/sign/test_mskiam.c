/* SPDX-License-Identifier: Apache-2.0 */

/*
 * MSK's tokens and payloads. The signatures were computed with botocore from the same keys and
 * time; live tests have a broker that verifies them.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/base64.h"
#include "base/json.h"
#include "base/mem.h"
#include "net/sign/mskiam.h"

#define UNIX_S 1767323045 /* 2026-01-02 03:04:05 */

static const struct sigv4_key plain = { .region = "eu-west-1",
	.key_id = "AKIDEXAMPLE",
	.secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" };
static const struct sigv4_key temporary = { .region = "cn-north-1",
	.key_id = "ASIAEXAMPLE",
	.secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
	.session_token = "tok+en/with=all" };

static void token_is(const struct sigv4_key *key, const char *url)
{
	char *token = mskiam_token(key, UNIX_S), *expected = base64_encode_url(url, strlen(url));

	assert_string_equal(token, expected);
	assert_null(strpbrk(token, "=+/"));
	mem_free_secret(token);
	mem_free_secret(expected);
}

static void as_a_token(void **state)
{
	(void)state;
	token_is(&plain,
		"https://kafka.eu-west-1.amazonaws.com/?Action=kafka-cluster%3AConnect"
		"&X-Amz-Algorithm=AWS4-HMAC-SHA256"
		"&X-Amz-Credential=AKIDEXAMPLE%2F20260102%2Feu-west-1%2Fkafka-cluster%2Faws4_request"
		"&X-Amz-Date=20260102T030405Z&X-Amz-Expires=900&X-Amz-SignedHeaders=host"
		"&X-Amz-Signature=7cc178453342e479def8e0e69cbff443ca929b5b0426af0f4b64554172c7195d"
		"&User-Agent=kscaled");
	token_is(&temporary,
		"https://kafka.cn-north-1.amazonaws.com/?Action=kafka-cluster%3AConnect"
		"&X-Amz-Algorithm=AWS4-HMAC-SHA256"
		"&X-Amz-Credential=ASIAEXAMPLE%2F20260102%2Fcn-north-1%2Fkafka-cluster%2Faws4_request"
		"&X-Amz-Date=20260102T030405Z&X-Amz-Expires=900&X-Amz-Security-Token=tok%2Ben%2Fwith%3Dall"
		"&X-Amz-SignedHeaders=host"
		"&X-Amz-Signature=0399e9cae4c9004193338ec890d56aa8b71b46aa8b6fd998409ab17907b0eadc"
		"&User-Agent=kscaled");
}

static void payload_is(const struct sigv4_key *key, const char *host, const char *expected)
{
	char *payload = mskiam_payload(key, host, UNIX_S);

	assert_string_equal(payload, expected);
	mem_free_secret(payload);
}

static void as_an_object(void **state)
{
	(void)state;
	payload_is(&plain, "b-1.demo.kafka.example",
		"{\"version\":\"2020_10_22\",\"host\":\"b-1.demo.kafka.example\",\"user-agent\":\"kscaled\","
		"\"action\":\"kafka-cluster:Connect\",\"x-amz-algorithm\":\"AWS4-HMAC-SHA256\","
		"\"x-amz-credential\":\"AKIDEXAMPLE/20260102/eu-west-1/kafka-cluster/aws4_request\","
		"\"x-amz-date\":\"20260102T030405Z\",\"x-amz-expires\":\"900\",\"x-amz-signedheaders\":\"host\","
		"\"x-amz-signature\":\"32072759d35513bb65b125354e96d3dec58b255e07509e2b6ab11a67301fad69\"}");
	payload_is(&temporary, "b-1.demo.kafka.example",
		"{\"version\":\"2020_10_22\",\"host\":\"b-1.demo.kafka.example\",\"user-agent\":\"kscaled\","
		"\"action\":\"kafka-cluster:Connect\",\"x-amz-algorithm\":\"AWS4-HMAC-SHA256\","
		"\"x-amz-credential\":\"ASIAEXAMPLE/20260102/cn-north-1/kafka-cluster/aws4_request\","
		"\"x-amz-date\":\"20260102T030405Z\",\"x-amz-expires\":\"900\","
		"\"x-amz-security-token\":\"tok+en/with=all\",\"x-amz-signedheaders\":\"host\","
		"\"x-amz-signature\":\"6d7d78f7efaf7303c7ea6efb7fbd54db1d3715c13c05fbe53d1230924a7ee4b8\"}");
}

/* A broker chooses its advertised name: it may contain anything. */
static void invalid_hosts(void **state)
{
	static const char *const hosts[] = { "", "\xff\xfe", "a\"b\\c", "a&b=c%zz" };

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(hosts); i++) {
		char *payload = mskiam_payload(&plain, hosts[i], UNIX_S);
		struct err err = { 0 };
		json_t *parsed = strcmp(payload, "null") == 0 ? NULL : json_parse(payload, strlen(payload), &err);

		assert_true(parsed || strcmp(payload, "null") == 0);
		json_decref(parsed);
		mem_free_secret(payload);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_a_token),
		cmocka_unit_test(as_an_object),
		cmocka_unit_test(invalid_hosts),
	};

	return cmocka_run_group_tests_name("net/sign/mskiam", tests, NULL, NULL);
}
