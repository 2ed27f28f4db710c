/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_PAGE_KEDAMETRICS_H
#define SERVE_PAGE_KEDAMETRICS_H

/*
 * KEDA's own metric names (keda-core.md 7.6), so that dashboards and alerts made for it go on
 * working: what the cache knows, written when somebody looks. Its counters are kept in
 * base/counters by whoever meets the failure.
 */

#include "base/buf.h"

struct serve;

void kedametrics_write(const struct serve *s, struct buf *out);

/*
 * Declares the error counters that a failed metric read counts up (control counts the same ones,
 * and those of ScaledJobs, which no HPA reads), and drops those of objects that go.
 */
void kedametrics_declare(struct serve *s);

#endif
