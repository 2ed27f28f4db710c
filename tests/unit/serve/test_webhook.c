/* SPDX-License-Identifier: Apache-2.0 */
/* The admission webhook from request to answer: access, verdicts, counts and limits. */
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

static const struct {
	const char *path, *kind;
} plain[] = {
	{ WEBHOOK_SCALEDOBJECT, "ScaledObject" },
	{ WEBHOOK_SCALEDJOB, "ScaledJob" },
	{ WEBHOOK_TRIGGERAUTH, "TriggerAuthentication" },
	{ WEBHOOK_CLUSTERTRIGGERAUTH, "ClusterTriggerAuthentication" },
};

static void expect_asked(struct httpd_request *r, const char *kind)
{
	assert_int_equal(r->status, 0);
	assert_string_equal(fake_admit_question()->kind, kind);
	assert_string_equal(fake_admit_question()->name, "web");
	fake_admit_answer(&yes);
	expect_verdict(r, true);
}

static void all_kinds_are_judged_at_the_secret_path(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(plain); i++)
		expect_asked(send(ROOM_REVIEW, plain[i].kind, "CREATE", ""), plain[i].kind);
	room_expect_status(send(ROOM_REVIEW, "ScaledThing", "CREATE", ""), 400, "BadRequest",
		"request.kind: ScaledThing is not validated here");
	assert_int_equal(fake_admit_ever(), 4);
	assert_null(room.serve.waiting);
}

/* Where an administrator lets the API server ask at them. */
static void each_kind_has_its_plain_path(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(plain); i++)
		room.reviews[i] = plain[i].path;
	for (size_t i = 0; i < MEM_COUNT(plain); i++) {
		expect_asked(send(plain[i].path, plain[i].kind, "CREATE", ""), plain[i].kind);
		room_expect_status(send(plain[i].path, plain[(i + 1) % 4].kind, "CREATE", ""), 400, "BadRequest",
			"request.kind: ");
	}
	assert_int_equal(fake_admit_ever(), 4);
}

/* Like any unknown path, to strangers and to known users. */
static void elsewhere_there_is_nothing(void **state)
{
	static const char *const paths[] = { WEBHOOK_SCALEDOBJECT, WEBHOOK_SCALEDJOB, WEBHOOK_TRIGGERAUTH,
		WEBHOOK_CLUSTERTRIGGERAUTH, "/admission/6f1d0c2b8a9e4735b1c0d2e3f4a59688", "/admission/x",
		"/admission/", "/admission", ROOM_REVIEW "/x", "/nothing" };

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(paths); i++) {
		room_expect_status(send(paths[i], "ScaledObject", "CREATE", ""), 401, "Unauthorized", "");
		room_expect_status(send(paths[i], "ScaledObject", "DELETE", ""), 401, "Unauthorized", "");
		room_expect_status(room_post(paths[i], NULL, "{}"), 401, "Unauthorized", "");
		room_expect_status(room_send(ROUTE_SECURE, "GET", paths[i], NULL, NULL, NULL), 401, "Unauthorized", "");
		room_expect_status(room_get(paths[i]), 404, "NotFound", "the server has nothing at /");
	}
	assert_int_equal(fake_admit_ever(), 0);
}

static char logged[4096];

static void keep_line(void *arg, enum log_level level, const char *line)
{
	size_t len = strlen(logged);

	(void)arg;
	(void)level;
	snprintf(logged + len, sizeof(logged) - len, "%s\n", line);
}

