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
	struct calendar_date date;
	int hour, minute, second, milli;
};

static struct civil civil_of(int64_t unix_ms)
{
	struct civil c;

	if (unix_ms < EARLIEST_MS)
		unix_ms = EARLIEST_MS;
	if (unix_ms > LATEST_MS)
		unix_ms = LATEST_MS;
	int64_t days = unix_ms / MS_PER_DAY - (unix_ms % MS_PER_DAY < 0);
	int64_t rest = unix_ms - days * MS_PER_DAY;
	c.date = calendar_date(days);
	c.milli = (int)(rest % 1000);
	c.second = (int)(rest / 1000 % 60);
	c.minute = (int)(rest / 60000 % 60);
	c.hour = (int)(rest / 3600000);
	return c;
}

/* Reads exactly `count` digits and advances *p. */
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

/* ".678": the first three digits count. */
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
	return digits(&p, 4, &c->date.year) && literal(&p, '-') && digits(&p, 2, &c->date.month) && literal(&p, '-') &&
		digits(&p, 2, &c->date.day) && literal(&p, 'T') && digits(&p, 2, &c->hour) && literal(&p, ':') &&
		digits(&p, 2, &c->minute) && literal(&p, ':') && digits(&p, 2, &c->second) && fraction(&p, &c->milli) &&
		offset(&p, east_minutes) && *p == '\0';
}

int timestamp_parse(const char *text, int64_t *unix_ms, struct err *err)
{
	struct civil c;
	int east_minutes;

	if (!read_all(text, &c, &east_minutes))
		return err_set(err, ERR_INVALID, "\"%.64s\" is not a time like 2026-01-02T03:04:05Z", text);
	if (c.date.month < 1 || c.date.month > 12 || c.date.day < 1 ||
		c.date.day > calendar_days_in_month(c.date.year, c.date.month) || c.hour > 23 || c.minute > 59 ||
		c.second > 59)
		return err_set(err, ERR_INVALID, "\"%.64s\" names a time that does not exist", text);
	int64_t minutes = (calendar_days(c.date.year, c.date.month, c.date.day) * 24 + c.hour) * 60 + c.minute -
		east_minutes;
	*unix_ms = (minutes * 60 + c.second) * 1000 + c.milli;
	return 0;
}

/*
 * Writes `count` digits and `next`; returns the end. Not by printf, for speed: each answer of the
 * metrics API contains a time.
 */
static char *put_digits(char *out, int value, int count, char next)
{
	for (int i = count - 1; i >= 0; i--, value /= 10)
		out[i] = (char)('0' + value % 10);
	out[count] = next;
	return out + count + 1;
}

/* fraction_digits: 0, 3 or 6. */
static char *format(int64_t unix_ms, int fraction_digits, char *out)
{
	struct civil c = civil_of(unix_ms);
	char *end = put_digits(out, c.date.year, 4, '-');

	end = put_digits(end, c.date.month, 2, '-');
	end = put_digits(end, c.date.day, 2, 'T');
	end = put_digits(end, c.hour, 2, ':');
	end = put_digits(end, c.minute, 2, ':');
	end = put_digits(end, c.second, 2, fraction_digits ? '.' : 'Z');
	if (fraction_digits)
		end = put_digits(end, fraction_digits == 6 ? c.milli * 1000 : c.milli, fraction_digits, 'Z');
	*end = '\0';
	return out;
}

char *timestamp_format(int64_t unix_ms, char *out)
{
	return format(unix_ms, 0, out);
}

char *timestamp_format_milli(int64_t unix_ms, char *out)
{
	return format(unix_ms, 3, out);
}

char *timestamp_format_micro(int64_t unix_ms, char *out)
{
	return format(unix_ms, 6, out);
}

int64_t timestamp_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
