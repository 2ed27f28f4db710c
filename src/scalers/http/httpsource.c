/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/http/httpsource.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "net/http/httpstatus.h"
#include "net/http/httpurl.h"
#include "scalers/http/httppauses.h"

/* Bytes of a server's text in an error. */
#define WORDS_SHOWN 200
/* Bytes of a subject, such as a query, in an error. */
#define SUBJECT_SHOWN 120

static const struct httplogin *login_of(const struct httpsource *ask)
{
	return ask->base.question->data;
}

static const struct httpsource_type *type_of(const struct httpsource *ask)
{
	return ask->base.question->type->http;
}

/* ---- The end of an ask ---- */

static void drop_state(struct httpsource *ask)
{
	if (ask->state && type_of(ask)->state_done)
		type_of(ask)->state_done(ask->state);
	mem_free_ptr(&ask->state);
}

static void on_end(void *arg, const struct err *failure)
{
	struct httpsource *ask = arg;
	const struct question *q = ask->base.question;
	struct err err;

	drop_state(ask);
	if (failure) {
		/* transport errors begin with the server, after a redirect with the new one */
		err = *failure;
		err_wrap(&err, "%s", text_begins(err.msg, "http") ? q->type->name : q->source);
		scaler_ask_end(ask, 0, &err);
	} else {
		ask->answer.rest_ms = ask->rest_ms;
		scaler_ask_answer(ask, &ask->answer, NULL);
	}
}

/* ---- The steps ---- */

/* "queue jobs: ..." */
static void name_subject(const struct httpsource *ask, struct err *err)
{
	const struct httpsource_type *type = type_of(ask);
	const char *text = type->subject ? *(char *const *)((const char *)ask->data + type->subject_at) : NULL;

	if (text)
		err_wrap(err, "%s %.*s%s", type->subject, SUBJECT_SHOWN, text,
			strlen(text) > SUBJECT_SHOWN ? "..." : "");
}

enum exchange_verdict httpsource_read(struct httpsource *ask, const struct webresponse *answer, struct answer *out,
	struct err *err)
{
	enum exchange_verdict verdict = type_of(ask)->read(ask, answer, out, err);

	if (verdict == EXCHANGE_FAILED)
		name_subject(ask, err);
	return verdict;
}

/* The longest of all requests counts. */
static void add_rest(struct httpsource *ask, const struct webresponse *response)
{
	int64_t ms = response->retry_after_ms < HTTPSOURCE_REST_MAX_MS ? response->retry_after_ms
								       : HTTPSOURCE_REST_MAX_MS;

	if (response->status >= 200 && response->status <= 299 && ms > ask->rest_ms)
		ask->rest_ms = ms;
}

static enum exchange_verdict on_lost(struct httpsource *ask, const struct err *err)
{
	return type_of(ask)->lost ? type_of(ask)->lost(ask, err) : EXCHANGE_FAILED;
}

static enum exchange_verdict on_read(void *arg, const struct webresponse *response, struct err *err)
{
	struct httpsource *ask = arg;
	enum exchange_verdict verdict;

	ask->step++;
	if (!response->status) {
		*err = *response->transport;
		return on_lost(ask, err);
	}
	httppauses_heed(ask->base.sources->pauses, ask->auth.exchange.request.url, login_of(ask)->access, response);
	add_rest(ask, response);
	verdict = httpsource_read(ask, response, &ask->answer, err);
	/* heed has counted Retry-After already, unless the status is another one */
	if (verdict == EXCHANGE_FAILED && err->retry_after_ms == response->retry_after_ms)
		httppauses_begin(ask->base.sources->pauses, ask->auth.exchange.request.url, login_of(ask)->access,
			err->retry_after_ms, HTTPPAUSES_RETRY_AFTER);
	else if (verdict == EXCHANGE_FAILED)
		httpsource_pause(ask, err->retry_after_ms);
	return verdict;
}

static int make_request(struct httpsource *ask, struct webrequest *out, struct err *err)
{
	out->max_body = type_of(ask)->max_body;
	if (type_of(ask)->request)
		return type_of(ask)->request(ask, out, err);
	out->url = mem_dup(login_of(ask)->url);
	return 0;
}

/* A pause concerns one server: `lost` may go on to another. */
static enum exchange_verdict on_next(void *arg, struct webrequest *out, struct err *err)
{
	struct httpsource *ask = arg;
	enum exchange_verdict verdict = EXCHANGE_NEXT;

	ask->project = ask->auth.project;
	while (verdict == EXCHANGE_NEXT) {
		if (make_request(ask, out, err))
			verdict = EXCHANGE_FAILED;
		else if (!httppauses_check(ask->base.sources->pauses, out->url, login_of(ask)->access, err))
			verdict = EXCHANGE_SEND;
		else if ((verdict = on_lost(ask, err)) == EXCHANGE_NEXT) /* another server may be asked */
			webrequest_done(out);
	}
	return verdict;
}

static bool on_piece(void *arg, const char *bytes, size_t len, size_t *kept, struct err *err)
{
	struct httpsource *ask = arg;

	if (type_of(ask)->piece(ask, bytes, len, kept, err))
		return true;
	name_subject(ask, err);
	return false;
}

static const struct exchange_kind asking = { .next = on_next, .read = on_read, .piece = on_piece, .end = on_end };

static void ask(void *handle)
{
	struct httpsource *a = handle;
	const struct question *question = a->base.question;
	struct scaler_sources *sources = a->base.sources;
	const struct httpsource_type *type = type_of(a);
	const struct httplogin *login = login_of(a);
	struct exchange *x = &a->auth.exchange;

	a->data = question->data;
	if (type->state_size)
		a->state = mem_zalloc(type->state_size);
	a->auth.tokens = sources->tokens;
	a->auth.needs_project = type->needs_project && type->needs_project(question);
	x->loop = sources->loop;
	x->client = sources->web;
	x->options = (struct webclient_options){ .access = login->access,
		.timeout_ms = login->timeout_ms,
		.deadline_ms = a->base.deadline_ms,
		.asker = question->type->name,
		.namespace_ = question->namespace_ };
	x->steps_max = type->steps_max ? type->steps_max : HTTPSOURCE_STEPS_MAX;
	x->pieces = type->piece != NULL;
	webauth_start(&a->auth, &asking, a);
}

static void cancel(void *handle)
{
	struct httpsource *ask = handle;

	webauth_done(&ask->auth);
	drop_state(ask);
}

const struct scaler_asker httpsource_asker = { sizeof(struct httpsource), .ask = ask, .cancel = cancel };

/* ---- For the read functions ---- */

void httpsource_pause(const struct httpsource *ask, int64_t span_ms)
{
	httppauses_begin(ask->base.sources->pauses, ask->auth.exchange.request.url, login_of(ask)->access, span_ms,
		"too many requests");
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
