/* SPDX-License-Identifier: Apache-2.0 */
/* Pages other than metrics of objects: discovery, OpenAPI, probes, and /metrics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "../../fakes/fakepki.h"
#include "../room.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "decide/verdict.h"
#include "net/tls/x509.h"

/* ---- Discovery ---- */

static void groups_come_in_the_accepted_form(void **state)
{
	static const char v2[] = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
	json_t *body;

	(void)state;
	body = room_body(room_get("/apis"));
	assert_string_equal(json_str_or_empty(body, "kind"), "APIGroupList");
	assert_string_equal(json_str_or_empty(json_array_get(json_object_get(body, "groups"), 0), "name"),
		"external.metrics.k8s.io");
	assert_string_equal(json_str_or_empty(json_array_get(json_object_get(body, "groups"), 1), "name"),
		"insight.kscaled.io");
	json_decref(body);
	body = room_body(room_get_accepting("/apis", v2));
	assert_int_equal(json_array_size(json_object_get(body, "items")), 2);
	assert_string_equal(room.last.content_type, v2);
	assert_string_equal(json_str_or_empty(body, "kind"), "APIGroupDiscoveryList");
	assert_string_equal(json_str_or_empty(body, "apiVersion"), "apidiscovery.k8s.io/v2");
	json_decref(body);
	body = room_body(room_get_accepting("/apis", "application/vnd.kubernetes.protobuf"));
	assert_string_equal(json_str_or_empty(body, "kind"), "APIGroupList");
	json_decref(body);
}

static void the_one_resource_is_listed(void **state)
{
	json_t *body = room_body(room_get(ROOM_API)), *resource;

	(void)state;
	assert_string_equal(json_str_or_empty(body, "kind"), "APIResourceList");
	assert_string_equal(json_str_or_empty(body, "groupVersion"), "external.metrics.k8s.io/v1beta1");
	resource = json_array_get(json_object_get(body, "resources"), 0);
	assert_string_equal(json_str_or_empty(resource, "name"), "externalmetrics");
	assert_string_equal(json_str_or_empty(resource, "kind"), "ExternalMetricValueList");
	assert_true(json_is_true(json_object_get(resource, "namespaced")));
	json_decref(body);
}

static void resources_of_the_insight_api_have_short_names(void **state)
{
	static const struct {
		const char *name, *kind, *short_name;
	} wanted[] = { { "scaledobjectinsights", "ScaledObjectInsight", "soi" },
		{ "scaledjobinsights", "ScaledJobInsight", "sji" } };
	json_t *body = room_body(room_get(ROOM_INSIGHT)), *list = json_object_get(body, "resources");

	(void)state;
	assert_string_equal(json_str_or_empty(body, "groupVersion"), "insight.kscaled.io/v1");
	assert_int_equal(json_array_size(list), 2);
	for (size_t i = 0; i < 2; i++) {
		json_t *resource = json_array_get(list, i);

		assert_string_equal(json_str_or_empty(resource, "name"), wanted[i].name);
		assert_string_equal(json_str_or_empty(resource, "kind"), wanted[i].kind);
		assert_true(json_is_true(json_object_get(resource, "namespaced")));
		assert_string_equal(json_string_value(json_array_get(json_object_get(resource, "shortNames"), 0)),
			wanted[i].short_name);
		assert_string_equal(json_string_value(json_array_get(json_object_get(resource, "categories"), 0)),
			"kscaled");
	}
	json_decref(body);
}

static void every_document_is_json_and_known_by_its_etag(void **state)
{
	static const char *const uris[] = { "/apis", "/apis/external.metrics.k8s.io", ROOM_API, "/version",
		"/openapi/v2", "/openapi/v3", ("/openapi/v3" ROOM_API), "/apis/insight.kscaled.io", ROOM_INSIGHT,
		("/openapi/v3" ROOM_INSIGHT) };

	(void)state;
	for (size_t i = 0; i < sizeof(uris) / sizeof(uris[0]); i++) {
		struct httpd_request *r = room_get(uris[i]);
		char etag[64] = "";

		json_decref(room_body(r));
		assert_int_equal(sscanf(r->reply_headers, "ETag: %63s", etag), 1);
		r = room_send(ROUTE_SECURE, "GET", uris[i], "Bearer root", "If-None-Match", etag);
		assert_int_equal(r->status, 304);
		assert_int_equal(r->body_len, 0);
		r = room_send(ROUTE_SECURE, "GET", uris[i], "Bearer root", "If-None-Match", "\"0000000000000000\"");
		assert_int_equal(r->status, 200);
	}
}

