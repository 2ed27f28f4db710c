/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_CRONEXPR_H
#define BASE_CRONEXPR_H

/*
 * Cron expressions as KEDA reads them (the grammar of robfig/cron v3.0.1; keda-scalers.md A.6):
 * minute, hour, day of month, month, day of week. `*` and `?` are the same; lists, ranges `a-b`,
 * steps star/n, `a-b/n` and `a/n` (from a to the last); names of months and days. Days of the week
 * are 0 to 6. If day of month or day of week carries a star, both must match, else either suffices;
 * a step above 1 takes the star away. `TZ=<zone> ` or `CRON_TZ=<zone> ` before it names a zone of
 * its own. No seconds, no @daily, no L, W, #.
 *
 * It fires at each instant whose local minute, hour, day and month match, at second 0. So when
 * clocks go forward, what lies in the gap does not fire on that day, and when they go back, what is
 * repeated fires twice. A value; pure.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/zone.h"

#define CRONEXPR_ZONE_SIZE 128

struct cronexpr {
	uint64_t minutes, hours, days, months, weekdays; /* bit n: n matches */
	bool either;                                     /* day of month or day of week suffices */
	char zone[CRONEXPR_ZONE_SIZE];                   /* the name before it; "" */
};

/* ERR_INVALID names the expression, the field, and the character (from 1) where it is wrong. */
int cronexpr_parse(const char *text, struct cronexpr *out, struct err *err);

bool cronexpr_can_fire(const struct cronexpr *e); /* not so on 30 February */
/* they fire at the same local times, however written; zones are not looked at */
bool cronexpr_same(const struct cronexpr *a, const struct cronexpr *b);

/*
 * The first instant after `unix_ms`, not at it; the last one at it or before. false: none in the
 * years up to five from then.
 */
bool cronexpr_next(const struct cronexpr *e, const struct zone *z, int64_t unix_ms, int64_t *out_ms);
bool cronexpr_last(const struct cronexpr *e, const struct zone *z, int64_t unix_ms, int64_t *out_ms);

#endif
