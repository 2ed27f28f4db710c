/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_AMQP_AMQPLINK_H
#define NET_AMQP_AMQPLINK_H

/*
 * One connection to an AMQP 0-9-1 server: dialling, TLS, login (PLAIN or EXTERNAL), vhost,
 * channels, heartbeats, passive declarations, and an explanation of its end. A connection of
 * net/amqp/amqp's pool, to which it reports (net/pool.h); its channels are the lanes.
 *
 * Declaring a queue that does not exist costs the channel: the server closes it, and drops what
 * else was sent on it. The link reopens the channel; the pool repeats the dropped declarations.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/amqp/amqpendpoint.h"
#include "net/pool.h"
#include "net/stream.h"

#define AMQPLINK_CHANNELS 8 /* numbered from 0; a server may allow fewer */

struct amqplink_call {
	struct pool_call base; /* its query: the queue's name */
	uint32_t messages;     /* the answer */
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
	struct pool_slot *slot;
	enum amqplink_state state;
	size_t channels; /* channels in use: as many as the server allows */
	bool open[AMQPLINK_CHANNELS];
	unsigned beats;  /* heartbeats received since the last method, or since our last heartbeat */
	int64_t beat_ms; /* heartbeat interval; 0: none */
	struct loop_timer beat;
};

void amqplink_init(struct amqplink *l, struct pool_slot *slot, const struct amqpendpoint *e);
void amqplink_open(struct amqplink *l);
/*
 * Only on an open channel. Sent at the end of this round of callbacks, together with what follows
 * until then.
 */
void amqplink_declare(struct amqplink *l, size_t channel, const char *queue);
void amqplink_close(struct amqplink *l); /* in any state, if open with connection.close; may be reopened */
void amqplink_done(struct amqplink *l);

#endif
