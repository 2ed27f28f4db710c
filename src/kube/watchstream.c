/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/watchstream.h"

#include <stdlib.h>
#include <utlist.h>

#include "base/log.h"
#include "base/mem.h"

/*
 * If the first stream is connected but not answered for this time (a server that queues requests),
 * the others start.
 */
#define GO_AHEAD_MS 6000
/* After this time a connection that carries nothing is given up (net/http/httpc). */
#define PROBE_MS 5000
/* How often HTTP/1.1 streams may be restarted because of doubts. */
#define DOUBT_EVERY_MS 30000

/* Streams that share one connection. */
struct watchstream_link {
	struct session *session; /* borrowed */
	struct watchstream_link *prev, *next;
	struct httpc *pool;
	struct watchstream *streams;
	unsigned count;
	bool shared;               /* HTTP/2: streams share a connection */
	unsigned age;              /* number of deliberate reconnects */
	unsigned answered;         /* answered live streams of this age: the connection can carry more */
	struct watchstream *ahead; /* the first stream, while the others wait for it; NULL */
	struct loop_timer ahead_timer;
	struct err why;                   /* of streams that fail together */
	struct httpc_call *probe;         /* NULL: none is under way */
	struct credentials *probed_under; /* held, with the probe */
	int64_t doubted_ms;               /* 0: never */
};

enum stream_state {
	STREAM_WAITING, /* for the first stream */
	STREAM_STARTED,
	STREAM_ANSWERED,
	STREAM_FAILING, /* for link.why; its callback is called at the end of the turn */
	STREAM_ENDED,
};

struct watchstream {
	struct watchstream_link *link;
	struct watchstream *prev, *next;
	enum stream_state state;
	char *path;
	struct httpc_call *http;         /* from STARTED on */
	struct credentials *credentials; /* held, from STARTED on */
	struct httpc_events events;
	void *arg;
	int64_t silence_ms;
	int64_t heard_at_ms; /* when bytes came last */
	unsigned age;        /* of the link when it was started */
	struct loop_task fail_task;
};

static void on_connected(void *arg, bool http2);
static void on_status(void *arg, int status);
static bool on_data(void *arg, const char *bytes, size_t len);
static void on_done(void *arg, const struct httpc_response *response, const struct err *err);

/* ---- Starting ---- */

static void stream_send(struct watchstream *s)
{
	static const struct httpc_events events = { .on_connected = on_connected,
		.on_status = on_status,
		.on_data = on_data,
		.on_done = on_done };
	struct session *session = s->link->session;
	MEM_AUTO char *url = mem_printf("%s%s", session->credentials->server, s->path);
	struct httpc_request request = session_request(session, url);

	request.silence_ms = s->silence_ms;
	s->state = STREAM_STARTED;
	s->credentials = credentials_hold(session->credentials);
	s->heard_at_ms = loop_now_ms(session->loop);
	s->age = s->link->age;
	s->http = httpc_start(s->link->pool, &request, &events, s);
}

/* Starts the first stream, or all once there is a connection. */
static void link_go_on(struct watchstream_link *l)
{
	struct watchstream *s;

	DL_FOREACH (l->streams, s) {
		if (s->state != STREAM_WAITING)
			continue;
		if (l->ahead)
			return;
		if (l->answered == 0) {
			l->ahead = s;
			loop_timer_set(&l->ahead_timer, GO_AHEAD_MS);
		}
		stream_send(s);
	}
}

static void link_nobody_ahead(struct watchstream_link *l)
{
	l->ahead = NULL;
	loop_timer_cancel(&l->ahead_timer);
}

/*
 * The first stream is connected, or libcurl would have given up, so the others can use its
 * connection.
 */
static void on_ahead_timer(void *arg)
{
	struct watchstream_link *l = arg;
	struct watchstream *s;

	link_nobody_ahead(l);
	DL_FOREACH (l->streams, s)
		if (s->state == STREAM_WAITING)
			stream_send(s);
}

