/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_PAGE_METRICSPAGE_H
#define SERVE_PAGE_METRICSPAGE_H

/*
 * /metrics: all counters (base/counters), and metrics computed at each scrape: KEDA's, and those of
 * kscaled itself, such as the loop's longest turn since the last scrape, the shared readings,
 * connections, leadership, the Jobs that the leader watches, this process.
 */

struct request;

void metricspage_handle(struct request *r);

#endif
