/* SPDX-License-Identifier: Apache-2.0 */
#include "net/amqp/amqplink.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_struct.h>
#include <event2/event.h>
#include <openssl/ssl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/amqp/amqpframe.h"
#include "net/dial.h"
#include "net/network.h"
#include "net/tlsstream.h"

#define CONNECT_MS 5000 /* for name and TCP; then as long for TLS */
/*
 * For login and vhost. A server that does not know authentication_failure_close closes the
 * connection only some seconds after a wrong password.
 */
#define LOGIN_MS 8000
#define BEAT_S   30
/* Heartbeats between two answers, or two beats of our own: a few are usual. */
#define BEATS_MAX 1000
#define READ_MAX  ((size_t)4 * AMQPFRAME_MAX)

static void fail(struct amqplink *l, enum err_kind kind, const char *words)
{
	struct err err;

	err_set(&err, kind, "%s", words);
	l->handler->failed(l->arg, &err, false);
}

/* ---- Writing ---- */

/* Written at the end of this round of callbacks, with what others add, not after another epoll. */
static void write_soon(struct amqplink *l)
{
	if (!l->ssl)
		event_active(&l->bev->ev_write, EV_WRITE, 1);
}

#define SEND(l, put, ...)                                                                                              \
	do {                                                                                                           \
		struct buf frame_ = BUF_INIT(1024);                                                                    \
		put(&frame_, ##__VA_ARGS__);                                                                           \
		bufferevent_write((l)->bev, frame_.data, frame_.len);                                                  \
		buf_done(&frame_);                                                                                     \
	} while (0)

static void wipe_login(const void *bytes, size_t len, void *arg)
{
	struct buf *frame = arg;

	(void)bytes;
	(void)len;
	buf_done_secret(frame);
	mem_free_ptr(&frame);
}

/* Without a copy in libevent's buffers, so that the password can be wiped. */
static void send_login(struct amqplink *l)
{
	const struct amqpendpoint *e = l->endpoint;
	const char *namespace_ = endpoint_namespace(&e->base);
	MEM_AUTO char *name = mem_printf("kscaled%s%s", *namespace_ ? "-" : "", namespace_);
	struct buf *frame = mem_zalloc(sizeof(*frame));

	buf_init(frame, (size_t)1 << 16);
	amqpframe_put_start_ok(frame, name, e->user, e->password);
	evbuffer_add_reference(bufferevent_get_output(l->bev), frame->data, frame->len, wipe_login, frame);
}

/* Servers log a connection that ends without it as lost. Best effort, never waited for. */
static void say_goodbye(struct amqplink *l)
{
	struct buf frame = BUF_INIT(64);

	amqpframe_put_close(&frame);
	if (evbuffer_get_length(bufferevent_get_output(l->bev)) > 0)
		; /* a frame is half written, or the server does not read */
	else if (l->ssl)
		(void)SSL_write(l->ssl, frame.data, (int)frame.len);
	else
		(void)send(bufferevent_getfd(l->bev), frame.data, frame.len, MSG_DONTWAIT | MSG_NOSIGNAL);
	buf_done(&frame);
}

void amqplink_declare(struct amqplink *l, size_t channel, const char *queue)
{
	SEND(l, amqpframe_put_declare, (unsigned)channel + 1, queue);
	write_soon(l);
}

/* ---- What the server says ---- */

/*
 * Up to the first line break. Servers repeat user, vhost and queue in their words; those that
 * repeat the password are not shown.
 */
static const char *words_of(const struct amqplink *l, struct amqpmethod *m)
{
	const char *password = l->endpoint->password;

	if (password && *password && strstr(m->text, password))
		return "(its words are not shown, as they repeat the password)";
	m->text[strcspn(m->text, "\r\n")] = '\0';
	return *m->text ? m->text : "(without words)";
}

static enum err_kind kind_of(unsigned code)
{
	switch (code) {
	case 403:
	case 530: return ERR_DENIED;
	case 404: return ERR_MISSING;
	default: return ERR_TEMPORARY;
	}
}

/* By which step it was; some codes say it themselves (amqp-0-9-1: 1.2, "constants"). */
static void explain_close(const struct amqplink *l, struct amqpmethod *m, struct err *err)
{
	const char *words = words_of(l, m);

	if (l->state == AMQPLINK_LOGGING_IN && m->code == 403)
		err_set(err, ERR_DENIED, "the login was refused: %s%s", words,
			l->endpoint->user ? "" : " (EXTERNAL: the certificate's name must be a user there)");
	else if (l->state == AMQPLINK_ENTERING)
		err_set(err, kind_of(m->code), "vhost \"%.80s\" cannot be used: %s", l->endpoint->vhost, words);
	else if (m->code == 320)
		err_set(err, ERR_TEMPORARY, "the server or its administrator closed the connection: %s", words);
	else
		err_set(err, kind_of(m->code), "the server closed the connection with code %u: %s", m->code, words);
}

/* Often by a proxy, or a server without authentication_failure_close, in the place of words. */
static const char *hint_of(const struct amqplink *l)
{
	switch (l->state) {
	case AMQPLINK_GREETING:
		return l->endpoint->tls ? " (does it ask for a client certificate? give cert and key)"
					: " (is TLS needed? write amqps://)";
	case AMQPLINK_LOGGING_IN: return " during the login (is the password wrong?)";
	default: return "";
	}
}

static void open_channel(struct amqplink *l, size_t channel)
{
	l->open[channel] = false;
	SEND(l, amqpframe_put_channel_open, (unsigned)channel + 1);
}

static void on_start(struct amqplink *l, const struct amqpmethod *m)
{
	bool external = !l->endpoint->user;

	if (m->major != 0 || m->minor != 9)
		fail(l, ERR_TEMPORARY, "the server speaks another AMQP than 0-9-1");
	else if (external && !m->external)
		fail(l, ERR_DENIED,
			"the server does not offer EXTERNAL, the login by a client certificate (RabbitMQ: its plug-in "
			"rabbitmq_auth_mechanism_ssl)");
	else if (!external && !m->plain)
		fail(l, ERR_DENIED, "the server does not offer PLAIN, the login by user and password");
	else {
		l->state = AMQPLINK_LOGGING_IN;
		send_login(l);
	}
}

/* 0 of the server means no limit. */
static uint32_t least_of(uint32_t servers, uint32_t ours)
{
	return servers > 0 && servers < ours ? servers : ours;
}

static void on_tune(struct amqplink *l, const struct amqpmethod *m)
{
	unsigned beat_s = m->beat_s == 0 ? 0 : least_of(m->beat_s, BEAT_S);

	l->channels = least_of(m->channel_max, AMQPLINK_CHANNELS);
	l->beat_ms = (int64_t)beat_s * 1000;
	SEND(l, amqpframe_put_tune_ok, (unsigned)l->channels, least_of(m->frame_max, AMQPFRAME_MAX), beat_s);
	SEND(l, amqpframe_put_open, l->endpoint->vhost);
	l->state = AMQPLINK_ENTERING;
}

static void on_entered(struct amqplink *l)
{
	loop_timer_cancel(&l->opening);
	l->state = AMQPLINK_OPEN;
	if (l->beat_ms)
		loop_timer_set(&l->beat, l->beat_ms / 2);
	for (size_t i = 0; i < l->channels; i++)
		open_channel(l, i);
}

static void on_channel_closed(struct amqplink *l, size_t channel, struct amqpmethod *m)
{
	struct err err;

	SEND(l, amqpframe_put_channel_close_ok, (unsigned)channel + 1);
	open_channel(l, channel);
	err_set(&err, kind_of(m->code), "%s", words_of(l, m));
	l->handler->refused(l->arg, channel, &err);
}

static void unexpected(struct amqplink *l, const struct amqpmethod *m)
{
	struct err err;

	err_set(&err, ERR_TEMPORARY, "the server sent a method (%u.%u) that nobody asked for", m->id >> 16,
		m->id & 0xffff);
	l->handler->failed(l->arg, &err, false);
}

static void take_on_channel(struct amqplink *l, size_t channel, struct amqpmethod *m)
{
	bool open = l->open[channel];

	if (m->id == AMQPFRAME_CHANNEL_OPEN_OK && !open) {
		l->open[channel] = true;
		l->handler->ready(l->arg, channel);
	} else if (m->id == AMQPFRAME_DECLARE_OK && open) {
		l->handler->declared(l->arg, channel, m->text, m->messages);
	} else if (m->id == AMQPFRAME_CHANNEL_CLOSE && open) {
		on_channel_closed(l, channel, m);
	} else {
		unexpected(l, m);
	}
}

static void take_method(struct amqplink *l, const struct amqpframe *frame)
{
	bool was_open = l->state == AMQPLINK_OPEN;
	struct amqpmethod m;
	struct err err;

	if (amqpframe_read(frame, &m, &err)) {
		l->handler->failed(l->arg, &err, false);
	} else if (frame->channel > 0 && was_open && frame->channel <= l->channels) {
		take_on_channel(l, frame->channel - 1, &m);
	} else if (frame->channel == 0 && m.id == AMQPFRAME_CLOSE) {
		explain_close(l, &m, &err);
		l->handler->failed(l->arg, &err, was_open);
	} else if (frame->channel == 0 && m.id == AMQPFRAME_START && l->state == AMQPLINK_GREETING) {
		on_start(l, &m);
	} else if (frame->channel == 0 && m.id == AMQPFRAME_SECURE && l->state == AMQPLINK_LOGGING_IN) {
		fail(l, ERR_DENIED, "the server asks for more than user and password, which nothing here answers");
	} else if (frame->channel == 0 && m.id == AMQPFRAME_TUNE && l->state == AMQPLINK_LOGGING_IN) {
		on_tune(l, &m);
	} else if (frame->channel == 0 && m.id == AMQPFRAME_OPEN_OK && l->state == AMQPLINK_ENTERING) {
		on_entered(l);
	} else {
		unexpected(l, &m);
	}
}

/* ---- Reading ---- */

/* False when it is closed, or nothing more can be read now. */
static bool take_frame(struct amqplink *l, struct evbuffer *input)
{
	const struct bufferevent *bev = l->bev;
	size_t len = evbuffer_get_length(input), seen = len < AMQPFRAME_MAX ? len : AMQPFRAME_MAX;
	struct amqpframe frame;
	struct err err;
	int rc = seen ? amqpframe_next(evbuffer_pullup(input, (ev_ssize_t)seen), seen, !l->heard, &frame, &err) : 0;

	if (rc < 0)
		l->handler->failed(l->arg, &err, false);
	if (rc <= 0)
		return false;
	l->heard = true;
	l->beats = frame.type == AMQPFRAME_METHOD ? 0 : l->beats + 1;
	if (frame.type == AMQPFRAME_METHOD)
		take_method(l, &frame);
	else if (l->beats > BEATS_MAX)
		fail(l, ERR_TEMPORARY, "the server sends heartbeats without end");
	if (l->bev != bev) /* closed, or closed and opened again: the input is gone */
		return false;
	evbuffer_drain(input, frame.whole);
	return true;
}

static void on_read(struct bufferevent *bev, void *arg)
{
	struct amqplink *l = arg;
	struct evbuffer *input = bufferevent_get_input(bev);
	struct err err;

	loop_enter(l->loop);
	l->heard_ms = loop_now_ms(l->loop);
	while (take_frame(l, input))
		;
	if (l->bev == bev && answers_hold(&network_of(l->loop)->answers, &l->bytes, evbuffer_get_length(input), &err))
		l->handler->failed(l->arg, &err, false);
}

/* ---- Opening and losing ---- */

static void greet(struct amqplink *l)
{
	l->state = AMQPLINK_GREETING;
	l->heard = false;
	l->beats = 0;
	l->heard_ms = loop_now_ms(l->loop);
	loop_timer_set(&l->opening, LOGIN_MS);
	bufferevent_setwatermark(l->bev, EV_READ, 0, READ_MAX);
	bufferevent_enable(l->bev, EV_READ | EV_WRITE);
	bufferevent_write(l->bev, AMQPFRAME_HELLO, AMQPFRAME_HELLO_LEN);
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
	struct amqplink *l = arg;
	int error = EVUTIL_SOCKET_ERROR();
	struct err err;

	loop_enter(l->loop);
	if (what & BEV_EVENT_CONNECTED) {
		greet(l);
		return;
	}
	tlsstream_explain_end(bev, l->ssl, l->state == AMQPLINK_SHAKING_HANDS, what, error, hint_of(l), &err);
	l->handler->failed(l->arg, &err, l->state == AMQPLINK_OPEN);
}

static void on_opening_timeout(void *arg)
{
	struct amqplink *l = arg;
	struct err err;

	err_set(&err, ERR_TEMPORARY, "%s: timed out%s", amqplink_step(l),
		l->state == AMQPLINK_SHAKING_HANDS ? " (does the server speak TLS here?)" : "");
	l->handler->failed(l->arg, &err, false);
}

static void on_beat(void *arg)
{
	struct amqplink *l = arg;

	if (loop_now_ms(l->loop) - l->heard_ms > 2 * l->beat_ms) {
		fail(l, ERR_TEMPORARY, "the server sends no heartbeats any more");
		return;
	}
	l->beats = 0;
	SEND(l, amqpframe_put_heartbeat);
	loop_timer_set(&l->beat, l->beat_ms / 2);
}

static void on_dialed(void *arg, int fd, const struct err *dial_err)
{
	struct amqplink *l = arg;
	struct err err;

	l->dial = NULL;
	if (fd < 0)
		err_set(&err, dial_err->kind, "connecting: %s", dial_err->msg);
	else
		l->bev = l->endpoint->tls
			? tlsstream_new(l->loop, fd, &l->tls, &l->endpoint->base.tls, l->endpoint->host, &l->ssl, &err)
			: bufferevent_socket_new(loop_base(l->loop), fd, BEV_OPT_CLOSE_ON_FREE);
	if (!l->bev) {
		if (fd >= 0)
			close(fd);
		l->handler->failed(l->arg, &err, false);
		return;
	}
	bufferevent_setcb(l->bev, on_read, NULL, on_event, l);
	if (!l->endpoint->tls) {
		greet(l);
		return;
	}
	l->state = AMQPLINK_SHAKING_HANDS;
	bufferevent_enable(l->bev, EV_READ | EV_WRITE);
	loop_timer_set(&l->opening, CONNECT_MS);
}

const char *amqplink_step(const struct amqplink *l)
{
	static const char *const steps[] = {
		[AMQPLINK_DIALING] = "connecting",
		[AMQPLINK_SHAKING_HANDS] = "TLS handshake",
		[AMQPLINK_GREETING] = "waiting for the server's greeting",
		[AMQPLINK_LOGGING_IN] = "login",
		[AMQPLINK_ENTERING] = "opening the vhost",
		[AMQPLINK_OPEN] = NULL,
	};

	return steps[l->state];
}

void amqplink_init(struct amqplink *l, struct loop *loop, const struct amqpendpoint *e,
	const struct amqplink_handler *handler, void *arg)
{
	*l = (struct amqplink){ .loop = loop, .endpoint = e, .handler = handler, .arg = arg };
	loop_timer_init(&l->opening, loop, on_opening_timeout, l);
	loop_timer_init(&l->beat, loop, on_beat, l);
}

void amqplink_open(struct amqplink *l)
{
	l->state = AMQPLINK_DIALING;
	l->bytes.namespace_ = l->hold.namespace_ = endpoint_namespace(&l->endpoint->base);
	l->dial = dial_start(l->loop, l->endpoint->host, l->endpoint->port, CONNECT_MS, &l->hold, on_dialed, l);
}

void amqplink_close(struct amqplink *l)
{
	dial_cancel(l->dial);
	l->dial = NULL;
	if (l->bev && l->state == AMQPLINK_OPEN)
		say_goodbye(l);
	if (l->bev)
		bufferevent_free(l->bev);
	l->bev = NULL;
	l->ssl = NULL;
	descriptors_give(&l->hold, 0);
	answers_release(&l->bytes);
	memset(l->open, 0, sizeof(l->open));
	loop_timer_cancel(&l->opening);
	loop_timer_cancel(&l->beat);
	l->state = AMQPLINK_CLOSED;
}

void amqplink_done(struct amqplink *l)
{
	amqplink_close(l);
	loop_timer_done(&l->opening);
	loop_timer_done(&l->beat);
	SSL_CTX_free(l->tls);
	l->tls = NULL;
}
