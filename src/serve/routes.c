/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/routes.h"

#include <stddef.h>

#include "serve/discovery.h"
#include "serve/documents.h"
#include "serve/explain/explain.h"
#include "serve/externalmetrics.h"
#include "serve/nearnames.h"
#include "serve/page/metricspage.h"
#include "serve/probes.h"
#include "serve/webhook.h"

#define BOTH    (ROUTE_SECURE | ROUTE_STATUS)
#define READ    "GET, HEAD"
#define V1BETA1 "/apis/external.metrics.k8s.io/v1beta1"

const struct route routes_all[] = {
	{ V1BETA1 "/namespaces/{namespace}/{metric}", ROUTE_KIND_METRIC, ROUTE_SECURE, ROUTE_METRIC, READ,
		externalmetrics_handle, 0 },

	{ "/", ROUTE_KIND_DISCOVERY, ROUTE_SECURE, ROUTE_PATH, READ, discovery_handle_paths, 0 },
	{ "/apis", ROUTE_KIND_DISCOVERY, ROUTE_SECURE, ROUTE_PATH, READ, discovery_handle_groups, 0 },
	{ "/apis/external.metrics.k8s.io", ROUTE_KIND_DISCOVERY, ROUTE_SECURE, ROUTE_PATH, READ, discovery_handle,
		DOCUMENT_GROUP },
	{ V1BETA1, ROUTE_KIND_DISCOVERY, ROUTE_SECURE, ROUTE_PATH, READ, discovery_handle, DOCUMENT_RESOURCES },
	{ "/version", ROUTE_KIND_DISCOVERY, ROUTE_SECURE, ROUTE_PATH, READ, discovery_handle, DOCUMENT_VERSION },
	{ "/openapi/v2", ROUTE_KIND_OPENAPI, ROUTE_SECURE, ROUTE_PATH, READ, discovery_handle, DOCUMENT_OPENAPI_V2 },
	{ "/openapi/v3", ROUTE_KIND_OPENAPI, ROUTE_SECURE, ROUTE_PATH, READ, discovery_handle, DOCUMENT_OPENAPI_V3 },
	{ "/openapi/v3" V1BETA1, ROUTE_KIND_OPENAPI, ROUTE_SECURE, ROUTE_PATH, READ, discovery_handle,
		DOCUMENT_OPENAPI_V3_GROUP },

	{ WEBHOOK_ANY, ROUTE_KIND_ADMISSION, ROUTE_SECURE, ROUTE_REVIEW, "POST", webhook_handle, 0 },
	{ WEBHOOK_SCALEDOBJECT, ROUTE_KIND_ADMISSION, ROUTE_SECURE, ROUTE_REVIEW, "POST", webhook_handle, 0 },
	{ WEBHOOK_SCALEDJOB, ROUTE_KIND_ADMISSION, ROUTE_SECURE, ROUTE_REVIEW, "POST", webhook_handle, 0 },
	{ WEBHOOK_TRIGGERAUTH, ROUTE_KIND_ADMISSION, ROUTE_SECURE, ROUTE_REVIEW, "POST", webhook_handle, 0 },
	{ WEBHOOK_CLUSTERTRIGGERAUTH, ROUTE_KIND_ADMISSION, ROUTE_SECURE, ROUTE_REVIEW, "POST", webhook_handle, 0 },

	{ "/healthz", ROUTE_KIND_PROBE, BOTH, ROUTE_FREE, READ, probes_handle, PROBES_HEALTH },
	{ "/healthz/{check}", ROUTE_KIND_PROBE, BOTH, ROUTE_FREE, READ, probes_handle, PROBES_HEALTH },
	{ "/livez", ROUTE_KIND_PROBE, BOTH, ROUTE_FREE, READ, probes_handle, PROBES_LIVE },
	{ "/livez/{check}", ROUTE_KIND_PROBE, BOTH, ROUTE_FREE, READ, probes_handle, PROBES_LIVE },
	{ "/readyz", ROUTE_KIND_PROBE, BOTH, ROUTE_FREE, READ, probes_handle, PROBES_READY },
	{ "/readyz/{check}", ROUTE_KIND_PROBE, BOTH, ROUTE_FREE, READ, probes_handle, PROBES_READY },
	{ "/metrics", ROUTE_KIND_SCRAPE, BOTH, ROUTE_PATH, READ, metricspage_handle, 0 },

	{ "/explain/{namespace}/{name}", ROUTE_KIND_EXPLAIN, ROUTE_STATUS, ROUTE_FREE, READ, explain_handle,
		NEARNAMES_ANY },
	{ "/explain/scaledobjects/{namespace}/{name}", ROUTE_KIND_EXPLAIN, ROUTE_STATUS, ROUTE_FREE, READ,
		explain_handle, NEARNAMES_SCALEDOBJECT },
	{ "/explain/scaledjobs/{namespace}/{name}", ROUTE_KIND_EXPLAIN, ROUTE_STATUS, ROUTE_FREE, READ, explain_handle,
		NEARNAMES_SCALEDJOB },
	{ "/objects", ROUTE_KIND_EXPLAIN, ROUTE_STATUS, ROUTE_FREE, READ, explain_handle_list, 0 },
	{ 0 },
};
