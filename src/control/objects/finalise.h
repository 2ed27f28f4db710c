/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_OBJECTS_FINALISE_H
#define CONTROL_OBJECTS_FINALISE_H

/* Handles a deleted object, and the finalizers of a live one. */

#include <stdbool.h>

#include "crd/scaledobject.h"

struct work;

void finalise_run(struct work *work, const struct scaledobject *so);
/*
 * Like write_must_wait, for a deleted object of either kind: only failures of its deletion count.
 */
bool finalise_must_wait(struct work *work);
/*
 * Adds or removes finalizers: ours is set while replicas are to be restored on deletion, KEDA's
 * never. True if a write was started.
 */
bool finalise_keep(struct work *work, const struct scaledobject *so);

/* Removes KEDA's finalizer from an object of either kind; true if a write was started. */
bool finalise_release(struct work *work, const char *doing);

#endif
