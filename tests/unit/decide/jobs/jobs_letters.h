/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_DECIDE_JOBS_JOBS_LETTERS_H
#define TESTS_UNIT_DECIDE_JOBS_JOBS_LETTERS_H

/* Facts for decide/jobs in few words, for the tests of its rules, sentences and marks. */

#include "decide/jobs/jobs.h"

#define T     1767323045000 /* 2026-01-02T03:04:05Z */
#define UNSET INT32_UNSET

#define LETTERED_MAX 4

struct lettered {
	int index;
	double queue, target;
	char letter; /* Active, inactive, Error; 0 ends the list */
};

/* The error of failing triggers. */
extern const struct err lettered_failure;

struct scaledjob_spec lettered_spec(const char *strategy, int32_t min, int32_t max);

/* out: room for LETTERED_MAX, as `of` has. Returns how many; the names are constants. */
size_t lettered_triggers(const struct lettered *of, struct jobs_trigger *out);

#endif