/* Whoever reads the log may not ask for reviews. */
static void the_secret_is_not_logged(void **state)
{
	(void)state;
	logged[0] = '\0';
	log_set_sink(keep_line, NULL);
	log_setup(LOG_LEVEL_DEBUG, LOG_FORMAT_TEXT);
	send(ROOM_REVIEW, "ScaledObject", "CREATE", "");
	fake_admit_answer(&yes);
	send(ROOM_REVIEW "?timeout=10s", "ScaledObject", "DELETE", "");
	room.reviews[0] = NULL; /* and a former path is requested once more */
	send(ROOM_REVIEW, "ScaledObject", "CREATE", "");
	log_setup(LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
	log_set_sink(NULL, NULL);
	assert_non_null(strstr(logged, "POST /admission/{secret} "));
	assert_non_null(strstr(logged, "code=401"));
	assert_null(strstr(logged, "6f1d0c2b"));
}

static void refusals_and_warnings_go_back(void **state)
{
	static const char *const warnings[] = { "take care" };
	const struct admit_verdict careful = { .allowed = true,
		.reason = "",
		.message = "",
		.warnings = warnings,
		.warning_count = 1 };
	struct httpd_request *r = send(ROOM_REVIEW, "ScaledObject", "UPDATE", ",\"dryRun\":true");

	(void)state;
	assert_string_equal(fake_admit_question()->old_name, "old");
	assert_true(fake_admit_question()->dry_run);
	fake_admit_answer(&no);
	expect_verdict(r, false);
	assert_non_null(strstr(r->body,
		"\"message\":\"spec.minReplicaCount: 5 is more\",\"reason\":\"Forbidden\",\"code\":403"));
	r = send(ROOM_REVIEW, "ScaledObject", "CREATE", "");
	assert_false(fake_admit_question()->dry_run);
	fake_admit_answer(&careful);
	expect_verdict(r, true);
	assert_non_null(strstr(r->body, "\"warnings\":[\"take care\"]"));
}

static void deletions_are_allowed_unseen(void **state)
{
	(void)state;
	expect_verdict(send(ROOM_REVIEW, "ScaledObject", "DELETE", ""), true);
	expect_verdict(send(ROOM_REVIEW, "TriggerAuthentication", "CONNECT", ""), true);
	assert_int_equal(fake_admit_ever(), 0);
	assert_true(VALIDATIONS("shop", "update") == 0);
}

static void invalid_reviews_are_refused(void **state)
{
	(void)state;
	room_expect_status(room_post(ROOM_REVIEW, NULL, "{}"), 415, "UnsupportedMediaType", "application/json");
	room_expect_status(room_post(ROOM_REVIEW, "application/jsonp", "{}"), 415, "UnsupportedMediaType",
		"application/json");
	room_expect_status(room_post(ROOM_REVIEW, "text/plain", "{}"), 415, "UnsupportedMediaType", "application/json");
	room_expect_status(room_post(ROOM_REVIEW, JSON, NULL), 400, "BadRequest", "the body: ");
	room_expect_status(room_post(ROOM_REVIEW, "Application/JSON; charset=utf-8", "{"), 400, "BadRequest",
		"the body: ");
	room_expect_status(room_post(ROOM_REVIEW, JSON, "{}"), 400, "BadRequest", "not an AdmissionReview");
	room_expect_status(room_send(ROUTE_SECURE, "GET", ROOM_REVIEW, NULL, NULL, NULL), 405, "MethodNotAllowed",
		"POST");
	room_expect_status(room_post("/validate-keda-sh-v1alpha1-scaledobjects", JSON, "{}"), 401, "Unauthorized", "");
	assert_int_equal(fake_admit_ever(), 0);
	/* root's, at the start: no authentication */
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
	expect_time_ms(ROOM_REVIEW, 7000, 8000);
	expect_time_ms(ROOM_REVIEW "?timeout=10s", 7000, 8000);
	expect_time_ms(ROOM_REVIEW "?timeout=30s", 7000, 8000);
	expect_time_ms(ROOM_REVIEW "?timeout=3s", 1500, 2500);
	expect_time_ms(ROOM_REVIEW "?timeout=1s", 0, 500);
	expect_time_ms(ROOM_REVIEW "?timeout=x", 7000, 8000);
}

static void verdicts_are_counted(void **state)
{
	(void)state;
	send(ROOM_REVIEW, "ScaledObject", "CREATE", "");
	fake_admit_answer(&yes);
	send(ROOM_REVIEW, "ScaledObject", "UPDATE", "");
	fake_admit_answer(&no);
	send(ROOM_REVIEW, "ScaledJob", "CREATE", "");
	fake_admit_answer(&no);
	send(ROOM_REVIEW, "ScaledJob", "UPDATE", "");
	fake_admit_answer(&missing_template);
	send(ROOM_REVIEW, "ScaledJob", "UPDATE", "");
	fake_admit_answer(&yes);
	send(ROOM_REVIEW, "TriggerAuthentication", "CREATE", "");
	fake_admit_answer(&no);
	/* All of ScaledObjects, refused ones of ScaledJobs, too, by KEDA's names. */
	assert_true(VALIDATIONS("shop", "create") == 1);
	assert_true(VALIDATIONS("shop", "update") == 1);
	assert_true(ERRORS("shop", "update", "incorrect-replicas") == 1);
	assert_true(ERRORS("shop", "create", "incorrect-replicas") == 1);
	assert_true(ERRORS("shop", "update", "missing-job") == 1);
}

static void review_in(const char *prefix, int n)
{
	MEM_AUTO char *namespace_ = mem_printf("%s-%d", prefix, n),
		      *body = review_of("ScaledObject", "CREATE", namespace_, "");

	room_post(ROOM_REVIEW, JSON, body);
	fake_admit_answer(&yes);
}

/* Strangers may send any namespace: 1,000 are counted at a time, and new ones like all others. */
static void namespaces_that_are_counted_have_an_end(void **state)
{
	(void)state;
	for (int i = 0; i < 1000; i++)
		review_in("old", i);
	review_in("old", 0);
	for (int i = 0; i < 10; i++)
		review_in("new", i);
	assert_true(VALIDATIONS("new-0", "create") == 1);
	assert_true(VALIDATIONS("new-9", "create") == 1);
	assert_true(VALIDATIONS("old-0", "create") == 2); /* it was counted after those that are gone */
	assert_true(VALIDATIONS("old-1", "create") == 0);
	assert_true(VALIDATIONS("old-10", "create") == 0);
	assert_true(VALIDATIONS("old-11", "create") == 1);
	assert_true(VALIDATIONS("", "create") == 0);
}

/* Up to megabytes each, which would be kept for ever. */
static void invalid_namespaces_are_not_counted_by_name(void **state)
{
	static const char *const strange[] = { "a-name-that-is-longer-than-the-sixty-three-bytes-that-a-namespace-has",
		"Shop", "a b", "../x" };

	(void)state;
	for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++) {
		char *body = review_of("ScaledObject", "CREATE", strange[i], "");

		room_post(ROOM_REVIEW, JSON, body);
		fake_admit_answer(&yes);
		free(body);
		assert_true(VALIDATIONS(strange[i], "create") == 0);
	}
	assert_true(VALIDATIONS("", "create") == 4);
}

