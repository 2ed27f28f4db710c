/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_READINGS_DESCRIPTIONS_H
#define CACHE_READINGS_DESCRIPTIONS_H

/*
 * Which metrics a trigger has whose source says so itself (external scalers), one description per
 * question however many need it. Asked for when somebody first needs it, and again four times a
 * minute while it is needed, so that a new target or name reaches the HPA; an answer that does not
 * come keeps the old one. Objects hear when a description is another than before, or when it is
 * known for the first time why there is none. Held as cache/auth/holders says. For
 * cache/readings/scalers.
 */

#include <stdint.h>

#include "base/err.h"
#include "cache/auth/references.h"
#include "scalers/scaler.h"

struct descriptions;

struct descriptions *descriptions_new(struct scaler_sources *sources, int64_t deadline_ms /* of one question */);
void descriptions_free(struct descriptions *d); /* after cache_forget */
/* one; it only takes note, and begins no round */
void descriptions_listen(struct descriptions *d, object_fn fn, void *arg);

/*
 * REFERENCE_FOUND: *out is borrowed until the loop turns; once so it stays so. REFERENCE_UNREAD: it
 * is being asked for the first time (ERR_WAITING), at most until the question's deadline.
 * REFERENCE_MISSING: the source has never said it, and *err is what it said instead; it is asked
 * again every few seconds.
 */
enum reference_state descriptions_get(struct descriptions *d, struct object *owner, struct question *question,
	const struct description **out, struct err *err);

#endif
