/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_CRONEXPR_H
#define BASE_CRONEXPR_H

/*
 * Cron expressions as KEDA reads them (the grammar of robfig/cron v3.0.1; doc/keda.md 8.16):
 * minute, hour, day of month, month, day of week. `*` and `?` are the same; lists, ranges `a-b`,
 * steps star/n, `a-b/n` and `a/n` (from a to the maximum); names of months and days. Days of the
 * week are 0 to 6. If day of month or day of week is a star, both must match, else one of them; a
 * star with a step above 1 does not count as one. `TZ=<zone> ` or `CRON_TZ=<zone> ` before the
 * fields names a time zone. No seconds, no @daily, no L, W, #.
 *
 * An expression fires at second 0 of each minute whose local time matches. Times in the gap when
 * clocks go forward do not fire; times that come twice when they go back fire twice. A value; pure.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/zone.h"

#define CRONEXPR_ZONE_SIZE 128

struct cronexpr {
	uint64_t minutes, hours, days, months, weekdays; /* bit n: n matches */
	bool either;                                     /* day of month or day of week suffices */
	char zone[CRONEXPR_ZONE_SIZE];                   /* its own time zone; "": none */
};

/* ERR_INVALID names the expression, the field, and the character (from 1) where it is wrong. */
int cronexpr_parse(const char *text, struct cronexpr *out, struct err *err);

/* false: no date matches, for example 30 February */
bool cronexpr_can_fire(const struct cronexpr *e);
/* whether both fire at the same local times, however written; ignores their zones */
bool cronexpr_same(const struct cronexpr *a, const struct cronexpr *b);

/*
 * The first instant after unix_ms; the last one at or before it. false: there is none up to the end
 * of the fifth year after, or from the start of the fifth year before.
 */
bool cronexpr_next(const struct cronexpr *e, const struct zone *z, int64_t unix_ms, int64_t *out_ms);
bool cronexpr_last(const struct cronexpr *e, const struct zone *z, int64_t unix_ms, int64_t *out_ms);

#endif
