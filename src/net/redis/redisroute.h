/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REDIS_REDISROUTE_H
#define NET_REDIS_REDISROUTE_H

/*
 * The router's state for one topology: the map, its age and validity, the refresh in progress, and
 * the followers. `serve` tells the router that a refresh has ended; commands are in redisrouter.c.
 * For net/redis/redisrouter only.
 */

#include <stdbool.h>

#include "base/hash.h"
#include "net/redis/redismap.h"
#include "net/redis/redistopology.h"

struct redisrouter {
	struct loop *loop;
	struct pool *pool;
	struct redisroute *routes; /* hash */
};

struct redisroute {
	struct redisrouter *router;
	struct redistopology *topology; /* one count */
	UT_hash_handle hh;              /* by the topology's key */
	struct redismap map;
	struct redisendpoint **servers; /* per address of the map; made at first use */
	int64_t map_ms;                 /* when it was received; 0: never */
	bool wrong;                     /* the map was wrong: commands wait for a new one */
	/* The map is partly wrong: it is being refreshed, but commands do not wait. */
	bool stale;
	struct redisfanout *fanout;
	unsigned failures;              /* consecutive failed refreshes */
	int64_t retry_ms;               /* no refresh before this time; loop clock */
	struct err *err;                /* of the last refresh; NULL: it succeeded */
	struct redisrouter_call *calls; /* all */
	size_t call_count, waiting_count;
	void (*serve)(
		struct redisroute *r); /* a refresh has ended: sends or fails waiting commands; must not call back */
	struct redisrouter_follower *followers;
	int64_t used_ms;
	struct loop_timer timer; /* starts the next refresh, or frees an idle route */
};

struct redisrouter_follower {
	struct redisroute *route;
	struct redisrouter_follower *prev, *next;
	void (*fn)(void *arg, struct redisendpoint *endpoint); /* redisrouter_follow_fn */
	void *arg;
	unsigned slot;
	struct redisendpoint *reported; /* one count */
	struct loop_task tell;
};

/* The route of a topology; made at first use. */
struct redisroute *redisroute_get(struct redisrouter *router, struct redistopology *topology,
	void (*serve)(struct redisroute *r));
void redisroute_free(struct redisroute *r); /* must have no commands and no followers */

/* The server of a slot, borrowed until the map changes; NULL with err (err may be NULL). */
struct redisendpoint *redisroute_server(struct redisroute *r, unsigned slot, struct err *err);

bool redisroute_may_refresh(const struct redisroute *r); /* no refresh in progress, and no back-off */
void redisroute_refresh(struct redisroute *r);           /* only if redisroute_may_refresh */
void redisroute_schedule(struct redisroute *r);          /* call after a change: sets the timer */
void redisroute_notify(struct redisrouter_follower *f);  /* queues the callback if its server has changed */
int64_t redisroute_now_ms(const struct redisroute *r);

#endif
