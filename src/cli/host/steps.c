/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/host/steps.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "base/duration.h"

#define WAIT_MAX 3600000
#define LOOK_MS  500

void steps_report(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

int steps_read_wait(const char *text, int64_t *out, struct err *err)
{
	if (duration_parse(text, out, err) < 0)
		return err_wrap(err, "--wait");
	if (*out < 0 || *out > WAIT_MAX)
		return err_set(err, ERR_INVALID, "--wait: \"%.64s\" is out of range: 0s to 1h", text);
	return 0;
}

int64_t steps_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void steps_nap(void)
{
	struct timespec t = { .tv_nsec = LOOK_MS * 1000000L };

	nanosleep(&t, NULL);
}
