/* SPDX-License-Identifier: Apache-2.0 */
#include "net/redis/redisway.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/mem.h"
#include "net/dial.h"
#include "net/redis/redisendpoint.h"
#include "net/redis/redisreply.h"
#include "net/redis/redisround.h"

#define IDLE_MS       300000
#define GUIDE_MS      3000 /* for one guide's reply */
#define ROUND_GAP_MS  250  /* between two successful rounds */
#define FOLLOW_MAX_MS 5000 /* with followers the map is asked for that often, even without commands */

int64_t redisway_now_ms(const struct redisway *w)
{
	return loop_now_ms(w->router->loop);
}

static int64_t at_least(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void map_drop(struct redisway *w)
{
	for (size_t i = 0; w->servers && i < w->map.count; i++)
		redisendpoint_unref(w->servers[i]);
	mem_free_ptr(&w->servers);
	redismap_done(&w->map);
}

static struct redisendpoint *server_at(struct redisway *w, size_t i, struct err *err)
{
	if (!w->servers[i])
		w->servers[i] = redisendpoint_at(w->site->like, w->map.addresses[i], err);
	return w->servers[i];
}

struct redisendpoint *redisway_server(struct redisway *w, unsigned slot, struct err *err)
{
	const char *address = redismap_find(&w->map, slot);
	size_t i = 0;

	if (!address) {
		err_set(err, ERR_TEMPORARY, "%s: no node serves slot %u", w->site->name, slot);
		return NULL;
	}
	while (w->map.addresses[i] != address)
		i++;
	return server_at(w, i, err);
}

void redisway_tend(struct redisway *w)
{
	int64_t due_ms;

	if (w->round) {
		loop_timer_cancel(&w->timer);
		return;
	}
	if (w->stale || w->waiting_count > 0 || (w->followers && (w->doubted || !w->map_ms)))
		due_ms = w->retry_ms;
	else if (w->followers)
		due_ms = at_least(w->retry_ms,
			w->map_ms + (w->site->kind->way_ms < FOLLOW_MAX_MS ? w->site->kind->way_ms : FOLLOW_MAX_MS));
	else
		due_ms = w->used_ms + IDLE_MS;
	loop_timer_set(&w->timer, at_least(due_ms - redisway_now_ms(w), 0));
}

void redisway_free(struct redisway *w)
{
	redisround_cancel(w->round);
	map_drop(w);
	err_keep(&w->err, NULL);
	loop_timer_done(&w->timer);
	HASH_DEL(w->router->ways, w);
	redissite_unref(w->site);
	free(w);
}

static void on_timer(void *arg)
{
	struct redisway *w = arg;

	if (w->calls || w->followers || w->stale)
		redisway_ask(w);
	else if (redisway_now_ms(w) - w->used_ms >= IDLE_MS)
		redisway_free(w);
	else
		redisway_tend(w);
}

void redisway_tell(struct redisrouter_follower *f)
{
	struct redisway *w = f->way;
	struct redisendpoint *e = w->map_ms ? redisway_server(w, f->slot, NULL) : NULL;

	if (!e || (f->told && strcmp(e->base.name, f->told->base.name) == 0))
		return;
	redisendpoint_unref(f->told);
	f->told = redisendpoint_ref(e);
	loop_task_queue(w->router->loop, &f->tell);
}

static int on_accept(void *arg, const struct redisendpoint *from, const struct redis_reply *reply, struct err *err)
{
	struct redisway *w = arg;
	struct redismap map = { 0 };

	if (w->site->kind->read(w->site, from, reply, &map, err))
		return -1;
	map_drop(w);
	w->map = map;
	w->servers = mem_array(map.count, sizeof(struct redisendpoint *));
	w->map_ms = redisway_now_ms(w);
	return 0;
}

static void on_round(void *arg, const struct err *err)
{
	struct redisway *w = arg;
	struct redisrouter_follower *f;

	w->round = NULL;
	w->doubted = w->stale = false;
	err_keep(&w->err, err);
	w->retry_ms = redisway_now_ms(w) +
		(err ? loop_backoff_ms(w->failures, DIAL_AGAIN_FIRST_MS, DIAL_AGAIN_MAX_MS) : ROUND_GAP_MS);
	w->failures = err ? w->failures + 1 : 0;
	w->serve(w);
	DL_FOREACH (w->followers, f)
		redisway_tell(f);
	redisway_tend(w);
}

/*
 * The servers of a cluster's map are guides, too, as the seeds may be gone. Not all of them: the
 * number per round is limited.
 */
static size_t add_servers(struct redisway *w, struct redisendpoint **endpoints, size_t room)
{
	size_t count = 0;

	for (size_t i = 0; w->site->kind->nodes_guide && i < w->map.count && count < room; i++) {
		struct redisendpoint *e = server_at(w, i, NULL);
		bool known = !e;

		for (size_t n = 0; n < w->site->guide_count && !known; n++)
			known = strcmp(w->site->guides[n]->base.name, e->base.name) == 0;
		if (!known)
			endpoints[count++] = e;
	}
	return count;
}

void redisway_ask(struct redisway *w)
{
	struct redisendpoint *endpoints[REDISSITE_GUIDES_MAX + REDISROUND_TRIES_MAX];
	const char *argv[4];
	size_t count = add_servers(w, endpoints, REDISROUND_TRIES_MAX);
	int argc = w->site->kind->question(w->site, argv);

	memcpy(endpoints + count, w->site->guides, w->site->guide_count * sizeof(endpoints[0]));
	count += w->site->guide_count;
	w->round = redisround_start(w->router->loop, w->router->pool, endpoints, count, argc, argv, GUIDE_MS, on_accept,
		on_round, w);
	loop_timer_cancel(&w->timer);
}

bool redisway_may_ask(const struct redisway *w)
{
	return !w->round && redisway_now_ms(w) >= w->retry_ms;
}

struct redisway *redisway_of(struct redisrouter *r, struct redissite *site, void (*serve)(struct redisway *w))
{
	struct redisway *w;

	HASH_FIND_STR(r->ways, site->key, w);
	if (w)
		return w;
	w = mem_zalloc(sizeof(*w));
	w->router = r;
	w->site = redissite_ref(site);
	w->serve = serve;
	loop_timer_init(&w->timer, r->loop, on_timer, w);
	HASH_ADD_KEYPTR(hh, r->ways, w->site->key, strlen(w->site->key), w);
	return w;
}
