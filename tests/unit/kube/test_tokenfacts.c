/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/tokenfacts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base64.h"
#include "base/mem.h"

/* As RFC 7515 writes it: base64url without padding. */
static char *token_of(const char *claims)
{
	char *text = base64_encode(claims, strlen(claims)), *token;

	for (char *c = text; *c; c++)
		*c = *c == '+' ? '-' : *c == '/' ? '_' : *c == '=' ? '\0' : *c;
	token = mem_printf("e30.%s.c2ln", text);
	free(text);
	return token;
}

static void facts_of_a_token(void **state)
{
	static const struct {
		const char *claims, *namespace_, *account;
		int64_t issued, ends;
	} rows[] = {
		{ "{\"sub\":\"system:serviceaccount:kscaled:it\",\"iat\":1000,\"exp\":4600}", "kscaled", "it", 1000000,
			4600000 },
		{ "{\"sub\":\"system:serviceaccount:a:b\",\"iat\":1,\"exp\":2,\"x\":\"\u00ff\u00ff~~~\"}", "a", "b",
			1000, 2000 },
		{ "{\"sub\":\"system:serviceaccount:a\"}", "", "", 0, 0 },
		{ "{\"sub\":\"somebody\",\"exp\":7}", "", "", 0, 7000 },
		{ "{\"iat\":-5,\"exp\":1e300}", "", "", 0, 0 },
		{ "{\"iat\":\"soon\"}", "", "", 0, 0 },
		{ "{}", "", "", 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		MEM_AUTO char *token = token_of(rows[i].claims);
		struct tokenfacts facts;
		struct err err;

		assert_int_equal(tokenfacts_read(token, &facts, &err), 0);
		assert_string_equal(facts.namespace_, rows[i].namespace_);
		assert_string_equal(facts.account, rows[i].account);
		assert_int_equal(facts.issued_unix_ms, rows[i].issued);
		assert_int_equal(facts.ends_unix_ms, rows[i].ends);
	}
}

static void the_only_audience(void **state)
{
	MEM_AUTO char *longest = mem_printf("%511s", "x"), *too_long = mem_printf("%512s", "x");
	const struct {
		const char *aud, *audience;
	} rows[] = {
		{ "\"vault\"", "vault" },
		{ "[\"vault\"]", "vault" },
		{ "[\"vault\",\"kubernetes\"]", "" },
		{ "[]", "" },
		{ "[[\"vault\"]]", "" },
		{ "{\"vault\":\"vault\"}", "" },
		{ "\"vault\\u0000s\"", "" },
		{ "null", "" },
		{ longest, longest },
		{ too_long, "" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		const char *quote = strchr("[{\"n", *rows[i].aud) ? "" : "\"";
		MEM_AUTO char *claims = mem_printf("{\"aud\":%s%s%s}", quote, rows[i].aud, quote),
			      *token = token_of(claims);
		struct tokenfacts facts;

		assert_int_equal(tokenfacts_read(token, &facts, NULL), 0);
		assert_string_equal(facts.audience, rows[i].audience);
	}
}

static void invalid_tokens(void **state)
{
	static const char *const rows[] = { "", "opaque", "a.b", "..", "a.!!!.c", "a.e30.c.d.e", "a.W10.c", "a.eyJ.c" };

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct tokenfacts facts = { .ends_unix_ms = 7 };
		struct err err = { 0 };
		int rc = tokenfacts_read(rows[i], &facts, &err);

		if (i == 5) { /* a token with more parts may claim anything */
			assert_int_equal(rc, 0);
			continue;
		}
		assert_int_equal(rc, -1);
		assert_int_equal(err.kind, ERR_INVALID);
		assert_int_equal(facts.ends_unix_ms, 0);
	}
}

static void when_it_is_renewed(void **state)
{
	static const struct {
		int64_t issued_s, ends_s, renew_s;
	} rows[] = {
		{ 1000, 1000 + 86400, 1000 + 43200 },      /* at half of its life, */
		{ 1000, 1000 + 3600, 1000 + 1800 },        /* also of an hour, */
		{ 10000, 10000 + 600, 10000 + 600 - 900 }, /* but a quarter of an hour before its end */
		{ 10000, 10000 + 1200, 10000 + 300 },
		{ 0, 86400, 86400 - 900 },
		{ 1000, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct tokenfacts facts = { .issued_unix_ms = rows[i].issued_s * 1000,
			.ends_unix_ms = rows[i].ends_s * 1000 };

		assert_int_equal(tokenfacts_renew_unix_ms(&facts), rows[i].renew_s * 1000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(facts_of_a_token),
		cmocka_unit_test(the_only_audience),
		cmocka_unit_test(invalid_tokens),
		cmocka_unit_test(when_it_is_renewed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