/* path: of a group's version */
static void expect_pointer_in_index(const char *path)
{
	json_t *body = room_body(room_get("/openapi/v3"));
	const char *url = json_str_or_empty(json_object_get(json_object_get(body, "paths"), path + 1),
		"serverRelativeURL");
	MEM_AUTO char *beginning = mem_printf("/openapi/v3%s?hash=", path);
	char kept[256], hash[64] = "", etag[64] = "";

	snprintf(kept, sizeof(kept), "%s", url);
	json_decref(body);
	assert_int_equal(strncmp(kept, beginning, strlen(beginning)), 0);
	snprintf(hash, sizeof(hash), "%.60s", kept + strlen(beginning));
	body = room_body(room_get(kept));
	assert_string_equal(json_str_or_empty(body, "openapi"), "3.0.0");
	assert_int_equal(sscanf(room.last.reply_headers, "ETag: \"%63[^\"]", etag), 1);
	assert_string_equal(hash, etag);
	json_decref(body);
	room_expect_status(room_get_accepting(kept, "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"), 406,
		"NotAcceptable", "application/json");
}

static void the_openapi_index_points_to_the_documents(void **state)
{
	(void)state;
	expect_pointer_in_index(ROOM_API);
	expect_pointer_in_index(ROOM_INSIGHT);
	room_expect_status(room_get_accepting("/openapi/v2",
				   "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"),
		406, "NotAcceptable", "application/json");
}

static void references_in_openapi_lead_somewhere(json_t *root, json_t *value)
{
	const char *key;
	json_t *child;
	size_t i;

	json_array_foreach(value, i, child) references_in_openapi_lead_somewhere(root, child);
	json_object_foreach(value, key, child)
	{
		if (!strcmp(key, "$ref")) {
			char path[256];
			json_t *at = root;

			snprintf(path, sizeof(path), "%s", json_string_value(child));
			assert_non_null(strtok(path, "/"));
			for (char *part; (part = strtok(NULL, "/"));)
				at = json_object_get(at, part);
			assert_non_null(at);
		}
		references_in_openapi_lead_somewhere(root, child);
	}
}

static void openapi_is_whole(void **state)
{
	static const struct {
		const char *uri, *path;
	} cases[] = { { "/openapi/v2", ROOM_API "/namespaces/{namespace}/{metric}" },
		{ "/openapi/v3" ROOM_API, ROOM_API "/namespaces/{namespace}/{metric}" },
		{ "/openapi/v2", ROOM_INSIGHT "/scaledjobinsights" },
		{ "/openapi/v3" ROOM_INSIGHT, ROOM_INSIGHT "/namespaces/{namespace}/scaledobjectinsights/{name}" } };

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(cases); i++) {
		json_t *body = room_body(room_get(cases[i].uri));

		assert_non_null(json_object_get(json_object_get(body, "paths"), cases[i].path));
		references_in_openapi_lead_somewhere(body, body);
		json_decref(body);
	}
}

static void the_root_lists_paths(void **state)
{
	json_t *body = room_body(room_get("/"));
	json_t *paths = json_object_get(body, "paths");
	bool found = false;

	(void)state;
	for (size_t i = 0; i < json_array_size(paths); i++)
		found |= !strcmp(json_string_value(json_array_get(paths, i)), ROOM_API);
	assert_true(found);
	json_decref(body);
}

/* ---- Probes and /metrics ---- */

static struct httpd_request *probe(const char *uri)
{
	return room_send(ROUTE_STATUS, "GET", uri, NULL, NULL, NULL);
}

static void give_certificate(void)
{
	const char *const names[] = { "kscaled.kscaled.svc", NULL };
	struct x509_pair ca = { 0 }, pair = { 0 };

	fakepki_authority("ca", timestamp_now_ms(), 3600, &ca);
	fakepki_certificate(&ca, names, timestamp_now_ms(), 3600, &pair);
	assert_int_equal(tls_server_set_certificate(room.serve.tls, pair.cert_pem, pair.key_pem, NULL), 0);
	x509_pair_done(&ca);
	x509_pair_done(&pair);
}

