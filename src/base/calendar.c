/* SPDX-License-Identifier: Apache-2.0 */
#include "base/calendar.h"

#define DAYS_PER_ERA 146097 /* 400 years */

bool calendar_is_leap(int year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int calendar_days_in_month(int year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

	return month == 2 && calendar_is_leap(year) ? 29 : days[month - 1];
}

/* By eras of 400 years that begin on 1 March, so that the leap day is the last of its year. */
int64_t calendar_days(int year, int month, int day)
{
	int y = month <= 2 ? year - 1 : year;
	int era = (y >= 0 ? y : y - 399) / 400;
	int year_of_era = y - era * 400;
	int day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
	int day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;

	return (int64_t)era * DAYS_PER_ERA + day_of_era - 719468;
}

struct calendar_date calendar_date(int64_t days)
{
	int64_t shifted = days + 719468;
	int64_t era = (shifted >= 0 ? shifted : shifted - (DAYS_PER_ERA - 1)) / DAYS_PER_ERA;
	int day_of_era = (int)(shifted - era * DAYS_PER_ERA);
	int year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / (DAYS_PER_ERA - 1)) / 365;
	int day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	int shifted_month = (5 * day_of_year + 2) / 153;
	int month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;

	return (struct calendar_date){
		.year = (int)(era * 400) + year_of_era + (month <= 2 ? 1 : 0),
		.month = month,
		.day = day_of_year - (153 * shifted_month + 2) / 5 + 1,
	};
}

/* 1970-01-01 was a Thursday. */
int calendar_weekday(int64_t days)
{
	int64_t rest = (days + 4) % 7;

	return (int)(rest < 0 ? rest + 7 : rest);
}
