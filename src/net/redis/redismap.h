/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REDIS_REDISMAP_H
#define NET_REDIS_REDISMAP_H

/*
 * The slot map of a Redis Cluster: hash slots of keys, the reply to CLUSTER SLOTS, MOVED and ASK.
 * Pure. For net/redis/redisrouter. A master behind sentinels is a map of one server with all slots.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/redis/redis.h"

#define REDISMAP_SLOTS     16384
#define REDISMAP_NODES_MAX 1024

/* Zeroed: empty. Owns its data. */
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
 * CRC-16/XMODEM of the key, or of the part between its first { and the next }, if not empty, modulo
 * the number of slots (Redis Cluster specification, hash tags).
 */
unsigned redismap_slot(const char *key, size_t len);

/* The address of the slot's server, or NULL. */
const char *redismap_find(const struct redismap *map, unsigned slot);

/* Makes a map of one server with all slots. */
void redismap_whole(struct redismap *map, const char *address);

/*
 * Reads the reply to CLUSTER SLOTS from the server at `from` ("host:port", as it was reached) into
 * an empty map. ERR_TEMPORARY if the reply is malformed.
 */
int redismap_read_slots(struct redismap *map, const struct redis_reply *reply, const char *from, struct err *err);
void redismap_done(struct redismap *map);

/*
 * Reads an error reply from the server at `from`: "MOVED 3999 127.0.0.1:6381" or "ASK ...".
 * *address: owned by the caller; may be NULL. REDISMAP_STAY: not a redirect.
 */
enum redismap_redirect { REDISMAP_STAY, REDISMAP_MOVED, REDISMAP_ASK };
enum redismap_redirect redismap_read_redirect(const char *text, const char *from, char **address);

#endif
