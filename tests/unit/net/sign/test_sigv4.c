/* SPDX-License-Identifier: Apache-2.0 */
/* Amazon's published vectors (aws-sig-v4-test-suite), and cases that they lack. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/sign/sigv4.h"

/* The suite's key and time. */
static const struct sigv4_key key = { .region = "us-east-1",
	.service = "service",
	.key_id = "AKIDEXAMPLE",
	.secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" };
#define TIME  1440938160 /* 20150830T123600Z */
#define SCOPE "AKIDEXAMPLE/20150830/us-east-1/service/aws4_request"
#define HOST                                                                                                           \
	{                                                                                                              \
		"Host", "example.amazonaws.com"                                                                        \
	}
#define DATE                                                                                                           \
	{                                                                                                              \
		"X-Amz-Date", "20150830T123600Z"                                                                       \
	}
#define FORM                                                                                                           \
	{                                                                                                              \
		"Content-Type", "application/x-www-form-urlencoded"                                                    \
	}
#define LETTERS "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

static const struct {
	const char *name, *method, *path, *query;
	struct sigv4_header headers[6];
	const char *body, *signed_, *signature;
} vectors[] = {
	{ "get-vanilla", "GET", "/", NULL, { HOST, DATE }, NULL, "host;x-amz-date",
		"5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31" },
	{ "get-vanilla-query-order-key-case", "GET", "/", "Param2=value2&Param1=value1", { HOST, DATE }, NULL,
		"host;x-amz-date", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500" },
	{ "get-vanilla-empty-query-key", "GET", "/", "Param1=value1", { HOST, DATE }, NULL, "host;x-amz-date",
		"a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb" },
	{ "get-vanilla-query-unreserved", "GET", "/", LETTERS "=" LETTERS, { HOST, DATE }, NULL, "host;x-amz-date",
		"9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197" },
	{ "get-vanilla-utf8-query", "GET", "/", "\u1234=bar", { HOST, DATE }, NULL, "host;x-amz-date",
		"2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04" },
	{ "get-utf8", "GET", "/\u1234", NULL, { HOST, DATE }, NULL, "host;x-amz-date",
		"8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85" },
	{ "get-unreserved", "GET", "/" LETTERS, NULL, { HOST, DATE }, NULL, "host;x-amz-date",
		"07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f" },
	{ "get-space", "GET", "/example space/", NULL, { HOST, DATE }, NULL, "host;x-amz-date",
		"652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741" },
	{ "get-slash", "GET", "//", NULL, { HOST, DATE }, NULL, "host;x-amz-date",
		"5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31" },
	{ "get-slashes", "GET", "//example//", NULL, { HOST, DATE }, NULL, "host;x-amz-date",
		"9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84" },
	{ "get-relative-relative", "GET", "/example1/example2/../..", NULL, { HOST, DATE }, NULL, "host;x-amz-date",
		"5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31" },
	{ "get-slash-pointless-dot", "GET", "/./example", NULL, { HOST, DATE }, NULL, "host;x-amz-date",
		"ef75d96142cf21edca26f06005da7988e4f8dc83a165a80865db7089db637ec5" },
	{ "get-header-key-duplicate", "GET", "/", NULL,
		{ HOST, { "My-Header1", "value2" }, { "My-Header1", "value2" }, { "My-Header1", "value1" }, DATE },
		NULL, "host;my-header1;x-amz-date",
		"c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea" },
	{ "get-header-value-trim", "GET", "/", NULL,
		{ HOST, { "My-Header1", " value1" }, { "My-Header2", " \"a   b   c\"" }, DATE }, NULL,
		"host;my-header1;my-header2;x-amz-date",
		"acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736" },
	{ "post-vanilla", "POST", "/", NULL, { HOST, DATE }, NULL, "host;x-amz-date",
		"5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b" },
	{ "post-x-www-form-urlencoded", "POST", "/", NULL, { FORM, HOST, DATE }, "Param1=value1",
		"content-type;host;x-amz-date", "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a" },
};

static size_t count_of(const struct sigv4_header *headers, size_t most)
{
	size_t count = 0;

	while (count < most && headers[count].name)
		count++;
	return count;
}

static void the_suite(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(vectors); i++) {
		const struct sigv4_request r = { .method = vectors[i].method,
			.path = vectors[i].path,
			.query = vectors[i].query,
			.headers = vectors[i].headers,
			.header_count = count_of(vectors[i].headers, MEM_COUNT(vectors[i].headers)),
			.body = vectors[i].body,
			.body_len = vectors[i].body ? strlen(vectors[i].body) : 0 };
		MEM_AUTO char *got = sigv4_authorization(&r, &key, TIME);
		MEM_AUTO char *expected = mem_printf("%s: AWS4-HMAC-SHA256 Credential=" SCOPE
						     ", SignedHeaders=%s, Signature=%s",
			vectors[i].name, vectors[i].signed_, vectors[i].signature);
		MEM_AUTO char *shown = mem_printf("%s: %s", vectors[i].name, got);

		assert_string_equal(shown, expected);
	}
}

/* The cached key changes no signature, on that day or the next. */
static void signing_key_cache(void **state)
{
	static const struct sigv4_header headers[] = { HOST, DATE };
	static const int64_t times[] = { TIME, TIME + 60, TIME + 86400, TIME + 86460, TIME };
	const struct sigv4_request r = { .method = "GET", .path = "/", .headers = headers, .header_count = 2 };
	struct sigv4_day day = { 0 }, before;
	struct sigv4_key keeping = key;

	(void)state;
	keeping.day = &day;
	for (size_t i = 0; i < MEM_COUNT(times); i++) {
		MEM_AUTO char *anew = sigv4_authorization(&r, &key, times[i]);
		MEM_AUTO char *kept = sigv4_authorization(&r, &keeping, times[i]);

		assert_string_equal(kept, anew);
	}
	assert_memory_equal(day.date, "20150830", 8);
	/* and the cache is used */
	before = day;
	day.key[0] ^= 1;
	{
		MEM_AUTO char *anew = sigv4_authorization(&r, &key, TIME),
			      *kept = sigv4_authorization(&r, &keeping, TIME);

		assert_string_not_equal(kept, anew);
	}
	assert_memory_not_equal(&day, &before, sizeof(day));
}

static void paths_are_encoded_twice_except_for_s3(void **state)
{
	static const struct sigv4_header headers[] = { HOST, DATE };
	struct sigv4_request r = { .method = "GET", .path = "/x%3Ay", .headers = headers, .header_count = 2 };
	struct sigv4_request plain = r, twice = r;
	char *one, *other;

	(void)state;
	plain.path = "/x:y"; /* is sent so, and encoded once */
	plain.is_s3 = false;
	one = sigv4_authorization(&plain, &key, TIME);
	r.is_s3 = true;
	other = sigv4_authorization(&r, &key, TIME);
	assert_string_equal(one, other);
	free(other);
	twice.path = "/x%3Ay";
	other = sigv4_authorization(&twice, &key, TIME);
	assert_string_not_equal(one, other);
	free(one);
	free(other);
}

static void queries(void **state)
{
	static const char *const table[][2] = {
		{ NULL, "" },
		{ "", "" },
		{ "b=2&a=1", "a=1&b=2" },
		{ "time=2&query=sum(up{a=~\"b.*\"})", "query=sum%28up%7Ba%3D~%22b.%2A%22%7D%29&time=2" },
		{ "a=x+y&a=x%20y&a=x%2By", "a=x%20y&a=x%20y&a=x%2By" },
		{ "a=%e4%zz%", "a=%E4%25zz%25" },
		{ "a&b=&=c&&d==", "=c&a=&b=&d=%3D" },
		{ "a=%00b", "a=%00b" },
		{ "a=2&a=10&a=1", "a=1&a=10&a=2" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(table); i++) {
		MEM_AUTO char *got = sigv4_query(table[i][0]), *again = sigv4_query(got);

		assert_string_equal(got, table[i][1]);
		assert_string_equal(again, got);
	}
}

/* The example of "Authenticating Requests: Using Query Parameters" in Amazon's S3 reference. */
static void a_presigned_url(void **state)
{
	static const struct sigv4_header headers[] = { { "Host", "examplebucket.s3.amazonaws.com" } };
	static const struct sigv4_key s3 = { .region = "us-east-1",
		.service = "s3",
		.key_id = "AKIAIOSFODNN7EXAMPLE",
		.secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY" };
	struct sigv4_key temporary = s3;
	const struct sigv4_request r = { .method = "GET",
		.path = "/test.txt",
		.headers = headers,
		.header_count = 1,
		.is_s3 = true };
	MEM_AUTO char *got = sigv4_presigned(&r, &s3, 1369353600, 86400), *other = NULL;

	(void)state;
	assert_string_equal(got,
		"X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2F"
		"aws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature="
		"aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404");
	temporary.session_token = "a/b+c=";
	other = sigv4_presigned(&r, &temporary, 1369353600, 900);
	assert_non_null(
		strstr(other, "&X-Amz-Expires=900&X-Amz-Security-Token=a%2Fb%2Bc%3D&X-Amz-SignedHeaders=host&"));
}

static void times(void **state)
{
	char text[SIGV4_TIME_TEXT];

	(void)state;
	assert_string_equal(sigv4_time(TIME, text), "20150830T123600Z");
	assert_string_equal(sigv4_time(0, text), "19700101T000000Z");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_suite),
		cmocka_unit_test(signing_key_cache),
		cmocka_unit_test(paths_are_encoded_twice_except_for_s3),
		cmocka_unit_test(queries),
		cmocka_unit_test(a_presigned_url),
		cmocka_unit_test(times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
