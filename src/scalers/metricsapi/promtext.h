/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_METRICSAPI_PROMTEXT_H
#define SCALERS_METRICSAPI_PROMTEXT_H

/*
 * The value of the first series on a page of metrics (Prometheus' text format 0.0.4, and what
 * OpenMetrics adds: exemplars, # EOF, # UNIT, times with fractions, quoted names) that a selector
 * means. Read as it comes, nothing is built. A line that cannot be read is an error; CR LF is as
 * good as LF, and the last line may lack it: whether the page is whole, whoever asks must know.
 * Series are found under the names their lines begin with: those of histograms and summaries too
 * (name_bucket, name_sum, name_count), which KEDA never finds. NaN and infinities are no value.
 * Pure.
 */

#include <stddef.h>

#include "base/err.h"
#include "scalers/metricsapi/promselector.h"

struct promtext;

struct promtext *promtext_new(const struct promselector *selector /* borrowed until the end */);
void promtext_free(struct promtext *t); /* NULL is fine */
/* The next bytes of the page. -1: it is none, as promtext_end says; no more of it is wanted. */
int promtext_feed(struct promtext *t, const char *bytes, size_t len);
size_t promtext_kept(const struct promtext *t); /* bytes, until the end of the line comes */
/* There is no more. ERR_INVALID, without content of the page */
int promtext_end(struct promtext *t, double *out, struct err *err);

#endif
