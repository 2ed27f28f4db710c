/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base64.h"

/* RFC 4648, section 10 */
static const struct {
	const char *plain, *text;
} pairs[] = {
	{ "", "" },
	{ "f", "Zg==" },
	{ "fo", "Zm8=" },
	{ "foo", "Zm9v" },
	{ "foob", "Zm9vYg==" },
	{ "fooba", "Zm9vYmE=" },
	{ "foobar", "Zm9vYmFy" },
};

static void both_ways(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		char *text = base64_encode(pairs[i].plain, strlen(pairs[i].plain)), *plain;
		size_t len = 99;

		assert_string_equal(text, pairs[i].text);
		plain = base64_decode(text, &len);
		assert_non_null(plain);
		assert_string_equal(plain, pairs[i].plain);
		assert_int_equal(len, strlen(pairs[i].plain));
		free(plain);
		free(text);
	}
}

static void every_byte_and_many_lines(void **state)
{
	unsigned char bytes[1000];
	size_t len = 0;
	char *text, *plain;

	(void)state;
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (unsigned char)(i * 7);
	text = base64_encode(bytes, sizeof bytes);
	assert_null(strchr(text, '\n'));
	plain = base64_decode(text, &len);
	assert_int_equal(len, sizeof bytes);
	assert_memory_equal(plain, bytes, len);
	free(plain);
	free(text);

	plain = base64_decode("Zm9v\nYmFy\n", NULL);
	assert_string_equal(plain, "foobar");
	free(plain);
}

static void for_urls(void **state)
{
	static const struct {
		const char *bytes, *text;
	} rows[] = { { "", "" }, { "f", "Zg" }, { "fo", "Zm8" }, { "\xfb\xff\xbe", "-_--" }, { "\xff\xfe", "__4" } };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char *text = base64_encode_url(rows[i].bytes, strlen(rows[i].bytes));

		assert_string_equal(text, rows[i].text);
		free(text);
	}
}

static void refuses_invalid_base64(void **state)
{
	static const char *const bad[] = { "Z", "Zg", "Zg=", "Zm9v!", "Zm9vYg==Zm9v", "====", "\xff\xfe",
		"-----BEGIN CERTIFICATE-----" };

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		char *plain = base64_decode(bad[i], NULL);

		if (plain)
			fail_msg("%s was taken for base64", bad[i]);
	}
}

static void refuses_long_texts(void **state)
{
	size_t len = BASE64_MAX + 4;
	char *text = malloc(len + 1);

	(void)state;
	memset(text, 'A', len);
	text[len] = '\0';
	assert_null(base64_decode(text, NULL));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ways),
		cmocka_unit_test(every_byte_and_many_lines),
		cmocka_unit_test(for_urls),
		cmocka_unit_test(refuses_invalid_base64),
		cmocka_unit_test(refuses_long_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
