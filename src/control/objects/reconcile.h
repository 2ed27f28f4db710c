/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_OBJECTS_RECONCILE_H
#define CONTROL_OBJECTS_RECONCILE_H

/* Makes the cluster match a ScaledObject, one write at a time. */

struct work;

void reconcile_run(struct work *work); /* starts the first write that is missing */

#endif
