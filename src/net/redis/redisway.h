/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REDIS_REDISWAY_H
#define NET_REDIS_REDISWAY_H

/*
 * What the router knows of one site: the map, how old and how doubtful it is, the round that asks
 * for a newer one, and who follows. It tells the router when a round is over (serve); the router's
 * commands live in redisrouter.c. For net/redis/redisrouter alone.
 */

#include <stdbool.h>

#include "base/hash.h"
#include "net/redis/redismap.h"
#include "net/redis/redissite.h"

struct redisrouter {
	struct loop *loop;
	struct redis_pool *pool;
	struct redisway *ways; /* hash */
};

struct redisway {
	struct redisrouter *router;
	struct redissite *site; /* one count */
	UT_hash_handle hh;      /* by the site's key */
	struct redismap map;
	struct redisendpoint **servers; /* of the map, made when first needed */
	int64_t map_ms;                 /* when it was told; 0: never */
	bool doubted;                   /* it led nowhere: commands wait for a newer one */
	/* it is known to be a little wrong: a newer one is asked for, and nobody waits */
	bool stale;
	struct redisround *round;
	unsigned failures;              /* rounds that brought nothing, in a row */
	int64_t retry_ms;               /* no round before; loop clock */
	struct err *err;                /* of the last round; NULL when it brought something */
	struct redisrouter_call *calls; /* all */
	size_t call_count, waiting_count;
	void (*serve)(struct redisway *w); /* a round is over: send what waits, or let it fail; calls nobody back */
	struct redisrouter_follower *followers;
	int64_t used_ms;
	struct loop_timer timer; /* the next round, or the end of an idle way */
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

/* The one of the site; made when first asked for. */
struct redisway *redisway_of(struct redisrouter *r, struct redissite *site, void (*serve)(struct redisway *w));
void redisway_free(struct redisway *w); /* nobody commands or follows any more */

/*
 * The server of a slot, borrowed until the map is another; NULL with the reason (err may be NULL).
 */
struct redisendpoint *redisway_server(struct redisway *w, unsigned slot, struct err *err);

bool redisway_may_ask(const struct redisway *w); /* no round is under way, and none ended just now */
void redisway_ask(struct redisway *w);           /* begins a round; only when it may */
void redisway_tend(struct redisway *w);          /* after a change: sets when to look again if nothing else happens */
void redisway_tell(struct redisrouter_follower *f); /* queues its task when the server is another than it was told */
int64_t redisway_now_ms(const struct redisway *w);

#endif