static void give_front_proxy(void)
{
	struct x509_pair ca = { 0 };
	json_t *configmap;
	char *text;

	fakepki_authority("proxy", timestamp_now_ms(), 3600, &ca);
	configmap = json_pack("{s:{s:s,s:s}}", "data", "requestheader-client-ca-file", ca.cert_pem,
		"requestheader-username-headers", "[\"X-Remote-User\"]");
	text = json_dumps(configmap, 0);
	fake_kube_list(room.kube, text);
	free(text);
	json_decref(configmap);
	x509_pair_done(&ca);
}

static void the_process_is_alive_from_the_start(void **state)
{
	static const char *const uris[] = { "/healthz", "/livez", "/livez/ping", "/readyz/ping" };

	(void)state;
	for (size_t i = 0; i < sizeof(uris) / sizeof(uris[0]); i++) {
		assert_int_equal(probe(uris[i])->status, 200);
		assert_string_equal(room.last.body, "ok");
		/* no authentication */
		assert_int_equal(room_send(ROUTE_SECURE, "GET", uris[i], NULL, NULL, NULL)->status, 200);
	}
}

static void readiness_names_failing_checks(void **state)
{
	(void)state;
	room.cache->synced = false;
	room.cache->trouble = "scaledobjects.keda.sh is forbidden";
	assert_int_equal(probe("/readyz")->status, 503);
	assert_non_null(strstr(room.last.content_type, "text/plain"));
	assert_non_null(strstr(room.last.body, "[+]ping ok\n"));
	assert_non_null(strstr(room.last.body, "[-]objects failed: scaledobjects.keda.sh is forbidden\n"));
	assert_non_null(strstr(room.last.body, "[-]certificate failed: "));
	assert_non_null(strstr(room.last.body,
		"[-]front-proxy failed: configmap kube-system/extension-apiserver-authentication"));
	room.cache->synced = true;
	assert_int_equal(probe("/readyz/objects")->status, 200);
	assert_int_equal(probe("/readyz/certificate")->status, 503);
	give_certificate();
	assert_int_equal(probe("/readyz/certificate")->status, 200);
	assert_int_equal(probe("/readyz")->status, 503);
	assert_null(strstr(room.last.body, "[-]certificate"));
	give_front_proxy();
	assert_int_equal(probe("/readyz")->status, 200);
	assert_string_equal(room.last.body, "ok");
	assert_int_equal(probe("/readyz?verbose")->status, 200);
	assert_non_null(strstr(room.last.body, "[+]front-proxy ok\n"));
	room_expect_status(probe("/readyz/nothing"), 404, "NotFound", "no such check");
	room_expect_status(probe("/livez/objects"), 404, "NotFound", "no such check");
}

static void the_status_port_shows_nothing_else(void **state)
{
	(void)state;
	room_expect_status(probe("/apis"), 404, "NotFound", "");
	room_expect_status(probe(ROOM_METRIC ROOM_SELECTOR), 404, "NotFound", "");
	room_expect_status(room_send(ROUTE_STATUS, "POST", "/healthz", NULL, NULL, NULL), 405, "MethodNotAllowed",
		"POST");
	assert_non_null(strstr(room.last.reply_headers, "Allow: GET, HEAD\n"));
}