/* The server is unreachable: the waiting streams fail without an attempt of their own. */
static void link_fail_waiting(struct watchstream_link *l, const struct err *err)
{
	struct watchstream *s;

	l->why = *err;
	DL_FOREACH (l->streams, s) {
		if (s->state != STREAM_WAITING)
			continue;
		s->state = STREAM_FAILING;
		loop_task_queue(l->session->loop, &s->fail_task);
	}
}

/* ---- Ending ---- */

static void stream_free(void *arg)
{
	struct watchstream *s = arg;

	credentials_release(s->credentials);
	free(s->path);
	free(s);
}

/*
 * Freed at the end of the turn: its callbacks may be on the stack, above libcurl, which still uses
 * the credentials.
 */
static void stream_end(struct watchstream *s)
{
	struct watchstream_link *l = s->link;

	DL_DELETE(l->streams, s);
	l->count--;
	if (s->state == STREAM_ANSWERED && s->age == l->age)
		l->answered--;
	if (l->ahead == s)
		link_nobody_ahead(l);
	s->state = STREAM_ENDED;
	loop_task_cancel(l->session->loop, &s->fail_task);
	loop_free_later(l->session->loop, s, stream_free);
}

static void on_fail_task(void *arg)
{
	struct watchstream *s = arg;
	struct err err = s->link->why;

	stream_end(s);
	s->events.on_done(s->arg, NULL, &err);
}

/* ---- Events of httpc ---- */

static void on_connected(void *arg, bool http2)
{
	struct watchstream *s = arg;

	s->link->shared = http2;
}

static void on_status(void *arg, int status)
{
	struct watchstream *s = arg;
	struct watchstream_link *l = s->link;

	s->heard_at_ms = loop_now_ms(l->session->loop);
	s->state = STREAM_ANSWERED;
	if (s->age == l->age)
		l->answered++;
	if (l->ahead == s)
		link_nobody_ahead(l);
	link_go_on(l);
	session_answered(l->session, "watch", status);
	if (s->events.on_status)
		s->events.on_status(s->arg, status);
}

static bool on_data(void *arg, const char *bytes, size_t len)
{
	struct watchstream *s = arg;

	s->heard_at_ms = loop_now_ms(s->link->session->loop);
	return s->events.on_data(s->arg, bytes, len);
}

static void link_reset(struct watchstream_link *l)
{
	l->age++;
	l->answered = 0;
	link_nobody_ahead(l);
	httpc_drop_connections(l->pool);
	link_go_on(l);
}

/* Only the first silent stream of a dead link causes the reconnect. */
static void reset_if_silent(struct watchstream *s)
{
	struct watchstream_link *l = s->link;

	if (s->silence_ms == 0 || s->age != l->age || loop_now_ms(l->session->loop) - s->heard_at_ms < s->silence_ms)
		return;
	log_debug("kube", "a watch received nothing for %lld s: reconnecting", (long long)(s->silence_ms / 1000));
	link_reset(l);
}

static void on_done(void *arg, const struct httpc_response *response, const struct err *err)
{
	struct watchstream *s = arg;
	struct watchstream_link *l = s->link;
	bool was_ahead = l->ahead == s;

	s->http = NULL;
	if (err) {
		session_unanswered(l->session, "watch", err);
		reset_if_silent(s);
	} else if (response->status == 401) {
		session_refresh_soon(l->session);
	}
	stream_end(s);
	if (was_ahead && err)
		link_fail_waiting(l, err);
	else
		link_go_on(l);
	s->events.on_done(s->arg, response, err);
}

/* ---- Dead connections ---- */

static void end_probe(struct watchstream_link *l)
{
	httpc_cancel(l->probe);
	l->probe = NULL;
	credentials_release(l->probed_under);
	l->probed_under = NULL;
}

/* Any answer shows that the connection lives. Without one, httpc has ended its streams. */
static void on_probed(void *arg, const struct httpc_response *response, const struct err *err)
{
	struct watchstream_link *l = arg;

	(void)response;
	if (err)
		log_debug("kube", "the connection of watches: %s", err->msg);
	l->probe = NULL;
	end_probe(l);
}

