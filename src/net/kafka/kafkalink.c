/* SPDX-License-Identifier: Apache-2.0 */
#include "net/kafka/kafkalink.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/bufferevent_struct.h>
#include <event2/event.h>
#include <inttypes.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "base/hostport.h"
#include "base/mem.h"
#include "net/answers.h"
#include "net/descriptors.h"
#include "net/dial.h"
#include "net/identity/identity.h"
#include "net/kafka/kafkalogin.h"
#include "net/kafka/kafkasasl.h"
#include "net/network.h"
#include "net/sign/salter.h"
#include "net/tls/tls.h"
#include "net/tlsstream.h"
#include "net/web/webtoken.h"

#define CONNECT_MS      5000 /* for name and TCP; then as long again for TLS, and for the login */
#define IDLE_MS         60000
#define SLOW_MS         1000
#define FRAME_CAP       (KAFKASASL_MESSAGE_MAX + 4096) /* of a frame of the login */
#define CORRELATION_LEN 4                              /* bytes: no answer is shorter */
#define GREETING_MAX    65536                          /* bytes of an answer before it is open */
#define UNASKED         "the broker sent an answer that nobody asked for"

enum state { CLOSED, FETCHING_TOKEN, DIALING, SHAKING_HANDS, ASKING_VERSIONS, CHOOSING, LOGGING_IN, SALTING, OPEN };

struct kafkalink_request {
	struct kafkalink *link;
	struct kafkalink_request *prev, *next;
	struct kafkalink_request **list; /* that it is in */
	enum kafkamessages_api api;
	int32_t correlation;
	struct buf frame; /* while unsent */
	int64_t asked_ms, deadline_ms;
	kafkalink_fn fn; /* NULL: cancelled, only its place in the order is left */
	void *arg;
	struct err *err; /* once it has failed */
};

struct kafkalink {
	struct kafkalink_terms *terms;
	struct loop *loop;
	char *host, *address;
	uint16_t port;
	int32_t node;
	enum state state;
	bool was_open, heard; /* ever; since it is open */
	bool was_cut;         /* the last connection, by the broker, when it had been heard */
	struct webtoken_wait *token_wait;
	struct credential credential; /* of the endpoint's identity, while opening */
	struct dial *dial;
	struct descriptors_hold hold;
	struct answers_hold bytes;
	struct bufferevent *bev; /* NULL until there is a socket */
	SSL *ssl;                /* owned by bev; NULL: plain */
	struct kafkasasl *sasl;
	struct salter_turn salting;                       /* of sasl */
	int32_t correlation;                              /* of the last frame sent */
	struct kafkalink_request *unsent, *sent, *failed; /* oldest first */
	bool telling;                                     /* the failed ones, at the moment */
	size_t waiting;
	int64_t used_ms;
	unsigned failures;
	int64_t retry_ms; /* no connection before; loop clock */
	struct err last_err;
	struct loop_timer step;     /* when it is to begin; deadline of what comes before OPEN */
	struct loop_timer deadline; /* of requests; idle time */
	int64_t first_ms;           /* when it fires */
	struct loop_timer backoff;  /* pending: opens when it fires */
	struct loop_task tell_failed;
};

/* ---- Requests ---- */

static void request_leave(struct kafkalink_request *r)
{
	DL_DELETE(*r->list, r);
	if (r->list != &r->link->failed)
		r->link->waiting--;
}

static void request_free(struct kafkalink_request *r)
{
	buf_done(&r->frame);
	err_keep(&r->err, NULL);
	free(r);
}

static void request_fail(struct kafkalink_request *r, const struct err *why)
{
	struct kafkalink *l = r->link;

	request_leave(r);
	if (!r->fn) {
		request_free(r);
		return;
	}
	err_keep(&r->err, why);
	DL_APPEND(l->failed, r);
	r->list = &l->failed;
	loop_task_queue(l->loop, &l->tell_failed);
}

static void on_tell_failed(void *arg)
{
	struct kafkalink *l = arg;

	l->telling = true;
	while (l->failed) {
		struct kafkalink_request *r = l->failed;

		DL_DELETE(l->failed, r);
		r->fn(r->arg, NULL, r->err);
		request_free(r);
	}
	l->telling = false;
}

/* ---- Closing and losing ---- */

