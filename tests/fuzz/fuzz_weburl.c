/* SPDX-License-Identifier: Apache-2.0 */

/*
 * URLs that objects name, and those that servers redirect to: a place without anything of the user
 * in it, or an error that does not repeat the password; the Service behind one; the addresses that
 * Vault has.
 */

#include <string.h>

#include "base/mem.h"
#include "fuzz.h"
#include "net/http/httpurl.h"
#include "scalers/metricsapi/serviceurls.h"

static void check_split(const char *url)
{
	char *clean, *user, *password;
	struct err err = { 0 };

	if (httpurl_split_user(url, &clean, &user, &password, &err)) {
		must(err.kind == ERR_INVALID && !clean && !user && !password);
		return;
	}
	if (clean) {
		MEM_AUTO char *again = NULL, *no_user = NULL, *no_password = NULL;

		must(strncmp(clean, "http", 4) == 0 && !strchr(clean, '#') && !strpbrk(clean, " \r\n"));
		must(httpurl_split_user(clean, &again, &no_user, &no_password, &err) == 0);
		must(again && !no_user && !no_password && strcmp(again, clean) == 0);
	}
	free(clean);
	free(user);
	mem_free_secret(password);
}

static void check_place(const char *url)
{
	struct httpurl_place a, b;
	struct err err = { 0 };
	MEM_AUTO char *more = NULL;
	char origin[300];

	httpurl_origin(url, origin, sizeof(origin));
	must(origin[0] != '\0' && !strpbrk(origin, "@? \r\n"));
	if (httpurl_place(url, &a, &err)) {
		must(err.kind == ERR_INVALID);
		return;
	}
	must(strcmp(a.scheme, "http") == 0 || strcmp(a.scheme, "https") == 0);
	must(*a.host != '\0' && !strpbrk(a.host, "@/?#[] \r\n"));
	must(httpurl_is_same(&a, &a) && httpurl_may_follow(&a, &a));
	more = httpurl_with_parameter(url, "a&b", "c d#");
	if (!strchr(url, '#')) {
		must(httpurl_place(more, &b, &err) == 0 && httpurl_is_same(&a, &b));
		httpurl_place_done(&b);
	}
	httpurl_place_done(&a);
}

static void check_renamed(const char *url, const char *name)
{
	MEM_AUTO char *renamed = NULL, *route = NULL, *header = NULL;
	struct err err = { 0 };

	if (httpurl_rename(url, name, &renamed, &route, &header, &err))
		must(err.kind == ERR_INVALID && !renamed);
	else
		must(!strpbrk(route, "\r\n") && !strpbrk(header, "\r\n"));
}

static void check_service(const char *url)
{
	struct serviceurls s;
	struct err err = { 0 };
	MEM_AUTO char *path = NULL;

	if (serviceurls_read(url, &s, &err)) {
		must(err.kind == ERR_INVALID);
		return;
	}
	path = serviceurls_request(&s);
	must(!strpbrk(path, " \r\n#") && !strstr(path, "/../"));
	serviceurls_done(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	MEM_AUTO char *url = mem_dupn((const char *)data, size);
	const char *end = strchr(url, '\n');
	MEM_AUTO char *name = mem_dup(end ? end + 1 : "vault.example");

	if (end)
		url[end - url] = '\0';
	check_split(url);
	check_place(url);
	check_renamed(url, name);
	check_service(url);
	return 0;
}
