/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/http/httpurl.h"

static void origins_hold_no_secrets(void **state)
{
	static const struct {
		const char *url, *origin;
	} rows[] = {
		{ "https://10.0.0.7:6443/api?x=y", "https://10.0.0.7:6443" },
		{ "http://u:p@host/a", "http://host:80" },
		{ "https://[::1]:6443", "https://[::1]:6443" },
		{ "HTTPS://Host", "https://Host:443" },
		{ "://", "URL" },
		{ "", "URL" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char out[128];

		assert_string_equal(httpurl_origin(rows[i].url, out, sizeof(out)), rows[i].origin);
	}
}

static void urls_are_renamed(void **state)
{
	char *renamed, *route, *host;
	struct err err;

	(void)state;
	assert_int_equal(httpurl_rename("https://[::1]:6443/a?b", "kubernetes.default", &renamed, &route, &host, &err),
		0);
	assert_string_equal(renamed, "https://kubernetes.default:6443/a?b");
	assert_string_equal(route, "kubernetes.default:6443:[::1]:6443");
	assert_string_equal(host, "Host: [::1]:6443");
	mem_free_ptr(&renamed);
	mem_free_ptr(&route);
	mem_free_ptr(&host);
	assert_int_equal(httpurl_rename("nonsense", "name", &renamed, &route, &host, &err), -1);
	assert_int_equal(httpurl_rename("https://h/", "a b", &renamed, &route, &host, &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(origins_hold_no_secrets),
		cmocka_unit_test(urls_are_renamed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
