/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/routes.h"

#include <stddef.h>

#include "serve/discovery.h"
#include "serve/explain/explain.h"
#include "serve/externalmetrics.h"
#include "serve/page/metricspage.h"
#include "serve/probes.h"
#include "serve/webhook.h"

#define BOTH    (ROUTE_SECURE | ROUTE_STATUS)
#define READ    "GET, HEAD"
#define V1BETA1 "/apis/external.metrics.k8s.io/v1beta1"

const struct route routes_all[] = {
	{ V1BETA1 "/namespaces/{namespace}/{metric}", ROUTE_KIND_METRIC, ROUTE_SECURE, ROUTE_METRIC, READ,
		externalmetrics_handle },

	{ "/", ROUTE_KIND_DISCOVERY, ROUTE_SECURE, ROUTE_PATH, READ, discovery_handle_paths },
	{ "/apis", ROUTE_KIND_DISCOVERY, ROUTE_SECURE, ROUTE_PATH, READ, discovery_handle_groups },
	{ "/apis/external.metrics.k8s.io", ROUTE_KIND_DISCOVERY, ROUTE_SECURE, ROUTE_PATH, READ,
		discovery_handle_group },
	{ V1BETA1, ROUTE_KIND_DISCOVERY, ROUTE_SECURE, ROUTE_PATH, READ, discovery_handle_resources },
	{ "/version", ROUTE_KIND_DISCOVERY, ROUTE_SECURE, ROUTE_PATH, READ, discovery_handle_version },
	{ "/openapi/v2", ROUTE_KIND_OPENAPI, ROUTE_SECURE, ROUTE_PATH, READ, discovery_handle_openapi_v2 },
	{ "/openapi/v3", ROUTE_KIND_OPENAPI, ROUTE_SECURE, ROUTE_PATH, READ, discovery_handle_openapi_v3 },
	{ "/openapi/v3" V1BETA1, ROUTE_KIND_OPENAPI, ROUTE_SECURE, ROUTE_PATH, READ,
		discovery_handle_openapi_v3_group },

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
	{ "/explain/scaledobjects/{namespace}/{name}", ROUTE_KIND_EXPLAIN, ROUTE_STATUS, ROUTE_FREE, READ,
		explain_handle_scaledobject },
	{ "/explain/scaledjobs/{namespace}/{name}", ROUTE_KIND_EXPLAIN, ROUTE_STATUS, ROUTE_FREE, READ,
		explain_handle_scaledjob },
	{ "/objects", ROUTE_KIND_EXPLAIN, ROUTE_STATUS, ROUTE_FREE, READ, explain_handle_list },
	{ 0 },
};
