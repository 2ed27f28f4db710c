/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distributes changes to the parts, in this order only. Each part only queues work, so the order
 * follows the dependencies: the target before the scalers that read its environment, these before
 * their users. The parts are created in that order, too, and freed in reverse.
 */
#include "cache/cache.h"

#include <stdlib.h>

#include "base/mem.h"
#include "cache/readings/lastpoll.h"
#include "scalers/sources.h"

static void on_object(void *arg, struct object *o, unsigned changes)
{
	struct cache *c = arg;

	if (changes & OBJECT_GONE)
		targets_release(o);
	else
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

	lookups_follow(c->lookups, key);
	for (size_t i = 0; i < c->listener_count; i++)
		if (c->listeners[i].events.on_triggerauth)
			c->listeners[i].events.on_triggerauth(c->listeners[i].arg, key);
}

static void on_synced(void *arg)
{
	struct cache *c = arg;

	targets_open(c->targets);
	for (size_t i = 0; i < c->listener_count; i++)
		if (c->listeners[i].events.on_synced)
			c->listeners[i].events.on_synced(c->listeners[i].arg);
}

static void connect_parts(struct cache *c)
{
	static const struct store_events events = { on_object, on_triggerauth, on_synced };

	store_listen(c->store, &events, c);
	targets_listen(c->targets, on_object, c);
	targetref_listen(c->targetref, on_object, c);
	lookups_listen(c->lookups, on_object, c);
	descriptions_listen(c->descriptions, on_object, c);
}

struct cache *cache_new(const struct cache_config *config)
{
	struct cache *c = mem_zalloc(sizeof(*c));
	struct kube *kube = config->kube;

	c->loop = config->sources->loop;
	c->counters = config->counters;
	c->store = store_new(kube, c->counters);
	c->jobs = jobs_new(kube, c->loop, c->counters);
	c->kinds = kinds_new(kube);
	c->targets = targets_new(kube, c->kinds);
	c->targetref = targetref_new(c->store, c->targets, c->kinds);
	c->references = references_new(kube);
	c->lookups = lookups_new(kube, c->store, c->references, config->vault, &config->lookups);
	c->descriptions = descriptions_new(config->sources, config->readings.ask_timeout_ms);
	c->readings = readings_new(config->sources, &config->readings);
	c->scalers = scalers_new(c->store, c->lookups, c->descriptions, &c->questions);
	c->pushes = pushes_new(config->sources, c->scalers, c->counters, config->watches_max);
	c->health = health_new(c->store, &c->leadership);
	c->admit = admit_new(c->store, kube, lookups_rules(c->lookups));
	connect_parts(c);
	return c;
}

void cache_start(struct cache *c, const char *const *namespaces, size_t count)
{
	targets_start(c->targets, namespaces, count);
	jobs_start(c->jobs, namespaces, count);
	store_start(c->store, namespaces, count);
}

void cache_free(struct cache *c)
{
	if (!c)
		return;
	c->listener_count = 0;
	/* Parts release what they keep for an object while all parts are still there. */
	store_clear(c->store);
	admit_free(c->admit);
	health_free(c->health);
	pushes_free(c->pushes);
	scalers_free(c->scalers);
	readings_free(c->readings);
	descriptions_free(c->descriptions);
	lookups_free(c->lookups);
	references_free(c->references);
	targetref_free(c->targetref);
	targets_free(c->targets);
	kinds_free(c->kinds);
	jobs_free(c->jobs);
	store_free(c->store);
	free(c);
}

void cache_listen(struct cache *c, const struct store_events *events, void *arg)
{
	if (c->listener_count == CACHE_LISTENERS_MAX)
		return;
	c->listeners[c->listener_count].events = *events;
	c->listeners[c->listener_count++].arg = arg;
}
