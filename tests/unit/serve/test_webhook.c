/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The admission webhook from request to answer: who may ask what, how it is judged, counted, and
 * bounded.
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
#include "base/mem.h"
#include "room.h"
#include "serve/webhook.h"

#define JSON "application/json"

static char *review_of(const char *kind, const char *operation, const char *namespace_, const char *rest)
{
	return mem_printf("{\"apiVersion\":\"admission.k8s.io/"
			  "v1\",\"kind\":\"AdmissionReview\",\"request\":{\"uid\":\"u-7\",\"kind\":{\"group\":\"keda."
			  "sh\",\"version\":\"v1alpha1\",\"kind\":\"%s\"},"
			  "\"operation\":\"%s\",\"namespace\":\"%s\",\"object\":{\"metadata\":{\"name\":\"web\"}},"
			  "\"oldObject\":{\"metadata\":{\"name\":\"old\"}}%s}}",
		kind, operation, namespace_, rest);
}

static char *sent; /* the body of the newest request */

static struct httpd_request *send(const char *path, const char *kind, const char *operation, const char *rest)
{
	free(sent);
	sent = review_of(kind, operation, "shop", rest);
	return room_post(path, JSON, sent);
}

static int tear_down(void **state)
{
	free(sent);
	sent = NULL;
	return room_tear_down(state);
}

static double counted(const char *family, const char *const *values)
{
	static const char *const three[] = { "namespace", "action", "reason", NULL },
				 *const two[] = { "namespace", "action", NULL };
	bool errors = strstr(family, "errors") != NULL;

	return counters_get(counters_declare(room.cache->cache.counters, COUNTERS_COUNTER, family, "",
				    errors ? three : two),
		values);
}

#define VALIDATIONS(...) counted("keda_webhook_scaled_object_validations_total", (const char *const[]){ __VA_ARGS__ })

#define ERRORS(...) counted("keda_webhook_scaled_object_validation_errors_total", (const char *const[]){ __VA_ARGS__ })

static const struct admit_verdict yes = { .allowed = true, .reason = "", .message = "" };
static const struct admit_verdict no = { .allowed = false,
	.reason = "incorrect-replicas",
	.message = "spec.minReplicaCount: 5 is more" };

static const struct admit_verdict missing_template = { .allowed = false,
	.reason = "missing-job",
	.message = "spec.jobTargetRef: missing" };

static void expect_verdict(const struct httpd_request *r, bool allowed)
{
	json_t *body = room_body(r), *response = json_object_get(body, "response");

	assert_string_equal(r->content_type, JSON);
	assert_string_equal(json_str_or_empty(response, "uid"), "u-7");
	assert_int_equal(json_is_true(json_object_get(response, "allowed")), allowed);
	json_decref(body);
}

