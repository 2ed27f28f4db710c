/* SPDX-License-Identifier: Apache-2.0 */
#include "net/kafka/kafkalink.h"

#include <event2/buffer.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/hostport.h"
#include "base/mem.h"
#include "net/kafka/kafkalogin.h"
#include "net/kafka/kafkasasl.h"
#include "net/web/webtoken.h"

#define SLOW_MS         1000
#define FRAME_CAP       (KAFKASASL_MESSAGE_MAX + 4096) /* for frames of the login */
#define CORRELATION_LEN 4                              /* bytes; the shortest answer */
#define ANSWER_AT       (4 + CORRELATION_LEN)          /* offset of the answer in its frame */
#define GREETING_MAX    65536                          /* bytes of an answer before the link is open */
#define UNEXPECTED      "the broker sent an unexpected answer"

struct kafkalink_request {
	struct pool_call base; /* has no query: `frame` is sent */
	struct buf frame;      /* until it is sent */
	kafkalink_fn fn;
	void *arg;
	unsigned char *answer; /* the whole frame */
	size_t answer_len;
};

/* ---- Closing and losing ---- */

static void close_now(void *connection)
{
	struct kafkalink *l = connection;

	webtoken_cancel(l->token_wait);
	l->token_wait = NULL;
	credential_done(&l->credential);
	stream_close(&l->stream);
	salter_leave(&l->salting);
	kafkasasl_free(l->sasl);
	l->sasl = NULL;
	loop_timer_cancel(&l->begin);
	l->slot = NULL;
	l->state = KAFKALINK_CLOSED;
}

static void name_broker(void *arg, struct err *err)
{
	const struct kafkalink *l = arg;
	const char *address = kafkaendpoint_redact(l->terms->endpoint, l->address);

	if (address != l->address) /* the error contains the host, too */
		err_set(err, err->kind, "failed");
	if (l->node < 0)
		err_wrap(err, "bootstrap server %s", address);
	else if (l->state == KAFKALINK_CONNECTING && !stream_is_connected(&l->stream) && !l->was_open)
		err_wrap(err, "broker %" PRId32 " advertises %s, which cannot be reached", l->node, address);
	else
		err_wrap(err, "broker %" PRId32 " at %s", l->node, address);
}

static void link_fail(struct kafkalink *l, const struct err *why)
{
	l->used_ms = loop_now_ms(l->loop);
	pool_lost(l->slot, why);
}

/* ---- Sending ---- */

/* Takes the frame's content, which may hold a password. */
static void send_frame(struct kafkalink *l, struct buf *frame)
{
	kafkamessages_set_correlation(frame, ++l->correlation);
	stream_write_frame(&l->stream, frame);
}

static int send_request(void *connection, struct pool_call *call, struct err *err)
{
	struct kafkalink *l = connection;

	(void)err;
	call->asked_ms = loop_now_ms(l->loop); /* measures the broker, without the time to connect */
	send_frame(l, &((struct kafkalink_request *)call)->frame);
	return 0;
}

/* ---- Opening ---- */

static void be_open(struct kafkalink *l)
{
	stream_ready(&l->stream);
	kafkasasl_free(l->sasl);
	l->sasl = NULL;
	credential_done(&l->credential);
	l->state = KAFKALINK_OPEN;
	l->was_open = true;
	l->served = false;
	l->answered = l->correlation;
	pool_opened(l->slot, 0);
}

/* The step is named after the request. */
static void begin_step(struct kafkalink *l, enum kafkalink_state state, enum kafkamessages_api api, int64_t limit_ms)
{
	l->state = state;
	stream_step(&l->stream, kafkamessages_name(api), limit_ms);
}

static void on_opened(void *arg)
{
	struct kafkalink *l = arg;
	struct buf frame = BUF_INIT(FRAME_CAP);

	begin_step(l, KAFKALINK_ASKING_VERSIONS, KAFKA_API_VERSIONS, STREAM_CONNECT_MS);
	kafkamessages_put_versions(&frame);
	send_frame(l, &frame);
}

static void begin_login(struct kafkalink *l)
{
	const struct kafkaendpoint *e = l->terms->endpoint;
	struct buf frame = BUF_INIT(FRAME_CAP);

	l->sasl = kafkalogin_new(e, &l->credential, l->host);
	begin_step(l, KAFKALINK_CHOOSING, KAFKA_SASL_HANDSHAKE, 0);
	kafkamessages_put_handshake(&frame, kafkasasl_name(e->mechanism));
	send_frame(l, &frame);
}

