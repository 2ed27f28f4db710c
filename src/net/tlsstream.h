/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_TLSSTREAM_H
#define NET_TLSSTREAM_H

/*
 * A client's TLS over a socket that net/dial has connected, as a bufferevent on the loop: for the
 * links of protocols that we speak ourselves (redis, amqp, kafka).
 */

#include "base/err.h"
#include "net/loop.h"
#include "net/tls.h"

struct bufferevent;

/*
 * The handshake begins at once. *context: kept by the caller between connections, made when it is
 * NULL. name: to verify. *ssl is the stream's. The stream closes fd when it is freed; after NULL,
 * with err, the caller has it still.
 */
struct bufferevent *tlsstream_new(struct loop *loop, int fd, SSL_CTX **context, const struct tls_client_config *config,
	const char *name, SSL **ssl, struct err *err);

#endif
