/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REDIS_REDISSENTINEL_H
#define NET_REDIS_REDISSENTINEL_H

/*
 * The master that sentinels watch over as a site: sentinels are asked in shuffled order `SENTINEL
 * get-master-addr-by-name`, with credentials of their own and the same TLS, and each new connection
 * to the server they name first asks it for its ROLE: a replica is refused (one that will not tell,
 * because the user may not ask, is believed).
 *
 * Commands go through redisrouter_command (the key is not looked at). A fail-over is followed when
 * the connection or the role is lost, on READONLY and MASTERDOWN, and because the sentinels are
 * asked again every few seconds beside the commands. For push, redisrouter_follow tells the
 * master's endpoint, and again when there is another.
 */

#include "net/redis/redisendpoint.h"
#include "net/redis/redissite.h"

struct redissentinel_config {
	const char *const *addresses; /* of the sentinels */
	size_t count;
	const char *master;              /* the name they know it by */
	const char *username, *password; /* of the sentinels; NULL or "" for none */
	/*
	 * the master's credentials, database and TLS; TLS holds for the sentinels, too. Its address
	 * is not looked at
	 */
	struct redisendpoint_config server;
};

/* ERR_INVALID names the address or says that the master has no name. The caller owns one count. */
struct redissite *redissentinel_new(const struct redissentinel_config *config, struct err *err);

#endif
