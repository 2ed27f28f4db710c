/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests from arrival to reply: authentication, authorization, the answer to a metric, and the
 * log. Sockets and TLS are in test_serve.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "room.h"

/* ---- Users and access ---- */

static void an_unknown_user_gets_401(void **state)
{
	static const char *const uris[] = { ROOM_METRIC ROOM_SELECTOR, "/apis", "/version", "/metrics", "/openapi/v2",
		"/no/such/path", "/" };

	(void)state;
	for (size_t i = 0; i < sizeof(uris) / sizeof(uris[0]); i++) {
		struct httpd_request *r = room_send(ROUTE_SECURE, "GET", uris[i], NULL, NULL, NULL);

		room_expect_status(r, 401, "Unauthorized", "neither");
		assert_non_null(strstr(r->reply_headers, "WWW-Authenticate: Bearer\n"));
	}
	assert_int_equal(room.cache->asked, 0);
}

static void a_user_passes_both_reviews(void **state)
{
	struct httpd_request *r = room_send(ROUTE_SECURE, "GET", ROOM_METRIC ROOM_SELECTOR, "Bearer t", NULL, NULL);

	(void)state;
	assert_int_equal(r->status, 0);
	fake_kube_answer_token(room.kube, "mia", NULL);
	assert_int_equal(r->status, 0);
	assert_string_equal(fake_kube_access(room.kube), "mia list external.metrics.k8s.io/v1beta1 s0-redis-jobs shop");
	fake_kube_answer_access(room.kube, true, NULL);
	assert_int_equal(r->status, 0);
	fake_cache_answer(room.cache, 3);
	assert_int_equal(r->status, 200);
	assert_null(room.serve.waiting);
}

static void a_denied_user_gets_403(void **state)
{
	struct httpd_request *r = room_send(ROUTE_SECURE, "GET", ROOM_METRIC ROOM_SELECTOR, "Bearer t", NULL, NULL);

	(void)state;
	fake_kube_answer_token(room.kube, "mia", NULL);
	fake_kube_answer_access(room.kube, false, "no RBAC rule");
	room_expect_status(r, 403, "Forbidden", "User \"mia\" cannot list resource \"s0-redis-jobs\"");
	r = room_send(ROUTE_SECURE, "GET", ROOM_METRIC ROOM_SELECTOR, "Bearer t", NULL, NULL); /* from memory */
	room_expect_status(r, 403, "Forbidden", "no RBAC rule");
	assert_int_equal(room.cache->asked, 0);
}

static void reviews_that_fail_are_503(void **state)
{
	struct httpd_request *r = room_send(ROUTE_SECURE, "GET", ROOM_METRIC ROOM_SELECTOR, "Bearer t", NULL, NULL);

	(void)state;
	fake_kube_fail_token(room.kube, ERR_DENIED, 403, "tokenreviews is forbidden");
	room_expect_status(r, 503, "ServiceUnavailable", "tokenreviews is forbidden");
	assert_null(strstr(r->reply_headers, "Retry-After"));
	r = room_send(ROUTE_SECURE, "GET", ROOM_METRIC ROOM_SELECTOR, "Bearer t", NULL, NULL);
	fake_kube_answer_token(room.kube, "mia", NULL);
	fake_kube_fail_access(room.kube, ERR_TEMPORARY, "connection refused");
	room_expect_status(r, 503, "ServiceUnavailable", "connection refused");
}

static void too_many_strangers_get_429(void **state)
{
	enum { MANY = 70 };
	struct httpd_request *many = mem_array(MANY, sizeof(*many));
	struct fake_connection connections[MANY] = { { 0 } };
	char tokens[MANY][32];
	int refused = 0;

	(void)state;
	for (int i = 0; i < MANY; i++) {
		snprintf(tokens[i], sizeof(tokens[i]), "Bearer made-up-%d", i);
		many[i] = (struct httpd_request){ .connection = &connections[i],
			.method = "GET",
			.uri = ROOM_METRIC ROOM_SELECTOR,
			.headers = { { "Authorization", tokens[i] } } };
		request_start(&room.serve, ROUTE_SECURE, &many[i]);
	}
	loop_turn(room.loop);
	for (int i = 0; i < MANY; i++) {
		refused += many[i].status == 429;
		if (many[i].status == 429) {
			room_expect_status(&many[i], 429, "TooManyRequests", "too many reviews");
			assert_non_null(strstr(many[i].reply_headers, "Retry-After: 1\n"));
		}
	}
	assert_true(refused > 0 && refused < MANY);
	assert_int_equal(fake_kube_token_reviews(room.kube), MANY - refused);
	request_end_all(&room.serve);
	for (int i = 0; i < MANY; i++) {
		assert_true(many[i].status == 429 || many[i].status == 503);
		fake_httpd_done(&many[i]);
		fake_httpd_close(&connections[i]);
	}
	free(many);
}

