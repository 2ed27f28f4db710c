/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CRD_CONDITION_H
#define CRD_CONDITION_H

/*
 * Status conditions of KEDA's kinds: a list keyed by type. lastTransitionTime and
 * observedGeneration are absent where the CRD prunes them.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"

enum condition_status { CONDITION_UNKNOWN, CONDITION_TRUE, CONDITION_FALSE };

/* Texts are owned through crd/intern. */
struct condition {
	const char *type;
	enum condition_status status;
	const char *reason;          /* "" when absent */
	const char *message;         /* "" when absent */
	int64_t since_unix_ms;       /* lastTransitionTime; 0 when absent */
	int64_t observed_generation; /* 0 when absent */
};

/* A value. Copies share one list, copied on write. */
struct conditions {
	struct condition_list *list; /* NULL: none */
	size_t count;
};
struct condition_list {
	unsigned owners;
	struct condition items[];
};

/* Sets *out, empty on an error: ERR_INVALID with the path. An unknown status is Unknown. */
int conditions_decode(const struct json_at *array, struct conditions *out, struct err *err);
json_t *conditions_encode(const struct conditions *c); /* the caller owns it */
void conditions_done(struct conditions *c);
void conditions_copy(struct conditions *to, const struct conditions *from);
/* If both are equal, including their times, c shares the list of `other`. */
void conditions_share(struct conditions *c, const struct conditions *other);
const struct condition *conditions_get(const struct conditions *c, const char *type); /* NULL when absent */

/*
 * Sets one; lastTransitionTime becomes now only if status changes. Returns whether status, reason
 * or message changed.
 */
bool conditions_set(struct conditions *c, const char *type, enum condition_status status, const char *reason,
	const char *message, int64_t now_unix_ms, int64_t generation);
void conditions_observe(struct conditions *c, const char *type,
	int64_t generation);                                    /* sets observedGeneration; nothing when absent */
void conditions_remove(struct conditions *c, const char *type); /* nothing when absent */
bool conditions_equal(const struct conditions *a, const struct conditions *b, bool with_times);
const char *condition_status_name(enum condition_status s);  /* "True", "False", "Unknown" */
enum condition_status condition_status_of(const char *name); /* CONDITION_UNKNOWN for any other text */

#endif
