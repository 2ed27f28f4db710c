/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_JOBS_JOBS_PARTS_H
#define DECIDE_JOBS_JOBS_PARTS_H

/* Shared by the files of decide/jobs and by decide/validate; all others include jobs.h. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decide/jobs/jobs.h"

enum jobs_strategy { JOBS_STRATEGY_DEFAULT, JOBS_STRATEGY_CUSTOM, JOBS_STRATEGY_ACCURATE, JOBS_STRATEGY_EAGER };
enum jobs_calculation { JOBS_CALCULATION_MAX, JOBS_CALCULATION_MIN, JOBS_CALCULATION_AVG, JOBS_CALCULATION_SUM };

/* The words of the spec, indexed by enum; NULL-terminated. */
extern const char *const jobs_strategies[], *const jobs_calculations[];

/* The first of each if absent or unknown; custom without a valid percentage is default. */
enum jobs_strategy jobs_strategy(const struct scaledjob_spec *spec);
enum jobs_calculation jobs_calculation(const struct scaledjob_spec *spec);

/* One trigger with all its metrics. */
struct jobs_share {
	const struct jobs_trigger *first; /* its first metric, whose name stands for it */
	size_t next;                      /* position of the next trigger's first metric */
	bool failing;                     /* one of its metrics fails: queue and target are unknown */
	bool active;
	double queue, target; /* at least 0; target 0: none */
};
/* The trigger at share->next; the first one if share is zeroed. False: no more. */
bool jobs_next_share(const struct jobs_facts *facts, struct jobs_share *share);

/*
 * The first failure, in the order of jobs_failure, and what Ready says about it. Borrowed from the
 * facts.
 */
struct jobs_cause {
	const struct jobs_words *ready; /* as jobs_decision.ready_words */
	const char *name;               /* of the metric; NULL: not a trigger's error */
	const char *text;               /* NULL: nothing fails */
	enum err_kind kind;             /* ERR_NONE for a Job that could not be created */
};
struct jobs_cause jobs_first_cause(const struct jobs_facts *facts);
extern const struct jobs_words jobs_ready_refused; /* what Ready says while the API server refuses the Jobs */

int32_t jobs_deduction(const struct scaledjob_spec *spec); /* customScalingQueueLengthDeduction */

int64_t jobs_at_work(const struct jobs_facts *facts);    /* Jobs that run; at least 0 */
int64_t jobs_beyond_min(const struct jobs_facts *facts); /* Jobs that run beyond the minimum; 0 if fewer run */
int64_t jobs_pending(const struct jobs_facts *facts);    /* never more than run */
/* what customScalingRunningJobPercentage subtracts for the running Jobs */
int64_t jobs_running_share(const struct jobs_facts *facts);

#endif
