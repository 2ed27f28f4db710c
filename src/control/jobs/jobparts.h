/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_JOBS_JOBPARTS_H
#define CONTROL_JOBS_JOBPARTS_H

/*
 * The parts of struct work (control/objects/work.h) that only a ScaledJob has, one for each module
 * of this folder; other modules may only read them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "cache/objects/jobpods.h"
#include "kube/client.h"

struct jobloop_name;
struct making;
struct sweep;
struct work;

/* control/jobs/jobloop.c: the Pods of its Jobs. */
struct jobloop_part {
	struct jobpods *pods; /* the list request under way */
	struct jobloop_name *names;
	size_t name_count;    /* number of Jobs in the last request */
	struct err *pods_err; /* why it failed; owned; NULL */
	size_t finished;      /* number of finished Jobs at the last check of the history */
	int64_t answered_ms;  /* when the triggers were asked whose answers last created Jobs; 0: never */
};

/* control/jobs/jobmaker.c: creates Jobs. */
struct maker_part {
	int32_t planned;       /* decided, not sent yet */
	struct making *making; /* sent, not settled */
	bool queued;           /* in control.making */
	struct work *next, *prev;
	int32_t from, made;    /* of this burst: Jobs that ran before it; Jobs created */
	char *why;             /* jobs_explain's text; owned */
	unsigned refusals;     /* so far */
	enum err_kind refusal; /* the last kind in this burst reported by an Event */
	char *trouble;         /* why the last Job was refused; owned; NULL: it was not */
};

/* control/jobs/jobsweeper.c: deletes Jobs. */
struct sweep_part {
	struct sweep *list; /* the Jobs of this round; owned */
	size_t count, sent, answered;
	size_t rollouts, rollouts_answered; /* of them, those of an earlier version */
	bool failed;                        /* deleting for the history failed in this round */
	bool waits;                         /* until the look under way ends */
	bool queued;                        /* in control.sweeping */
	struct work *next, *prev;
	unsigned failures;    /* rounds in a row */
	int64_t retry_at_ms;  /* loop clock */
	struct err *err;      /* of the last rollout; owned; NULL */
	const char *err_name; /* the Job it is about; in the list */
};

/* control/jobs/jobhistory.c: whether the jobTargetRef differs from before. */
struct history_part {
	struct kube_call *call;
	int64_t generation; /* the generation in question */
	uint64_t version;   /* of the object that was requested */
	unsigned steps, failures;
	int64_t retry_at_ms; /* loop clock */
};

/* What only a ScaledJob has. */
struct job_parts {
	struct jobloop_part jobloop;
	struct maker_part maker;
	struct sweep_part sweep;
	struct history_part history;
};

#endif