static void unknown_paths_are_404_and_wrong_methods_405(void **state)
{
	static const char *const methods[] = { "POST", "PUT", "PATCH", "DELETE", "OPTIONS" };

	(void)state;
	room_expect_status(room_get("/api/v1/pods"), 404, "NotFound", "/api/v1/pods");
	room_expect_status(room_get(ROOM_API "/namespaces/shop"), 404, "NotFound", "");
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		struct httpd_request *r = room_send(ROUTE_SECURE, methods[i], ROOM_METRIC ROOM_SELECTOR, "Bearer root",
			NULL, NULL);

		room_expect_status(r, 405, "MethodNotAllowed", methods[i]);
		assert_non_null(strstr(r->reply_headers, "Allow: GET, HEAD\n"));
	}
	assert_int_equal(room.cache->asked, 0);
}

static void discovery_paths_need_a_review_too(void **state)
{
	struct httpd_request *r = room_send(ROUTE_SECURE, "HEAD", "/apis/", "Bearer t", NULL, NULL);

	(void)state;
	fake_kube_answer_token(room.kube, "mia", NULL);
	assert_string_equal(fake_kube_access(room.kube), "mia get /apis");
	fake_kube_answer_access(room.kube, true, NULL);
	assert_int_equal(r->status, 200);
}

/* ---- Metrics ---- */

static void a_fresh_reading_is_answered_at_once(void **state)
{
	static const char start[] =
		"{\"kind\":\"ExternalMetricValueList\",\"apiVersion\":\"external.metrics.k8s.io/"
		"v1beta1\",\"metadata\":{},"
		"\"items\":[{\"metricName\":\"s0-redis-jobs\",\"metricLabels\":null,\"timestamp\":\"";
	struct httpd_request *r;
	int64_t when_ms, now_ms = timestamp_now_ms();
	json_t *body, *item;

	(void)state;
	room.cache->memory = FAKE_ANSWER;
	room.cache->value = 2.5;
	room.cache->age_ms = 600000;
	room.serve.metrics_max_age_ms = 700000;
	/* names are compared without case, and answered as they are */
	r = room_get(ROOM_API "/namespaces/shop/S0-Redis-Jobs" ROOM_SELECTOR);
	body = room_body(r);
	assert_string_equal(r->content_type, "application/json");
	assert_memory_equal(r->body, start, sizeof(start) - 1);
	item = json_array_get(json_object_get(body, "items"), 0);
	assert_int_equal(json_array_size(json_object_get(body, "items")), 1);
	assert_string_equal(json_str_or_empty(item, "value"), "2500m");
	assert_int_equal(timestamp_parse(json_str_or_empty(item, "timestamp"), &when_ms, NULL), 0);
	/* when the source was read, not when it was answered */
	assert_true(when_ms >= now_ms - 602000 && when_ms <= now_ms - 590000);
	assert_int_equal(room.cache->asked, 0);
	json_decref(body);
}

static void an_old_reading_is_refreshed(void **state)
{
	struct httpd_request *r;

	(void)state;
	room.cache->memory = FAKE_ANSWER;
	room.cache->age_ms = 1000;
	r = room_get(ROOM_METRIC ROOM_SELECTOR);
	assert_int_equal(r->status, 0);
	assert_int_equal(room.cache->asked, 1);
	assert_int_equal(room.cache->max_age_ms, 1000);
	assert_true(room.cache->deadline_ms > loop_now_ms(room.loop) &&
		room.cache->deadline_ms <= loop_now_ms(room.loop) + 3000);
	fake_cache_answer(room.cache, 7);
	assert_int_equal(r->status, 200);
	assert_non_null(strstr(r->body, "\"value\":\"7\"}]}"));
}

