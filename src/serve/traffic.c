/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/traffic.h"

#include "base/mem.h"
#include "base/text.h"

static const char *const kind_names[ROUTE_KINDS] = { "metric", "discovery", "openapi", "probe", "metrics", "admission",
	"insight", "unknown" };
static const char
	*const port_names[] = { [ROUTE_SECURE] = "secure", [ROUTE_STATUS] = "status", [ROUTE_SOCKET] = "socket" };
static const double bounds_s[] = { 0.00025, 0.001, 0.005, 0.025, 0.1, 0.5, 1, 3 };

/* Any text may be sent as a method; each must not become a series. */
static const char *known_method(const char *method)
{
	static const char *const methods[] = { "GET", "HEAD", "POST", NULL };

	return text_is_one_of(method, methods) ? method : "other";
}

struct traffic traffic_declare(struct counters *c)
{
	static const char *const request_labels[] = { "port", "path", "verb", "code", NULL },
				 *const path_label[] = { "path", NULL };

	return (struct traffic){
		.requests = counters_declare(c, COUNTERS_COUNTER, "kscaled_http_requests_total",
			"Requests answered, by port, kind of path, method and status code (499: the client left "
			"first).",
			request_labels),
		.seconds = counters_declare_histogram(c, "kscaled_http_request_duration_seconds",
			"Time from a complete request to its reply, by kind of path.", path_label, bounds_s,
			MEM_COUNT(bounds_s)),
	};
}

void traffic_count(const struct traffic *t, enum route_port port, enum route_kind kind, const char *method, int status,
	int64_t took_us)
{
	const char *path = kind_names[kind];
	const char code[] = { (char)('0' + status / 100 % 10), (char)('0' + status / 10 % 10),
		(char)('0' + status % 10), '\0' };

	counters_add(t->requests, (const char *const[]){ port_names[port], path, known_method(method), code }, 1);
	counters_observe(t->seconds, (const char *const[]){ path }, (double)took_us / 1e6);
}
