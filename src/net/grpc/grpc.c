/* SPDX-License-Identifier: Apache-2.0 */
#include "net/grpc/grpc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "net/answers.h"
#include "net/descriptors.h"
#include "net/grpc/grpcendpoint.h"
#include "net/grpc/grpcframe.h"
#include "net/grpc/grpcstatus.h"
#include "net/grpc/grpcturns.h"
#include "net/http/httpaddresses.h"
#include "net/http/httpc.h"
#include "net/http/httpurl.h"
#include "net/network.h"
#include "net/probe.h"

#define IDLE_MS 60000
/* With a hundred streams per connection, enough for some thousand push streams. */
#define CONNECTIONS_MAX 32
#define STREAMS_MAX     2000  /* per connection, if the server accepts so many */
#define OTHER_BODY_MAX  65536 /* of a response that is not gRPC */
#define OF_LIBCURL      2     /* wake-up descriptors of a multi */
#define WAITED_LEAST_MS 100   /* errors mention a wait for a turn from this length on */

/*
 * The connections to one endpoint. Each has its own curl multi, so that libcurl cannot reuse a
 * connection for another endpoint.
 */
struct grpc_link {
	struct grpc_pool *pool;
	struct grpcendpoint *endpoint;
	struct httpc *http;           /* NULL: not needed yet */
	struct descriptors_hold hold; /* for libcurl's own descriptors, per multi */
	struct probe *probe;
	struct httpaddresses *addresses; /* NULL: nothing to look up */
	struct loop_task settle;         /* handles the held calls */
	bool heard;                      /* the server has answered a call in some way */
	struct grpc_call *calls;
	struct grpc_call *held; /* waiting for the server to be reachable; oldest first */
	struct grpcturns_server turns;
	int64_t used_ms; /* loop clock */
	UT_hash_handle hh;
};

struct grpc_pool {
	struct loop *loop;
	struct grpc_link *links;
	struct loop_timer sweep;
	struct grpcturns *turns;
};

struct grpc_call {
	struct grpc_link *link;
	struct grpc_call *prev, *next;
	struct httpc_call *http;
	const char *path;    /* the caller's literal */
	int64_t deadline_ms; /* loop clock; 0: none */
	void (*put)(void *arg, struct buf *message);
	struct buf opening;                /* of a stream: its one message */
	char *namespace_;                  /* of a unary call */
	char *metadata[GRPC_METADATA_MAX]; /* owned; NULL: no more */
	struct grpcturn turn;
	int64_t asked_ms, waited_ms; /* loop clock: when it joined; how long it waited for its turn */
	bool held;                   /* in link.held */
	unsigned attempts;           /* of the probe, when the call was held */
	struct grpc_call *held_prev, *held_next;
	struct loop_timer late; /* the deadline until it starts */
	const char *method;     /* the part of the path after the last '/' */
	struct grpcstatus status;
	struct grpcframe frame;
	struct buf answer;         /* of a unary call */
	struct answers_hold bytes; /* of frame and answer */
	bool answered;
	bool streaming;
	bool inside, cancelled; /* a callback is on the stack; the call was cancelled in it */
	struct err *err;        /* why we ended the call; owned; NULL */
	grpc_fn fn;
	struct grpc_stream_events events;
	void *arg;
};

/* ---- Links ---- */

static void on_sweep(void *arg);
static void on_change(void *arg);
static void on_settle(void *arg);

/*
 * Behind a proxy the server cannot be probed nor its name looked up; each call finds out by itself.
 */
static bool by_proxy(void)
{
	static const char *const names[] = { "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY" };

	for (size_t i = 0; i < MEM_COUNT(names); i++)
		if (getenv(names[i]) && *getenv(names[i]))
			return true;
	return false;
}

static void find_server(struct grpc_link *l)
{
	struct httpurl_place place;
	struct loop *loop = l->pool->loop;

	if (by_proxy() || httpurl_place(l->endpoint->url, &place, NULL))
		return;
	l->probe = probe_new(loop, place.host, place.port, endpoint_namespace(&l->endpoint->base), on_change, l);
	if (!httpaddresses_is_literal(place.host))
		l->addresses = httpaddresses_new(loop, place.host, place.port, on_change, l);
	httpurl_place_done(&place);
}

static struct grpc_link *link_get(struct grpc_pool *p, struct grpcendpoint *e)
{
	struct grpc_link *l;

