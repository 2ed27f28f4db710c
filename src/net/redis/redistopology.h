/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REDIS_REDISTOPOLOGY_H
#define NET_REDIS_REDISTOPOLOGY_H

/*
 * A topology has the seeds (cluster nodes or sentinels), which know the servers, the command that
 * asks them, and the credentials of the servers. Immutable and reference-counted, like an endpoint
 * of net/redis/redis.h: it has no connections and no map. net/redis/redisrouter.h fetches the map
 * and keeps it.
 */

#include <stddef.h>

#include "base/err.h"
#include "net/redis/redis.h"
#include "net/redis/redisendpoint.h"

struct redistopology;

#define REDISTOPOLOGY_SEEDS_MAX 64

struct redistopology *redistopology_ref(struct redistopology *s);
void redistopology_unref(struct redistopology *s); /* the last reference wipes it */

/* ---- For net/redis ---- */

struct redismap;

/* How clusters and sentinels differ. */
struct redistopology_kind {
	const char *name; /* "redis-cluster" */
	/*
	 * The command that asks a seed for the map; argv has room for 4. Returns the number of
	 * arguments.
	 */
	int (*question)(const struct redistopology *s, const char **argv);
	/*
	 * Reads the reply into an empty map (net/redis/redismap.h). -1 with err: this seed does not
	 * know.
	 */
	int (*read)(const struct redistopology *s, const struct redisendpoint *seed, const struct redis_reply *reply,
		struct redismap *map, struct err *err);
	int redirects;            /* MOVED and ASK redirects that a command follows */
	int refresh_ms;           /* an older map is refreshed in the background */
	unsigned nodes_are_seeds; /* 1: the servers in the map are seeds, too */
};

struct redistopology {
	unsigned count; /* references */
	const struct redistopology_kind *kind;
	/*
	 * identity without secrets: kind, seeds, master's name, database, TLS settings,
	 * fingerprints of the credentials
	 */
	char *key;
	char *name;   /* for messages: "redis-cluster a:6379,b:6379", "redis-sentinel mymaster of a:26379" */
	char *master; /* NULL for a cluster */
	struct redisendpoint **seeds;
	size_t seed_count;
	/* the servers' credentials, database and TLS settings; its address is the first seed's */
	struct redisendpoint *like;
};

/*
 * seed_config, server_config: settings of seeds and servers; their addresses are ignored. Returns
 * one reference, or NULL with ERR_INVALID, which names the address.
 */
struct redistopology *redistopology_new(const struct redistopology_kind *kind, const char *const *addresses,
	size_t count, const char *master, const struct redisendpoint_config *seed_config,
	const struct redisendpoint_config *server_config, struct err *err);

#endif
