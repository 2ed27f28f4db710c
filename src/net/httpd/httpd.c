/* SPDX-License-Identifier: Apache-2.0 */
#include "net/httpd/httpd_parts.h"

#include <sys/queue.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/bufferevent_struct.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <event2/http.h>
#include <event2/http_struct.h>
#include <event2/listener.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <utlist.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/httpd/httpframing.h"
#include "net/httpd/httppath.h"
#include "net/listen.h"

/*
 * Limit of the bytes of requests over all connections. Above it, the client that has sent most of
 * an incomplete request is disconnected.
 */
#define INPUT_TOTAL_MAX ((size_t)8 << 20)
/*
 * Limit of the bytes of replies that clients have not read. Above it, further long replies become a
 * 503. One reply may be longer.
 */
#define OUTPUT_TOTAL_MAX ((size_t)8 << 20)
#define COME_AGAIN       "too many replies are being sent to other clients: try again later\n"
/*
 * Bytes that may come with a request besides headers and body: chunk sizes, the start of the next
 * request.
 */
#define INPUT_SLACK 65536
/*
 * With too many connections, one without a request for this long is closed; a client that was idle
 * for less may be about to send one.
 */
#define GIVE_WAY_MS      1000
#define SWEEP_MS         500
#define ONE_RECORD_BYTES 16384 /* the maximum of a TLS record (RFC 8446, 5.1) */
#define ACCEPT_PAUSE_MS  100

/*
 * libevent reports accept errors with its evhttp only; this list finds the server. Empty when there
 * is no server.
 */
static struct httpd *servers;

/* ---- Connections ---- */

static void set_phase(struct httpd_conn *c, enum httpd_phase phase)
{
	c->phase = phase;
	c->since_ms = loop_now_ms(c->h->loop);
}

static void forget_got(struct httpd_conn *c)
{
	c->h->got -= c->got;
	c->got = 0;
}

static void forget_sending(struct httpd_conn *c)
{
	c->h->sending -= c->sending;
	c->sending = 0;
}

static void free_texts(struct httpd_request *r)
{
	struct decoded_text *t, *next;

	LL_FOREACH_SAFE (r->texts, t, next)
		free(t);
	r->texts = NULL;
}

/* The client left, or is disconnected, before the reply. */
static void request_gone(struct httpd_request *r)
{
	struct evhttp_request *req = r->req;
	void (*fn)(void *) = r->gone_fn;

	r->req = NULL;
	r->gone_fn = NULL;
	free_texts(r);
	/*
	 * If a connection fails, evhttp gives up ownership of a request that waits for its reply;
	 * otherwise it frees it with the connection.
	 */
	if (!evhttp_request_get_connection(req))
		evhttp_request_free(req);
	if (fn)
		fn(r->gone_arg);
}

static void conn_free(struct httpd_conn *c)
{
	struct httpd *h = c->h;

	loop_task_cancel(h->loop, &c->settle);
	if (c->request.req)
		request_gone(&c->request);
	forget_got(c);
	forget_sending(c);
	if (c->data && c->data_free)
		c->data_free(c->data);
	HASH_DEL(h->by_bev, c);
	DL_DELETE(h->conns, c);
	if (!c->refused)
		h->count--;
	if (h->count == 0)
		loop_timer_cancel(&h->sweep);
	free(c);
}

/* libevent is about to free the connection. */
static void on_close(struct evhttp_connection *evcon, void *arg)
{
	struct httpd_conn *c = arg;

	(void)evcon;
	if (c->ssl && c->phase == PHASE_IDLE && SSL_is_init_finished(c->ssl)) {
		SSL_shutdown(c->ssl); /* best effort: "close notify" */
		ERR_clear_error();
	}
	evbuffer_remove_cb_entry(bufferevent_get_input(c->bev), c->input_cb);
	conn_free(c);
}

