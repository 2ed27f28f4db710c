/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/http/httpsource.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "net/http/httpstatus.h"
#include "net/http/httpurl.h"
#include "net/web/webtoken.h"
#include "scalers/http/httppauses.h"

/* Bytes of a server's words in an error. */
#define WORDS_SHOWN 200

static const struct httpsource_login *login_of(const struct httpsource *ask)
{
	return ask->base.question->data;
}

static const struct httpsource_type *type_of(const struct httpsource *ask)
{
	return ask->base.question->type->http;
}

/* ---- How an ask ends ---- */

static void let_go(struct httpsource *ask)
{
	if (ask->note && type_of(ask)->note_done)
		type_of(ask)->note_done(ask->note);
	mem_free_ptr(&ask->note);
	mem_free_ptr(&ask->project);
	mem_free_secret(ask->url);
	ask->url = NULL;
	loop_timer_done(&ask->late);
}

/* Errors of the transport begin with the server, after a redirect another one than the source. */
static void fail(struct httpsource *ask, struct err *err)
{
	const struct question *q = ask->base.question;

	let_go(ask);
	err_wrap(err, "%s", text_begins(err->msg, "http") ? q->type->name : q->source);
	scaler_ask_end(ask, 0, err);
}

/* ---- The steps ---- */

static void send_next(struct httpsource *ask);

static void begin_pause(const struct httpsource *ask, int64_t span_ms, enum httppauses_why why)
{
	char place[256];

	if (span_ms > 0 && ask->sources->pauses)
		httppauses_begin(ask->sources->pauses, httpurl_origin(ask->url, place, sizeof(place)),
			webaccess_key(login_of(ask)->access), span_ms, why);
}

/* Of all its requests the longest counts. */
static void note_rest(struct httpsource *ask, const struct webresponse *answer)
{
	int64_t ms = answer->retry_after_ms < HTTPSOURCE_REST_MAX_MS ? answer->retry_after_ms : HTTPSOURCE_REST_MAX_MS;

	if (answer->status >= 200 && answer->status <= 299 && ms > ask->rest_ms)
		ask->rest_ms = ms;
}

static void on_lost(struct httpsource *ask, const struct err *transport)
{
	struct err err = *transport;

	if (type_of(ask)->lost && type_of(ask)->lost(ask, &err) == HTTPSOURCE_NEXT)
		send_next(ask);
	else
		fail(ask, &err);
}

static void on_answer(void *arg, const struct webresponse *answer, const struct err *transport)
{
	struct httpsource *ask = arg;
	struct answer out = { 0 };
	struct err err = { 0 };

	ask->call = NULL;
	ask->step++;
	if (!answer && ask->err.kind != ERR_NONE) {
		fail(ask, &ask->err);
		return;
	}
	if (!answer) {
		on_lost(ask, transport);
		return;
	}
	httppauses_heed(ask->sources->pauses, ask->url, login_of(ask)->access, answer);
	note_rest(ask, answer);
	switch (type_of(ask)->read(ask, answer, &out, &err)) {
	case HTTPSOURCE_ANSWERED:
		out.rest_ms = ask->rest_ms;
		let_go(ask);
		scaler_ask_answer(ask, &out, NULL);
		break;
	case HTTPSOURCE_NEXT: send_next(ask); break;
	case HTTPSOURCE_FAILED:
		begin_pause(ask, err.retry_after_ms,
			err.retry_after_ms == answer->retry_after_ms ? HTTPPAUSES_RETRY_AFTER : HTTPPAUSES_TOO_MANY);
		if (httpsource_repeats(login_of(ask)->access, answer, err.msg))
			err_set(&err, err.kind,
				"HTTP status %d, and words that are not shown, as they repeat what was sent to log in",
				answer->status);
		fail(ask, &err);
		break;
	}
}

static bool on_piece(void *arg, const char *bytes, size_t len, size_t *kept)
{
	struct httpsource *ask = arg;

	return type_of(ask)->piece(ask, bytes, len, kept, &ask->err);
}

/* A pause is of one server: who knows of another one may go on. */
static void on_unsent(void *arg)
{
	struct httpsource *ask = arg;
	struct err err = ask->err;

	ask->err = (struct err){ 0 };
	if (ask->left_alone)
		on_lost(ask, &err);
	else
		fail(ask, &err);
}

static int make_request(struct httpsource *ask, struct webrequest *request, struct err *err)
{
	unsigned most = type_of(ask)->steps_max ? type_of(ask)->steps_max : HTTPSOURCE_STEPS_MAX;

	ask->left_alone = false;
	if (ask->step >= most)
		return err_set(err, ERR_INVALID, "more than %u requests for one answer", most);
	if (type_of(ask)->request(ask, request, err))
		return -1;
	mem_free_secret(ask->url);
	ask->url = mem_dup(request->url);
	/* the server's wish is in force for whatever is asked there with this login */
	ask->left_alone = httppauses_check(ask->sources->pauses, ask->url, login_of(ask)->access, err) != 0;
	return ask->left_alone ? -1 : 0;
}

