/* SPDX-License-Identifier: Apache-2.0 */
#include "net/mongo/mongolink.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/answers.h"
#include "net/descriptors.h"
#include "net/dial.h"
#include "net/network.h"
#include "net/tlsstream.h"

struct mongolink {
	struct loop *loop;
	struct mongoendpoint *endpoint;
	char *host;
	struct mongolink_events events;
	void *arg;
	struct dial *dial;
	struct descriptors_hold hold;
	struct answers_hold bytes;
	struct bufferevent *bev; /* NULL until there is a socket */
	SSL_CTX *tls;
	SSL *ssl; /* owned by bev; NULL: plain */
	bool open, asks, heard;
	int32_t number; /* of the last message */
};

const char *mongolink_doing(const struct mongolink *l)
{
	return l->open ? NULL : l->bev ? "TLS handshake" : "connecting";
}

/* The last act of who calls it: the owner may have freed the link. */
static void lose(struct mongolink *l, const struct err *why)
{
	struct err err = *why;

	if (mongolink_doing(l))
		err_wrap(&err, "%s", mongolink_doing(l));
	l->events.on_lost(l->arg, &err);
}

/* ---- Reading ---- */

/*
 * The bytes of the message that begins the input, which the caller owns; *len is 0 when not all are
 * there. NULL with err.
 */
static uint8_t *take_message(struct mongolink *l, struct evbuffer *input, size_t *len, struct err *err)
{
	uint8_t head[MONGOWIRE_HEADER_SIZE], *bytes;
	ev_ssize_t got = evbuffer_copyout(input, head, sizeof(head));
	int64_t whole = mongowire_length(head, got > 0 ? (size_t)got : 0, err);

	*len = 0;
	if (got > 0 && !l->asks) {
		err_set(err, ERR_INVALID, "the server sent an answer that nobody asked for");
		return NULL;
	}
	if (whole < 0)
		return NULL;
	if (whole == 0 || evbuffer_get_length(input) < (size_t)whole) {
		answers_hold(&network_of(l->loop)->answers, &l->bytes, evbuffer_get_length(input), err);
		return NULL;
	}
	if (evbuffer_get_length(input) > (size_t)whole) {
		err_set(err, ERR_INVALID, "the server sent an answer that nobody asked for");
		return NULL;
	}
	*len = (size_t)whole;
	bytes = mem_alloc(*len);
	evbuffer_remove(input, bytes, *len);
	answers_release(&l->bytes);
	return bytes;
}

static void on_read(struct bufferevent *bev, void *arg)
{
	struct mongolink *l = arg;
	struct mongowire_document answer;
	struct err err = { 0 };
	uint8_t *bytes;
	size_t len;

	loop_enter(l->loop);
	bytes = take_message(l, bufferevent_get_input(bev), &len, &err);
	if (bytes && !mongowire_read(bytes, len, l->number, &answer, &err)) {
		l->asks = false;
		l->heard = true;
		l->events.on_answer(l->arg, answer);
	} else if (err.kind != ERR_NONE) {
		lose(l, &err);
	}
	free(bytes);
}

/* ---- Sending ---- */

int32_t mongolink_number(struct mongolink *l)
{
	l->number = l->number == INT32_MAX ? 1 : l->number + 1;
	return l->number;
}

void mongolink_send(struct mongolink *l, struct buf *message)
{
	l->asks = true;
	bufferevent_write(l->bev, message->data, message->len);
	buf_done(message);
}

/* ---- Connecting ---- */

static void on_opened(void *arg)
{
	struct mongolink *l = arg;

	l->open = true;
	bufferevent_enable(l->bev, EV_READ | EV_WRITE);
	l->events.on_open(l->arg);
}

/* The end before anything was heard may mean that the server expects something else. */
static const char *hint_of(const struct mongolink *l)
{
	if (l->heard)
		return "";
	if (!l->open)
		return " (does the server speak TLS here?)";
	if (!l->ssl)
		return " (is TLS needed here? set tls to enable, or tls=true in the connection string)";
	return l->endpoint->base.tls.cert_pem ? "" : " (does it ask for a client certificate? give cert and key)";
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
	struct mongolink *l = arg;
	int error = EVUTIL_SOCKET_ERROR();
	struct err err;

	loop_enter(l->loop);
	if (what & BEV_EVENT_CONNECTED) {
		on_opened(l);
		return;
	}
	tlsstream_explain_end(bev, l->ssl, !l->open, what, error, hint_of(l), &err);
	l->events.on_lost(l->arg, &err); /* the step is in its words already */
}

static void on_dialed(void *arg, int fd, const struct err *dial_err)
{
	struct mongolink *l = arg;
	struct err err;

	l->dial = NULL;
	if (fd < 0)
		err = *dial_err;
	else
		l->bev = l->endpoint->tls
			? tlsstream_new(l->loop, fd, &l->tls, &l->endpoint->base.tls, l->host, &l->ssl, &err)
			: bufferevent_socket_new(loop_base(l->loop), fd, BEV_OPT_CLOSE_ON_FREE);
	if (!l->bev) {
		if (fd >= 0)
			close(fd);
		lose(l, &err);
		return;
	}
	bufferevent_setcb(l->bev, on_read, NULL, on_event, l);
	if (!l->ssl)
		on_opened(l);
}

struct mongolink *mongolink_new(struct loop *loop, struct mongoendpoint *e, const struct mongoendpoint_host *host,
	int64_t limit_ms, const struct mongolink_events *events, void *arg)
{
	struct mongolink *l = mem_zalloc(sizeof(*l));

	l->loop = loop;
	l->endpoint = e;
	l->host = mem_dup(host->name);
	l->events = *events;
	l->arg = arg;
	l->hold.namespace_ = l->bytes.namespace_ = endpoint_namespace(&e->base);
	l->dial = dial_start(loop, host->name, host->port, limit_ms, &l->hold, on_dialed, l);
	return l;
}

void mongolink_free(struct mongolink *l)
{
	if (!l)
		return;
	dial_cancel(l->dial);
	if (l->bev)
		bufferevent_free(l->bev);
	SSL_CTX_free(l->tls);
	descriptors_give(&l->hold, 0);
	answers_release(&l->bytes);
	free(l->host);
	free(l);
}
