/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/exchanges.h"

#include <stdio.h>

#include "base/mem.h"

/* KEDA's. */
static const double bounds_s[] = { 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10 };

static void on_exchange(void *arg, const char *asker, int status, int64_t took_ms)
{
	const struct exchanges *e = arg;
	char code[12] = "error";

	if (status > 0)
		snprintf(code, sizeof(code), "%d", status);
	counters_add(e->requests, (const char *const[]){ asker, code }, 1);
	counters_observe(e->seconds, (const char *const[]){ asker, code }, (double)took_ms / 1000);
}

void exchanges_count(struct webget *web, struct exchanges *e, struct counters *counters)
{
	static const char *const labels[] = { "scaler", "status_code", NULL };

	if (!counters)
		return;
	e->requests = counters_declare(counters, COUNTERS_COUNTER, "keda_scaler_http_requests_total",
		"Requests to sources over HTTP, by trigger type and status code.", labels);
	e->seconds = counters_declare_histogram(counters, "keda_scaler_http_request_duration_seconds",
		"From a request sent to its answer, or to its failure.", labels, bounds_s, MEM_COUNT(bounds_s));
	webget_watch(web, on_exchange, e);
}
