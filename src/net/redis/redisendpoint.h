/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REDIS_REDISENDPOINT_H
#define NET_REDIS_REDISENDPOINT_H

/*
 * An endpoint of net/redis: address, database and credentials. Immutable, reference-counted. Other
 * modules read only base's key and name, server_key and database.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "net/endpoint.h"

struct redisendpoint {
	struct endpoint base; /* base.name: the address as given */
	char *server_key;     /* the key without the database, for subscriptions */
	char *host;           /* without brackets; the path of a Unix socket, with port 0 */
	uint16_t port;
	int database;
	char *username, *password; /* NULL for none; secrets */
	bool tls;
	bool master_only;
};

struct redisendpoint_config {
	const char *namespace_; /* of its trigger (net/endpoint.h); may be NULL */
	const char *address;    /* "host:port", "[v6]:port" or "/path/of/a/unix/socket" */
	int database;
	const char *username; /* NULL or "" for none */
	const char *password;
	bool tls;
	struct tls_client_config tls_config; /* used with tls only */
	/*
	 * Each connection first sends ROLE, and fails if the server is a replica. (A user without
	 * the right to send ROLE is accepted.)
	 */
	bool master_only;
};

/*
 * Checks the address, parses the PEMs, and makes the key. No network I/O. Returns one reference, or
 * NULL with ERR_INVALID, which names the field.
 */
struct redisendpoint *redisendpoint_new(const struct redisendpoint_config *config, struct err *err);
/* A copy with another address, for other servers of a cluster. Does not parse the PEMs again. */
struct redisendpoint *redisendpoint_at(const struct redisendpoint *like, const char *address, struct err *err);

#endif
