/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REDIS_REDISLINK_H
#define NET_REDIS_REDISLINK_H

/* From a socket to a connection that can be used: TLS, the greeting, and what its end means in words. For net/redis and net/redis/redissub; keeps nothing. */

#include <event2/bufferevent.h>
#include <openssl/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "net/loop.h"
#include "net/redis/redisendpoint.h"

/* A Redis that speaks no TLS keeps silent when it is greeted in TLS. */
#define REDISLINK_SHAKING_TIMED_OUT "TLS handshake: timed out (does the server speak TLS here?)"

/* Plain, or shaking hands in TLS. *tls is made when NULL and stays the caller's; *ssl belongs to what is returned. Takes fd, also when it fails (NULL). */
struct bufferevent *redislink_new(struct loop *loop, const struct redis_endpoint *e, int fd, SSL_CTX **tls, SSL **ssl, struct err *err);

/* AUTH and, for queries, SELECT and ROLE into the output, as the endpoint needs them and in this order; wiped when sent. The names of the commands whose replies come first; returns how many. */
#define REDISLINK_GREETINGS_MAX 3
size_t redislink_greet(struct bufferevent *bev, const struct redis_endpoint *e, bool queries, const char *names[REDISLINK_GREETINGS_MAX]);

/* True and why, when the reply to a greeting means that this connection is of no use: for our credentials (ERR_DENIED), or as the server turns everybody away, or is a replica (ERR_TEMPORARY). */
bool redislink_useless(const struct redis_endpoint *e, const char *name, const struct redis_reply *reply, struct err *err);

/* What an event of the bufferevent that is not BEV_EVENT_CONNECTED was: ERR_TEMPORARY. error: EVUTIL_SOCKET_ERROR() of that moment. */
void redislink_ended(struct bufferevent *bev, SSL *ssl, bool shaking_hands, short what, int error, struct err *err);

#endif
