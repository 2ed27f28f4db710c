/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_OBJECTS_STATUS_H
#define CONTROL_OBJECTS_STATUS_H

/* The only writer of .status. */

#include <stdint.h>

#include "crd/scaledobject.h"

struct work;

/*
 * The wanted status, for decide/conditions and decide/jobs/jobconditions to change; initially a
 * copy of the stored one
 */
struct scaledobject_status *status_wanted(struct work *work, const struct scaledobject_status *stored);
void status_write(struct work *work); /* patches the differences to the stored status */
/* The same within delay_ms, so that a tick that ends before is in the same write. */
void status_write_within(struct work *work, int64_t delay_ms);
void status_stop(struct work *work);

#endif