static void metrics_count_events(void **state)
{
	static const char *const lines[] = {
		"kscaled_http_requests_total{port=\"secure\",path=\"metric\",verb=\"GET\",code=\"200\"} 1\n",
		"kscaled_http_requests_total{port=\"secure\",path=\"unknown\",verb=\"GET\",code=\"401\"} 1\n",
		"keda_build_info{version=\"9.9.9\",",
		"keda_resource_registered_total{type=\"scaled_object\",namespace=\"shop\"} 1\n",
		"keda_resource_registered_total{type=\"trigger_authentication\",namespace=\"shop\"} 1\n",
		"keda_resource_registered_total{type=\"cluster_trigger_authentication\",namespace=\"default\"} 1\n",
		"keda_trigger_registered_total{type=\"redis\"} 1\n",
		"keda_scaler_metrics_value{namespace=\"shop\",metric=\"s0-redis-jobs\",scaledObject=\"web\",scaler="
		"\"redisScaler\",triggerIndex=\"0\",type=\"scaledobject\"} 2.5\n",
		"keda_scaler_active{namespace=\"shop\",metric=\"s0-redis-jobs\",scaledObject=\"web\",scaler="
		"\"redisScaler\",triggerIndex=\"0\",type=\"scaledobject\"} 1\n",
		"keda_scaler_metrics_latency_seconds{namespace=\"shop\",metric=\"s0-redis-jobs\",scaledObject=\"web\","
		"scaler=\"redisScaler\",triggerIndex=\"0\",type=\"scaledobject\"} 2\n",
		"kscaled_loop_longest_turn_seconds ",
		"kscaled_loop_longest_turn_cpu_seconds ",
		"kscaled_loop_longest_lag_seconds ",
		"keda_scaled_object_paused{namespace=\"shop\",scaledObject=\"web\"} 0\n",
		"process_resident_memory_bytes ",
	};

	(void)state;
	room.cache->memory = FAKE_ANSWER;
	room.cache->value = 2.5;
	assert_int_equal(room_get(ROOM_METRIC ROOM_SELECTOR)->status, 200);
	assert_int_equal(room_send(ROUTE_SECURE, "GET", "/x", NULL, NULL, NULL)->status, 401);
	assert_int_equal(probe("/metrics")->status, 200);
	assert_string_equal(room.last.content_type, "text/plain; version=0.0.4; charset=utf-8");
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (!strstr(room.last.body, lines[i]))
			fail_msg("not on the page: %s", lines[i]);
	assert_int_equal(room_get("/metrics")->status, 200);
}

/* Each family is in the manual. */
static void the_manual_names_every_metric(void **state)
{
	const char *top = getenv("srcdir");
	MEM_AUTO char *path = mem_printf("%s/man/kscaled.8", top ? top : ".");
	MEM_AUTO char *manual = mem_zalloc(1 << 20);
	FILE *f = fopen(path, "r");
	int families = 0;

	(void)state;
	assert_non_null(f);
	assert_true(fread(manual, 1, (1 << 20) - 1, f) > 0);
	fclose(f);
	assert_int_equal(probe("/metrics")->status, 200);
	for (const char *line = room.last.body; (line = strstr(line, "# TYPE ")) != NULL; families++) {
		MEM_AUTO char *name = NULL;

		line += strlen("# TYPE ");
		name = mem_dupn(line, strcspn(line, " "));
		if (strncmp(name, "process_", strlen("process_")) != 0 && !strstr(manual, name))
			fail_msg("%s is missing in kscaled(8)", name);
	}
	assert_true(families > 20);
}

#define SERIES(name, metric, scaler, index, value)                                                                     \
	name "{namespace=\"shop\",metric=\"" metric "\",scaledObject=\"web\",scaler=\"" scaler                         \
	     "\",triggerIndex=\"" index "\",type=\"scaledobject\"} " value "\n"

/* Values without a source: cpu triggers, the formula, and pauses. */
static void metrics_of_the_object_itself(void **state)
{
	static const char *const lines[] = {
		SERIES("keda_scaler_active", "cpu", "cPUMemoryScaler", "1", "1"),
		SERIES("keda_scaler_active", "composite-metric", "composite-metric", "0", "0"),
		SERIES("keda_scaler_metrics_value", "composite-metric", "composite-metric", "0", "7"),
		"keda_scaled_object_paused{namespace=\"shop\",scaledObject=\"web\"} 1\n",
	};
	static const char text[] =
		"{\"metadata\":{\"namespace\":\"shop\",\"name\":\"web\",\"annotations\":{\"autoscaling.keda.sh/"
		"paused\":\"true\"}},"
		"\"spec\":{\"advanced\":{\"scalingModifiers\":{\"formula\":\"a\",\"target\":\"5\"}}}}";
	struct composite composite = { .value = 7 };
	json_t *json = json_parse(text, strlen(text), NULL);
	struct scaledobject *so = scaledobject_decode(json, NULL);

	(void)state;
	room.cache->object = so;
	room.cache->resource_trigger = true;
	room.cache->memory = FAKE_ANSWER;
	room.cache->composite = &composite;
	assert_int_equal(probe("/metrics")->status, 200);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (!strstr(room.last.body, lines[i]))
			fail_msg("not on the page: %s", lines[i]);
	assert_null(strstr(room.last.body, "keda_scaler_metrics_value{namespace=\"shop\",metric=\"cpu\""));
	assert_null(strstr(room.last.body,
		"keda_scaler_metrics_latency_seconds{namespace=\"shop\",metric=\"composite-metric\""));
	composite.failing = true;
	assert_int_equal(probe("/metrics")->status, 200);
	assert_null(strstr(room.last.body, "composite-metric"));
	scaledobject_free(so);
	json_decref(json);
}

