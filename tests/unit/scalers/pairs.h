/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_SCALERS_PAIRS_H
#define TESTS_UNIT_SCALERS_PAIRS_H

/*
 * A trigger's parameters in the notation of these tests' tables, "key=value|key=value", where a
 * byte 1 in a value stands for |, and NULL for none; and what every type's test does with them.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/strmap.h"
#include "scalers/scaler.h"

void pairs_fill(struct strmap *m, const char *pairs); /* adds them to the map */

/* scaler_build with these parameters. env NULL: as in params. */
int pairs_build(const struct scaler_params *params, const char *metadata, const char *auth, const char *env,
	struct scaler *out, struct err *err);

/* Fails unless the trigger was refused (rc) with this message, and without any "secret". */
void pairs_refused(int rc, const char *metadata, const struct err *err, const char *message);

struct pairs_question {
	const char *metadata, *auth;
	bool same; /* the same question as the first trigger's */
};

/* Builds each trigger, and compares its question's key with that of the first. */
void pairs_questions(const struct pairs_question *rows, size_t count, const char *metadata, const char *auth,
	int (*build)(const char *metadata, const char *auth, struct scaler *out, struct err *err));

#endif
