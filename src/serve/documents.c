/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/documents.h"

#define GROUP         "external.metrics.k8s.io"
#define GROUP_VERSION GROUP "/v1beta1"
#define METRIC_PATH   "/apis/" GROUP_VERSION "/namespaces/{namespace}/{metric}"

#define GROUP_BODY                                                                                                     \
	"'name':'" GROUP "','versions':[{'groupVersion':'" GROUP_VERSION                                               \
	"','version':'v1beta1'}],'preferredVersion':{'groupVersion':'" GROUP_VERSION "','version':'v1beta1'}"

#define AGGREGATED(version)                                                                                            \
	"{'kind':'APIGroupDiscoveryList','apiVersion':'apidiscovery.k8s.io/" version                                   \
	"','metadata':{},'items':[{'metadata':{'name':'" GROUP "','creationTimestamp':null},"                          \
	"'versions':[{'version':'v1beta1','resources':[{'resource':'externalmetrics','responseKind':{'group':'','"     \
	"version':'','kind':'ExternalMetricValueList'},"                                                               \
	"'scope':'Namespaced','singularResource':'','verbs':['get']}],'freshness':'Current'}]}]}"

/* ---- OpenAPI: the one thing that can be read, and its answer ---- */

/* The two versions differ in where schemas stand and how parameters say their type. */

#define KIND(name)    "'x-kubernetes-group-version-kind':[{'group':'" GROUP "','version':'v1beta1','kind':'" name "'}]"
#define SCHEMA_PREFIX "io.k8s.metrics.pkg.apis.external_metrics.v1beta1."
#define SCHEMAS(place)                                                                                                 \
	"'" SCHEMA_PREFIX "ExternalMetricValue':{"                                                                     \
	"'description':'A value of a metric that is not related to any Kubernetes object.','type':'object',"           \
	"'required':['metricName','metricLabels','timestamp','value'],'properties':{"                                  \
	"'apiVersion':{'type':'string','description':'Versioned schema of this object.'},"                             \
	"'kind':{'type':'string','description':'The REST resource this object stands for.'},"                          \
	"'metricName':{'type':'string','description':'The name of the metric.'},"                                      \
	"'metricLabels':{'type':'object','additionalProperties':{'type':'string'},'description':'Labels that tell "    \
	"the metric apart from others of its name.'},"                                                                 \
	"'timestamp':{'type':'string','format':'date-time','description':'When the source was read.'},"                \
	"'window':{'type':'integer','format':'int64','description':'The window in seconds over which the value was "   \
	"gathered.'},"                                                                                                 \
	"'value':{'type':'string','description':'The value, as a quantity.'}}," KIND(                                  \
		"ExternalMetricValue") "},"                                                                            \
				       "'" SCHEMA_PREFIX "ExternalMetricValueList':{"                                  \
				       "'description':'The values of one "                                             \
				       "metric.','type':'object','required':['items'],'properties':{"                  \
				       "'apiVersion':{'type':'string','description':'Versioned schema of this "        \
				       "object.'},"                                                                    \
				       "'kind':{'type':'string','description':'The REST resource this object stands "  \
				       "for.'},"                                                                       \
				       "'metadata':{'type':'object','description':'Metadata of the list.'},"           \
				       "'items':{'type':'array','items':{'$ref':'" place SCHEMA_PREFIX                 \
				       "ExternalMetricValue'},'description':'The values.'}}," KIND(                    \
					       "ExternalMetricValueList") "}"

#define OPERATION                                                                                                      \
	"'description':'read an external "                                                                             \
	"metric','operationId':'listExternalMetricsV1beta1NamespacedMetric','tags':['externalMetrics_v1beta1'],"       \
	"'x-kubernetes-action':'list','x-kubernetes-group-version-kind':{'group':'" GROUP                              \
	"','version':'v1beta1','kind':'ExternalMetricValueList'}"
