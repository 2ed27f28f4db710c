/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/cron/cronwindow.h"

static int64_t next(const struct cronexpr *e, const struct zone *z, int64_t unix_ms)
{
	int64_t at_ms;

	return cronexpr_next(e, z, unix_ms, &at_ms) ? at_ms : INT64_MAX;
}

static int64_t last(const struct cronexpr *e, const struct zone *z, int64_t unix_ms)
{
	int64_t at_ms;

	return cronexpr_last(e, z, unix_ms, &at_ms) ? at_ms : INT64_MIN;
}

bool cronwindow_is_open(const struct cronwindow *w, int64_t unix_ms)
{
	int64_t start_ms = last(&w->start, w->start_zone, unix_ms), end_ms = last(&w->end, w->end_zone, unix_ms);

	if (start_ms != end_ms)
		return start_ms > end_ms;
	return start_ms != INT64_MIN && next(&w->end, w->end_zone, unix_ms) <= next(&w->start, w->start_zone, unix_ms);
}

int64_t cronwindow_next_boundary(const struct cronwindow *w, int64_t unix_ms)
{
	int64_t start_ms = next(&w->start, w->start_zone, unix_ms), end_ms = next(&w->end, w->end_zone, unix_ms);

	return start_ms < end_ms ? start_ms : end_ms;
}
