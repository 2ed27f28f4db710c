/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests from arrival to reply through the whole room, with scripted neighbours: fake_httpd below, fake_kube and fake_cache beside. Sockets and TLS are in test_serve.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "fake_cache.h"
#include "fake_httpd.h"
#include "fake_kube.h"
#include "net/x509.h"
#include "serve/discovery.h"
#include "serve/frontproxy.h"
#include "serve/kedametrics.h"
#include "serve/request.h"
#include "serve/traffic.h"

#define API "/apis/external.metrics.k8s.io/v1beta1"
#define SELECTOR "?labelSelector=scaledobject.keda.sh%2Fname%3Dweb"
#define METRIC API "/namespaces/shop/s0-redis-jobs"

static struct loop *loop;
static struct kube *kube;
static struct fake_cache *cache;
static struct serve serve;
static struct fake_connection connection;
static struct httpd_request last; /* the newest request */

/* --- asking ------------------------------------------------------------------------------------------------------------------------------------------ */

static struct httpd_request *send_to(enum route_port port, const char *method, const char *uri, const char *token, const char *header, const char *value)
{
	int n = 0;

	fake_httpd_done(&last);
	last = (struct httpd_request){ .connection = &connection, .method = method, .uri = uri };
	if (token)
		last.headers[n++] = (struct fake_header){ "Authorization", token };
	last.headers[n++] = (struct fake_header){ "User-Agent", "test/1" };
	if (header)
		last.headers[n++] = (struct fake_header){ header, value };
	request_start(&serve, port, &last);
	return &last;
}

/* As a user who may do everything and is known. */
static struct httpd_request *get(const char *uri)
{
	return send_to(ROUTE_SECURE, "GET", uri, "Bearer root", NULL, NULL);
}

static struct httpd_request *get_accepting(const char *uri, const char *accept)
{
	return send_to(ROUTE_SECURE, "GET", uri, "Bearer root", "Accept", accept);
}

static void expect_status(const struct httpd_request *r, int code, const char *reason, const char *message)
{
	assert_int_equal(r->status, code);
	assert_string_equal(r->content_type, "application/json");
	assert_true(fake_httpd_says(r, "kind", "Status"));
	assert_true(fake_httpd_says(r, "reason", reason));
	assert_true(fake_httpd_says(r, "message", message));
}

static json_t *body_of(const struct httpd_request *r)
{
	json_t *body = json_parse(r->body, r->body_len, NULL);

	assert_int_equal(r->status, 200);
	assert_non_null(body);
	return body;
}

/* --- who and whether --------------------------------------------------------------------------------------------------------------------------------- */

static void nobody_gets_401(void **state)
{
	static const char *const uris[] = { METRIC SELECTOR, "/apis", "/version", "/metrics", "/openapi/v2", "/no/such/path", "/" };

	(void)state;
	for (size_t i = 0; i < sizeof(uris) / sizeof(uris[0]); i++) {
		struct httpd_request *r = send_to(ROUTE_SECURE, "GET", uris[i], NULL, NULL, NULL);

		expect_status(r, 401, "Unauthorized", "neither");
		assert_non_null(strstr(r->reply_headers, "WWW-Authenticate: Bearer\n"));
	}
	assert_int_equal(cache->asked, 0);
}

static void a_user_passes_both_reviews(void **state)
{
	struct httpd_request *r = send_to(ROUTE_SECURE, "GET", METRIC SELECTOR, "Bearer t", NULL, NULL);

	(void)state;
	assert_int_equal(r->status, 0);
	fake_kube_answer_token(kube, "mia", NULL);
	assert_int_equal(r->status, 0);
	assert_string_equal(fake_kube_access(kube), "mia list external.metrics.k8s.io/v1beta1 s0-redis-jobs shop");
	fake_kube_answer_access(kube, true, NULL);
	assert_int_equal(r->status, 0);
	fake_cache_answer(cache, 3);
	assert_int_equal(r->status, 200);
	assert_null(serve.waiting);
}

