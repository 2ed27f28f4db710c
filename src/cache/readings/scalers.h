/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_READINGS_SCALERS_H
#define CACHE_READINGS_SCALERS_H

/*
 * The built scalers of each ScaledObject and ScaledJob, made when somebody first asks (a poll on
 * the leader, a metric request on any replica) and dropped when the object's spec, the environment
 * or anything that its TriggerAuthentications lead to changes. Building checks parameters only: a
 * source that is down is a failing reading, not a failing build.
 *
 * A trigger whose source says itself which metrics there are gives one scaler for each of them
 * (cache/readings/descriptions). While the source has never said it, they are those that the
 * object's HPA has for this trigger, as it was made from what the source said before we were
 * started; and if there are none (a ScaledJob has no HPA), one scaler stands for the trigger,
 * undescribed, which fails with the source's error. Each of them is asked for at every poll and
 * stands in the HPA, and it is the source that says how many there are: of one object they are at
 * most SCALERS_DESCRIBED_MAX.
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

/* More metrics that the sources of one object's triggers have named are refused (ERR_INVALID). */
#define SCALERS_DESCRIBED_MAX 256

struct scalers;

struct built {            /* borrowed until the loop turns */
	struct scaled of; /* what they were built from */
	/*
	 * in trigger order; one trigger may have several; those of cpu and memory have no question
	 */
	const struct scaler *list;
	size_t count;
	/*
	 * of scalingModifiers, over the names of the triggers that have a question, in their order;
	 * NULL without one
	 */
	const struct formula *formula;
};

struct scalers *scalers_new(struct store *store, struct lookups *lookups, struct descriptions *descriptions,
	struct questions *questions);
void scalers_free(struct scalers *s); /* after cache_forget */

/*
 * The scalers of one object, in trigger order. ERR_MISSING: no such object; ERR_INVALID: the object
 * or a trigger cannot be built (the same text as in its Ready condition), also because a Secret, a
 * key, a TriggerAuthentication is missing or denied; ERR_WAITING: something that it needs is not
 * read yet, and OBJECT_NEEDS or OBJECT_TARGET tells when it was; ERR_TEMPORARY: the same, and why
 * it cannot be read at the moment.
 */
int scalers_get(struct scalers *s, struct object *o, struct built *out, struct err *err);

/*
 * The one for this external metric (cpu and memory are not asked for here); names are compared
 * without regard to case (keda-core.md 5.2). NULL and ERR_MISSING: the object has none.
 */
const struct scaler *scalers_find(const struct built *built, const char *metric, struct err *err);

/* What it was built from may be different: it is built anew when somebody asks. */
void scalers_follow(struct object *o, unsigned changes);

/*
 * Told when an object's scalers were built: what it asks may be another thing than before. It only
 * takes note. For life; one.
 */
typedef void (*scalers_fn)(void *arg, struct object *o);
void scalers_on_built(struct scalers *s, scalers_fn fn, void *arg);

/*
 * A fingerprint of the questions as they were built last; 0 while nothing is built. When it is
 * another than before, what was read so far says nothing about the sources that are asked now.
 */
uint64_t scalers_questions(const struct object *o);

#endif