static void a_failing_source_is_503_with_its_reason(void **state)
{
	struct httpd_request *r;

	(void)state;
	r = room_get(ROOM_METRIC ROOM_SELECTOR);
	fake_cache_fail(room.cache, "redis 192.0.2.1:6379: no answer in time");
	room_expect_status(r, 503, "ServiceUnavailable",
		"metric s0-redis-jobs: redis 192.0.2.1:6379: no answer in time");
	/* client-go would sleep and repeat, and hold the HPA controller's worker */
	assert_null(strstr(r->reply_headers, "Retry-After"));
	room.cache->memory = FAKE_FAILURE;
	room_expect_status(room_get(ROOM_METRIC ROOM_SELECTOR), 503, "ServiceUnavailable", "connection refused");
	assert_true(counters_get(room.serve.metric_errors,
			    (const char *const[]){ "shop", "s0-redis-jobs", "web", "redisScaler", "0",
				    "scaledobject" }) > 1.5);
	assert_true(counters_get(room.serve.object_errors, (const char *const[]){ "shop", "web" }) > 1.5);
	fake_cache_remove_object(room.cache);
	assert_true(counters_get(room.serve.object_errors, (const char *const[]){ "shop", "web" }) < 0.5);
}

static void fallback_replaces_a_failing_source(void **state)
{
	struct httpd_request *r;
	char now[TIMESTAMP_TEXT_MAX];

	(void)state;
	room.cache->memory = FAKE_FAILURE;
	room.cache->falls_back = true;
	room.cache->value = 12.5;
	timestamp_format(timestamp_now_ms(), now);
	r = room_get(ROOM_METRIC ROOM_SELECTOR);
	assert_int_equal(r->status, 200);
	assert_non_null(strstr(r->body, "\"metricName\":\"s0-redis-jobs\""));
	assert_non_null(strstr(r->body, "\"value\":\"12500m\""));
	assert_memory_equal(strstr(r->body, "\"timestamp\":\"") + 13, now, 15); /* no answer: the time of now */
	/* The source's failure is one all the same. */
	assert_true(counters_get(room.serve.metric_errors,
			    (const char *const[]){ "shop", "s0-redis-jobs", "web", "redisScaler", "0",
				    "scaledobject" }) > 0.5);
	room.cache->falls_back = false;
	room.cache->no_fallback = "no pod of the target is ready";
	room_expect_status(room_get(ROOM_METRIC ROOM_SELECTOR), 503, "ServiceUnavailable",
		"connection refused (fallback cannot be used: no pod of the target is ready)");
}

/* The HPA controller asks for nothing at 0 replicas: other clients bring fallback no nearer. */
static void failures_count_where_an_hpa_asks(void **state)
{
	struct workload workload = { .replicas = 0 };

	(void)state;
	room.cache->memory = FAKE_FAILURE;
	room_get(ROOM_METRIC ROOM_SELECTOR);
	assert_true(room.cache->counted);
	room.cache->workload = &workload;
	room_get(ROOM_METRIC ROOM_SELECTOR);
	assert_false(room.cache->counted);
	workload.replicas = 1;
	room_get(ROOM_METRIC ROOM_SELECTOR);
	assert_true(room.cache->counted);
}

static void the_composite_is_answered_by_its_name(void **state)
{
	struct composite composite = { .value = 7.25 };
	struct httpd_request *r;

	(void)state;
	room_expect_status(room_get(ROOM_API "/namespaces/shop/composite-metric" ROOM_SELECTOR), 404, "NotFound",
		"composite-metric");
	room.cache->composite = &composite;
	room.cache->memory = FAKE_ANSWER;
	r = room_get(ROOM_API "/namespaces/shop/composite-metric" ROOM_SELECTOR);
	assert_int_equal(r->status, 200);
	assert_non_null(strstr(r->body, "\"metricName\":\"composite-metric\""));
	assert_non_null(strstr(r->body, "\"value\":\"7250m\""));
	assert_true(room.cache->cached); /* useCachedMetrics is honoured here, and only here */
	composite.failing = true;
	err_set(&composite.err, ERR_INVALID, "spec.advanced.scalingModifiers.formula: index out of range");
	room_expect_status(room_get(ROOM_API "/namespaces/shop/composite-metric" ROOM_SELECTOR), 503,
		"ServiceUnavailable", "metric composite-metric: spec.advanced.scalingModifiers.formula: index");
	assert_true(counters_get(room.serve.object_errors, (const char *const[]){ "shop", "web" }) > 0.5);
}

