/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_JOBS_JOBRECONCILE_H
#define CONTROL_JOBS_JOBRECONCILE_H

/* Reconciles a ScaledJob, like control/objects/reconcile a ScaledObject. */

struct work;

void jobreconcile_run(struct work *work);

#endif
