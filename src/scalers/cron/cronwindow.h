/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_CRON_CRONWINDOW_H
#define SCALERS_CRON_CRONWINDOW_H

/*
 * Whether a time window is open: a start opens it, the first end after that closes it, from the
 * start's instant on and until just before the end's. So it is open when the last boundary that
 * went by was a start.
 *
 * KEDA asks which boundary comes next, and takes the window for open when that is an end. Both say
 * the same as long as starts and ends take turns. They differ when several ends, or several starts,
 * follow each other: with starts on weekdays and an end on each day KEDA's window is open all
 * weekend, since on Saturday the next boundary is an end (kedacore/keda#4677). Where a start and an
 * end fall on the same instant the last boundary says nothing, and KEDA's rule decides. Pure.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/cronexpr.h"
#include "base/zone.h"

struct cronwindow { /* borrows the zones */
	struct cronexpr start, end;
	const struct zone *start_zone, *end_zone;
};

bool cronwindow_is_open(const struct cronwindow *w, int64_t unix_ms);
/* of either kind, after unix_ms; INT64_MAX: none in the next years */
int64_t cronwindow_next_boundary(const struct cronwindow *w, int64_t unix_ms);

#endif