static void a_client_that_leaves_is_forgotten(void **state)
{
	(void)state;
	fake_httpd_leave(send(ROOM_REVIEW, "ScaledObject", "CREATE", ""));
	assert_int_equal(fake_admit_cancelled(), 1);
	assert_int_equal(fake_admit_waiting(), 0);
	assert_null(room.serve.waiting);
}

static void the_end_answers_all_that_wait(void **state)
{
	struct httpd_request *r = send(ROOM_REVIEW, "ScaledObject", "CREATE", "");

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
			.uri = ROOM_REVIEW,
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
		TEST(all_kinds_are_judged_at_the_secret_path),
		TEST(each_kind_has_its_plain_path),
		TEST(elsewhere_there_is_nothing),
		TEST(the_secret_is_not_logged),
		TEST(refusals_and_warnings_go_back),
		TEST(deletions_are_allowed_unseen),
		TEST(invalid_reviews_are_refused),
		TEST(the_time_that_the_caller_gives_is_kept),
		TEST(verdicts_are_counted),
		TEST(namespaces_that_are_counted_have_an_end),
		TEST(invalid_namespaces_are_not_counted_by_name),
		TEST(a_client_that_leaves_is_forgotten),
		TEST(the_end_answers_all_that_wait),
		TEST(too_many_at_once_get_429),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
