/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"
#include "certs_fixture.h"

static void due_times(void **state)
{
	/* with the day before: 300 and 900 days */
	struct certpack pack = make_pack(certs_names, 0, 299 * DAY_MS, 0, 899 * DAY_MS);
	static const struct {
		int day;
		enum certpack_need need;
		bool usable;
	} cases[] = {
		{ 0, CERTPACK_NOTHING, true },
		{ 198, CERTPACK_NOTHING, true },
		{ 199, CERTPACK_SERVING, true },
		{ 298, CERTPACK_SERVING, true },
		{ 299, CERTPACK_SERVING, false },
		{ 598, CERTPACK_SERVING, false },
		{ 599, CERTPACK_CA, false },
		{ 898, CERTPACK_CA, false },
		{ 899, CERTPACK_CA, false },
		{ -1, CERTPACK_NOTHING, true }, /* seen by a clock that is a day behind */
		{ -2, CERTPACK_CA, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct certpack_state judged;

		certpack_judge(&pack, certs_names, fake_wall_ms() + cases[i].day * DAY_MS, &judged);
		if (judged.need != cases[i].need || judged.usable != cases[i].usable)
			fail_msg("day %d: need %d, usable %d (%s)", cases[i].day, (int)judged.need, judged.usable,
				judged.why);
		assert_true((judged.need != CERTPACK_NOTHING) == (judged.why[0] != '\0'));
	}
	certpack_done(&pack);
}

static void an_authority_that_could_sign_more_is_due_at_once(void **state)
{
	static const char *const renamed[] = { "scaler.kscaled.svc", NULL };
	struct certpack loose = loose_pack(), fresh = fresh_pack();
	struct certpack_state judged;

	(void)state;
	certpack_judge(&loose, certs_names, fake_wall_ms(), &judged);
	assert_true(judged.usable); /* until there is another */
	assert_int_equal(judged.need, CERTPACK_CA);
	assert_non_null(strstr(judged.why, "could sign for other names"));
	/* Of its broken certificate no new one is signed by it. */
	loose.serving.cert_pem[100] ^= 1;
	certpack_judge(&loose, certs_names, fake_wall_ms(), &judged);
	assert_false(judged.usable);
	assert_int_equal(judged.need, CERTPACK_CA);
	/* Made for other names than are wanted now: another Service or namespace. */
	certpack_judge(&fresh, renamed, fake_wall_ms(), &judged);
	assert_false(judged.usable);
	assert_int_equal(judged.need, CERTPACK_CA);
	certpack_done(&loose);
	certpack_done(&fresh);
}

static bool is_in_bundle(const struct certpack *pack, const char *ca_pem, int64_t hours)
{
	MEM_AUTO char *bundle = certpack_bundle(pack, fake_wall_ms() + hours * 3600000);

	assert_non_null(strstr(bundle, pack->ca.cert_pem));
	return strstr(bundle, ca_pem) != NULL;
}

/* Otherwise it, and a key leaked from it, would be valid for years. */
static void an_authority_that_was_replaced_is_trusted_for_a_day(void **state)
{
	struct certpack loose = loose_pack(), next = { 0 }, soon = { 0 }, late = { 0 };
	struct certpack_plan plan = { certs_names, fake_wall_ms(), 365 * 86400, 3650LL * 86400, NULL };

	(void)state;
	assert_int_equal(certpack_renew(&loose, CERTPACK_CA, &plan, &next, NULL), 0);
	assert_true(x509_ca_is_confined(next.ca.cert_pem, certs_names));
	assert_true(is_in_bundle(&next, loose.ca.cert_pem, 0));
	assert_true(is_in_bundle(&next, loose.ca.cert_pem, 23));
	assert_false(is_in_bundle(&next, loose.ca.cert_pem, 25));
	/* Nor does another serving certificate bring it back. */
	plan.now_unix_ms += 3600000;
	assert_int_equal(certpack_renew(&next, CERTPACK_SERVING, &plan, &soon, NULL), 0);
	assert_true(is_in_bundle(&soon, loose.ca.cert_pem, 1));
	plan.now_unix_ms += DAY_MS;
	assert_int_equal(certpack_renew(&next, CERTPACK_SERVING, &plan, &late, NULL), 0);
	assert_null(late.old_ca);
	certpack_done(&loose);
	certpack_done(&next);
	certpack_done(&soon);
	certpack_done(&late);
}

static void a_pack_survives_its_secret(void **state)
{
	struct certpack pack = fresh_pack(), back;
	char *text;
	json_t *object;

	(void)state;
	pack.old_ca = mem_dup(pack.ca.cert_pem);
	text = certpack_encode(&pack, "kscaled", "kscaled-certs", NULL);
	object = json_parse(text, strlen(text), NULL);
	certpack_decode(object, &back);
	assert_string_equal(back.serving.cert_pem, pack.serving.cert_pem);
	assert_string_equal(back.serving.key_pem, pack.serving.key_pem);
	assert_string_equal(back.ca.cert_pem, pack.ca.cert_pem);
	assert_string_equal(back.ca.key_pem, pack.ca.key_pem);
	assert_string_equal(back.old_ca, pack.old_ca);
	json_decref(object);
	mem_free_secret(text);
	certpack_done(&back);
	certpack_done(&pack);
}

#define HEAD_ONLY "\"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t\""

static void hostile_secrets(void **state)
{
	static const char *const texts[] = {
		"{}",
		"[]",
		"7",
		"{\"data\":null}",
		"{\"data\":\"x\"}",
		"{\"data\":{\"tls.crt\":{}}}",
		"{\"data\":{\"tls.crt\":\"AA==\",\"tls.key\":\"AA==\",\"ca.crt\":\"AA==\"}}",
		("{\"data\":{\"tls.crt\":" HEAD_ONLY ",\"ca.crt\":" HEAD_ONLY "}}"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		json_t *object = json_loads(texts[i], JSON_DECODE_ANY, NULL);
		struct certpack pack;
		struct certpack_state judged;

		certpack_decode(object, &pack);
		certpack_judge(&pack, certs_names, fake_wall_ms(), &judged);
		assert_false(judged.usable);
		assert_int_equal(judged.need, CERTPACK_CA);
		certpack_done(&pack);
		json_decref(object);
	}
}

static void names_that_no_certificate_can_bear(void **state)
{
	static const char *const bad[] = { "a b", NULL };
	struct certpack none = { 0 }, out = { 0 };
	struct certpack_plan plan = { bad, fake_wall_ms(), 86400, 864000, NULL };
	struct err err;

	(void)state;
	assert_int_equal(certpack_renew(&none, CERTPACK_CA, &plan, &out, &err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	certpack_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(due_times),
		T(an_authority_that_could_sign_more_is_due_at_once),
		T(an_authority_that_was_replaced_is_trusted_for_a_day),
		T(a_pack_survives_its_secret),
		T(hostile_secrets),
		T(names_that_no_certificate_can_bear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
