/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_SCALE_H
#define DECIDE_SCALE_H

/*
 * The decision of one tick: what to do with the replicas of a ScaledObject's target, and why. Pure:
 * facts in, decision out; no clock, no I/O, no log. The rules are KEDA's RequestScale (doc/keda.md
 * 3.2), with these differences:
 *   - an error never scales in, with or without a fallback; no triggers at all is an error, too;
 *   - an error, or triggers that cannot be built, do not hold an object below minReplicaCount,
 *     which depends on no source; with idleReplicaCount, which is also below it, an error does;
 *   - the object is active while one trigger is, even if another fails; a failing trigger makes
 *     Ready False already in the tick that activates;
 *   - a last activity in the future counts as now;
 *   - a fallback to 0 replicas, which only the user can set, is inactive and may scale in; in
 *     KEDA it is active;
 *   - paused-scale-out also holds an object below minReplicaCount;
 *   - a paused object is scaled only to the number in paused-replicas.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/metric.h"
#include "crd/condition.h"
#include "crd/scaledobject.h"
#include "decide/readiness.h"
#include "decide/verdict.h"

struct annotations; /* decide/annotations.h */

struct scale_facts {
	const struct scaledobject_spec *spec;
	int64_t created_unix_ms;
	int64_t now_unix_ms;
	const struct annotations *annotations;  /* NULL: none */
	const struct verdict_trigger *triggers; /* external ones only */
	size_t trigger_count;
	const struct err *unbuilt; /* why there are no triggers: they cannot be built; NULL */
	/*
	 * number of cpu and memory triggers: alone they keep an object active (doc/keda.md 3.1,
	 * step 6)
	 */
	size_t resource_count;
	/* of scalingModifiers: it alone decides about active; NULL: the triggers do */
	const struct composite *composite;
	bool replicas_known;
	int32_t replicas;            /* the target's spec.replicas */
	int64_t last_active_unix_ms; /* 0: never */
	/*
	 * readiness_judge's, of scale_ready_look: Ready stays as it is; the texts of Ready and
	 * Fallback should name their present causes
	 */
	bool ready_waits, cause_is_news;
};

/* The first failure, of a trigger or the formula. Borrowed from the facts. */
struct scale_failure {
	const char *metric_name;
	const struct err *err;
};
struct scale_failure scale_failure(const struct scale_facts *facts); /* err NULL: nothing fails */
/* the first trigger that falls back, and its source's error; err NULL: none */
struct scale_failure scale_fallback(const struct scale_facts *facts);

enum scale_rule {                    /* the rule that decided; scale_explain() describes it */
	SCALE_RULE_REPLICAS_UNKNOWN, /* the target's replicas cannot be read */
	SCALE_RULE_ACTIVATE,         /* active at 0 (or below min while idling): to min or 1 */
	SCALE_RULE_ACTIVE,           /* active and running: the HPA scales */
	SCALE_RULE_FALLBACK,         /* the same, but only fallbacks are active */
	SCALE_RULE_ACTIVE_PARTIAL,   /* active, but some trigger fails */
	SCALE_RULE_ERROR_HOLD,       /* not active, some trigger fails: nothing is scaled in */
	SCALE_RULE_COOLDOWN,         /* not active: waits for the cooldown, until .until_unix_ms */
	SCALE_RULE_INITIAL_COOLDOWN, /* never active yet: waits for the initial cooldown */
	SCALE_RULE_DEACTIVATE,       /* cooldown over: to idle or 0 */
	SCALE_RULE_BELOW_MIN,        /* not active, or failing, and below min: to min */
	SCALE_RULE_INACTIVE,         /* not active, and the replicas are right */
	SCALE_RULE_PAUSED,           /* by annotation: unchanged, or kept at paused-replicas */
	SCALE_RULE_SCALE_IN_PAUSED,  /* would go to idle or 0 (now or after the cooldown), if not for the annotation */
	SCALE_RULE_SCALE_OUT_PAUSED, /* would be raised, if not for the annotation */
};

struct scale_decision {
	enum scale_rule rule;
	bool act;                    /* write `replicas` to the target */
	int32_t replicas;            /* wanted (the current ones if !act) */
	bool active;                 /* the object is active, by its triggers or forced */
	bool forced;                 /* forced by the annotation force-activation */
	bool failing;                /* at least one trigger failed without a fallback, or the composite did */
	int64_t last_active_unix_ms; /* the new value, for the next tick */
	/*
	 * COOLDOWN rules: the first moment that may scale in, when a tick is due even if the next
	 * poll is later; else 0
	 */
	int64_t until_unix_ms;
	/*
	 * index of the first active trigger, else of the first failing one, else -1 (also when only
	 * the composite is active)
	 */
	int trigger;
	/* KEDA's reasons and messages; constants. A reason of NULL: that condition is unchanged. */
	enum condition_status ready, active_status;
	const char *ready_reason, *ready_message;
	const char *active_reason, *active_message;
};

struct scale_decision scale_decide(const struct scale_facts *facts);
/*
 * Whether something may be decided while no trigger can be built: there is a minimum to keep, or
 * the annotation force-activation. annotations may be NULL.
 */
bool scale_needs_no_trigger(const struct scaledobject_spec *spec, const struct annotations *annotations);
/* The facts for readiness_judge; the caller adds what only it knows. */
struct readiness_look scale_ready_look(const struct scale_facts *facts, const struct scale_decision *d);

const char *scale_rule_name(enum scale_rule rule); /* "cooldown", for JSON and metrics */
/*
 * One sentence with names and numbers ("cooling down until 10:00:05: no trigger is active
 * (s0-redis-jobs 0)") into out; returns out.
 */
char *scale_explain(const struct scale_facts *facts, const struct scale_decision *d, char *out, size_t size);
/*
 * A fingerprint of the decision, except last_active_unix_ms, which changes at each active poll, and
 * of all facts that scale_explain and cache/journal describe: while it is the same, so are their
 * texts, and they need not be made again.
 */
uint64_t scale_mark(const struct scale_facts *facts, const struct scale_decision *d);
/*
 * The end of KEDA's Event KEDAScaleTargetActivated: "triggered by m1;m2", the metric names of the
 * active triggers ("composite-metric" for the composite), or "caused by forced activation
 * annotation"; returns out.
 */
char *scale_cause(const struct scale_facts *facts, const struct scale_decision *d, char *out, size_t size);

#endif
