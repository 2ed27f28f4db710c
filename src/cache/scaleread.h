/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_SCALEREAD_H
#define CACHE_SCALEREAD_H

/*
 * Reads the /scale of one target for cache/targets: once when told to, and every so often while it is told to; tried again with back-off after failures. For kinds that keep their replicas where only
 * the API server knows, and for kinds that may not be watched. Owns the call and its timer; knows nothing of what the answer means.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "kube/client.h"

struct scaleread;

/* Exactly one of scale (borrowed) and err. failures: in a row, this one counted. A read that is missing (ERR_MISSING) is an answer: it is not tried again by itself. */
typedef void (*scaleread_fn)(void *arg, const json_t *scale, const struct err *err, unsigned failures);

struct scaleread *scaleread_new(struct kube *kube, const char *path /* of /scale, copied */, scaleread_fn fn, void *arg);
void scaleread_free(struct scaleread *r); /* NULL is fine; also from inside its callback */

void scaleread_now(struct scaleread *r);                      /* while a read is under way another one follows it */
void scaleread_every(struct scaleread *r, int64_t period_ms); /* now, and then so often; 0: only when told to */
bool scaleread_under_way(const struct scaleread *r);

#endif
