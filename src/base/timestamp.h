/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_TIMESTAMP_H
#define BASE_TIMESTAMP_H

/*
 * Points in time. Wall clock in milliseconds since 1970 (UTC) for what is written to Kubernetes;
 * the loop has a monotonic clock of its own (net/loop.h) for intervals. RFC 3339 as metav1.Time
 * (whole seconds) and metav1.MicroTime write it.
 */

#include <stdint.h>

#include "base/err.h"

#define TIMESTAMP_TEXT_MAX 40

/* any offset, any fraction; ERR_INVALID names the text */
int timestamp_parse(const char *text, int64_t *unix_ms, struct err *err);
char *timestamp_format(int64_t unix_ms, char *out);       /* "2026-01-02T03:04:05Z"; returns out */
char *timestamp_format_micro(int64_t unix_ms, char *out); /* "2026-01-02T03:04:05.678000Z"; returns out */
char *timestamp_format_milli(int64_t unix_ms, char *out); /* "2026-01-02T03:04:05.678Z" (the log); returns out */
int64_t timestamp_now_ms(void);                           /* the wall clock */

#endif
