/* SPDX-License-Identifier: Apache-2.0 */
#include "base/zonerule.h"

#include <string.h>

#include "base/calendar.h"

#define DAY_S            86400
#define HOURS_OFFSET_MAX 24
#define HOURS_CHANGE_MAX 167
#define DEFAULT_CHANGE_S 7200 /* 02:00 */
/* Beyond all years that matter, and without overflow. */
#define FAR_S (INT64_C(1) << 40)

/* The unread rest of the text. */
struct rule_text {
	const char *at, *end;
};

static bool take_char(struct rule_text *t, char c)
{
	if (t->at == t->end || *t->at != c)
		return false;
	t->at++;
	return true;
}

static bool is_digit(const struct rule_text *t)
{
	return t->at < t->end && *t->at >= '0' && *t->at <= '9';
}

static bool take_number(struct rule_text *t, int least, int most, int *out)
{
	int value = 0;

	if (!is_digit(t))
		return false;
	while (is_digit(t)) {
		value = value * 10 + (*t->at++ - '0');
		if (value > most)
			return false;
	}
	*out = value;
	return value >= least;
}

/* "CET", or "<+0330>". */
static bool take_name(struct rule_text *t)
{
	const char *start = t->at;
	bool quoted = take_char(t, '<');

	while (t->at < t->end && *t->at != '>' &&
		(quoted || (*t->at >= 'a' && *t->at <= 'z') || (*t->at >= 'A' && *t->at <= 'Z')))
		t->at++;
	if (quoted)
		return t->at - start > 1 && take_char(t, '>');
	return t->at - start >= 3;
}

/* [+-]hh[:mm[:ss]] in seconds. */
static bool take_time(struct rule_text *t, int hours_max, int32_t *out)
{
	bool negative = take_char(t, '-');
	int hours = 0, minutes = 0, seconds = 0;

	if (!negative)
		take_char(t, '+');
	if (!take_number(t, 0, hours_max, &hours))
		return false;
	if (take_char(t, ':')) {
		if (!take_number(t, 0, 59, &minutes))
			return false;
		if (take_char(t, ':') && !take_number(t, 0, 59, &seconds))
			return false;
	}
	*out = (hours * 60 + minutes) * 60 + seconds;
	if (negative)
		*out = -*out;
	return true;
}

/* In POSIX, west is positive. */
static bool take_offset(struct rule_text *t, int32_t *out)
{
	if (!take_time(t, HOURS_OFFSET_MAX, out))
		return false;
	*out = -*out;
	return true;
}

static bool take_change(struct rule_text *t, struct zonerule_change *c)
{
	bool read;

	c->time_s = DEFAULT_CHANGE_S;
	if (take_char(t, 'J')) {
		c->kind = ZONERULE_JULIAN;
		read = take_number(t, 1, 365, &c->day);
	} else if (take_char(t, 'M')) {
		c->kind = ZONERULE_WEEKDAY;
		read = take_number(t, 1, 12, &c->month) && take_char(t, '.') && take_number(t, 1, 5, &c->week) &&
			take_char(t, '.') && take_number(t, 0, 6, &c->day);
	} else {
		c->kind = ZONERULE_DAY;
		read = take_number(t, 0, 365, &c->day);
	}
	return read && (!take_char(t, '/') || take_time(t, HOURS_CHANGE_MAX, &c->time_s));
}

static bool take_daylight(struct rule_text *t, struct zonerule *r)
{
	r->has_daylight = true;
	r->daylight_s = r->standard_s + 3600;
	if (!take_name(t))
		return false;
	if (t->at < t->end && *t->at != ',' && !take_offset(t, &r->daylight_s))
		return false;
	return take_char(t, ',') && take_change(t, &r->to_daylight) && take_char(t, ',') &&
		take_change(t, &r->to_standard);
}

int zonerule_parse(const char *text, size_t len, struct zonerule *out, struct err *err)
{
	struct rule_text t = { text, text + len };
	struct zonerule r = { 0 };

	if (!take_name(&t) || !take_offset(&t, &r.standard_s) || (t.at < t.end && !take_daylight(&t, &r)) ||
		t.at != t.end)
		return err_set(err, ERR_INVALID, "\"%.*s\" is not a time zone rule", len < 64 ? (int)len : 64, text);
	*out = r;
	return 0;
}

/* The time of the transition, in seconds since 1970; offset_s: the offset before it. */
static int64_t change_s(const struct zonerule_change *c, int year, int32_t offset_s)
{
	int64_t day;

	switch (c->kind) {
	case ZONERULE_JULIAN: /* 60 is always 1 March */
		day = calendar_days(year, 1, 1) + c->day - 1 + (c->day >= 60 && calendar_is_leap(year));
		break;
	case ZONERULE_WEEKDAY:
		day = calendar_days(year, c->month, 1);
		day += (c->day - calendar_weekday(day) + 7) % 7 + (c->week - 1) * 7;
		if (day >= calendar_days(year, c->month, 1) + calendar_days_in_month(year, c->month))
			day -= 7;
		break;
	default: day = calendar_days(year, 1, 1) + c->day; break;
	}
	return day * DAY_S + c->time_s - offset_s;
}

struct zone_period zonerule_period(const struct zonerule *r, int64_t unix_s)
{
	struct zone_period p = { INT64_MIN, INT64_MAX, r->standard_s };
	int64_t near_s = unix_s > FAR_S ? FAR_S : unix_s < -FAR_S ? -FAR_S : unix_s;
	int year;

	if (!r->has_daylight)
		return p;
	year = calendar_date((near_s + r->standard_s) / DAY_S).year;
	/*
	 * Looks at the transitions of three years for the last before and the first after near_s.
	 * If both of a year coincide (permanent daylight saving time), daylight saving time
	 * applies.
	 */
	for (int i = year - 1; i <= year + 1; i++) {
		const int64_t at[] = { change_s(&r->to_standard, i, r->daylight_s),
			change_s(&r->to_daylight, i, r->standard_s) };

		for (int daylight = 0; daylight < 2; daylight++) {
			if (at[daylight] <= near_s && at[daylight] >= p.from_s) {
				p.from_s = at[daylight];
				p.offset_s = daylight ? r->daylight_s : r->standard_s;
			} else if (at[daylight] > near_s && at[daylight] < p.until_s) {
				p.until_s = at[daylight];
			}
		}
	}
	return p;
}
