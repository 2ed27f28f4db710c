/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_EXPOSITION_H
#define BASE_EXPOSITION_H

/*
 * Writes the Prometheus text format (version 0.0.4): what is counted as it happens (base/counters),
 * and what is only computed when somebody looks. Pure.
 */

#include "base/buf.h"

#define EXPOSITION_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* type: "counter", "gauge", "histogram". */
void exposition_family(struct buf *out, const char *name, const char *type, const char *help);

/*
 * label_names NULL-terminated (NULL: none), label_values as many. Bytes that are no UTF-8 are
 * replaced: one of them would make a scraper refuse the whole page.
 */
void exposition_sample(struct buf *out, const char *name, const char *const *label_names,
	const char *const *label_values, double value);

#endif
