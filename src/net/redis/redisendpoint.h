/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REDIS_REDISENDPOINT_H
#define NET_REDIS_REDISENDPOINT_H

/* What net/redis knows of an endpoint: who and where, and the credentials. The public functions are in net/redis/redis.h. */

#include <stdbool.h>
#include <stdint.h>

#include "net/redis/redis.h"

struct redis_endpoint {
	unsigned count; /* of owners */
	char *key;      /* without secrets */
	char *server_key; /* the same without the database: who shares a connection that has none */
	char *address;  /* as given, for messages */
	char *host;     /* without brackets; the path of a Unix socket, with port 0 */
	uint16_t port;
	int database;
	char *username, *password; /* NULL for none; secrets, as all that follow */
	bool tls, tls_insecure;
	bool master_only;
	char *tls_ca_pem, *tls_cert_pem, *tls_key_pem, *tls_key_password;
};

#endif
