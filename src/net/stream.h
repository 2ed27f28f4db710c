/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_STREAM_H
#define NET_STREAM_H

/*
 * One client connection of a protocol that kscaled implements itself (redis, amqp, kafka, mongo):
 * dials by net/dial, does TLS, then carries bytes in both directions. It accounts for its
 * descriptor (net/descriptors) and for unfinished answers (net/answers), keeps the deadline of each
 * step, gathers writes until the end of the round of callbacks, and explains why it ended. It knows
 * no protocol and never reconnects by itself.
 *
 * It is a member of the protocol's link, which interprets the bytes. Callbacks come from the loop,
 * never from inside a function here. Each may close the stream, reopen it, or free it together with
 * its owner.
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
	void (*opened)(void *arg); /* connected, TLS included; stream_write may follow */
	/*
	 * Takes the first message of the input once it is complete. 1: taken; *used is the number
	 * of input bytes consumed, which stay in place until take returns. 0: incomplete. -1 with
	 * err: the stream is unusable; lost follows. Called again while it returns 1.
	 */
	int (*take)(void *arg, struct evbuffer *input, size_t *used, struct err *err);
	/*
	 * Opening failed, or the connection is lost: close it. why begins with the step in
	 * progress, unless it comes from take after `recognised`. ended: by the peer or the
	 * network.
	 */
	void (*lost)(void *arg, const struct err *why, bool ended);
	/*
	 * What to try, such as " (is TLS needed here?)", or "". Appended to an end that does not
	 * explain itself: the peer's, a time-out, or an error of take before `recognised`. Called
	 * only once it has opened.
	 */
	const char *(*hint)(const void *arg);
};

/* Where to connect. Pointers are borrowed until the stream is closed. */
struct stream_server {
	const char *host; /* as for dial_start */
	uint16_t port;
	const struct endpoint *endpoint; /* namespace, TLS configuration */
	const char *tls_name;            /* to verify; NULL: no TLS */
	/*
	 * TLS context shared by several streams, made if it is NULL; NULL: the stream has its own
	 */
	SSL_CTX **context;
	int64_t limit_ms; /* for name and TCP; the same again for TLS */
};

struct stream {
	struct loop *loop;
	const struct stream_events *events;
	void *arg;
	const char *step;    /* "connecting", "TLS handshake", or the protocol's; NULL: none in progress */
	int64_t received_ms; /* when bytes last arrived, or it opened; loop clock */
	/* Set by the protocol; cleared when the stream closes. */
	bool recognised; /* the server speaks the protocol, so errors of take explain themselves */
	size_t kept;     /* bytes of an unfinished message that were taken out of the input */

	/* The rest is private to net/stream. */
	struct stream_server server;
	struct dial *dial;
	struct descriptors_hold hold;
	struct answers_hold bytes;
	struct bufferevent *bev; /* NULL until there is a socket */
	SSL_CTX *context;        /* its own; made for the first connection */
	SSL *ssl;                /* owned by bev; NULL: plain */
	struct loop_timer deadline;
	bool *closed; /* a flag of take_all, while it is on the stack */
};

void stream_init(struct stream *s, struct loop *loop, const struct stream_events *events, void *arg);
void stream_open(struct stream *s, const struct stream_server *server); /* copies server */
void stream_close(struct stream *s);              /* in any state; may be reopened; clears `step` */
void stream_done(struct stream *s);               /* closes and frees what it owns */
bool stream_is_connected(const struct stream *s); /* at least over TCP */

/*
 * Begins a step of the protocol. Errors name it. It times out after limit_ms; 0: at the previous
 * step's time; STREAM_UNTIMED: never.
 */
#define STREAM_UNTIMED (-1)
void stream_step(struct stream *s, const char *step, int64_t limit_ms); /* borrows step */
void stream_ready(struct stream *s);                                    /* ends the step and its deadline */
/* Sets err to "login: timed out", or without a step "no answer in time"; returns -1. */
int stream_timed_out(const struct stream *s, struct err *err);

/*
 * Only after `opened`. The bytes are sent at the end of this round of callbacks, together with what
 * is written until then.
 */
void stream_write(struct stream *s, const void *bytes, size_t len);
/* Takes malloc'ed bytes, makes no copy, and wipes them once they are sent or dropped. */
void stream_write_secret(struct stream *s, void *bytes, size_t len);
/* The same for a buffer's content. */
void stream_write_frame(struct stream *s, struct buf *frame);
/*
 * A farewell before stream_close, sent at once, or not at all if earlier bytes are still unsent.
 * Servers log a connection that ends without one as lost.
 */
void stream_write_last(struct stream *s, const void *bytes, size_t len);

/*
 * Starts TLS on a connected socket, with a session that the caller has set up. The bufferevent owns
 * both. NULL with err: the session is freed, the socket is not. For net/pg/pgpump, whose server
 * must be asked for TLS first.
 */
struct bufferevent *stream_tls(struct loop *loop, int fd, SSL *ssl, struct err *err);

#endif
