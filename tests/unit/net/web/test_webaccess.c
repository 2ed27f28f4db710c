/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which parts of a credential a server's text may repeat. test_webclient and the live tests cover
 * how each is sent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "net/identity/awskeys.h"
#include "net/web/webaccess.h"

static bool repeats(const struct webaccess_config *config, const char *words)
{
	struct webaccess *a = webaccess_new(config, NULL);
	bool result;

	assert_non_null(a);
	result = webaccess_echoes_secret(a, words, NULL);
	webaccess_unref(a);
	return result;
}

static void echoed_secrets_are_found(void **state)
{
	const struct webaccess_config configs[] = {
		{ .bearer = "s3cret" },
		{ .username = "me", .password = "s3cret" },
		{ .header_name = "X-Key", .header_value = "s3cret" },
		{ .query_name = "key", .query_value = "s3cret" },
		{ .identity = awskeys_new("k", "x", "s3cret", NULL), .region = "r", .service = "s" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(configs) / sizeof(configs[0]); i++) {
		assert_true(repeats(&configs[i], "{\"error\":\"bad s3cret\"}"));
		assert_false(repeats(&configs[i], "bad secret of me"));
		identity_unref(configs[i].identity);
	}
}

static void other_texts_may_be_shown(void **state)
{
	static const struct webaccess_config user = { .username = "me", .password = "" };
	const struct webaccess_config aws = { .identity = awskeys_new("AK", "s3cret", NULL, NULL),
		.region = "r",
		.service = "aps" };

	(void)state;
	assert_false(repeats(&user, "no user me"));
	assert_false(repeats(&aws, "AK is not known; s3cret is signed with"));
	identity_unref(aws.identity);
	assert_false(webaccess_echoes_secret(NULL, "anything", NULL));
}

/* The next credential has another key. */
static void the_derived_key_follows_the_credential(void **state)
{
	static const struct sigv4_day nothing;
	const struct webaccess_config config = { .region = "r", .service = "s" };
	struct webaccess *a = webaccess_new(&config, NULL);
	struct sigv4_day *day = webaccess_signing_day(a, 1);

	(void)state;
	assert_memory_equal(day, &nothing, sizeof(nothing));
	memcpy(day->date, "20150830", 8);
	day->key[0] = 1;
	assert_memory_equal(webaccess_signing_day(a, 1)->date, "20150830", 8);
	assert_memory_equal(webaccess_signing_day(a, 2), &nothing, sizeof(nothing));
	webaccess_unref(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(echoed_secrets_are_found),
		cmocka_unit_test(the_derived_key_follows_the_credential),
		cmocka_unit_test(other_texts_may_be_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
