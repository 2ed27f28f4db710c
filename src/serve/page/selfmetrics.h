/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_PAGE_SELFMETRICS_H
#define SERVE_PAGE_SELFMETRICS_H

/*
 * How kscaled itself is doing, computed when somebody looks: the loop's longest turn (since the
 * last look), the shared readings, connections, leadership, the Jobs that its leader watches, this
 * process.
 */

#include "base/buf.h"

struct serve;

void selfmetrics_write(const struct serve *s, struct buf *out);

#endif
