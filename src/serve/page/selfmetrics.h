/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_PAGE_SELFMETRICS_H
#define SERVE_PAGE_SELFMETRICS_H

/*
 * Metrics of kscaled itself, computed at each scrape: the loop's longest turn since the last
 * scrape, the shared readings, connections, leadership, the Jobs that the leader watches, this
 * process.
 */

#include "base/buf.h"

struct serve;

void selfmetrics_write(const struct serve *s, struct buf *out);

#endif
