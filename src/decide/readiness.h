/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_READINESS_H
#define DECIDE_READINESS_H

/*
 * When a failure of the sources is told in the condition Ready, and when its text names another
 * cause. Ready would change at each poll with a source that fails now and then, and whoever watches
 * it (Argo CD, an alert) with it:
 *
 *   - an object that was never Ready under this spec says a failure at once;
 *   - one that was stays Ready until more polls in a row failed than fallback.failureThreshold, or
 *     without a fallback until three did, or for 30 s, whichever comes first;
 *   - a look without a failure makes it Ready at once;
 *   - the text names the newest cause, but is changed once in 30 s at most.
 *
 * Pure: the state is the caller's, one per object.
 */

#include <stdbool.h>
#include <stdint.h>

#include "crd/scaledobject.h"

#define READINESS_POLLS    3     /* in a row that fail, without a fallback */
#define READINESS_MS       30000 /* the same by time */
#define READINESS_APART_MS 30000 /* between two texts */

struct readiness {   /* all zero at first */
	bool proven; /* it was Ready under that generation */
	int64_t generation;
	int32_t failures;      /* polls in a row */
	int64_t since_ms;      /* of the first of them */
	uint64_t cause, state; /* as told last; 0: nothing fails, or that is not told yet */
	int64_t told_ms;
};

/* What a look at the triggers found. */
struct readiness_look {
	int64_t now_ms; /* of a clock that nobody sets; more than 0 */
	int64_t generation;
	bool poll;           /* a pollingInterval led to it, so its failure counts */
	bool is_ready;       /* the condition is True; used while failing */
	bool failing;        /* Ready is not to be True */
	bool at_once;        /* that is no failure of a source, which may pass by itself */
	int32_t threshold;   /* failureThreshold; negative: there is no fallback */
	int32_t failures;    /* in a row of the trigger that failed most; 0: no trigger's */
	uint64_t state;      /* a fingerprint of the status and the reason that Ready would get */
	uint64_t cause;      /* the same of the cause that it would name */
	uint64_t falls_back; /* the same of the cause that Fallback names; 0: it is False */
};

struct readiness_says {
	bool waits;         /* failing, and Ready stays as it is */
	bool news;          /* the texts of Ready and Fallback name the cause anew */
	int64_t look_in_ms; /* while it waits: by then the triggers are asked again; 0: at the next poll */
};

struct readiness_says readiness_judge(struct readiness *r, const struct readiness_look *look);

/*
 * Polling starts, perhaps again: failures are counted anew. status: as stored, where another
 * process, or we before a restart, told that it was Ready.
 */
void readiness_start(struct readiness *r, const struct scaledobject_status *status, int64_t generation);

/* The same for one trigger in the log, which is told at once when it begins to fail. */
struct readiness_told { /* all zero at first */
	uint64_t cause; /* 0: it does not fail, or that is not told yet */
	int64_t told_ms;
};
/* Whether the cause, 0 for none, is to be told now; notes it then. */
bool readiness_tells(struct readiness_told *t, uint64_t cause, int64_t now_ms);

#endif
