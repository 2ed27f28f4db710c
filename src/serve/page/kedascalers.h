/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_PAGE_KEDASCALERS_H
#define SERVE_PAGE_KEDASCALERS_H

/*
 * The part of serve/page/kedametrics about triggers, of ScaledObjects and of ScaledJobs: the values
 * that the HPA, or the number of Jobs, is computed from. Written from memory: a scrape asks no
 * source.
 */

#include "base/buf.h"
#include "scalers/scaler.h"

struct serve;

/*
 * The labels that all keda_scaler_* have, NULL-terminated: namespace, metric, scaledObject (also
 * for a ScaledJob), scaler, triggerIndex, type ("scaledobject", "scaledjob").
 */
extern const char *const kedascalers_labels[];

/* The label `scaler`: the trigger's name, or the name of KEDA's own type. Borrowed. */
const char *kedascalers_name(const struct scaler *scaler);

void kedascalers_write(const struct serve *s, struct buf *out);

#endif
