/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REDIS_REDISSENTINEL_H
#define NET_REDIS_REDISSENTINEL_H

/*
 * The master behind a group of sentinels as a topology. Sentinels are asked `SENTINEL
 * get-master-addr-by-name` in random order, with their own credentials and the same TLS settings.
 * Each new connection to the master first sends ROLE, and a replica is rejected. (If the user may
 * not send ROLE, the sentinels are trusted.)
 *
 * Commands go through redisrouter_command; the key does not matter. A fail-over is noticed by a
 * lost connection or role, by READONLY and MASTERDOWN, and because the sentinels are asked again
 * every few seconds. For push, redisrouter_follow reports the master's endpoint, and each change.
 */

#include "net/redis/redisendpoint.h"
#include "net/redis/redistopology.h"

struct redissentinel_config {
	const char *const *addresses; /* of the sentinels */
	size_t count;
	const char *master;              /* the name of the master */
	const char *username, *password; /* of the sentinels; NULL or "": none */
	/*
	 * The master's credentials, database and TLS settings, which the sentinels share. Its
	 * address is ignored.
	 */
	struct redisendpoint_config server;
};

/*
 * Returns one reference, or NULL with ERR_INVALID, which names the address or the missing master's
 * name.
 */
struct redistopology *redissentinel_new(const struct redissentinel_config *config, struct err *err);

#endif
