/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "base/counters.h"
#include "base/json.h"
#include "base/mem.h"
#include "client_fixture.h"
#include "kube/objecttext.h"
#include "kube/status.h"

static double count_of(struct client_fixture *f, const char *verb, const char *code)
{
	static const char *const names[] = { "verb", "code", NULL };
	const char *values[] = { verb, code };

	return counters_get(counters_declare(f->counters, COUNTERS_COUNTER, "kscaled_kube_requests_total", "", names),
		values);
}

/* ---- One call ---- */

static void verbs(void **state)
{
	static const struct {
		enum kube_verb verb;
		const char *body, *line, *content_type, *metric;
	} cases[] = {
		{ KUBE_GET, NULL, "GET /a?b=c", "", "get" },
		{ KUBE_LIST, NULL, "GET /a?b=c", "", "list" },
		{ KUBE_CREATE, "{\"x\":1}", "POST /a?b=c", "application/json", "create" },
		{ KUBE_UPDATE, "{}", "PUT /a?b=c", "application/json", "update" },
		{ KUBE_MERGE_PATCH, "{}", "PATCH /a?b=c", "application/merge-patch+json", "patch" },
		{ KUBE_DELETE, NULL, "DELETE /a?b=c", "", "delete" },
		{ KUBE_DELETE, "{}", "DELETE /a?b=c", "application/json", "delete" },
		{ KUBE_REVIEW, "{}", "POST /a?b=c", "application/json", "create" },
	};
	struct client_fixture *f = *state;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct outcome o = { .done = false };
		double before = count_of(f, cases[i].metric, "200");
		struct fakeapi_request *r;

		client_start(f, &o,
			(struct kube_request){ .verb = cases[i].verb, .path = "/a?b=c", .body = cases[i].body });
		r = fakeapi_expect(f->api, cases[i].line);
		assert_string_equal(r->body, cases[i].body ? cases[i].body : "");
		assert_string_equal(r->content_type, cases[i].content_type);
		assert_string_equal(r->accept, "application/json");
		assert_string_equal(r->authorization, "Bearer token-1");
		assert_int_equal(strncmp(r->user_agent, "kscaled/", 8), 0);
		assert_true(client_gauge(f, "kscaled_kube_requests_in_flight") == 1);
		fakeapi_reply(r, 200, "{\"kind\":\"X\"}");
		client_wait(f, &o);
		assert_false(o.failed);
		assert_string_equal(o.object, "{\"kind\":\"X\"}");
		assert_true(count_of(f, cases[i].metric, "200") == before + 1);
		assert_true(client_gauge(f, "kscaled_kube_requests_in_flight") == 0);
		free(o.object);
	}
}

static void answers_are_parsed_as_far_as_asked_for(void **state)
{
	static const char object[] = "{\"metadata\":{\"name\":\"x\",\"managedFields\":[]}}";
	static const char *const want[] = {
		[KUBE_ANSWER_STRIPPED] = "{\"metadata\":{\"name\":\"x\"}}",
		[KUBE_ANSWER_WHOLE] = object,
		[KUBE_ANSWER_IGNORED] = NULL,
	};
	struct client_fixture *f = *state;

	for (int answer = KUBE_ANSWER_STRIPPED; answer <= KUBE_ANSWER_IGNORED; answer++) {
		struct outcome o = { .done = false };

		client_start(f, &o,
			(struct kube_request){ .verb = KUBE_GET, .path = "/a", .answer = (enum kube_answer)answer });
		fakeapi_reply(fakeapi_next(f->api), 200, object);
		client_wait(f, &o);
		assert_false(o.failed);
		if (want[answer])
			assert_string_equal(o.object, want[answer]);
		else
			assert_null(o.object);
		free(o.object);
	}
}

static bool is_version_7(void *arg, const struct objecttext *text)
{
	(void)arg;
	return objecttext_says(&text->version, "7");
}

static void known_versions_are_not_parsed(void **state)
{
	static const struct {
		const char *answer, *said;
	} rows[] = {
		{ "{\"metadata\":{\"name\":\"x\",\"uid\":\"u\",\"resourceVersion\":\"7\"}}", NULL },
		{ "{\"metadata\":{\"name\":\"x\",\"resourceVersion\":\"8\",\"managedFields\":[{}]}}",
			"{\"metadata\":{\"name\":\"x\",\"resourceVersion\":\"8\"}}" },
	};
	struct client_fixture *f = *state;

	for (size_t i = 0; i < 2; i++) {
		struct outcome o = { .done = false };

		client_start(f, &o,
			(struct kube_request){ .verb = KUBE_UPDATE,
				.path = "/a",
				.body = "{}",
				.is_known = is_version_7 });
		fakeapi_reply(fakeapi_next(f->api), 200, rows[i].answer);
		client_wait(f, &o);
		assert_false(o.failed);
		if (rows[i].said)
			assert_string_equal(o.object, rows[i].said);
		else
			assert_null(o.object);
		free(o.object);
	}
}

