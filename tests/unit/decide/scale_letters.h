/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_DECIDE_SCALE_LETTERS_H
#define TESTS_UNIT_DECIDE_SCALE_LETTERS_H

/* Facts for decide/scale in few letters, for the tests of its rules and of its words. */

#include "decide/annotations.h"
#include "decide/scale.h"
#include "decide/verdict.h"

/* Times: the object is created at 0 s of T, all in milliseconds. */
#define T            1700000000000
#define S            1000
#define NOW          (T + 1000 * S)
#define NONE         INT32_UNSET
#define TRIGGERS_MAX 8

/* The error of failing triggers. */
extern const struct err lettered_failure;

struct scale_row {
	const char *name;
	/* spec; 0 means 0, NONE means absent */
	int32_t min, idle, cooldown_s, initial_s;
	/*
	 * facts: one letter per trigger: A active, i inactive, E failing, F falling back, Z falling
	 * back to 0, and the replicas (-1: unknown)
	 */
	const char *triggers;
	int32_t replicas;
	int64_t last_active, now;
	/* wanted */
	enum scale_rule rule;
	int32_t to; /* NONE: nothing is written */
	const char *ready, *active;
	int64_t last_active_out, until;
	int trigger;
};

/* The spec that a row has; nothing else is set. */
struct scaledobject_spec row_spec(const struct scale_row *r);

/* One trigger per letter, as in a row. Returns how many; the names are constants. */
size_t lettered_triggers(const char *letters, struct verdict_trigger *out);

/*
 * P paused, a digit for paused-replicas, I scale-in paused, O scale-out paused, f forced; NULL for
 * none.
 */
struct annotations lettered_annotations(const char *says);

/* A composite metric by the letter of a trigger. */
struct composite lettered_composite(char letter);

#endif
