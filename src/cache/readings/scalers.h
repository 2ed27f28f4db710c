/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_READINGS_SCALERS_H
#define CACHE_READINGS_SCALERS_H

/*
 * The built scalers of each ScaledObject and ScaledJob, built on first use (a poll on the leader, a
 * metric request on any replica) and dropped when the object's spec, the environment or an input of
 * its TriggerAuthentications changes. Building checks parameters only: a source that is down is a
 * failing reading, not a failing build.
 *
 * A trigger whose source reports its metrics gives one scaler per metric
 * (cache/readings/descriptions). Until the source has reported any, they are those of the object's
 * HPA for this trigger, made from an earlier report; without an HPA (a ScaledJob has none) one
 * undescribed scaler stands for the trigger and fails with the source's error. Each metric is read
 * at every poll and is in the HPA, and the source chooses their number, so one object has at most
 * SCALERS_DESCRIBED_MAX of them.
 */

#include <stddef.h>

#include "base/err.h"
#include "cache/auth/lookups.h"
#include "cache/objects/store.h"
#include "cache/objects/targets.h"
#include "cache/readings/descriptions.h"
#include "cache/readings/questions.h"
#include "decide/formula/formula.h"
#include "scalers/scaler.h"

/* More described metrics of one object are refused (ERR_INVALID). */
#define SCALERS_DESCRIBED_MAX 256

struct scalers;

struct built {            /* borrowed until the loop turns */
	struct scaled of; /* what they were built from */
	/* in trigger order; a trigger may have several; cpu and memory have no question */
	const struct scaler *list;
	size_t count;
	/*
	 * of scalingModifiers, over the names of the triggers with a question, in order; NULL: none
	 */
	const struct formula *formula;
};

struct scalers *scalers_new(struct store *store, struct lookups *lookups, struct descriptions *descriptions,
	struct questions *questions);
void scalers_free(struct scalers *s); /* after store_clear */

/*
 * Returns the scalers of one object. ERR_MISSING: no such object; ERR_INVALID: the object or a
 * trigger cannot be built (the text is also in its Ready condition), including when a Secret, key
 * or TriggerAuthentication is missing or denied; ERR_WAITING: an input is being read, and
 * OBJECT_NEEDS or OBJECT_TARGET follows; ERR_TEMPORARY: the same, with the reason why it cannot be
 * read at the moment.
 */
int scalers_get(struct scalers *s, struct object *o, struct built *out, struct err *err);

/*
 * The scaler of this external metric (not cpu and memory), case-insensitive (doc/keda.md 5.2). NULL
 * and ERR_MISSING: the object has no such metric.
 */
const struct scaler *scalers_find(const struct built *built, const char *metric, struct err *err);

/* Inputs may have changed: drops the scalers, to be rebuilt on the next use. */
void scalers_follow(struct object *o, unsigned changes);

/*
 * Called when an object's scalers were rebuilt, so its questions may differ. Only queues work. For
 * life; one listener.
 */
typedef void (*scalers_fn)(void *arg, struct object *o);
void scalers_on_built(struct scalers *s, scalers_fn fn, void *arg);

/*
 * A hash of the current questions; 0 while nothing is built. When it changes, earlier readings say
 * nothing about the present sources.
 */
uint64_t scalers_questions(const struct object *o);

#endif
