/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_OBJECTS_RIVALS_H
#define CONTROL_OBJECTS_RIVALS_H

/*
 * Objects that claim the same target or HPA name. When one changes its claims or is deleted, the
 * others are reconciled.
 */

#include <stdbool.h>

#include "base/err.h"
#include "crd/scaledobject.h"

struct work;

void rivals_note(struct work *work);
/*
 * Whether another one was first (cache/admit); err may be NULL. Cheap while no other object has the
 * claim.
 */
bool rivals_refuse(const struct work *work, const struct scaledobject *so, struct err *err);

#endif
