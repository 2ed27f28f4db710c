/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/documents.h"

#define GROUP         "external.metrics.k8s.io"
#define GROUP_VERSION GROUP "/v1beta1"
#define METRIC_PATH   "/apis/" GROUP_VERSION "/namespaces/{namespace}/{metric}"
#define INSIGHT_GROUP "insight.kscaled.io"
#define INSIGHT_ROOT  "/apis/" INSIGHT_GROUP "/v1"

/* clang-format off */
#define GROUP_BODY(group, version) \
	"'name':'" group "','versions':[{'groupVersion':'" group "/" version "','version':'" version \
	"'}],'preferredVersion':{'groupVersion':'" group "/" version "','version':'" version "'}"
/* clang-format on */

/* clang-format off */
#define INSIGHT_AGGREGATED(resource, kind, singular, short) \
	"{'resource':'" resource "','responseKind':{'group':'" INSIGHT_GROUP "','version':'v1','kind':'" kind \
	"'},'scope':'Namespaced','singularResource':'" singular "','verbs':['get','list'],'shortNames':['" short \
	"'],'categories':['kscaled']}"

#define AGGREGATED(version) \
	"{'kind':'APIGroupDiscoveryList','apiVersion':'apidiscovery.k8s.io/" version \
	"','metadata':{},'items':[{'metadata':{'name':'" GROUP "','creationTimestamp':null}," \
	"'versions':[{'version':'v1beta1','resources':[{'resource':'externalmetrics','responseKind':{'group':'','" \
	"version':'','kind':'ExternalMetricValueList'}," \
	"'scope':'Namespaced','singularResource':'','verbs':['get']}],'freshness':'Current'}]}," \
	"{'metadata':{'name':'" INSIGHT_GROUP "','creationTimestamp':null},'versions':[{'version':'v1','resources':[" \
	INSIGHT_AGGREGATED("scaledobjectinsights", "ScaledObjectInsight", "scaledobjectinsight", "soi") "," \
	INSIGHT_AGGREGATED("scaledjobinsights", "ScaledJobInsight", "scaledjobinsight", "sji") \
	"],'freshness':'Current'}]}]}"

#define INSIGHT_RESOURCE(resource, kind, singular, short) \
	"{'name':'" resource "','singularName':'" singular "','namespaced':true,'kind':'" kind \
	"','verbs':['get','list'],'shortNames':['" short "'],'categories':['kscaled']}"
/* clang-format on */

/* ---- OpenAPI: what can be read, and the answers ---- */

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

/* ---- The same of the insight API ---- */

/* clang-format off */
#define INSIGHT_PREFIX "io.kscaled.insight.v1."
#define INSIGHT_GVK(kind) "{'group':'" INSIGHT_GROUP "','version':'v1','kind':'" kind "'}"
#define INSIGHT_PARTS \
	"'apiVersion':{'type':'string','description':'Versioned schema of this object.'}," \
	"'kind':{'type':'string','description':'The REST resource this object stands for.'}," \
	"'metadata':{'type':'object','description':'Name, namespace, uid, creationTimestamp and labels of the " \
	"object that this is about; of a list, nothing.'}"
#define INSIGHT_SCHEMA(place, kind, about) \
	"'" INSIGHT_PREFIX kind "':{'description':'What kscaled knows of a " about ".','type':'object','properties':{" \
	INSIGHT_PARTS "," \
	"'summary':{'type':'object','x-kubernetes-preserve-unknown-fields':true,'description':'Limits, what there " \
	"is, and the reason.'}," \
	"'explanation':{'type':'object','x-kubernetes-preserve-unknown-fields':true,'description':'Readings, " \
	"decisions and changes; only of one that is asked for by its name.'}}," \
	"'x-kubernetes-group-version-kind':[" INSIGHT_GVK(kind) "]}," \
	"'" INSIGHT_PREFIX kind "List':{'description':'What kscaled knows of " about "s.','type':'object'," \
	"'required':['items'],'properties':{" INSIGHT_PARTS "," \
	"'items':{'type':'array','items':{'$ref':'" place INSIGHT_PREFIX kind "'},'description':'The objects.'}}," \
	"'x-kubernetes-group-version-kind':[" INSIGHT_GVK(kind "List") "]}"
