/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REDIS_REDISTOPOLOGY_H
#define NET_REDIS_REDISTOPOLOGY_H

/*
 * Several Redis servers that act as one: a cluster (net/redis/rediscluster.h) or the master of a
 * group of sentinels (net/redis/redissentinel.h).
 *
 * A site says who knows the servers (the *guides*: seeds, or sentinels), how they are asked, and
 * the credentials of the servers that they name. Immutable and reference-counted, like an endpoint
 * of net/redis/redis.h: it has no connections and no map. net/redis/redisrouter.h asks for the map
 * and keeps it.
 */

#include <stddef.h>

#include "base/err.h"
#include "net/redis/redis.h"
#include "net/redis/redisendpoint.h"

struct redistopology;

/* Guides per topology, at most. */
#define REDISTOPOLOGY_SEEDS_MAX 64

struct redistopology *redistopology_ref(struct redistopology *s);
void redistopology_unref(struct redistopology *s); /* wipes with the last reference */

/* ---- For those who make and route sites ---- */

struct redismap;

/* The differences between clusters and sentinels. */
struct redistopology_kind {
	const char *name; /* "redis-cluster" */
	/*
	 * The command that asks a guide for the map; argv has room for 4. Returns the number of
	 * arguments.
	 */
	int (*question)(const struct redistopology *s, const char **argv);
	/*
	 * Reads the reply into an empty map (net/redis/redismap.h). -1 with err: this guide does
	 * not know.
	 */
	int (*read)(const struct redistopology *s, const struct redisendpoint *seed, const struct redis_reply *reply,
		struct redismap *map, struct err *err);
	int redirects;            /* how many MOVED and ASK a command follows */
	int refresh_ms;           /* an older map is asked for again in the background */
	unsigned nodes_are_seeds; /* 1: the servers in the map are guides, too */
};

struct redistopology {
	unsigned count; /* references */
	const struct redistopology_kind *kind;
	/*
	 * identity without secrets: kind, guides, master's name, database, TLS, fingerprints of the
	 * credentials
	 */
	char *key;
	char *name;   /* for messages: "redis-cluster a:6379,b:6379", "redis-sentinel mymaster of a:26379" */
	char *master; /* NULL for a cluster */
	struct redisendpoint **seeds;
	size_t seed_count;
	/* credentials, database and TLS of the servers; its address is the first guide's */
	struct redisendpoint *like;
};

/*
 * seed_config and server_config: settings of guides and servers; their addresses are ignored. NULL
 * with ERR_INVALID, which names the address. Returns one reference.
 */
struct redistopology *redistopology_new(const struct redistopology_kind *kind, const char *const *addresses,
	size_t count, const char *master, const struct redisendpoint_config *seed_config,
	const struct redisendpoint_config *server_config, struct err *err);

#endif
