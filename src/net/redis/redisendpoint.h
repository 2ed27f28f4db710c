/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REDIS_REDISENDPOINT_H
#define NET_REDIS_REDISENDPOINT_H

/*
 * What net/redis knows of an endpoint: who and where, and the credentials. The public functions are
 * in net/redis/redis.h.
 */

#include <stdbool.h>
#include <stdint.h>

#include "net/endpoint.h"
#include "net/redis/redis.h"

struct redis_endpoint {
	struct endpoint base; /* its name: the address as given */
	char *server_key;     /* the key without the database: who shares a connection that has none */
	char *host;           /* without brackets; the path of a Unix socket, with port 0 */
	uint16_t port;
	int database;
	char *username, *password; /* NULL for none; secrets */
	bool tls;
	bool master_only;
};

#endif
