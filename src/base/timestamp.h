/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_TIMESTAMP_H
#define BASE_TIMESTAMP_H

/*
 * Points in time, in milliseconds since 1970 (UTC), for what is written to Kubernetes; intervals
 * are measured by the loop's monotonic clock (net/loop.h). Texts are RFC 3339, like metav1.Time
 * (whole seconds) and metav1.MicroTime.
 */

#include <stdint.h>

#include "base/err.h"

#define TIMESTAMP_TEXT_MAX 40

/* any offset; a fraction is cut to ms; ERR_INVALID names the text */
int timestamp_parse(const char *text, int64_t *unix_ms, struct err *err);
/* Each writes to out (at least TIMESTAMP_TEXT_MAX bytes) and returns it. */
char *timestamp_format(int64_t unix_ms, char *out);       /* "2026-01-02T03:04:05Z" */
char *timestamp_format_micro(int64_t unix_ms, char *out); /* "2026-01-02T03:04:05.678000Z" */
char *timestamp_format_milli(int64_t unix_ms, char *out); /* "2026-01-02T03:04:05.678Z" */
int64_t timestamp_now_ms(void);                           /* the wall clock */

#endif
