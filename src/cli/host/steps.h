/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_HOST_STEPS_H
#define CLI_HOST_STEPS_H

/* Shared by `kscaled join` and `kscaled leave`: reporting steps, and waiting. */

#include <stdint.h>

#include "base/err.h"

/* Prints one line and flushes it: the next step may take long. */
void steps_report(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The value of --wait, 0s to 1h, in ms. ERR_INVALID names the option and the value. */
int steps_read_wait(const char *text, int64_t *out, struct err *err);

int64_t steps_now_ms(void); /* of a monotonic clock */
void steps_nap(void);       /* between two polls */

#endif
