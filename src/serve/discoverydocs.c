/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/discoverydocs.h"

/* clang-format off */
#define GROUP         "external.metrics.k8s.io"
#define GROUP_VERSION GROUP "/v1beta1"
#define INSIGHT_GROUP "insight.kscaled.io"
#define INSIGHT_ROOT  "/apis/" INSIGHT_GROUP "/v1"

#define GVK(group, version, kind) "{'group':'" group "','version':'" version "','kind':'" kind "'}"
#define METRIC_GVK(kind) GVK(GROUP, "v1beta1", kind)
#define INSIGHT_GVK(kind) GVK(INSIGHT_GROUP, "v1", kind)

/* ---- Groups and resources ---- */

#define GROUP_BODY(group, version) \
	"'name':'" group "','versions':[{'groupVersion':'" group "/" version "','version':'" version \
	"'}],'preferredVersion':{'groupVersion':'" group "/" version "','version':'" version "'}"

#define INSIGHT_NAMES(short) "'verbs':['get','list'],'shortNames':['" short "'],'categories':['kscaled']}"
#define INSIGHT_AGGREGATED(singular, kind, short) \
	"{'resource':'" singular "s','responseKind':" INSIGHT_GVK(kind) \
	",'scope':'Namespaced','singularResource':'" singular "'," INSIGHT_NAMES(short)
#define INSIGHT_RESOURCE(singular, kind, short) \
	"{'name':'" singular "s','singularName':'" singular "','namespaced':true,'kind':'" kind "'," \
	INSIGHT_NAMES(short)
#define INSIGHT_BOTH(resource) \
	resource("scaledobjectinsight", "ScaledObjectInsight", "soi") "," \
	resource("scaledjobinsight", "ScaledJobInsight", "sji")

#define AGGREGATED(version) \
	"{'kind':'APIGroupDiscoveryList','apiVersion':'apidiscovery.k8s.io/" version \
	"','metadata':{},'items':[{'metadata':{'name':'" GROUP "','creationTimestamp':null}," \
	"'versions':[{'version':'v1beta1','resources':[{'resource':'externalmetrics','responseKind':" \
	GVK("", "", "ExternalMetricValueList") \
	",'scope':'Namespaced','singularResource':'','verbs':['get']}],'freshness':'Current'}]}," \
	"{'metadata':{'name':'" INSIGHT_GROUP "','creationTimestamp':null},'versions':[{'version':'v1','resources':[" \
	INSIGHT_BOTH(INSIGHT_AGGREGATED) "],'freshness':'Current'}]}]}"

/* ---- OpenAPI: readable resources, and the answers ---- */

/*
 * Versions 2 and 3 differ in the place of schemas, in how parameters give their type (V2_TYPE,
 * V3_TYPE) and in how an answer refers to its schema (V2_ANSWER, V3_ANSWER).
 */
#define V2_PLACE "#/definitions/"
#define V2_TYPE "'type':'string','uniqueItems':true"
#define V2_ANSWER(schema) \
	"'consumes':['*/*'],'produces':['application/json'],'schemes':['https']," \
	"'responses':{'200':{'description':'OK','schema':{'$ref':'" V2_PLACE schema "'}}," UNAUTHORIZED "}"
#define V3_PLACE "#/components/schemas/"
#define V3_TYPE "'schema':{'type':'string','uniqueItems':true}"
#define V3_ANSWER(schema) \
	"'responses':{'200':{'description':'OK','content':{'application/json':{'schema':{'$ref':'" V3_PLACE schema \
	"'}}}}," UNAUTHORIZED "}"

#define INFO         "'info':{'title':'kscaled','version':'@V'}"
#define UNAUTHORIZED "'401':{'description':'Unauthorized'}"
#define PARAMETER(name, where, required, type, description) \
	"{'name':'" name "','in':'" where "','required':" required "," type ",'description':'" description "'}"
#define TYPE_MEMBERS \
	"'apiVersion':{'type':'string','description':'Versioned schema of this object.'}," \
	"'kind':{'type':'string','description':'The REST resource this object stands for.'},"

/* ---- The metrics API ---- */

#define METRIC_PREFIX "io.k8s.metrics.pkg.apis.external_metrics.v1beta1."
#define METRIC_SCHEMAS(place) \
	"'" METRIC_PREFIX "ExternalMetricValue':{" \
	"'description':'A value of a metric that is not related to any Kubernetes object.','type':'object'," \
	"'required':['metricName','metricLabels','timestamp','value'],'properties':{" TYPE_MEMBERS \
	"'metricName':{'type':'string','description':'The name of the metric.'}," \
	"'metricLabels':{'type':'object','additionalProperties':{'type':'string'},'description':'Labels that tell " \
	"the metric apart from others of its name.'}," \
	"'timestamp':{'type':'string','format':'date-time','description':'When the source was read.'}," \
	"'window':{'type':'integer','format':'int64','description':'The window in seconds over which the value was " \
	"gathered.'}," \
	"'value':{'type':'string','description':'The value, as a quantity.'}}," \
	"'x-kubernetes-group-version-kind':[" METRIC_GVK("ExternalMetricValue") "]}," \
	"'" METRIC_PREFIX "ExternalMetricValueList':{" \
	"'description':'The values of one metric.','type':'object','required':['items'],'properties':{" TYPE_MEMBERS \
	"'metadata':{'type':'object','description':'Metadata of the list.'}," \
	"'items':{'type':'array','items':{'$ref':'" place METRIC_PREFIX "ExternalMetricValue'}," \
	"'description':'The values.'}}," \
	"'x-kubernetes-group-version-kind':[" METRIC_GVK("ExternalMetricValueList") "]}"

