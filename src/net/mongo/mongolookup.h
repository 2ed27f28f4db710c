/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_MONGO_MONGOLOOKUP_H
#define NET_MONGO_MONGOLOOKUP_H

/*
 * Asks for the SRV and TXT records of an endpoint's seed (mongodb+srv), both at once, through
 * net/dns, which keeps and limits them; net/mongo/mongoseeds says what they mean. net/mongo/mongo
 * owns a lookup, and counts the time.
 */

#include "base/err.h"
#include "net/loop.h"
#include "net/mongo/mongoseeds.h"

struct mongolookup;

/*
 * seeds: the receiver takes what is in it; NULL with err, which names the record and what to do.
 * From the loop, once, never before mongolookup_new has returned; the receiver may free the lookup.
 */
typedef void (*mongolookup_fn)(void *arg, struct mongoseeds *seeds, const struct err *err);

struct mongolookup *mongolookup_new(struct loop *loop, const struct mongoendpoint *e, mongolookup_fn fn, void *arg);
void mongolookup_free(struct mongolookup *l); /* no callback any more; NULL is fine */

#endif
