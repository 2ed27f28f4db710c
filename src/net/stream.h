/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_STREAM_H
#define NET_STREAM_H

/*
 * One client connection of a protocol that we speak ourselves (redis, amqp, kafka, mongo): name and
 * TCP by net/dial, TLS, then bytes in both directions. It accounts for its descriptor
 * (net/descriptors) and for unfinished answers (net/answers), holds the deadline of each step,
 * gathers writes until the end of the round of callbacks, and explains its end. It knows no
 * protocol, and never reconnects by itself.
 *
 * A member of the protocol's link, which knows what the bytes mean. Callbacks come from the loop,
 * never from inside a function here. Each of them may close the stream, open it again, or free it
 * together with its owner.
 */

#include <openssl/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "net/answers.h"
#include "net/descriptors.h"
#include "net/endpoint.h"
#include "net/loop.h"

struct bufferevent;
struct dial;
struct evbuffer;

#define STREAM_CONNECT_MS 5000 /* the usual limit_ms of struct stream_server */

struct stream_events {
	void (*opened)(void *arg); /* connected, TLS included: stream_write may follow */
	/*
	 * Takes the first message of the input, once all of it is there: 1, and *used, the bytes of
	 * the input that are done with; they stay where they are until this returns. 0: more bytes
	 * are needed; -1 with err: the stream is of no use any more, lost follows. Called again
	 * until it is not 1.
	 */
	int (*take)(void *arg, struct evbuffer *input, size_t *used, struct err *err);
	/*
	 * It could not be opened, or is lost: close it. why begins with the step that was under
	 * way, unless take has given it after `recognised`. ended: by the peer or the network.
	 */
	void (*lost)(void *arg, const struct err *why, bool ended);
	/*
	 * What to try, as " (is TLS needed here?)", or "": said behind an end that does not explain
	 * itself: the peer's, a time-out, or an error of take before `recognised`. Asked once it is
	 * opened.
	 */
	const char *(*hint)(const void *arg);
};

/* Whom to connect to; what it points to is borrowed until the stream is closed. */
struct stream_server {
	const char *host; /* as of dial_start */
	uint16_t port;
	const struct endpoint *endpoint; /* namespace, TLS configuration */
	const char *tls_name;            /* to verify; NULL: no TLS */
	SSL_CTX **context;               /* several streams' TLS context, made when it is NULL; NULL: one of its own */
	int64_t limit_ms;                /* for name and TCP; then as long again for TLS */
};

struct stream {
	struct loop *loop;
	const struct stream_events *events;
	void *arg;
	const char *step;    /* "connecting", "TLS handshake", the protocol's; NULL: none is under way */
	int64_t received_ms; /* when the last bytes came, or it was opened; loop clock */
	/* Set by the protocol; cleared at each opening. */
	bool recognised; /* the server speaks the protocol: errors of take explain themselves */
	size_t kept;     /* bytes of an unfinished message that are not in the input any more */

	/* The rest is net/stream's. */
	struct stream_server server;
	struct dial *dial;
	struct descriptors_hold hold;
	struct answers_hold bytes;
	struct bufferevent *bev; /* NULL until there is a socket */
	SSL_CTX *context;        /* its own; made at the first connection */
	SSL *ssl;                /* owned by bev; NULL: plain */
	struct loop_timer deadline;
	bool *closed; /* of take's caller, while it is on the stack */
};

void stream_init(struct stream *s, struct loop *loop, const struct stream_events *events, void *arg);
void stream_open(struct stream *s, const struct stream_server *server); /* copies server */
void stream_close(struct stream *s);              /* in any state; may be opened again; "step" is NULL then */
void stream_done(struct stream *s);               /* closes it */
bool stream_is_connected(const struct stream *s); /* TCP is, at least */

/*
 * Begins a step of the protocol: it is named in what goes wrong, and times out after limit_ms, 0:
 * when the one before it would have, STREAM_UNTIMED: never.
 */
#define STREAM_UNTIMED (-1)
void stream_step(struct stream *s, const char *step, int64_t limit_ms); /* borrows step */
void stream_ready(struct stream *s);                                    /* no step, no deadline any more */
/* -1 with err, of too long a wait: "login: timed out", or without a step "no answer in time". */
int stream_timed_out(const struct stream *s, struct err *err);

/*
 * From `opened` on. The bytes are sent at the end of this round of callbacks, with what others
 * write until then.
 */
void stream_write(struct stream *s, const void *bytes, size_t len);
/* Takes malloc'ed bytes, copies them nowhere, and wipes them when they are sent or given up. */
void stream_write_secret(struct stream *s, void *bytes, size_t len);
/* The same, of a buffer's content. */
void stream_write_frame(struct stream *s, struct buf *frame);
/*
 * Last words before stream_close, sent at once or not at all: not behind others that have not gone
 * out. Servers log a connection that ends without them as lost.
 */
void stream_write_last(struct stream *s, const void *bytes, size_t len);

/*
 * TLS over a connected socket, of a session that the caller has set up; the handshake begins at
 * once. The bufferevent owns both. NULL with err: the session is freed, the socket is not. For
 * net/pg/pgpump, whose server is asked for TLS first.
 */
struct bufferevent *stream_tls(struct loop *loop, int fd, SSL *ssl, struct err *err);

#endif