static void answers(void **state)
{
	static const struct {
		int status;
		const char *body;
		enum err_kind kind;
		const char *word;
	} cases[] = {
		{ 404, "{\"kind\":\"Status\",\"message\":\"no such thing\"}", ERR_MISSING, "no such thing" },
		{ 409, "{\"kind\":\"Status\",\"message\":\"already exists\"}", ERR_CONFLICT, "already exists" },
		{ 410, "{\"kind\":\"Status\"}", ERR_GONE, "410" },
		{ 403, "{\"kind\":\"Status\",\"message\":\"may not\"}", ERR_DENIED, "may not" },
		{ 422, "{\"kind\":\"Status\",\"message\":\"spec.x\"}", ERR_INVALID, "spec.x" },
		{ 500, "oops", ERR_TEMPORARY, "oops" },
		{ 503, "", ERR_TEMPORARY, "503" },
		{ 302, "", ERR_INVALID, "302" },
		{ 200, "<html>", ERR_TEMPORARY, "not JSON" },
		{ 200, "{\"a\":", ERR_TEMPORARY, "not JSON" },
		{ 200, "{\"a\":\"\xff\"}", ERR_TEMPORARY, "not JSON" },
	};
	struct client_fixture *f = *state;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct outcome o = { .done = false };

		client_start(f, &o, (struct kube_request){ .verb = KUBE_UPDATE, .path = "/a", .body = "{}" });
		fakeapi_reply(fakeapi_next(f->api), cases[i].status, cases[i].body);
		client_wait(f, &o);
		assert_true(o.failed);
		assert_null(o.object);
		assert_int_equal(o.err.kind, cases[i].kind);
		if (!strstr(o.err.msg, cases[i].word))
			fail_msg("case %zu: %s", i, o.err.msg);
		if (cases[i].status != 200)
			assert_int_equal(o.err.http_status, cases[i].status);
	}
}

static void an_empty_answer_is_one(void **state)
{
	struct client_fixture *f = *state;
	struct outcome o = { .done = false };

	client_start(f, &o, (struct kube_request){ .verb = KUBE_DELETE, .path = "/a" });
	fakeapi_reply(fakeapi_next(f->api), 200, "");
	client_wait(f, &o);
	assert_false(o.failed);
	assert_null(o.object);
}

static void no_server(void **state)
{
	struct client_fixture *f = *state;
	struct outcome o = { .done = false };
	struct kube_config config = { .server = mem_dup("http://127.0.0.1:1") };
	struct kube *kube = kube_new(f->loop, &config, NULL, NULL);
	struct kube_request request = { .verb = KUBE_GET, .path = "/a" };

	kube_call(kube, &request, client_on_outcome, &o);
	client_wait(f, &o);
	assert_int_equal(o.err.kind, ERR_TEMPORARY);
	assert_int_equal(o.err.http_status, 0);
	kube_free(kube);
	kube_config_done(&config);
}

/* ---- Waiting and trying again ---- */

static void retry_after_is_obeyed(void **state)
{
	static const struct {
		int status;
		const char *body, *retry_after;
	} cases[] = {
		{ 429, "{}", "1" },
		{ 503, "{}", "1" },
		{ 429, "{}", "" }, /* a second is the custom */
		{ 429, "{\"kind\":\"Status\",\"details\":{\"retryAfterSeconds\":1}}", "" },
	};
	struct client_fixture *f = *state;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct outcome o = { .done = false };
		struct fakeapi_request *r;
		int64_t began;

		client_start(f, &o, (struct kube_request){ .verb = KUBE_UPDATE, .path = "/a", .body = "{\"n\":1}" });
		r = fakeapi_next(f->api);
		began = loop_now_ms(f->loop);
		fakeapi_reply_retry_after(r, cases[i].status, cases[i].body, cases[i].retry_after);
		r = fakeapi_expect(f->api, "PUT /a");
		assert_true(loop_now_ms(f->loop) - began >= 990);
		assert_string_equal(r->body, "{\"n\":1}");
		assert_false(o.done);
		fakeapi_reply(r, 200, "{}");
		client_wait(f, &o);
		assert_false(o.failed);
		free(o.object);
	}
}

/* A call that would wait past the deadline fails at once, with the delay that the server wanted. */
static void a_wait_past_the_deadline_is_an_answer(void **state)
{
	struct client_fixture *f = *state;
	struct outcome o = { .done = false };

	client_start(f, &o, (struct kube_request){ .verb = KUBE_GET, .path = "/a", .deadline_ms = 20000 });
	fakeapi_reply_retry_after(fakeapi_next(f->api), 429, "{\"kind\":\"Status\",\"message\":\"slow\"}", "3600");
	client_wait(f, &o);
	assert_int_equal(o.err.kind, ERR_TEMPORARY);
	assert_int_equal(o.err.http_status, 429);
	assert_int_equal(o.err.retry_after_ms, STATUS_RETRY_AFTER_MAX_MS); /* a bound of our own */
}