#define INSIGHT_SCHEMAS(place) \
	INSIGHT_SCHEMA(place, "ScaledObjectInsight", "ScaledObject") "," \
	INSIGHT_SCHEMA(place, "ScaledJobInsight", "ScaledJob")

#define INSIGHT_GET(action, id, kind, answer) \
	"'get':{'description':'" action "','operationId':'" id "','tags':['insight_v1'],'x-kubernetes-action':'" \
	action "','x-kubernetes-group-version-kind':" INSIGHT_GVK(kind) "," answer "}"
#define INSIGHT_NAMESPACE(type) PARAMETER("namespace", "path", "true", type, "The namespace of the object.")
#define INSIGHT_NAME(type) PARAMETER("name", "path", "true", type, "The name of the object.")
#define INSIGHT_FILTERS(type) \
	PARAMETER("labelSelector", "query", "false", type, "Only those whose labels are so.") "," \
	PARAMETER("fieldSelector", "query", "false", type, "Only those of this metadata.name or metadata.namespace.")
/* answer: of what schema it is, as the version of OpenAPI writes it */
#define INSIGHT_PATHS(type, resource, kind, answer) \
	"'" INSIGHT_ROOT "/" resource "':{" \
	INSIGHT_GET("list", "list" kind "ForAllNamespaces", kind, answer(kind "List")) \
	",'parameters':[" INSIGHT_FILTERS(type) "]}," \
	"'" INSIGHT_ROOT "/namespaces/{namespace}/" resource "':{" \
	INSIGHT_GET("list", "listNamespaced" kind, kind, answer(kind "List")) \
	",'parameters':[" INSIGHT_NAMESPACE(type) "," INSIGHT_FILTERS(type) "]}," \
	"'" INSIGHT_ROOT "/namespaces/{namespace}/" resource "/{name}':{" \
	INSIGHT_GET("get", "readNamespaced" kind, kind, answer(kind)) \
	",'parameters':[" INSIGHT_NAMESPACE(type) "," INSIGHT_NAME(type) "]}"
#define INSIGHT_ALL_PATHS(type, answer) \
	INSIGHT_PATHS(type, "scaledobjectinsights", "ScaledObjectInsight", answer) "," \
	INSIGHT_PATHS(type, "scaledjobinsights", "ScaledJobInsight", answer)

#define V2_TYPE "'type':'string','uniqueItems':true"
#define V2_FORMS "'consumes':['*/*'],'produces':['application/json'],'schemes':['https']"
#define V2_ANSWER(kind) \
	V2_FORMS ",'responses':{'200':{'description':'OK','schema':{'$ref':'#/definitions/" INSIGHT_PREFIX kind "'}}," \
	UNAUTHORIZED "}"
#define V3_TYPE "'schema':{'type':'string','uniqueItems':true}"
#define V3_ANSWER(kind) \
	"'responses':{'200':{'description':'OK','content':{'application/json':{'schema':{'$ref':'" \
	"#/components/schemas/" INSIGHT_PREFIX kind "'}}}}," UNAUTHORIZED "}"

/* ---- Whole ---- */

#define OPENAPI_V2 \
	"{'swagger':'2.0'," INFO ",'paths':{'" METRIC_PATH "':{'get':{" OPERATION "," \
	V2_FORMS ",'responses':{" \
	"'200':{'description':'OK','schema':{'$ref':'#/definitions/" SCHEMA_PREFIX "ExternalMetricValueList'}}," \
	UNAUTHORIZED "}},'parameters':[" PARAMETERS(V2_TYPE) "," QUERY_PARAMETERS(V2_TYPE) "]}," \
	INSIGHT_ALL_PATHS(V2_TYPE, V2_ANSWER) "},'definitions':{" SCHEMAS("#/definitions/") "," \
	INSIGHT_SCHEMAS("#/definitions/") "}}"

