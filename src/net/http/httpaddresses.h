/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_HTTP_HTTPADDRESSES_H
#define NET_HTTP_HTTPADDRESSES_H

/*
 * The addresses of one server that libcurl connects to, from net/dns, so that libcurl looks up
 * nothing itself: it would do so in threads, past the limits of net/dns/names, and keep the result
 * for a minute. Addresses are refreshed in the background while they are still used, so that
 * working connections do not depend on DNS. Owned by net/http/httphost and net/grpc.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "net/loop.h"

struct httpaddresses;

/* fn is called when a lookup has ended, possibly after httpaddresses_want, never inside it. */
bool httpaddresses_is_literal(const char *host); /* an address, without brackets: there is nothing to look up */
struct httpaddresses *httpaddresses_new(struct loop *loop, const char *host, uint16_t port, loop_fn fn, void *arg);
void httpaddresses_free(struct httpaddresses *a); /* NULL is fine, here and below: an address literal */

/* A request will be sent: looks the addresses up if due. namespace_: as in net/dns.h. */
void httpaddresses_want(struct httpaddresses *a, const char *namespace_);
void httpaddresses_doubt(struct httpaddresses *a);             /* no answer: look them up before the next use */
bool httpaddresses_are_awaited(const struct httpaddresses *a); /* none usable until a lookup ends */
/* Why there are no addresses; NULL: there are some, or none are needed. */
const char *httpaddresses_trouble(const struct httpaddresses *a);
/* For httpc_request.addresses; borrowed until the next lookup ends. NULL: none. */
const char *httpaddresses_text(const struct httpaddresses *a);

#endif
