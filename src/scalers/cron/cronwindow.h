/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_CRON_CRONWINDOW_H
#define SCALERS_CRON_CRONWINDOW_H

/*
 * Decides whether a time window is open. A start opens it at that instant, and the next end closes
 * it at that instant; so it is open when the most recent boundary was a start.
 *
 * KEDA instead looks at the next boundary and takes the window for open when that is an end. Both
 * agree while starts and ends alternate. They differ when several ends or several starts follow
 * each other: with starts on weekdays and an end on each day KEDA's window is open all weekend,
 * because on Saturday the next boundary is an end (kedacore/keda#4677). When the last start and the
 * last end are the same instant, KEDA's rule decides. Pure.
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
/* the next start or end after unix_ms; INT64_MAX: none in the next years */
int64_t cronwindow_next_boundary(const struct cronwindow *w, int64_t unix_ms);

#endif
