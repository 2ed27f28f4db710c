/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REDIS_REDISROUTE_H
#define NET_REDIS_REDISROUTE_H

/*
 * The router's state of one site: the map, its age and whether it is in doubt, the round that asks
 * for a newer one, and the followers. `serve` tells the router that a round is over; commands are
 * in redisrouter.c. For net/redis/redisrouter only.
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
	UT_hash_handle hh;              /* by the site's key */
	struct redismap map;
	struct redisendpoint **servers; /* of the map; made at first use */
	int64_t map_ms;                 /* when it was received; 0: never */
	bool wrong;                     /* it was wrong: commands wait for a newer one */
	/* It is partly wrong: a newer one is asked for, but commands do not wait. */
	bool stale;
	struct redisfanout *fanout;
	unsigned failures;              /* failed rounds in a row */
	int64_t retry_ms;               /* no round before this time; loop clock */
	struct err *err;                /* of the last fanout; NULL when it succeeded */
	struct redisrouter_call *calls; /* all */
	size_t call_count, waiting_count;
	void (*serve)(
		struct redisroute *r); /* a round is over: send waiting commands or fail them; must not call back */
	struct redisrouter_follower *followers;
	int64_t used_ms;
	struct loop_timer timer; /* starts the next fanout, or frees an idle way */
};

struct redisrouter_follower {
	struct redisroute *route;
	struct redisrouter_follower *prev, *next;
	void (*fn)(void *arg, struct redisendpoint *endpoint); /* redisrouter_follow_fn */
	void *arg;
	unsigned slot;
	struct redisendpoint *told; /* one count */
	struct loop_task tell;
};

/* The one of this topology; made at first use. */
struct redisroute *redisroute_get(struct redisrouter *router, struct redistopology *topology,
	void (*serve)(struct redisroute *r));
void redisroute_free(struct redisroute *r); /* it has no commands and no followers any more */

/* The server of a slot, borrowed until the next map; NULL with err (may be NULL). */
struct redisendpoint *redisroute_server(struct redisroute *r, unsigned slot, struct err *err);

bool redisroute_may_refresh(const struct redisroute *r); /* no round is under way, and the back-off is over */
void redisroute_refresh(struct redisroute *r);           /* starts a fanout; only when redisroute_may_refresh */
void redisroute_schedule(struct redisroute *r);          /* after a change: sets the timer */
void redisroute_notify(struct redisrouter_follower *f);  /* queues its task when its server has changed */
int64_t redisroute_now_ms(const struct redisroute *r);

#endif
