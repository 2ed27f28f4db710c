/* SPDX-License-Identifier: Apache-2.0 */
/* Asks over HTTP against our own server, with a trigger type of this test. */
#include "../../fakes/fakekey.h"
#include "../../net/http/httpcworld.h"
#include "base/text.h"
#include "net/identity/googlekey.h"
#include "scalers/http/httppauses.h"
#include "scalers/http/httpsource.h"

/* What this test's type does; set by each test. */
static struct plan {
	const char *paths[4]; /* one request each; NULL: the last response is the answer */
	bool forever, unfit;
	bool goes_on;          /* without a response */
	const char *project;   /* NULL: it is not needed */
	const char *elsewhere; /* the next server without a response; NULL: the same */
	unsigned timeout_ms;
	unsigned pause_ms;         /* after each response */
	unsigned refused_pause_ms; /* with an error */
	unsigned notes_done, lost;
} plan;
static char base_url[64];

static int request(const struct httpsource *ask, struct webrequest *out, struct err *err)
{
	unsigned at = plan.forever ? 0 : ask->step;

	if (plan.unfit)
		return err_set(err, ERR_INVALID, "no request can be made of it");
	assert_true(at < MEM_COUNT(plan.paths) && plan.paths[at]);
	assert_true(text_equal(ask->project, plan.project));
	out->url = mem_printf("%s%s", base_url, plan.paths[at]);
	out->timeout_ms = strcmp(plan.paths[at], "/hold") == 0 ? plan.timeout_ms : 0;
	strmap_set(&out->headers, "Authorization", "own");
	return 0;
}

static enum exchange_verdict judge(struct httpsource *ask, const struct webresponse *answer, struct answer *out,
	struct err *err)
{
	unsigned *seen = ask->state;

	*seen += 1;
	assert_int_equal(*seen, ask->step);
	if (plan.pause_ms)
		httpsource_pause(ask, plan.pause_ms);
	if (httpsource_expect(answer, 200, 299, err)) {
		err->retry_after_ms = plan.refused_pause_ms;
		return EXCHANGE_FAILED;
	}
	if (plan.forever || plan.paths[ask->step])
		return EXCHANGE_NEXT;
	*out = (struct answer){ .value = *seen, .load = 9, .activity = ACTIVITY_BY_LOAD };
	return EXCHANGE_DONE;
}

static enum exchange_verdict lost(struct httpsource *ask, const struct err *err)
{
	assert_int_equal(err->kind, ERR_TEMPORARY);
	plan.lost++;
	if (plan.elsewhere)
		snprintf(base_url, sizeof(base_url), "%s", plan.elsewhere);
	else
		*(unsigned *)ask->state += 1;
	return plan.goes_on ? EXCHANGE_NEXT : EXCHANGE_FAILED;
}

static void state_done(void *state)
{
	(void)state;
	plan.notes_done++;
}

static bool needs_project(const struct question *question)
{
	(void)question;
	return plan.project != NULL;
}

static const struct httpsource_type http = { .state_size = sizeof(unsigned),
	.state_done = state_done,
	.needs_project = needs_project,
	.request = request,
	.read = judge,
	.lost = lost };
static const struct scaler_type type = { .name = "tested", .asker = &httpsource_asker, .http = &http };

/* A type that takes bodies in pieces, and may refuse them. */
static size_t pieces_len;
static bool piece(struct httpsource *ask, const char *bytes, size_t len, size_t *kept, struct err *err)
{
	assert_non_null(ask->state);
	assert_non_null(bytes);
	pieces_len += len;
	*kept = 1;
	if (plan.goes_on)
		return true;
	err_set(err, ERR_INVALID, "not of this kind");
	return false;
}

static const struct httpsource_type http_in_pieces = { .state_size = sizeof(unsigned),
	.state_done = state_done,
	.request = request,
	.read = judge,
	.piece = piece,
	.lost = lost };
static const struct scaler_type type_in_pieces = { .name = "pieces",
	.asker = &httpsource_asker,
	.http = &http_in_pieces };