/* A dashboard shows the HPA's values. */
static void fallback_has_a_value(void **state)
{
	static const char *const lines[] = {
		SERIES("keda_scaler_metrics_value", "s0-redis-jobs", "redisScaler", "0", "20"),
		SERIES("keda_scaler_active", "s0-redis-jobs", "redisScaler", "0", "1"),
	};
	static const char text[] = "{\"metadata\":{\"namespace\":\"shop\",\"name\":\"web\"},\"spec\":{\"fallback\":{"
				   "\"failureThreshold\":1,\"replicas\":4}}}";
	json_t *json = json_parse(text, strlen(text), NULL);
	struct scaledobject *so = scaledobject_decode(json, NULL);

	(void)state;
	room.cache->object = so;
	room.cache->memory = FAKE_FAILURE;
	room.cache->value = 20;
	assert_int_equal(probe("/metrics")->status, 200);
	assert_null(strstr(room.last.body, "s0-redis-jobs")); /* below the threshold */
	room.cache->falls_back = true;
	assert_int_equal(probe("/metrics")->status, 200);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (!strstr(room.last.body, lines[i]))
			fail_msg("not on the page: %s", lines[i]);
	assert_null(strstr(room.last.body, "keda_scaler_metrics_latency_seconds{"));
	assert_false(room.cache->surveyed_one); /* a thousand that fail are not looked for one by one */
	room.cache->fallback_replicas = -1;     /* nil in the formula */
	assert_int_equal(probe("/metrics")->status, 200);
	assert_null(strstr(room.last.body, "s0-redis-jobs"));
	scaledobject_free(so);
	json_decref(json);
}

static void a_source_without_an_answer_has_no_value(void **state)
{
	(void)state;
	room.cache->memory = FAKE_NOTHING;
	assert_int_equal(probe("/metrics")->status, 200);
	assert_null(strstr(room.last.body, "keda_scaler_metrics_value{"));
	assert_non_null(strstr(room.last.body, "keda_resource_registered_total{"));
}

/* ---- ScaledJobs ---- */

static struct scaledjob *given_job(const char *name, const char *annotations)
{
	json_t *json = json_pack("{s:{s:s,s:s,s:o},s:{s:[{s:s,s:{}},{s:s,s:{}}]}}", "metadata", "namespace", "shop",
		"name", name, "annotations", json_parse(annotations, strlen(annotations), NULL), "spec", "triggers",
		"type", "redis", "metadata", "type", "cron", "metadata");
	struct scaledjob *sj = scaledjob_decode(json, NULL);

	assert_non_null(sj);
	json_decref(json);
	room.cache->job = sj;
	return sj;
}

#define JOB_SERIES(name, value)                                                                                        \
	name "{namespace=\"shop\",metric=\"s0-redis-jobs\",scaledObject=\"drain\",scaler=\"redisScaler\","             \
	     "triggerIndex=\"0\",type=\"scaledjob\"} " value "\n"

static void expect_lines(const char *const *lines, size_t count)
{
	assert_int_equal(probe("/metrics")->status, 200);
	for (size_t i = 0; i < count; i++)
		if (!strstr(room.last.body, lines[i]))
			fail_msg("not on the page: %s", lines[i]);
}

