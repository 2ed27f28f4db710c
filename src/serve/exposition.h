/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_EXPOSITION_H
#define SERVE_EXPOSITION_H

/* The Prometheus text format (version 0.0.4) for what is only computed when somebody looks; what is counted as it happens is in base/counters. */

#include "base/buf.h"

#define EXPOSITION_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

void exposition_family(struct buf *out, const char *name, const char *type, const char *help);
/* label_names NULL-terminated (NULL: none), label_values as many. */
void exposition_sample(struct buf *out, const char *name, const char *const *label_names, const char *const *label_values, double value);

#endif
