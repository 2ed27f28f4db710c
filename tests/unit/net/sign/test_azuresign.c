/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text that SharedKey signs is the example of Microsoft's "Authorize with Shared Key", signed
 * by Azurite's well-known key; signatures were computed by another implementation of HMAC.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/sign/azuresign.h"

#define AZURITE "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

static struct strmap headers_of(const char *const *pairs)
{
	struct strmap m = { 0 };

	for (; *pairs; pairs += 2)
		strmap_set(&m, pairs[0], pairs[1]);
	return m;
}

#define HEADERS(...) headers_of((const char *const[]){ __VA_ARGS__, NULL })

static void shared_key_text(void **state)
{
	struct strmap headers = HEADERS("x-ms-version", "2015-02-21", "X-Ms-Date", "Fri, 26 Jun 2015 23:39:12 GMT");
	const struct azuresign_request r = { "GET", "/mycontainer", "restype=container&comp=metadata&timeout=20",
		&headers };
	MEM_AUTO char *text = azuresign_text(&r, "myaccount"), *value = NULL;
	struct err err = { 0 };

	(void)state;
	assert_string_equal(text,
		"GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:Fri, 26 Jun 2015 23:39:12 GMT\nx-ms-version:2015-02-21\n"
		"/myaccount/mycontainer\ncomp:metadata\nrestype:container\ntimeout:20");
	value = azuresign_shared_key(&r, "myaccount", AZURITE, &err);
	assert_string_equal(value, "SharedKey myaccount:1u9lui2jDxj0+fpbHjQ5m5NnastJRSYM+PSmfi8TXx4=");
	strmap_done(&headers);
}

static void shared_key_text_of_other_requests(void **state)
{
	struct strmap headers = HEADERS("Content-Length", "11", "content-type", "text/plain; charset=UTF-8", "x-ms-b",
		" 2 ", "x-ms-a", "1", "Other", "x");
	struct strmap empty = HEADERS("Content-Length", "0");
	const struct azuresign_request put = { "PUT", "/acct/queue/a%20b", "Marker=%2Fx&comp=list&marker=a&empty",
		&headers };
	const struct azuresign_request get = { "GET", "", NULL, &empty };
	MEM_AUTO char *text = azuresign_text(&put, "acct"), *bare = azuresign_text(&get, "acct");

	(void)state;
	assert_string_equal(text,
		"PUT\n\n\n11\n\ntext/plain; charset=UTF-8\n\n\n\n\n\n\nx-ms-a:1\nx-ms-b:2\n/acct/acct/queue/a%20b\n"
		"comp:list\nempty:\nmarker:/x,a");
	assert_string_equal(bare, "GET\n\n\n\n\n\n\n\n\n\n\n\n/acct/");
	strmap_done(&headers);
	strmap_done(&empty);
}

static void invalid_key(void **state)
{
	struct strmap none = { 0 };
	const struct azuresign_request r = { "GET", "/", NULL, &none };
	struct err err = { 0 };

	(void)state;
	assert_null(azuresign_shared_key(&r, "a", "s3cret!", &err));
	assert_int_equal(err.kind, ERR_INVALID);
	assert_string_equal(err.msg, "the account's key is not base64");
}

static void a_token_of_service_bus(void **state)
{
	MEM_AUTO char *token = azuresign_token("https://ns.servicebus.windows.net/orders", "Root",
		"s3cret=", 1700000000);

	(void)state;
	assert_string_equal(token,
		"SharedAccessSignature sr=https%3A%2F%2Fns.servicebus.windows.net%2Forders&sig="
		"i1hp0mYUDvhNeW%2BGfTWnAweTxoSsVIYYLbJ%2FMighwOI%3D&se=1700000000&skn=Root");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shared_key_text),
		cmocka_unit_test(shared_key_text_of_other_requests),
		cmocka_unit_test(invalid_key),
		cmocka_unit_test(a_token_of_service_bus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
