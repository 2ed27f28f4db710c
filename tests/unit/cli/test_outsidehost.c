/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/outsidehost.h"

static void reads_names_and_addresses(void **state)
{
	static const struct {
		const char *text;
		enum outsidehost_kind kind;
		const char *host;
		int port;
	} cases[] = {
		{ "localhost:8443", OUTSIDEHOST_NAME, "localhost", 8443 },
		{ "autoscaler.example.com:1", OUTSIDEHOST_NAME, "autoscaler.example.com", 1 },
		{ "1st.node-2:65535", OUTSIDEHOST_NAME, "1st.node-2", 65535 },
		{ "10.0.0.7:8443", OUTSIDEHOST_IPV4, "10.0.0.7", 8443 },
		{ "[fd00:0:0::07]:443", OUTSIDEHOST_IPV6, "fd00::7", 443 },
		{ "[2001:DB8::1]:0443", OUTSIDEHOST_IPV6, "2001:db8::1", 443 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct outsidehost got;
		struct err err = { 0 };

		if (outsidehost_parse(cases[i].text, &got, &err) < 0)
			fail_msg("%s: %s", cases[i].text, err.msg);
		assert_int_equal(got.kind, cases[i].kind);
		assert_string_equal(got.host, cases[i].host);
		assert_int_equal(got.port, cases[i].port);
	}
}

static void refuses_invalid_hosts(void **state)
{
	static const struct {
		const char *text;
		const char *why; /* a part of the message */
	} cases[] = {
		{ "", "no port" },
		{ "localhost", "no port" },
		{ ":8443", "no host" },
		{ "[]:8443", "no host" },
		{ "localhost:", "the port \"\"" },
		{ "localhost:0", "from 1 to 65535" },
		{ "localhost:65536", "from 1 to 65535" },
		{ "localhost:4294967297", "from 1 to 65535" },
		{ "localhost:-1", "from 1 to 65535" },
		{ "localhost: 80", "from 1 to 65535" },
		{ "localhost:80x", "from 1 to 65535" },
		{ "fd00::7:8443", "in brackets, such as [fd00::7]:8443" },
		{ "a:b:80", "in brackets" },
		{ "[fd00::7]", "[ADDRESS]:PORT" },
		{ "[fd00::7]x:80", "[ADDRESS]:PORT" },
		{ "[fd00::7:80", "[ADDRESS]:PORT" },
		{ "[10.0.0.7]:80", "not an IPv6 address" },
		{ "[fe80::1%eth0]:80", "not an IPv6 address" },
		{ "[fe80::1]:80", "link-local" },
		{ "[::1]:80", "loopback" },
		{ "[::]:80", "unspecified" },
		{ "[ff02::1]:80", "multicast" },
		{ "[::ffff:10.0.0.7]:80", "write it as IPv4" },
		{ "127.1.2.3:80", "loopback" },
		{ "0.0.0.0:80", "unspecified" },
		{ "169.254.0.1:80", "link-local" },
		{ "239.255.255.255:80", "multicast" },
		{ "10.0.0.300:80", "not an IPv4 address" },
		{ "10.0.7:80", "not an IPv4 address" },
		{ "Localhost:80", "neither an address nor a DNS name" },
		{ "-a:80", "neither an address nor a DNS name" },
		{ "a..b:80", "neither an address nor a DNS name" },
		{ "a.:80", "neither an address nor a DNS name" },
		{ "a b:80", "neither an address nor a DNS name" },
		{ "a\nb:80", "neither an address nor a DNS name" },
		{ "a\"b:80", "neither an address nor a DNS name" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct outsidehost got;
		struct err err = { 0 };

		if (outsidehost_parse(cases[i].text, &got, &err) == 0)
			fail_msg("accepted: %s", cases[i].text);
		assert_int_equal(err.kind, ERR_INVALID);
		if (!strstr(err.msg, cases[i].why))
			fail_msg("%s: \"%s\" does not say \"%s\"", cases[i].text, err.msg, cases[i].why);
	}
}

static void long_hosts_are_refused_at_the_limit(void **state)
{
	char text[400];
	struct outsidehost got;
	struct err err = { 0 };

	(void)state;
	memset(text, 'a', sizeof(text));
	for (size_t i = 63; i < 253; i += 64)
		text[i] = '.';
	memcpy(text + 253, ":80", 4); /* 63.63.63.61: the longest possible name */
	assert_int_equal(outsidehost_parse(text, &got, &err), 0);
	assert_int_equal(strlen(got.host), 253);

	memcpy(text + 253, "a:80", 5);
	assert_int_equal(outsidehost_parse(text, &got, &err), -1);
	assert_non_null(strstr(err.msg, "longer than 253"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_names_and_addresses),
		cmocka_unit_test(refuses_invalid_hosts),
		cmocka_unit_test(long_hosts_are_refused_at_the_limit),
	};

	return cmocka_run_group_tests_name("cli/outsidehost", tests, NULL, NULL);
}
