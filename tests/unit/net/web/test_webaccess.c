/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a credential a server's words may hold. How each is sent is in test_webclient, and tried
 * live.
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

static void secrets_that_were_sent_are_seen_in_words(void **state)
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

static void what_is_no_secret_or_was_not_sent_may_be_said(void **state)
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

/* Of one credential: the next one's is another. */
static void what_is_derived_of_a_credential_goes_with_it(void **state)
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
		cmocka_unit_test(secrets_that_were_sent_are_seen_in_words),
		cmocka_unit_test(what_is_derived_of_a_credential_goes_with_it),
		cmocka_unit_test(what_is_no_secret_or_was_not_sent_may_be_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
