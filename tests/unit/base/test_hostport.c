/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/hostport.h"
#include "base/mem.h"

#define LONGEST                                                                                                        \
	"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"         \
	"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"         \
	"01234567890123456789012345678901234567890123456789012"

static void texts_are_taken_apart(void **state)
{
	static const struct {
		const char *text, *host;
		bool bracketed;
		int port;
	} cases[] = {
		/* port -1: none */
		{ "db:5432", "db", false, 5432 },
		{ "db", "db", false, -1 },
		{ "", "", false, -1 },
		{ ":1", "", false, 1 },
		{ "db:0", "db", false, 0 },
		{ "db:00443", "db", false, 443 },
		{ "db:65535", "db", false, 65535 },
		{ "[::1]", "::1", true, -1 },
		{ "[fe80::1%eth0]:80", "fe80::1%eth0", true, 80 },
		{ "[db]:80", "db", true, 80 },
		{ "[]:80", "", true, 80 },
		{ "a]b:80", "a]b", false, 80 },
		{ LONGEST ":80", LONGEST, false, 80 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hostport got;

		assert_int_equal(hostport_parse(cases[i].text, &got), HOSTPORT_GOOD);
		assert_string_equal(got.host, cases[i].host);
		assert_int_equal(got.bracketed, cases[i].bracketed);
		assert_int_equal(got.has_port ? got.port : -1, cases[i].port);
	}
}

static void flaws_are_distinguished(void **state)
{
	static const struct {
		const char *text;
		enum hostport_flaw flaw;
	} cases[] = {
		{ "[::1", HOSTPORT_BRACKETS },
		{ "[::1:80", HOSTPORT_BRACKETS },
		{ "[::1]80", HOSTPORT_BRACKETS },
		{ "[[::1]]:80", HOSTPORT_BRACKETS },
		{ "[::1]:80:90", HOSTPORT_BRACKETS },
		{ "::1", HOSTPORT_COLONS },
		{ "a:b:80", HOSTPORT_COLONS },
		{ ":80:", HOSTPORT_COLONS },
		{ LONGEST "3:80", HOSTPORT_LONG },
		{ "[" LONGEST "3]", HOSTPORT_LONG },
		{ "db:", HOSTPORT_PORT },
		{ "db:65536", HOSTPORT_PORT },
		{ "db:000443", HOSTPORT_PORT },
		{ "db:-1", HOSTPORT_PORT },
		{ "db:+1", HOSTPORT_PORT },
		{ "db: 80", HOSTPORT_PORT },
		{ "db:80x", HOSTPORT_PORT },
		{ "[::1]:99999999999999999999", HOSTPORT_PORT },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hostport got;

		if (hostport_parse(cases[i].text, &got) != cases[i].flaw)
			fail_msg("%s", cases[i].text);
	}
}

static void join_and_parse_are_inverse(void **state)
{
	static const struct {
		const char *host, *joined;
	} cases[] = {
		{ "db", "db:80" },
		{ "10.0.0.1", "10.0.0.1:80" },
		{ "::1", "[::1]:80" },
		{ "[::1]", "[::1]:80" },
		{ "", ":80" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		MEM_AUTO char *joined = hostport_join(cases[i].host, 80),
			      *text = hostport_join_text(cases[i].host, "80");
		struct hostport got;

		assert_string_equal(joined, cases[i].joined);
		assert_string_equal(text, cases[i].joined);
		assert_int_equal(hostport_parse(joined, &got), HOSTPORT_GOOD);
		assert_int_equal(got.port, 80);
	}
}

static void where_to_listen_is_read_or_refused_by_name(void **state)
{
	static const struct {
		const char *text, *host;
		int port;
	} cases[] = {
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
		{ "[::1]", NULL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hostport got;
		struct err err = { 0 };
		int result = hostport_parse_listen(cases[i].text, &got, &err);

		if (!cases[i].host) {
			if (result == 0 || err.kind != ERR_INVALID || !strstr(err.msg, cases[i].text))
				fail_msg("\"%s\" was taken, or the error does not name it: %s", cases[i].text, err.msg);
			continue;
		}
		assert_int_equal(result, 0);
		assert_string_equal(got.host, cases[i].host);
		assert_int_equal(got.port, cases[i].port);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_taken_apart),
		cmocka_unit_test(flaws_are_distinguished),
		cmocka_unit_test(join_and_parse_are_inverse),
		cmocka_unit_test(where_to_listen_is_read_or_refused_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