static void a_denied_user_gets_403(void **state)
{
	struct httpd_request *r = send_to(ROUTE_SECURE, "GET", METRIC SELECTOR, "Bearer t", NULL, NULL);

	(void)state;
	fake_kube_answer_token(kube, "mia", NULL);
	fake_kube_answer_access(kube, false, "no RBAC rule");
	expect_status(r, 403, "Forbidden", "User \"mia\" cannot list resource \"s0-redis-jobs\"");
	r = send_to(ROUTE_SECURE, "GET", METRIC SELECTOR, "Bearer t", NULL, NULL); /* from memory */
	expect_status(r, 403, "Forbidden", "no RBAC rule");
	assert_int_equal(cache->asked, 0);
}

static void reviews_that_fail_are_503(void **state)
{
	struct httpd_request *r = send_to(ROUTE_SECURE, "GET", METRIC SELECTOR, "Bearer t", NULL, NULL);

	(void)state;
	fake_kube_fail_token(kube, ERR_DENIED, 403, "tokenreviews is forbidden");
	expect_status(r, 503, "ServiceUnavailable", "tokenreviews is forbidden");
	assert_null(strstr(r->reply_headers, "Retry-After"));
	r = send_to(ROUTE_SECURE, "GET", METRIC SELECTOR, "Bearer t", NULL, NULL);
	fake_kube_answer_token(kube, "mia", NULL);
	fake_kube_fail_access(kube, ERR_TEMPORARY, "connection refused");
	expect_status(r, 503, "ServiceUnavailable", "connection refused");
}

static void too_many_strangers_get_429(void **state)
{
	enum { MANY = 70 };
	struct httpd_request *many = mem_array(MANY, sizeof(*many));
	struct fake_connection connections[MANY] = { { NULL, NULL, NULL } };
	char tokens[MANY][32];
	int refused = 0;

	(void)state;
	for (int i = 0; i < MANY; i++) {
		snprintf(tokens[i], sizeof(tokens[i]), "Bearer made-up-%d", i);
		many[i] = (struct httpd_request){ .connection = &connections[i], .method = "GET", .uri = METRIC SELECTOR, .headers = { { "Authorization", tokens[i] } } };
		request_start(&serve, ROUTE_SECURE, &many[i]);
	}
	loop_turn(loop);
	for (int i = 0; i < MANY; i++) {
		refused += many[i].status == 429;
		if (many[i].status == 429) {
			expect_status(&many[i], 429, "TooManyRequests", "too many reviews");
			assert_non_null(strstr(many[i].reply_headers, "Retry-After: 1\n"));
		}
	}
	assert_true(refused > 0 && refused < MANY);
	assert_int_equal(fake_kube_token_reviews(kube), MANY - refused);
	request_end_all(&serve);
	for (int i = 0; i < MANY; i++) {
		assert_true(many[i].status == 429 || many[i].status == 503);
		fake_httpd_done(&many[i]);
		fake_httpd_close(&connections[i]);
	}
	free(many);
}

static void what_is_not_there_is_404_and_wrong_methods_are_405(void **state)
{
	static const char *const methods[] = { "POST", "PUT", "PATCH", "DELETE", "OPTIONS" };

	(void)state;
	expect_status(get("/api/v1/pods"), 404, "NotFound", "/api/v1/pods");
	expect_status(get(API "/namespaces/shop"), 404, "NotFound", "");
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		struct httpd_request *r = send_to(ROUTE_SECURE, methods[i], METRIC SELECTOR, "Bearer root", NULL, NULL);

		expect_status(r, 405, "MethodNotAllowed", methods[i]);
		assert_non_null(strstr(r->reply_headers, "Allow: GET, HEAD\n"));
	}
	assert_int_equal(cache->asked, 0);
}

static void discovery_paths_need_a_review_too(void **state)
{
	struct httpd_request *r = send_to(ROUTE_SECURE, "HEAD", "/apis/", "Bearer t", NULL, NULL);

	(void)state;
	fake_kube_answer_token(kube, "mia", NULL);
	assert_string_equal(fake_kube_access(kube), "mia get /apis");
	fake_kube_answer_access(kube, true, NULL);
	assert_int_equal(r->status, 200);
}

/* --- metrics ------------------------------------------------------------------------------------------------------------------------------------------ */

