/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_AMQP_AMQPENDPOINT_H
#define NET_AMQP_AMQPENDPOINT_H

/*
 * An endpoint of net/amqp: server, vhost and login. Immutable, reference-counted. Other modules
 * read only base's key and name, and the vhost.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "net/endpoint.h"

struct amqpendpoint {
	struct endpoint base; /* base.name: "host:port" */
	char *host;           /* without brackets */
	uint16_t port;
	char *vhost;
	char *user, *password; /* secrets; both NULL: login by the client certificate (EXTERNAL) */
	bool tls;
};

struct amqpendpoint_config {
	const char *namespace_; /* of its trigger (net/endpoint.h); may be NULL */
	const char *host;
	uint16_t port;
	const char *vhost;
	const char *user, *password; /* both NULL: EXTERNAL */
	bool tls;
	struct tls_client_config tls_config; /* used with tls only */
};

/*
 * Checks lengths, parses the PEMs, and makes the key. No network I/O. Returns one reference, or
 * NULL with ERR_INVALID, which names the field.
 */
struct amqpendpoint *amqpendpoint_new(const struct amqpendpoint_config *config, struct err *err);

#endif
