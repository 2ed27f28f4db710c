/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/external/externalpush.h"

#include <stdlib.h>

#include "base/mem.h"
#include "scalers/external/externalmessages.h"
#include "scalers/external/externalquestion.h"
#include "scalers/sources.h"

#define AGAIN_FIRST_MS 2000
#define AGAIN_MAX_MS   60000
/*
 * Many servers send nothing, not even headers, before the first message. A stream that outlives a
 * connection attempt counts as open.
 */
#define SETTLED_MS 6000
/* A stream with more messages is closed: reading them would take all our time. */
#define MESSAGES_PER_SECOND_MAX 1000

struct push {
	struct scaler_sources *sources;
	struct question *question;
	question_look_fn look;
	void *arg;
	struct grpc_call *stream; /* NULL between attempts */
	struct loop_timer again;  /* with a stream: when it counts as open */
	unsigned failures;        /* consecutive */
	enum watch_state state;
	bool was_lost;     /* messages may have been missed */
	struct err *err;   /* owned; while failing */
	int64_t second_ms; /* loop clock: start of the counting period */
	unsigned messages;
};

static void lose(struct push *p, const struct err *err)
{
	struct err named = *err;

	p->stream = NULL;
	externalquestion_name_error(p->question, &named);
	p->state = WATCH_FAILING;
	p->was_lost = true;
	err_keep(&p->err, &named);
	loop_timer_set(&p->again, loop_backoff_ms(p->failures++, AGAIN_FIRST_MS, AGAIN_MAX_MS));
}

static void break_off(struct push *p, const struct err *err)
{
	grpc_cancel(p->stream);
	lose(p, err);
}

static void on_open(void *arg)
{
	struct push *p = arg;

	p->state = WATCH_ON;
	err_keep(&p->err, NULL);
	loop_timer_cancel(&p->again);
	if (!p->was_lost)
		return;
	p->was_lost = false;
	p->look(p->arg);
}

static void on_message(void *arg, const void *bytes, size_t len)
{
	struct push *p = arg;
	int64_t now_ms = loop_now_ms(p->sources->loop);
	struct err err = { 0 };
	bool active = false;

	if (now_ms - p->second_ms >= 1000) {
		p->second_ms = now_ms;
		p->messages = 0;
	}
	if (++p->messages > MESSAGES_PER_SECOND_MAX) {
		p->failures = p->failures ? p->failures : 1;
		err_set(&err, ERR_INVALID, "StreamIsActive: more than %d messages in a second",
			MESSAGES_PER_SECOND_MAX);
		break_off(p, &err);
		return;
	}
	if (externalmessages_get_active(bytes, len, &active, &err)) {
		err_wrap(&err, "StreamIsActive");
		break_off(p, &err);
		return;
	}
	p->failures = 0;
	active |= p->was_lost;
	p->was_lost = false; /* so that on_open does not call look again */
	on_open(p);
	if (active)
		p->look(p->arg);
}

static void on_end(void *arg, const struct err *err)
{
	struct push *p = arg;
	struct err ended = { 0 };

	if (err) {
		lose(p, err);
		return;
	}
	p->failures = 0;
	err_set(&ended, ERR_TEMPORARY, "StreamIsActive: the server has ended the stream");
	lose(p, &ended);
}

static void on_again(void *arg)
{
	static const struct grpc_stream_events events = { .on_open = on_open,
		.on_message = on_message,
		.on_end = on_end };
	struct push *p = arg;
	const struct externalquestion *q = p->question->data;
	const struct buf *reference = &q->source->reference;

	if (p->stream) {
		on_open(p);
		return;
	}
	loop_timer_set(&p->again, SETTLED_MS);
	p->stream = grpc_stream(p->sources->grpc, q->source->endpoint, "/externalscaler.ExternalScaler/StreamIsActive",
		NULL, buf_text(reference), reference->len, &events, p);
}

void *externalpush_watch(struct scaler_sources *sources, struct question *question, question_look_fn look, void *arg)
{
	struct push *p = mem_zalloc(sizeof(*p));

	p->sources = sources;
	p->question = question_ref(question);
	p->look = look;
	p->arg = arg;
	p->state = WATCH_STARTING;
	loop_timer_init(&p->again, sources->loop, on_again, p);
	on_again(p);
	return p;
}

void externalpush_unwatch(void *watch)
{
	struct push *p = watch;

	grpc_cancel(p->stream);
	loop_timer_done(&p->again);
	err_keep(&p->err, NULL);
	question_unref(p->question);
	free(p);
}

struct watch_report externalpush_report(const void *watch)
{
	const struct push *p = watch;

	return (struct watch_report){ .state = p->state, .why = p->err ? p->err->msg : "" };
}
