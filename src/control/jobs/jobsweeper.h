/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_JOBS_JOBSWEEPER_H
#define CONTROL_JOBS_JOBSWEEPER_H

/* Deletes finished Jobs beyond the history limits, and Jobs of an earlier version. */

#include "base/err.h"
#include "crd/scaledjob.h"

struct work;

enum sweep_state {
	SWEEP_DONE,   /* the loop may go on; deletes for the history may be under way */
	SWEEP_BUSY,   /* Jobs of an earlier version are being deleted; the end leads to a reconcile */
	SWEEP_FAILED, /* a delete failed, see *err; tried again after a back-off */
};
enum sweep_state jobsweeper_run(struct work *work, const struct scaledjob *sj, struct err *err);
void jobsweeper_stop(struct work *work);
void jobsweeper_forgive(struct work *work); /* ends the back-off of a round that failed */

#endif
