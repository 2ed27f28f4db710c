/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_METRICSAPI_PROMTEXT_H
#define SCALERS_METRICSAPI_PROMTEXT_H

/*
 * The value of the first series on a page of metrics (Prometheus' text format 0.0.4, and what
 * OpenMetrics adds: exemplars, # EOF, # UNIT, times with fractions, quoted names) that a selector
 * means. Read in one pass, nothing is built. A line that cannot be read is an error; CR LF is as
 * good as LF, and the last line may lack it: whether the page is whole, whoever asks must know.
 * Series are found under the names their lines begin with: those of histograms and summaries too
 * (name_bucket, name_sum, name_count), which KEDA never finds. NaN and infinities are no value.
 * Pure.
 */

#include <stddef.h>

#include "base/err.h"
#include "scalers/metricsapi/promselector.h"

/* ERR_INVALID, without content of the page */
int promtext_number(const struct promselector *selector, const char *page, size_t len, double *out, struct err *err);

#endif
