/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CRD_CONDITION_H
#define CRD_CONDITION_H

/*
 * Status conditions as KEDA's kinds carry them: a list keyed by type, status True, False or
 * Unknown; times where the CRD keeps them.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"

enum condition_status { CONDITION_UNKNOWN, CONDITION_TRUE, CONDITION_FALSE };

/* Its texts are crd/intern's. */
struct condition {
	const char *type;
	enum condition_status status;
	const char *reason;          /* "" when absent */
	const char *message;         /* "" when absent */
	int64_t since_unix_ms;       /* lastTransitionTime; 0 when absent */
	int64_t observed_generation; /* 0 when absent */
};

/* A value. Copies share one list until one of them is changed. */
struct conditions {
	struct condition_list *list; /* NULL: none */
	size_t count;
};
struct condition_list {
	unsigned owners;
	struct condition items[];
};

int conditions_decode(const struct json_at *array, struct conditions *out, struct err *err);
json_t *conditions_encode(const struct conditions *c);
void conditions_done(struct conditions *c);
void conditions_copy(struct conditions *to, const struct conditions *from);
/* When both are equal, times and all, c has the list of `other` from here on. */
void conditions_share(struct conditions *c, const struct conditions *other);
const struct condition *conditions_get(const struct conditions *c, const char *type); /* NULL when absent */

/*
 * Sets one; lastTransitionTime moves to now only when status changes. Returns whether anything but
 * the times changed.
 */
bool conditions_set(struct conditions *c, const char *type, enum condition_status status, const char *reason,
	const char *message, int64_t now_unix_ms, int64_t generation);
void conditions_observe(struct conditions *c, const char *type, int64_t generation); /* nothing when absent */
bool conditions_equal(const struct conditions *a, const struct conditions *b, bool with_times);
const char *condition_status_name(enum condition_status s); /* "True", "False", "Unknown" */

#endif