static void a_fresh_reading_is_answered_at_once(void **state)
{
	static const char start[] = "{\"kind\":\"ExternalMetricValueList\",\"apiVersion\":\"external.metrics.k8s.io/v1beta1\",\"metadata\":{},"
		"\"items\":[{\"metricName\":\"s0-redis-jobs\",\"metricLabels\":null,\"timestamp\":\"";
	struct httpd_request *r;
	int64_t when_ms, now_ms = timestamp_now_ms();
	json_t *body, *item;

	(void)state;
	cache->memory = FAKE_ANSWER;
	cache->value = 2.5;
	cache->age_ms = 600000;
	serve.metrics_max_age_ms = 700000;
	r = get(API "/namespaces/shop/S0-Redis-Jobs" SELECTOR); /* names are compared without case, and answered as they are */
	body = body_of(r);
	assert_string_equal(r->content_type, "application/json");
	assert_memory_equal(r->body, start, sizeof(start) - 1);
	item = json_array_get(json_object_get(body, "items"), 0);
	assert_int_equal(json_array_size(json_object_get(body, "items")), 1);
	assert_string_equal(json_str_or_empty(item, "value"), "2500m");
	assert_int_equal(timestamp_parse(json_str_or_empty(item, "timestamp"), &when_ms, NULL), 0);
	assert_true(when_ms >= now_ms - 602000 && when_ms <= now_ms - 590000); /* when the source was read, not when it was told */
	assert_int_equal(cache->asked, 0);
	json_decref(body);
}

static void an_old_reading_is_asked_for_anew(void **state)
{
	struct httpd_request *r;

	(void)state;
	cache->memory = FAKE_ANSWER;
	cache->age_ms = 1000;
	r = get(METRIC SELECTOR);
	assert_int_equal(r->status, 0);
	assert_int_equal(cache->asked, 1);
	assert_int_equal(cache->max_age_ms, 1000);
	assert_true(cache->deadline_ms > loop_now_ms(loop) && cache->deadline_ms <= loop_now_ms(loop) + 3000);
	fake_cache_answer(cache, 7);
	assert_int_equal(r->status, 200);
	assert_non_null(strstr(r->body, "\"value\":\"7\"}]}"));
}

static void a_failing_source_is_503_with_its_reason(void **state)
{
	struct httpd_request *r;

	(void)state;
	r = get(METRIC SELECTOR);
	fake_cache_fail(cache, "redis 192.0.2.1:6379: no answer in time");
	expect_status(r, 503, "ServiceUnavailable", "metric s0-redis-jobs: redis 192.0.2.1:6379: no answer in time");
	assert_null(strstr(r->reply_headers, "Retry-After")); /* client-go would sleep and repeat, and hold the HPA controller's worker */
	cache->memory = FAKE_FAILURE;
	expect_status(get(METRIC SELECTOR), 503, "ServiceUnavailable", "connection refused");
	assert_true(counters_get(serve.metric_errors, (const char *const[]){ "shop", "s0-redis-jobs", "web", "redisScaler", "0", "scaledobject" }) > 1.5);
	assert_true(counters_get(serve.object_errors, (const char *const[]){ "shop", "web" }) > 1.5);
	fake_cache_remove_object(cache);
	assert_true(counters_get(serve.object_errors, (const char *const[]){ "shop", "web" }) < 0.5);
}

static void an_object_that_cannot_be_built_is_503(void **state)
{
	(void)state;
	cache->build_error = ERR_INVALID;
	expect_status(get(METRIC SELECTOR), 503, "ServiceUnavailable", "trigger 0 (redis): listName is missing");
	cache->build_error = ERR_TEMPORARY;
	expect_status(get(METRIC SELECTOR), 503, "ServiceUnavailable", "listName");
}

static void what_is_unknown_is_404_by_name(void **state)
{
	(void)state;
	expect_status(get(API "/namespaces/attic/s0-redis-jobs" SELECTOR), 404, "NotFound", "no ScaledObject is known in namespace \"attic\"");
	expect_status(get(METRIC "?labelSelector=scaledobject.keda.sh/name=gone"), 404, "NotFound", "shop/gone does not exist");
	expect_status(get(API "/namespaces/shop/s1-redis-jobs" SELECTOR), 404, "NotFound", "has no metric s1-redis-jobs");
	cache->synced = false;
	expect_status(get(METRIC "?labelSelector=scaledobject.keda.sh/name=gone"), 503, "ServiceUnavailable", "were not read yet");
	cache->trouble = "scaledobjects.keda.sh is forbidden";
	expect_status(get(METRIC "?labelSelector=scaledobject.keda.sh/name=gone"), 503, "ServiceUnavailable", "scaledobjects.keda.sh is forbidden");
}