static void wait_for_salt(struct kafkalink *l);

static void send_authenticate(struct kafkalink *l, struct buf *message)
{
	struct buf frame = BUF_INIT(FRAME_CAP);

	begin_step(l, KAFKALINK_LOGGING_IN, KAFKA_SASL_AUTHENTICATE, 0);
	buf_reserve(&frame, message->len + 256);
	kafkamessages_put_authenticate(&frame, message->data, message->len);
	send_frame(l, &frame);
}

/* Continues the login after a step; rc is kafkasasl_step's. Returns 0 or -1. */
static int go_on(struct kafkalink *l, int rc, struct buf *message)
{
	const struct kafkaendpoint *e = l->terms->endpoint;

	if (rc == KAFKASASL_SALT)
		wait_for_salt(l);
	else if (rc > 0)
		send_authenticate(l, message);
	else if (rc == 0)
		be_open(l);
	else if (e->identity && l->terms->tokens && !identity_is_fixed(e->identity))
		webtoken_reject(l->terms->tokens, e->identity, &l->credential);
	buf_done_secret(message);
	return rc < 0 ? -1 : 0;
}

static void on_salted(void *arg)
{
	struct kafkalink *l = arg;
	struct buf message = BUF_INIT(KAFKASASL_MESSAGE_MAX);
	struct err err;

	begin_step(l, KAFKALINK_LOGGING_IN, KAFKA_SASL_AUTHENTICATE, STREAM_CONNECT_MS);
	buf_reserve(&message, message.cap);
	if (go_on(l, kafkasasl_prove(l->sasl, &message, &err), &message))
		link_fail(l, &err);
}

/* Computing the proof does not count towards the broker's deadline, which restarts afterwards. */
static void wait_for_salt(struct kafkalink *l)
{
	l->state = KAFKALINK_SALTING;
	stream_step(&l->stream, "SaslAuthenticate: computing SCRAM's iterations (fewer iterations take less time)",
		STREAM_UNTIMED);
	l->salting.scram = kafkasasl_scram(l->sasl);
	l->salting.memory = &l->terms->endpoint->memory;
	l->salting.fn = on_salted;
	l->salting.arg = l;
	salter_ask(l->terms->salter, &l->salting, endpoint_namespace(&l->terms->endpoint->base));
}

/* Returns 0, or -1 with err. */
static int take_greeting(struct kafkalink *l, struct wire *r, struct err *err)
{
	const struct kafkaendpoint *e = l->terms->endpoint;
	struct buf message = BUF_INIT(KAFKASASL_MESSAGE_MAX);
	struct kafkamessages_authenticate answer;
	struct kafkamessages_handshake handshake;
	struct kafkamessages_versions versions;
	int rc;

	switch (l->state) {
	case KAFKALINK_ASKING_VERSIONS:
		if (kafkamessages_read_versions(r, &versions, err) ||
			kafkamessages_check_versions(&versions, e->mechanism != KAFKASASL_NONE, err))
			return -1;
		if (e->mechanism == KAFKASASL_NONE)
			be_open(l);
		else
			begin_login(l);
		return 0;
	case KAFKALINK_CHOOSING:
		if (kafkamessages_read_handshake(r, &handshake, err) ||
			kafkasasl_judge_handshake(l->sasl, &handshake, err))
			return -1;
		buf_reserve(&message, message.cap);
		rc = kafkasasl_start(l->sasl, &message, err) ? -1 : 1;
		break;
	default:
		if (kafkamessages_read_authenticate(r, &answer, err))
			return -1;
		buf_reserve(&message, message.cap);
		rc = kafkasasl_step(l->sasl, &answer, &message, err);
		break;
	}
	return go_on(l, rc, &message);
}

/* ---- Reading ---- */

/* Sets the correlation id of the next answer; false: no answer is expected. */
static bool expects_answer(const struct kafkalink *l, int32_t *correlation)
{
	*correlation = l->state == KAFKALINK_OPEN ? l->answered + 1 : l->correlation;
	return l->state == KAFKALINK_OPEN ? pool_slot_call(l->slot, 0) != NULL : l->state != KAFKALINK_SALTING;
}

/*
 * The length of the first frame of the input, once it is complete; 0: incomplete; -1 with err. An
 * unexpected answer is refused by its first bytes.
 */
