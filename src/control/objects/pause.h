/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_OBJECTS_PAUSE_H
#define CONTROL_OBJECTS_PAUSE_H

/*
 * Keeps a paused object paused: no HPA, and the target at the paused replicas, if given, even if
 * others scale it, with at most one write per second.
 */

#include "base/err.h"
#include "crd/scaledobject.h"
#include "decide/annotations.h"

struct work;

enum pause_state {
	PAUSE_BUSY, /* a write was started, or something is not read yet; that leads to another reconcile */
	PAUSE_DONE,
	PAUSE_FAILED, /* *err */
};
/* target_err: why the target cannot be written, or NULL. */
enum pause_state pause_run(struct work *work, const struct scaledobject *so, const struct annotations *annotations,
	const struct err *target_err, struct err *err);
void pause_forget(struct work *work); /* the pause ended or another one began */

#endif
