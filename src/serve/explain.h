/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_EXPLAIN_H
#define SERVE_EXPLAIN_H

/*
 * Why things are as they are, as JSON for `kscaled explain` and `kscaled get` and for whoever else asks the status port. Asks no source: all of it is what the cache and the journal hold. Texts come from where the
 * Events and conditions have them. Names below are stable; what is not known is null or left out where it says so. Times are RFC 3339, newest first in lists.
 *
 * GET /objects, /objects?namespace=shop
 *   leader            {leading, holder, whyNot}: who acts; `leading` is about the process that answers
 *   synced            whether the objects were all read
 *   items[]           sorted by namespace and name, each: kind, namespace, name, and
 *     target          {apiVersion, kind, name, state: "present" | "missing" | "unread", replicas, ready, trouble}; replicas and ready null while unknown
 *     min, max, idle  of the spec with its defaults; idle null when not set
 *     paused          by annotation; the scale-in and scale-out annotations count in `pausing`
 *     pausing         {replicas, scaleIn, scaleOut}
 *     forced          force-activation stands
 *     ready, active, fallback   "True", "False", "Unknown": the conditions; null when there are none yet
 *     triggersTypes   "redis,cpu"; null
 *     hpa             null, or {name, min, max, current, desired, lastScaleTime, conditions[]: {type, status, reason, message}}
 *     rule            of the newest decision ("cooldown", ...); null on a standby
 *     reason          one sentence: why the replicas are what they are, or what is wrong
 *
 * GET /explain/{namespace}/{name}: one such item at the top level with `leader` and, beyond the above,
 *   created, generation
 *   trouble           why no trigger can be built; null
 *   triggers[]        {index, type, name, metric, metricType, target, activation, value, active, ageSeconds, latencySeconds, error, failures, fallingBack, noFallback}; of cpu and memory triggers, which the HPA controller
 *                     reads, only the first six. value and active are null while unknown, and a fallback's while fallingBack (then null when the formula gets nil); error is the source's newest failure, failures those in a row; noFallback says why none stands in
 *   composite         null, or {metric, metricType, target, activation, value, active, error, fallingBack} of scalingModifiers
 *   decision          null, or {rule, text, act, replicas, active, forced, failing, until, decidedAt}
 *   conditions[]      {type, status, reason, message, lastTransitionTime}
 *   changes[]         of the replicas, at most 10: {at, from, to, who, why}
 *   decisions[]       before, at most 10: {at, rule, replicas, text}
 * 404 with a Status whose message names near objects, or namespaces that have some.
 */

struct request;

void explain_handle_object(struct request *r);
void explain_handle_list(struct request *r);

#endif
