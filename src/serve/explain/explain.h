/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_EXPLAIN_EXPLAIN_H
#define SERVE_EXPLAIN_EXPLAIN_H

/*
 * Why an object is scaled as it is, as JSON: summary and explanation of an object of the insight
 * API (serve/insight), for `kscaled explain`, `kscaled get` and other clients. Asks no source: all
 * of it comes from the cache and the journal. Texts are those of the Events and conditions. The
 * names below are stable; unknown values are null, or left out where stated. Times are RFC 3339,
 * newest first in lists.
 *
 * summary: kind, namespace, name, and
 *
 *   of a ScaledObject
 *     target          {apiVersion, kind, name, state: "present" | "missing" | "unread", replicas,
 *                     ready, trouble}; replicas and ready null while unknown
 *     min, max, idle  of the spec with its defaults; idle is null if not set
 *     paused          by annotation; the scale-in and scale-out annotations are in `pausing`
 *     pausing         {replicas, scaleIn, scaleOut}
 *     forced          by the annotation force-activation
 *     ready, active, fallback   "True", "False", "Unknown": the conditions; null if absent
 *     triggersTypes   "redis,cpu"; null
 *     hpa             null, or {name, min, max, current, desired, lastScaleTime, conditions[]:
 *                     {type, status, reason, message}}
 *     rule            of the newest decision ("cooldown", ...); null on a standby
 *     reason          one sentence: why the replicas are what they are, or what is wrong
 *
 *   of a ScaledJob
 *     min, max        Jobs that run always, and at most, with the defaults: max is maxReplicaCount;
 *                     without one 100 beyond the minimum
 *     paused          by annotation
 *     ready, active   as above
 *     triggersTypes   as above
 *     strategy        "default", "custom", "accurate", "eager": scalingStrategy as written, with
 *                     its default
 *     calculation     "max", "min", "avg", "sum": multipleScalersCalculation as written, with its
 *                     default
 *     jobs            null on a standby, which does not watch them, otherwise {running, complete,
 *                     failed, known, trouble}: the existing Jobs; the numbers are null until known,
 *                     and trouble says why they cannot be known, or is null
 *     rule, reason    as above: why so many Jobs were created, or what is wrong
 *
 * explanation: all of the summary, and
 *
 *   leader            {leading, holder, whyNot}: the acting replica; `leading` is about the process
 *                     that answers
 *   created, generation
 *   trouble           why no trigger can be built; null
 *   triggers[]        {index, type, name, metric, metricType, target, activation, value, active,
 *                     ageSeconds, latencySeconds, error, pause, failures, fallingBack, noFallback,
 *                     push, remark, unknownKeys, shortened, ignored}; of cpu and memory triggers,
 *                     which the HPA controller reads, only the first six and the last three. remark
 *                     is about the answer, for example that a list may be truncated; ignored names
 *                     faulty settings without effect. value and active are null while unknown, and
 *                     the fallback's while fallingBack (then null if the formula gets nil); error
 *                     is the source's newest failure, failures the number in a row; pause says why
 *                     a healthy source is not asked at the moment, or is null; noFallback says why
 *                     no fallback replaces the value. push is null, or {state: "starting" | "on" |
 *                     "off" | "failing" | "unwatched", why}. A ScaledJob has no fallback, so
 *                     neither fallingBack nor noFallback
 *   conditions[]      {type, status, reason, message, lastTransitionTime}
 *
 *   of a ScaledObject
 *   composite         null, or {metric, metricType, target, activation, value, active, error,
 *                     fallingBack} of scalingModifiers
 *   decision          null, or {rule, text, act, replicas, active, forced, failing, until,
 *                     decidedAt}
 *   changes[]         of the replicas, at most 10: {at, from, to, who, why}
 *   decisions[]       earlier ones, at most 10: {at, rule, replicas, text}
 *
 *   of a ScaledJob
 *   decision          null, or {rule, text, create, active, failing, decidedAt}; create: Jobs to
 *                     create
 *   changes[]         creations, at most 10: {at, from, to, who, why}; from, to: running Jobs
 *                     before and after
 *   decisions[]       earlier ones, at most 10: {at, rule, create, text}
 */

#include "cache/cache.h"
#include "decide/annotations.h"
#include "serve/jsonout.h"

#define EXPLAIN_PAUSED_MAX 64

/* The short texts of a summary, also for the table. Borrowed until the loop turns. */
struct explain_brief {
	const char *ready, *active, *fallback; /* NULL: the condition does not exist yet */
	struct annotations annotations;        /* of a ScaledJob: only `paused` */
	char paused[EXPLAIN_PAUSED_MAX];       /* "paused at 3 replicas"; "": not paused */
	const char *rule;                      /* NULL on a standby */
	const char *reason;                    /* NULL: there is none */
};
void explain_brief(const struct cache *cache, const struct object *o, struct explain_brief *out);

/* The members of each; the caller opens and closes the object. */
void explain_write_summary(struct jsonout *j, const struct cache *cache, const struct object *o);
void explain_write(struct jsonout *j, struct cache *cache, struct object *o);

#endif
