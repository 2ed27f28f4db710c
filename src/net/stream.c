/* SPDX-License-Identifier: Apache-2.0 */
#include "net/stream.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/bufferevent_struct.h>
#include <event2/event.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/dial.h"
#include "net/network.h"
#include "net/tls/tls.h"

static const char dialing[] = "connecting", shaking[] = "TLS handshake";

/* ---- Ends ---- */

static void report_lost(struct stream *s, const struct err *why, bool ended, const char *hint)
{
	struct err err;

	err_set(&err, why->kind, "%s%s%s%s", s->step ? s->step : "", s->step ? ": " : "", why->msg, hint);
	s->events->lost(s->arg, &err, ended);
}

static const char *hint_of(const struct stream *s)
{
	if (s->step == dialing)
		return "";
	return s->step == shaking ? " (does the server speak TLS here?)" : s->events->hint(s->arg);
}

/*
 * Explains OpenSSL's error. libevent puts OpenSSL's result codes (below 16) into the same list. In
 * TLS 1.3 a server refuses a certificate after the handshake.
 */
static void lose_tls(struct stream *s, unsigned long code)
{
	char reason[256];
	const char *hint = "";
	struct err err;

	tls_explain(s->ssl, code < 16 ? 0 : code, reason, sizeof(reason));
	err_set(&err, ERR_TEMPORARY, "%s%s", s->step == shaking ? "" : "TLS: ", reason);
	if (code < 16 || s->step != shaking)
		hint = hint_of(s);
	else if (strstr(reason, "wrong version"))
		hint = " (the server does not speak TLS here)";
	report_lost(s, &err, true, hint);
}

static void lose_ended(struct stream *s, short what, int error)
{
	unsigned long code = s->ssl ? bufferevent_get_openssl_error(s->bev) : 0;
	struct err err;

	if (s->step == shaking || code >= 16) {
		lose_tls(s, code);
		return;
	}
	err_set(&err, ERR_TEMPORARY, "%s",
		what & BEV_EVENT_EOF || !error ? "the server closed the connection" : strerror(error));
	report_lost(s, &err, true, hint_of(s));
}

int stream_timed_out(const struct stream *s, struct err *err)
{
	if (!s->step)
		return err_set(err, ERR_TEMPORARY, "no answer in time");
	return err_set(err, ERR_TEMPORARY, "%s: timed out%s", s->step, hint_of(s));
}

static void on_deadline(void *arg)
{
	struct stream *s = arg;
	struct err err;

	stream_timed_out(s, &err);
	s->events->lost(s->arg, &err, false);
}

/* ---- Reading ---- */

/* Takes messages until none is complete. 1: the stream was closed, perhaps freed. */
static int take_all(struct stream *s, struct evbuffer *input, struct err *err)
{
	bool closed = false;
	int rc;

	s->closed = &closed;
	do {
		size_t used = 0;

		rc = s->events->take(s->arg, input, &used, err);
		if (closed)
			return 1;
		if (used > 0)
			evbuffer_drain(input, used);
	} while (rc > 0);
	s->closed = NULL;
	return rc;
}

static void on_read(struct bufferevent *bev, void *arg)
{
	struct stream *s = arg;
	struct evbuffer *input = bufferevent_get_input(bev);
	struct err err;
	int rc;

	loop_enter(s->loop);
	s->received_ms = loop_now_ms(s->loop);
	rc = take_all(s, input, &err);
	if (rc > 0)
		return;
	if (rc < 0 && s->recognised)
		s->events->lost(s->arg, &err, false);
	else if (rc < 0)
		report_lost(s, &err, false, hint_of(s));
	else if (answers_hold(&network_of(s->loop)->answers, &s->bytes, evbuffer_get_length(input) + s->kept, &err))
		report_lost(s, &err, false, "");
}

/* ---- Writing ---- */

/*
 * Writes the first `len` bytes of the output without waiting for epoll, which would cost two system
 * calls. With earlier ones before them, that is under way.
 */
static void write_soon(struct stream *s, size_t len)
{
	if (!s->ssl && evbuffer_get_length(bufferevent_get_output(s->bev)) == len)
		event_active(&s->bev->ev_write, EV_WRITE, 1);
}

void stream_write(struct stream *s, const void *bytes, size_t len)
{
	evbuffer_add(bufferevent_get_output(s->bev), bytes, len);
	write_soon(s, len);
}

static void on_sent(const void *bytes, size_t len, void *owned)
{
	(void)bytes;
	mem_wipe(owned, len);
	free(owned);
}

void stream_write_secret(struct stream *s, void *bytes, size_t len)
{
	evbuffer_add_reference(bufferevent_get_output(s->bev), bytes, len, on_sent, bytes);
	write_soon(s, len);
}

