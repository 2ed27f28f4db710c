/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/missingtypes.h"

#include <string.h>

#include "base/editdist.h"
#include "base/mem.h"
#include "base/text.h"
#include "scalers/scaler.h"

#define BY_PROMETHEUS "use prometheus with an exporter for it"
#define BY_EXTERNAL   "use external with a scaler of your own"
/* Brokers may refuse requests without an Origin. */
#define BY_JOLOKIA                                                                                                     \
	"use metrics-api with the URL of its Jolokia API, valueLocation: value, and authModes: basic,custom for a "    \
	"header Origin"

static const struct {
	const char *type, *instead;
} types[] = {
	{ "activemq", BY_JOLOKIA },
	{ "arangodb", BY_EXTERNAL },
	{ "artemis-queue", BY_JOLOKIA },
	{ "aws-dynamodb", "use aws-cloudwatch with a metric of the table, or external with a scaler of your own" },
	{ "aws-dynamodb-streams", "use aws-cloudwatch with a metric of the stream" },
	{ "azure-app-insights", BY_EXTERNAL },
	{ "azure-data-explorer", BY_EXTERNAL },
	{ "azure-eventhub", "use kafka with the Kafka endpoint of the namespace, where consumers commit there" },
	{ "azure-log-analytics", BY_EXTERNAL },
	{ "azure-monitor", "use prometheus with an exporter for Azure's metrics" },
	{ "cassandra", BY_EXTERNAL },
	{ "clickhouse",
		"use metrics-api with the URL of its HTTP interface, a query in FORMAT JSON, and valueLocation: "
		"data.0.COLUMN" },
	{ "couchdb", "use metrics-api with the URL of a view that counts" },
	{ "dynatrace",
		"use metrics-api with the URL of a query (/api/v2/metrics/query), and its token as a custom header" },
	{ "elastic-forecast", "use elasticsearch with a search for the forecast, which has to be created separately" },
	{ "external-mock", "use external with a scaler for tests" },
	{ "forgejo-runner", BY_EXTERNAL },
	{ "gcp-cloudtasks", "deprecated in KEDA, too: use prometheus with Google Cloud's managed service" },
	{ "gcp-spanner", BY_EXTERNAL },
	{ "gcp-stackdriver", "deprecated in KEDA, too: use prometheus with Google Cloud's managed service" },
	{ "gcp-storage", BY_EXTERNAL },
	{ "huawei-cloudeye", BY_EXTERNAL },
	{ "ibmmq", "use prometheus with the metrics of the queue manager" },
	{ "influxdb",
		"use metrics-api with the URL of a query in InfluxQL (/query?db=...&q=...) and valueLocation: "
		"results.0.series.0.values.0.1" },
	{ "liiklus", "use kafka with the broker behind it" },
	{ "mssql", "use prometheus with an SQL exporter, or external" },
	{ "new-relic", BY_EXTERNAL },
	{ "nsq", "use metrics-api with nsqd's /stats?format=json and the channel's depth as valueLocation" },
	{ "openstack-metric", BY_EXTERNAL },
	{ "openstack-swift", BY_EXTERNAL },
	{ "predictkube", "use prometheus with the same query, or with predict_linear() of it" },
	{ "pulsar", "use prometheus with the brokers' metric pulsar_subscription_back_log" },
	{ "selenium-grid", "use prometheus with an exporter for the grid, or external" },
	{ "solace-direct-messaging", BY_EXTERNAL },
	{ "solace-event-queue", "use prometheus with an exporter for the broker" },
	{ "solarwinds", BY_EXTERNAL },
	{ "solr", "use metrics-api with the URL of a query and valueLocation: response.numFound" },
	{ "splunk", BY_EXTERNAL },
	{ "splunk-observability", BY_EXTERNAL },
	{ "sumologic", BY_EXTERNAL },
	{ "stan", "KEDA removed it, as NATS Streaming was discontinued: use nats-jetstream" },
	{ "temporal", "use prometheus with the server's metric approximate_backlog_count" },
};

const char *missingtypes_instead(const char *type)
{
	for (size_t i = 0; i < MEM_COUNT(types); i++)
		if (strcmp(types[i].type, type) == 0)
			return types[i].instead;
	return NULL;
}

/* The type with the most similar name, or NULL. The caller owns it. */
static char *nearest(const char *type)
{
	MEM_AUTO char *names = mem_dup(scaler_type_names());
	char *rest = names, *name;
	const char *best = NULL;
	struct editdist_best other = editdist_best_of(type);
	size_t least = strlen(type) / 3 + 2;

	while ((name = strsep(&rest, ",")) != NULL) {
		size_t distance;

		name = text_trim(name, " ");
		editdist_offer(&other, name);
		distance = editdist_between(type, name);
		if (distance >= least)
			continue;
		least = distance;
		best = name;
	}
	return mem_dup(best ? best : other.name);
}

char *missingtypes_explain(const char *type)
{
	const char *instead = missingtypes_instead(type);
	MEM_AUTO char *near = instead ? NULL : nearest(type);

	if (instead)
		return mem_printf("not in this version; %s", instead);
	if (near)
		return mem_printf("perhaps %s; kscaled-triggers(5) lists all types", near);
	return mem_dup("kscaled-triggers(5) lists all types");
}
