/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_MONGO_MONGOLINK_H
#define NET_MONGO_MONGOLINK_H

/*
 * The stream to one server: dialling, TLS, then messages. Each command is answered by one document
 * before the next one is sent. It does not interpret them. net/mongo/mongo owns it, and keeps its
 * deadlines.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "net/loop.h"
#include "net/mongo/mongoendpoint.h"
#include "net/mongo/mongowire.h"

/*
 * Called from the loop, never from inside a function here. Each may free the link; after on_lost
 * nothing else can be done with it.
 */
struct mongolink_events {
	void (*on_open)(void *arg);
	void (*on_answer)(void *arg, struct mongowire_document answer); /* borrowed for the call */
	void (*on_lost)(void *arg, const struct err *why);
};

struct mongolink;
/* host and e: borrowed. limit_ms: for name and TCP. */
struct mongolink *mongolink_new(struct loop *loop, struct mongoendpoint *e, const struct mongoendpoint_host *host,
	int64_t limit_ms, const struct mongolink_events *events, void *arg);
void mongolink_free(struct mongolink *l); /* NULL is fine */

int32_t mongolink_number(struct mongolink *l); /* for the next message */
/* Takes the message's content. Only when open, with no answer outstanding. */
void mongolink_send(struct mongolink *l, struct buf *message);
/* The step in progress, for messages: "connecting", "TLS handshake"; NULL once open. */
const char *mongolink_doing(const struct mongolink *l);

#endif
