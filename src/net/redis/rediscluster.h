/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REDIS_REDISCLUSTER_H
#define NET_REDIS_REDISCLUSTER_H

/*
 * A Redis Cluster as a topology: any seed answers CLUSTER SLOTS, which maps slots to nodes. User,
 * password and TLS settings apply to every node.
 *
 * redisrouter_command sends commands to the owner of the key's slot, and follows up to 3 MOVED or
 * ASK redirects. For push, redisrouter_follow reports the endpoint of a key's owner, and again
 * after a slot has moved or a replica was promoted: only the owner sends a key's keyspace events.
 *
 * A node announced without a host, or with "?" and no other name, is reached at the host that
 * announced it. So is one announced at a loopback address by a node at another address, as other
 * clients do it: the cluster is behind a forwarded port.
 */

#include "net/redis/redisendpoint.h"
#include "net/redis/redistopology.h"

/*
 * config->database must be 0, a cluster's only one. Returns one reference, or NULL with
 * ERR_INVALID, which names the address.
 */
struct redistopology *rediscluster_new(const char *const *seeds, size_t count,
	const struct redisendpoint_config *config, struct err *err);

#endif