struct got {
	int done;
	struct answer answer;
	struct err err;
};

static void on_got(void *arg, const struct answer *answer, const struct err *err)
{
	struct got *g = arg;

	g->done++;
	assert_true(!answer != !err);
	if (answer)
		g->answer = *answer;
	else
		g->err = *err;
}

struct stage {
	struct world *w;
	struct scaler_sources sources;
	struct question *question;
};

static void stage_setup(struct stage *s, struct world *w, struct webaccess *access)
{
	struct httplogin *login = mem_zalloc(sizeof(*login));

	plan = (struct plan){ .notes_done = 0 };
	snprintf(base_url, sizeof(base_url), "%s", w->plain_url);
	login->access = access;
	*s = (struct stage){ .w = w };
	s->sources.loop = w->f->loop;
	s->sources.web = webclient_new(w->f->loop, 3000);
	s->sources.tokens = webtoken_store_new(w->f->loop, s->sources.web, NULL);
	httppauses_part.begin(&s->sources);
	s->question = question_new(&type, mem_dup("tested 1"), mem_dup("tested server"), login);
}

static void stage_done(struct stage *s)
{
	question_unref(s->question);
	if (s->sources.pauses)
		httppauses_part.end(&s->sources);
	webtoken_store_free(s->sources.tokens);
	webclient_free(s->sources.web);
}

static struct got ask_for(struct stage *s, int64_t time_ms)
{
	struct got g = { .done = 0 };

	question_ask(s->question, &s->sources, loop_now_ms(s->w->f->loop) + time_ms, on_got, &g);
	assert_int_equal(g.done, 0);
	UNTIL(s->w->f, g.done);
	assert_int_equal(g.done, 1);
	return g;
}

static struct got ask(struct stage *s)
{
	return ask_for(s, 3000);
}

static void one_request_after_the_other(void **state)
{
	struct stage s;
	struct got g;

	stage_setup(&s, *state, NULL);
	plan.paths[0] = "/a";
	plan.paths[1] = "/b";
	plan.paths[2] = "/c";
	g = ask(&s);
	assert_int_equal(g.err.kind, ERR_NONE);
	assert_true(g.answer.value == 3 && g.answer.load == 9 && g.answer.activity == ACTIVITY_BY_LOAD);
	assert_int_equal(plan.notes_done, 1);
	stage_done(&s);
}

/* After a lost request a type may make another one, with its own time-out. */
static void a_request_without_a_response(void **state)
{
	struct stage s;
	struct got g;

	stage_setup(&s, *state, NULL);
	plan.paths[0] = "/hold";
	plan.paths[1] = "/b";
	plan.timeout_ms = 20;
	plan.goes_on = true;
	g = ask(&s);
	assert_int_equal(g.err.kind, ERR_NONE);
	assert_true(g.answer.value == 2);
	assert_int_equal(plan.lost, 1);
	plan.goes_on = false;
	g = ask(&s);
	assert_non_null(strstr(g.err.msg, "no complete answer within 20 ms"));
	assert_int_equal(plan.lost, 2);
	assert_int_equal(plan.notes_done, 2);
	stage_done(&s);
}

/* Bodies of 2xx responses come in pieces; a refused piece is the error, not a lost request. */
static void a_body_in_pieces(void **state)
{
	struct stage s;
	struct got g;

	stage_setup(&s, *state, NULL);
	s.question->type = &type_in_pieces;
	pieces_len = 0;
	plan.paths[0] = "/big";
	plan.goes_on = true;
	g = ask(&s);
	assert_int_equal(g.err.kind, ERR_NONE);
	assert_true(g.answer.value == 1 && pieces_len > 1000);
	plan.goes_on = false;
	g = ask(&s);
	assert_string_equal(g.err.msg, "tested server: not of this kind");
	assert_int_equal(plan.lost, 0);
	plan.paths[0] = "/404";
	g = ask(&s);
	assert_string_equal(g.err.msg, "tested server: HTTP status 404: not here");
	assert_int_equal(plan.notes_done, 3);
	stage_done(&s);
}