#define UNAUTHORIZED "'401':{'description':'Unauthorized'}"
#define INFO         "'info':{'title':'kscaled','version':'@V'}"

#define PARAMETER(name, where, required, type, description)                                                            \
	"{'name':'" name "','in':'" where "','required':" required "," type ",'description':'" description "'}"
#define PARAMETERS(type)                                                                                               \
	PARAMETER("namespace", "path", "true", type, "The namespace of the ScaledObject.")                             \
	"," PARAMETER("metric", "path", "true", type, "The name of the metric, as the HorizontalPodAutoscaler has it.")
#define QUERY_PARAMETERS(type)                                                                                         \
	PARAMETER("labelSelector", "query", "false", type, "Whose metric: scaledobject.keda.sh/name=NAME.")

/* clang-format off */
#define OPENAPI_V2 \
	"{'swagger':'2.0'," INFO ",'paths':{'" METRIC_PATH "':{'get':{" OPERATION "," \
	"'consumes':['*/*'],'produces':['application/json'],'schemes':['https'],'responses':{" \
	"'200':{'description':'OK','schema':{'$ref':'#/definitions/" SCHEMA_PREFIX "ExternalMetricValueList'}}," \
	UNAUTHORIZED "}},'parameters':[" PARAMETERS("'type':'string','uniqueItems':true") "," \
	QUERY_PARAMETERS("'type':'string','uniqueItems':true") "]}},'definitions':{" SCHEMAS("#/definitions/") "}}"

#define OPENAPI_V3 \
	"{'openapi':'3.0.0'," INFO ",'paths':{'" METRIC_PATH "':{'get':{" OPERATION ",'responses':{" \
	"'200':{'description':'OK','content':{'application/json':{'schema':{'$ref':'#/components/schemas/" \
	SCHEMA_PREFIX "ExternalMetricValueList'}}}}," UNAUTHORIZED "}},'parameters':[" \
	PARAMETERS("'schema':{'type':'string','uniqueItems':true}") "," \
	QUERY_PARAMETERS("'schema':{'type':'string','uniqueItems':true}") "]}}," \
	"'components':{'schemas':{" SCHEMAS("#/components/schemas/") "}}}"
/* clang-format on */

static const struct document_text texts[DOCUMENTS] = {
	[DOCUMENT_GROUPS] = { "application/json",
		"{'kind':'APIGroupList','apiVersion':'v1','groups':[{" GROUP_BODY "}]}" },
	[DOCUMENT_GROUPS_V2] = { "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
		AGGREGATED("v2") },
	[DOCUMENT_GROUPS_V2BETA1] = { "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",
		AGGREGATED("v2beta1") },
	[DOCUMENT_GROUP] = { "application/json", "{'kind':'APIGroup','apiVersion':'v1'," GROUP_BODY "}" },
	[DOCUMENT_RESOURCES] = { "application/json",
		"{'kind':'APIResourceList','apiVersion':'v1','groupVersion':'" GROUP_VERSION "','resources':["
		"{'name':'externalmetrics','singularName':'','namespaced':true,'kind':'ExternalMetricValueList','verbs'"
		":['get']}]}" },
	[DOCUMENT_VERSION] = { "application/json",
		"{'major':'','minor':'','gitVersion':'v@V','gitCommit':'','gitTreeState':'','buildDate':'','goVersion':"
		"'','compiler':'c','platform':'linux/@A'}" },
	[DOCUMENT_OPENAPI_V2] = { "application/json", OPENAPI_V2 },
	[DOCUMENT_OPENAPI_V3_GROUP] = { "application/json", OPENAPI_V3 },
	[DOCUMENT_OPENAPI_V3] = { "application/json",
		"{'paths':{'apis/" GROUP_VERSION "':{'serverRelativeURL':'/openapi/v3/apis/" GROUP_VERSION
		"?hash=@H'}}}" },
};

const struct document_text *documents_text(enum document which)
{
	return &texts[which];
}
