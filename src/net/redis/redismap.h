/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REDIS_REDISMAP_H
#define NET_REDIS_REDISMAP_H

/*
 * Which server serves which slot, and the words in which Redis Cluster says so: hash slots of keys,
 * the answer to CLUSTER SLOTS, MOVED and ASK. Pure but for memory; for net/redis/redisrouter. A
 * sentinel's master is a map of one server with all slots.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/redis/redis.h"

#define REDISMAP_SLOTS     16384
#define REDISMAP_NODES_MAX 1024

/* Zero-initialised is empty. Owns what it points to. */
struct redismap {
	char **addresses; /* of the servers: "host:port", "[v6]:port" */
	size_t count;
	struct redismap_range {
		uint16_t first, last;
		uint16_t server; /* index */
	} * ranges;              /* sorted, not overlapping */
	size_t range_count;
};

/*
 * CRC-16/XMODEM of the key, or of what stands between its first { and the next }, when that is not
 * empty; modulo the slots.
 */
unsigned redismap_slot(const char *key, size_t len);

/* NULL: the slot is nobody's. */
const char *redismap_find(const struct redismap *map, unsigned slot);

/* The map in which one server has everything. */
void redismap_whole(struct redismap *map, const char *address);

/*
 * From the answer to CLUSTER SLOTS of the server at `from` ("host:port", as it was reached). Into
 * an empty map. ERR_TEMPORARY when it is not what CLUSTER SLOTS answers.
 */
int redismap_read_slots(struct redismap *map, const struct redis_reply *reply, const char *from, struct err *err);
void redismap_done(struct redismap *map);

/*
 * "MOVED 3999 127.0.0.1:6381" and "ASK ...", said by the server at `from`: its kind and the address
 * (caller owns; NULL when it names none). REDISMAP_STAY: the text is no redirect.
 */
enum redismap_redirect { REDISMAP_STAY, REDISMAP_MOVED, REDISMAP_ASK };
enum redismap_redirect redismap_read_redirect(const char *text, const char *from, char **address);

#endif
