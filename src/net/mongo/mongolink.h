/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_MONGO_MONGOLINK_H
#define NET_MONGO_MONGOLINK_H

/*
 * The stream to one server: dialling, TLS, then messages, one question at a time, each answered by
 * one document. Knows nothing of what they say. net/mongo/mongo owns it, and counts the time.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "net/loop.h"
#include "net/mongo/mongoendpoint.h"
#include "net/mongo/mongowire.h"

/*
 * From the loop, never before a function here has returned. Any of them may free the link; after
 * on_lost nothing else can be done with it.
 */
struct mongolink_events {
	void (*on_open)(void *arg);
	void (*on_answer)(void *arg, struct mongowire_document answer); /* borrowed for the call */
	void (*on_lost)(void *arg, const struct err *why);
};

struct mongolink;
/* host and e are borrowed. limit_ms: for name and TCP. */
struct mongolink *mongolink_new(struct loop *loop, struct mongoendpoint *e, const struct mongoendpoint_host *host,
	int64_t limit_ms, const struct mongolink_events *events, void *arg);
void mongolink_free(struct mongolink *l); /* NULL is fine */

int32_t mongolink_number(struct mongolink *l); /* for the next message */
/* Takes the message's content. Only when it is open and no other question waits. */
void mongolink_send(struct mongolink *l, struct buf *message);
/* What it does, for messages: "connecting", "TLS handshake", or NULL once it is open. */
const char *mongolink_doing(const struct mongolink *l);

#endif
