/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_JOBS_JOBS_H
#define DECIDE_JOBS_JOBS_H

/*
 * The decision of one tick of a ScaledJob: how many Jobs to create now, and why. Pure. The numbers
 * are KEDA's (keda-core.md 4.2, 4.3): each active trigger needs queue / target Jobs, but at most
 * max; multipleScalersCalculation makes one queue and one number of Jobs of them; the strategy
 * subtracts what is at work. Jobs that run are never ended for having too little to do.
 *
 * Whatever the numbers are: beyond the minimum never more Jobs than max, never fewer than the
 * minimum, and with a longer queue never fewer Jobs, as long as the same triggers are active. (max
 * and sum: also when one becomes active. avg and min are of the active triggers only, so one that
 * joins with a short queue lowers both, as in KEDA.) A failing source never raises their number.
 * For that, and because an outcome that is not known is not 0, it differs from KEDA:
 *
 *   - a trigger that is active with nothing in its queue counts as what it is (KEDA's max takes
 *     all-zero queues as inactive, its min overwrites a zero with the next number). A negative
 *     queue counts as 0, a negative target as none;
 *   - max and min take the greatest (smallest) queue and, apart from it, the greatest (smallest)
 *     number of Jobs. KEDA takes both from the trigger with that queue: where targets differ, 1
 *     more in a queue can turn 10 Jobs into 1;
 *   - a trigger that fails is left out of max and sum, as in KEDA; in avg it counts as one that
 *     needs nothing; min is not known then, and nothing is created beyond the minimum;
 *   - custom obeys max beyond the minimum, too (in KEDA only each creation does, so that a small
 *     percentage goes on for ever); a percentage that is NaN or infinite is one that cannot be
 *     read;
 *   - when the Jobs cannot be read, nothing is created (KEDA takes them as 0 and creates all
 *     again); without the Pods that the strategy needs, nothing beyond the minimum.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "crd/condition.h"
#include "crd/scaledjob.h"

struct jobs_trigger { /* one trigger's outcome this tick; strings borrowed */
	/*
	 * in spec.triggers; several in a row of one index are the metrics of one trigger: the first
	 * one's value is its queue, the mean of their targets its target
	 */
	int index;
	const char *metric_name; /* "s0-redis-jobs" */
	double queue;            /* what the source says is to be done */
	double target;           /* averageValue: work per Job; 0 when it has none, which asks for no Jobs */
	bool active;
	const struct err *err; /* NULL: the above is good */
};

struct jobs_facts {
	const struct scaledjob_spec *spec;
	int64_t now_unix_ms;
	const struct jobs_trigger *triggers;
	size_t trigger_count; /* external ones only */
	/*
	 * the Jobs cannot be read; NULL: running is good. ERR_WAITING: not yet; that holds, but is
	 * no failure
	 */
	const struct err *jobs_err;
	/* the same of the Pods that the strategy needs; NULL: pending is good or not needed */
	const struct err *pods_err;
	int32_t running; /* Jobs that are not finished, and those whose creation was sent */
	/*
	 * of these, those without a Pod that has started (decide/jobs/jobpods.h); only when
	 * jobs_needs_pods
	 */
	int32_t pending;
	bool paused;
	int64_t last_active_unix_ms; /* 0: never */
	/*
	 * why the last Job could not be created (the API server's words); NULL: the last one could,
	 * or none was tried
	 */
	const char *create_trouble;
	bool cause_is_news; /* jobs_failure_mark is another than when Ready was told last */
};

enum jobs_rule { /* which row decided; jobs_explain() says it for people */
	JOBS_RULE_PAUSED,
	JOBS_RULE_JOBS_UNKNOWN,
	JOBS_RULE_BELOW_MIN, /* fewer run than minReplicaCount: those that are missing, whatever the strategy */
	JOBS_RULE_PODS_UNKNOWN,
	JOBS_RULE_CREATE, /* active, and the strategy asks for Jobs */
	/*
	 * active, and the strategy asks for more Jobs than maxReplicaCount allows: those that fit
	 * are created, which may be none
	 */
	JOBS_RULE_AT_MAX,
	JOBS_RULE_ENOUGH, /* active, and the strategy finds enough Jobs at work */
	/*
	 * some trigger fails, and nothing is known that asks for a Job: no other is active, or the
	 * min of all is asked for. Or none could be asked
	 */
	JOBS_RULE_ERROR_HOLD,
	JOBS_RULE_INACTIVE, /* no trigger is active (the ScaledJob still is while it has a minimum) */
};

struct jobs_decision {
	enum jobs_rule rule;
	int32_t create;                             /* Jobs to create now */
	double queue;                               /* of all triggers, after multipleScalersCalculation */
	int64_t scale_to, max_scale, effective_max; /* keda-core.md 4.2, 4.3, for the sentence */
	bool active;                                /* some trigger is active, or minReplicaCount keeps Jobs */
	bool failing;                               /* at least one trigger failed, or Jobs or Pods cannot be read */
	int64_t last_active_unix_ms;                /* to carry on */
	/*
	 * position in facts.triggers of the first active one, else of the first failing one, else
	 * -1
	 */
	int trigger;
	/*
	 * Conditions with KEDA's reasons and messages (keda-core.md 4.4); borrowed constants. A
	 * reason that is NULL: that condition stays as it is. Ready is False beyond KEDA's reasons
	 * with `ErrorGettingJobs`, `ErrorGettingPods` (after ScaledObject's
	 * ErrorGettingCurrentReplicas: a poll lowers them and a poll raises them, unlike
	 * ScaledJobCheckFailed, which is reconcile's), and while active with `KEDAJobCreateFailed`,
	 * the name of KEDA's Event.
	 */
	enum condition_status ready, active_status;
	const char *ready_reason, *ready_message;
	const char *active_reason, *active_message;
};

/*
 * Whether scalingStrategy looks at Pods at all (accurate, eager); for the others no Pod is ever
 * read.
 */
bool jobs_needs_pods(const struct scaledjob_spec *spec);

struct jobs_decision jobs_decide(const struct jobs_facts *facts);

const char *jobs_rule_name(enum jobs_rule rule); /* "at-max", for JSON */
/*
 * One sentence with names and numbers ("creates 3 Jobs: 10 waiting in s0-redis-jobs, 7 Jobs run, at
 * most 10") into out; returns out.
 */
char *jobs_explain(const struct jobs_facts *facts, const struct jobs_decision *d, char *out, size_t size);
/* A fingerprint of all that jobs_explain tells: when it is the same as before, so is the text. */
uint64_t jobs_mark(const struct jobs_facts *facts, const struct jobs_decision *d);
/*
 * What fails first, for Ready: the Jobs, the Pods, create_trouble (while active), or a trigger
 * ("s0-redis-jobs: ..."), into out; false: nothing does.
 */
bool jobs_failure(const struct jobs_facts *facts, char *out, size_t size);
/*
 * Which of them fails and how, without numbers and names that are others each time; 0: nothing
 * does.
 */
uint64_t jobs_failure_mark(const struct jobs_facts *facts);

#endif
