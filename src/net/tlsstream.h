/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_TLSSTREAM_H
#define NET_TLSSTREAM_H

/*
 * A client's TLS over a socket that net/dial has connected, as a bufferevent on the loop: for the
 * links of protocols that we speak ourselves (redis, amqp, kafka, mongo).
 */

#include <stdbool.h>

#include "base/err.h"
#include "net/loop.h"
#include "net/tls/tls.h"

struct bufferevent;

/*
 * The handshake begins at once. *context: kept by the caller between connections, made when it is
 * NULL. name: to verify. *ssl is the stream's. The stream closes fd when it is freed; after NULL,
 * with err, the caller has it still.
 */
struct bufferevent *tlsstream_new(struct loop *loop, int fd, SSL_CTX **context, const struct tls_client_config *config,
	const char *name, SSL **ssl, struct err *err);

/* The same for a session that the caller has set up: the stream's, or after NULL freed. */
struct bufferevent *tlsstream_over(struct loop *loop, int fd, SSL *ssl, struct err *err);

/*
 * Why such a stream, or a plain one (ssl: NULL), has ended: an event of it other than
 * BEV_EVENT_CONNECTED, with errno as it was. shaking: the handshake was under way. hint: said
 * behind an end that does not explain itself; "" for none.
 */
void tlsstream_explain_end(struct bufferevent *bev, SSL *ssl, bool shaking, short what, int error, const char *hint,
	struct err *err);

#endif