static void errors_name_the_source(void **state)
{
	struct stage s;
	struct got g;

	stage_setup(&s, *state, NULL);
	plan.paths[0] = "/a";
	plan.paths[1] = "/404";
	g = ask(&s);
	assert_string_equal(g.err.msg, "tested server: HTTP status 404: not here");
	assert_int_equal(g.err.kind, ERR_MISSING);
	assert_int_equal(g.err.http_status, 404);
	plan.unfit = true;
	g = ask(&s);
	assert_string_equal(g.err.msg, "tested server: no request can be made of it");
	plan.unfit = false;
	plan.forever = true;
	g = ask(&s);
	assert_string_equal(g.err.msg, "tested server: more than 200 requests for one answer");
	plan.forever = false;
	snprintf(base_url, sizeof(base_url), "http://127.0.0.1:%u", fixture_dead_port());
	g = ask(&s);
	assert_non_null(strstr(g.err.msg, "tested: http://127.0.0.1:"));
	assert_int_equal(g.err.kind, ERR_TEMPORARY);
	stage_done(&s);
}

/* The server gets no requests from this login during its pause; other logins may ask. */
static void a_pause_is_kept(void **state)
{
	struct webaccess_config other = { .username = "another" };
	struct err err = { 0 };
	struct stage s, t;
	struct got g;

	stage_setup(&s, *state, NULL);
	plan.paths[0] = "/503";
	g = ask(&s);
	assert_string_equal(g.err.msg, "tested server: HTTP status 503: busy");
	plan.paths[0] = "/a";
	g = ask(&s);
	assert_int_equal(g.err.kind, ERR_TEMPORARY);
	assert_non_null(strstr(g.err.msg, "tested: http://127.0.0.1:"));
	assert_non_null(strstr(g.err.msg, " asked to be left alone (Retry-After): for another 7 s"));
	stage_setup(&t, *state, webaccess_new(&other, &err));
	plan.paths[0] = "/a";
	httppauses_part.end(&t.sources);
	t.sources.pauses = s.sources.pauses;
	g = ask(&t);
	assert_int_equal(g.err.kind, ERR_NONE);
	t.sources.pauses = NULL;
	stage_done(&t);
	stage_done(&s);
}

/*
 * Retry-After with a 2xx response lets the answer stand, from any of the requests, up to a limit.
 */
static void retry_after_with_an_answer(void **state)
{
	struct stage s;
	struct got g;

	stage_setup(&s, *state, NULL);
	plan.paths[0] = "/a";
	g = ask(&s);
	assert_int_equal(g.answer.rest_ms, 0);
	plan.paths[0] = "/rest/9";
	plan.paths[1] = "/rest/2";
	g = ask(&s);
	assert_int_equal(g.err.kind, ERR_NONE);
	assert_int_equal(g.answer.rest_ms, 9000);
	plan.paths[1] = "/rest/86400";
	g = ask(&s);
	assert_int_equal(g.answer.rest_ms, HTTPSOURCE_REST_MAX_MS);
	/* Others are not affected. */
	plan.paths[0] = "/a";
	plan.paths[1] = NULL;
	g = ask(&s);
	assert_int_equal(g.err.kind, ERR_NONE);
	stage_done(&s);
}

/* It concerns one server: a type may ask another one. */
static void a_pause_is_of_one_server(void **state)
{
	char other[64];
	struct stage s;
	struct got g;

	stage_setup(&s, *state, NULL);
	snprintf(other, sizeof(other), "http://localhost%s", strrchr(s.w->plain_url, ':'));
	plan.paths[0] = "/503";
	g = ask(&s);
	assert_string_equal(g.err.msg, "tested server: HTTP status 503: busy");
	plan.paths[0] = "/a";
	plan.goes_on = true;
	plan.elsewhere = other;
	g = ask(&s);
	assert_string_equal(g.err.msg, "");
	assert_true(g.answer.value == 1);
	assert_int_equal(plan.lost, 1);
	assert_int_equal(plan.notes_done, 2);
	stage_done(&s);
}

