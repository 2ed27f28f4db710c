/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REDIS_REDISCLUSTER_H
#define NET_REDIS_REDISCLUSTER_H

/*
 * A Redis Cluster as a site: any seed answers CLUSTER SLOTS, which maps slots to nodes; user,
 * password and TLS apply to every node.
 *
 * redisrouter_command sends commands to the owner of the key's slot, and follows up to 3 MOVED or
 * ASK redirects. For push, redisrouter_follow reports the endpoint of a key's owner, again after a
 * slot has moved or a replica was promoted: only the owner sends keyspace events of a key.
 *
 * A node that is announced without a host, or with "?" and no other name, is reached at the host
 * that announced it; so is one announced at a loopback address by a node at another address (as
 * other clients do: a cluster behind a forwarded port).
 */

#include "net/redis/redisendpoint.h"
#include "net/redis/redistopology.h"

/*
 * config->database must be 0, the only one of a cluster. NULL with ERR_INVALID, which names the
 * address. Returns one reference.
 */
struct redistopology *rediscluster_new(const char *const *seeds, size_t count,
	const struct redisendpoint_config *config, struct err *err);

#endif