	HASH_FIND_STR(p->links, e->base.key, l);
	if (l) {
		endpoint_share(&l->endpoint->base, &e->base);
		return l;
	}
	l = mem_zalloc(sizeof(*l));
	l->pool = p;
	l->endpoint = endpoint_ref(e);
	find_server(l);
	loop_task_init(&l->settle, on_settle, l);
	HASH_ADD_KEYPTR(hh, p->links, e->base.key, strlen(e->base.key), l);
	if (!loop_timer_pending(&p->sweep))
		loop_timer_set(&p->sweep, IDLE_MS);
	return l;
}

/* At the first call. -1: no descriptors. */
static int link_open(struct grpc_link *l, struct err *err)
{
	static const struct httpc_config config = { .max_connections_per_host = CONNECTIONS_MAX,
		.max_streams = STREAMS_MAX,
		.foreign = true,
		.one_server = true };

	l->hold.namespace_ = endpoint_namespace(&l->endpoint->base);
	l->hold.wants = OF_LIBCURL;
	if (l->http)
		return 0;
	if (descriptors_take(&network_of(l->pool->loop)->descriptors, &l->hold, err))
		return -1;
	l->http = httpc_new(l->pool->loop, &config, NULL);
	if (!l->http)
		abort(); /* libcurl failed to initialise, although it worked before */
	return 0;
}

static void link_free(struct grpc_link *l)
{
	struct grpc_call *call, *next;

	DL_FOREACH_SAFE (l->calls, call, next)
		grpc_cancel(call);
	HASH_DEL(l->pool->links, l);
	probe_free(l->probe);
	httpaddresses_free(l->addresses);
	loop_task_cancel(l->pool->loop, &l->settle);
	httpc_free(l->http);
	descriptors_give(&l->hold, 0);
	endpoint_unref(l->endpoint);
	free(l);
}

static void on_sweep(void *arg)
{
	struct grpc_pool *p = arg;
	int64_t now_ms = loop_now_ms(p->loop);
	struct grpc_link *l, *next;

	HASH_ITER (hh, p->links, l, next)
		if (!l->calls && now_ms - l->used_ms >= IDLE_MS)
			link_free(l);
	if (p->links)
		loop_timer_set(&p->sweep, IDLE_MS);
}

/* ---- Ending a call ---- */

static void unhold(struct grpc_call *call)
{
	if (call->held)
		DL_DELETE2(call->link->held, call, held_prev, held_next);
	call->held = false;
}

static void call_free(struct grpc_call *call)
{
	struct grpc_link *l = call->link;

	grpcturns_leave(&call->turn);
	unhold(call);
	DL_DELETE(l->calls, call);
	l->used_ms = loop_now_ms(l->pool->loop);
	grpcframe_done(&call->frame);
	buf_done(&call->answer);
	buf_done_secret(&call->opening);
	answers_release(&call->bytes);
	free(call->namespace_);
	for (size_t i = 0; i < GRPC_METADATA_MAX; i++)
		mem_free_secret(call->metadata[i]);
	loop_timer_done(&call->late);
	err_keep(&call->err, NULL);
	free(call);
}

static void tell(struct grpc_call *call, const struct err *err)
{
	call->inside = true;
	grpcturns_leave(&call->turn); /* first, as the callback may start calls */
	if (call->streaming)
		call->events.on_end(call->arg, err);
	else if (err)
		call->fn(call->arg, NULL, 0, err);
	else
		call->fn(call->arg, buf_text(&call->answer), call->answer.len, NULL);
	call_free(call);
}

static bool is_late(const struct grpc_call *call)
{
	return call->deadline_ms && loop_now_ms(call->link->pool->loop) >= call->deadline_ms;
}

/*
 * A connection that is closed at once or does not speak HTTP/2 may be a TLS port, or, with TLS, a
 * server that demands a client certificate: TLS 1.3 reports that after the handshake.
 */
static void add_hint(const struct grpc_call *call, struct err *err)
{
	static const char *const ends[] = { "does not speak HTTP/2", "not closed cleanly", "Empty reply",
		"reset by peer", "Broken pipe", "not connected", "SSL_ERROR_SYSCALL", "unexpected eof", " alert " };
	const struct grpcendpoint *e = call->link->endpoint;
	bool plain = text_begins(e->url, "http://"), ended = false;
	struct err bare = *err;

	for (size_t i = 0; i < MEM_COUNT(ends); i++)
		ended |= strstr(err->msg, ends[i]) != NULL;
	if (ended && !call->link->heard && (plain || !e->base.tls.cert_pem))
		err_set(err, bare.kind, "%.440s (does the server %s?)", bare.msg,
			plain ? "want TLS" : "ask for a client certificate");
}

