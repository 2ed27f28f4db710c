/* SPDX-License-Identifier: Apache-2.0 */
#include "net/amqp/amqplink.h"

#include <event2/buffer.h>
#include <string.h>

#include "base/mem.h"
#include "net/amqp/amqpframe.h"

/*
 * For login and vhost. A server without authentication_failure_close takes some seconds to close
 * the connection after a wrong password.
 */
#define LOGIN_MS 8000
#define BEAT_S   30
/* Heartbeats received between two answers, or two of our own heartbeats; a few are normal. */
#define BEATS_MAX 1000

/* ---- Writing ---- */

#define SEND(l, put, ...)                                                                                              \
	do {                                                                                                           \
		struct buf frame_ = BUF_INIT(1024);                                                                    \
		put(&frame_, ##__VA_ARGS__);                                                                           \
		stream_write(&(l)->stream, frame_.data, frame_.len);                                                   \
		buf_done(&frame_);                                                                                     \
	} while (0)

static void send_login(struct amqplink *l)
{
	const struct amqpendpoint *e = l->endpoint;
	const char *namespace_ = endpoint_namespace(&e->base);
	MEM_AUTO char *name = mem_printf("kscaled%s%s", *namespace_ ? "-" : "", namespace_);
	struct buf frame = BUF_INIT((size_t)1 << 16);

	amqpframe_put_start_ok(&frame, name, e->user, e->password);
	stream_write_frame(&l->stream, &frame);
}

static void send_close(struct amqplink *l)
{
	struct buf frame = BUF_INIT(64);

	amqpframe_put_close(&frame);
	stream_write_last(&l->stream, frame.data, frame.len);
	buf_done(&frame);
}

void amqplink_declare(struct amqplink *l, size_t channel, const char *queue)
{
	SEND(l, amqpframe_put_declare, (unsigned)channel + 1, queue);
}

/* ---- Methods received ---- */

/*
 * The server's text up to the first line break. Servers repeat user, vhost and queue in it; text
 * that repeats the password is not shown.
 */
static const char *reason_of(const struct amqplink *l, struct amqpmethod *m)
{
	const char *password = l->endpoint->password;

	if (password && *password && strstr(m->text, password))
		return "(its words are not shown, as they repeat the password)";
	m->text[strcspn(m->text, "\r\n")] = '\0';
	return *m->text ? m->text : "(no reason given)";
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

/* Explains by the step in progress, or by the code (AMQP 0-9-1, section 1.2, "constants"). */
static int explain_close(const struct amqplink *l, struct amqpmethod *m, struct err *err)
{
	const char *words = reason_of(l, m);

	if (l->state == AMQPLINK_LOGGING_IN && m->code == 403)
		return err_set(err, ERR_DENIED, "the login was refused: %s%s", words,
			l->endpoint->user ? "" : " (EXTERNAL: the certificate's name must be a user there)");
	if (l->state == AMQPLINK_OPENING_VHOST)
		return err_set(err, kind_of(m->code), "vhost \"%.80s\" cannot be used: %s", l->endpoint->vhost, words);
	if (m->code == 320)
		return err_set(err, ERR_TEMPORARY, "the server or its administrator closed the connection: %s", words);
	return err_set(err, kind_of(m->code), "the server closed the connection with code %u: %s", m->code, words);
}

/* For ends without a reason, often by a proxy or a server without authentication_failure_close. */
static const char *hint_of(const void *arg)
{
	const struct amqplink *l = arg;

	switch (l->state) {
	case AMQPLINK_GREETING:
		return l->endpoint->tls ? " (does it ask for a client certificate? give cert and key)"
					: " (is TLS needed? write amqps://)";
	case AMQPLINK_LOGGING_IN: return " (is the password wrong?)";
	default: return "";
	}
}

static void begin_step(struct amqplink *l, enum amqplink_state state, const char *step)
{
	l->state = state;
	stream_step(&l->stream, step, state == AMQPLINK_GREETING ? LOGIN_MS : 0);
}

static void open_channel(struct amqplink *l, size_t channel)
{
	l->open[channel] = false;
	SEND(l, amqpframe_put_channel_open, (unsigned)channel + 1);
}

/* Functions that take a method return 1, or -1 with err. */
static int on_start(struct amqplink *l, const struct amqpmethod *m, struct err *err)
{
	bool external = !l->endpoint->user;

	if (m->major != 0 || m->minor != 9)
		return err_set(err, ERR_TEMPORARY, "the server speaks another version of AMQP than 0-9-1");
	if (external && !m->external)
		return err_set(err, ERR_DENIED,
			"the server does not offer EXTERNAL, the login by a client certificate (RabbitMQ: its plug-in "
			"rabbitmq_auth_mechanism_ssl)");
	if (!external && !m->plain)
		return err_set(err, ERR_DENIED, "the server does not offer PLAIN, the login by user and password");
	begin_step(l, AMQPLINK_LOGGING_IN, "login");
	send_login(l);
	return 1;
}

/* The server's 0 means no limit. */
static uint32_t least_of(uint32_t servers, uint32_t ours)
{
	return servers > 0 && servers < ours ? servers : ours;
}

static int on_tune(struct amqplink *l, const struct amqpmethod *m)
{
	unsigned beat_s = m->beat_s == 0 ? 0 : least_of(m->beat_s, BEAT_S);

	l->channels = least_of(m->channel_max, AMQPLINK_CHANNELS);
	l->beat_ms = (int64_t)beat_s * 1000;
	SEND(l, amqpframe_put_tune_ok, (unsigned)l->channels, least_of(m->frame_max, AMQPFRAME_MAX), beat_s);
	SEND(l, amqpframe_put_open, l->endpoint->vhost);
	begin_step(l, AMQPLINK_OPENING_VHOST, "opening the vhost");
	return 1;
}

static int on_vhost_open(struct amqplink *l)
{
	stream_ready(&l->stream);
	l->state = AMQPLINK_OPEN;
	if (l->beat_ms)
		loop_timer_set(&l->beat, l->beat_ms / 2);
	for (size_t i = 0; i < l->channels; i++)
		open_channel(l, i);
	return 1;
}

static int on_declared(struct amqplink *l, size_t channel, const struct amqpmethod *m, struct err *err)
{
	struct amqplink_call *call = (struct amqplink_call *)pool_slot_call(l->slot, (unsigned)channel);

	if (!call || strcmp(call->base.query, m->text) != 0)
		return err_set(err, ERR_TEMPORARY, "the server sent an unexpected answer");
	call->messages = m->messages;
	pool_finished(&call->base, true);
	return 1;
}

/* RabbitMQ answers NOT_FOUND also if the queue's node is down, or the queue is stopped. */
static void explain_refusal(const struct amqplink *l, const char *queue, struct amqpmethod *m, struct err *err)
{
	const char *reason = reason_of(l, m), *vhost = l->endpoint->vhost;
	enum err_kind kind = kind_of(m->code);

	if (kind == ERR_MISSING && (!strstr(reason, " - ") || strstr(reason, " - no queue ")))
		err_set(err, ERR_MISSING, "there is no queue \"%s\" in vhost \"%s\"", queue, vhost);
	else
		err_set(err, kind == ERR_MISSING ? ERR_TEMPORARY : kind, "queue \"%s\" in vhost \"%s\": %s", queue,
			vhost, reason);
}

static int on_channel_closed(struct amqplink *l, size_t channel, struct amqpmethod *m, struct err *err)
{
	struct pool_call *call = pool_slot_call(l->slot, (unsigned)channel);
	struct err why;

	if (!call)
		return err_set(err, kind_of(m->code), "%s", reason_of(l, m));
	SEND(l, amqpframe_put_channel_close_ok, (unsigned)channel + 1);
	open_channel(l, channel);
	explain_refusal(l, call->query, m, &why);
	pool_refused(call, &why);
	return 1;
}

static int unexpected_method(const struct amqpmethod *m, struct err *err)
{
	return err_set(err, ERR_TEMPORARY, "the server sent an unexpected method (%u.%u)", m->id >> 16, m->id & 0xffff);
}

static int take_on_channel(struct amqplink *l, size_t channel, struct amqpmethod *m, struct err *err)
{
	bool open = l->open[channel];

	if (m->id == AMQPFRAME_CHANNEL_OPEN_OK && !open) {
		l->open[channel] = true;
		pool_opened(l->slot, (unsigned)channel);
		return 1;
	}
	if (m->id == AMQPFRAME_DECLARE_OK && open)
		return on_declared(l, channel, m, err);
	if (m->id == AMQPFRAME_CHANNEL_CLOSE && open)
		return on_channel_closed(l, channel, m, err);
	return unexpected_method(m, err);
}

static int take_method(struct amqplink *l, const struct amqpframe *frame, struct err *err)
{
	enum amqplink_state state = l->state;
	struct amqpmethod m;

	if (amqpframe_read(frame, &m, err))
		return -1;
	if (frame->channel > 0 && state == AMQPLINK_OPEN && frame->channel <= l->channels)
		return take_on_channel(l, frame->channel - 1, &m, err);
	if (frame->channel > 0)
		return unexpected_method(&m, err);
	if (m.id == AMQPFRAME_CLOSE)
		return explain_close(l, &m, err);
	if (m.id == AMQPFRAME_START && state == AMQPLINK_GREETING)
		return on_start(l, &m, err);
	if (m.id == AMQPFRAME_SECURE && state == AMQPLINK_LOGGING_IN)
		return err_set(err, ERR_DENIED,
			"the server asks for more than user and password, which kscaled does not support");
	if (m.id == AMQPFRAME_TUNE && state == AMQPLINK_LOGGING_IN)
		return on_tune(l, &m);
	if (m.id == AMQPFRAME_OPEN_OK && state == AMQPLINK_OPENING_VHOST)
		return on_vhost_open(l);
	return unexpected_method(&m, err);
}

static int take_frame(void *arg, struct evbuffer *input, size_t *used, struct err *err)
{
	struct amqplink *l = arg;
	size_t len = evbuffer_get_length(input), seen = len < AMQPFRAME_MAX ? len : AMQPFRAME_MAX;
	struct amqpframe frame;
	int rc = seen
		? amqpframe_next(evbuffer_pullup(input, (ev_ssize_t)seen), seen, !l->stream.recognised, &frame, err)
		: 0;

	l->stream.recognised |= rc != 0; /* errors about a non-frame explain themselves */
	if (rc <= 0)
		return rc;
	*used = frame.whole;
	l->beats = frame.type == AMQPFRAME_METHOD ? 0 : l->beats + 1;
	if (frame.type == AMQPFRAME_METHOD)
		return take_method(l, &frame, err);
	return l->beats > BEATS_MAX ? err_set(err, ERR_TEMPORARY, "the server sends nothing but heartbeats") : 1;
}

/* ---- Opening and losing ---- */

static void on_opened(void *arg)
{
	struct amqplink *l = arg;

	l->beats = 0;
	begin_step(l, AMQPLINK_GREETING, "waiting for the server's greeting");
	stream_write(&l->stream, AMQPFRAME_HELLO, AMQPFRAME_HELLO_LEN);
}

static void on_lost(void *arg, const struct err *why, bool ended)
{
	const struct amqplink *l = arg;

	(void)ended;
	pool_lost(l->slot, why);
}

static void on_beat(void *arg)
{
	struct amqplink *l = arg;
	struct err err;

	if (loop_now_ms(l->stream.loop) - l->stream.received_ms > 2 * l->beat_ms) {
		err_set(&err, ERR_TEMPORARY, "the server sends no heartbeats any more");
		pool_lost(l->slot, &err);
		return;
	}
	l->beats = 0;
	SEND(l, amqpframe_put_heartbeat);
	loop_timer_set(&l->beat, l->beat_ms / 2);
}

void amqplink_init(struct amqplink *l, struct pool_slot *slot, const struct amqpendpoint *e)
{
	static const struct stream_events events = { on_opened, take_frame, on_lost, hint_of };

	*l = (struct amqplink){ .endpoint = e, .slot = slot };
	stream_init(&l->stream, pool_slot_loop(slot), &events, l);
	loop_timer_init(&l->beat, pool_slot_loop(slot), on_beat, l);
}

void amqplink_open(struct amqplink *l)
{
	const struct amqpendpoint *e = l->endpoint;

	l->state = AMQPLINK_CONNECTING;
	stream_open(&l->stream,
		&(struct stream_server){
			.host = e->host,
			.port = e->port,
			.endpoint = &e->base,
			.tls_name = e->tls ? e->host : NULL,
			.limit_ms = STREAM_CONNECT_MS,
		});
}

void amqplink_close(struct amqplink *l)
{
	if (l->state == AMQPLINK_OPEN)
		send_close(l);
	stream_close(&l->stream);
	memset(l->open, 0, sizeof(l->open));
	loop_timer_cancel(&l->beat);
	l->state = AMQPLINK_CLOSED;
}

void amqplink_done(struct amqplink *l)
{
	amqplink_close(l);
	stream_done(&l->stream);
	loop_timer_done(&l->beat);
}
