/* SPDX-License-Identifier: Apache-2.0 */
#include "awstrigger.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../pairs.h"
#include "base/text.h"
#include "scalers/params.h"
#include "scalers/scalerbuild.h"

int awstrigger_build(const char *type, const char *metadata, const char *auth, struct scaler *out, struct err *err)
{
	struct strmap m = { 0 }, a = { 0 }, e = { 0 };
	struct scaler_params params = { .type = type, .index = 1, .metadata = &m, .auth = &a, .env = &e };
	int failed;

	pairs_fill(&m, metadata);
	pairs_fill(&a, auth);
	pairs_fill(&e, "Q=queue-of-env|K=AKID|S=secret-value");
	failed = scaler_build(&params, out, err);
	strmap_done(&m);
	strmap_done(&a);
	strmap_done(&e);
	return failed;
}

void awstrigger_accepts(const char *type, const struct awstrigger_good *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct scaler s;
		struct err err = { 0 };

		if (awstrigger_build(type, rows[i].metadata, rows[i].auth, &s, &err))
			fail_msg("%s: %s", rows[i].metadata, err.msg);
		assert_string_equal(s.metric_name, rows[i].metric);
		assert_string_equal(s.question->source, rows[i].source);
		assert_null(strstr(s.question->key, "secret-value"));
		assert_int_equal(s.target.milli, rows[i].target_milli);
		assert_true(s.activation == rows[i].activation);
		if (s.unknown)
			fail_msg("%s: unknown %s", rows[i].metadata, s.unknown);
		scaler_done(&s);
	}
}

void awstrigger_refuses(const char *type, const struct awstrigger_bad *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct scaler s;
		struct err err = { 0 };

		if (awstrigger_build(type, rows[i].metadata, rows[i].auth, &s, &err) == 0)
			fail_msg("%s was accepted", rows[i].metadata);
		assert_int_equal(err.kind, ERR_INVALID);
		if (!strstr(err.msg, rows[i].message))
			fail_msg("%s: said \"%s\", not \"%s\"", rows[i].metadata, err.msg, rows[i].message);
		assert_null(strstr(err.msg, "secret-value"));
	}
}

void awstrigger_shares(const char *type, const struct awstrigger_pair *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct scaler a, b;
		struct err err = { 0 };

		if (awstrigger_build(type, rows[i].a, KEYS, &a, &err) ||
			awstrigger_build(type, rows[i].b, rows[i].b_auth ? rows[i].b_auth : KEYS, &b, &err))
			fail_msg("pair %zu: %s", i, err.msg);
		if (text_equal(a.question->key, b.question->key) != rows[i].same)
			fail_msg("%s and %s: keys \"%s\" and \"%s\"", rows[i].a, rows[i].b, a.question->key,
				b.question->key);
		scaler_done(&a);
		scaler_done(&b);
	}
}
