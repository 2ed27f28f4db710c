/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/dnsname.h"

#define A64 "0123456789012345678901234567890123456789012345678901234567890123"

static void labels_and_subdomains(void **state)
{
	static const struct {
		const char *text;
		bool label, subdomain;
	} rows[] = {
		{ "kscaled", true, true },
		{ "0", true, true },
		{ "a-1", true, true },
		{ "", false, false },
		{ "-a", false, false },
		{ "a-", false, false },
		{ "A", false, false },
		{ "a_b", false, false },
		{ "a.b", false, true },
		{ "a.b-c.9", false, true },
		{ "a--b", true, true },
		{ ".a", false, false },
		{ "a.", false, false },
		{ "a..b", false, false },
		{ "a-.b", false, false },
		{ "a.-b", false, false },
		{ "a/b", false, false },
		{ "\xC3\xA9", false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t len = strlen(rows[i].text);

		if (dnsname_is_label(rows[i].text, len) != rows[i].label ||
			dnsname_is_subdomain(rows[i].text, len) != rows[i].subdomain)
			fail_msg("\"%s\"", rows[i].text);
	}
}

static void lengths(void **state)
{
	char text[255];

	(void)state;
	assert_true(dnsname_is_label(A64, 63));
	assert_false(dnsname_is_label(A64, 64));
	assert_true(dnsname_is_subdomain(A64, 64));
	memset(text, 'a', sizeof(text));
	assert_true(dnsname_is_subdomain(text, 253));
	assert_false(dnsname_is_subdomain(text, 254));
	assert_true(dnsname_is_label("ab-.", 2)); /* the rest is not read */
}

static void hosts_below_a_domain(void **state)
{
	static const struct {
		const char *host, *domain;
		bool below;
	} rows[] = {
		{ "a.b.c", "b.c", true },
		{ "A.B.c", "b.C", true },
		{ "x.a.b.c", "b.c", true },
		{ "b.c", "b.c", false },
		{ ".b.c", "b.c", false },
		{ "ab.c", "b.c", false },
		{ "a.b.c.d", "b.c", false },
		{ "", "b.c", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (dnsname_is_below(rows[i].host, rows[i].domain) != rows[i].below)
			fail_msg("%s, %s", rows[i].host, rows[i].domain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels_and_subdomains),
		cmocka_unit_test(lengths),
		cmocka_unit_test(hosts_below_a_domain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