void stream_write_frame(struct stream *s, struct buf *frame)
{
	size_t len = frame->len;

	stream_write_secret(s, buf_take(frame), len);
}

void stream_write_last(struct stream *s, const void *bytes, size_t len)
{
	if (evbuffer_get_length(bufferevent_get_output(s->bev)) > 0)
		; /* a message may be half sent, or the server does not read */
	else if (s->ssl)
		(void)SSL_write(s->ssl, bytes, (int)len);
	else
		(void)send(bufferevent_getfd(s->bev), bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* ---- Opening ---- */

static void be_open(struct stream *s)
{
	stream_ready(s);
	s->received_ms = loop_now_ms(s->loop);
	bufferevent_enable(s->bev, EV_READ | EV_WRITE);
	s->events->opened(s->arg);
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
	struct stream *s = arg;
	int error = EVUTIL_SOCKET_ERROR();

	(void)bev;
	loop_enter(s->loop);
	if (what & BEV_EVENT_CONNECTED)
		be_open(s);
	else
		lose_ended(s, what, error);
}

struct bufferevent *stream_tls(struct loop *loop, int fd, SSL *ssl, struct err *err)
{
	struct bufferevent *bev = bufferevent_openssl_socket_new(loop_base(loop), fd, ssl, BUFFEREVENT_SSL_CONNECTING,
		BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);

	if (!bev) {
		SSL_free(ssl);
		err_set(err, ERR_TEMPORARY, "the TLS stream could not be set up");
		return NULL;
	}
	bufferevent_openssl_set_allow_dirty_shutdown(bev, 1);
	return bev;
}

static struct bufferevent *begin_tls(struct stream *s, int fd, struct err *err)
{
	const struct tls_client_config *config = &s->server.endpoint->tls;
	SSL_CTX **context = s->server.context ? s->server.context : &s->context;
	struct bufferevent *bev;

	if (!*context)
		*context = tls_client_context(config, err);
	s->ssl = *context ? tls_client_session(*context, s->server.tls_name, config->insecure, err) : NULL;
	bev = s->ssl ? stream_tls(s->loop, fd, s->ssl, err) : NULL;
	if (!bev)
		s->ssl = NULL;
	return bev;
}

static void on_dialed(void *arg, int fd, const struct err *dial_err)
{
	struct stream *s = arg;
	struct err err;

	s->dial = NULL;
	if (fd < 0) {
		report_lost(s, dial_err, true, hint_of(s));
		return;
	}
	s->bev = s->server.tls_name ? begin_tls(s, fd, &err)
				    : bufferevent_socket_new(loop_base(s->loop), fd, BEV_OPT_CLOSE_ON_FREE);
	if (!s->bev) {
		close(fd);
		s->events->lost(s->arg, &err, false);
		return;
	}
	bufferevent_setcb(s->bev, on_read, NULL, on_event, s);
	if (!s->ssl) {
		be_open(s);
		return;
	}
	stream_step(s, shaking, s->server.limit_ms);
	bufferevent_enable(s->bev, EV_READ | EV_WRITE);
}

/* ---- For protocols ---- */

void stream_init(struct stream *s, struct loop *loop, const struct stream_events *events, void *arg)
{
	*s = (struct stream){ .loop = loop, .events = events, .arg = arg };
	loop_timer_init(&s->deadline, loop, on_deadline, s);
}

void stream_open(struct stream *s, const struct stream_server *server)
{
	s->server = *server;
	s->step = dialing;
	s->hold.namespace_ = s->bytes.namespace_ = endpoint_namespace(server->endpoint);
	s->dial = dial_start(s->loop, server->host, server->port, server->limit_ms, &s->hold, on_dialed, s);
}

bool stream_is_connected(const struct stream *s)
{
	return s->bev;
}

void stream_step(struct stream *s, const char *step, int64_t limit_ms)
{
	s->step = step;
	if (limit_ms > 0)
		loop_timer_set(&s->deadline, limit_ms);
	else if (limit_ms < 0)
		loop_timer_cancel(&s->deadline);
}

void stream_ready(struct stream *s)
{
	stream_step(s, NULL, STREAM_UNTIMED);
}

void stream_close(struct stream *s)
{
	if (s->closed)
		*s->closed = true;
	s->closed = NULL;
	dial_cancel(s->dial);
	s->dial = NULL;
	if (s->bev)
		bufferevent_free(s->bev);
	s->bev = NULL;
	s->ssl = NULL;
	descriptors_give(&s->hold, 0);
	answers_release(&s->bytes);
	stream_ready(s);
	s->recognised = false;
	s->kept = 0;
}

void stream_done(struct stream *s)
{
	stream_close(s);
	loop_timer_done(&s->deadline);
	SSL_CTX_free(s->context);
	s->context = NULL;
}
