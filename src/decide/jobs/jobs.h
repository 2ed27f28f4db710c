/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_JOBS_JOBS_H
#define DECIDE_JOBS_JOBS_H

/*
 * The decision of one tick of a ScaledJob: how many Jobs to create now, and why. Pure. The numbers
 * are KEDA's (doc/keda.md 4.2, 4.3): each active trigger needs queue / target Jobs, at most max;
 * multipleScalersCalculation combines queues and Jobs of all triggers; the strategy subtracts Jobs
 * that run or are pending. Running Jobs are never ended because of a short queue.
 *
 * Always: at most max Jobs beyond the minimum; at least the minimum; while the same triggers are
 * active, a longer queue never gives fewer Jobs (max and sum: also when a trigger becomes active;
 * avg and min include active triggers only, so a new one with a short queue lowers them, as in
 * KEDA); a failing source never raises the number of Jobs. For these reasons, and because unknown
 * does not mean 0, the decision differs from KEDA's:
 *
 *   - an active trigger with an empty queue counts as active with 0 (KEDA's max treats all-zero
 *     queues as inactive, its min replaces a zero by the next number). A negative queue counts as
 *     0, a negative target as none;
 *   - max and min choose queue and number of Jobs separately. KEDA takes both from the trigger with
 *     the longest (shortest) queue: with different targets, 1 more in a queue can turn 10 Jobs into
 *     1;
 *   - max and sum leave out a failing trigger, as in KEDA; avg counts it with an empty queue; min
 *     is then unknown, and nothing is created beyond the minimum;
 *   - max also limits custom (in KEDA only at each creation, so that a small percentage creates
 *     Jobs without end); a percentage that is NaN or infinite is invalid;
 *   - answers create Jobs only once, even if the source has not been asked since;
 *   - while the Jobs cannot be read, none is created (KEDA counts 0 and creates all again); without
 *     the Pods that the strategy needs, none beyond the minimum.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "crd/condition.h"
#include "crd/scaledjob.h"
#include "decide/readiness.h"

struct jobs_trigger { /* a metric of a trigger in this tick; strings borrowed */
	/*
	 * in spec.triggers; consecutive entries with the same index are the metrics of one trigger,
	 * whose queue is the first one's and whose target is their mean
	 */
	int index;
	const char *metric_name; /* "s0-redis-jobs" */
	double queue;            /* the source's value */
	double target;           /* averageValue: work per Job; 0: none, so no Jobs are needed */
	bool active;
	const struct err *err; /* NULL: the above is valid */
};

struct jobs_facts {
	const struct scaledjob_spec *spec;
	int64_t now_unix_ms;
	const struct jobs_trigger *triggers;
	size_t trigger_count; /* external ones only */
	/*
	 * why the Jobs cannot be read; NULL: running is valid. ERR_WAITING: not read yet, which is
	 * not a failure
	 */
	const struct err *jobs_err;
	/* the same for the Pods that the strategy needs; NULL: pending is valid or not needed */
	const struct err *pods_err;
	int32_t running; /* unfinished Jobs, including those whose creation was sent */
	/* those of them without a started Pod (jobs_pod_started); only if jobs_needs_pods */
	int32_t pending;
	/*
	 * Jobs were created for these very answers, because a source that asked for a pause has no
	 * newer ones. For the default strategy these Jobs run, or ended since; the other strategies
	 * subtract none, or only some, of the started Jobs, and would create them again.
	 */
	bool answered;
	bool paused;
	int64_t last_active_unix_ms; /* 0: never */
	/* why the last creation of a Job failed, in the API server's words; NULL: it did not */
	const char *create_trouble;
	/*
	 * readiness_judge's, of jobs_ready_look: Ready stays; its text is to name the present cause
	 */
	bool ready_waits, cause_is_news;
};