static void an_object_that_goes_while_it_is_asked_for_is_404(void **state)
{
	struct httpd_request *r = get(METRIC SELECTOR);

	(void)state;
	fake_cache_remove_object(cache);
	fake_cache_answer(cache, 7);
	expect_status(r, 404, "NotFound", "shop");
}

static void bad_selectors_are_400(void **state)
{
	static const struct { const char *query, *says; } cases[] = {
		{ "", "scaledObject name is not specified" },
		{ "?labelSelector=", "scaledObject name is not specified" },
		{ "?labelSelector=app%3Dweb", "scaledObject name is not specified" },
		{ "?labelSelector=scaledobject.keda.sh%2Fname%3D", "" },
		{ "?labelSelector=scaledobject.keda.sh%2Fname", "labelSelector" },
		{ "?labelSelector=scaledobject.keda.sh%2Fname+in+(web)", "labelSelector" },
		{ "?labelSelector=scaledobject.keda.sh%2Fname!%3Dweb", "labelSelector" },
		{ "?labelSelector=scaledobject.keda.sh%2Fname%3D..%2Fweb", "labelSelector" },
		{ "?labelSelector=%00", "" },
		{ "?labelSelector=%zz", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char uri[512];

		snprintf(uri, sizeof(uri), "%s%s", METRIC, cases[i].query);
		expect_status(get(uri), 400, "BadRequest", cases[i].says);
	}
	assert_int_equal(cache->asked, 0);
}

static void other_labels_are_not_looked_at(void **state)
{
	(void)state;
	cache->memory = FAKE_ANSWER;
	assert_int_equal(get(METRIC "?labelSelector=app%3Dx,scaledobject.keda.sh%2Fname%3D%3Dweb&limit=5")->status, 200);
}

static void names_in_the_path_are_decoded_or_400(void **state)
{
	static char giant[1200 + sizeof(API SELECTOR)];
	char long_namespace[200];

	(void)state;
	cache->memory = FAKE_ANSWER;
	assert_int_equal(get(API "/namespaces/sh%6Fp/s0%2Dredis-jobs" SELECTOR)->status, 200);
	expect_status(get(API "/namespaces/shop/s0%" SELECTOR), 400, "BadRequest", "badly encoded");
	expect_status(get(API "/namespaces/shop/s0%00" SELECTOR), 400, "BadRequest", "badly encoded");
	expect_status(get(API "/namespaces/shop/%ff" SELECTOR), 400, "BadRequest", "badly encoded");
	snprintf(giant, sizeof(giant), "%s/namespaces/shop/%01100d", API, 1);
	expect_status(get(giant), 400, "BadRequest", "too long");
	snprintf(long_namespace, sizeof(long_namespace), "%s/namespaces/%064d/m", API, 1);
	expect_status(get(long_namespace), 400, "BadRequest", "too long");
}

static void any_character_may_be_in_a_name(void **state)
{
	(void)state;
	expect_status(get(API "/namespaces/shop/s0-%22%2F%0A%C3%BC" SELECTOR), 404, "NotFound", "has no metric s0-\"/\n\xC3\xBC");
}

static void who_leaves_takes_his_question_along(void **state)
{
	struct httpd_request *r = get(METRIC SELECTOR);

	(void)state;
	assert_int_equal(cache->asked, 1);
	fake_httpd_leave(r);
	assert_int_equal(cache->cancelled, 1);
	assert_null(serve.waiting);
	r = send_to(ROUTE_SECURE, "GET", METRIC SELECTOR, "Bearer t", NULL, NULL);
	fake_httpd_leave(r);
	fake_kube_answer_token(kube, "mia", NULL);
	r = send_to(ROUTE_SECURE, "GET", METRIC SELECTOR, "Bearer t", NULL, NULL);
	fake_httpd_leave(r);
	fake_kube_answer_access(kube, true, NULL);
	assert_null(serve.waiting);
}

static void at_the_end_all_who_wait_are_told(void **state)
{
	struct httpd_request *r = get(METRIC SELECTOR);

	(void)state;
	request_end_all(&serve);
	expect_status(r, 503, "ServiceUnavailable", "stopping");
	assert_int_equal(cache->cancelled, 1);
}

/* --- discovery ------------------------------------------------------------------------------------------------------------------------------------------ */

static void groups_are_told_in_the_form_that_is_asked_for(void **state)
{
	static const char v2[] = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
	json_t *body;

	(void)state;
	body = body_of(get("/apis"));
	assert_string_equal(json_str_or_empty(body, "kind"), "APIGroupList");
	assert_string_equal(json_str_or_empty(json_array_get(json_object_get(body, "groups"), 0), "name"), "external.metrics.k8s.io");
	json_decref(body);
	body = body_of(get_accepting("/apis", v2));
	assert_string_equal(last.content_type, v2);
	assert_string_equal(json_str_or_empty(body, "kind"), "APIGroupDiscoveryList");
	assert_string_equal(json_str_or_empty(body, "apiVersion"), "apidiscovery.k8s.io/v2");
	json_decref(body);
	body = body_of(get_accepting("/apis", "application/vnd.kubernetes.protobuf"));
	assert_string_equal(json_str_or_empty(body, "kind"), "APIGroupList");
	json_decref(body);
}

static void the_one_resource_is_listed(void **state)
{
	json_t *body = body_of(get(API)), *resource;

	(void)state;
	assert_string_equal(json_str_or_empty(body, "kind"), "APIResourceList");
	assert_string_equal(json_str_or_empty(body, "groupVersion"), "external.metrics.k8s.io/v1beta1");
	resource = json_array_get(json_object_get(body, "resources"), 0);
	assert_string_equal(json_str_or_empty(resource, "name"), "externalmetrics");
	assert_string_equal(json_str_or_empty(resource, "kind"), "ExternalMetricValueList");
	assert_true(json_is_true(json_object_get(resource, "namespaced")));
	json_decref(body);
}

static void every_document_is_json_and_known_by_its_etag(void **state)
{
	static const char *const uris[] = { "/apis", "/apis/external.metrics.k8s.io", API, "/version", "/openapi/v2", "/openapi/v3", ("/openapi/v3" API) };

	(void)state;
	for (size_t i = 0; i < sizeof(uris) / sizeof(uris[0]); i++) {
		struct httpd_request *r = get(uris[i]);
		char etag[64] = "";

		json_decref(body_of(r));
		assert_int_equal(sscanf(r->reply_headers, "ETag: %63s", etag), 1);
		r = send_to(ROUTE_SECURE, "GET", uris[i], "Bearer root", "If-None-Match", etag);
		assert_int_equal(r->status, 304);
		assert_int_equal(r->body_len, 0);
		r = send_to(ROUTE_SECURE, "GET", uris[i], "Bearer root", "If-None-Match", "\"0000000000000000\"");
		assert_int_equal(r->status, 200);
	}
}

static void the_openapi_index_points_to_the_document(void **state)
{
	json_t *body = body_of(get("/openapi/v3"));
	const char *url = json_str_or_empty(json_object_get(json_object_get(body, "paths"), "apis/external.metrics.k8s.io/v1beta1"), "serverRelativeURL");
	char kept[256], hash[64] = "", etag[64] = "";

	(void)state;
	snprintf(kept, sizeof(kept), "%s", url);
	json_decref(body);
	assert_int_equal(sscanf(kept, "/openapi/v3" API "?hash=%63s", hash), 1);
	body = body_of(get(kept));
	assert_string_equal(json_str_or_empty(body, "openapi"), "3.0.0");
	assert_int_equal(sscanf(last.reply_headers, "ETag: \"%63[^\"]", etag), 1);
	assert_string_equal(hash, etag);
	json_decref(body);
	expect_status(get_accepting("/openapi/v2", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"), 406, "NotAcceptable", "application/json");
	expect_status(get_accepting(kept, "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"), 406, "NotAcceptable", "application/json");
}

static void references_in_openapi_lead_somewhere(json_t *root, json_t *value)
{
	const char *key;
	json_t *child;
	size_t i;

	json_array_foreach(value, i, child)
		references_in_openapi_lead_somewhere(root, child);
	json_object_foreach(value, key, child) {
		if (!strcmp(key, "$ref")) {
			char path[256];
			json_t *at = root;

			snprintf(path, sizeof(path), "%s", json_string_value(child));
			assert_non_null(strtok(path, "/"));
			for (char *part; (part = strtok(NULL, "/")); )
				at = json_object_get(at, part);
			assert_non_null(at);
		}
		references_in_openapi_lead_somewhere(root, child);
	}
}

static void openapi_is_whole(void **state)
{
	static const char *const uris[] = { "/openapi/v2", ("/openapi/v3" API) };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		json_t *body = body_of(get(uris[i]));

		assert_non_null(json_object_get(json_object_get(body, "paths"), API "/namespaces/{namespace}/{metric}"));
		references_in_openapi_lead_somewhere(body, body);
		json_decref(body);
	}
}

static void the_root_lists_paths(void **state)
{
	json_t *body = body_of(get("/"));
	json_t *paths = json_object_get(body, "paths");
	bool found = false;

	(void)state;
	for (size_t i = 0; i < json_array_size(paths); i++)
		found |= !strcmp(json_string_value(json_array_get(paths, i)), API);
	assert_true(found);
	json_decref(body);
}

/* --- probes and /metrics ---------------------------------------------------------------------------------------------------------------------------------- */

static struct httpd_request *probe(const char *uri)
{
	return send_to(ROUTE_STATUS, "GET", uri, NULL, NULL, NULL);
}

static void give_certificate(void)
{
	const char *const names[] = { "kscaled.kscaled.svc", NULL };
	struct x509_pair ca = { 0 }, pair = { 0 };

	assert_int_equal(x509_make_ca("ca", timestamp_now_ms(), 3600, &ca, NULL), 0);
	assert_int_equal(x509_make_serving(&ca, names, timestamp_now_ms(), 3600, &pair, NULL), 0);
	assert_int_equal(tls_server_set_certificate(serve.tls, pair.cert_pem, pair.key_pem, NULL), 0);
	x509_pair_done(&ca);
	x509_pair_done(&pair);
}

static void give_front_proxy(void)
{
	struct x509_pair ca = { 0 };
	json_t *configmap;
	char *text;

	assert_int_equal(x509_make_ca("proxy", timestamp_now_ms(), 3600, &ca, NULL), 0);
	configmap = json_pack("{s:{s:s,s:s}}", "data", "requestheader-client-ca-file", ca.cert_pem, "requestheader-username-headers", "[\"X-Remote-User\"]");
	text = json_dumps(configmap, 0);
	fake_kube_list(kube, text);
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
		assert_string_equal(last.body, "ok");
		assert_int_equal(send_to(ROUTE_SECURE, "GET", uris[i], NULL, NULL, NULL)->status, 200); /* nobody is asked who they are */
	}
}

static void readiness_names_what_is_missing(void **state)
{
	(void)state;
	cache->synced = false;
	cache->trouble = "scaledobjects.keda.sh is forbidden";
	assert_int_equal(probe("/readyz")->status, 503);
	assert_non_null(strstr(last.content_type, "text/plain"));
	assert_non_null(strstr(last.body, "[+]ping ok\n"));
	assert_non_null(strstr(last.body, "[-]objects failed: scaledobjects.keda.sh is forbidden\n"));
	assert_non_null(strstr(last.body, "[-]certificate failed: "));
	assert_non_null(strstr(last.body, "[-]front-proxy failed: configmap kube-system/extension-apiserver-authentication"));
	cache->synced = true;
	assert_int_equal(probe("/readyz/objects")->status, 200);
	assert_int_equal(probe("/readyz/certificate")->status, 503);
	give_certificate();
	assert_int_equal(probe("/readyz/certificate")->status, 200);
	assert_int_equal(probe("/readyz")->status, 503);
	assert_null(strstr(last.body, "[-]certificate"));
	give_front_proxy();
	assert_int_equal(probe("/readyz")->status, 200);
	assert_string_equal(last.body, "ok");
	assert_int_equal(probe("/readyz?verbose")->status, 200);
	assert_non_null(strstr(last.body, "[+]front-proxy ok\n"));
	expect_status(probe("/readyz/nothing"), 404, "NotFound", "no such check");
	expect_status(probe("/livez/objects"), 404, "NotFound", "no such check");
}

static void the_status_port_shows_nothing_else(void **state)
{
	(void)state;
	expect_status(probe("/apis"), 404, "NotFound", "");
	expect_status(probe(METRIC SELECTOR), 404, "NotFound", "");
	expect_status(send_to(ROUTE_STATUS, "POST", "/healthz", NULL, NULL, NULL), 405, "MethodNotAllowed", "POST");
	assert_non_null(strstr(last.reply_headers, "Allow: GET, HEAD\n"));
}

static void metrics_tell_what_happened(void **state)
{
	static const char *const lines[] = {
		"kscaled_http_requests_total{port=\"secure\",path=\"metric\",verb=\"GET\",code=\"200\"} 1\n",
		"kscaled_http_requests_total{port=\"secure\",path=\"unknown\",verb=\"GET\",code=\"401\"} 1\n",
		"keda_build_info{version=\"9.9.9\",",
		"keda_resource_registered_total{type=\"scaled_object\",namespace=\"shop\"} 1\n",
		"keda_trigger_registered_total{type=\"redis\"} 1\n",
		"keda_scaler_metrics_value{namespace=\"shop\",metric=\"s0-redis-jobs\",scaledObject=\"web\",scaler=\"redisScaler\",triggerIndex=\"0\",type=\"scaledobject\"} 2.5\n",
		"keda_scaler_active{namespace=\"shop\",metric=\"s0-redis-jobs\",scaledObject=\"web\",scaler=\"redisScaler\",triggerIndex=\"0\",type=\"scaledobject\"} 1\n",
		"keda_scaler_metrics_latency_seconds{namespace=\"shop\",metric=\"s0-redis-jobs\",scaledObject=\"web\",scaler=\"redisScaler\",triggerIndex=\"0\",type=\"scaledobject\"} 2\n",
		"kscaled_loop_longest_turn_seconds ",
		"process_resident_memory_bytes ",
	};

	(void)state;
	cache->memory = FAKE_ANSWER;
	cache->value = 2.5;
	assert_int_equal(get(METRIC SELECTOR)->status, 200);
	assert_int_equal(send_to(ROUTE_SECURE, "GET", "/x", NULL, NULL, NULL)->status, 401);
	assert_int_equal(probe("/metrics")->status, 200);
	assert_string_equal(last.content_type, "text/plain; version=0.0.4; charset=utf-8");
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (!strstr(last.body, lines[i]))
			fail_msg("not on the page: %s", lines[i]);
	assert_int_equal(get("/metrics")->status, 200);
}

static void a_source_without_an_answer_has_no_value(void **state)
{
	(void)state;
	cache->memory = FAKE_NOTHING;
	assert_int_equal(probe("/metrics")->status, 200);
	assert_null(strstr(last.body, "keda_scaler_metrics_value{"));
	assert_non_null(strstr(last.body, "keda_resource_registered_total{"));
}

/* --- the access log ------------------------------------------------------------------------------------------------------------------------------------ */

static char logged[4096];

static void on_line(void *arg, enum log_level level, const char *line)
{
	(void)arg;
	if (level == LOG_LEVEL_DEBUG && strstr(line, "access"))
		snprintf(logged, sizeof(logged), "%s", line);
}

static void expect_logged(const char *const *parts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strstr(logged, parts[i]))
			fail_msg("\"%s\" is not in: %s", parts[i], logged);
	logged[0] = '\0';
}