static int64_t whole_frame(const struct kafkalink *l, struct evbuffer *input, struct err *err)
{
	unsigned char head[4 + CORRELATION_LEN];
	ssize_t got = evbuffer_copyout(input, head, sizeof(head));
	struct wire r = { head, sizeof(head), false };
	size_t most = l->state == KAFKALINK_OPEN ? KAFKAMESSAGES_FRAME_MAX : GREETING_MAX;
	int32_t len, correlation;

	if (got > 0 && !expects_answer(l, &correlation))
		return err_set(err, ERR_INVALID, UNEXPECTED);
	if (got < 4)
		return 0;
	len = kafkawire_i32(&r);
	if (len < CORRELATION_LEN || len > (int32_t)most)
		return err_set(err, ERR_INVALID, "the broker's answer makes no sense, or is larger than %zu KiB",
			most >> 10);
	if (got == sizeof(head) && kafkawire_i32(&r) != correlation)
		return err_set(err, ERR_INVALID, UNEXPECTED);
	return evbuffer_get_length(input) >= (size_t)len + 4 ? len : 0;
}

/* Takes ownership of the frame. */
static void take_answer(struct kafkalink *l, unsigned char *frame, size_t len)
{
	struct kafkalink_request *request = (struct kafkalink_request *)pool_slot_call(l->slot, 0);

	l->served = true;
	l->used_ms = loop_now_ms(l->loop);
	l->answered++;
	request->answer = frame;
	request->answer_len = len;
	pool_finished(&request->base, true);
}

/* Errors in an answer's content name the step themselves. */
static int take_frame(void *arg, struct evbuffer *input, size_t *used, struct err *err)
{
	struct kafkalink *l = arg;
	int64_t len = whole_frame(l, input, err);
	struct wire reader;
	unsigned char *frame;
	int rc = 0;

	if (len < 0 && l->stream.recognised && l->stream.step)
		err_wrap(err, "%s", l->stream.step);
	if (len <= 0)
		return (int)len;
	*used = (size_t)len + 4;
	frame = mem_alloc(*used);
	evbuffer_copyout(input, frame, *used);
	l->stream.recognised = true;
	if (l->state == KAFKALINK_OPEN) {
		take_answer(l, frame, *used);
		return 1;
	}
	reader = (struct wire){ frame + ANSWER_AT, *used - ANSWER_AT, false };
	rc = take_greeting(l, &reader, err);
	free(frame);
	return rc ? -1 : 1;
}

static const char *hint_of(const void *arg)
{
	const struct kafkalink *l = arg;
	bool silent = l->state == KAFKALINK_ASKING_VERSIONS || (l->state == KAFKALINK_OPEN && !l->served);

	return silent ? kafkaendpoint_hint(l->terms->endpoint, l->state == KAFKALINK_OPEN) : "";
}

static void on_lost(void *arg, const struct err *why, bool ended)
{
	struct kafkalink *l = arg;

	l->closed_by_peer = ended && l->state == KAFKALINK_OPEN && l->served;
	link_fail(l, why);
}

/* ---- Connecting ---- */

static void connect_now(struct kafkalink *l)
{
	const struct kafkaendpoint *e = l->terms->endpoint;

	l->state = KAFKALINK_CONNECTING;
	stream_open(&l->stream,
		&(struct stream_server){
			.host = l->host,
			.port = l->port,
			.endpoint = &e->base,
			.tls_name = e->tls ? l->host : NULL,
			.context = &l->terms->tls,
			.limit_ms = STREAM_CONNECT_MS,
		});
}

static void on_token(void *arg, const struct credential *credential, const struct err *err)
{
	struct kafkalink *l = arg;

	l->token_wait = NULL;
	if (err) {
		link_fail(l, err);
		return;
	}
	credential_copy(&l->credential, credential);
	connect_now(l);
}

/* Connects in a turn of its own, as a cluster may have a thousand brokers. */
static void *open_link(struct pool_slot *slot, struct endpoint *base, const struct pool_call *first)
{
	struct kafkalink *l = pool_slot_arg(slot);
	const struct kafkaendpoint *e = (struct kafkaendpoint *)base;

	(void)first;
	l->slot = slot;
	l->closed_by_peer = false;
	l->state = e->identity && l->terms->tokens ? KAFKALINK_FETCHING_TOKEN : KAFKALINK_CONNECTING;
	stream_step(&l->stream,
		l->state == KAFKALINK_CONNECTING ? "connecting"
			: e->region              ? "fetching AWS keys"
						 : "fetching an OAuth token",
		STREAM_UNTIMED);
	loop_timer_set(&l->begin, 0);
	return l;
}