static void an_object_that_cannot_be_built_is_503(void **state)
{
	(void)state;
	room.cache->build_error = ERR_INVALID;
	room_expect_status(room_get(ROOM_METRIC ROOM_SELECTOR), 503, "ServiceUnavailable",
		"trigger 0 (redis): listName is missing");
	room.cache->build_error = ERR_TEMPORARY;
	room_expect_status(room_get(ROOM_METRIC ROOM_SELECTOR), 503, "ServiceUnavailable", "listName");
}

static void unknown_names_are_404(void **state)
{
	(void)state;
	room_expect_status(room_get(ROOM_API "/namespaces/attic/s0-redis-jobs" ROOM_SELECTOR), 404, "NotFound",
		"no ScaledObject is known in namespace \"attic\"");
	room_expect_status(room_get(ROOM_METRIC "?labelSelector=scaledobject.keda.sh/name=gone"), 404, "NotFound",
		"scaledobject shop/gone not found");
	room.cache->walks = 0;
	room_expect_status(room_get(ROOM_API "/namespaces/shop/s1-redis-jobs" ROOM_SELECTOR), 404, "NotFound",
		"has no metric s1-redis-jobs");
	assert_int_equal(room.cache->walks, 0); /* any tenant's HPAs may ask for it, every 15 s */
	room.cache->synced = false;
	room_expect_status(room_get(ROOM_METRIC "?labelSelector=scaledobject.keda.sh/name=gone"), 503,
		"ServiceUnavailable", "were not read yet");
	room.cache->trouble = "scaledobjects.keda.sh is forbidden";
	room_expect_status(room_get(ROOM_METRIC "?labelSelector=scaledobject.keda.sh/name=gone"), 503,
		"ServiceUnavailable", "scaledobjects.keda.sh is forbidden");
}

/*
 * No HPA is for it. Neither may one be asked for by a namespace that makes the key of the other
 * kind.
 */
static void a_scaledjob_is_404_with_its_own_text(void **state)
{
	static char shop[] = "shop", attic[] = "attic", drain[] = "drain", web[] = "web";
	struct scaledjob sj = { .meta = { .namespace_ = shop, .name = drain } };

	(void)state;
	room.cache->job = &sj;
	room.cache->memory = FAKE_ANSWER;
	room_expect_status(room_get(ROOM_METRIC "?labelSelector=scaledobject.keda.sh/name=drain"), 404, "NotFound",
		"shop/drain is a ScaledJob: its metrics are not served");
	room_expect_status(room_get(ROOM_METRIC "?labelSelector=scaledobject.keda.sh/name=gone"), 404, "NotFound",
		"scaledobject shop/gone not found");
	room_expect_status(room_get(ROOM_API "/namespaces/scaledjobs%2Fshop/"
					     "s0-redis-jobs?labelSelector=scaledobject.keda.sh/name=drain"),
		400, "BadRequest", "\"scaledjobs/shop\" cannot be the name of a namespace");
	sj.meta.namespace_ = attic; /* where there is no ScaledObject */
	room_expect_status(room_get(ROOM_API
				   "/namespaces/attic/s0-redis-jobs?labelSelector=scaledobject.keda.sh/name=drain"),
		404, "NotFound", "attic/drain is a ScaledJob");
	sj.meta = (struct meta){ .namespace_ = shop, .name = web }; /* a ScaledObject of this name is requested */
	assert_int_equal(room_get(ROOM_METRIC ROOM_SELECTOR)->status, 200);
	room_expect_status(room_get(ROOM_API "/namespaces/shop/s1-redis-jobs" ROOM_SELECTOR), 404, "NotFound",
		"has no metric s1-redis-jobs");
	assert_int_equal(room.cache->asked, 0);
	assert_true(counters_get(room.serve.object_errors, (const char *const[]){ "shop", "drain" }) < 0.5);
}

