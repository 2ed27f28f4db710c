/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_AUTH_HOLDERS_H
#define CACHE_AUTH_HOLDERS_H

/*
 * Tracks what each object uses: keys of Secrets and ConfigMaps, tokens, files, values of Vault,
 * TriggerAuthentications, descriptions of external scalers. An object requests all it needs in one
 * round; what it did not request in the round is released at its end, and a thing without holders
 * is freed. What the things are and how they are read is up to their modules.
 */

#include <stdbool.h>

#include "base/hash.h"
#include "cache/objects/object.h"

struct hold;

struct held { /* first member of the thing, which its module allocates and frees */
	struct holders *holders;
	char *key; /* owned; NULL: looked up by its module in another way */
	struct hold *holds;
	struct hold *latest; /* the last taken: a round asks for the same thing once for each trigger; NULL */
	UT_hash_handle hh;
};

/* the things of one kind; a value embedded in its module */
struct holders {
	struct held *things;                              /* those with a key */
	void (*on_unheld)(void *arg, struct held *thing); /* frees it; it has been removed from all lists */
	/* called with OBJECT_NEEDS for holders of a changed thing; NULL */
	object_fn fn;
	void *arg, *fn_arg;
	bool together; /* between holders_notify_begin and _end */
};

void holders_init(struct holders *h, void (*on_unheld)(void *arg, struct held *thing), void *arg);
void holders_listen(struct holders *h, object_fn fn, void *arg); /* one listener; it only queues work */
void holders_done(struct holders *h);                            /* frees all things, held or not */

struct held *holders_find(const struct holders *h, const char *key); /* NULL */
/* adds a new thing, to be taken before the round ends; key NULL: not found by holders_find */
void holders_add(struct holders *h, struct held *thing, const char *key);
void holders_drop(struct held *thing); /* frees it, held or not */
/* Notifies every holder once. */
void holders_notify(const struct held *thing);
/*
 * For several things that changed together, such as the keys of one Secret: between begin and end
 * holders_notify skips holders that it has notified already.
 */
void holders_notify_begin(struct holders *h);
void holders_notify_end(struct holders *h);

/* ---- An object's round, over the things of all kinds ---- */

void holdings_begin(struct object *o);
void holdings_take(struct object *o, struct held *thing); /* between begin and end */
bool holdings_has(const struct object *o, const struct held *thing);
void holdings_end(struct object *o);
/* Calls fn for each thing of this kind that the object holds; fn must not take or release any. */
void holdings_each(const struct object *o, const struct holders *kind, void (*fn)(void *arg, struct held *thing),
	void *arg);
void holdings_release(struct object *o); /* releases everything it holds */

#endif
