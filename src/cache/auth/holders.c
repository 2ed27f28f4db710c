/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/auth/holders.h"

#include <stdlib.h>
#include <string.h>

#include <utlist.h>

#include "base/mem.h"

struct hold {
	struct holder *owner;
	struct held *thing;
	unsigned round;           /* the owner's round in which it was asked for last */
	struct hold *next_owned;  /* among those of the owner */
	struct hold *prev, *next; /* among those of the thing */
};

struct holder {
	char *key;
	unsigned round;
	struct hold *holds;
	UT_hash_handle hh;
};

void holders_init(struct holders *h, void (*on_unheld)(void *arg, struct held *thing), void *arg)
{
	*h = (struct holders){ .on_unheld = on_unheld, .arg = arg };
}

static struct holder *owner_find(const struct holders *h, const char *key)
{
	struct holder *owner;

	HASH_FIND_STR(h->owners, key, owner);
	return owner;
}

static void thing_drop(struct holders *h, struct held *thing)
{
	HASH_DELETE(hh, h->things, thing);
	free(thing->key);
	h->on_unheld(h->arg, thing);
}

static void hold_drop(struct holders *h, struct hold *hold)
{
	struct held *thing = hold->thing;

	DL_DELETE(thing->holds, hold);
	free(hold);
	if (!thing->holds)
		thing_drop(h, thing);
}

static void owner_drop(struct holders *h, struct holder *owner)
{
	HASH_DELETE(hh, h->owners, owner);
	free(owner->key);
	free(owner);
}

/* What was not asked for in this round; all of it when `all`. */
static void sweep(struct holders *h, struct holder *owner, bool all)
{
	struct hold **link = &owner->holds, *hold;

	while ((hold = *link) != NULL) {
		if (!all && hold->round == owner->round) {
			link = &hold->next_owned;
			continue;
		}
		*link = hold->next_owned;
		hold_drop(h, hold);
	}
	if (!owner->holds)
		owner_drop(h, owner);
}

void holders_done(struct holders *h)
{
	struct holder *owner, *next_owner;
	struct held *thing, *next_thing;

	HASH_ITER (hh, h->owners, owner, next_owner)
		sweep(h, owner, true);
	HASH_ITER (hh, h->things, thing, next_thing)
		thing_drop(h, thing);
}

void holders_begin(struct holders *h, const char *key)
{
	struct holder *owner = owner_find(h, key);

	if (owner)
		owner->round++;
}

void holders_end(struct holders *h, const char *key)
{
	struct holder *owner = owner_find(h, key);

	if (owner)
		sweep(h, owner, false);
}

void holders_release(struct holders *h, const char *key)
{
	struct holder *owner = owner_find(h, key);

	if (owner)
		sweep(h, owner, true);
}

struct held *holders_find(const struct holders *h, const char *key)
{
	struct held *thing;

	HASH_FIND_STR(h->things, key, thing);
	return thing;
}

void holders_add(struct holders *h, struct held *thing, const char *key)
{
	thing->key = mem_dup(key);
	thing->holds = NULL;
	HASH_ADD_KEYPTR(hh, h->things, thing->key, strlen(thing->key), thing);
}

static struct holder *owner_get(struct holders *h, const char *key)
{
	struct holder *owner = owner_find(h, key);

	if (owner)
		return owner;
	owner = mem_zalloc(sizeof(*owner));
	owner->key = mem_dup(key);
	HASH_ADD_KEYPTR(hh, h->owners, owner->key, strlen(owner->key), owner);
	return owner;
}

void holders_take(struct holders *h, const char *key, struct held *thing)
{
	struct holder *owner = owner_get(h, key);
	struct hold *hold;

	LL_FOREACH2(owner->holds, hold, next_owned)
	if (hold->thing == thing)
		break;
	if (!hold) {
		hold = mem_zalloc(sizeof(*hold));
		hold->owner = owner;
		hold->thing = thing;
		LL_PREPEND2(owner->holds, hold, next_owned);
		DL_APPEND(thing->holds, hold);
	}
	hold->round = owner->round;
}

void holders_tell(const struct held *thing, void (*fn)(void *arg, const char *owner), void *arg)
{
	struct hold *hold;

	DL_FOREACH (thing->holds, hold)
		fn(arg, hold->owner->key);
}
