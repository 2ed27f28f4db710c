/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_OBJECTS_FINALISE_H
#define CONTROL_OBJECTS_FINALISE_H

/* A deleted object, and the finalizers before. */

#include <stdbool.h>

#include "crd/scaledobject.h"

struct work;

void finalise_run(struct work *work, const struct scaledobject *so);
/*
 * As write_must_wait, of a deleted object of either kind: only its deletion's own failures count.
 */
bool finalise_must_wait(struct work *work);
/*
 * Adds or removes finalizers: ours is set while replicas are to be restored on deletion, KEDA's
 * never. True when a write was started.
 */
bool finalise_keep(struct work *work, const struct scaledobject *so);

/* Removes KEDA's finalizer from an object of either kind; true when that was started. */
bool finalise_release(struct work *work, const char *doing);

#endif