/* A later or other request for a pause does not shorten it. */
static void the_longer_pause_counts(void **state)
{
	struct stage s;
	struct got g;

	stage_setup(&s, *state, NULL);
	plan.paths[0] = "/503";
	plan.refused_pause_ms = 2000;
	g = ask(&s);
	assert_string_equal(g.err.msg, "tested server: HTTP status 503: busy");
	g = ask(&s);
	assert_non_null(strstr(g.err.msg, ": for another 7 s"));
	stage_done(&s);
}

/* A type's own pause: the answer that caused it counts, further questions fail. */
static void a_pause_after_a_good_answer(void **state)
{
	struct stage s;
	struct got g;

	stage_setup(&s, *state, NULL);
	plan.pause_ms = 9000;
	plan.paths[0] = "/a";
	g = ask(&s);
	assert_int_equal(g.err.kind, ERR_NONE);
	g = ask(&s);
	assert_non_null(strstr(g.err.msg, " asked to be left alone (too many requests): for another 9 s"));
	stage_done(&s);
	stage_setup(&s, *state, NULL);
	plan.pause_ms = 9000;
	plan.paths[0] = "/a";
	plan.paths[1] = "/a";
	g = ask(&s);
	assert_non_null(strstr(g.err.msg, " asked to be left alone"));
	plan.pause_ms = 0;
	stage_done(&s);
}

/* A type may recognise too many requests, whatever the status. */
static void a_type_asks_for_a_pause(void **state)
{
	struct stage s;
	struct got g;

	stage_setup(&s, *state, NULL);
	plan.paths[0] = "/404";
	plan.refused_pause_ms = 5000;
	g = ask(&s);
	assert_string_equal(g.err.msg, "tested server: HTTP status 404: not here");
	plan.paths[0] = "/a";
	g = ask(&s);
	assert_non_null(strstr(g.err.msg, " asked to be left alone (too many requests): for another 5 s"));
	stage_done(&s);
}

static void echoed_credentials_are_hidden(void **state)
{
	struct webaccess_config config = { .query_name = "key", .query_value = "not here" };
	struct err err = { 0 };
	struct stage s;
	struct got g;

	stage_setup(&s, *state, webaccess_new(&config, &err));
	plan.paths[0] = "/404";
	snprintf(base_url, sizeof(base_url), "%s", s.w->plain_url);
	g = ask(&s);
	assert_null(strstr(g.err.msg, "not here"));
	assert_non_null(strstr(g.err.msg, "tested server: HTTP status 404; its text is not shown"));
	stage_done(&s);
}

/*
 * A short secret that occurs in our own text or in an unshown part does not hide the server's text.
 */
static void other_texts_are_shown(void **state)
{
	static const char *const values[] = { "status", "HTTP", "text", "plain" };

	for (size_t i = 0; i < MEM_COUNT(values); i++) {
		struct webaccess_config config = { .query_name = "key", .query_value = values[i] };
		struct err err = { 0 };
		struct stage s;
		struct got g;

		stage_setup(&s, *state, webaccess_new(&config, &err));
		plan.paths[0] = "/404";
		snprintf(base_url, sizeof(base_url), "%s", s.w->plain_url);
		g = ask(&s);
		assert_string_equal(g.err.msg, "tested server: HTTP status 404: not here");
		stage_done(&s);
	}
}

static void nothing_comes_after_a_cancel(void **state)
{
	struct stage s;
	struct got g = { .done = 0 };
	void *first, *second;

	stage_setup(&s, *state, NULL);
	plan.paths[0] = "/hold";
	first = question_ask(s.question, &s.sources, loop_now_ms(s.w->f->loop) + 3000, on_got, &g);
	UNTIL(s.w->f, s.w->held_count == 1);
	plan.unfit = true;
	second = question_ask(s.question, &s.sources, loop_now_ms(s.w->f->loop) + 3000, on_got, &g);
	question_cancel(first);
	question_cancel(second);
	UNTIL(s.w->f, s.w->gone == 1);
	assert_int_equal(g.done, 0);
	assert_int_equal(plan.notes_done, 2);
	stage_done(&s);
}