static void conn_settle(struct httpd_conn *c)
{
	bufferevent_event_cb event_cb;
	void *evcon;

	if (c->evcon)
		return;
	/*
	 * evhttp takes the bufferevent over right after on_accept; only here can the connection be
	 * learnt before its first request.
	 */
	bufferevent_getcb(c->bev, NULL, NULL, &event_cb, &evcon);
	if (!event_cb) { /* evhttp has failed and freed it already */
		evbuffer_remove_cb_entry(bufferevent_get_input(c->bev), c->input_cb);
		bufferevent_decref(c->bev);
		conn_free(c);
		return;
	}
	c->evcon = evcon;
	evhttp_connection_set_closecb(c->evcon, on_close, c);
	bufferevent_decref(c->bev);
	if (c->refused || c->doomed)
		evhttp_connection_free(c->evcon);
}

static void on_settle(void *arg)
{
	struct httpd_conn *c = arg;

	if (!c->evcon)
		conn_settle(c);
	else if (c->doomed)
		evhttp_connection_free(c->evcon);
}

static void cut_off(struct httpd_conn *c)
{
	c->doomed = true;
	forget_got(c);
	bufferevent_disable(c->bev, EV_READ);
	loop_task_queue(c->h->loop, &c->settle);
}

/* Bytes have come, before evhttp reads them. */
static void on_input(struct evbuffer *input, const struct evbuffer_cb_info *info, void *arg)
{
	struct httpd_conn *c = arg;
	struct httpd *h = c->h;
	struct httpd_conn *other, *most = c;

	(void)input;
	if (info->n_added == 0)
		return;
	loop_enter(h->loop);
	if (c->phase == PHASE_HANDSHAKE || c->phase == PHASE_IDLE)
		set_phase(c, PHASE_READING);
	c->got += info->n_added;
	h->got += info->n_added;
	if (c->got > h->config.max_headers + h->config.max_body + INPUT_SLACK) {
		cut_off(c);
	} else if (h->got > INPUT_TOTAL_MAX) {
		/* The client that has sent most of an incomplete request. */
		DL_FOREACH (h->conns, other)
			if (other->evcon && other->phase == PHASE_READING && other->got > most->got)
				most = other;
		cut_off(most);
	}
}

/* Closes the connection that has been without a request for longest. False: there is none. */
static bool make_room(struct httpd *h)
{
	int64_t limit_ms = loop_now_ms(h->loop) - GIVE_WAY_MS;
	struct httpd_conn *c, *oldest = NULL;

	DL_FOREACH (h->conns, c) {
		if (c->evcon && !c->refused && c->phase <= PHASE_IDLE && c->since_ms <= limit_ms &&
			(!oldest || c->since_ms < oldest->since_ms))
			oldest = c;
	}
	if (!oldest)
		return false;
	evhttp_connection_free(oldest->evcon);
	return true;
}

/*
 * Never NULL, or evhttp would serve plain HTTP. A connection that is not allowed is marked refused
 * and has a bare socket until the end of the turn.
 */
static struct bufferevent *new_bufferevent(struct httpd *h, struct httpd_conn *c, struct event_base *base)
{
	struct bufferevent *bev = NULL;

	if (!c->refused && h->config.tls) {
		c->ssl = tls_server_session(h->config.tls);
		if (c->ssl)
			bev = bufferevent_openssl_socket_new(base, -1, c->ssl, BUFFEREVENT_SSL_ACCEPTING,
				BEV_OPT_CLOSE_ON_FREE);
		if (!bev) {
			c->ssl = NULL;
			c->refused = true;
		}
	}
	return bev ? bev : bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
}

/* evhttp's listener has accepted a connection. */
static struct bufferevent *on_accept(struct event_base *base, void *arg)
{
	struct httpd *h = arg;
	struct httpd_conn *c = mem_zalloc(sizeof(*c));

