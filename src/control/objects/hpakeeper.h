/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_OBJECTS_HPAKEEPER_H
#define CONTROL_OBJECTS_HPAKEEPER_H

/* Creates, maintains and deletes the HPA of a ScaledObject. */

#include <jansson.h>
#include <stdbool.h>

#include "crd/scaledobject.h"

struct work;

/*
 * True if a write was started; false if the HPA is as wanted or nothing can be done now (the error
 * of the write part says why).
 */
bool hpakeeper_run(struct work *work, const struct scaledobject *so, json_t *desired);
/*
 * Deletes the object's HPA, whatever its name; true if that was started. The answer leads to the
 * next reconcile, which calls this again for another one.
 */
bool hpakeeper_remove(struct work *work, const struct scaledobject *so, const char *doing);
void hpakeeper_stop(struct work *work); /* frees its state */

#endif
