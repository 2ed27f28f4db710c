/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "serve/access/frontproxyconfig.h"

static int decode(const char *data, struct frontproxy_config *out, struct err *err)
{
	json_t *configmap = json_pack("{s:o}", "data", json_parse(data, strlen(data), NULL));
	int result;

	*out = (struct frontproxy_config){ 0 };
	result = frontproxy_config_decode(configmap, out, err);
	json_decref(configmap);
	return result;
}

static void a_real_configmap_is_read(void **state)
{
	struct frontproxy_config c;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(decode("{\"client-ca-file\":\"x\",\"requestheader-allowed-names\":\"[\\\"front-proxy-"
				"client\\\"]\","
				"\"requestheader-client-ca-file\":\"PEM\",\"requestheader-extra-headers-prefix\":\"["
				"\\\"X-Remote-Extra-\\\"]\","
				"\"requestheader-group-headers\":\"[\\\"X-Remote-Group\\\",\\\"X-Other-Group\\\"]\","
				"\"requestheader-uid-headers\":\"[\\\"X-Remote-Uid\\\"]\","
				"\"requestheader-username-headers\":\"[\\\"X-Remote-User\\\"]\"}",
				 &c, &err),
		0);
	assert_string_equal(c.ca_pem, "PEM");
	assert_int_equal(c.group_headers.count, 2);
	assert_string_equal(c.group_headers.list[1], "X-Other-Group");
	assert_string_equal(c.user_headers.list[0], "X-Remote-User");
	assert_string_equal(c.uid_headers.list[0], "X-Remote-Uid");
	assert_string_equal(c.extra_prefixes.list[0], "X-Remote-Extra-");
	assert_true(frontproxy_config_allows(&c, "front-proxy-client"));
	assert_false(frontproxy_config_allows(&c, "front-proxy"));
	assert_false(frontproxy_config_allows(&c, ""));
	frontproxy_config_done(&c);
}

static void no_names_allow_any(void **state)
{
	static const char *const lists[] = { "", ",\"requestheader-allowed-names\":\"\"",
		",\"requestheader-allowed-names\":\"[]\"", ",\"requestheader-allowed-names\":\"null\"" };

	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		char data[256] = "{\"requestheader-client-ca-file\":\"PEM\",\"requestheader-username-headers\":\"["
				 "\\\"X-Remote-User\\\"]\"";
		struct frontproxy_config c;
		struct err err = { 0 };

		strcat(strcat(data, lists[i]), "}");
		assert_int_equal(decode(data, &c, &err), 0);
		assert_true(frontproxy_config_allows(&c, "anything"));
		assert_true(frontproxy_config_allows(&c, ""));
		frontproxy_config_done(&c);
	}
}

static void errors_name_the_key(void **state)
{
	static const struct {
		const char *data, *says;
		enum err_kind kind;
	} cases[] = {
		{ "{}", "requestheader-client-ca-file", ERR_MISSING },
		{ "null", "requestheader-client-ca-file", ERR_MISSING },
		{ "{\"requestheader-client-ca-file\":\"PEM\"}", "requestheader-username-headers", ERR_INVALID },
		{ "{\"requestheader-client-ca-file\":\"PEM\",\"requestheader-username-headers\":\"X-Remote-User\"}",
			"requestheader-username-headers", ERR_INVALID },
		{ "{\"requestheader-client-ca-file\":\"PEM\",\"requestheader-username-headers\":\"{}\"}",
			"requestheader-username-headers", ERR_INVALID },
		{ "{\"requestheader-client-ca-file\":\"PEM\",\"requestheader-username-headers\":\"[1]\"}",
			"requestheader-username-headers", ERR_INVALID },
		{ "{\"requestheader-client-ca-file\":\"PEM\",\"requestheader-username-headers\":\"[\\\"X\\\"]\","
		  "\"requestheader-allowed-names\":\"[\\\"a\\\",[]]\"}",
			"requestheader-allowed-names", ERR_INVALID },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct frontproxy_config c;
		struct err err = { 0 };

		assert_int_equal(decode(cases[i].data, &c, &err), -1);
		assert_int_equal(err.kind, cases[i].kind);
		if (!strstr(err.msg, cases[i].says))
			fail_msg("%s is not named: %s", cases[i].says, err.msg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_real_configmap_is_read),
		cmocka_unit_test(no_names_allow_any),
		cmocka_unit_test(errors_name_the_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
