/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_SURVEY_H
#define CACHE_SURVEY_H

/*
 * One look at what the triggers of an object say now: all their questions are put to the shared
 * readings, all answers or deadlines awaited, successes and failures counted (cache/health), and
 * the verdict made (decide/verdict: fallback, formula; a ScaledJob has neither). The poll and the
 * metric request both look this way. When the object changes meanwhile so that other questions
 * would be asked, the look begins anew within the same deadline. What the scalers are built from
 * may have to be read first (a Secret, on a replica that nobody asked yet): that is waited for,
 * too.
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
	 * only this trigger's, compared without regard to case; NULL or the composite's name of an
	 * object that has one: all
	 */
	const char *metric;
	int64_t max_age_ms;  /* a reading younger than this will do */
	bool cached;         /* triggers with useCachedMetrics tell what the last timed poll brought */
	bool timed;          /* the look is such a poll */
	int64_t deadline_ms; /* loop clock */
	uint64_t after;      /* survey_start: only readings asked for since this readings_mark; 0: any */
	/*
	 * a failure is none in a row (cache/health): the look is one that no pollingInterval led to
	 */
	bool uncounted;
};

struct survey_result { /* everything is borrowed until the callback returns */
	/*
	 * the object is gone or has no such metric (ERR_MISSING), or its scalers cannot be built:
	 * nothing else is set. NULL: all below is
	 */
	const struct err *err;
	struct scaled of;
	const struct scaler *const *scalers; /* parallel to triggers */
	const struct verdict_trigger *triggers;
	size_t count;
	size_t resource_count;             /* cpu and memory triggers, which are not asked */
	const struct composite *composite; /* NULL: the object has none, or one metric was asked for by name */
	int64_t answered_at_ms;            /* loop clock; of the oldest answer in it; 0 when there is none */
	/*
	 * loop clock; when the oldest answer in it was asked for: what happened since may not be in
	 * them; 0 when there is none
	 */
	int64_t asked_at_ms;
	bool replicas_known;
	int32_t replicas; /* of a ScaledObject's target */
};

typedef void (*survey_fn)(void *arg, const struct survey_result *result);

/* Never calls back before it returns; exactly once; not after survey_cancel. */
struct survey *survey_start(struct cache *cache, struct object *o, const struct survey_terms *terms, survey_fn fn,
	void *arg);
void survey_cancel(struct survey *s); /* NULL is fine */

/*
 * The same from memory alone, at once and without allocating for one metric: true and fn was
 * called, or false and nothing happened. For the metric request, where a thousand HPAs ask.
 */
bool survey_peek(struct cache *cache, struct object *o, const struct survey_terms *terms, survey_fn fn, void *arg);

#endif
