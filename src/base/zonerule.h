/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_ZONERULE_H
#define BASE_ZONERULE_H

/*
 * The recurring rule of a time zone: a POSIX TZ string ("CET-1CEST,M3.5.0,M10.5.0/3"), as at the
 * end of TZif files (RFC 9636, 3.3.1), with the extension that hours of a transition are -167 to
 * 167. A value; pure.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * A period of constant offset from UTC: from_s <= t < until_s, in seconds since 1970; INT64_MIN and
 * INT64_MAX: unbounded.
 */
struct zone_period {
	int64_t from_s, until_s;
	int32_t offset_s; /* east of Greenwich is positive */
};

enum zonerule_kind { ZONERULE_JULIAN, ZONERULE_DAY, ZONERULE_WEEKDAY };

/* A yearly transition. */
struct zonerule_change {
	enum zonerule_kind kind;
	/*
	 * JULIAN: 1 to 365, without leap days; DAY: 0 to 365, with them; WEEKDAY: 0 (Sunday) to 6
	 */
	int day;
	int week, month; /* of WEEKDAY: 1 to 5 (the last), 1 to 12 */
	int32_t time_s;  /* local time, from midnight of that day */
};

struct zonerule {
	int32_t standard_s, daylight_s; /* ahead of UTC */
	bool has_daylight;
	struct zonerule_change to_daylight, to_standard;
};

/* Parses all of text. ERR_INVALID names it. */
int zonerule_parse(const char *text, size_t len, struct zonerule *out, struct err *err);
struct zone_period zonerule_period(const struct zonerule *r, int64_t unix_s);

#endif
