/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_SURVEY_H
#define CACHE_SURVEY_H

/*
 * One survey reads all triggers of an object: sends their questions to the shared readings, waits
 * for all answers or deadlines, counts successes and failures (cache/health), and makes the verdict
 * (decide/verdict: fallback, formula; a ScaledJob has neither). Used by polls and metric requests.
 * When the object changes meanwhile so that its questions differ, the survey restarts within the
 * same deadline. It also waits for the inputs of the scalers to be read (a Secret, on a replica
 * that did not need it before).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "cache/cache.h"
#include "decide/scale.h"
#include "decide/verdict.h"
#include "scalers/scaler.h"

struct survey;

struct survey_terms {
	/*
	 * only this metric, case-insensitive; all if NULL, or the name of the object's composite
	 * metric
	 */
	const char *metric;
	int64_t max_age_ms;  /* readings up to this age are used */
	bool cached;         /* triggers with useCachedMetrics return the last timed poll's reading */
	bool timed;          /* this is such a timed poll */
	int64_t deadline_ms; /* loop clock */
	uint64_t after;      /* survey_start: only readings requested since this readings_mark; 0: any */
	/*
	 * failures are counted (cache/health): in polls caused by a pollingInterval and in requests
	 * of an HPA. Other readers (a push, /metrics, explain) bring a fallback no nearer
	 */
	bool counted;
};

struct survey_result { /* borrowed until the callback returns */
	/*
	 * the object is deleted or has no such metric (ERR_MISSING), or its scalers cannot be
	 * built: then nothing else is set. NULL: all other fields are set
	 */
	const struct err *err;
	struct scaled of;
	const struct scaler *const *scalers; /* parallel to triggers */
	const struct verdict_trigger *triggers;
	size_t count;
	size_t resource_count;             /* number of cpu and memory triggers, which have no question */
	const struct composite *composite; /* NULL: none, or a single metric was requested */
	int64_t answered_at_ms;            /* loop clock; when the oldest answer arrived; 0: no answer */
	/*
	 * loop clock; when the oldest answer was requested: later events may not be in the answers;
	 * 0: no answer
	 */
	int64_t asked_at_ms;
	bool replicas_known;
	int32_t replicas; /* of a ScaledObject's target */
};

typedef void (*survey_fn)(void *arg, const struct survey_result *result);

/* fn is called exactly once, never before this returns, not after survey_cancel. */
struct survey *survey_start(struct cache *cache, struct object *o, const struct survey_terms *terms, survey_fn fn,
	void *arg);
void survey_cancel(struct survey *s); /* NULL is fine */

/*
 * The same from memory, synchronously, and without allocation for one metric: returns true after
 * calling fn, or false without any effect. For metric requests of thousands of HPAs.
 */
bool survey_peek(struct cache *cache, struct object *o, const struct survey_terms *terms, survey_fn fn, void *arg);

#endif
