/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "net/kerberos.h"

static const char *const names[] = { "KRB5_CONFIG", "KRB5CCNAME", "KRB5_KTNAME", "KRB5_CLIENT_KTNAME",
	"GSS_MECH_CONFIG" };

/* What a user or a container has set must not count. */
static int setup(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		setenv(names[i], "/etc/of-others", 1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		unsetenv(names[i]);
	return 0;
}

static void nothing_is_looked_up(void **state)
{
	static const char *const settings[] = { "[libdefaults]\n", "dns_lookup_kdc = false\n",
		"dns_lookup_realm = false\n", "dns_uri_lookup = false\n", "dns_canonicalize_hostname = false\n",
		"rdns = false\n" };
	struct err err = { 0 };
	int fd = kerberos_forbid(&err);
	char text[1024] = "";

	(void)state;
	assert_true(fd >= 0);
	for (int reading = 0; reading < 2; reading++) { /* the library may read it again */
		FILE *file = fopen(getenv("KRB5_CONFIG"), "re");

		assert_non_null(file);
		text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
		fclose(file);
		for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
			assert_non_null(strstr(text, settings[i]));
		assert_null(strstr(text, "default_realm"));
	}
	close(fd);
}

static void there_are_no_tickets_and_no_keys(void **state)
{
	struct err err = { 0 };
	int fd = kerberos_forbid(&err);

	(void)state;
	for (size_t i = 1; i <= 3; i++)
		assert_string_equal(getenv(names[i]), "MEMORY:kscaled");
	assert_string_equal(getenv(names[4]), "/dev/null");
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_is_looked_up, setup, teardown),
		cmocka_unit_test_setup_teardown(there_are_no_tickets_and_no_keys, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