static void metrics_of_a_scaledjob(void **state)
{
	static const char *const lines[] = {
		JOB_SERIES("keda_scaler_metrics_value", "12"),
		JOB_SERIES("keda_scaler_active", "1"),
		JOB_SERIES("keda_scaler_metrics_latency_seconds", "2"),
		"keda_resource_registered_total{type=\"scaled_object\",namespace=\"shop\"} 1\n",
		"keda_resource_registered_total{type=\"scaled_job\",namespace=\"shop\"} 1\n",
		"keda_trigger_registered_total{type=\"redis\"} 2\n",
		"keda_trigger_registered_total{type=\"cron\"} 1\n",
		"kscaled_scaled_job_paused{namespace=\"shop\",scaledJob=\"drain\"} 0\n",
		"kscaled_jobs{namespace=\"shop\",scaledJob=\"drain\",state=\"running\"} 5\n",
		"kscaled_jobs{namespace=\"shop\",scaledJob=\"drain\",state=\"complete\"} 7\n",
		"kscaled_jobs{namespace=\"shop\",scaledJob=\"drain\",state=\"failed\"} 0\n",
	};
	struct scaledjob *sj = given_job("drain", "{}");

	(void)state;
	room.cache->memory = FAKE_ANSWER;
	room.cache->value = 12;
	room.cache->resource_trigger = true; /* irrelevant and absent for a ScaledJob */
	room.cache->cache.leadership.leading = true;
	room.cache->tally = (struct jobs_tally){ .running = 5, .complete = 7 };
	expect_lines(lines, sizeof(lines) / sizeof(lines[0]));
	assert_null(strstr(room.last.body, "metric=\"cpu\",scaledObject=\"drain\""));
	assert_non_null(strstr(room.last.body, "metric=\"cpu\",scaledObject=\"web\""));
	assert_null(strstr(room.last.body, "keda_scaled_object_paused{namespace=\"shop\",scaledObject=\"drain\"}"));
	assert_int_equal(room.cache->asked, 0);
	scaledjob_free(sj);
}

/* Names of one namespace that would fill the page: they go, and the page stays. */
static void names_as_long_as_the_page_are_left_out(void **state)
{
	static const char *const lines[] = { JOB_SERIES("keda_scaler_metrics_value", "12") };
	enum { LONG = 11 << 20 }; /* three lines of it are more than a page */
	struct scaledjob *sj = given_job("drain", "{}");
	MEM_AUTO char *name = mem_alloc(LONG + 1);

	(void)state;
	memset(name, 'x', LONG);
	name[LONG] = '\0';
	room.cache->trigger_name = name;
	room.cache->memory = FAKE_ANSWER;
	room.cache->value = 12;
	expect_lines(lines, 1);
	assert_null(strstr(room.last.body, "xxxx"));
	scaledjob_free(sj);
}

/* Whatever the text of the type in a refused spec. */
static void types_that_there_are_not_are_counted_together(void **state)
{
	static const char *const lines[] = { "keda_trigger_registered_total{type=\"unknown\"} 2\n",
		"keda_trigger_registered_total{type=\"redis\"} 1\n" };
	char redis[] = "redis", one[] = "one", two[] = "two", web[] = "web", shop[] = "shop";
	struct trigger triggers[] = { { .type = one }, { .type = redis }, { .type = two } };
	struct scaledobject so = { .meta = { .namespace_ = shop, .name = web },
		.spec = { .triggers = triggers, .trigger_count = 3 } };

	(void)state;
	room.cache->object = &so;
	expect_lines(lines, 2);
	assert_null(strstr(room.last.body, "type=\"one\""));
	room.cache->object = NULL;
}

static void a_scaledjob_without_an_answer_has_no_value(void **state)
{
	struct scaledjob *sj = given_job("drain", "{}");

	(void)state;
	room.cache->memory = FAKE_FAILURE;
	room.cache->falls_back = true; /* it has no fallback */
	room.cache->value = 20;
	assert_int_equal(probe("/metrics")->status, 200);
	assert_null(strstr(room.last.body, "type=\"scaledjob\""));
	scaledjob_free(sj);
}

