/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBE_REFETCH_H
#define KUBE_REFETCH_H

/*
 * A GET that is retried until answered: once on request, or periodically. For what no watch
 * delivers: /scale of a target, an object named after its kind's list was read. managedFields are
 * stripped (kube/objecttext.h): they show who made the last change, and a first reading is not
 * compared with anything. Owns the call and its timer; does not interpret the answer.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "kube/client.h"

struct refetch;

/*
 * Receives object (borrowed) or err, exactly one of them. failures: consecutive, including this
 * one. ERR_MISSING counts as an answer and is not retried. A denial is retried, and reported when
 * it has lasted for a while (kube/denial.h). The callback may free the refetch.
 */
typedef void (*refetch_fn)(void *arg, const json_t *object, const struct err *err, unsigned failures);

struct refetch *refetch_new(struct kube *kube, const char *path /* copied */, refetch_fn fn, void *arg);
void refetch_free(struct refetch *r); /* NULL is fine; also from inside its callback */

void refetch_now(struct refetch *r);                      /* if a read is under way, another one follows */
void refetch_every(struct refetch *r, int64_t period_ms); /* now, then at this period; 0: only on request */
/* in its callback: rejects the answer, which counts as a failure */
void refetch_refuse(struct refetch *r);
bool refetch_under_way(const struct refetch *r);

#endif