static void close_now(struct kafkalink *l)
{
	webtoken_cancel(l->token_wait);
	l->token_wait = NULL;
	credential_done(&l->credential);
	dial_cancel(l->dial);
	l->dial = NULL;
	if (l->bev)
		bufferevent_free(l->bev);
	l->bev = NULL;
	l->ssl = NULL;
	salter_leave(&l->salting);
	kafkasasl_free(l->sasl);
	l->sasl = NULL;
	descriptors_give(&l->hold, 0);
	answers_release(&l->bytes);
	loop_timer_cancel(&l->step);
	l->state = CLOSED;
}

static void name_broker(const struct kafkalink *l, struct err *err)
{
	const char *address = kafkaendpoint_shown(l->terms->endpoint, l->address);

	if (address != l->address) /* and in it the host */
		err_set(err, err->kind, "failed");
	if (l->node < 0)
		err_wrap(err, "bootstrap server %s", address);
	else if (l->state == DIALING && !l->was_open)
		err_wrap(err, "broker %" PRId32 " advertises %s, which cannot be reached", l->node, address);
	else
		err_wrap(err, "broker %" PRId32 " at %s", l->node, address);
}

/*
 * Closes the connection and fails its requests; the next one is opened for a request, not before
 * the back-off is over.
 */
static void link_fail(struct kafkalink *l, const struct err *why)
{
	l->last_err = *why;
	l->was_cut = false;
	name_broker(l, &l->last_err);
	close_now(l);
	l->used_ms = loop_now_ms(l->loop);
	l->retry_ms = l->used_ms + loop_backoff_ms(l->failures++, DIAL_AGAIN_FIRST_MS, DIAL_AGAIN_MAX_MS);
	while (l->sent)
		request_fail(l->sent, &l->last_err);
	while (l->unsent)
		request_fail(l->unsent, &l->last_err);
	loop_timer_set(&l->deadline, IDLE_MS);
}

/* ---- Deadlines ---- */

static void set_first(struct kafkalink *l, int64_t first_ms)
{
	l->first_ms = first_ms;
	loop_timer_set(&l->deadline, first_ms - loop_now_ms(l->loop));
}

static void set_deadline(struct kafkalink *l)
{
	const struct kafkalink_request *r;
	int64_t first_ms = l->sent ? l->sent->deadline_ms : INT64_MAX;

	DL_FOREACH (l->unsent, r)
		first_ms = r->deadline_ms < first_ms ? r->deadline_ms : first_ms;
	if (first_ms == INT64_MAX)
		first_ms = l->used_ms + IDLE_MS;
	set_first(l, first_ms);
}

static const char *doing(const struct kafkalink *l)
{
	switch (l->state) {
	case FETCHING_TOKEN: return l->terms->endpoint->region ? "fetching AWS keys" : "fetching an OAuth token";
	case DIALING: return "connecting";
	case SHAKING_HANDS: return "TLS handshake";
	case ASKING_VERSIONS: return "ApiVersions";
	case CHOOSING: return "SaslHandshake";
	case LOGGING_IN: return "SaslAuthenticate";
	case SALTING: return "SaslAuthenticate: computing SCRAM's iterations (fewer iterations take less time)";
	default: return "waiting";
	}
}

static void on_deadline(void *arg)
{
	struct kafkalink *l = arg;
	int64_t now_ms = loop_now_ms(l->loop);
	struct kafkalink_request *r, *next;
	struct err err;

	if (l->waiting == 0 && now_ms - l->used_ms >= IDLE_MS) {
		close_now(l);
		return;
	}
	if (l->sent && l->sent->deadline_ms <= now_ms) {
		err_set(&err, ERR_TEMPORARY, "%s: the broker did not answer in time", kafkamessages_name(l->sent->api));
		link_fail(l, &err);
		return;
	}
	DL_FOREACH_SAFE (l->unsent, r, next) {
		if (r->deadline_ms > now_ms)
			continue;
		if (loop_timer_pending(&l->backoff)) {
			err = l->last_err;
		} else {
			err_set(&err, ERR_TEMPORARY, "%s: timed out", doing(l));
			name_broker(l, &err);
		}
		request_fail(r, &err);
	}
	set_deadline(l);
}

/* ---- Sending ---- */

