/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_DURATION_H
#define BASE_DURATION_H

/*
 * Go durations ("15s", "1h30m", "1.5s", "300ms"; a bare "0") in milliseconds: what Kubernetes and
 * KEDA users write.
 */

#include <stdint.h>

#include "base/err.h"

/* Reads all of text; not negative; finer than 1 ms is rounded up. ERR_INVALID names the text. */
int duration_parse(const char *text, int64_t *ms, struct err *err);

#define DURATION_TEXT_MAX 40
char *duration_format(int64_t ms, char *out); /* "1m30s", "250ms"; returns out */

#endif
