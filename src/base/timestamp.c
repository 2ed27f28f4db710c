/* SPDX-License-Identifier: Apache-2.0 */
#include "base/timestamp.h"

#include <stdbool.h>
#include <time.h>

#include "base/calendar.h"

#define MS_PER_DAY INT64_C(86400000)
/* 0000-01-01T00:00:00Z and 9999-12-31T23:59:59.999Z: RFC 3339 has four digits for the year. */
#define EARLIEST_MS INT64_C(-62167219200000)
#define LATEST_MS   INT64_C(253402300799999)

struct civil {
	int year, month, day, hour, minute, second, milli;
};

static struct civil civil_of(int64_t unix_ms)
{
	struct calendar_date date;
	struct civil c;

	if (unix_ms < EARLIEST_MS)
		unix_ms = EARLIEST_MS;
	if (unix_ms > LATEST_MS)
		unix_ms = LATEST_MS;
	int64_t days = unix_ms / MS_PER_DAY;
	int64_t rest = unix_ms % MS_PER_DAY;
	if (rest < 0) {
		rest += MS_PER_DAY;
		days--;
	}
	date = calendar_date(days);
	c.year = date.year;
	c.month = date.month;
	c.day = date.day;
	c.milli = (int)(rest % 1000);
	c.second = (int)(rest / 1000 % 60);
	c.minute = (int)(rest / 60000 % 60);
	c.hour = (int)(rest / 3600000);
	return c;
}

/* Exactly `count` digits; moves *p behind them. */
static bool digits(const char **p, int count, int *out)
{
	int value = 0;

	for (int i = 0; i < count; i++, (*p)++) {
		if (**p < '0' || **p > '9')
			return false;
		value = value * 10 + (**p - '0');
	}
	*out = value;
	return true;
}

static bool literal(const char **p, char c)
{
	if (**p != c)
		return false;
	(*p)++;
	return true;
}

/* ".678": any number of digits, of which three count. */
static bool fraction(const char **p, int *milli)
{
	int worth = 100;

	*milli = 0;
	if (**p != '.')
		return true;
	(*p)++;
	if (**p < '0' || **p > '9')
		return false;
	for (; **p >= '0' && **p <= '9'; (*p)++) {
		*milli += (**p - '0') * worth;
		worth /= 10;
	}
	return true;
}

/* "Z" or "+02:00", in minutes east of UTC. */
static bool offset(const char **p, int *minutes)
{
	int hour, minute;
	char sign = **p;

	*minutes = 0;
	if (literal(p, 'Z'))
		return true;
	if (!literal(p, '+') && !literal(p, '-'))
		return false;
	if (!digits(p, 2, &hour) || !literal(p, ':') || !digits(p, 2, &minute) || hour > 23 || minute > 59)
		return false;
	*minutes = (hour * 60 + minute) * (sign == '-' ? -1 : 1);
	return true;
}

static bool read_all(const char *p, struct civil *c, int *east_minutes)
{
	return digits(&p, 4, &c->year) && literal(&p, '-') && digits(&p, 2, &c->month) && literal(&p, '-') &&
		digits(&p, 2, &c->day) && literal(&p, 'T') && digits(&p, 2, &c->hour) && literal(&p, ':') &&
		digits(&p, 2, &c->minute) && literal(&p, ':') && digits(&p, 2, &c->second) && fraction(&p, &c->milli) &&
		offset(&p, east_minutes) && *p == '\0';
}

int timestamp_parse(const char *text, int64_t *unix_ms, struct err *err)
{
	struct civil c;
	int east_minutes;

	if (!read_all(text, &c, &east_minutes))
		return err_set(err, ERR_INVALID, "\"%.64s\" is no time like 2026-01-02T03:04:05Z", text);
	if (c.month < 1 || c.month > 12 || c.day < 1 || c.day > calendar_days_in_month(c.year, c.month) ||
		c.hour > 23 || c.minute > 59 || c.second > 59)
		return err_set(err, ERR_INVALID, "\"%.64s\" names a time that does not exist", text);
	int64_t minutes = (calendar_days(c.year, c.month, c.day) * 24 + c.hour) * 60 + c.minute - east_minutes;
	*unix_ms = (minutes * 60 + c.second) * 1000 + c.milli;
	return 0;
}

/*
 * `count` digits and what follows them; returns where to go on. By hand: each answer of the metrics
 * API carries a time.
 */
static char *put(char *out, int value, int count, char next)
{
	for (int i = count - 1; i >= 0; i--, value /= 10)
		out[i] = (char)('0' + value % 10);
	out[count] = next;
	return out + count + 1;
}

/* Up to the seconds, with `next` behind them. */
static char *put_seconds(const struct civil *c, char *out, char next)
{
	out = put(out, c->year, 4, '-');
	out = put(out, c->month, 2, '-');
	out = put(out, c->day, 2, 'T');
	out = put(out, c->hour, 2, ':');
	out = put(out, c->minute, 2, ':');
	return put(out, c->second, 2, next);
}

char *timestamp_format(int64_t unix_ms, char *out)
{
	struct civil c = civil_of(unix_ms);

	*put_seconds(&c, out, 'Z') = '\0';
	return out;
}

char *timestamp_format_milli(int64_t unix_ms, char *out)
{
	struct civil c = civil_of(unix_ms);

	*put(put_seconds(&c, out, '.'), c.milli, 3, 'Z') = '\0';
	return out;
}

char *timestamp_format_micro(int64_t unix_ms, char *out)
{
	struct civil c = civil_of(unix_ms);

	*put(put_seconds(&c, out, '.'), c.milli * 1000, 6, 'Z') = '\0';
	return out;
}

int64_t timestamp_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