static void each_kind_has_its_path(void **state)
{
	static const struct {
		const char *path, *kind;
	} cases[] = {
		{ WEBHOOK_SCALEDOBJECT, "ScaledObject" },
		{ WEBHOOK_SCALEDJOB, "ScaledJob" },
		{ WEBHOOK_TRIGGERAUTH, "TriggerAuthentication" },
		{ WEBHOOK_CLUSTERTRIGGERAUTH, "ClusterTriggerAuthentication" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct httpd_request *r = send(cases[i].path, cases[i].kind, "CREATE", "");

		assert_int_equal(r->status, 0);
		assert_string_equal(fake_admit_question()->kind, cases[i].kind);
		assert_string_equal(fake_admit_question()->name, "web");
		fake_admit_answer(&yes);
		expect_verdict(r, true);
		r = send(cases[i].path, cases[(i + 1) % 4].kind, "CREATE", "");
		room_expect_status(r, 400, "BadRequest", "request.kind: ");
	}
	assert_int_equal(fake_admit_ever(), 4);
	assert_null(room.serve.waiting);
}

static void refusals_and_warnings_go_back(void **state)
{
	static const char *const warnings[] = { "take care" };
	const struct admit_verdict careful = { .allowed = true,
		.reason = "",
		.message = "",
		.warnings = warnings,
		.warning_count = 1 };
	struct httpd_request *r = send(WEBHOOK_SCALEDOBJECT, "ScaledObject", "UPDATE", ",\"dryRun\":true");

	(void)state;
	assert_string_equal(fake_admit_question()->old_name, "old");
	assert_true(fake_admit_question()->dry_run);
	fake_admit_answer(&no);
	expect_verdict(r, false);
	assert_non_null(strstr(r->body,
		"\"message\":\"spec.minReplicaCount: 5 is more\",\"reason\":\"Forbidden\",\"code\":403"));
	r = send(WEBHOOK_SCALEDOBJECT, "ScaledObject", "CREATE", "");
	assert_false(fake_admit_question()->dry_run);
	fake_admit_answer(&careful);
	expect_verdict(r, true);
	assert_non_null(strstr(r->body, "\"warnings\":[\"take care\"]"));
}

static void deletions_are_allowed_unseen(void **state)
{
	(void)state;
	expect_verdict(send(WEBHOOK_SCALEDOBJECT, "ScaledObject", "DELETE", ""), true);
	expect_verdict(send(WEBHOOK_TRIGGERAUTH, "TriggerAuthentication", "CONNECT", ""), true);
	assert_int_equal(fake_admit_ever(), 0);
	assert_true(VALIDATIONS("shop", "update") == 0);
}

static void what_is_no_review_is_told(void **state)
{
	(void)state;
	room_expect_status(room_post(WEBHOOK_SCALEDOBJECT, NULL, "{}"), 415, "UnsupportedMediaType",
		"application/json");
	room_expect_status(room_post(WEBHOOK_SCALEDOBJECT, "application/jsonp", "{}"), 415, "UnsupportedMediaType",
		"application/json");
	room_expect_status(room_post(WEBHOOK_SCALEDOBJECT, "text/plain", "{}"), 415, "UnsupportedMediaType",
		"application/json");
	room_expect_status(room_post(WEBHOOK_SCALEDOBJECT, JSON, NULL), 400, "BadRequest", "the body: ");
	room_expect_status(room_post(WEBHOOK_SCALEDOBJECT, "Application/JSON; charset=utf-8", "{"), 400, "BadRequest",
		"the body: ");
	room_expect_status(room_post(WEBHOOK_SCALEDOBJECT, JSON, "{}"), 400, "BadRequest", "not an AdmissionReview");
	room_expect_status(room_send(ROUTE_SECURE, "GET", WEBHOOK_SCALEDOBJECT, NULL, NULL, NULL), 405,
		"MethodNotAllowed", "POST");
	room_expect_status(room_post("/validate-keda-sh-v1alpha1-scaledobjects", JSON, "{}"), 401, "Unauthorized", "");
	assert_int_equal(fake_admit_ever(), 0);
	/* root's, at the start: nobody is asked who they are */
	assert_int_equal(fake_kube_token_reviews_ever(room.kube), 1);
}

static void expect_time_ms(const char *uri, int64_t low, int64_t high)
{
	int64_t left;

	send(uri, "ScaledObject", "CREATE", "");
	left = fake_admit_question()->deadline_ms - loop_now_ms(room.loop);
	if (left < low || left > high)
		fail_msg("%s: %lld ms", uri, (long long)left);
	fake_admit_answer(&yes);
}

static void the_time_that_the_caller_gives_is_kept(void **state)
{
	(void)state;
	expect_time_ms(WEBHOOK_SCALEDOBJECT, 7000, 8000);
	expect_time_ms(WEBHOOK_SCALEDOBJECT "?timeout=10s", 7000, 8000);
	expect_time_ms(WEBHOOK_SCALEDOBJECT "?timeout=30s", 7000, 8000);
	expect_time_ms(WEBHOOK_SCALEDOBJECT "?timeout=3s", 1500, 2500);
	expect_time_ms(WEBHOOK_SCALEDOBJECT "?timeout=1s", 0, 500);
	expect_time_ms(WEBHOOK_SCALEDOBJECT "?timeout=x", 7000, 8000);
}

static void verdicts_are_counted(void **state)
{
	(void)state;
	send(WEBHOOK_SCALEDOBJECT, "ScaledObject", "CREATE", "");
	fake_admit_answer(&yes);
	send(WEBHOOK_SCALEDOBJECT, "ScaledObject", "UPDATE", "");
	fake_admit_answer(&no);
	send(WEBHOOK_SCALEDJOB, "ScaledJob", "CREATE", "");
	fake_admit_answer(&no);
	send(WEBHOOK_SCALEDJOB, "ScaledJob", "UPDATE", "");
	fake_admit_answer(&missing_template);
	send(WEBHOOK_SCALEDJOB, "ScaledJob", "UPDATE", "");
	fake_admit_answer(&yes);
	send(WEBHOOK_TRIGGERAUTH, "TriggerAuthentication", "CREATE", "");
	fake_admit_answer(&no);
	/* All of ScaledObjects, refused ones of ScaledJobs, too, by KEDA's names. */
	assert_true(VALIDATIONS("shop", "create") == 1);
	assert_true(VALIDATIONS("shop", "update") == 1);
	assert_true(ERRORS("shop", "update", "incorrect-replicas") == 1);
	assert_true(ERRORS("shop", "create", "incorrect-replicas") == 1);
	assert_true(ERRORS("shop", "update", "missing-job") == 1);
}

/* Strangers may send any namespace. */
static void namespaces_that_are_counted_have_an_end(void **state)
{
	(void)state;
	for (int i = 0; i < 1010; i++) {
		char namespace_[32];
		char *body;

		snprintf(namespace_, sizeof(namespace_), "ns-%d", i);
		body = review_of("ScaledObject", "CREATE", namespace_, "");
		room_post(WEBHOOK_SCALEDOBJECT, JSON, body);
		fake_admit_answer(&yes);
		free(body);
	}
	assert_true(VALIDATIONS("ns-999", "create") == 1);
	assert_true(VALIDATIONS("ns-1000", "create") == 0);
	assert_true(VALIDATIONS("", "create") == 10);
}

/* Up to megabytes each, which would be kept for ever. */
static void what_is_no_namespace_is_not_counted_by_name(void **state)
{
	static const char *const strange[] = { "a-name-that-is-longer-than-the-sixty-three-bytes-that-a-namespace-has",
		"Shop", "a b", "../x" };

	(void)state;
	for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++) {
		char *body = review_of("ScaledObject", "CREATE", strange[i], "");

		room_post(WEBHOOK_SCALEDOBJECT, JSON, body);
		fake_admit_answer(&yes);
		free(body);
		assert_true(VALIDATIONS(strange[i], "create") == 0);
	}
	assert_true(VALIDATIONS("", "create") == 4);
}

