/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REDIS_REDISWAY_H
#define NET_REDIS_REDISWAY_H

/*
 * The router's state of one site: the map, its age and whether it is in doubt, the round that asks
 * for a newer one, and the followers. `serve` tells the router that a round is over; commands are
 * in redisrouter.c. For net/redis/redisrouter only.
 */

#include <stdbool.h>

#include "base/hash.h"
#include "net/redis/redismap.h"
#include "net/redis/redissite.h"

struct redisrouter {
	struct loop *loop;
	struct pool *pool;
	struct redisway *ways; /* hash */
};

struct redisway {
	struct redisrouter *router;
	struct redissite *site; /* one count */
	UT_hash_handle hh;      /* by the site's key */
	struct redismap map;
	struct redisendpoint **servers; /* of the map; made at first use */
	int64_t map_ms;                 /* when it was received; 0: never */
	bool doubted;                   /* it was wrong: commands wait for a newer one */
	/* It is partly wrong: a newer one is asked for, but commands do not wait. */
	bool stale;
	struct redisround *round;
	unsigned failures;              /* failed rounds in a row */
	int64_t retry_ms;               /* no round before this time; loop clock */
	struct err *err;                /* of the last round; NULL when it succeeded */
	struct redisrouter_call *calls; /* all */
	size_t call_count, waiting_count;
	void (*serve)(struct redisway *w); /* a round is over: send waiting commands or fail them; must not call back */
	struct redisrouter_follower *followers;
	int64_t used_ms;
	struct loop_timer timer; /* starts the next round, or frees an idle way */
};

struct redisrouter_follower {
	struct redisway *way;
	struct redisrouter_follower *prev, *next;
	void (*fn)(void *arg, struct redisendpoint *endpoint); /* redisrouter_follow_fn */
	void *arg;
	unsigned slot;
	struct redisendpoint *told; /* one count */
	struct loop_task tell;
};

/* The one of this site; made at first use. */
struct redisway *redisway_of(struct redisrouter *r, struct redissite *site, void (*serve)(struct redisway *w));
void redisway_free(struct redisway *w); /* it has no commands and no followers any more */

/* The server of a slot, borrowed until the next map; NULL with err (may be NULL). */
struct redisendpoint *redisway_server(struct redisway *w, unsigned slot, struct err *err);

bool redisway_may_ask(const struct redisway *w);    /* no round is under way, and the back-off is over */
void redisway_ask(struct redisway *w);              /* starts a round; only when redisway_may_ask */
void redisway_tend(struct redisway *w);             /* after a change: sets the timer */
void redisway_tell(struct redisrouter_follower *f); /* queues its task when its server has changed */
int64_t redisway_now_ms(const struct redisway *w);

#endif
