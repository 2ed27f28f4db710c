/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_AMQP_AMQPLINK_H
#define NET_AMQP_AMQPLINK_H

/*
 * One connection to an AMQP 0-9-1 server: dialling, TLS, the login (PLAIN or EXTERNAL), the vhost,
 * channels, heartbeats, passive declarations, and the reason of its end in words. Used by
 * net/amqp/amqp, which says which queue is asked for on which channel. It never reconnects by
 * itself, and calls nobody from inside its own functions.
 *
 * A queue that is not there costs its channel: the server closes it and drops what else came on it.
 * The link opens it again by itself; the questions are its owner's.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/amqp/amqpendpoint.h"
#include "net/loop.h"
#include "net/stream.h"

#define AMQPLINK_CHANNELS 8 /* numbered from 0; a server may allow fewer */

/* Called from the loop. Each of them may close the link, but not free it. */
struct amqplink_handler {
	void (*ready)(void *arg, size_t channel); /* it is open: declare may follow */
	/* The answer to the oldest declaration on this channel. */
	void (*declared)(void *arg, size_t channel, const char *queue, uint32_t messages);
	/*
	 * The oldest declaration on this channel failed, and the younger ones were dropped; ready
	 * follows.
	 */
	void (*refused)(void *arg, size_t channel, const struct err *why);
	/* It could not be opened, cannot be used, or is lost: close it. */
	void (*failed)(void *arg, const struct err *why);
};

enum amqplink_state {
	AMQPLINK_CLOSED,
	AMQPLINK_CONNECTING,
	AMQPLINK_GREETING, /* the server's first words are due */
	AMQPLINK_LOGGING_IN,
	AMQPLINK_ENTERING, /* the vhost */
	AMQPLINK_OPEN,
};

struct amqplink {
	struct stream stream;
	const struct amqpendpoint *endpoint; /* borrowed */
	const struct amqplink_handler *handler;
	void *arg;
	enum amqplink_state state;
	size_t channels; /* how many the server allows, and we use */
	bool open[AMQPLINK_CHANNELS];
	unsigned beats;  /* heartbeats since the last method, or beat of ours */
	int64_t beat_ms; /* heartbeats; 0: none */
	struct loop_timer beat;
};

void amqplink_init(struct amqplink *l, struct loop *loop, const struct amqpendpoint *e,
	const struct amqplink_handler *handler, void *arg);
void amqplink_open(struct amqplink *l);
/* On an open channel. Sent at the end of this round of callbacks, with what follows until then. */
void amqplink_declare(struct amqplink *l, size_t channel, const char *queue);
void amqplink_close(struct amqplink *l); /* in any state; an open one says good-bye; may be opened again */
void amqplink_done(struct amqplink *l);

#endif
