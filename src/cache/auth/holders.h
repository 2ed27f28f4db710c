/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_AUTH_HOLDERS_H
#define CACHE_AUTH_HOLDERS_H

/*
 * Who needs what: THE book of what objects hold, whatever it is: keys of Secrets and ConfigMaps,
 * tokens, files, values of Vault, TriggerAuthentications, what an external scaler says of its
 * metrics. An object asks for all that it needs in one round, and what it did not ask for again by
 * the end of the round it does not hold any more; a thing that nobody holds goes. What the things
 * are and how they are read is their module's own.
 */

#include <stdbool.h>

#include "base/hash.h"
#include "cache/objects/object.h"

struct hold;

struct held { /* stands first in the thing, which its module allocates and frees */
	struct holders *holders;
	char *key; /* owned; NULL: its module finds it in its own way */
	struct hold *holds;
	UT_hash_handle hh;
};

struct holders {                                          /* the things of one kind; a value; lives inside its module */
	struct held *things;                              /* those with a key */
	void (*on_unheld)(void *arg, struct held *thing); /* frees it; it is in no list any more */
	object_fn fn;                                     /* OBJECT_NEEDS of who holds what changed; NULL */
	void *arg, *fn_arg;
};

void holders_init(struct holders *h, void (*on_unheld)(void *arg, struct held *thing), void *arg);
void holders_listen(struct holders *h, object_fn fn, void *arg); /* one; it only takes note */
void holders_done(struct holders *h);                            /* all things go, whoever holds them */

struct held *holders_find(const struct holders *h, const char *key); /* NULL */
/* a new one; somebody takes it before the round ends; key NULL: holders_find does not find it */
void holders_add(struct holders *h, struct held *thing, const char *key);
void holders_drop(struct held *thing); /* it goes, whoever holds it */
/* Tells everyone who holds it, once each. */
void holders_tell(const struct held *thing);

/* ---- An object's round, over the things of all kinds ---- */

void holdings_begin(struct object *o);
void holdings_take(struct object *o, struct held *thing); /* between begin and end */
bool holdings_has(const struct object *o, const struct held *thing);
void holdings_end(struct object *o);
void holdings_release(struct object *o); /* it holds nothing any more */

#endif