/* A standby does not watch them; a leader that has not read them does not say none. */
static void jobs_are_counted_where_they_are_known(void **state)
{
	struct scaledjob *sj = given_job("drain", "{}");

	(void)state;
	assert_int_equal(probe("/metrics")->status, 200);
	assert_null(strstr(room.last.body, "kscaled_jobs{"));
	assert_int_equal(room.cache->jobs_looked_at, 0);
	room.cache->cache.leadership.leading = true;
	room.cache->jobs_unknown = true;
	assert_int_equal(probe("/metrics")->status, 200);
	assert_null(strstr(room.last.body, "kscaled_jobs{"));
	room.cache->jobs_unknown = false;
	assert_int_equal(probe("/metrics")->status, 200);
	assert_non_null(strstr(room.last.body, "kscaled_jobs{"));
	scaledjob_free(sj);
}

static void paused_scaledjobs(void **state)
{
	static const struct {
		const char *annotations, *line;
	} cases[] = {
		{ "{\"autoscaling.keda.sh/paused\":\"true\"}",
			"kscaled_scaled_job_paused{namespace=\"shop\",scaledJob=\"drain\"} 1\n" },
		{ "{\"autoscaling.keda.sh/paused\":\"false\"}",
			"kscaled_scaled_job_paused{namespace=\"shop\",scaledJob=\"drain\"} 0\n" },
		{ "{\"autoscaling.keda.sh/paused\":\"perhaps\"}", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scaledjob *sj = given_job("drain", cases[i].annotations);

		if (cases[i].line)
			expect_lines(&cases[i].line, 1);
		else
			assert_null(strstr(probe("/metrics")->body, "kscaled_scaled_job_paused{"));
		scaledjob_free(sj);
	}
}

#define JOB_ERRORS                                                                                                     \
	"keda_scaler_detail_errors_total{namespace=\"shop\",metric=\"s0-redis-jobs\",scaledObject=\"web\",scaler="     \
	"\"redisScaler\",triggerIndex=\"0\",type=\"scaledjob\"} 4\n"

/* Control counts them; deleted objects are forgotten. */
static void errors_of_a_scaledjob_go_with_it(void **state)
{
	static const char *const job[] = { "shop", "web" },
				 *const of_job[] = { "shop", "s0-redis-jobs", "web", "redisScaler", "0", "scaledjob" };
	static const char *const labels[] = { "namespace", "scaledJob", NULL };
	struct counters_family *errors = counters_declare(room.cache->cache.counters, COUNTERS_COUNTER,
		"keda_scaled_job_errors_total", "", labels);
	struct scaledjob *sj = given_job("web", "{}");

	(void)state;
	counters_add(errors, job, 3);
	counters_add(room.serve.object_errors, job, 2);
	counters_add(room.serve.metric_errors, of_job, 4);
	assert_int_equal(probe("/metrics")->status, 200);
	assert_non_null(
		strstr(room.last.body, "keda_scaled_job_errors_total{namespace=\"shop\",scaledJob=\"web\"} 3\n"));
	assert_non_null(strstr(room.last.body, JOB_ERRORS));
	fake_cache_remove_job(room.cache);
	assert_true(counters_get(errors, job) < 0.5);
	assert_true(counters_get(room.serve.metric_errors, of_job) < 0.5);
	assert_true(counters_get(room.serve.object_errors, job) > 1.5); /* the ScaledObject of this name */
	scaledjob_free(sj);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, room_set_up, room_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(groups_come_in_the_accepted_form),
		TEST(the_one_resource_is_listed),
		TEST(every_document_is_json_and_known_by_its_etag),
		TEST(the_openapi_index_points_to_the_documents),
		TEST(resources_of_the_insight_api_have_short_names),
		TEST(openapi_is_whole),
		TEST(the_root_lists_paths),
		TEST(the_process_is_alive_from_the_start),
		TEST(readiness_names_failing_checks),
		TEST(the_status_port_shows_nothing_else),
		TEST(metrics_count_events),
		TEST(the_manual_names_every_metric),
		TEST(metrics_of_the_object_itself),
		TEST(fallback_has_a_value),
		TEST(a_source_without_an_answer_has_no_value),
		TEST(metrics_of_a_scaledjob),
		TEST(names_as_long_as_the_page_are_left_out),
		TEST(types_that_there_are_not_are_counted_together),
		TEST(a_scaledjob_without_an_answer_has_no_value),
		TEST(jobs_are_counted_where_they_are_known),
		TEST(paused_scaledjobs),
		TEST(errors_of_a_scaledjob_go_with_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
