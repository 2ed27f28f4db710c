/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_EXPOSITION_H
#define BASE_EXPOSITION_H

/*
 * Writes the Prometheus text format (version 0.0.4), for base/counters and for metrics that are
 * computed per scrape. Pure.
 */

#include "base/buf.h"

#define EXPOSITION_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* The HELP and TYPE lines. type: "counter", "gauge", "histogram". */
void exposition_family(struct buf *out, const char *name, const char *type, const char *help);

/*
 * One sample. label_names: NULL-terminated, or NULL; label_values: as many. Bytes that are not
 * UTF-8 are replaced, because a scraper would refuse the whole page.
 */
void exposition_sample(struct buf *out, const char *name, const char *const *label_names,
	const char *const *label_values, double value);

#endif
