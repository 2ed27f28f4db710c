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

static void users_are_split_off(void **state)
{
	static const struct {
		const char *url, *clean, *user, *password; /* clean NULL: refused */
	} rows[] = {
		{ "http://host/a#b", "http://host/a", NULL, NULL },
		{ "http://me@host/", "http://host/", "me", NULL },
		{ "http://me:@host/", "http://host/", "me", "" },
		{ "https://a%40b:p%2Fw%3A@host:1/v", "https://host:1/v", "a@b", "p/w:" },
		{ "http://me:a%0Ab@host/", NULL, NULL, NULL },
		{ "http://m%01e:p@host/", NULL, NULL, NULL },
		{ "ftp://host/", NULL, NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char *clean, *user, *password;
		struct err err;
		int rc = httpurl_split_user(rows[i].url, &clean, &user, &password, &err);

		assert_int_equal(rc, rows[i].clean ? 0 : -1);
		assert_true(!clean == !rows[i].clean && !user == !rows[i].user && !password == !rows[i].password);
		if (clean)
			assert_string_equal(clean, rows[i].clean);
		if (user)
			assert_string_equal(user, rows[i].user);
		if (password)
			assert_string_equal(password, rows[i].password);
		mem_free_ptr(&clean);
		mem_free_ptr(&user);
		mem_free_ptr(&password);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(origins_hold_no_secrets),
		cmocka_unit_test(urls_are_renamed),
		cmocka_unit_test(users_are_split_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