static void an_object_that_goes_while_it_is_asked_for_is_404(void **state)
{
	struct httpd_request *r = room_get(ROOM_METRIC ROOM_SELECTOR);

	(void)state;
	fake_cache_remove_object(room.cache);
	fake_cache_answer(room.cache, 7);
	room_expect_status(r, 404, "NotFound", "shop");
}

static void bad_selectors_are_400(void **state)
{
	static const struct {
		const char *query, *says;
	} cases[] = {
		{ "", "scaledObject name is not specified" },
		{ "?labelSelector=", "scaledObject name is not specified" },
		{ "?labelSelector=app%3Dweb", "scaledObject name is not specified" },
		{ "?labelSelector=scaledobject.keda.sh%2Fname%3D", "" },
		{ "?labelSelector=scaledobject.keda.sh%2Fname", "labelSelector" },
		{ "?labelSelector=scaledobject.keda.sh%2Fname+in+(web)", "labelSelector" },
		{ "?labelSelector=scaledobject.keda.sh%2Fname!%3Dweb", "labelSelector" },
		{ "?labelSelector=scaledobject.keda.sh%2Fname%3D..%2Fweb", "labelSelector" },
		{ "?labelSelector=scaledobject.keda.sh%2Fname%3Dweb%2Fx", "labelSelector" },
		{ "?labelSelector=scaledobject.keda.sh%2Fname%3Dweb,scaledobject.keda.sh%2Fname%3Dother",
			"labelSelector" },
		{ "?labelSelector=%00", "" },
		{ "?labelSelector=%zz", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char uri[512];

		snprintf(uri, sizeof(uri), "%s%s", ROOM_METRIC, cases[i].query);
		room_expect_status(room_get(uri), 400, "BadRequest", cases[i].says);
	}
	assert_int_equal(room.cache->asked, 0);
}

static void other_labels_are_not_looked_at(void **state)
{
	(void)state;
	room.cache->memory = FAKE_ANSWER;
	assert_int_equal(room_get(ROOM_METRIC "?labelSelector=app%3Dx,scaledobject.keda.sh%2Fname%3D%3Dweb&limit=5")
				 ->status,
		200);
	assert_int_equal(room_get(ROOM_METRIC "?labelSelector=scaledobject.keda.sh%2Fname%3D%3Dweb")->status, 200);
	assert_int_equal(room_get(ROOM_METRIC "?labelSelector=scaledobject.keda.sh%2Fname%3D+web")->status, 200);
	assert_int_equal(room_get(ROOM_METRIC "?labelSelector=scaledobject.keda.sh%2Fname%3Dweb,app%3Dx")->status, 200);
}

static void names_in_the_path_are_decoded_or_400(void **state)
{
	static char giant[1200 + sizeof(ROOM_API ROOM_SELECTOR)];
	char long_namespace[200];

	(void)state;
	room.cache->memory = FAKE_ANSWER;
	assert_int_equal(room_get(ROOM_API "/namespaces/sh%6Fp/s0%2Dredis-jobs" ROOM_SELECTOR)->status, 200);
	room_expect_status(room_get(ROOM_API "/namespaces/shop/s0%" ROOM_SELECTOR), 400, "BadRequest", "badly encoded");
	room_expect_status(room_get(ROOM_API "/namespaces/shop/s0%00" ROOM_SELECTOR), 400, "BadRequest",
		"badly encoded");
	room_expect_status(room_get(ROOM_API "/namespaces/shop/%ff" ROOM_SELECTOR), 400, "BadRequest", "badly encoded");
	snprintf(giant, sizeof(giant), "%s/namespaces/shop/%01100d", ROOM_API, 1);
	room_expect_status(room_get(giant), 400, "BadRequest", "too long");
	snprintf(long_namespace, sizeof(long_namespace), "%s/namespaces/%064d/m", ROOM_API, 1);
	room_expect_status(room_get(long_namespace), 400, "BadRequest", "too long");
}

static void any_character_may_be_in_a_name(void **state)
{
	(void)state;
	room_expect_status(room_get(ROOM_API "/namespaces/shop/s0-%22%2F%0A%C3%BC" ROOM_SELECTOR), 404, "NotFound",
		"has no metric s0-\"/ \xC3\xBC" /* a message is one line */);
}

static void a_client_that_leaves_ends_its_request(void **state)
{
	struct httpd_request *r = room_get(ROOM_METRIC ROOM_SELECTOR);

	(void)state;
	assert_int_equal(room.cache->asked, 1);
	fake_httpd_leave(r);
	assert_int_equal(room.cache->cancelled, 1);
	assert_null(room.serve.waiting);
	r = room_send(ROUTE_SECURE, "GET", ROOM_METRIC ROOM_SELECTOR, "Bearer t", NULL, NULL);
	fake_httpd_leave(r);
	fake_kube_answer_token(room.kube, "mia", NULL);
	r = room_send(ROUTE_SECURE, "GET", ROOM_METRIC ROOM_SELECTOR, "Bearer t", NULL, NULL);
	fake_httpd_leave(r);
	fake_kube_answer_access(room.kube, true, NULL);
	assert_null(room.serve.waiting);
}

static void at_the_end_all_waiting_requests_are_answered(void **state)
{
	struct httpd_request *r = room_get(ROOM_METRIC ROOM_SELECTOR);

	(void)state;
	request_end_all(&room.serve);
	room_expect_status(r, 503, "ServiceUnavailable", "stopping");
	assert_int_equal(room.cache->cancelled, 1);
}

/* ---- The access log ---- */

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
	static const char *const answered[] = { "GET " ROOM_METRIC ROOM_SELECTOR, "from=192.0.2.7:51234",
		"agent=test/1", "user=root", "code=200", "latency=" };
	static const char *const left[] = { "GET " ROOM_METRIC ROOM_SELECTOR, "from=192.0.2.7:51234", "agent=test/1",
		"user=root", "code=499" };
	static const char *const refused[] = { "POST /apis", "user=- ", "code=401" };

	(void)state;
	log_set_sink(on_line, NULL);
	room.cache->memory = FAKE_ANSWER;
	room_get(ROOM_METRIC ROOM_SELECTOR);
	assert_string_equal(logged, ""); /* not at info */
	log_setup(LOG_LEVEL_DEBUG, LOG_FORMAT_TEXT);
	room_get(ROOM_METRIC ROOM_SELECTOR);
	expect_logged(answered, sizeof(answered) / sizeof(answered[0]));
	room.cache->memory = FAKE_NOTHING;
	room_get(ROOM_METRIC ROOM_SELECTOR);
	assert_string_equal(logged, ""); /* not before its end */
	fake_httpd_leave(&room.last);
	expect_logged(left, sizeof(left) / sizeof(left[0]));
	room_send(ROUTE_SECURE, "POST", "/apis", NULL, NULL, NULL);
	expect_logged(refused, sizeof(refused) / sizeof(refused[0]));
	room_send(ROUTE_SECURE, "GET", "/apis", "Bearer secret-token", NULL, NULL);
	fake_kube_answer_token(room.kube, NULL, NULL);
	assert_non_null(strstr(logged, "code=401"));
	assert_null(strstr(logged, "secret-token"));
	log_setup(LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
	log_set_sink(NULL, NULL);
	logged[0] = '\0';
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, room_set_up, room_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_unknown_user_gets_401),
		TEST(a_user_passes_both_reviews),
		TEST(a_denied_user_gets_403),
		TEST(reviews_that_fail_are_503),
		TEST(too_many_strangers_get_429),
		TEST(unknown_paths_are_404_and_wrong_methods_405),
		TEST(discovery_paths_need_a_review_too),
		TEST(a_fresh_reading_is_answered_at_once),
		TEST(an_old_reading_is_refreshed),
		TEST(a_failing_source_is_503_with_its_reason),
		TEST(fallback_replaces_a_failing_source),
		TEST(failures_count_where_an_hpa_asks),
		TEST(the_composite_is_answered_by_its_name),
		TEST(an_object_that_cannot_be_built_is_503),
		TEST(unknown_names_are_404),
		TEST(a_scaledjob_is_404_with_its_own_text),
		TEST(an_object_that_goes_while_it_is_asked_for_is_404),
		TEST(bad_selectors_are_400),
		TEST(other_labels_are_not_looked_at),
		TEST(names_in_the_path_are_decoded_or_400),
		TEST(any_character_may_be_in_a_name),
		TEST(a_client_that_leaves_ends_its_request),
		TEST(at_the_end_all_waiting_requests_are_answered),
		TEST(each_request_is_one_line_at_debug),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
