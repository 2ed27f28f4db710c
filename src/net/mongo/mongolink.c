/* SPDX-License-Identifier: Apache-2.0 */
#include "net/mongo/mongolink.h"

#include <event2/buffer.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "net/stream.h"

#define UNEXPECTED "the server sent an unexpected answer"

struct mongolink {
	struct stream stream;
	const struct mongoendpoint *endpoint; /* borrowed */
	char *host;
	struct mongolink_events events;
	void *arg;
	bool asks;
	int32_t number; /* of the last message */
};

const char *mongolink_doing(const struct mongolink *l)
{
	return l->stream.step;
}

/* An unexpected answer is refused by its first byte. */
static int take_message(void *arg, struct evbuffer *input, size_t *used, struct err *err)
{
	struct mongolink *l = arg;
	uint8_t head[MONGOWIRE_HEADER_SIZE];
	ev_ssize_t got = evbuffer_copyout(input, head, sizeof(head));
	int64_t whole = mongowire_length(head, got > 0 ? (size_t)got : 0, err);
	struct mongowire_document answer;

	l->stream.recognised |= got == sizeof(head); /* errors about its content explain themselves */
	if (got > 0 && !l->asks)
		return err_set(err, ERR_INVALID, UNEXPECTED);
	if (whole <= 0 || evbuffer_get_length(input) < (size_t)whole)
		return whole < 0 ? -1 : 0;
	if (evbuffer_get_length(input) > (size_t)whole)
		return err_set(err, ERR_INVALID, UNEXPECTED);
	if (mongowire_read(evbuffer_pullup(input, -1), (size_t)whole, l->number, &answer, err))
		return -1;
	*used = (size_t)whole;
	l->asks = false;
	l->events.on_answer(l->arg, answer);
	return 1;
}

int32_t mongolink_number(struct mongolink *l)
{
	l->number = l->number == INT32_MAX ? 1 : l->number + 1;
	return l->number;
}

void mongolink_send(struct mongolink *l, struct buf *message)
{
	l->asks = true;
	stream_write_frame(&l->stream, message);
}

static void on_opened(void *arg)
{
	struct mongolink *l = arg;

	l->events.on_open(l->arg);
}

static void on_lost(void *arg, const struct err *why, bool ended)
{
	struct mongolink *l = arg;

	(void)ended;
	l->events.on_lost(l->arg, why);
}

/* For an end before any answer, which may mean that the server expects something else. */
static const char *hint_of(const void *arg)
{
	const struct mongolink *l = arg;

	if (l->stream.recognised)
		return "";
	if (!l->endpoint->tls)
		return " (is TLS needed here? set tls to enable, or tls=true in the connection string)";
	return l->endpoint->base.tls.cert_pem ? "" : " (does it ask for a client certificate? give cert and key)";
}

struct mongolink *mongolink_new(struct loop *loop, struct mongoendpoint *e, const struct mongoendpoint_host *host,
	int64_t limit_ms, const struct mongolink_events *events, void *arg)
{
	static const struct stream_events own = { on_opened, take_message, on_lost, hint_of };
	struct mongolink *l = mem_zalloc(sizeof(*l));

	l->endpoint = e;
	l->host = mem_dup(host->name);
	l->events = *events;
	l->arg = arg;
	stream_init(&l->stream, loop, &own, l);
	stream_open(&l->stream,
		&(struct stream_server){
			.host = l->host,
			.port = host->port,
			.endpoint = &e->base,
			.tls_name = e->tls ? l->host : NULL,
			.limit_ms = limit_ms,
		});
	return l;
}

void mongolink_free(struct mongolink *l)
{
	if (!l)
		return;
	stream_done(&l->stream);
	free(l->host);
	free(l);
}