/* ---- The identity's project ---- */

/* Logs in with a key whose tokens come from this path of the server. */
static void stage_with_key(struct stage *s, struct world *w, const char *path)
{
	MEM_AUTO char *url = mem_printf("%s%s", w->plain_url, path), *key = fakekey_google(url, "my-project");
	struct webaccess_config config = { .identity = googlekey_new(key, GOOGLEKEY_MONITORING_READ, NULL) };

	stage_setup(s, w, webaccess_new(&config, NULL));
	identity_unref(config.identity);
	plan.project = "my-project";
	plan.paths[0] = "/a";
}

static void the_project_comes_with_the_token(void **state)
{
	struct stage s;
	struct got g;

	stage_with_key(&s, *state, "/token");
	g = ask(&s);
	assert_int_equal(g.err.kind, ERR_NONE);
	assert_true(g.answer.value == 1);
	stage_done(&s);
	stage_with_key(&s, *state, "/404");
	g = ask(&s);
	assert_int_equal(g.err.kind, ERR_MISSING);
	assert_non_null(strstr(g.err.msg, "Google token: http://127.0.0.1:"));
	assert_non_null(strstr(g.err.msg, ": no token: HTTP status 404"));
	assert_int_equal(plan.notes_done, 1);
	stage_done(&s);
}

static void no_project_in_time(void **state)
{
	struct stage s;
	struct got g;
	void *first;

	stage_with_key(&s, *state, "/hold");
	g = ask_for(&s, 30);
	assert_int_equal(g.err.kind, ERR_TEMPORARY);
	assert_string_equal(g.err.msg, "tested server: no Google token in time, which the project comes with");
	g = (struct got){ .done = 0 };
	first = question_ask(s.question, &s.sources, loop_now_ms(s.w->f->loop) + 3000, on_got, &g);
	question_cancel(first);
	UNTIL(s.w->f, s.w->held_count == 1);
	assert_int_equal(g.done, 0);
	assert_int_equal(plan.notes_done, 2);
	stage_done(&s);
	UNTIL(((struct world *)*state)->f, ((struct world *)*state)->gone == 1);
}

static void json(void **state)
{
	struct webresponse good = { .body = "[1]", .len = 3, .content_type = "" },
			   nan = { .body = "[NaN]", .len = 5, .content_type = "application/json" },
			   html = { .body = "<p>", .len = 3, .content_type = "text/html" };
	struct err err = { 0 };
	json_t *value = httpsource_json(&good, &err);

	(void)state;
	assert_int_equal(json_array_size(value), 1);
	json_decref(value);
	assert_null(httpsource_json(&html, &err));
	assert_string_equal(err.msg, "the answer is not JSON but text/html");
	assert_null(httpsource_json(&nan, &err));
	assert_non_null(strstr(err.msg, "the answer is not JSON: a bare NaN stands in it"));
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_WORLD(one_request_after_the_other),
		IN_WORLD(a_request_without_a_response),
		IN_WORLD(a_body_in_pieces),
		IN_WORLD(errors_name_the_source),
		IN_WORLD(a_pause_is_kept),
		IN_WORLD(retry_after_with_an_answer),
		IN_WORLD(a_pause_is_of_one_server),
		IN_WORLD(the_longer_pause_counts),
		IN_WORLD(a_pause_after_a_good_answer),
		IN_WORLD(a_type_asks_for_a_pause),
		IN_WORLD(echoed_credentials_are_hidden),
		IN_WORLD(other_texts_are_shown),
		IN_WORLD(nothing_comes_after_a_cancel),
		IN_WORLD(the_project_comes_with_the_token),
		IN_WORLD(no_project_in_time),
		cmocka_unit_test(json),
	};

	world_without_proxies();
	return cmocka_run_group_tests_name("scalers/http/httpsource", tests, NULL, NULL);
}