static void send_next(struct httpsource *ask)
{
	const struct httpsource_login *login = login_of(ask);
	struct webrequest r = { 0 };

	if (make_request(ask, &r, &ask->err)) {
		loop_task_queue(ask->sources->loop, &ask->unsent);
	} else {
		struct webget_request request = { .url = r.url,
			.headers = &r.headers,
			.access = login->access,
			.timeout_ms = r.timeout_ms ? r.timeout_ms : login->timeout_ms,
			.deadline_ms = ask->deadline_ms,
			.max_body = r.max_body,
			.on_piece = type_of(ask)->piece ? on_piece : NULL,
			.spare = r.spare,
			.asker = ask->base.question->type->name,
			.namespace_ = ask->base.question->namespace_,
			.body = r.body,
			.content_type = r.content_type,
			.method = r.method,
			.wanted_header = r.wanted_header };

		ask->call = webget_start(ask->sources->web, &request, on_answer, ask);
	}
	webrequest_done(&r);
}

/* ---- Whose project ---- */

static void on_project(void *arg, const struct credential *credential, const struct err *err)
{
	struct httpsource *ask = arg;
	struct err copy;

	ask->wait = NULL;
	loop_timer_cancel(&ask->late);
	if (err) {
		copy = *err;
		fail(ask, &copy);
		return;
	}
	ask->project = mem_dup(credential->project);
	send_next(ask);
}

static void on_late(void *arg)
{
	struct httpsource *ask = arg;
	struct err err;

	webtoken_cancel(ask->wait);
	ask->wait = NULL;
	err_set(&err, ERR_TEMPORARY, "no %s in time, by which its project is known",
		identity_called(webaccess_identity(login_of(ask)->access)));
	fail(ask, &err);
}

/* The token is kept, and so there at once for the requests. */
static void learn_project(struct httpsource *ask)
{
	ask->wait = webtoken_ask(ask->sources->tokens, webaccess_identity(login_of(ask)->access),
		ask->base.question->namespace_, on_project, ask);
	if (ask->deadline_ms)
		loop_timer_set(&ask->late, ask->deadline_ms - loop_now_ms(ask->sources->loop));
}

void *httpsource_ask(struct scaler_sources *sources, struct question *question, int64_t deadline_ms, question_fn fn,
	void *arg)
{
	struct httpsource *ask = scaler_ask_new(sizeof(*ask), question, fn, arg);

	ask->sources = sources;
	ask->deadline_ms = deadline_ms;
	if (type_of(ask)->note_size)
		ask->note = mem_zalloc(type_of(ask)->note_size);
	loop_task_init(&ask->unsent, on_unsent, ask);
	loop_timer_init(&ask->late, sources->loop, on_late, ask);
	if (type_of(ask)->needs_project && type_of(ask)->needs_project(question))
		learn_project(ask);
	else
		send_next(ask);
	return ask;
}

void httpsource_cancel(void *handle)
{
	struct httpsource *ask = handle;

	webget_cancel(ask->call);
	webtoken_cancel(ask->wait);
	loop_task_cancel(ask->sources->loop, &ask->unsent);
	let_go(ask);
	scaler_ask_free(ask);
}

/* ---- For the read functions ---- */

void httpsource_pause(const struct httpsource *ask, int64_t span_ms)
{
	begin_pause(ask, span_ms, HTTPPAUSES_TOO_MANY);
}

int httpsource_expect(const struct webresponse *answer, int least, int most, struct err *err)
{
	char words[WORDS_SHOWN + 1];

	if (answer->status >= least && answer->status <= most)
		return 0;
	text_line(answer->body, answer->len, words, sizeof(words));
	err_set(err, httpstatus_kind(answer->status), "HTTP status %d%s%s", answer->status, *words ? ": " : "", words);
	err->http_status = answer->status;
	return -1;
}

json_t *httpsource_json(const struct webresponse *answer, struct err *err)
{
	bool bearable = json_is_bearable(answer->body, answer->len, err);
	struct err wrong = { 0 };
	json_t *value = bearable ? json_parse(answer->body, answer->len, &wrong) : NULL;
	const char *bare = json_bare_number(wrong.msg);

	if (!value && bearable)
		err_set(err, ERR_INVALID, "the answer is not JSON%s%.80s%s",
			*answer->content_type && !*bare ? " but " : "", *bare ? "" : answer->content_type, bare);
	return value;
}

/* Our own words at the beginning are not the server's. */
static const char *words_of_server(const char *words)
{
	static const char ours[] = "HTTP status ";

	return text_begins(words, ours) ? words + strlen(ours) : words;
}

static bool repeats(const struct webaccess *access, const struct webresponse *answer, const char *words,
	const char *source)
{
	return webaccess_repeats(access, words, source) ||
		(answer->credential && credential_repeats(answer->credential, words, source));
}

bool httpsource_repeats(const struct webaccess *access, const struct webresponse *answer, const char *words)
{
	words = words_of_server(words);
	for (size_t i = 0; i < WEBRESPONSE_WANTED_MAX; i++)
		if (answer->wanted[i] && repeats(access, answer, words, answer->wanted[i]))
			return true;
	return repeats(access, answer, words, answer->body) || repeats(access, answer, words, answer->content_type);
}
