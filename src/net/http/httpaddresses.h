/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_HTTP_HTTPADDRESSES_H
#define NET_HTTP_HTTPADDRESSES_H

/*
 * The addresses of one server that libcurl connects to, from net/dns, so that libcurl looks up
 * nothing itself: in threads, past the limits of net/dns/names, and kept for a minute. They are
 * refreshed in the background while they are still used, so that working connections do not depend
 * on DNS. Owned by net/http/httphost and net/grpc.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "net/loop.h"

struct httpaddresses;

/* fn: a lookup has ended. It may be called when a wish was told (httpaddresses_want), not in it. */
bool httpaddresses_is_literal(const char *host); /* an address, without brackets: there is nothing to look up */
struct httpaddresses *httpaddresses_new(struct loop *loop, const char *host, uint16_t port, loop_fn fn, void *arg);
void httpaddresses_free(struct httpaddresses *a); /* NULL is fine, here and below: an address is a literal */

/* A request is to be sent: looks them up when that is due. namespace_: as in net/dns.h. */
void httpaddresses_want(struct httpaddresses *a, const char *namespace_);
void httpaddresses_doubt(struct httpaddresses *a); /* a request had no answer: not used before they are looked up */
bool httpaddresses_are_awaited(const struct httpaddresses *a); /* a lookup is under way, and nothing is usable before */
/* Why there are none; NULL: there are some, or none are needed. */
const char *httpaddresses_trouble(const struct httpaddresses *a);
/* For httpc_request.addresses; borrowed until the next lookup ends. NULL: none. */
const char *httpaddresses_text(const struct httpaddresses *a);

#endif
