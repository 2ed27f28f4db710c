/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REDIS_REDISENDPOINT_H
#define NET_REDIS_REDISENDPOINT_H

/*
 * An endpoint of net/redis: who and where, and the credentials. Shared and counted. Others
 * than net/redis read of it base's key and name, server_key and database.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "net/endpoint.h"

struct redisendpoint {
	struct endpoint base; /* its name: the address as given */
	char *server_key;     /* the key without the database: who shares a connection that has none */
	char *host;           /* without brackets; the path of a Unix socket, with port 0 */
	uint16_t port;
	int database;
	char *username, *password; /* NULL for none; secrets */
	bool tls;
	bool master_only;
};

struct redisendpoint_config {
	const char *namespace_; /* whose it is (net/endpoint.h); NULL: nobody's in particular */
	const char *address;    /* "host:port", "[v6]:port" or "/path/of/a/unix/socket" */
	int database;
	const char *username; /* NULL or "" for none */
	const char *password;
	bool tls;
	bool tls_insecure;
	const char *tls_ca_pem, *tls_cert_pem, *tls_key_pem, *tls_key_password;
	/*
	 * each connection first asks for the ROLE, and fails when it is a replica's (whoever may
	 * not ask gets no answer, which is fine)
	 */
	bool master_only;
};

/*
 * Checks the address, reads the PEMs, and makes the endpoint's key. ERR_INVALID names the field.
 * Does no network I/O. The caller owns one count.
 */
struct redisendpoint *redisendpoint_new(const struct redisendpoint_config *config, struct err *err);
/* The same in all but the address: the other servers of a cluster. The PEMs are not read again. */
struct redisendpoint *redisendpoint_at(const struct redisendpoint *like, const char *address, struct err *err);
struct redisendpoint *redisendpoint_ref(struct redisendpoint *e);
void redisendpoint_unref(struct redisendpoint *e); /* NULL is fine; wipes credentials with the last count */

#endif
