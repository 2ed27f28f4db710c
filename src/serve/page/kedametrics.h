/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_PAGE_KEDAMETRICS_H
#define SERVE_PAGE_KEDAMETRICS_H

/*
 * KEDA's metrics under their own names (doc/keda.md 7.1), so that its dashboards and alerts go on
 * working: the cache's data, written at each scrape. Failures are counted in base/counters where
 * they occur.
 */

#include "base/buf.h"

struct serve;

void kedametrics_write(const struct serve *s, struct buf *out);

/*
 * Declares the counters of failed metric requests (control counts in the same families, and the
 * failures of ScaledJobs, which no HPA asks for), and drops those of deleted objects.
 */
void kedametrics_declare(struct serve *s);

#endif