static int judge(const struct grpc_call *call, const struct httpc_response *response, const struct err *transport,
	struct err *err)
{
	const char *url = call->link->endpoint->url;
	size_t len = strlen(url);

	if (call->err) {
		*err = *call->err;
		return -1;
	}
	if (transport) {
		*err = *transport;
		/* net/http/httpc names the URL; the caller names the server itself */
		if (text_begins(err->msg, url) && text_begins(err->msg + len, ": "))
			memmove(err->msg, err->msg + len + 2, strlen(err->msg + len + 2) + 1);
		if (!is_late(call))
			add_hint(call, err);
		return -1;
	}
	if (grpcstatus_judge(&call->status, response->status, err))
		return -1;
	if (grpcframe_is_cut(&call->frame))
		return err_set(err, ERR_TEMPORARY, "the answer ended in the middle of a message");
	if (!call->streaming && !call->answered)
		return err_set(err, ERR_INVALID, "the answer has no message");
	return 0;
}

static void on_done(void *arg, const struct httpc_response *response, const struct err *transport)
{
	struct grpc_call *call = arg;
	struct err err = { 0 };
	bool failed = judge(call, response, transport, &err) != 0;
	bool late = is_late(call);

	call->http = NULL;
	if (transport && transport->kind == ERR_TEMPORARY)
		httpaddresses_doubt(call->link->addresses);
	if (transport && transport->kind == ERR_TEMPORARY && !late && call->link->probe)
		probe_doubt(call->link->probe);
	if (failed && transport && call->waited_ms >= WAITED_LEAST_MS)
		err_wrap(&err, "it had waited %lld ms for its turn", (long long)call->waited_ms);
	if (failed)
		err_wrap(&err, "%s", call->method);
	tell(call, failed ? &err : NULL);
}

void grpc_cancel(struct grpc_call *call)
{
	if (!call || call->cancelled)
		return;
	httpc_cancel(call->http);
	call->http = NULL;
	call->cancelled = true;
	if (!call->inside)
		call_free(call);
}

/* ---- The response ---- */

static void on_header(void *arg, const char *line, size_t len)
{
	struct grpc_call *call = arg;

	grpcstatus_note(&call->status, line, len);
}

static void on_status(void *arg, int status)
{
	struct grpc_call *call = arg;

	call->link->heard = true;
	/* grpc-status in the headers: the call has ended without being opened. */
	if (!call->streaming || !call->events.on_open || status != 200 || call->status.told || call->status.foreign)
		return;
	call->inside = true;
	call->events.on_open(call->arg);
	call->inside = false;
	if (call->cancelled)
		call_free(call);
}

/* False: stop reading this response. */
static bool take_message(struct grpc_call *call, struct err *err)
{
	const struct buf *message = &call->frame.message;

	if (call->streaming) {
		call->events.on_message(call->arg, buf_text(message), message->len);
		return !call->cancelled;
	}
	if (call->answered) {
		err_set(err, ERR_INVALID, "the answer has more than one message");
		return false;
	}
	call->answered = true;
	buf_append(&call->answer, message->data, message->len);
	return true;
}

static bool on_data(void *arg, const char *bytes, size_t len)
{
	struct grpc_call *call = arg;
	struct err err = { 0 };
	int taken = 0;
	bool more = true;

	if (call->status.foreign)
		grpcstatus_judge(&call->status, 200, &err); /* not gRPC: do not read a body that may be endless */
	call->inside = true;
	while (err.kind == ERR_NONE && more && (taken = grpcframe_take(&call->frame, &bytes, &len, &err)) > 0)
		more = take_message(call, &err) && len > 0;
	call->inside = false;
	if (call->cancelled) {
		call_free(call);
		return false;
	}
	call->bytes.namespace_ = call->namespace_ ? call->namespace_ : endpoint_namespace(&call->link->endpoint->base);
	if (err.kind == ERR_NONE &&
		answers_hold(&network_of(call->link->pool->loop)->answers, &call->bytes,
			call->frame.message.len + call->answer.len, &err) == 0)
		return true;
	err_keep(&call->err, &err);
	return false;
}

/* ---- Starting a call ---- */

static void on_late(void *arg);

static struct grpc_call *call_new(struct grpc_link *l, const char *method, const char *const *metadata, void *arg)
{
	struct grpc_call *call = mem_zalloc(sizeof(*call));

