/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_PAGE_METRICSPAGE_H
#define SERVE_PAGE_METRICSPAGE_H

/*
 * /metrics: everything that was counted (base/counters) and what is computed when somebody looks
 * (the loop, the cache, this process, KEDA's names).
 */

struct request;

void metricspage_handle(struct request *r);

#endif