#define OPENAPI_V3 \
	"{'openapi':'3.0.0'," INFO ",'paths':{'" METRIC_PATH "':{'get':{" OPERATION ",'responses':{" \
	"'200':{'description':'OK','content':{'application/json':{'schema':{'$ref':'#/components/schemas/" \
	SCHEMA_PREFIX "ExternalMetricValueList'}}}}," UNAUTHORIZED "}},'parameters':[" \
	PARAMETERS(V3_TYPE) "," QUERY_PARAMETERS(V3_TYPE) "]}}," \
	"'components':{'schemas':{" SCHEMAS("#/components/schemas/") "}}}"

#define OPENAPI_V3_INSIGHT \
	"{'openapi':'3.0.0'," INFO ",'paths':{" INSIGHT_ALL_PATHS(V3_TYPE, V3_ANSWER) "}," \
	"'components':{'schemas':{" INSIGHT_SCHEMAS("#/components/schemas/") "}}}"
/* clang-format on */

static const struct document_text texts[DOCUMENTS] = {
	[DOCUMENT_GROUPS] = { "application/json",
		"{'kind':'APIGroupList','apiVersion':'v1','groups':[{" GROUP_BODY(GROUP,
			"v1beta1") "},{" GROUP_BODY(INSIGHT_GROUP, "v1") "}]}" },
	[DOCUMENT_GROUPS_V2] = { "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
		AGGREGATED("v2") },
	[DOCUMENT_GROUPS_V2BETA1] = { "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",
		AGGREGATED("v2beta1") },
	[DOCUMENT_GROUP] = { "application/json",
		"{'kind':'APIGroup','apiVersion':'v1'," GROUP_BODY(GROUP, "v1beta1") "}" },
	[DOCUMENT_RESOURCES] = { "application/json",
		"{'kind':'APIResourceList','apiVersion':'v1','groupVersion':'" GROUP_VERSION "','resources':["
		"{'name':'externalmetrics','singularName':'','namespaced':true,'kind':'ExternalMetricValueList','verbs'"
		":['get']}]}" },
	[DOCUMENT_INSIGHT_GROUP] = { "application/json",
		"{'kind':'APIGroup','apiVersion':'v1'," GROUP_BODY(INSIGHT_GROUP, "v1") "}" },
	[DOCUMENT_INSIGHT_RESOURCES] = { "application/json",
		"{'kind':'APIResourceList','apiVersion':'v1','groupVersion':'" INSIGHT_GROUP
		"/v1','resources':[" INSIGHT_RESOURCE("scaledobjectinsights", "ScaledObjectInsight",
			"scaledobjectinsight", "soi") "," INSIGHT_RESOURCE("scaledjobinsights", "ScaledJobInsight",
			"scaledjobinsight", "sji") "]}" },
	[DOCUMENT_VERSION] = { "application/json",
		"{'major':'','minor':'','gitVersion':'v@V','gitCommit':'','gitTreeState':'','buildDate':'','goVersion':"
		"'','compiler':'c','platform':'linux/@A'}" },
	[DOCUMENT_OPENAPI_V2] = { "application/json", OPENAPI_V2 },
	[DOCUMENT_OPENAPI_V3_GROUP] = { "application/json", OPENAPI_V3 },
	[DOCUMENT_OPENAPI_V3_INSIGHT] = { "application/json", OPENAPI_V3_INSIGHT },
	[DOCUMENT_OPENAPI_V3] = { "application/json",
		"{'paths':{'apis/" GROUP_VERSION "':{'serverRelativeURL':'/openapi/v3/apis/" GROUP_VERSION
		"?hash=@H'},'apis/" INSIGHT_GROUP "/v1':{'serverRelativeURL':'/openapi/v3" INSIGHT_ROOT
		"?hash=@I'}}}" },
};

const struct document_text *documents_text(enum document which)
{
	return &texts[which];
}
