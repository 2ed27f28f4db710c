/* SPDX-License-Identifier: Apache-2.0 */
#include "net/web/exchange.h"

#include <stdlib.h>

#include "base/mem.h"

/* ---- The end ---- */

void exchange_done(struct exchange *x)
{
	if (!x->kind)
		return;
	webclient_cancel(x->call);
	x->call = NULL;
	loop_timer_done(&x->late);
	loop_task_cancel(x->loop, &x->ending);
	webrequest_done(&x->request);
	err_keep(&x->err, NULL);
	x->kind = NULL;
}

/* err must not be inside the exchange: end may free that. */
static void end(struct exchange *x, const struct err *err)
{
	const struct exchange_kind *kind = x->kind;

	exchange_done(x);
	kind->end(x->arg, err);
}

static void on_ending(void *arg)
{
	struct exchange *x = arg;
	struct err *err = x->err;

	x->err = NULL;
	end(x, err);
	free(err);
}

/* ---- The steps ---- */

static void step(struct exchange *x);
static void on_response(void *arg, const struct webresponse *response, const struct err *transport);

static bool on_piece(void *arg, const char *bytes, size_t len, size_t *kept)
{
	struct exchange *x = arg;
	struct err err = { 0 };
	bool taken = x->kind->piece(x->arg, bytes, len, kept, &err);

	if (!taken && err.kind != ERR_NONE)
		err_keep(&x->err, &err);
	return taken;
}

/* Loop clock: the request's deadline; before the first request the exchange's; 0: none. */
static int64_t ends_ms(const struct exchange *x)
{
	int64_t whole_ms = x->options.deadline_ms, end_ms = x->began_ms + x->span_ms;

	return !x->request.url || (whole_ms && whole_ms < end_ms) ? whole_ms : end_ms;
}

static void send(struct exchange *x)
{
	struct webclient_options options = x->options;

	options.deadline_ms = ends_ms(x);
	options.on_piece = x->pieces ? on_piece : NULL;
	x->call = webclient_start(x->client, &x->request, &options, on_response, x);
}

static void wait(struct exchange *x)
{
	int64_t end_ms = ends_ms(x);

	if (x->kind->late && end_ms)
		loop_timer_set(&x->late, end_ms - loop_now_ms(x->loop));
}

static void respond(struct exchange *x, const struct webresponse *response)
{
	int64_t after_ms;
	struct err err;

	err_clear(&err);
	x->step++;
	switch (x->kind->read(x->arg, response, &err)) {
	case EXCHANGE_NEXT: step(x); break;
	case EXCHANGE_WAIT:
		x->step--; /* the same request again */
		wait(x);
		break;
	case EXCHANGE_SEND:
		x->step--;
		send(x);
		break;
	case EXCHANGE_DONE: end(x, NULL); break;
	case EXCHANGE_FAILED:
		after_ms = err.retry_after_ms;
		if (response->status && webaccess_must_hide(x->options.access, response, err.msg))
			err_set(&err, err.kind, "HTTP status %d; its text is not shown, as it repeats a credential",
				response->status);
		err.retry_after_ms = after_ms;
		end(x, &err);
		break;
	}
}

static void lose(struct exchange *x, const struct err *transport)
{
	const struct webresponse none = { .transport = transport,
		.body = "",
		.content_type = "",
		.location = "",
		.wanted = { "", "", "", "" } };
	struct err err = *transport;

	if (x->request.url)
		respond(x, &none);
	else
		end(x, &err);
}

static void on_response(void *arg, const struct webresponse *response, const struct err *transport)
{
	struct exchange *x = arg;

	x->call = NULL;
	if (response)
		respond(x, response);
	else if (x->err)
		on_ending(x); /* a piece was refused */
	else
		lose(x, transport);
}

static void step(struct exchange *x)
{
	enum exchange_verdict verdict = EXCHANGE_FAILED;
	const struct webrequest *r = &x->request;
	struct err err;

	err_clear(&err);
	webrequest_done(&x->request);
	if (x->step < x->steps_max)
		verdict = x->kind->next(x->arg, &x->request, &err);
	else
		err_set(&err, ERR_INVALID, "more than %u requests for one answer", x->steps_max);
	x->began_ms = loop_now_ms(x->loop);
	x->span_ms = r->timeout_ms > 0      ? r->timeout_ms
		: x->options.timeout_ms > 0 ? x->options.timeout_ms
					    : webclient_timeout_ms(x->client);
	if (verdict == EXCHANGE_SEND) {
		send(x);
	} else if (verdict == EXCHANGE_WAIT) {
		wait(x);
	} else {
		err_keep(&x->err, verdict == EXCHANGE_DONE ? NULL : &err);
		loop_task_queue(x->loop, &x->ending);
	}
}

static void on_late(void *arg)
{
	struct exchange *x = arg;
	struct err err = { 0 };

	x->kind->late(x->arg, &err);
	lose(x, &err);
}

/* ---- Interface ---- */

bool exchange_runs(const struct exchange *x)
{
	return x->kind != NULL;
}

void exchange_start(struct exchange *x, const struct exchange_kind *kind, void *arg)
{
	x->kind = kind;
	x->arg = arg;
	x->step = 0;
	loop_timer_init(&x->late, x->loop, on_late, x);
	loop_task_init(&x->ending, on_ending, x);
	step(x);
}

void exchange_resume(struct exchange *x, const struct err *err)
{
	loop_timer_cancel(&x->late);
	if (err)
		lose(x, err);
	else if (x->request.url)
		send(x);
	else
		step(x);
}