#define METRIC_PATHS(type, answer) \
	"'/apis/" GROUP_VERSION "/namespaces/{namespace}/{metric}':{'get':{'description':'read an external metric'," \
	"'operationId':'listExternalMetricsV1beta1NamespacedMetric','tags':['externalMetrics_v1beta1']," \
	"'x-kubernetes-action':'list','x-kubernetes-group-version-kind':" METRIC_GVK("ExternalMetricValueList") "," \
	answer(METRIC_PREFIX "ExternalMetricValueList") "},'parameters':[" \
	PARAMETER("namespace", "path", "true", type, "The namespace of the ScaledObject.") "," \
	PARAMETER("metric", "path", "true", type, "The name of the metric, as the HorizontalPodAutoscaler has it.") \
	"," \
	PARAMETER("labelSelector", "query", "false", type, "The ScaledObject: scaledobject.keda.sh/name=NAME.") "]}"

/* ---- The insight API ---- */

#define INSIGHT_PREFIX "io.kscaled.insight.v1."
#define INSIGHT_PARTS \
	TYPE_MEMBERS "'metadata':{'type':'object','description':'Name, namespace, uid, creationTimestamp and labels " \
	"of the object that this is about; of a list, nothing.'}"
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
#define INSIGHT_FILTERS(type) \
	PARAMETER("labelSelector", "query", "false", type, "Filter by labels.") "," \
	PARAMETER("fieldSelector", "query", "false", type, "Filter by metadata.name or metadata.namespace.")
#define INSIGHT_PATHS_OF(type, resource, kind, answer) \
	"'" INSIGHT_ROOT "/" resource "':{" \
	INSIGHT_GET("list", "list" kind "ForAllNamespaces", kind, answer(INSIGHT_PREFIX kind "List")) \
	",'parameters':[" INSIGHT_FILTERS(type) "]}," \
	"'" INSIGHT_ROOT "/namespaces/{namespace}/" resource "':{" \
	INSIGHT_GET("list", "listNamespaced" kind, kind, answer(INSIGHT_PREFIX kind "List")) \
	",'parameters':[" INSIGHT_NAMESPACE(type) "," INSIGHT_FILTERS(type) "]}," \
	"'" INSIGHT_ROOT "/namespaces/{namespace}/" resource "/{name}':{" \
	INSIGHT_GET("get", "readNamespaced" kind, kind, answer(INSIGHT_PREFIX kind)) \
	",'parameters':[" INSIGHT_NAMESPACE(type) "," \
	PARAMETER("name", "path", "true", type, "The name of the object.") "]}"
#define INSIGHT_PATHS(type, answer) \
	INSIGHT_PATHS_OF(type, "scaledobjectinsights", "ScaledObjectInsight", answer) "," \
	INSIGHT_PATHS_OF(type, "scaledjobinsights", "ScaledJobInsight", answer)

const struct document_text discoverydocs_all[DOCUMENTS] = {
	[DOCUMENT_GROUPS] = { "application/json", "{'kind':'APIGroupList','apiVersion':'v1','groups':[{"
		GROUP_BODY(GROUP, "v1beta1") "},{" GROUP_BODY(INSIGHT_GROUP, "v1") "}]}" },
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
		"{'kind':'APIResourceList','apiVersion':'v1','groupVersion':'" INSIGHT_GROUP "/v1','resources':["
		INSIGHT_BOTH(INSIGHT_RESOURCE) "]}" },
	[DOCUMENT_VERSION] = { "application/json",
		"{'major':'','minor':'','gitVersion':'v@V','gitCommit':'','gitTreeState':'','buildDate':'','goVersion':"
		"'','compiler':'c','platform':'linux/@A'}" },
	[DOCUMENT_OPENAPI_V2] = { "application/json",
		"{'swagger':'2.0'," INFO ",'paths':{" METRIC_PATHS(V2_TYPE, V2_ANSWER) ","
		INSIGHT_PATHS(V2_TYPE, V2_ANSWER) "},'definitions':{"
		METRIC_SCHEMAS(V2_PLACE) "," INSIGHT_SCHEMAS(V2_PLACE) "}}" },
	[DOCUMENT_OPENAPI_V3_GROUP] = { "application/json",
		"{'openapi':'3.0.0'," INFO ",'paths':{" METRIC_PATHS(V3_TYPE, V3_ANSWER) "},"
		"'components':{'schemas':{" METRIC_SCHEMAS(V3_PLACE) "}}}" },
	[DOCUMENT_OPENAPI_V3_INSIGHT] = { "application/json",
		"{'openapi':'3.0.0'," INFO ",'paths':{" INSIGHT_PATHS(V3_TYPE, V3_ANSWER) "},"
		"'components':{'schemas':{" INSIGHT_SCHEMAS(V3_PLACE) "}}}" },
	[DOCUMENT_OPENAPI_V3] = { "application/json",
		"{'paths':{'apis/" GROUP_VERSION "':{'serverRelativeURL':'/openapi/v3/apis/" GROUP_VERSION
		"?hash=@H'},'apis/" INSIGHT_GROUP "/v1':{'serverRelativeURL':'/openapi/v3" INSIGHT_ROOT
		"?hash=@I'}}}" },
};
/* clang-format on */
