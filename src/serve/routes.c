/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/routes.h"

#include <stddef.h>

#include "serve/discovery.h"
#include "serve/discoverydocs.h"
#include "serve/externalmetrics.h"
#include "serve/insight/insight.h"
#include "serve/page/metricspage.h"
#include "serve/probes.h"
#include "serve/webhook.h"

#define BOTH          (ROUTE_SECURE | ROUTE_STATUS)
#define READ          "GET, HEAD"
#define METRICS_GROUP "external.metrics.k8s.io"
#define V1BETA1       "/apis/" METRICS_GROUP "/v1beta1"
#define TOLD          (ROUTE_SECURE | ROUTE_SOCKET)

#define INSIGHT INSIGHT_GROUP, INSIGHT_VERSION

static const struct route_resource metric = { METRICS_GROUP, "v1beta1", "list", NULL },
				   list_objects = { INSIGHT, "list", "scaledobjectinsights" },
				   get_object = { INSIGHT, "get", "scaledobjectinsights" },
				   list_jobs = { INSIGHT, "list", "scaledjobinsights" },
				   get_job = { INSIGHT, "get", "scaledjobinsights" };

const struct route routes_all[] = {
	{ V1BETA1 "/namespaces/{namespace}/{metric}", ROUTE_KIND_METRIC, ROUTE_SECURE, ROUTE_RESOURCE, READ,
		externalmetrics_handle, 0, &metric },

	{ INSIGHT_PATH "/scaledobjectinsights", ROUTE_KIND_INSIGHT, TOLD, ROUTE_RESOURCE, READ, insight_handle_list,
		SCALED_OBJECT, &list_objects },
	{ INSIGHT_PATH "/namespaces/{namespace}/scaledobjectinsights", ROUTE_KIND_INSIGHT, TOLD, ROUTE_RESOURCE, READ,
		insight_handle_list, SCALED_OBJECT, &list_objects },
	{ INSIGHT_PATH "/namespaces/{namespace}/scaledobjectinsights/{name}", ROUTE_KIND_INSIGHT, TOLD, ROUTE_RESOURCE,
		READ, insight_handle, SCALED_OBJECT, &get_object },
	{ INSIGHT_PATH "/scaledjobinsights", ROUTE_KIND_INSIGHT, TOLD, ROUTE_RESOURCE, READ, insight_handle_list,
		SCALED_JOB, &list_jobs },
	{ INSIGHT_PATH "/namespaces/{namespace}/scaledjobinsights", ROUTE_KIND_INSIGHT, TOLD, ROUTE_RESOURCE, READ,
		insight_handle_list, SCALED_JOB, &list_jobs },
	{ INSIGHT_PATH "/namespaces/{namespace}/scaledjobinsights/{name}", ROUTE_KIND_INSIGHT, TOLD, ROUTE_RESOURCE,
		READ, insight_handle, SCALED_JOB, &get_job },

	{ "/", ROUTE_KIND_DISCOVERY, ROUTE_SECURE, ROUTE_PATH, READ, discovery_handle_paths, 0, NULL },
	{ "/apis", ROUTE_KIND_DISCOVERY, ROUTE_SECURE, ROUTE_PATH, READ, discovery_handle_groups, 0, NULL },
	{ "/apis/external.metrics.k8s.io", ROUTE_KIND_DISCOVERY, ROUTE_SECURE, ROUTE_PATH, READ, discovery_handle,
		DOCUMENT_GROUP, NULL },
	{ V1BETA1, ROUTE_KIND_DISCOVERY, ROUTE_SECURE, ROUTE_PATH, READ, discovery_handle, DOCUMENT_RESOURCES, NULL },
	{ "/apis/" INSIGHT_GROUP, ROUTE_KIND_DISCOVERY, TOLD, ROUTE_PATH, READ, discovery_handle,
		DOCUMENT_INSIGHT_GROUP, NULL },
	{ INSIGHT_PATH, ROUTE_KIND_DISCOVERY, TOLD, ROUTE_PATH, READ, discovery_handle, DOCUMENT_INSIGHT_RESOURCES,
		NULL },
	{ "/version", ROUTE_KIND_DISCOVERY, ROUTE_SECURE, ROUTE_PATH, READ, discovery_handle, DOCUMENT_VERSION, NULL },
	{ "/openapi/v2", ROUTE_KIND_OPENAPI, ROUTE_SECURE, ROUTE_PATH, READ, discovery_handle, DOCUMENT_OPENAPI_V2,
		NULL },
	{ "/openapi/v3", ROUTE_KIND_OPENAPI, ROUTE_SECURE, ROUTE_PATH, READ, discovery_handle, DOCUMENT_OPENAPI_V3,
		NULL },
	{ "/openapi/v3" V1BETA1, ROUTE_KIND_OPENAPI, ROUTE_SECURE, ROUTE_PATH, READ, discovery_handle,
		DOCUMENT_OPENAPI_V3_GROUP, NULL },
	{ "/openapi/v3" INSIGHT_PATH, ROUTE_KIND_OPENAPI, ROUTE_SECURE, ROUTE_PATH, READ, discovery_handle,
		DOCUMENT_OPENAPI_V3_INSIGHT, NULL },

	{ WEBHOOK_ANY, ROUTE_KIND_ADMISSION, ROUTE_SECURE, ROUTE_REVIEW, "POST", webhook_handle, 0, NULL },
	{ WEBHOOK_SCALEDOBJECT, ROUTE_KIND_ADMISSION, ROUTE_SECURE, ROUTE_REVIEW, "POST", webhook_handle, 0, NULL },
	{ WEBHOOK_SCALEDJOB, ROUTE_KIND_ADMISSION, ROUTE_SECURE, ROUTE_REVIEW, "POST", webhook_handle, 0, NULL },
	{ WEBHOOK_TRIGGERAUTH, ROUTE_KIND_ADMISSION, ROUTE_SECURE, ROUTE_REVIEW, "POST", webhook_handle, 0, NULL },
	{ WEBHOOK_CLUSTERTRIGGERAUTH, ROUTE_KIND_ADMISSION, ROUTE_SECURE, ROUTE_REVIEW, "POST", webhook_handle, 0,
		NULL },

	{ "/healthz", ROUTE_KIND_PROBE, BOTH, ROUTE_FREE, READ, probes_handle, PROBES_HEALTH, NULL },
	{ "/healthz/{check}", ROUTE_KIND_PROBE, BOTH, ROUTE_FREE, READ, probes_handle, PROBES_HEALTH, NULL },
	{ "/livez", ROUTE_KIND_PROBE, BOTH, ROUTE_FREE, READ, probes_handle, PROBES_LIVE, NULL },
	{ "/livez/{check}", ROUTE_KIND_PROBE, BOTH, ROUTE_FREE, READ, probes_handle, PROBES_LIVE, NULL },
	{ "/readyz", ROUTE_KIND_PROBE, BOTH, ROUTE_FREE, READ, probes_handle, PROBES_READY, NULL },
	{ "/readyz/{check}", ROUTE_KIND_PROBE, BOTH, ROUTE_FREE, READ, probes_handle, PROBES_READY, NULL },
	{ "/metrics", ROUTE_KIND_SCRAPE, BOTH, ROUTE_PATH, READ, metricspage_handle, 0, NULL },
	{ 0 },
};
