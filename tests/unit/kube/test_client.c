/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/counters.h"
#include "base/json.h"
#include "base/mem.h"
#include "client_fixture.h"
#include "kube/objecttext.h"
#include "kube/stream.h"

static double count_of(struct client_fixture *f, const char *verb, const char *code)
{
	static const char *const names[] = { "verb", "code", NULL };
	const char *values[] = { verb, code };

	return counters_get(counters_declare(f->counters, COUNTERS_COUNTER, "kscaled_kube_requests_total", "", names),
		values);
}

static double gauge_of(struct client_fixture *f, const char *name)
{
	static const char *const none[] = { NULL };

	return counters_get(counters_declare(f->counters, COUNTERS_GAUGE, name, "", none), NULL);
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
		{ KUBE_JSON_PATCH, "[]", "PATCH /a?b=c", "application/json-patch+json", "patch" },
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
		assert_true(gauge_of(f, "kscaled_kube_requests_in_flight") == 1);
		fakeapi_reply(r, 200, "{\"kind\":\"X\"}");
		client_wait(f, &o);
		assert_false(o.failed);
		assert_string_equal(o.object, "{\"kind\":\"X\"}");
		assert_true(count_of(f, cases[i].metric, "200") == before + 1);
		assert_true(gauge_of(f, "kscaled_kube_requests_in_flight") == 0);
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

/* Who would wait past the deadline is told at once, and how long the server wanted. */
static void a_wait_past_the_deadline_is_an_answer(void **state)
{
	struct client_fixture *f = *state;
	struct outcome o = { .done = false };

	client_start(f, &o, (struct kube_request){ .verb = KUBE_GET, .path = "/a", .deadline_ms = 20000 });
	fakeapi_reply_retry_after(fakeapi_next(f->api), 429, "{\"kind\":\"Status\",\"message\":\"slow\"}", "3600");
	client_wait(f, &o);
	assert_int_equal(o.err.kind, ERR_TEMPORARY);
	assert_int_equal(o.err.http_status, 429);
	assert_int_equal(o.err.retry_after_ms, 3600000);
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

/* ---- Credentials ---- */

static void write_file(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

/* A client whose token stands in a file. */
static struct kube *client_with_token_file(struct client_fixture *f, struct kube_config *config, const char *folder)
{
	MEM_AUTO char *path = mem_printf("%s/config", folder);
	MEM_AUTO char *token = mem_printf("%s/token", folder);
	MEM_AUTO char *text = mem_printf("{current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}], "
					 "clusters: [{name: c, cluster: {server: '%s'}}], "
					 "users: [{name: u, user: {tokenFile: token}}]}",
		fakeapi_url(f->api));
	struct err err = { .msg = "" };

	write_file(path, text);
	write_file(token, "old");
	if (kube_config_load(path, NULL, config, &err) < 0)
		fail_msg("%s", err.msg);
	return kube_new(f->loop, config, NULL, NULL);
}

static void remove_folder(const char *folder)
{
	MEM_AUTO char *path = mem_printf("%s/config", folder);
	MEM_AUTO char *token = mem_printf("%s/token", folder);

	remove(path);
	remove(token);
	rmdir(folder);
}

static void denied_credentials_are_read_again_once(void **state)
{
	struct client_fixture *f = *state;
	char folder[] = "client-test-XXXXXX";
	struct kube_config config;
	struct kube *kube;
	struct kube_request request = { .verb = KUBE_UPDATE, .path = "/a", .body = "{}" };
	struct outcome same = { .done = false }, fresh = { .done = false }, bad = { .done = false };
	struct fakeapi_request *r;
	MEM_AUTO char *token = NULL;

	assert_non_null(mkdtemp(folder));
	kube = client_with_token_file(f, &config, folder);
	token = mem_printf("%s/token", folder);

	/* Nothing changed: the answer stands. */
	kube_call(kube, &request, client_on_outcome, &same);
	r = fakeapi_next(f->api);
	assert_string_equal(r->authorization, "Bearer old");
	fakeapi_reply(r, 401, "{\"kind\":\"Status\",\"message\":\"Unauthorized\"}");
	client_wait(f, &same);
	assert_int_equal(same.err.kind, ERR_DENIED);
	assert_string_equal(same.err.msg, "Unauthorized");

	/* A new token is tried at once. */
	kube_call(kube, &request, client_on_outcome, &fresh);
	r = fakeapi_next(f->api);
	write_file(token, "renewed");
	fakeapi_reply(r, 401, "{}");
	r = fakeapi_next(f->api);
	assert_string_equal(r->authorization, "Bearer renewed");
	fakeapi_reply(r, 200, "{}");
	client_wait(f, &fresh);
	assert_false(fresh.failed);

	/* But not a third. */
	kube_call(kube, &request, client_on_outcome, &bad);
	r = fakeapi_next(f->api);
	write_file(token, "third-one");
	fakeapi_reply(r, 401, "{}");
	r = fakeapi_next(f->api);
	write_file(token, "the-fourth-one");
	fakeapi_reply(r, 401, "{}");
	client_wait(f, &bad);
	assert_int_equal(bad.err.kind, ERR_DENIED);

	free(fresh.object);
	kube_free(kube);
	kube_config_done(&config);
	remove_folder(folder);
}

static bool on_data(void *arg, const char *bytes, size_t len)
{
	(void)arg;
	(void)bytes;
	(void)len;
	return true;
}

static void on_stream_done(void *arg, const struct httpc_response *response, const struct err *err)
{
	assert_null(err);
	assert_int_equal(response->status, 401);
	*(bool *)arg = true;
}

/* The next stream is sent with what its files say now. */
static void a_denied_stream_has_the_credentials_read_again(void **state)
{
	static const struct httpc_events events = { .on_data = on_data, .on_done = on_stream_done };
	struct client_fixture *f = *state;
	char folder[] = "client-test-XXXXXX";
	struct kube_config config;
	struct kube *kube;
	struct fakeapi_request *r;
	bool done = false;
	MEM_AUTO char *token = NULL;

	assert_non_null(mkdtemp(folder));
	kube = client_with_token_file(f, &config, folder);
	token = mem_printf("%s/token", folder);
	kube_stream_start(kube_streams(kube), "/w", 0, &events, &done);
	r = fakeapi_next(f->api);
	assert_string_equal(r->authorization, "Bearer old");
	write_file(token, "renewed");
	fakeapi_reply(r, 401, "{}");
	fakeapi_turn_until(f->api, &done);
	kube_stream_start(kube_streams(kube), "/w", 0, &events, &done);
	assert_string_equal(fakeapi_next(f->api)->authorization, "Bearer renewed");
	kube_free(kube);
	kube_config_done(&config);
	remove_folder(folder);
}

static void credentials_that_cannot_be_read_are_told(void **state)
{
	struct client_fixture *f = *state;
	char folder[] = "client-test-XXXXXX";
	struct kube_config config;
	struct kube *kube;
	struct kube_request request = { .verb = KUBE_GET, .path = "/a" };
	struct outcome o = { .done = false };
	struct fakeapi_request *r;

	assert_non_null(mkdtemp(folder));
	kube = client_with_token_file(f, &config, folder);
	kube_call(kube, &request, client_on_outcome, &o);
	r = fakeapi_next(f->api);
	remove_folder(folder);
	fakeapi_reply(r, 401, "{\"kind\":\"Status\",\"message\":\"Unauthorized\"}");
	client_wait(f, &o);
	assert_non_null(strstr(o.err.msg, "config"));
	assert_non_null(strstr(o.err.msg, "Unauthorized"));
	kube_free(kube);
	kube_config_done(&config);
}

/* ---- The queue ---- */

#define MANY 120 /* more than one connection carries */

/* More calls than go out at once: the rest waits, by priority, and one is sent for each answer. */
static void calls_wait_by_priority(void **state)
{
	struct client_fixture *f = *state;
	struct outcome normal[MANY] = { 0 }, background[12] = { 0 }, urgent[2] = { 0 };
	struct fakeapi_request *r;
	int full;

	for (int i = 0; i < 12; i++)
		client_start(f, &background[i],
			(struct kube_request){ .verb = KUBE_CREATE,
				.path = "/background",
				.priority = KUBE_BACKGROUND });
	for (int i = 0; i < MANY; i++)
		client_start(f, &normal[i],
			(struct kube_request){ .verb = KUBE_GET, .path = "/normal", .priority = KUBE_NORMAL });
	full = (int)gauge_of(f, "kscaled_kube_requests_in_flight");
	assert_in_range(full, 20, 98);
	for (int i = 0; i < 2; i++)
		client_start(f, &urgent[i],
			(struct kube_request){ .verb = KUBE_UPDATE, .path = "/urgent", .priority = KUBE_URGENT });
	assert_int_equal((int)gauge_of(f, "kscaled_kube_requests_in_flight"), full + 2);
	for (int came = 0; came < full + 2; came++) {
		r = fakeapi_next(f->api);
		if (strcmp(r->uri, "/urgent") == 0)
			fakeapi_reply(r, 200, "");
	}
	/* Two urgent ones are answered: nothing more is sent, since they had their own places. */
	client_wait(f, &urgent[0]);
	client_wait(f, &urgent[1]);
	assert_int_equal((int)gauge_of(f, "kscaled_kube_requests_in_flight"), full);
	for (int i = 0; i < 12; i++)
		assert_false(background[i].done);

	/*
	 * A call that ends makes room for a normal one, though background ones have waited longer.
	 */
	kube_cancel(background[0].call);
	r = fakeapi_expect(f->api, "GET /normal");
	for (int i = 1; i < 12; i++)
		kube_cancel(background[i].call);
	for (int i = 0; i < MANY; i++)
		kube_cancel(normal[i].call);
	assert_true(gauge_of(f, "kscaled_kube_requests_in_flight") == 0);
	for (int i = 0; i < MANY; i++)
		assert_false(normal[i].done);
}

/*
 * Each class below has one place of its own when all are taken, no more; whoever comes for a free
 * place, statuses go before Events and behind the rest.
 */
static void no_class_starves(void **state)
{
	struct client_fixture *f = *state;
	struct outcome normal[MANY] = { 0 }, status[20] = { 0 }, background[2] = { 0 };
	int seen_status = 0, seen_background = 0, full;

	for (int i = 0; i < MANY; i++)
		client_start(f, &normal[i],
			(struct kube_request){ .verb = KUBE_GET, .path = "/normal", .priority = KUBE_NORMAL });
	full = (int)gauge_of(f, "kscaled_kube_requests_in_flight");
	for (int i = 0; i < 2; i++)
		client_start(f, &background[i],
			(struct kube_request){ .verb = KUBE_CREATE,
				.path = "/background",
				.body = "{}",
				.priority = KUBE_BACKGROUND });
	for (int i = 0; i < 20; i++)
		client_start(f, &status[i],
			(struct kube_request){ .verb = KUBE_MERGE_PATCH,
				.path = "/status",
				.body = "{}",
				.priority = KUBE_STATUS });
	assert_int_equal((int)gauge_of(f, "kscaled_kube_requests_in_flight"), full + 2);
	for (int came = 0; came < full + 2; came++) {
		const struct fakeapi_request *r = fakeapi_next(f->api);

		seen_status += strcmp(r->uri, "/status") == 0;
		seen_background += strcmp(r->uri, "/background") == 0;
	}
	assert_int_equal(seen_status, 1);
	assert_int_equal(seen_background, 1);
	for (int i = 0; i < MANY; i++)
		kube_cancel(normal[i].call);
	/* What is left has room: statuses at most half of the places. */
	assert_int_equal((int)gauge_of(f, "kscaled_kube_requests_in_flight"), 16 + 2);
	kube_abort_writes(f->kube);
	for (int i = 0; i < 20; i++) {
		client_wait(f, &status[i]);
		assert_int_equal(status[i].err.kind, ERR_TEMPORARY);
	}
	for (int i = 0; i < 2; i++)
		client_wait(f, &background[i]);
}

/* However many writes of /scale are under way, a read waits for none of them; statuses do. */
static void reads_go_beside_writes_of_scale(void **state)
{
	struct client_fixture *f = *state;
	struct outcome scale[MANY] = { 0 }, read[3] = { 0 }, status[3] = { 0 };
	int full;

	for (int i = 0; i < MANY; i++)
		client_start(f, &scale[i],
			(struct kube_request){ .verb = KUBE_MERGE_PATCH,
				.path = "/scale",
				.body = "{}",
				.priority = KUBE_SCALE });
	full = (int)gauge_of(f, "kscaled_kube_requests_in_flight");
	assert_in_range(full, 50, 60);
	for (int i = 0; i < 3; i++)
		client_start(f, &status[i],
			(struct kube_request){ .verb = KUBE_MERGE_PATCH,
				.path = "/status",
				.body = "{}",
				.priority = KUBE_STATUS });
	assert_int_equal((int)gauge_of(f, "kscaled_kube_requests_in_flight"), full + 1);
	for (int i = 0; i < 3; i++)
		client_start(f, &read[i],
			(struct kube_request){ .verb = KUBE_GET, .path = "/normal", .priority = KUBE_NORMAL });
	assert_int_equal((int)gauge_of(f, "kscaled_kube_requests_in_flight"), full + 4);
	for (int i = 0; i < MANY; i++)
		kube_cancel(scale[i].call);
	for (int i = 0; i < 3; i++) {
		kube_cancel(status[i].call);
		kube_cancel(read[i].call);
	}
}

static void a_queued_call_has_its_deadline(void **state)
{
	struct client_fixture *f = *state;
	struct outcome normal[MANY] = { 0 }, late = { .done = false };

	for (int i = 0; i < MANY; i++)
		client_start(f, &normal[i],
			(struct kube_request){ .verb = KUBE_GET, .path = "/normal", .priority = KUBE_NORMAL });
	client_start(f, &late,
		(struct kube_request){ .verb = KUBE_GET, .path = "/late", .priority = KUBE_NORMAL, .deadline_ms = 50 });
	client_wait(f, &late);
	assert_int_equal(late.err.kind, ERR_TEMPORARY);
	assert_non_null(strstr(late.err.msg, "/late"));
	for (int i = 0; i < MANY; i++)
		kube_cancel(normal[i].call);
}

/* ---- Cancelling ---- */

struct canceller {
	struct outcome own, other;
	struct client_fixture *f;
};

static void cancel_the_other(void *arg, const json_t *object, const struct err *err)
{
	struct canceller *c = arg;

	client_on_outcome(&c->own, object, err);
	kube_cancel(c->other.call);
	kube_cancel(c->own.call); /* over already: nothing */
}

static void cancel_inside_a_callback(void **state)
{
	struct client_fixture *f = *state;
	struct canceller c = { .f = f };
	struct kube_request request = { .verb = KUBE_GET, .path = "/own" };
	struct fakeapi_request *own, *other;

	c.own.call = kube_call(f->kube, &request, cancel_the_other, &c);
	own = fakeapi_next(f->api);
	client_start(f, &c.other, (struct kube_request){ .verb = KUBE_GET, .path = "/other" });
	other = fakeapi_next(f->api);
	fakeapi_reply(own, 200, "{}");
	client_wait(f, &c.own);
	if (other->req)
		fakeapi_reply(other, 200, "{}");
	fakeapi_turn_for(f->api, 50);
	assert_false(c.other.done);
	kube_cancel(NULL);
	free(c.own.object);
}

static void cancel_at_once(void **state)
{
	struct client_fixture *f = *state;
	struct outcome o = { .done = false };

	client_start(f, &o, (struct kube_request){ .verb = KUBE_GET, .path = "/a" });
	kube_cancel(o.call);
	fakeapi_turn_for(f->api, 50);
	assert_false(o.done);
}

static void free_cancels_everything(void **state)
{
	struct client_fixture *f = *state;
	struct outcome o[70] = { 0 };

	for (int i = 0; i < 70; i++)
		client_start(f, &o[i], (struct kube_request){ .verb = KUBE_GET, .path = "/a" });
	fakeapi_next(f->api);
	kube_free(f->kube);
	f->kube = NULL;
	fakeapi_turn_for(f->api, 50);
	for (int i = 0; i < 70; i++)
		assert_false(o[i].done);
}

static int freed;

static void on_free(void *arg)
{
	(void)arg;
	freed++;
}

static void owned_arguments_are_freed_once(void **state)
{
	struct client_fixture *f = *state;
	struct outcome answered = { .done = false }, cancelled = { .done = false };
	struct kube_request request = { .verb = KUBE_GET, .path = "/a" };

	freed = 0;
	kube_call_owning(f->kube, &request, client_on_outcome, &answered, on_free);
	kube_cancel(kube_call_owning(f->kube, &request, client_on_outcome, &cancelled, on_free));
	fakeapi_reply(fakeapi_next(f->api), 200, "{}");
	client_wait(f, &answered);
	fakeapi_turn_for(f->api, 1);
	assert_int_equal(freed, 2);
	assert_false(cancelled.done);
	free(answered.object);
}

/* ---- Writes and the Lease ---- */

static void abort_takes_writes_only(void **state)
{
	struct client_fixture *f = *state;
	struct outcome get = { .done = false }, review = { .done = false }, put = { .done = false },
		       waiting = { .done = false }, lease = { .done = false };
	struct fakeapi_request *requests[5];

	client_start(f, &get, (struct kube_request){ .verb = KUBE_GET, .path = "/get", .priority = KUBE_NORMAL });
	requests[0] = fakeapi_expect(f->api, "GET /get");
	client_start(f, &review,
		(struct kube_request){ .verb = KUBE_REVIEW, .path = "/review", .body = "{}", .priority = KUBE_NORMAL });
	requests[1] = fakeapi_expect(f->api, "POST /review");
	client_start(f, &put,
		(struct kube_request){ .verb = KUBE_UPDATE, .path = "/put", .body = "{}", .priority = KUBE_NORMAL });
	requests[2] = fakeapi_expect(f->api, "PUT /put");
	client_start(f, &lease,
		(struct kube_request){ .verb = KUBE_UPDATE, .path = "/lease", .body = "{}", .priority = KUBE_URGENT });
	requests[3] = fakeapi_expect(f->api, "PUT /lease");
	client_start(f, &waiting,
		(struct kube_request){ .verb = KUBE_CREATE,
			.path = "/waiting",
			.body = "{}",
			.priority = KUBE_BACKGROUND });
	requests[4] = fakeapi_expect(f->api, "POST /waiting");
	fakeapi_reply_retry_after(requests[4], 429, "{}", "5");
	fakeapi_turn_for(f->api, 50);

	kube_abort_writes(f->kube);
	assert_false(put.done); /* callbacks come from the loop */
	client_wait(f, &put);
	client_wait(f, &waiting);
	assert_int_equal(put.err.kind, ERR_TEMPORARY);
	assert_int_equal(waiting.err.kind, ERR_TEMPORARY);
	assert_false(get.done || review.done || lease.done);
	fakeapi_reply(requests[0], 200, "{}");
	fakeapi_reply(requests[1], 200, "{}");
	fakeapi_reply(requests[3], 200, "{}");
	client_wait(f, &get);
	client_wait(f, &review);
	client_wait(f, &lease);
	assert_false(get.failed || review.failed || lease.failed);
	free(get.object);
	free(review.object);
	free(lease.object);
}

static void abort_reaches_the_queue(void **state)
{
	struct client_fixture *f = *state;
	struct outcome reads[MANY] = { 0 }, writes[10] = { 0 };

	for (int i = 0; i < MANY; i++)
		client_start(f, &reads[i],
			(struct kube_request){ .verb = KUBE_GET, .path = "/read", .priority = KUBE_NORMAL });
	for (int i = 0; i < 10; i++)
		client_start(f, &writes[i],
			(struct kube_request){ .verb = KUBE_MERGE_PATCH,
				.path = "/write",
				.body = "{}",
				.priority = KUBE_NORMAL });
	kube_abort_writes(f->kube);
	kube_cancel(writes[3].call); /* between the abort and its callback */
	for (int i = 0; i < 10; i++) {
		if (i == 3)
			continue;
		client_wait(f, &writes[i]);
		assert_int_equal(writes[i].err.kind, ERR_TEMPORARY);
	}
	assert_false(writes[3].done);
	for (int i = 0; i < MANY; i++)
		kube_cancel(reads[i].call);
}

static void writes_end_before_the_limit(void **state)
{
	struct client_fixture *f = *state;
	struct outcome write = { .done = false }, read = { .done = false }, lease = { .done = false },
		       late = { .done = false }, again = { .done = false };
	struct fakeapi_request *r[3];

	kube_set_write_limit(f->kube, loop_now_ms(f->loop) + 1000);
	client_start(f, &write,
		(struct kube_request){ .verb = KUBE_UPDATE,
			.path = "/write?fieldManager=kscaled",
			.body = "{}",
			.priority = KUBE_NORMAL });
	r[0] = fakeapi_expect(f->api, "PUT /write?fieldManager=kscaled");
	assert_in_range(r[0]->timeout_ms, 1, 1000); /* for the server, too */
	client_start(f, &read, (struct kube_request){ .verb = KUBE_GET, .path = "/read", .priority = KUBE_NORMAL });
	r[1] = fakeapi_expect(f->api, "GET /read");
	assert_int_equal(r[1]->timeout_ms, 0);
	client_start(f, &lease,
		(struct kube_request){ .verb = KUBE_UPDATE, .path = "/lease", .body = "{}", .priority = KUBE_URGENT });
	r[2] = fakeapi_expect(f->api, "PUT /lease");
	client_wait(f, &write);
	assert_int_equal(write.err.kind, ERR_TEMPORARY);
	assert_false(read.done || lease.done);
	fakeapi_turn_for(f->api, 50);

	/* Past the limit nothing is sent at all. */
	client_start(f, &late,
		(struct kube_request){ .verb = KUBE_UPDATE, .path = "/late", .body = "{}", .priority = KUBE_NORMAL });
	client_wait(f, &late);
	assert_int_equal(late.err.kind, ERR_TEMPORARY);
	assert_int_equal(fakeapi_waiting(f->api), 0);
	kube_set_write_limit(f->kube, 0);
	client_start(f, &again,
		(struct kube_request){ .verb = KUBE_UPDATE, .path = "/again", .body = "{}", .priority = KUBE_NORMAL });
	fakeapi_reply(fakeapi_expect(f->api, "PUT /again"), 200, "");
	client_wait(f, &again);
	assert_false(again.failed);
	fakeapi_reply(r[1], 200, "");
	fakeapi_reply(r[2], 200, "");
	client_wait(f, &read);
	client_wait(f, &lease);
}

/*
 * A process that was stopped meanwhile, in the middle of a turn: neither what had been given to
 * libcurl nor what stood in line is sent when it goes on.
 */
static void after_a_stop_nothing_is_sent_late(void **state)
{
	struct client_fixture *f = *state;
	struct outcome reads[MANY] = { 0 }, writes[MANY] = { 0 }, lease = { .done = false };

	/* There is a connection, on which they could go at once. */
	client_start(f, &lease,
		(struct kube_request){ .verb = KUBE_UPDATE, .path = "/lease", .body = "{}", .priority = KUBE_URGENT });
	fakeapi_reply(fakeapi_expect(f->api, "PUT /lease"), 200, "");
	client_wait(f, &lease);

	kube_set_write_limit(f->kube, loop_now_ms(f->loop) + 50);
	for (int i = 0; i < MANY; i++)
		client_start(f, &writes[i],
			(struct kube_request){ .verb = KUBE_CREATE,
				.path = "/write",
				.body = "{}",
				.priority = KUBE_NORMAL });
	usleep(60 * 1000);
	for (int i = 0; i < MANY; i++) {
		client_wait(f, &writes[i]);
		assert_int_equal(writes[i].err.kind, ERR_TEMPORARY);
	}
	client_start(f, &reads[0], (struct kube_request){ .verb = KUBE_GET, .path = "/read", .priority = KUBE_NORMAL });
	fakeapi_reply(fakeapi_expect(f->api, "GET /read"), 200, ""); /* no write came before it */
	client_wait(f, &reads[0]);
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
		TEST(reads_survive_a_cut_and_writes_do_not),
		TEST(a_read_is_tried_twice_only),
		TEST(denied_credentials_are_read_again_once),
		TEST(a_denied_stream_has_the_credentials_read_again),
		TEST(credentials_that_cannot_be_read_are_told),
		TEST(calls_wait_by_priority),
		TEST(no_class_starves),
		TEST(reads_go_beside_writes_of_scale),
		TEST(a_queued_call_has_its_deadline),
		TEST(cancel_inside_a_callback),
		TEST(cancel_at_once),
		TEST(free_cancels_everything),
		TEST(owned_arguments_are_freed_once),
		TEST(abort_takes_writes_only),
		TEST(abort_reaches_the_queue),
		TEST(writes_end_before_the_limit),
		TEST(after_a_stop_nothing_is_sent_late),
		cmocka_unit_test(escaping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