	loop_enter(h->loop);
	c->h = h;
	c->request.conn = c;
	c->refused = h->count >= h->config.max_connections && !make_room(h);
	c->bev = new_bufferevent(h, c, base);
	bufferevent_incref(c->bev); /* until settled */
	c->input_cb = evbuffer_add_cb(bufferevent_get_input(c->bev), on_input, c);
	set_phase(c, c->ssl ? PHASE_HANDSHAKE : PHASE_IDLE);
	HASH_ADD_PTR(h->by_bev, bev, c);
	DL_APPEND(h->conns, c);
	loop_task_init(&c->settle, on_settle, c);
	loop_task_queue(h->loop, &c->settle);
	if (!c->refused && h->count++ == 0)
		loop_timer_set(&h->sweep, 0);
	return c->bev;
}

/* ---- Deadlines ---- */

static bool is_overdue(const struct httpd_config *config, const struct httpd_conn *c, int64_t now_ms)
{
	int64_t waited_ms = now_ms - c->since_ms;

	switch (c->phase) {
	case PHASE_HANDSHAKE: return waited_ms >= config->handshake_ms;
	case PHASE_IDLE: return waited_ms >= config->idle_ms;
	case PHASE_READING:
	case PHASE_WRITING: return waited_ms >= config->request_ms;
	case PHASE_HELD: /* the handler has its own deadline */ break;
	}
	return false;
}

static int64_t sweep_interval(const struct httpd_config *config)
{
	int64_t least = config->handshake_ms < config->request_ms ? config->handshake_ms : config->request_ms;

	if (config->idle_ms < least)
		least = config->idle_ms;
	return least / 4 > SWEEP_MS ? SWEEP_MS : least / 4 + 1;
}

/*
 * One coarse timer for all connections is cheaper than one each. Deadlines are absolute, so slow
 * sending does not extend them.
 */
static void on_sweep(void *arg)
{
	struct httpd *h = arg;
	int64_t now_ms = loop_now_ms(h->loop);
	struct httpd_conn *c, *next;

	loop_timer_set(&h->sweep, sweep_interval(&h->config));
	DL_FOREACH_SAFE (h->conns, c, next) {
		if (c->phase == PHASE_HANDSHAKE && SSL_is_init_finished(c->ssl))
			set_phase(c, PHASE_IDLE);
		else if (c->evcon && is_overdue(&h->config, c, now_ms))
			evhttp_connection_free(c->evcon);
	}
}

/* ---- Requests ---- */

/*
 * Continues to read while the handler has the request, to notice when the client leaves; further
 * data stays in the buffer (evhttp would abort on it).
 */
static void watch_for_leaving(struct httpd_conn *c)
{
	bufferevent_data_cb write_cb;
	bufferevent_event_cb event_cb;
	void *evcon;

	bufferevent_getcb(c->bev, NULL, &write_cb, &event_cb, &evcon);
	bufferevent_setcb(c->bev, NULL, write_cb, event_cb, evcon);
	bufferevent_enable(c->bev, EV_READ);
}

static void refuse_request(struct httpd_request *r, const char *fault)
{
	char text[96];
	int len = snprintf(text, sizeof(text), "bad request: %s\n", fault);

	httpd_add_header(r, "Connection", "close");
	httpd_reply(r, 400, "text/plain", text, (size_t)len);
}

/* A whole request has come. */
static void on_request(struct evhttp_request *req, void *arg)
{
	struct httpd *h = arg;
	struct evhttp_connection *evcon = evhttp_request_get_connection(req);
	struct bufferevent *bev = evhttp_connection_get_bufferevent(evcon);
	struct httpd_request *r;
	struct httpd_conn *c;
	const char *fault;

	HASH_FIND_PTR(h->by_bev, &bev, c);
	if (!c || c->refused || c->doomed) {
		evhttp_connection_free(evcon);
		return;
	}
	conn_settle(c); /* accepted in the same turn */
	r = &c->request;
	r->req = req;
	httppath_split(evhttp_request_get_uri(req), &r->target);
	set_phase(c, PHASE_HELD);
	fault = httpframing_fault(req);
	if (fault)
		refuse_request(r, fault);
	else
		h->handler(h->arg, r);
	if (r->req)
		watch_for_leaving(c);
}

