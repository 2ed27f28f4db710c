/* SPDX-License-Identifier: Apache-2.0 */
#include "pairs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "scalers/scalerbuild.h"

void pairs_fill(struct strmap *m, const char *pairs)
{
	MEM_AUTO char *copy = mem_dup(pairs ? pairs : "");
	char *rest = copy, *piece;

	while ((piece = strsep(&rest, "|")) != NULL) {
		char *equals = strchr(piece, '=');

		for (char *c = piece; *c; c++)
			*c = *c == '\x01' ? '|' : *c;
		if (equals) {
			*equals = '\0';
			strmap_set(m, piece, equals + 1);
		}
	}
}

int pairs_build(const struct scaler_params *params, const char *metadata, const char *auth, const char *env,
	struct scaler *out, struct err *err)
{
	struct strmap m = { 0 }, a = { 0 }, e = { 0 };
	struct scaler_params filled = *params;
	int failed;

	pairs_fill(&m, metadata);
	pairs_fill(&a, auth);
	pairs_fill(&e, env);
	filled.metadata = &m;
	filled.auth = &a;
	if (env)
		filled.env = &e;
	failed = scaler_build(&filled, out, err);
	strmap_done(&m);
	strmap_done(&a);
	strmap_done(&e);
	return failed;
}

void pairs_refused(int rc, const char *metadata, const struct err *err, const char *message)
{
	if (rc == 0)
		fail_msg("%s was accepted", metadata);
	assert_int_equal(err->kind, ERR_INVALID);
	if (!strstr(err->msg, message))
		fail_msg("%s: said \"%s\", not \"%s\"", metadata, err->msg, message);
	if (strstr(err->msg, "secret"))
		fail_msg("%s: the message has the secret: %s", metadata, err->msg);
}

void pairs_questions(const struct pairs_question *rows, size_t count, const char *metadata, const char *auth,
	int (*build)(const char *metadata, const char *auth, struct scaler *out, struct err *err))
{
	struct scaler first, other;
	struct err err = { 0 };

	if (build(metadata, auth, &first, &err))
		fail_msg("%s: %s", metadata, err.msg);
	for (size_t i = 0; i < count; i++) {
		if (build(rows[i].metadata, rows[i].auth, &other, &err))
			fail_msg("%s: %s", rows[i].metadata, err.msg);
		if ((strcmp(first.question->key, other.question->key) == 0) != rows[i].same)
			fail_msg("%s: keys \"%s\" and \"%s\"", rows[i].metadata, first.question->key,
				other.question->key);
		scaler_done(&other);
	}
	scaler_done(&first);
}
