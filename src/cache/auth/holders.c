/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/auth/holders.h"

#include <stdlib.h>
#include <string.h>

#include <utlist.h>

#include "base/mem.h"

struct hold {
	struct object *owner;
	struct held *thing;
	unsigned round;           /* the owner's last round that requested it */
	struct hold *next_owned;  /* list of the owner */
	struct hold *prev, *next; /* list of the thing */
};

/* ---- Things ---- */

void holders_init(struct holders *h, void (*on_unheld)(void *arg, struct held *thing), void *arg)
{
	*h = (struct holders){ .on_unheld = on_unheld, .arg = arg };
}

void holders_listen(struct holders *h, object_fn fn, void *arg)
{
	h->fn = fn;
	h->fn_arg = arg;
}

struct held *holders_find(const struct holders *h, const char *key)
{
	struct held *thing;

	HASH_FIND_STR(h->things, key, thing);
	return thing;
}

void holders_add(struct holders *h, struct held *thing, const char *key)
{
	thing->holders = h;
	thing->key = mem_dup(key);
	thing->holds = thing->latest = NULL;
	if (key)
		HASH_ADD_KEYPTR(hh, h->things, thing->key, strlen(thing->key), thing);
}

/* The number of the last holders_notify_begin, over all kinds. */
static uint64_t telling;

void holders_notify_begin(struct holders *h)
{
	telling++;
	h->together = true;
}

void holders_notify_end(struct holders *h)
{
	h->together = false;
}

void holders_notify(const struct held *thing)
{
	const struct holders *h = thing->holders;
	struct hold *hold;

	if (!h->fn)
		return;
	DL_FOREACH (thing->holds, hold) {
		struct object *o = hold->owner;

		if (h->together && o->holdings.told == telling)
			continue;
		if (h->together)
			o->holdings.told = telling;
		h->fn(h->fn_arg, o, OBJECT_NEEDS);
	}
}

/* Frees a thing without holders. */
static void thing_drop(struct held *thing)
{
	struct holders *h = thing->holders;

	if (thing->key)
		HASH_DELETE(hh, h->things, thing);
	free(thing->key);
	h->on_unheld(h->arg, thing);
}

/* ---- Holds ---- */

static void hold_free(struct hold *hold)
{
	if (hold->thing->latest == hold)
		hold->thing->latest = NULL;
	hold->owner->holdings.count--;
	LL_DELETE2(hold->owner->holdings.holds, hold, next_owned);
	DL_DELETE(hold->thing->holds, hold);
	free(hold);
}

void holders_drop(struct held *thing)
{
	while (thing->holds)
		hold_free(thing->holds);
	thing_drop(thing);
}

void holders_done(struct holders *h)
{
	struct held *thing, *next;

	HASH_ITER (hh, h->things, thing, next)
		holders_drop(thing);
}

/* Releases what was not requested in this round; everything when `all`. */
static void sweep(struct object *o, bool all)
{
	struct hold *hold, *next;

	for (hold = o->holdings.holds; hold; hold = next) {
		struct held *thing = hold->thing;

		next = hold->next_owned;
		if (!all && hold->round == o->holdings.round)
			continue;
		hold_free(hold);
		if (!thing->holds)
			thing_drop(thing);
	}
}

void holdings_begin(struct object *o)
{
	o->holdings.round++;
}

static struct hold *hold_of(const struct object *o, const struct held *thing)
{
	struct hold *hold = thing->latest;

	if (hold && hold->owner == o)
		return hold;
	LL_FOREACH2(o->holdings.holds, hold, next_owned)
	if (hold->thing == thing)
		break;
	return hold;
}

bool holdings_has(const struct object *o, const struct held *thing)
{
	return hold_of(o, thing) != NULL;
}

void holdings_take(struct object *o, struct held *thing)
{
	struct hold *hold = hold_of(o, thing);

	if (!hold) {
		hold = mem_zalloc(sizeof(*hold));
		hold->owner = o;
		hold->thing = thing;
		LL_PREPEND2(o->holdings.holds, hold, next_owned);
		DL_APPEND(thing->holds, hold);
		o->holdings.count++;
	}
	hold->round = o->holdings.round;
	thing->latest = hold;
}

void holdings_each(const struct object *o, const struct holders *kind, void (*fn)(void *arg, struct held *thing),
	void *arg)
{
	struct hold *hold;

	LL_FOREACH2(o->holdings.holds, hold, next_owned)
	if (hold->thing->holders == kind)
		fn(arg, hold->thing);
}

void holdings_end(struct object *o)
{
	sweep(o, false);
}

void holdings_release(struct object *o)
{
	sweep(o, true);
}