/* ---- Replies ---- */

void httpd_add_header(struct httpd_request *r, const char *name, const char *value)
{
	evhttp_add_header(evhttp_request_get_output_headers(r->req), name, value);
}

/* evhttp would format it for each reply. */
static const char *date_of(struct httpd *h)
{
	time_t now = time(NULL);

	if (now != h->dated)
		evutil_date_rfc1123(h->date, sizeof(h->date), gmtime(&now));
	h->dated = now;
	return h->date;
}

/*
 * The reply is with the kernel. evhttp's next request waits for the next turn: a client may send
 * requests faster than they are answered.
 */
static void on_reply_sent(struct evhttp_request *req, void *arg)
{
	struct httpd_conn *c = arg;
	size_t ahead = evbuffer_get_length(bufferevent_get_input(c->bev));

	(void)req;
	loop_enter(c->h->loop);
	forget_sending(c);
	forget_got(c);
	c->got = ahead;
	c->h->got += ahead;
	set_phase(c, ahead ? PHASE_READING : PHASE_IDLE);
	if (ahead)
		loop_end_turn(c->h->loop);
}

void httpd_reply(struct httpd_request *r, int status, const char *content_type, const void *body, size_t len)
{
	struct httpd_conn *c = r->conn;
	struct evhttp_request *req = r->req;
	enum evhttp_cmd_type method = evhttp_request_get_command(req);
	char length[24];

	if (len > ONE_RECORD_BYTES && c->h->sending > 0 && c->h->sending + len > OUTPUT_TOTAL_MAX) {
		status = 503;
		content_type = "text/plain";
		body = COME_AGAIN;
		len = strlen(COME_AGAIN);
		httpd_add_header(r, "Retry-After", "1");
	}
	httpd_add_header(r, "Date", date_of(c->h));
	if (content_type)
		httpd_add_header(r, "Content-Type", content_type);
	if (method == EVHTTP_REQ_HEAD || method == EVHTTP_REQ_CONNECT) { /* evhttp sends no length for these */
		snprintf(length, sizeof(length), "%zu", len);
		httpd_add_header(r, "Content-Length", length);
	}
	if (len && method != EVHTTP_REQ_HEAD) {
		c->sending = len;
		c->h->sending += len;
		evbuffer_add(evhttp_request_get_output_buffer(req), body, len);
	}
	r->req = NULL;
	r->gone_fn = NULL;
	set_phase(c, PHASE_WRITING);
	evhttp_request_set_on_complete_cb(req, on_reply_sent, c);
	evhttp_send_reply(req, status, NULL, NULL);
	/* Head and body in one piece make one TLS record and one write instead of two. */
	if (evbuffer_get_length(bufferevent_get_output(c->bev)) <= ONE_RECORD_BYTES)
		evbuffer_pullup(bufferevent_get_output(c->bev), -1);
	/*
	 * Writes in this turn without asking epoll first, which saves a wait and two system calls
	 * per request.
	 */
	event_active(&c->bev->ev_write, EV_WRITE, 1);
	free_texts(r);
}

/* ---- Life ---- */

void httpd_config_defaults(struct httpd_config *config)
{
	*config = (struct httpd_config){
		.max_connections = 512,
		.handshake_ms = 10000,
		.request_ms = 10000,
		.idle_ms = 120000,
		.max_headers = 32 << 10,
		.max_body = 3 << 20,
	};
}

static void on_accept_again(void *arg)
{
	struct httpd *h = arg;

	evconnlistener_enable(evhttp_bound_socket_get_listener(h->bound));
}

