/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REDIS_REDISSITE_H
#define NET_REDIS_REDISSITE_H

/*
 * Several Redis servers that are asked as one: a cluster (net/redis/rediscluster.h makes it) or the
 * master that sentinels watch over (net/redis/redissentinel.h).
 *
 * A site is who is asked for the way (the *guides*: seeds, or sentinels), with what, and the
 * credentials for the servers that they name. It is a value with a count, as an endpoint of
 * net/redis/redis.h is: it owns no connection and knows no way. net/redis/redisrouter.h finds the
 * way and keeps it.
 */

#include <stddef.h>

#include "base/err.h"
#include "net/redis/redis.h"
#include "net/redis/redisendpoint.h"

struct redissite;

/* Guides that one site may name. */
#define REDISSITE_GUIDES_MAX 64

struct redissite *redissite_ref(struct redissite *s);
void redissite_unref(struct redissite *s); /* NULL is fine; wipes credentials with the last count */

/* ---- For those who make and route sites ---- */

struct redismap;

/* What makes a cluster a cluster. */
struct redissite_kind {
	const char *name; /* "redis-cluster" */
	/*
	 * The command that asks a guide for the way: argv has room for 4; the number of arguments.
	 */
	int (*question)(const struct redissite *s, const char **argv);
	/*
	 * What the guide answered, as a map (net/redis/redismap.h; into an empty one). -1: this
	 * guide does not know, and why.
	 */
	int (*read)(const struct redissite *s, const struct redisendpoint *guide, const struct redis_reply *reply,
		struct redismap *map, struct err *err);
	int redirects;        /* how many MOVED and ASK a command follows */
	int way_ms;           /* a way older than that is asked for again, beside the next command */
	unsigned nodes_guide; /* 1: the servers of the map know the way, too */
};

struct redissite {
	unsigned count; /* of owners */
	const struct redissite_kind *kind;
	/*
	 * identity without secrets: kind, guides, master's name, database, TLS, fingerprints of the
	 * credentials
	 */
	char *key;
	char *name;   /* for messages: "redis-cluster a:6379,b:6379", "redis-sentinel mymaster of a:26379" */
	char *master; /* NULL for a cluster */
	struct redisendpoint **guides;
	size_t guide_count;
	/*
	 * the credentials, database and TLS of the servers; its address is that of the first guide
	 */
	struct redisendpoint *like;
};

/*
 * Guides at addresses, each with what guide_config says (its address is not looked at), servers
 * like server_config. ERR_INVALID names the address. The caller owns one count.
 */
struct redissite *redissite_new(const struct redissite_kind *kind, const char *const *addresses, size_t count,
	const char *master, const struct redisendpoint_config *guide_config,
	const struct redisendpoint_config *server_config, struct err *err);

#endif
