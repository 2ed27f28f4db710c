/* SPDX-License-Identifier: Apache-2.0 */
#include "net/beanstalk/beanstalk.h"

#include <event2/buffer.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostport.h"
#include "base/mem.h"
#include "net/stream.h"

#define WAITING_MAX 20000
#define WINDOW      32 /* questions in flight */

struct beanstalk_endpoint {
	struct endpoint base;
	char *host;
	uint16_t port;
};

struct beanstalk_call {
	struct pool_call base; /* its query: the command */
	beanstalk_fn fn;
	void *arg;
	struct tubestats stats;
};

struct beanstalk_link {
	struct stream stream;
	struct pool_slot *slot;
	const struct beanstalk_endpoint *endpoint; /* borrowed */
};

/* ---- Endpoints ---- */

static void on_endpoint_done(struct endpoint *e)
{
	free(((struct beanstalk_endpoint *)e)->host);
}

struct endpoint *beanstalk_endpoint(const char *namespace_, const char *server, struct err *err)
{
	struct beanstalk_endpoint *e;
	struct hostport at;

	if (hostport_parse(server, &at) != HOSTPORT_GOOD || !at.host[0] || at.port == 0 ||
		at.host[strcspn(at.host, "/@[] \t\r\n")]) {
		err_set(err, ERR_INVALID, "must be host:port, such as beanstalkd.default.svc:11300");
		return NULL;
	}
	e = endpoint_new(sizeof(*e), on_endpoint_done);
	endpoint_set_namespace(&e->base, namespace_);
	e->base.name = hostport_join(at.host, at.port);
	e->base.key = mem_printf("beanstalkd %s", e->base.name);
	e->host = mem_dup(at.host);
	e->port = at.port;
	return endpoint_unique(e);
}

/* ---- Connections ---- */

static void on_opened(void *arg)
{
	pool_opened(((struct beanstalk_link *)arg)->slot, 0);
}

static int take_answer(void *arg, struct evbuffer *input, size_t *used, struct err *err)
{
	struct beanstalk_link *l = arg;
	size_t len = evbuffer_get_length(input);
	struct beanstalk_call *call;
	struct tubestats stats;
	bool failed;
	int rc;

	if (len > TUBESTATS_ANSWER_MAX)
		len = TUBESTATS_ANSWER_MAX;
	rc = len > 0
		? tubestats_read((const char *)evbuffer_pullup(input, (ssize_t)len), len, used, &stats, &failed, err)
		: 0;
	if (rc <= 0)
		return rc;
	call = (struct beanstalk_call *)pool_slot_call(l->slot, 0);
	if (!call)
		return err_set(err, ERR_TEMPORARY, "the server sent an unexpected answer");
	l->stream.recognised = true;
	call->stats = stats;
	if (failed)
		err_keep(&call->base.err, err);
	pool_finished(&call->base, true);
	return 1;
}

static void on_lost(void *arg, const struct err *why, bool ended)
{
	(void)ended;
	pool_lost(((struct beanstalk_link *)arg)->slot, why);
}

static const char *hint_of(const void *arg)
{
	return ((const struct beanstalk_link *)arg)->stream.recognised ? "" : " (is it a beanstalkd server?)";
}

/* ---- Functions for the pool ---- */

static void *open_connection(struct pool_slot *slot, struct endpoint *e, const struct pool_call *first)
{
	static const struct stream_events events = { on_opened, take_answer, on_lost, hint_of };
	struct beanstalk_link *l = pool_slot_connection(slot);

	(void)first;
	if (!l) {
		l = mem_zalloc(sizeof(*l));
		l->slot = slot;
		l->endpoint = (const struct beanstalk_endpoint *)e;
		stream_init(&l->stream, pool_slot_loop(slot), &events, l);
	}
	stream_open(&l->stream,
		&(struct stream_server){
			.host = l->endpoint->host,
			.port = l->endpoint->port,
			.endpoint = e,
			.limit_ms = STREAM_CONNECT_MS,
		});
	return l;
}

static int opening(const void *connection, struct err *err)
{
	return stream_timed_out(&((const struct beanstalk_link *)connection)->stream, err);
}

static int send_command(void *connection, struct pool_call *call, struct err *err)
{
	(void)err;
	stream_write(&((struct beanstalk_link *)connection)->stream, call->query, call->bytes);
	return 0;
}

static void close_connection(void *connection)
{
	stream_close(&((struct beanstalk_link *)connection)->stream);
}

static void free_connection(void *connection)
{
	stream_done(&((struct beanstalk_link *)connection)->stream);
	free(connection);
}

static void tell(struct pool_call *base)
{
	struct beanstalk_call *call = (struct beanstalk_call *)base;

	call->fn(call->arg, base->err ? NULL : &call->stats, base->err);
}

static const struct pool_protocol protocol = {
	.name = "beanstalkd",
	.calls = "questions",
	.call_size = sizeof(struct beanstalk_call),
	.window = WINDOW,
	.waiting_max = WAITING_MAX,
	.overdue = "the server did not answer in time",
	.crowded = "no answer in time",
	.open = open_connection,
	.opening = opening,
	.send = send_command,
	.close = close_connection,
	.free = free_connection,
	.tell = tell,
};

/* ---- Users ---- */

struct pool *beanstalk_new(struct loop *loop)
{
	return pool_new(loop, &protocol, NULL);
}

struct pool_call *beanstalk_ask(struct pool *p, struct endpoint *e, const char *tube, int64_t deadline_ms,
	beanstalk_fn fn, void *arg)
{
	struct beanstalk_call *call = mem_zalloc(sizeof(*call));
	char *command = tubestats_command(tube);

	call->fn = fn;
	call->arg = arg;
	pool_ask(p, e, command, strlen(command), deadline_ms, &call->base);
	return &call->base;
}