/* Fetches token or keys before connecting, as brokers limit the time for a login. */
static void fetch_token(struct kafkalink *l)
{
	struct err err;

	if (kafkaendpoint_may_disclose(l->terms->endpoint, l->host, &err))
		link_fail(l, &err);
	else
		l->token_wait = webtoken_ask(l->terms->tokens, l->terms->endpoint->identity,
			endpoint_namespace(&l->terms->endpoint->base), on_token, l);
}

static void on_begin(void *arg)
{
	struct kafkalink *l = arg;

	if (l->state == KAFKALINK_FETCHING_TOKEN)
		fetch_token(l);
	else
		connect_now(l);
}

static int opening(const void *connection, struct err *err)
{
	return stream_timed_out(&((const struct kafkalink *)connection)->stream, err);
}

/* ---- Requests ---- */

static void tell(struct pool_call *call)
{
	struct kafkalink_request *r = (struct kafkalink_request *)call;
	struct wire reader;

	if (!call->err)
		reader = (struct wire){ r->answer + ANSWER_AT, r->answer_len - ANSWER_AT, false };
	r->fn(r->arg, call->err ? NULL : &reader, call->err);
}

static void done(struct pool_call *call)
{
	struct kafkalink_request *r = (struct kafkalink_request *)call;

	buf_done(&r->frame);
	free(r->answer);
}

static const struct pool_protocol protocol = {
	.locate = name_broker,
	.calls = "requests",
	.call_size = sizeof(struct kafkalink_request),
	.window = POOL_UNLIMITED,
	.waiting_max = SIZE_MAX, /* net/kafka/kafka has its own limit */
	.overdue = "the broker did not answer in time",
	.crowded = "no answer in time",
	.open = open_link,
	.opening = opening,
	.send = send_request,
	.close = close_now,
	.tell = tell,
	.done = done,
};

/* ---- For the cluster ---- */

struct kafkalink *kafkalink_new(struct kafkalink_terms *terms, const char *host, uint16_t port)
{
	static const struct stream_events events = { on_opened, take_frame, on_lost, hint_of };
	struct kafkalink *l = mem_zalloc(sizeof(*l));

	l->terms = terms;
	l->loop = terms->loop;
	l->host = mem_dup(host);
	l->port = port;
	l->address = hostport_join(host, port);
	l->node = -1;
	l->used_ms = loop_now_ms(l->loop);
	stream_init(&l->stream, l->loop, &events, l);
	loop_timer_init(&l->begin, l->loop, on_begin, l);
	l->pool = pool_new(l->loop, &protocol, l);
	return l;
}

void kafkalink_free(struct kafkalink *l)
{
	if (!l)
		return;
	pool_free(l->pool);
	stream_done(&l->stream);
	loop_timer_done(&l->begin);
	free(l->host);
	free(l->address);
	free(l);
}

struct pool_call *kafkalink_ask(struct kafkalink *l, enum kafkamessages_api api, struct buf *frame, int64_t deadline_ms,
	kafkalink_fn fn, void *arg)
{
	struct kafkalink_request *r = mem_zalloc(sizeof(*r));

	r->base.what = kafkamessages_name(api);
	r->frame = *frame;
	buf_init(frame, frame->cap);
	r->fn = fn;
	r->arg = arg;
	l->used_ms = loop_now_ms(l->loop);
	pool_ask(l->pool, &l->terms->endpoint->base, NULL, r->frame.len, deadline_ms, &r->base);
	return &r->base;
}

bool kafkalink_backs_off(const struct kafkalink *l)
{
	return pool_backs_off(l->pool, &l->terms->endpoint->base);
}

size_t kafkalink_waiting(const struct kafkalink *l)
{
	return pool_waiting(l->pool);
}

bool kafkalink_is_unused(const struct kafkalink *l)
{
	return pool_is_quiet(l->pool);
}

bool kafkalink_is_slow(const struct kafkalink *l)
{
	int64_t oldest_ms = pool_oldest_ms(l->pool);

	return oldest_ms && loop_now_ms(l->loop) - oldest_ms > SLOW_MS;
}

void kafkalink_close_idle(struct kafkalink *l)
{
	pool_close_idle(l->pool);
}
