/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cronexpr.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/calendar.h"

#define YEARS           5
#define STAR            (UINT64_C(1) << 63)
#define MINUTES_PER_DAY 1440
#define TEXT_MAX_LEN    1000
#define SHOWN           100 /* characters of a text in a message */

enum { DAY_OF_MONTH = 2, DAY_OF_WEEK = 4, FIELDS = 5 };

static const char *const month_names[] = { "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov",
	"dec", NULL };
static const char *const day_names[] = { "sun", "mon", "tue", "wed", "thu", "fri", "sat", NULL };

static const struct field {
	const char *name;
	unsigned least, most;
	const char *const *names; /* of `least` and the values after it; NULL: none */
	size_t place;             /* offset in struct cronexpr */
} fields[FIELDS] = {
	{ "minute", 0, 59, NULL, offsetof(struct cronexpr, minutes) },
	{ "hour", 0, 23, NULL, offsetof(struct cronexpr, hours) },
	{ "day of month", 1, 31, NULL, offsetof(struct cronexpr, days) },
	{ "month", 1, 12, month_names, offsetof(struct cronexpr, months) },
	{ "day of week", 0, 6, day_names, offsetof(struct cronexpr, weekdays) },
};

/* ---- Reading ---- */

/* A part of the expression `whole`. */
struct cron_piece {
	const char *whole, *start;
	size_t len;
};

static int wrong_piece(const struct cron_piece *p, const struct field *f, const char *what, struct err *err)
{
	return err_set(err, ERR_INVALID, "\"%.*s\": %s \"%.*s\" (character %zu): %s", SHOWN, p->whole, f->name,
		p->len < SHOWN ? (int)p->len : SHOWN, p->start, (size_t)(p->start - p->whole) + 1, what);
}

/* Splits p at the first `c`: returns the front; p becomes the rest, with start NULL without `c`. */
static struct cron_piece cut(struct cron_piece *p, char c)
{
	const char *at = memchr(p->start, c, p->len);
	struct cron_piece front = { p->whole, p->start, at ? (size_t)(at - p->start) : p->len };

	p->start = at ? at + 1 : NULL;
	p->len = at ? p->len - front.len - 1 : 0;
	return front;
}

static bool is_star(const struct cron_piece *p)
{
	return p->len == 1 && (*p->start == '*' || *p->start == '?');
}

static bool read_digits(const struct cron_piece *p, unsigned *out)
{
	unsigned value = 0;

	if (p->len == 0)
		return false;
	for (size_t i = 0; i < p->len; i++) {
		if (p->start[i] < '0' || p->start[i] > '9')
			return false;
		if (value < 1000000)
			value = value * 10 + (unsigned)(p->start[i] - '0');
	}
	*out = value;
	return true;
}

static int read_value(const struct cron_piece *p, const struct field *f, unsigned *out, struct err *err)
{
	for (unsigned i = 0; f->names && f->names[i]; i++) {
		if (p->len == strlen(f->names[i]) && strncasecmp(p->start, f->names[i], p->len) == 0) {
			*out = f->least + i;
			return 0;
		}
	}
	if (!read_digits(p, out))
		return wrong_piece(p, f,
			f->names == day_names ? "must be a number or a name as in mon"
				: f->names    ? "must be a number or a name as in jan"
					      : "must be a number",
			err);
	if (*out < f->least || *out > f->most) {
		char what[80];

		snprintf(what, sizeof(what), "must be from %u to %u%s", f->least, f->most,
			f->names == day_names ? " (Sunday is 0)" : "");
		return wrong_piece(p, f, what, err);
	}
	return 0;
}

/* The part before the step: a star, one value, or a range. */
static int read_range(struct cron_piece p, const struct field *f, bool has_step, unsigned *from, unsigned *to,
	struct err *err)
{
	struct cron_piece high = p, low = cut(&high, '-');

	if (is_star(&p)) {
		*from = f->least;
		*to = f->most;
		return 0;
	}
	if (read_value(&low, f, from, err))
		return -1;
	*to = has_step ? f->most : *from;
	if (high.start && read_value(&high, f, to, err))
		return -1;
	if (*from > *to)
		return wrong_piece(&p, f, "the range ends before it begins: write it as two, as in 5-6,0-1", err);
	return 0;
}

