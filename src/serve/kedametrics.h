/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_KEDAMETRICS_H
#define SERVE_KEDAMETRICS_H

/*
 * KEDA's own metric names (keda-core.md 7.6), so that dashboards and alerts made for it go on working: what the cache knows, written when somebody looks. Its counters are
 * kept in base/counters by whoever meets the failure.
 */

#include "base/buf.h"
#include "scalers/scaler.h"

struct serve;

void kedametrics_write(const struct serve *s, struct buf *out);

/* The label `scaler`: the trigger's name, or the name KEDA's own type has. Borrowed. */
const char *kedametrics_scaler_label(const struct scaler *scaler);

/* Declares the error counters that a failed metric read counts up (control counts the same ones), and drops those of objects that go. */
void kedametrics_declare(struct serve *s);

#endif