static void wipe_frame(const void *bytes, size_t len, void *frame)
{
	(void)bytes;
	mem_wipe(frame, len);
	free(frame);
}

/* Takes the frame's content, which leaves no copy in libevent's buffers: it may hold a password. */
static int32_t send_frame(struct kafkalink *l, struct buf *frame)
{
	size_t len = frame->len;
	char *bytes;

	kafkamessages_set_correlation(frame, ++l->correlation);
	bytes = buf_take(frame);
	evbuffer_add_reference(bufferevent_get_output(l->bev), bytes, len, wipe_frame, bytes);
	/* Written at the end of this round of callbacks, with what others add until then. */
	if (!l->ssl)
		event_active(&l->bev->ev_write, EV_WRITE, 1);
	return l->correlation;
}

static void send_request(struct kafkalink_request *r)
{
	struct kafkalink *l = r->link;

	DL_DELETE(l->unsent, r);
	DL_APPEND(l->sent, r);
	r->list = &l->sent;
	r->asked_ms = loop_now_ms(l->loop);
	r->correlation = send_frame(l, &r->frame);
}

/* ---- Opening ---- */

static void on_open(struct kafkalink *l)
{
	loop_timer_cancel(&l->step);
	kafkasasl_free(l->sasl);
	l->sasl = NULL;
	credential_done(&l->credential);
	l->state = OPEN;
	l->was_open = true;
	l->heard = false;
	l->failures = 0;
	while (l->unsent)
		send_request(l->unsent);
	set_deadline(l);
}

static void begin_versions(struct kafkalink *l)
{
	struct buf frame = BUF_INIT(FRAME_CAP);

	l->state = ASKING_VERSIONS;
	loop_timer_set(&l->step, CONNECT_MS);
	bufferevent_enable(l->bev, EV_READ | EV_WRITE);
	kafkamessages_put_versions(&frame);
	send_frame(l, &frame);
}

static void begin_login(struct kafkalink *l)
{
	const struct kafkaendpoint *e = l->terms->endpoint;
	struct buf frame = BUF_INIT(FRAME_CAP);

	l->sasl = kafkalogin_new(e, &l->credential, l->host);
	l->state = CHOOSING;
	kafkamessages_put_handshake(&frame, kafkasasl_name(e->mechanism));
	send_frame(l, &frame);
}

static void wait_for_salt(struct kafkalink *l);

static void authenticate(struct kafkalink *l, struct buf *message)
{
	struct buf frame = BUF_INIT(FRAME_CAP);

	l->state = LOGGING_IN;
	buf_reserve(&frame, message->len + 256);
	kafkamessages_put_authenticate(&frame, message->data, message->len);
	send_frame(l, &frame);
}

/* What a step of the login led to; rc as of kafkasasl_step. 0, or -1. */
static int go_on(struct kafkalink *l, int rc, struct buf *message)
{
	const struct kafkaendpoint *e = l->terms->endpoint;

	if (rc == KAFKASASL_SALT)
		wait_for_salt(l);
	else if (rc > 0)
		authenticate(l, message);
	else if (rc == 0)
		on_open(l);
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

	loop_timer_set(&l->step, CONNECT_MS);
	buf_reserve(&message, message.cap);
	if (go_on(l, kafkasasl_prove(l->sasl, &message, &err), &message))
		link_fail(l, &err);
}

/* The broker is not to blame for how long that takes: its time begins again behind it. */
static void wait_for_salt(struct kafkalink *l)
{
	l->state = SALTING;
	loop_timer_cancel(&l->step);
	l->salting.scram = kafkasasl_scram(l->sasl);
	l->salting.memory = &l->terms->endpoint->memory;
	l->salting.fn = on_salted;
	l->salting.arg = l;
	salter_ask(l->terms->salter, &l->salting, endpoint_namespace(&l->terms->endpoint->base));
}

