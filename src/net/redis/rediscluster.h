/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REDIS_REDISCLUSTER_H
#define NET_REDIS_REDISCLUSTER_H

/*
 * A Redis Cluster as a site: any of the seeds tells by CLUSTER SLOTS which node serves which slot;
 * the user, the password and TLS go to every node.
 *
 * Commands go through redisrouter_command with their key: to the owner of its slot, following up to
 * 3 MOVED or ASK. For push, redisrouter_follow tells the endpoint of the owner of one key, and
 * again when the slot has moved or the owner's replica was promoted: keyspace events of a key come
 * from its owner alone.
 *
 * A node that is announced without a host, or with "?" and no other name, is reached at the host
 * that told it; one announced at a loopback address by a node that is reached elsewhere, too (as
 * other clients have it: a cluster behind a forwarded port).
 */

#include "net/redis/redisendpoint.h"
#include "net/redis/redissite.h"

/*
 * config->database must be 0: a cluster has no other. ERR_INVALID names the address. The caller
 * owns one count.
 */
struct redissite *rediscluster_new(const char *const *seeds, size_t count, const struct redisendpoint_config *config,
	struct err *err);

#endif
