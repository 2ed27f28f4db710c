/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_MONGO_MONGOLOOKUP_H
#define NET_MONGO_MONGOLOOKUP_H

/*
 * Looks up the SRV and TXT records of an endpoint's seed (mongodb+srv), in parallel, through
 * net/dns, which caches and limits lookups; net/mongo/mongoseeds interprets them. net/mongo/mongo
 * owns a lookup, and keeps its deadline.
 */

#include "base/err.h"
#include "net/loop.h"
#include "net/mongo/mongoseeds.h"

struct mongolookup;

/*
 * seeds: the receiver takes its content; NULL with err, which names the record and what to do.
 * Called from the loop, once, never before mongolookup_new has returned; may free the lookup.
 */
typedef void (*mongolookup_fn)(void *arg, struct mongoseeds *seeds, const struct err *err);

struct mongolookup *mongolookup_new(struct loop *loop, const struct mongoendpoint *e, mongolookup_fn fn, void *arg);
void mongolookup_free(struct mongolookup *l); /* no callback follows; NULL is fine */

#endif
