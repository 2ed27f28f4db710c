/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_READINESS_H
#define DECIDE_READINESS_H

/*
 * When the condition Ready reports a failure of a source, and when its text names a new cause.
 * Otherwise a source that fails now and then would change Ready at each poll, and alert everything
 * that watches it (Argo CD, an alert):
 *
 *   - an object that was never Ready under this spec reports a failure at once;
 *   - one that was stays Ready until more polls in a row failed than fallback.failureThreshold or,
 *     without a fallback, until three failed or 30 s have passed, whichever comes first;
 *   - a look without a failure makes it Ready at once;
 *   - the text names the newest cause, but changes at most once in 30 s.
 *
 * Pure: the state is the caller's, one per object.
 */

#include <stdbool.h>
#include <stdint.h>

#include "crd/scaledobject.h"

#define READINESS_POLLS    3     /* failing polls in a row, without a fallback */
#define READINESS_MS       30000 /* the same as a time */
#define READINESS_APART_MS 30000 /* between two texts */

struct readiness {   /* zeroed at first */
	bool proven; /* it was Ready under that generation */
	int64_t generation;
	int32_t failures;      /* failing polls in a row */
	int64_t since_ms;      /* of the first of them */
	uint64_t cause, state; /* as reported last; 0: nothing fails, or not reported yet */
	int64_t told_ms;
};

/* The result of a look at the triggers. */
struct readiness_look {
	int64_t now_ms; /* of a monotonic clock; greater than 0 */
	int64_t generation;
	bool poll;           /* a pollingInterval caused it, so its failure counts */
	bool is_ready;       /* the condition is True; used while failing */
	bool failing;        /* Ready should not be True */
	bool at_once;        /* the failure is not a source's, which may pass by itself */
	int32_t threshold;   /* failureThreshold; negative: no fallback */
	int32_t failures;    /* in a row, of the trigger that failed most; 0: no trigger fails */
	uint64_t state;      /* a fingerprint of the status and reason that Ready would get */
	uint64_t cause;      /* likewise of the cause that it would name */
	uint64_t falls_back; /* likewise of the cause that Fallback names; 0: it is False */
};

struct readiness_says {
	bool waits;         /* failing, and Ready stays as it is */
	bool news;          /* the texts of Ready and Fallback should name the present cause */
	int64_t look_in_ms; /* while it waits: ask the triggers again by then; 0: at the next poll */
};

struct readiness_says readiness_judge(struct readiness *r, const struct readiness_look *look);

/*
 * Polling starts, perhaps again: failures are counted anew. status: as stored, where another
 * process, or we before a restart, may have reported Ready.
 */
void readiness_start(struct readiness *r, const struct scaledobject_status *status, int64_t generation);

/* The same for one trigger in the log, which reports a failure at once. */
struct readiness_told { /* all zero at first */
	uint64_t cause; /* 0: it does not fail, or not logged yet */
	int64_t told_ms;
};
/* Whether to log the cause (0: none) now; notes it if so. */
bool readiness_tells(struct readiness_told *t, uint64_t cause, int64_t now_ms);

#endif
