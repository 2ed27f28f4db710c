/* SPDX-License-Identifier: Apache-2.0 */
/* Servers that are refused before their names are resolved. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "scalers/sourceplace.h"

static const struct {
	const char *source, *told; /* NULL: nothing */
	bool local;                /* allowed by --allow-local-sources */
} cases[] = {
	{ "redis 10.0.0.7:6379", NULL, true },
	{ "redis 127.0.0.1:6379", "127.0.0.1 is a loopback address", true },
	{ "redis localhost:6379", "127.0.0.1 is a loopback address", true },
	{ "redis LOCALHOST", "127.0.0.1 is a loopback address", true },
	{ "redis db.localhost:6379", "127.0.0.1 is a loopback address", true },
	{ "redis localhost.shop:6379", NULL, true },
	{ "redis mylocalhost:6379", NULL, true },
	{ "kafka a:9092, [::1]:9092", "::1 is a loopback address", true },
	{ "kafka a:9092, b:9092", NULL, true },
	{ "prometheus http://127.0.0.1:9090/localhost", "127.0.0.1 is", true },
	{ "prometheus http://user@localhost/", "127.0.0.1 is", true },
	{ "prometheus http://prom/?q=@localhost", NULL, true },
	{ "prometheus http://prom/localhost", NULL, true },
	{ "metadata http://169.254.169.254/latest", "169.254.169.254 is a link-local address", false },
	{ "postgresql /run/postgresql", "/run/postgresql is a Unix socket", true },
	{ "postgresql", NULL, true },
	{ "", NULL, true },
	{ ":// [ [] @ : /", "/ is a Unix socket", true },
};

static void places(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (int local = 0; local < 2; local++) {
			const struct sourcerules rules = { .judges = true, .allow_local = local };
			bool refused = cases[i].told && !(local && cases[i].local);
			struct err err;

			if (sourceplace_judge(&rules, cases[i].source, &err) != (refused ? -1 : 0))
				fail_msg("%s, %d", cases[i].source, local);
			if (refused && !strstr(err.msg, cases[i].told))
				fail_msg("%s: %s", cases[i].source, err.msg);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(places) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