	for (size_t i = 0; metadata && i < GRPC_METADATA_MAX && metadata[i]; i++)
		call->metadata[i] = mem_dup(metadata[i]);
	call->link = l;
	call->method = strrchr(method, '/') ? strrchr(method, '/') + 1 : method;
	call->arg = arg;
	call->path = method;
	loop_timer_init(&call->late, l->pool->loop, on_late, call);
	grpcframe_init(&call->frame);
	buf_init(&call->answer, GRPCFRAME_MESSAGE_MAX);
	DL_APPEND(l->calls, call);
	return call;
}

/* left_ms 0: no deadline. */
static void begin(struct grpc_call *call, const void *message, size_t len, int64_t left_ms)
{
	static const struct httpc_events events = { .on_status = on_status,
		.on_header = on_header,
		.on_data = on_data,
		.on_done = on_done };
	const struct grpcendpoint *e = call->link->endpoint;
	MEM_AUTO char *url = mem_printf("%s%s", e->url, call->path);
	char timeout[48];
	const char *headers[5 + GRPC_METADATA_MAX] = { "Content-Type: application/grpc", "TE: trailers",
		"User-Agent: grpc-kscaled" };
	size_t count = 3;
	struct buf body = BUF_INIT(GRPCFRAME_MESSAGE_MAX + GRPCFRAME_HEAD);
	struct httpc_request request = { .method = "POST",
		.url = url,
		.headers = headers,
		.deadline_ms = left_ms,
		.http2 = true,
		.max_body = OTHER_BODY_MAX,
		.namespace_ = endpoint_namespace(&e->base),
		.addresses = httpaddresses_text(call->link->addresses),
		.server = &e->server };

	/* at most eight digits */
	snprintf(timeout, sizeof(timeout), "grpc-timeout: %lldm", (long long)(left_ms < 99999999 ? left_ms : 99999999));
	for (size_t i = 0; i < GRPC_METADATA_MAX && call->metadata[i]; i++)
		headers[count++] = call->metadata[i];
	if (left_ms)
		headers[count] = timeout;
	buf_reserve(&body, len + GRPCFRAME_HEAD); /* one copy only, as it may hold secrets */
	grpcframe_put(&body, message, len);
	request.body = buf_text(&body);
	request.body_len = body.len;
	call->http = httpc_start(call->link->http, &request, &events, call);
	buf_done_secret(&body);
}

static int64_t left_until(const struct grpc_pool *p, int64_t deadline_ms)
{
	int64_t left_ms = deadline_ms - loop_now_ms(p->loop);

	return left_ms > 1 ? left_ms : 1;
}

/* ---- Waiting for a server that is down or busy ---- */

static void fail(struct grpc_call *call, const struct err *why)
{
	struct err err = *why;

	err_wrap(&err, "%s", call->method);
	tell(call, &err);
}

static void on_late(void *arg)
{
	struct grpc_call *call = arg;
	const struct err *why = call->err; /* set if it may not start */
	struct err late;

	if (!why && call->held)
		why = probe_lost(call->link->probe);
	if (!why && call->held) {
		err_set(&late, ERR_TEMPORARY, "the server's name was not looked up in time");
		why = &late;
	}
	if (!why) {
		err_set(&late, ERR_TEMPORARY,
			"its turn did not come within %lld ms: a namespace has at most %d calls to gRPC servers under "
			"way, "
			"half of them to one, and one server is asked at most %d at once; ask less of them, or let "
			"them answer "
			"sooner",
			(long long)(loop_now_ms(call->link->pool->loop) - call->asked_ms), GRPCTURNS_OF_NAMESPACE,
			GRPCTURNS_OF_SERVER);
		why = &late;
	}
	fail(call, why);
}

static void hold(struct grpc_call *call)
{
	struct grpc_link *l = call->link;

	call->held = true;
	call->attempts = l->probe ? probe_attempts(l->probe) : 0;
	DL_APPEND2(l->held, call, held_prev, held_next);
	if (probe_lost(l->probe))
		probe_want(l->probe);
}

/* Whether the call cannot be sent now. */
static bool must_wait(const struct grpc_link *l, bool streaming)
{
	/* Streams are not held while a server is lost, as their owners have a back-off. */
	return httpaddresses_are_awaited(l->addresses) || (!streaming && probe_lost(l->probe));
}

static void open_stream(struct grpc_call *call)
{
	begin(call, buf_text(&call->opening), call->opening.len, 0);
	buf_done_secret(&call->opening);
}

/* Waits until the server is found and reachable, then for a turn; held calls use no turn. */
static void line_up(struct grpc_call *call)
{
	struct grpc_link *l = call->link;

	if (must_wait(l, call->streaming) || httpaddresses_trouble(l->addresses))
		hold(call);
	else if (call->streaming)
		open_stream(call);
	else
		grpcturns_join(l->pool->turns, &call->turn, &l->turns, call->namespace_);
}

