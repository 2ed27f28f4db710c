/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_EXCHANGES_H
#define SCALERS_EXCHANGES_H

/*
 * Counts what scalers ask over HTTP, under KEDA's names (keda-core.md 7.6):
 * keda_scaler_http_requests_total and keda_scaler_http_request_duration_seconds, by trigger type
 * and status code ("error": no answer came). KEDA's labels of object and trigger are not there: one
 * request answers all triggers that ask the same.
 */

#include "base/counters.h"
#include "net/web/webget.h"

struct exchanges {
	struct counters_family *requests, *seconds;
};

/* From now on; *e lives as long as web. counters NULL: nothing is counted. */
void exchanges_count(struct webget *web, struct exchanges *e, struct counters *counters);

#endif
