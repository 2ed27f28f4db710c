/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_SCALE_H
#define DECIDE_SCALE_H

/*
 * The decision of one tick: what to do with the replicas of a ScaledObject's target, and why. Pure:
 * facts in, decision out; no clock, no I/O, no log. The table is KEDA's RequestScale (keda-core.md
 * 3.4), with the differences of design 6: errors never scale in, whether or not there is a
 * fallback; no triggers at all (none could be asked) is an error, too; being active counts as being
 * active while another trigger fails, and a failing trigger shows in Ready in the tick that
 * activates already; a stamp of the future counts as now. A fallback of 0 replicas, which only the
 * user can have written, is not active, so the object may be scaled in by it; KEDA takes it as
 * active. paused-scale-out also keeps an object below minReplicaCount. What is paused is not
 * scaled, but to the replicas that paused-replicas names.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/metric.h"
#include "crd/condition.h"
#include "crd/scaledobject.h"
#include "decide/verdict.h"

struct annotations; /* decide/annotations.h */

struct scale_facts {
	const struct scaledobject_spec *spec;
	int64_t created_unix_ms;
	int64_t now_unix_ms;
	const struct annotations *annotations;  /* what the annotations say; NULL: nothing */
	const struct verdict_trigger *triggers; /* external ones only */
	size_t trigger_count;
	/* cpu and memory triggers: alone they keep an object active (keda-core.md 3.3 step 6) */
	size_t resource_count;
	/*
	 * of scalingModifiers: it alone says whether the object is active; NULL: each trigger
	 * counts by itself
	 */
	const struct composite *composite;
	bool replicas_known;
	int32_t replicas;            /* the target's spec.replicas */
	int64_t last_active_unix_ms; /* 0: never */
	/*
	 * what fails first, or the kind of its error, is another than when Ready and Fallback were
	 * told last; the same of what falls back first
	 */
	bool cause_is_news;
};

/* What fails first: a trigger, or the formula. Borrowed from the facts. */
struct scale_failure {
	const char *metric_name;
	const struct err *err;
};
struct scale_failure scale_failure(const struct scale_facts *facts); /* err NULL: nothing fails */
/* what falls back first, and what its source said; err NULL: nothing does */
struct scale_failure scale_fallback(const struct scale_facts *facts);

enum scale_rule {                    /* which row of the table decided; scale_explain() says it for people */
	SCALE_RULE_REPLICAS_UNKNOWN, /* the target's replicas cannot be read */
	SCALE_RULE_ACTIVATE,         /* active at 0 (or below min while idling): to min or 1 */
	SCALE_RULE_ACTIVE,           /* active and running: the HPA scales */
	SCALE_RULE_FALLBACK,         /* the same, but only by what fallback puts in the place of failing readings */
	SCALE_RULE_ACTIVE_PARTIAL,   /* active, but some trigger fails */
	SCALE_RULE_ERROR_HOLD,       /* not active, some trigger fails: nothing is scaled in */
	SCALE_RULE_COOLDOWN,         /* not active: waits for the cooldown, until .until_unix_ms */
	SCALE_RULE_INITIAL_COOLDOWN, /* never active yet: waits for the initial cooldown */
	SCALE_RULE_DEACTIVATE,       /* cooldown over: to idle or 0 */
	SCALE_RULE_BELOW_MIN,        /* not active and below min: to min */
	SCALE_RULE_INACTIVE,         /* not active and where it should be */
	SCALE_RULE_PAUSED,           /* by annotation: left as it is, or kept at paused-replicas */
	SCALE_RULE_SCALE_IN_PAUSED,  /* would go to idle or 0 (now or after the cooldown), but for the annotation */
	SCALE_RULE_SCALE_OUT_PAUSED, /* would be raised, but for the annotation */
};

struct scale_decision {
	enum scale_rule rule;
	bool act;                    /* write `replicas` to the target */
	int32_t replicas;            /* wanted (equals the current ones when !act) */
	bool active;                 /* the object is active, by its triggers or forced */
	bool forced;                 /* force-activation stands */
	bool failing;                /* at least one trigger failed (and no fallback stands in), or the composite */
	int64_t last_active_unix_ms; /* to carry on (state goes in as a value and comes out as a value) */
	/*
	 * COOLDOWN rules: the first moment that may scale in; else 0. A look is due then even if
	 * the next poll is later
	 */
	int64_t until_unix_ms;
	/*
	 * index of the first active trigger, else of the first failing one, else -1 (also when only
	 * the composite is active)
	 */
	int trigger;
	/*
	 * Conditions with KEDA's reasons and messages; borrowed constants. A reason that is NULL:
	 * that condition stays as it is.
	 */
	enum condition_status ready, active_status;
	const char *ready_reason, *ready_message;
	const char *active_reason, *active_message;
};

struct scale_decision scale_decide(const struct scale_facts *facts);

const char *scale_rule_name(enum scale_rule rule); /* "cooldown", for JSON and metrics */
/*
 * One sentence with names and numbers ("cooling down until 10:00:05: no trigger is active
 * (s0-redis-jobs 0)") into out; returns out.
 */
char *scale_explain(const struct scale_facts *facts, const struct scale_decision *d, char *out, size_t size);
/*
 * A fingerprint of the decision (its last_active_unix_ms apart, which moves with each active poll)
 * and of all facts that scale_explain and cache/journal tell: when it is the same as before, so are
 * their texts, which then need not be made again.
 */
uint64_t scale_mark(const struct scale_facts *facts, const struct scale_decision *d);
/*
 * How KEDA's Event KEDAScaleTargetActivated ends: "triggered by m1;m2", the metric names of the
 * active triggers ("composite-metric" of the composite), or "caused by forced activation
 * annotation"; returns out.
 */
char *scale_cause(const struct scale_facts *facts, const struct scale_decision *d, char *out, size_t size);

#endif