static void find_and_line_up(struct grpc_call *call)
{
	struct grpc_link *l = call->link;

	httpaddresses_want(l->addresses, call->namespace_ ? call->namespace_ : endpoint_namespace(&l->endpoint->base));
	line_up(call);
	if (call->held && !must_wait(l, call->streaming)) /* the name was not found a moment ago */
		loop_task_queue(l->pool->loop, &l->settle);
}

static void on_turn(struct grpcturn *turn)
{
	struct grpc_call *call = (struct grpc_call *)(void *)((char *)turn - offsetof(struct grpc_call, turn));
	struct grpc_pool *p = call->link->pool;
	struct buf message = BUF_INIT(GRPCFRAME_MESSAGE_MAX);

	if (probe_lost(call->link->probe)) { /* lost while the call waited */
		grpcturns_leave(turn);
		hold(call);
		return;
	}
	loop_timer_cancel(&call->late);
	call->waited_ms = loop_now_ms(p->loop) - call->asked_ms;
	call->put(call->arg, &message);
	begin(call, buf_text(&message), message.len, left_until(p, call->deadline_ms));
	buf_done_secret(&message);
}

static void on_change(void *arg)
{
	struct grpc_link *l = arg;

	loop_task_queue(l->pool->loop, &l->settle);
}

/*
 * Calls that were held before a failed attempt get its error, one at a time, as a callback may free
 * everything; later ones wait for the next attempt.
 */
static void on_settle(void *arg)
{
	struct grpc_link *l = arg;
	struct grpc_call *call = l->held;

	if (!call || httpaddresses_are_awaited(l->addresses) || (probe_lost(l->probe) && probe_is_trying(l->probe)))
		return;
	if (httpaddresses_trouble(l->addresses)) {
		struct err err;

		loop_task_queue(l->pool->loop, &l->settle);
		err_set(&err, ERR_TEMPORARY, "%s", httpaddresses_trouble(l->addresses));
		fail(call, &err);
	} else if (!probe_lost(l->probe)) {
		while ((call = l->held) != NULL) {
			unhold(call);
			line_up(call);
		}
	} else if (call->attempts < probe_attempts(l->probe)) {
		loop_task_queue(l->pool->loop, &l->settle);
		fail(call, probe_lost(l->probe));
	} else {
		probe_want(l->probe);
	}
}

/* ---- Calls ---- */

/* False: the call will fail, after this has returned to its caller. */
static bool may_begin(struct grpc_call *call)
{
	struct err err;

	if (link_open(call->link, &err) == 0)
		return true;
	err_keep(&call->err, &err);
	loop_timer_set(&call->late, 0);
	return false;
}

struct grpc_call *grpc_unary(struct grpc_pool *p, struct grpcendpoint *e, const struct grpc_request *request)
{
	struct grpc_call *call = call_new(link_get(p, e), request->method, request->metadata, request->arg);

	call->fn = request->fn;
	call->put = request->put;
	call->namespace_ = mem_dup(request->namespace_);
	call->deadline_ms = request->deadline_ms;
	call->asked_ms = loop_now_ms(p->loop);
	loop_timer_set(&call->late, left_until(p, call->deadline_ms));
	if (may_begin(call))
		find_and_line_up(call);
	return call;
}

struct grpc_call *grpc_stream(struct grpc_pool *p, struct grpcendpoint *e, const char *method,
	const char *const *metadata, const void *message, size_t len, const struct grpc_stream_events *events,
	void *arg)
{
	struct grpc_call *call = call_new(link_get(p, e), method, metadata, arg);

	call->streaming = true;
	call->events = *events;
	buf_init(&call->opening, GRPCFRAME_MESSAGE_MAX);
	buf_reserve(&call->opening, len);
	buf_append(&call->opening, message, len);
	if (may_begin(call))
		find_and_line_up(call);
	return call;
}

/* ---- The pool ---- */

struct grpc_pool *grpc_pool_new(struct loop *loop)
{
	struct grpc_pool *p = mem_zalloc(sizeof(*p));

	p->loop = loop;
	p->turns = grpcturns_new(loop, on_turn);
	loop_timer_init(&p->sweep, loop, on_sweep, p);
	return p;
}

void grpc_pool_free(struct grpc_pool *p)
{
	struct grpc_link *l, *next;

	if (!p)
		return;
	HASH_ITER (hh, p->links, l, next)
		link_free(l);
	grpcturns_free(p->turns);
	loop_timer_done(&p->sweep);
	free(p);
}