/* Probably out of descriptors: a listener that stays readable would busy-loop. */
static void on_accept_error(struct evconnlistener *listener, void *http)
{
	struct httpd *h;

	log_debug("httpd", "accepting a connection: %s", evutil_socket_error_to_string(EVUTIL_SOCKET_ERROR()));
	LL_FOREACH (servers, h) {
		if (h->http != http)
			continue;
		evconnlistener_disable(listener);
		loop_timer_set(&h->accept_again, ACCEPT_PAUSE_MS);
		return;
	}
}

struct httpd *httpd_new(struct loop *loop, const struct httpd_config *config, httpd_handler handler, void *arg,
	struct err *err)
{
	int fd = config->path ? listen_unix(config->path, config->group, err)
			      : listen_tcp(config->address, config->port, err);
	struct evconnlistener *listener;
	struct httpd *h;

	if (fd < 0)
		return NULL;
	h = mem_zalloc(sizeof(*h));
	h->loop = loop;
	h->config = *config;
	h->config.address = h->config.path = h->config.group = NULL;
	h->local = config->path != NULL;
	h->handler = handler;
	h->arg = arg;
	h->port = listen_port(fd);
	h->http = evhttp_new(loop_base(loop));
	loop_timer_init(&h->sweep, loop, on_sweep, h);
	loop_timer_init(&h->accept_again, loop, on_accept_again, h);
	evhttp_set_bevcb(h->http, on_accept, h);
	evhttp_set_gencb(h->http, on_request, h);
	evhttp_set_max_headers_size(h->http, (ev_ssize_t)config->max_headers);
	evhttp_set_max_body_size(h->http, (ev_ssize_t)config->max_body);
	evhttp_set_default_content_type(h->http, NULL);
	evhttp_set_allowed_methods(h->http,
		EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_HEAD | EVHTTP_REQ_PUT | EVHTTP_REQ_DELETE |
			EVHTTP_REQ_OPTIONS | EVHTTP_REQ_TRACE | EVHTTP_REQ_CONNECT | EVHTTP_REQ_PATCH);
	listener = evconnlistener_new(loop_base(loop), NULL, NULL, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0,
		fd);
	h->bound = evhttp_bind_listener(h->http, listener);
	evconnlistener_set_error_cb(listener, on_accept_error);
	LL_PREPEND(servers, h);
	return h;
}

/* Best effort, bypassing the bufferevent, which would write in a later turn. */
static bool write_now(struct httpd_conn *c, const void *bytes, size_t len)
{
	if (c->ssl)
		return SSL_write(c->ssl, bytes, (int)len) == (int)len;
	return send(bufferevent_getfd(c->bev), bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)len;
}

static void say_farewell(struct httpd_conn *c)
{
	static const char unavailable[] =
		"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nContent-Length: 14\r\nConnection: "
		"close\r\n\r\nshutting down\n";
	struct evbuffer *output = bufferevent_get_output(c->bev);
	struct evbuffer_iovec part[8];
	int parts;

	if (c->phase == PHASE_HELD)
		write_now(c, unavailable, sizeof(unavailable) - 1);
	if (c->phase != PHASE_WRITING)
		return;
	parts = evbuffer_peek(output, -1, NULL, part, 8);
	for (int i = 0; i < parts && i < 8; i++) {
		if (!write_now(c, part[i].iov_base, part[i].iov_len))
			break;
	}
	ERR_clear_error();
}

void httpd_free(struct httpd *h)
{
	struct httpd_conn *c, *next;

	if (!h)
		return;
	LL_DELETE(servers, h);
	listen_unlink(evhttp_bound_socket_get_fd(h->bound));
	evhttp_del_accept_socket(h->http, h->bound);
	DL_FOREACH_SAFE (h->conns, c, next)
		conn_settle(c);
	DL_FOREACH (h->conns, c)
		say_farewell(c);
	evhttp_free(h->http); /* on_close for each connection */
	loop_timer_done(&h->sweep);
	loop_timer_done(&h->accept_again);
	free(h);
}

uint16_t httpd_port(const struct httpd *h)
{
	return h->port;
}

int httpd_connections(const struct httpd *h)
{
	return h->count;
}
