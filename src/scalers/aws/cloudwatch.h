/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_AWS_CLOUDWATCH_H
#define SCALERS_AWS_CLOUDWATCH_H

/*
 * Trigger type `aws-cloudwatch` (doc/keda.md 8.22): the newest point of a metric, or of an
 * expression over metrics.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* ---- Pure; public for tests and fuzzing ---- */

struct cloudwatch_window {
	int64_t start_s, end_s; /* since 1970 */
};
/*
 * The window in seconds; it ends at the start of the period of now_s - offset_s. period_s: above 0.
 */
struct cloudwatch_window cloudwatch_window(int64_t now_s, int64_t period_s, int64_t offset_s, int64_t length_s);

enum cloudwatch_found {
	CLOUDWATCH_VALUE,   /* the value is in *out */
	CLOUDWATCH_NOTHING, /* no metric, or no point */
	CLOUDWATCH_FAILED,  /* err says why */
};
/* The newest point of the first result. */
enum cloudwatch_found cloudwatch_read(const char *body, size_t len, double *out, struct err *err);

#endif