/* 0, or -1 with err. */
static int take_greeting(struct kafkalink *l, struct wire *r, struct err *err)
{
	const struct kafkaendpoint *e = l->terms->endpoint;
	struct buf message = BUF_INIT(KAFKASASL_MESSAGE_MAX);
	struct kafkamessages_authenticate answer;
	struct kafkamessages_handshake handshake;
	struct kafkamessages_versions versions;
	int rc;

	switch (l->state) {
	case ASKING_VERSIONS:
		if (kafkamessages_read_versions(r, &versions, err) ||
			kafkamessages_check_versions(&versions, e->mechanism != KAFKASASL_NONE, err))
			return -1;
		if (e->mechanism == KAFKASASL_NONE)
			on_open(l);
		else
			begin_login(l);
		return 0;
	case CHOOSING:
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

static const char *hint_of(const struct kafkalink *l)
{
	bool silent = l->state == ASKING_VERSIONS || (l->state == OPEN && !l->heard);

	return silent ? kafkaendpoint_hint(l->terms->endpoint, l->state == OPEN) : "";
}

static void fail_on_wire(struct kafkalink *l, const struct err *why)
{
	struct err err;

	if (l->state == OPEN)
		err_set(&err, why->kind, "%s%s", why->msg, hint_of(l));
	else
		err_set(&err, why->kind, "%s: %s%s", doing(l), why->msg, hint_of(l));
	link_fail(l, &err);
}

static void take_answer(struct kafkalink *l, struct wire *r)
{
	struct kafkalink_request *request = l->sent;
	struct err err;

	kafkawire_i32(r); /* the correlation: whole_frame */
	if (l->state != OPEN) {
		if (take_greeting(l, r, &err))
			link_fail(l, &err); /* which names the step itself */
		return;
	}
	l->heard = true;
	l->used_ms = loop_now_ms(l->loop);
	request_leave(request);
	if (request->fn)
		request->fn(request->arg, r, NULL);
	request_free(request);
}

/* Of the next answer; false: there is none to come. */
static bool expects(const struct kafkalink *l, int32_t *correlation)
{
	*correlation = l->state == OPEN && l->sent ? l->sent->correlation : l->correlation;
	return l->state == OPEN ? l->sent != NULL : l->state != SALTING;
}

/*
 * The length of the frame that begins the input, once all of it is there; 0: not yet; -1 with err.
 * What answers nothing is not waited for: it is refused by its first bytes.
 */
static int64_t whole_frame(const struct kafkalink *l, struct evbuffer *input, struct err *err)
{
	unsigned char head[4 + CORRELATION_LEN];
	ssize_t got = evbuffer_copyout(input, head, sizeof(head));
	struct wire r = { head, sizeof(head), false };
	size_t most = l->state == OPEN ? KAFKAMESSAGES_FRAME_MAX : GREETING_MAX;
	int32_t len, correlation;

	if (got > 0 && !expects(l, &correlation))
		return err_set(err, ERR_INVALID, UNASKED);
	if (got < 4)
		return 0;
	len = kafkawire_i32(&r);
	if (len < CORRELATION_LEN || len > (int32_t)most)
		return err_set(err, ERR_INVALID, "the broker's answer makes no sense, or is larger than %zu KiB",
			most >> 10);
	if (got == sizeof(head) && kafkawire_i32(&r) != correlation)
		return err_set(err, ERR_INVALID, UNASKED);
	return evbuffer_get_length(input) >= (size_t)len + 4 ? len : 0;
}

static void on_read(struct bufferevent *bev, void *arg)
{
	struct kafkalink *l = arg;
	struct evbuffer *input = bufferevent_get_input(bev);
	struct err err;
	int64_t len = 0;

	loop_enter(l->loop);
	while (l->bev == bev && (len = whole_frame(l, input, &err)) > 0) {
		unsigned char *bytes = evbuffer_pullup(input, (ev_ssize_t)len + 4);
		struct wire reader = { bytes + 4, (size_t)len, false };

		take_answer(l, &reader);
		if (l->bev == bev)
			evbuffer_drain(input, (size_t)len + 4);
	}
	if (l->bev != bev)
		return;
	if (len < 0 || answers_hold(&network_of(l->loop)->answers, &l->bytes, evbuffer_get_length(input), &err))
		fail_on_wire(l, &err);
	else if (l->state == OPEN)
		set_deadline(l);
}

/* ---- Connecting ---- */

static void explain_end(const struct kafkalink *l, short what, int error, struct err *err)
{
	char reason[256];
	unsigned long code = l->ssl ? bufferevent_get_openssl_error(l->bev) : 0;

	/* libevent puts OpenSSL's result codes (below 16) into the same list as its errors. */
	if (l->state == SHAKING_HANDS) {
		tls_explain(l->ssl, code < 16 ? 0 : code, reason, sizeof(reason));
		err_set(err, ERR_TEMPORARY, "%s%s", reason,
			strstr(reason, "wrong version") || what & BEV_EVENT_EOF ? " (does the broker speak TLS here?)"
										: "");
	} else if (code >= 16) { /* in TLS 1.3 a server rejects a certificate after the handshake */
		tls_explain(l->ssl, code, reason, sizeof(reason));
		err_set(err, ERR_TEMPORARY, "TLS: %s", reason);
	} else if (what & BEV_EVENT_EOF || !error) {
		err_set(err, ERR_TEMPORARY, "the broker closed the connection");
	} else {
		err_set(err, ERR_TEMPORARY, "%s", strerror(error));
	}
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
	struct kafkalink *l = arg;
	int error = EVUTIL_SOCKET_ERROR();
	bool cut = l->state == OPEN && l->heard;
	struct err err;

	(void)bev;
	loop_enter(l->loop);
	if (what & BEV_EVENT_CONNECTED) {
		begin_versions(l);
		return;
	}
	if (l->state == OPEN && l->waiting == 0) {
		close_now(l); /* brokers close what is idle: no failure */
		return;
	}
	explain_end(l, what, error, &err);
	fail_on_wire(l, &err);
	l->was_cut = cut;
}

static void on_dialed(void *arg, int fd, const struct err *dial_err)
{
	struct kafkalink *l = arg;
	struct err err;

	l->dial = NULL;
	if (fd < 0)
		err_set(&err, dial_err->kind, "connecting: %s", dial_err->msg);
	else
		l->bev = l->terms->endpoint->tls
			? tlsstream_new(l->loop, fd, &l->terms->tls, &l->terms->endpoint->base.tls, l->host, &l->ssl,
				  &err)
			: bufferevent_socket_new(loop_base(l->loop), fd, BEV_OPT_CLOSE_ON_FREE);
	if (!l->bev) {
		if (fd >= 0)
			close(fd);
		link_fail(l, &err);
		return;
	}
	bufferevent_setcb(l->bev, on_read, NULL, on_event, l);
	if (!l->terms->endpoint->tls) {
		begin_versions(l);
		return;
	}
	l->state = SHAKING_HANDS;
	bufferevent_enable(l->bev, EV_READ | EV_WRITE);
	loop_timer_set(&l->step, CONNECT_MS);
}

static void dial_now(struct kafkalink *l)
{
	l->state = DIALING;
	l->bytes.namespace_ = l->hold.namespace_ = endpoint_namespace(&l->terms->endpoint->base);
	l->dial = dial_start(l->loop, l->host, l->port, CONNECT_MS, &l->hold, on_dialed, l);
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
	dial_now(l);
}

/* It begins in a turn of its own: a cluster may have a thousand brokers. */
static void open_now(struct kafkalink *l)
{
	l->state = l->terms->endpoint->identity && l->terms->tokens ? FETCHING_TOKEN : DIALING;
	loop_timer_set(&l->step, 0);
}

/* The token, or keys, first: a broker waits for a login only so long. */
static void fetch_token(struct kafkalink *l)
{
	struct err err;

	if (kafkaendpoint_may_show(l->terms->endpoint, l->host, &err))
		link_fail(l, &err);
	else
		l->token_wait = webtoken_ask(l->terms->tokens, l->terms->endpoint->identity,
			endpoint_namespace(&l->terms->endpoint->base), on_token, l);
}

static void on_step(void *arg)
{
	struct kafkalink *l = arg;
	struct err err;

	if (l->state == FETCHING_TOKEN) {
		fetch_token(l);
	} else if (l->state == DIALING) {
		dial_now(l);
	} else {
		err_set(&err, ERR_TEMPORARY,
			l->state == SHAKING_HANDS ? "timed out (does the broker speak TLS here?)"
						  : "the broker did not answer in time");
		fail_on_wire(l, &err);
	}
}

static void on_backoff_over(void *arg)
{
	struct kafkalink *l = arg;

	if (l->unsent && l->state == CLOSED)
		open_now(l);
}

/* ---- For the cluster ---- */

struct kafkalink *kafkalink_new(struct kafkalink_terms *terms, const char *host, uint16_t port)
{
	struct kafkalink *l = mem_zalloc(sizeof(*l));

	l->terms = terms;
	l->loop = terms->loop;
	l->host = mem_dup(host);
	l->port = port;
	l->address = hostport_join(host, port);
	l->node = -1;
	l->used_ms = loop_now_ms(l->loop);
	loop_timer_init(&l->step, l->loop, on_step, l);
	loop_timer_init(&l->deadline, l->loop, on_deadline, l);
	loop_timer_init(&l->backoff, l->loop, on_backoff_over, l);
	loop_task_init(&l->tell_failed, on_tell_failed, l);
	return l;
}

static void free_list(struct kafkalink_request **list)
{
	struct kafkalink_request *r, *next;

	DL_FOREACH_SAFE (*list, r, next)
		request_free(r);
}

void kafkalink_free(struct kafkalink *l)
{
	if (!l)
		return;
	close_now(l);
	free_list(&l->unsent);
	free_list(&l->sent);
	free_list(&l->failed);
	loop_timer_done(&l->step);
	loop_timer_done(&l->deadline);
	loop_timer_done(&l->backoff);
	loop_task_cancel(l->loop, &l->tell_failed);
	free(l->host);
	free(l->address);
	free(l);
}

void kafkalink_set_node(struct kafkalink *l, int32_t node)
{
	l->node = node;
}

int32_t kafkalink_node(const struct kafkalink *l)
{
	return l->node;
}

const char *kafkalink_address(const struct kafkalink *l)
{
	return l->address;
}

struct kafkalink_request *kafkalink_ask(struct kafkalink *l, enum kafkamessages_api api, struct buf *frame,
	int64_t deadline_ms, kafkalink_fn fn, void *arg)
{
	struct kafkalink_request *r = mem_zalloc(sizeof(*r));

	r->link = l;
	r->api = api;
	r->frame = *frame;
	buf_init(frame, frame->cap);
	r->fn = fn;
	r->arg = arg;
	r->asked_ms = l->used_ms = loop_now_ms(l->loop);
	r->deadline_ms = deadline_ms;
	DL_APPEND(l->unsent, r);
	r->list = &l->unsent;
	l->waiting++;
	if (l->state == OPEN)
		send_request(r);
	/* Of the many that may wait for a connection only one that is due before them is news. */
	if (l->state == OPEN)
		set_deadline(l);
	else if (l->waiting == 1 || r->deadline_ms < l->first_ms)
		set_first(l, r->deadline_ms);
	if (l->state != CLOSED || loop_timer_pending(&l->backoff))
		return r;
	if (l->retry_ms > l->used_ms)
		loop_timer_set(&l->backoff, l->retry_ms - l->used_ms);
	else
		open_now(l);
	return r;
}

void kafkalink_cancel(struct kafkalink_request *r)
{
	if (!r)
		return;
	if (r->list == &r->link->sent) {
		r->fn = NULL; /* its place stays until the answer comes */
		return;
	}
	request_leave(r);
	request_free(r);
}

bool kafkalink_is_open(const struct kafkalink *l)
{
	return l->state == OPEN;
}

bool kafkalink_is_connected(const struct kafkalink *l)
{
	return l->state != CLOSED;
}

bool kafkalink_rests(const struct kafkalink *l)
{
	return l->state == CLOSED && (loop_timer_pending(&l->backoff) || loop_now_ms(l->loop) < l->retry_ms);
}

size_t kafkalink_waiting(const struct kafkalink *l)
{
	return l->waiting;
}

bool kafkalink_is_unused(const struct kafkalink *l)
{
	return l->state == CLOSED && l->waiting == 0 && !l->failed && !l->telling;
}

bool kafkalink_was_cut(const struct kafkalink *l)
{
	return l->was_cut;
}

bool kafkalink_is_slow(const struct kafkalink *l)
{
	const struct kafkalink_request *oldest = l->sent ? l->sent : l->unsent;

	return oldest && loop_now_ms(l->loop) - oldest->asked_ms > SLOW_MS;
}

int64_t kafkalink_used_ms(const struct kafkalink *l)
{
	return l->used_ms;
}

void kafkalink_close_idle(struct kafkalink *l)
{
	if (l->waiting == 0 && l->state == OPEN)
		close_now(l);
}
