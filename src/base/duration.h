/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_DURATION_H
#define BASE_DURATION_H

/*
 * Durations as Go, and so Kubernetes and KEDA, write them ("15s", "1h30m", "1.5s", "300ms", "0"),
 * in milliseconds. Pure.
 */

#include <stdint.h>

#include "base/err.h"

/* Parses all of text; rounds up to whole ms. ERR_INVALID (also if negative) names the text. */
int duration_parse(const char *text, int64_t *ms, struct err *err);

#define DURATION_TEXT_MAX 40
char *duration_format(int64_t ms, char *out); /* "1m30s", "250ms"; DURATION_TEXT_MAX bytes; returns out */

#endif
