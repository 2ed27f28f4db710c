/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distributes changes to the parts, in this order only. Each part only queues work, so the order is
 * that of dependence: the target before the scalers that read its environment, these before their
 * users.
 */
#include "cache/cache.h"

#include "cache/readings/lastpoll.h"

static void on_object(void *arg, struct object *o, unsigned changes)
{
	struct cache *c = arg;

	if (changes & OBJECT_GONE)
		targets_release(o);
	else if (c->targetref)
		targetref_follow(c->targetref, o, changes);
	scalers_follow(o, changes);
	journal_follow(c->store, o, changes);
	if (changes & OBJECT_GONE) {
		lastpoll_forget(o);
		health_forget_object(o);
	}
	for (size_t i = 0; i < c->listener_count; i++)
		if (c->listeners[i].events.on_object)
			c->listeners[i].events.on_object(c->listeners[i].arg, o, changes);
}

static void on_triggerauth(void *arg, const char *key)
{
	struct cache *c = arg;

	if (c->lookups)
		lookups_follow(c->lookups, key);
	for (size_t i = 0; i < c->listener_count; i++)
		if (c->listeners[i].events.on_triggerauth)
			c->listeners[i].events.on_triggerauth(c->listeners[i].arg, key);
}

static void on_synced(void *arg)
{
	struct cache *c = arg;

	if (c->targets)
		targets_open(c->targets);
	for (size_t i = 0; i < c->listener_count; i++)
		if (c->listeners[i].events.on_synced)
			c->listeners[i].events.on_synced(c->listeners[i].arg);
}

void cache_connect(struct cache *c)
{
	static const struct store_events events = { on_object, on_triggerauth, on_synced };

	store_listen(c->store, &events, c);
	if (c->targets)
		targets_listen(c->targets, on_object, c);
	if (c->targetref)
		targetref_listen(c->targetref, on_object, c);
	if (c->lookups)
		lookups_listen(c->lookups, on_object, c);
	if (c->descriptions)
		descriptions_listen(c->descriptions, on_object, c);
}

void cache_listen(struct cache *c, const struct store_events *events, void *arg)
{
	if (c->listener_count == CACHE_LISTENERS_MAX)
		return;
	c->listeners[c->listener_count].events = *events;
	c->listeners[c->listener_count++].arg = arg;
}

void cache_forget(struct cache *c)
{
	c->listener_count = 0;
	store_clear(c->store);
}
