/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBE_REFETCH_H
#define KUBE_REFETCH_H

/*
 * A GET that is tried again until it is answered: once when told to, or every so often. For what no
 * watch brings: /scale of a target, an object that is named after its kind's list was read.
 * Owns the call and its timer; knows nothing of what the answer means.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "kube/client.h"

struct refetch;

/*
 * Exactly one of object (borrowed) and err. failures: in a row, this one counted. That it is
 * missing (ERR_MISSING) is an answer: it is not asked again by itself. The receiver may free the
 * refetch.
 */
typedef void (*refetch_fn)(void *arg, const json_t *object, const struct err *err, unsigned failures);

struct refetch *refetch_new(struct kube *kube, const char *path /* copied */, refetch_fn fn, void *arg);
void refetch_free(struct refetch *r); /* NULL is fine; also from inside its callback */

void refetch_now(struct refetch *r);                      /* while a read is under way another one follows it */
void refetch_every(struct refetch *r, int64_t period_ms); /* now, and then so often; 0: only when told to */
/* in its callback: the answer will not do; as after a failure */
void refetch_refuse(struct refetch *r);
bool refetch_under_way(const struct refetch *r);

#endif
