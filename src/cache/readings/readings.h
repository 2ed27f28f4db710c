/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_READINGS_READINGS_H
#define CACHE_READINGS_READINGS_H

/*
 * The shared cache of readings: one entry per question; questions with the same key are one
 * (cache/readings/questions). A reading younger than the asker's max age is answered from memory;
 * otherwise all askers join the one query that is under way. Every asker has a deadline of its own:
 * a hung source delays only those who ask it. A failure is kept like an answer, as long as the
 * asker's max age says, so that a dead source is not hammered. An entry without requests for a
 * minute is forgotten. If very many queries are due at once some begin in later turns of the loop
 * (cache/readings/turns). A source that bills each request (struct scaler_type, metered) is not
 * asked again for a while after an answer, whatever age and mark the asker has; nor is one whose
 * answer asks for that (struct answer, rest_ms).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/metric.h"
#include "scalers/scaler.h"

struct readings;
struct readings_wait;

struct readings_config {
	int64_t ask_timeout_ms;  /* how long one query may take, whatever the askers' deadlines */
	int64_t http_timeout_ms; /* of questions with QUESTION_TIMEOUT_HTTP, if longer */
	int64_t metered_ms;      /* how long an answer of a metered type stays young; 0: like others */
	/*
	 * cap on waiting askers, over all entries: the first half are taken from any namespace, the
	 * rest in shares by namespace (base/shares)
	 */
	size_t max_waiters;
};

struct readings *readings_new(struct scaler_sources *sources, const struct readings_config *config);
void readings_free(struct readings *r); /* waiters are dropped without callbacks */

enum readings_found { READINGS_ANSWER, READINGS_FAILURE, READINGS_NONE };
/*
 * A result in memory that is young enough, at once. A failure: err (may be NULL) gets its text, and
 * of *answer only the times are set.
 */
enum readings_found readings_peek(struct readings *r, const struct question *q, int64_t max_age_ms,
	struct answer *answer, struct err *err);

/*
 * answer NULL exactly when err is not. completed_at_ms (loop clock): the end of the query; the same
 * for all its askers, and for those answered from memory later. 0: this asker's deadline has
 * passed, or there were too many; that says nothing about the source.
 */
typedef void (*readings_fn)(void *arg, const struct answer *answer, const struct err *err, int64_t completed_at_ms);

/* How long one query of q may take. */
int64_t readings_patience_ms(const struct readings *r, const struct question *q);

/*
 * Joins the query under way or starts one (max_age_ms 0 still joins one that is under way). Never
 * calls back before it returns. deadline_ms: loop clock.
 *
 * after: for askers that were notified of a change at the source, which a query that began earlier
 * may have missed. They take readings_mark at the notification; only a query that began since then
 * answers them, from memory if there is one. If an older query is under way, they wait for the next
 * one, which begins at its end. So a thousand askers with one mark still cause one query. 0: any
 * query will do.
 */
struct readings_wait *readings_ask(struct readings *r, struct question *q, uint64_t after, int64_t max_age_ms,
	int64_t deadline_ms, readings_fn fn, void *arg);
uint64_t readings_mark(const struct readings *r); /* never 0 */
void readings_cancel(struct readings_wait *w);    /* no callback any more; NULL is fine */

struct readings_stats {
	size_t entries, asking, waiters;
	uint64_t questions, answers_from_memory;
};
struct readings_stats readings_stats(const struct readings *r);

#endif
