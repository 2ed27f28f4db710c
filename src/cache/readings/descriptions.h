/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_READINGS_DESCRIPTIONS_H
#define CACHE_READINGS_DESCRIPTIONS_H

/*
 * The descriptions of triggers whose source reports its metrics (external scalers), one per
 * question, shared. Requested on first use and then every 15 s while in use, so that new targets
 * and names reach the HPA; when a request fails, the old description stays. Objects are notified
 * when a description changes, when the first request has failed, or when a later one is wrong. Held
 * as in cache/auth/holders. For cache/readings/scalers.
 */

#include <stdint.h>

#include "base/err.h"
#include "cache/auth/references.h"
#include "scalers/scaler.h"

struct descriptions;

struct descriptions *descriptions_new(struct scaler_sources *sources, int64_t deadline_ms /* of one question */);
void descriptions_free(struct descriptions *d); /* after store_clear */
/* one listener; it only queues work and begins no round */
void descriptions_listen(struct descriptions *d, object_fn fn, void *arg);

/*
 * REFERENCE_FOUND: *out is borrowed until the end of the turn; stays FOUND. REFERENCE_UNREAD: the
 * first request is under way (ERR_WAITING), until the question's deadline at most.
 * REFERENCE_MISSING: no request has succeeded; *err is the last error, and it is retried every few
 * seconds.
 */
enum reference_state descriptions_get(struct descriptions *d, struct object *owner, struct question *question,
	const struct description **out, struct err *err);

/*
 * Why the description is not the source's present one; NULL: it is, or there never was one.
 * Borrowed until the end of the turn.
 */
const char *descriptions_trouble(const struct question *question);

#endif