static void who_leaves_is_forgotten(void **state)
{
	(void)state;
	fake_httpd_leave(send(WEBHOOK_SCALEDOBJECT, "ScaledObject", "CREATE", ""));
	assert_int_equal(fake_admit_cancelled(), 1);
	assert_int_equal(fake_admit_waiting(), 0);
	assert_null(room.serve.waiting);
}

static void the_end_answers_all_that_wait(void **state)
{
	struct httpd_request *r = send(WEBHOOK_SCALEDOBJECT, "ScaledObject", "CREATE", "");

	(void)state;
	request_end_all(&room.serve);
	room_expect_status(r, 503, "ServiceUnavailable", "kscaled is stopping");
	assert_int_equal(fake_admit_waiting(), 0);
}

static void too_many_at_once_get_429(void **state)
{
	enum { MANY = WEBHOOK_CALLS_MAX + 2 };
	struct httpd_request *many = mem_array(MANY, sizeof(*many));
	struct fake_connection connections[MANY] = { { 0 } };
	char *body = review_of("ScaledObject", "CREATE", "shop", "");

	(void)state;
	for (int i = 0; i < MANY; i++) {
		many[i] = (struct httpd_request){ .connection = &connections[i],
			.method = "POST",
			.uri = WEBHOOK_SCALEDOBJECT,
			.sent = body,
			.headers = { { "Content-Type", JSON } } };
		request_start(&room.serve, ROUTE_SECURE, &many[i]);
		assert_int_equal(many[i].status, i < WEBHOOK_CALLS_MAX ? 0 : 429);
	}
	room_expect_status(&many[MANY - 1], 429, "TooManyRequests", "too many at once");
	assert_int_equal(fake_admit_waiting(), WEBHOOK_CALLS_MAX);
	fake_admit_answer(&yes);
	fake_httpd_done(&many[MANY - 1]);
	many[MANY - 1].status = 0;
	request_start(&room.serve, ROUTE_SECURE, &many[MANY - 1]);
	assert_int_equal(many[MANY - 1].status, 0);
	while (fake_admit_waiting() > 0)
		fake_admit_answer(&yes);
	for (int i = 0; i < MANY; i++) {
		fake_httpd_done(&many[i]);
		fake_httpd_close(&connections[i]);
	}
	free(body);
	free(many);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, room_set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_kind_has_its_path),
		TEST(refusals_and_warnings_go_back),
		TEST(deletions_are_allowed_unseen),
		TEST(what_is_no_review_is_told),
		TEST(the_time_that_the_caller_gives_is_kept),
		TEST(verdicts_are_counted),
		TEST(namespaces_that_are_counted_have_an_end),
		TEST(what_is_no_namespace_is_not_counted_by_name),
		TEST(who_leaves_is_forgotten),
		TEST(the_end_answers_all_that_wait),
		TEST(too_many_at_once_get_429),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
