/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_METRICSAPI_PROMTEXT_H
#define SCALERS_METRICSAPI_PROMTEXT_H

/*
 * Finds the first series on a metric page that a selector matches, and reads its value. Formats:
 * Prometheus text 0.0.4, and from OpenMetrics exemplars, # EOF, # UNIT, fractional times and quoted
 * names. Parsed as it arrives; nothing is stored. An unreadable line is an error; CR LF is
 * accepted, and the last line may lack its end: the caller must know whether the page is complete.
 * Series of histograms and summaries are found under their full names (name_bucket, name_sum,
 * name_count), which KEDA never finds. NaN and infinity are errors. Pure.
 */

#include <stddef.h>

#include "base/err.h"
#include "scalers/metricsapi/promselector.h"

struct promtext;

struct promtext *promtext_new(const struct promselector *selector /* borrowed until the end */);
void promtext_free(struct promtext *t); /* NULL is fine */
/* Parses the next bytes. -1: the page is invalid, promtext_end says why; do not feed more. */
int promtext_feed(struct promtext *t, const char *bytes, size_t len);
size_t promtext_buffered(const struct promtext *t); /* bytes buffered until the line ends */
/* Ends the page. ERR_INVALID without content of the page. */
int promtext_end(struct promtext *t, double *out, struct err *err);

#endif
