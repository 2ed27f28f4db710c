/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "serve/address.h"

static void addresses_are_taken_apart(void **state)
{
	static const struct { const char *text, *host; int port; } cases[] = {
		{ "127.0.0.1:8080", "127.0.0.1", 8080 },
		{ "[::1]:8080", "::1", 8080 },
		{ "[::]:1", "::", 1 },
		{ ":8080", "", 8080 },
		{ "localhost:0", "localhost", 0 },
		{ ":65535", "", 65535 },
		/* refused: host NULL */
		{ "", NULL, 0 },
		{ "8080", NULL, 0 },
		{ "127.0.0.1", NULL, 0 },
		{ "127.0.0.1:", NULL, 0 },
		{ ":65536", NULL, 0 },
		{ ":99999999999999999999", NULL, 0 },
		{ ":-1", NULL, 0 },
		{ ": 80", NULL, 0 },
		{ ":80x", NULL, 0 },
		{ "::1:8080", NULL, 0 },
		{ "[::1:8080", NULL, 0 },
		{ "[]8080", NULL, 0 },
		{ "a-name-that-does-not-fit-into-the-buffer:80", NULL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char host[32];
		uint16_t port = 0;
		struct err err = { 0 };
		int result = address_parse(cases[i].text, host, sizeof(host), &port, &err);

		if (!cases[i].host) {
			if (result == 0 || err.kind != ERR_INVALID || !strstr(err.msg, cases[i].text))
				fail_msg("\"%s\" was taken, or the error does not name it: %s", cases[i].text, err.msg);
			continue;
		}
		assert_int_equal(result, 0);
		assert_string_equal(host, cases[i].host);
		assert_int_equal(port, cases[i].port);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(addresses_are_taken_apart) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
