/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_OBJECTS_HPAKEEPER_H
#define CONTROL_OBJECTS_HPAKEEPER_H

/* The HPA of a ScaledObject: created, kept as wanted, deleted. */

#include <jansson.h>
#include <stdbool.h>

#include "crd/scaledobject.h"

struct work;

/*
 * True when a write was started; false when the HPA is as wanted or nothing can be done now (the
 * error of the write part says why).
 */
bool hpakeeper_run(struct work *work, const struct scaledobject *so, json_t *desired);
/*
 * Deletes the object's HPA, of whatever name; true when that was started. The answer leads to the
 * next reconcile, which calls this again for another one.
 */
bool hpakeeper_remove(struct work *work, const struct scaledobject *so, const char *doing);
void hpakeeper_stop(struct work *work); /* frees its state */

#endif
