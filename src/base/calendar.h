/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_CALENDAR_H
#define BASE_CALENDAR_H

/* Converts between dates of the proleptic Gregorian calendar and days since 1970-01-01. Pure. */

#include <stdbool.h>
#include <stdint.h>

struct calendar_date {
	int year, month, day; /* month and day from 1 */
};

bool calendar_is_leap(int year);
int calendar_days_in_month(int year, int month);     /* month 1 to 12 */
int64_t calendar_days(int year, int month, int day); /* since 1970-01-01; month 1 to 12 */
struct calendar_date calendar_date(int64_t days);    /* the inverse; |days| below 2^38 */
int calendar_weekday(int64_t days);                  /* 0: Sunday */

#endif