enum jobs_rule { /* the rule that decided; jobs_explain() describes it */
	JOBS_RULE_PAUSED,
	JOBS_RULE_JOBS_UNKNOWN,
	JOBS_RULE_BELOW_MIN, /* fewer than minReplicaCount run: creates the missing ones, whatever the strategy */
	JOBS_RULE_PODS_UNKNOWN,
	JOBS_RULE_CREATE, /* active, and the strategy asks for Jobs */
	/*
	 * active, and the strategy asks for more Jobs than maxReplicaCount allows: creates those
	 * that fit, perhaps none
	 */
	JOBS_RULE_AT_MAX,
	JOBS_RULE_ENOUGH, /* active, and the strategy finds enough Jobs at work */
	/*
	 * a trigger fails, and no other one is active or the calculation is min; or there is no
	 * trigger
	 */
	JOBS_RULE_ERROR_HOLD,
	JOBS_RULE_INACTIVE, /* no trigger is active (a ScaledJob with a minimum still is) */
};

/* A condition's reason and message, KEDA's (doc/keda.md 4.4); constants. */
struct jobs_words {
	enum condition_status status;
	const char *reason, *message;
};

struct jobs_decision {
	enum jobs_rule rule;
	int32_t create;              /* Jobs to create now */
	double queue;                /* of all triggers, after multipleScalersCalculation */
	int64_t max_scale;           /* Jobs needed for it, at most maxReplicaCount (doc/keda.md 4.2) */
	bool active;                 /* some trigger is active, or minReplicaCount keeps Jobs */
	bool failing;                /* at least one trigger failed, or Jobs or Pods cannot be read */
	int64_t last_active_unix_ms; /* the new value, for the next tick */
	/*
	 * index in facts.triggers of the first active one, else of the first failing one, else -1
	 */
	int trigger;
	/*
	 * The conditions Ready and Active; NULL: unchanged. Own reasons of a False Ready:
	 * `ErrorGettingJobs` and `ErrorGettingPods`, named after ScaledObject's
	 * ErrorGettingCurrentReplicas, and, while active, `KEDAJobCreateFailed`, the name of KEDA's
	 * Event.
	 */
	const struct jobs_words *ready_words, *active_words;
};

/* Whether the present answers need no more Jobs: all that were decided for them exist. */
bool jobs_is_answered(const struct jobs_facts *facts);

/* Whether the strategy needs Pods (accurate, eager); with any other no Pod is read. */
bool jobs_needs_pods(const struct scaledjob_spec *spec);

struct jobs_decision jobs_decide(const struct jobs_facts *facts);

const char *jobs_rule_name(enum jobs_rule rule); /* "at-max", for JSON */
/*
 * One sentence with names and numbers ("creates 3 Jobs: 10 waiting in s0-redis-jobs, 7 Jobs run, at
 * most 10") into out; returns out.
 */
char *jobs_explain(const struct jobs_facts *facts, const struct jobs_decision *d, char *out, size_t size);
/* A fingerprint of all that jobs_explain describes: while it is the same, so is the text. */
uint64_t jobs_mark(const struct jobs_facts *facts, const struct jobs_decision *d);
/*
 * The first failure, for Ready, into out: of the Jobs, the Pods, a creation (while active), or a
 * trigger ("s0-redis-jobs: ..."). False: none.
 */
bool jobs_failure(const struct jobs_facts *facts, char *out, size_t size);
/*
 * The facts for readiness_judge; the caller adds what only it knows. cause: a fingerprint of that
 * failure, without numbers and names that vary; 0: none.
 */
struct readiness_look jobs_ready_look(const struct jobs_facts *facts, const struct jobs_decision *d);

/*
 * Whether this Pod has started, so that its Job is not pending (doc/keda.md 4.3): its phase is
 * Running or Succeeded; or, with conditions (scalingStrategy.pendingPodConditions), each of these
 * types is True in its status.conditions. A Pod that cannot be read has not started.
 */
bool jobs_pod_started(const json_t *pod, const char *const *conditions, size_t condition_count);

#endif
