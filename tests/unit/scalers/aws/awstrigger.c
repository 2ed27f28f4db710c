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
	const struct scaler_params params = { .type = type, .index = 1 };

	return pairs_build(&params, metadata, auth, "Q=queue-of-env|K=AKID|S=secret-value", out, err);
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
		int rc = awstrigger_build(type, rows[i].metadata, rows[i].auth, &s, &err);

		pairs_refused(rc, rows[i].metadata, &err, rows[i].message);
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
