/* SPDX-License-Identifier: Apache-2.0 */
#include "net/redis/redisroute.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/mem.h"
#include "net/dial.h"
#include "net/redis/redisendpoint.h"
#include "net/redis/redisfanout.h"
#include "net/redis/redisreply.h"

#define IDLE_MS        300000
#define SEED_MS        3000 /* for one seed's reply */
#define REFRESH_GAP_MS 250  /* between two successful refreshes */
#define FOLLOW_MAX_MS  5000 /* with followers the map is refreshed this often, even without commands */

int64_t redisroute_now_ms(const struct redisroute *r)
{
	return loop_now_ms(r->router->loop);
}

static int64_t at_least(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void map_drop(struct redisroute *r)
{
	for (size_t i = 0; r->servers && i < r->map.count; i++)
		endpoint_unref(r->servers[i]);
	mem_free_ptr(&r->servers);
	redismap_done(&r->map);
}

static struct redisendpoint *server_at(struct redisroute *r, size_t i, struct err *err)
{
	if (!r->servers[i])
		r->servers[i] = redisendpoint_at(r->topology->like, r->map.addresses[i], err);
	return r->servers[i];
}

struct redisendpoint *redisroute_server(struct redisroute *r, unsigned slot, struct err *err)
{
	const char *address = redismap_find(&r->map, slot);
	size_t i = 0;

	if (!address) {
		err_set(err, ERR_TEMPORARY, "%s: no node serves slot %u", r->topology->name, slot);
		return NULL;
	}
	while (r->map.addresses[i] != address)
		i++;
	return server_at(r, i, err);
}

void redisroute_schedule(struct redisroute *r)
{
	int64_t due_ms;

	if (r->fanout) {
		loop_timer_cancel(&r->timer);
		return;
	}
	if (r->stale || r->waiting_count > 0 || (r->followers && (r->wrong || !r->map_ms)))
		due_ms = r->retry_ms;
	else if (r->followers)
		due_ms = at_least(r->retry_ms,
			r->map_ms +
				(r->topology->kind->refresh_ms < FOLLOW_MAX_MS ? r->topology->kind->refresh_ms
									       : FOLLOW_MAX_MS));
	else
		due_ms = r->used_ms + IDLE_MS;
	loop_timer_set(&r->timer, at_least(due_ms - redisroute_now_ms(r), 0));
}

void redisroute_free(struct redisroute *r)
{
	redisfanout_cancel(r->fanout);
	map_drop(r);
	err_keep(&r->err, NULL);
	loop_timer_done(&r->timer);
	HASH_DEL(r->router->routes, r);
	redistopology_unref(r->topology);
	free(r);
}

static void on_timer(void *arg)
{
	struct redisroute *r = arg;

	if (r->calls || r->followers || r->stale)
		redisroute_refresh(r);
	else if (redisroute_now_ms(r) - r->used_ms >= IDLE_MS)
		redisroute_free(r);
	else
		redisroute_schedule(r);
}

void redisroute_notify(struct redisrouter_follower *f)
{
	struct redisroute *r = f->route;
	struct redisendpoint *e = r->map_ms ? redisroute_server(r, f->slot, NULL) : NULL;

	if (!e || (f->reported && strcmp(e->base.name, f->reported->base.name) == 0))
		return;
	endpoint_unref(f->reported);
	f->reported = endpoint_ref(e);
	loop_task_queue(r->router->loop, &f->tell);
}

static int on_accept(void *arg, const struct redisendpoint *from, const struct redis_reply *reply, struct err *err)
{
	struct redisroute *r = arg;
	struct redismap map = { 0 };

	if (r->topology->kind->read(r->topology, from, reply, &map, err))
		return -1;
	map_drop(r);
	r->map = map;
	r->servers = mem_array(map.count, sizeof(struct redisendpoint *));
	r->map_ms = redisroute_now_ms(r);
	return 0;
}

static void on_refreshed(void *arg, const struct err *err)
{
	struct redisroute *r = arg;
	struct redisrouter_follower *f;

	r->fanout = NULL;
	r->wrong = r->stale = false;
	err_keep(&r->err, err);
	r->retry_ms = redisroute_now_ms(r) +
		(err ? loop_backoff_ms(r->failures, DIAL_AGAIN_FIRST_MS, DIAL_AGAIN_MAX_MS) : REFRESH_GAP_MS);
	r->failures = err ? r->failures + 1 : 0;
	r->serve(r);
	DL_FOREACH (r->followers, f)
		redisroute_notify(f);
	redisroute_schedule(r);
}

/*
 * A cluster's nodes serve as seeds, too, as the configured ones may be gone. Adds no more than
 * `room`.
 */
static size_t add_servers(struct redisroute *r, struct redisendpoint **endpoints, size_t room)
{
	size_t count = 0;

	for (size_t i = 0; r->topology->kind->nodes_are_seeds && i < r->map.count && count < room; i++) {
		struct redisendpoint *e = server_at(r, i, NULL);
		bool known = !e;

		for (size_t n = 0; n < r->topology->seed_count && !known; n++)
			known = strcmp(r->topology->seeds[n]->base.name, e->base.name) == 0;
		if (!known)
			endpoints[count++] = e;
	}
	return count;
}

void redisroute_refresh(struct redisroute *r)
{
	struct redisendpoint *endpoints[REDISTOPOLOGY_SEEDS_MAX + REDISFANOUT_TRIES_MAX];
	const char *argv[4];
	size_t count = add_servers(r, endpoints, REDISFANOUT_TRIES_MAX);
	int argc = r->topology->kind->question(r->topology, argv);

	memcpy(endpoints + count, r->topology->seeds, r->topology->seed_count * sizeof(endpoints[0]));
	count += r->topology->seed_count;
	r->fanout = redisfanout_start(r->router->loop, r->router->pool, endpoints, count, argc, argv, SEED_MS,
		on_accept, on_refreshed, r);
	loop_timer_cancel(&r->timer);
}

bool redisroute_may_refresh(const struct redisroute *r)
{
	return !r->fanout && redisroute_now_ms(r) >= r->retry_ms;
}

struct redisroute *redisroute_get(struct redisrouter *router, struct redistopology *topology,
	void (*serve)(struct redisroute *r))
{
	struct redisroute *r;

	HASH_FIND_STR(router->routes, topology->key, r);
	if (r)
		return r;
	r = mem_zalloc(sizeof(*r));
	r->router = router;
	r->topology = redistopology_ref(topology);
	r->serve = serve;
	loop_timer_init(&r->timer, router->loop, on_timer, r);
	HASH_ADD_KEYPTR(hh, router->routes, r->topology->key, strlen(r->topology->key), r);
	return r;
}