static void each_request_is_one_line_at_debug(void **state)
{
	static const char *const answered[] = { "GET " METRIC SELECTOR, "from=192.0.2.7:51234", "agent=test/1", "user=root", "code=200", "latency=" };
	static const char *const left[] = { "GET " METRIC SELECTOR, "from=192.0.2.7:51234", "agent=test/1", "user=root", "code=499" };
	static const char *const refused[] = { "POST /apis", "user=- ", "code=401" };

	(void)state;
	log_set_sink(on_line, NULL);
	cache->memory = FAKE_ANSWER;
	get(METRIC SELECTOR);
	assert_string_equal(logged, ""); /* not at info */
	log_setup(LOG_LEVEL_DEBUG, LOG_FORMAT_TEXT);
	get(METRIC SELECTOR);
	expect_logged(answered, sizeof(answered) / sizeof(answered[0]));
	cache->memory = FAKE_NOTHING;
	get(METRIC SELECTOR);
	assert_string_equal(logged, ""); /* not before its end */
	fake_httpd_leave(&last);
	expect_logged(left, sizeof(left) / sizeof(left[0]));
	send_to(ROUTE_SECURE, "POST", "/apis", NULL, NULL, NULL);
	expect_logged(refused, sizeof(refused) / sizeof(refused[0]));
	send_to(ROUTE_SECURE, "GET", "/apis", "Bearer secret-token", NULL, NULL);
	fake_kube_answer_token(kube, NULL, NULL);
	assert_non_null(strstr(logged, "code=401"));
	assert_null(strstr(logged, "secret-token"));
	log_setup(LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
	log_set_sink(NULL, NULL);
	logged[0] = '\0';
}

/* --- life --------------------------------------------------------------------------------------------------------------------------------------------------- */

static int set_up(void **state)
{
	static char version[] = "9.9.9";

	(void)state;
	loop = loop_new(NULL);
	kube = fake_kube_new(loop);
	cache = fake_cache_new(loop);
	serve = (struct serve){ .loop = loop, .cache = &cache->cache, .metrics_max_age_ms = 1000, .metrics_deadline_ms = 3000, .version = version };
	serve.tls = tls_server_new(NULL);
	serve.frontproxy = frontproxy_new(kube);
	serve.authn = authn_new(kube, serve.frontproxy);
	serve.authz = authz_new(kube);
	serve.discovery = discovery_new(version);
	serve.traffic = traffic_new();
	buf_init(&serve.reply, 65536);
	kedametrics_declare(&serve);
	/* "Bearer root" is known. */
	send_to(ROUTE_SECURE, "GET", "/version", "Bearer root", NULL, NULL);
	fake_kube_answer_token(kube, "root", "system:masters");
	assert_int_equal(last.status, 200);
	traffic_free(serve.traffic);
	serve.traffic = traffic_new();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	request_end_all(&serve);
	fake_httpd_done(&last);
	last = (struct httpd_request){ .connection = NULL };
	fake_httpd_close(&connection);
	authz_free(serve.authz);
	authn_free(serve.authn);
	frontproxy_free(serve.frontproxy);
	discovery_free(serve.discovery);
	traffic_free(serve.traffic);
	tls_server_free(serve.tls);
	buf_done(&serve.reply);
	fake_cache_free(cache);
	fake_kube_free(kube);
	loop_free(loop);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nobody_gets_401),
		TEST(a_user_passes_both_reviews),
		TEST(a_denied_user_gets_403),
		TEST(reviews_that_fail_are_503),
		TEST(too_many_strangers_get_429),
		TEST(what_is_not_there_is_404_and_wrong_methods_are_405),
		TEST(discovery_paths_need_a_review_too),
		TEST(a_fresh_reading_is_answered_at_once),
		TEST(an_old_reading_is_asked_for_anew),
		TEST(a_failing_source_is_503_with_its_reason),
		TEST(an_object_that_cannot_be_built_is_503),
		TEST(what_is_unknown_is_404_by_name),
		TEST(an_object_that_goes_while_it_is_asked_for_is_404),
		TEST(bad_selectors_are_400),
		TEST(other_labels_are_not_looked_at),
		TEST(names_in_the_path_are_decoded_or_400),
		TEST(any_character_may_be_in_a_name),
		TEST(who_leaves_takes_his_question_along),
		TEST(at_the_end_all_who_wait_are_told),
		TEST(groups_are_told_in_the_form_that_is_asked_for),
		TEST(the_one_resource_is_listed),
		TEST(every_document_is_json_and_known_by_its_etag),
		TEST(the_openapi_index_points_to_the_document),
		TEST(openapi_is_whole),
		TEST(the_root_lists_paths),
		TEST(the_process_is_alive_from_the_start),
		TEST(readiness_names_what_is_missing),
		TEST(the_status_port_shows_nothing_else),
		TEST(metrics_tell_what_happened),
		TEST(a_source_without_an_answer_has_no_value),
		TEST(each_request_is_one_line_at_debug),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