static int read_item(struct cron_piece p, const struct field *f, uint64_t *bits, struct err *err)
{
	struct cron_piece step = p, range = cut(&step, '/');
	unsigned from, to, by = 1;

	if (read_range(range, f, step.start != NULL, &from, &to, err))
		return -1;
	if (step.start && !read_digits(&step, &by))
		return wrong_piece(&step, f, "the step must be a number", err);
	if (by == 0)
		return wrong_piece(&step, f, "the step must be more than 0", err);
	for (unsigned i = from; i <= to; i += by)
		*bits |= UINT64_C(1) << i;
	if (is_star(&range) && by == 1)
		*bits |= STAR;
	return 0;
}

/* Empty items of a list are skipped, as in robfig/cron. */
static int read_field(const struct cron_piece *whole, const struct field *f, uint64_t *bits, struct err *err)
{
	struct cron_piece rest = *whole;

	*bits = 0;
	while (rest.start) {
		struct cron_piece item = cut(&rest, ',');

		if (item.len > 0 && read_item(item, f, bits, err))
			return -1;
	}
	return *bits ? 0 : wrong_piece(whole, f, "has no value", err);
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Reads the zone, if there is one; *at is where the fields begin. */
static int read_zone(const char *text, const char **at, struct cronexpr *e, struct err *err)
{
	size_t prefix = strncmp(text, "TZ=", 3) == 0 ? 3
		: strncmp(text, "CRON_TZ=", 8) == 0  ? 8
						     : 0,
	       len = strcspn(text + prefix, " ");

	*at = text;
	if (prefix == 0)
		return 0;
	if (text[prefix + len] == '\0')
		return err_set(err, ERR_INVALID, "\"%.*s\": the time zone must be followed by a blank and five fields",
			SHOWN, text);
	if (len == 0 || len >= sizeof(e->zone))
		return err_set(err, ERR_INVALID, "\"%.*s\": %s= names no time zone", SHOWN, text,
			prefix == 3 ? "TZ" : "CRON_TZ");
	memcpy(e->zone, text + prefix, len);
	*at = text + prefix + len;
	return 0;
}

static size_t split(const char *whole, const char *at, struct cron_piece pieces[FIELDS])
{
	size_t count = 0;

	for (;;) {
		const char *start;

		while (is_blank(*at))
			at++;
		if (!*at)
			return count;
		start = at;
		while (*at && !is_blank(*at))
			at++;
		if (count < FIELDS)
			pieces[count] = (struct cron_piece){ whole, start, (size_t)(at - start) };
		count++;
	}
}

int cronexpr_parse(const char *text, struct cronexpr *out, struct err *err)
{
	struct cron_piece pieces[FIELDS];
	struct cronexpr e = { .either = true };
	const char *at;
	size_t count;

	if (strlen(text) > TEXT_MAX_LEN)
		return err_set(err, ERR_INVALID, "\"%.*s...\" is longer than %d characters", SHOWN, text, TEXT_MAX_LEN);
	if (read_zone(text, &at, &e, err))
		return -1;
	count = split(text, at, pieces);
	if (count > 0 && pieces[0].start[0] == '@')
		return err_set(err, ERR_INVALID,
			"\"%.*s\": words such as @daily are not understood: write five fields, as in 0 6 * * 1-5",
			SHOWN, text);
	if (count != FIELDS)
		return err_set(err, ERR_INVALID,
			"\"%.*s\" has %zu field%s, not five: minute, hour, day of month, month, day of week", SHOWN,
			text, count, count == 1 ? "" : "s");
	for (size_t i = 0; i < FIELDS; i++) {
		uint64_t bits;

		if (read_field(&pieces[i], &fields[i], &bits, err))
			return -1;
		if (bits & STAR && (i == DAY_OF_MONTH || i == DAY_OF_WEEK))
			e.either = false;
		bits &= ~STAR;
		memcpy((char *)&e + fields[i].place, &bits, sizeof(bits));
	}
	*out = e;
	return 0;
}

/* ---- Properties ---- */

static bool has(uint64_t bits, int n)
{
	return bits >> n & 1;
}

bool cronexpr_can_fire(const struct cronexpr *e)
{
	if (e->either)
		return true;
	for (int month = 1; month <= 12; month++)
		if (has(e->months, month))
			for (int day = 1; day <= calendar_days_in_month(2000, month); day++)
				if (has(e->days, day))
					return true;
	return false;
}

#define ALL_DAYS     UINT64_C(0xfffffffe)
#define ALL_WEEKDAYS UINT64_C(0x7f)

static bool is_every_day(const struct cronexpr *e)
{
	if (e->either)
		return e->days == ALL_DAYS || e->weekdays == ALL_WEEKDAYS;
	return e->days == ALL_DAYS && e->weekdays == ALL_WEEKDAYS;
}

static bool same_days(const struct cronexpr *a, const struct cronexpr *b)
{
	if (is_every_day(a) || is_every_day(b))
		return is_every_day(a) && is_every_day(b);
	return a->days == b->days && a->weekdays == b->weekdays && a->either == b->either;
}

bool cronexpr_same(const struct cronexpr *a, const struct cronexpr *b)
{
	return a->minutes == b->minutes && a->hours == b->hours && a->months == b->months && same_days(a, b);
}

static bool is_day(const struct cronexpr *e, int64_t day, const struct calendar_date *date)
{
	bool by_date = has(e->days, date->day), by_weekday = has(e->weekdays, calendar_weekday(day));

	return e->either ? by_date || by_weekday : by_date && by_weekday;
}

/* ---- Searching, in minutes since 1970 of a local clock that does not jump ---- */

/* The nearest matching minute of the day from `minute` on, in direction `step`; -1: none. */
static int minute_of_day(const struct cronexpr *e, int minute, int step)
{
	while (minute >= 0 && minute < MINUTES_PER_DAY) {
		if (!has(e->hours, minute / 60))
			minute = step > 0 ? (minute / 60 + 1) * 60 : minute / 60 * 60 - 1;
		else if (!has(e->minutes, minute % 60))
			minute += step;
		else
			return minute;
	}
	return -1;
}

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

/* From `minute` in direction `step` to `end`, both inclusive. */
static bool search(const struct cronexpr *e, int64_t minute, int64_t end, int step, int64_t *out)
{
	int64_t day = floor_div(minute, MINUTES_PER_DAY), last_day = floor_div(end, MINUTES_PER_DAY);
	int from = (int)(minute - day * MINUTES_PER_DAY);

	while (step > 0 ? day <= last_day : day >= last_day) {
		struct calendar_date date = calendar_date(day);
		int found = has(e->months, date.month) && is_day(e, day, &date) ? minute_of_day(e, from, step) : -1;

		if (found >= 0) {
			*out = day * MINUTES_PER_DAY + found;
			return step > 0 ? *out <= end : *out >= end;
		}
		if (has(e->months, date.month))
			day += step;
		else
			day += step > 0 ? calendar_days_in_month(date.year, date.month) - date.day + 1 : -date.day;
		from = step > 0 ? 0 : MINUTES_PER_DAY - 1;
	}
	return false;
}

/* Beyond all years that matter, and without overflow. */
#define FAR_MS INT64_C(100000000000000)

static int64_t within_reach(int64_t unix_ms)
{
	return unix_ms > FAR_MS ? FAR_MS : unix_ms < -FAR_MS ? -FAR_MS : unix_ms;
}

/*
 * Searches from at_s in direction `step`, one period of the zone after the other, because within a
 * period the local clock does not jump; ends with the last year.
 */
static bool search_periods(const struct cronexpr *e, const struct zone *z, int64_t at_s, int step, int64_t *out_ms)
{
	bool forward = step > 0;
	struct zone_period p = zone_period(z, at_s);
	int end_year = calendar_date(floor_div(at_s + p.offset_s, 86400)).year + (forward ? YEARS + 1 : -YEARS);
	int64_t limit_s = calendar_days(end_year, 1, 1) * 86400, minute; /* of the local clock */

	for (;;) {
		int64_t edge_s = forward ? p.until_s : p.from_s, limit_here_s = limit_s - p.offset_s;
		bool last = forward ? edge_s >= limit_here_s : edge_s <= limit_here_s;
		int64_t end_s = last ? limit_s : edge_s + p.offset_s;
		/*
		 * Whole minutes from at_s on and before end_s; backwards, up to at_s and from end_s
		 * on.
		 */
		int64_t from = floor_div(at_s + p.offset_s + (forward ? 59 : 0), 60);

		if (search(e, from, floor_div(end_s + (forward ? -1 : 59), 60), step, &minute)) {
			*out_ms = (minute * 60 - p.offset_s) * 1000;
			return true;
		}
		if (last)
			return false;
		at_s = forward ? edge_s : edge_s - 1;
		p = zone_period(z, at_s);
	}
}

bool cronexpr_next(const struct cronexpr *e, const struct zone *z, int64_t unix_ms, int64_t *out_ms)
{
	return search_periods(e, z, floor_div(within_reach(unix_ms), 1000) + 1, 1, out_ms);
}

bool cronexpr_last(const struct cronexpr *e, const struct zone *z, int64_t unix_ms, int64_t *out_ms)
{
	return search_periods(e, z, floor_div(within_reach(unix_ms), 1000), -1, out_ms);
}
