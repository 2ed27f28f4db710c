/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/router.h"

#include <string.h>

#include "serve/discovery.h"
#include "serve/explain.h"
#include "serve/externalmetrics.h"
#include "serve/metricspage.h"
#include "serve/probes.h"
#include "serve/webhook.h"

#define BOTH (ROUTE_SECURE | ROUTE_STATUS)
#define READ "GET, HEAD"
#define V1BETA1 "/apis/external.metrics.k8s.io/v1beta1"

/* The first that fits counts; the busiest stands first. */
static const struct route routes[] = {
	{ V1BETA1 "/namespaces/{namespace}/{metric}", ROUTE_KIND_METRIC, ROUTE_SECURE, ROUTE_METRIC, READ, externalmetrics_handle },

	{ "/", ROUTE_KIND_DISCOVERY, ROUTE_SECURE, ROUTE_PATH, READ, discovery_handle_paths },
	{ "/apis", ROUTE_KIND_DISCOVERY, ROUTE_SECURE, ROUTE_PATH, READ, discovery_handle_groups },
	{ "/apis/external.metrics.k8s.io", ROUTE_KIND_DISCOVERY, ROUTE_SECURE, ROUTE_PATH, READ, discovery_handle_group },
	{ V1BETA1, ROUTE_KIND_DISCOVERY, ROUTE_SECURE, ROUTE_PATH, READ, discovery_handle_resources },
	{ "/version", ROUTE_KIND_DISCOVERY, ROUTE_SECURE, ROUTE_PATH, READ, discovery_handle_version },
	{ "/openapi/v2", ROUTE_KIND_OPENAPI, ROUTE_SECURE, ROUTE_PATH, READ, discovery_handle_openapi_v2 },
	{ "/openapi/v3", ROUTE_KIND_OPENAPI, ROUTE_SECURE, ROUTE_PATH, READ, discovery_handle_openapi_v3 },
	{ "/openapi/v3" V1BETA1, ROUTE_KIND_OPENAPI, ROUTE_SECURE, ROUTE_PATH, READ, discovery_handle_openapi_v3_group },

	{ WEBHOOK_SCALEDOBJECT, ROUTE_KIND_ADMISSION, ROUTE_SECURE, ROUTE_FREE, "POST", webhook_handle },
	{ WEBHOOK_SCALEDJOB, ROUTE_KIND_ADMISSION, ROUTE_SECURE, ROUTE_FREE, "POST", webhook_handle },
	{ WEBHOOK_TRIGGERAUTH, ROUTE_KIND_ADMISSION, ROUTE_SECURE, ROUTE_FREE, "POST", webhook_handle },
	{ WEBHOOK_CLUSTERTRIGGERAUTH, ROUTE_KIND_ADMISSION, ROUTE_SECURE, ROUTE_FREE, "POST", webhook_handle },

	{ "/healthz", ROUTE_KIND_PROBE, BOTH, ROUTE_FREE, READ, probes_handle_health },
	{ "/healthz/{check}", ROUTE_KIND_PROBE, BOTH, ROUTE_FREE, READ, probes_handle_health },
	{ "/livez", ROUTE_KIND_PROBE, BOTH, ROUTE_FREE, READ, probes_handle_live },
	{ "/livez/{check}", ROUTE_KIND_PROBE, BOTH, ROUTE_FREE, READ, probes_handle_live },
	{ "/readyz", ROUTE_KIND_PROBE, BOTH, ROUTE_FREE, READ, probes_handle_ready },
	{ "/readyz/{check}", ROUTE_KIND_PROBE, BOTH, ROUTE_FREE, READ, probes_handle_ready },
	{ "/metrics", ROUTE_KIND_SCRAPE, BOTH, ROUTE_PATH, READ, metricspage_handle },

	{ "/explain/{namespace}/{name}", ROUTE_KIND_EXPLAIN, ROUTE_STATUS, ROUTE_FREE, READ, explain_handle_any },
	{ "/explain/scaledobjects/{namespace}/{name}", ROUTE_KIND_EXPLAIN, ROUTE_STATUS, ROUTE_FREE, READ, explain_handle_scaledobject },
	{ "/explain/scaledjobs/{namespace}/{name}", ROUTE_KIND_EXPLAIN, ROUTE_STATUS, ROUTE_FREE, READ, explain_handle_scaledjob },
	{ "/objects", ROUTE_KIND_EXPLAIN, ROUTE_STATUS, ROUTE_FREE, READ, explain_handle_list },
};

#define ROUTES (sizeof(routes) / sizeof(routes[0]))

const char *route_kind_name(enum route_kind kind)
{
	static const char *const names[ROUTE_KINDS] = { "metric", "discovery", "openapi", "probe", "metrics", "admission", "explain", "unknown" };

	return names[kind];
}

/* Pattern and path, segment by segment; both begin with a slash. */
static bool fits(const char *pattern, const char *path, struct route_parts *parts)
{
	parts->count = 0;
	for (;;) {
		size_t len;

		if (*pattern != '{') {
			while (*pattern && *pattern == *path && *pattern != '{')
				pattern++, path++;
			if (*pattern != '{')
				return !*pattern && (!*path || !strcmp(path, "/"));
		}
		len = strcspn(path, "/");
		if (!len)
			return false;
		parts->list[parts->count].text = path;
		parts->list[parts->count++].len = len;
		path += len;
		pattern += strcspn(pattern, "}") + 1;
	}
}

const struct route *router_find(enum route_port port, const char *raw_path, struct route_parts *parts)
{
	for (size_t i = 0; i < ROUTES; i++)
		if (routes[i].ports & port && fits(routes[i].pattern, raw_path, parts))
			return &routes[i];
	parts->count = 0;
	return NULL;
}

bool router_allows(const struct route *route, const char *method)
{
	size_t len = strlen(method);

	for (const char *at = route->methods; *at; at += strspn(at, ", ")) {
		size_t n = strcspn(at, ",");

		if (n == len && !memcmp(at, method, len))
			return true;
		at += n;
	}
	return false;
}

void router_each(enum route_port port, void (*fn)(void *arg, const struct route *route), void *arg)
{
	for (size_t i = 0; i < ROUTES; i++)
		if (routes[i].ports & port)
			fn(arg, &routes[i]);
}