/*
 * Sends a short request on the connection of the streams, which may carry no byte for minutes: like
 * client-go's PINGs, which libcurl cannot evaluate. Every authenticated user may read /version.
 */
static void link_probe(struct watchstream_link *l)
{
	static const struct httpc_events events = { .on_done = on_probed };
	struct session *session = l->session;
	MEM_AUTO char *url = mem_printf("%s/version", session->credentials->server);
	struct httpc_request request = session_request(session, url);

	request.deadline_ms = PROBE_MS;
	l->probed_under = credentials_hold(session->credentials);
	l->probe = httpc_start(l->pool, &request, &events, l);
}

/*
 * With HTTP/1.1 each stream has a connection of its own, which no other request can test: streams
 * that received nothing since then restart at their position. One goes first, so a server that is
 * only slow gets the others when it has answered that.
 */
static void link_renew(struct watchstream_link *l, int64_t since_ms)
{
	int64_t now_ms = loop_now_ms(l->session->loop);
	struct watchstream *s;

	if (l->doubted_ms && now_ms - l->doubted_ms < DOUBT_EVERY_MS)
		return;
	l->doubted_ms = now_ms;
	err_set(&l->why, ERR_TEMPORARY,
		"the connection is dead: neither the watch nor a test request received anything");
	DL_FOREACH (l->streams, s) {
		if (s->state != STREAM_ANSWERED || s->heard_at_ms > since_ms)
			continue;
		if (s->age == l->age)
			l->answered--;
		httpc_cancel(s->http);
		s->http = NULL;
		s->state = STREAM_FAILING;
		loop_task_queue(l->session->loop, &s->fail_task);
	}
}

void watchstream_check_links(struct watchstreams *all, int64_t since_ms)
{
	struct watchstream_link *l;

	DL_FOREACH (all->links, l) {
		if (l->answered == 0 || l->probe)
			continue;
		if (l->shared)
			link_probe(l);
		else
			link_renew(l, since_ms);
	}
}

/* ---- The interface ---- */

static struct watchstream_link *link_with_room(struct watchstreams *all)
{
	static const struct httpc_config config = { .one_server = true };
	struct watchstream_link *l;

	DL_FOREACH (all->links, l)
		if (l->count < WATCHSTREAM_LINK_MAX)
			return l;
	l = mem_zalloc(sizeof *l);
	l->session = all->session;
	l->pool = httpc_new(l->session->loop, &config, NULL); /* the client has made one already, so libcurl works */
	loop_timer_init(&l->ahead_timer, l->session->loop, on_ahead_timer, l);
	DL_APPEND(all->links, l);
	return l;
}

struct watchstream *watchstream_start(struct watchstreams *all, const char *path, int64_t silence_ms,
	const struct httpc_events *events, void *arg)
{
	struct watchstream *s = mem_zalloc(sizeof *s);

	session_refresh_if_due(all->session);
	s->link = link_with_room(all);
	s->path = mem_dup(path);
	s->events = *events;
	s->arg = arg;
	s->silence_ms = silence_ms;
	loop_task_init(&s->fail_task, on_fail_task, s);
	DL_APPEND(s->link->streams, s);
	s->link->count++;
	link_go_on(s->link);
	return s;
}

void watchstream_cancel(struct watchstream *s)
{
	struct watchstream_link *l;

	if (!s || s->state == STREAM_ENDED)
		return;
	l = s->link;
	httpc_cancel(s->http);
	s->http = NULL;
	stream_end(s);
	link_go_on(l);
}

void watchstream_reset_links(struct watchstreams *all)
{
	struct watchstream_link *l;

	DL_FOREACH (all->links, l)
		link_reset(l);
}

void watchstream_free_links(struct watchstreams *all)
{
	struct watchstream_link *l, *next;

	DL_FOREACH_SAFE (all->links, l, next) {
		while (l->streams) {
			httpc_cancel(l->streams->http);
			l->streams->http = NULL;
			stream_end(l->streams);
		}
		end_probe(l);
		loop_timer_done(&l->ahead_timer);
		httpc_free(l->pool);
		DL_DELETE(all->links, l);
		free(l);
	}
}
