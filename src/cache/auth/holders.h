/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_AUTH_HOLDERS_H
#define CACHE_AUTH_HOLDERS_H

/*
 * Who needs what: owners (ScaledObjects, by key) ask for things in rounds, and what an owner did
 * not ask for again by the end of a round it does not hold any more. A thing that nobody holds
 * goes. The same book is kept for tokens, files, values of Vault and TriggerAuthentications; what
 * the things are and how they are read is their module's own.
 */

#include <stdbool.h>

#include "base/hash.h"

struct hold;
struct holder;

struct held { /* stands first in the thing, which its module allocates and frees */
	char *key;
	struct hold *holds;
	UT_hash_handle hh;
};

struct holders { /* a value; lives inside its module */
	struct held *things;
	struct holder *owners;
	void (*on_unheld)(void *arg, struct held *thing); /* frees it; it is in no list any more */
	void *arg;
};

void holders_init(struct holders *h, void (*on_unheld)(void *arg, struct held *thing), void *arg);
void holders_done(struct holders *h);

void holders_begin(struct holders *h, const char *owner);
void holders_end(struct holders *h, const char *owner);
void holders_release(struct holders *h, const char *owner); /* it holds nothing any more */

struct held *holders_find(const struct holders *h, const char *key); /* NULL */
/* a new one; somebody takes it before the round ends */
void holders_add(struct holders *h, struct held *thing, const char *key);
void holders_take(struct holders *h, const char *owner, struct held *thing); /* between the owner's begin and end */

/* Calls fn for each owner. fn only takes note: it asks for nothing, and releases nothing. */
void holders_tell(const struct held *thing, void (*fn)(void *arg, const char *owner), void *arg);

#endif