static void a_deadline_ends_a_call(void **state)
{
	struct client_fixture *f = *state;
	struct outcome o = { .done = false };

	client_start(f, &o,
		(struct kube_request){ .verb = KUBE_UPDATE, .path = "/a", .body = "{}", .deadline_ms = 500 });
	fakeapi_next(f->api); /* and say nothing */
	client_wait(f, &o);
	assert_int_equal(o.err.kind, ERR_TEMPORARY);
	assert_int_equal(o.err.http_status, 0);
}

/* TCP_USER_TIMEOUT of our side's only connection to the server. */
static int dead_peer_ms_of(const char *server)
{
	int port = atoi(strrchr(server, ':') + 1), value = -1;

	for (int fd = 0; fd < 256; fd++) {
		struct sockaddr_in peer = { 0 };
		socklen_t len = sizeof(peer);

		if (getpeername(fd, (struct sockaddr *)&peer, &len) == 0 && ntohs(peer.sin_port) == port) {
			len = sizeof(value);
			getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &value, &len);
		}
	}
	return value;
}

/* The daemon's limit, so that the Lease outlives it. */
static void dead_connections_are_noticed_in_time(void **state)
{
	struct client_fixture *f = *state;
	struct outcome o = { .done = false };
	struct fakeapi_request *asked;
	struct kube *kube;
	int dead_ms;

	f->config.dead_peer_ms = 5000;
	kube = kube_new(f->loop, &f->config, NULL, NULL);
	kube_call(kube, &(struct kube_request){ .path = "/a" }, client_on_outcome, &o);
	asked = fakeapi_next(f->api);
	dead_ms = dead_peer_ms_of(f->config.server);
	fakeapi_reply(asked, 200, "{}");
	client_wait(f, &o);
	free(o.object);
	kube_free(kube);
	assert_int_equal(dead_ms, 5000);
}

static void reads_survive_a_cut_and_writes_do_not(void **state)
{
	static const struct {
		enum kube_verb verb;
		bool again;
	} cases[] = { { KUBE_GET, true }, { KUBE_LIST, true }, { KUBE_REVIEW, true }, { KUBE_CREATE, false },
		{ KUBE_UPDATE, false }, { KUBE_DELETE, false } };
	struct client_fixture *f = *state;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct outcome o = { .done = false };

		client_start(f, &o, (struct kube_request){ .verb = cases[i].verb, .path = "/a" });
		fakeapi_cut(fakeapi_next(f->api));
		if (cases[i].again)
			fakeapi_reply(fakeapi_next(f->api), 200, "{}");
		client_wait(f, &o);
		assert_int_equal(o.failed, !cases[i].again);
		if (o.failed)
			assert_int_equal(o.err.kind, ERR_TEMPORARY);
		free(o.object);
	}
	assert_int_equal(fakeapi_waiting(f->api), 0);
}

static void a_read_is_tried_twice_only(void **state)
{
	struct client_fixture *f = *state;
	struct outcome o = { .done = false };

	client_start(f, &o, (struct kube_request){ .verb = KUBE_GET, .path = "/a" });
	fakeapi_cut(fakeapi_next(f->api));
	fakeapi_cut(fakeapi_next(f->api));
	client_wait(f, &o);
	assert_true(o.failed);
	assert_int_equal(fakeapi_waiting(f->api), 0);
}

static void escaping(void **state)
{
	char out[16];

	(void)state;
	assert_string_equal(kube_escape("a-Z_0.9~", out, sizeof out), "a-Z_0.9~");
	assert_string_equal(kube_escape("a=b,c/d", out, sizeof out), "a%3Db%2Cc%2Fd");
	assert_string_equal(kube_escape("\xc3\xa4 %", out, sizeof out), "%C3%A4%20%25");
	assert_string_equal(kube_escape("", out, 1), "");
	assert_string_equal(kube_escape("123456789012345", out, sizeof out), "123456789012345");
	assert_null(kube_escape("1234567890123456", out, sizeof out));
	assert_null(kube_escape("=====", out, 15));
	assert_null(kube_escape("", out, 0));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, client_setup, client_teardown)
	const struct CMUnitTest tests[] = {
		TEST(verbs),
		TEST(answers_are_parsed_as_far_as_asked_for),
		TEST(known_versions_are_not_parsed),
		TEST(answers),
		TEST(an_empty_answer_is_one),
		TEST(no_server),
		TEST(retry_after_is_obeyed),
		TEST(a_wait_past_the_deadline_is_an_answer),
		TEST(a_deadline_ends_a_call),
		TEST(dead_connections_are_noticed_in_time),
		TEST(reads_survive_a_cut_and_writes_do_not),
		TEST(a_read_is_tried_twice_only),
		cmocka_unit_test(escaping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
