/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_AMQP_AMQPLINK_H
#define NET_AMQP_AMQPLINK_H

/*
 * One connection to an AMQP 0-9-1 server: dialling, TLS, login (PLAIN or EXTERNAL), vhost,
 * channels, heartbeats, passive declarations, and an explanation of its end. Used by net/amqp/amqp,
 * which decides which queue is declared on which channel. It never reconnects by itself, and never
 * calls back from inside its own functions.
 *
 * Declaring a queue that does not exist costs the channel: the server closes it, and drops what
 * else was sent on it. The link reopens the channel; the dropped declarations are up to its owner.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/amqp/amqpendpoint.h"
#include "net/loop.h"
#include "net/stream.h"

#define AMQPLINK_CHANNELS 8 /* numbered from 0; a server may allow fewer */

/* Called from the loop. Each may close the link, but not free it. */
struct amqplink_handler {
	void (*ready)(void *arg, size_t channel); /* the channel is open: declare may follow */
	/* Answers the oldest declaration on this channel. */
	void (*declared)(void *arg, size_t channel, const char *queue, uint32_t messages);
	/*
	 * The oldest declaration on this channel failed, and the later ones were dropped. ready
	 * follows.
	 */
	void (*refused)(void *arg, size_t channel, const struct err *why);
	/* Opening failed, the connection is unusable, or it is lost: close it. */
	void (*failed)(void *arg, const struct err *why);
};

enum amqplink_state {
	AMQPLINK_CLOSED,
	AMQPLINK_CONNECTING,
	AMQPLINK_GREETING, /* waiting for the server's first frame */
	AMQPLINK_LOGGING_IN,
	AMQPLINK_OPENING_VHOST, /* opening the vhost */
	AMQPLINK_OPEN,
};

struct amqplink {
	struct stream stream;
	const struct amqpendpoint *endpoint; /* borrowed */
	const struct amqplink_handler *handler;
	void *arg;
	enum amqplink_state state;
	size_t channels; /* channels in use: as many as the server allows */
	bool open[AMQPLINK_CHANNELS];
	unsigned beats;  /* heartbeats received since the last method, or since our last heartbeat */
	int64_t beat_ms; /* heartbeat interval; 0: none */
	struct loop_timer beat;
};

void amqplink_init(struct amqplink *l, struct loop *loop, const struct amqpendpoint *e,
	const struct amqplink_handler *handler, void *arg);
void amqplink_open(struct amqplink *l);
/*
 * Only on an open channel. Sent at the end of this round of callbacks, together with what follows
 * until then.
 */
void amqplink_declare(struct amqplink *l, size_t channel, const char *queue);
void amqplink_close(struct amqplink *l); /* in any state, if open with connection.close; may be reopened */
void amqplink_done(struct amqplink *l);

#endif
