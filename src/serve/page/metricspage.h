/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_PAGE_METRICSPAGE_H
#define SERVE_PAGE_METRICSPAGE_H

/*
 * /metrics: all counters (base/counters), and metrics computed at each scrape (loop, cache, this
 * process, KEDA's metrics).
 */

struct request;

void metricspage_handle(struct request *r);

#endif
