/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_HOST_STEPS_H
#define CLI_HOST_STEPS_H

/* What `kscaled join` and `kscaled leave` share: saying what each step did, and waiting. */

#include <stdint.h>

#include "base/err.h"

/* One line on standard output, at once: the next step may take long. */
void steps_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The value of --wait, 0s to 1h, in ms. ERR_INVALID names the option and the value. */
int steps_read_wait(const char *text, int64_t *out, struct err *err);

int64_t steps_now_ms(void); /* of a clock that nobody sets */
void steps_nap(void);       /* between two looks at something */

#endif
