/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_HTTP_HTTPHOST_H
#define NET_HTTP_HTTPHOST_H

/*
 * The servers that are asked over HTTP for scalers: how many requests each has under way, who waits
 * for a turn, and where its name leads. A name is looked up on the loop, kept, and looked up again
 * in the background while what was found is still used: connections that live do not depend on it.
 * A server that nobody asked for five minutes is forgotten.
 *
 * Turns go round by namespace: whoever has nothing under way comes before whoever has. And who has
 * nothing under way does not wait for requests of others that hang: those that have been under way
 * for HTTPHOST_PATIENCE_MS do not count for him.
 *
 * What has its turn is sent: libcurl never makes it wait. It has one queue for all servers and
 * looks, when a connection becomes free, only at its head, so that one server that hangs would
 * delay who asks another.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "net/http/httpurl.h"
#include "net/loop.h"

struct httphost_table;
struct httphost;

#define HTTPHOST_CONNECTIONS 8  /* requests under way per server, each over one of its own */
#define HTTPHOST_STREAMS     64 /* with HTTP/2, where they share one */
#define HTTPHOST_PATIENCE_MS 250
#define HTTPHOST_EXTRA       64 /* at most so many more, each of another namespace */

/*
 * Proxies are those of the environment as it is now: the names that libcurl looks at, and Go's
 * HTTP_PROXY, which it does not.
 */
struct httphost_table *httphost_table_new(struct loop *loop);
void httphost_table_free(struct httphost_table *t); /* turns that are left end without callbacks */

/*
 * Behind a proxy, a name is the proxy's to look up, and nobody is probed. Borrowed for the turn of
 * the loop, and while somebody waits there or is under way. namespace_: who asks; the first one
 * answers for probes.
 */
struct httphost *httphost_get(struct httphost_table *t, const struct httpurl_place *place, const char *namespace_);

/* One wait for one request; lives inside its owner. */
struct httphost_turn {
	struct httphost *host; /* NULL: neither waiting nor under way */
	struct httphost_party *party;
	bool under_way, connecting;
	/*
	 * It may start (err NULL; then httphost_leave is due), or cannot (it has left already).
	 * Never before httphost_wait has returned.
	 */
	void (*fn)(void *arg, const struct err *err);
	void *arg;
	unsigned attempts; /* to reach the server, when it began to wait */
	int64_t started_ms;
	struct httphost_turn *prev, *next;             /* all who wait, or all under way */
	struct httphost_turn *party_prev, *party_next; /* those of one party */
};
/* namespace_: whose request it is; copied; "": of several, or of nobody. */
void httphost_wait(struct httphost *h, struct httphost_turn *turn, const char *namespace_,
	void (*fn)(void *arg, const struct err *err), void *arg);
void httphost_leave(struct httphost_turn *turn); /* no longer waiting or under way; nothing to do is fine */
/*
 * Under way, it has its connection (httpc_events.on_connected): until then nobody else opens one
 * who might share it.
 */
void httphost_connected(struct httphost_turn *turn, bool http2);

const char *httphost_proxy(const struct httphost *h);     /* for httpc_server.proxy_url; NULL: libcurl knows */
const char *httphost_addresses(const struct httphost *h); /* for httpc_request.addresses; NULL: nothing to say */
/*
 * a connection failed: the name is looked up before the next, and whether anybody answers there
 * (net/probe): while nobody does, turns wait
 */
void httphost_unanswered(struct httphost *h);
/* why nobody gets a turn: the server cannot be reached; NULL */
const struct err *httphost_lost(const struct httphost *h);
/*
 * A request had no answer. One connection may be at fault; with HTTP/1.1 it is closed with its
 * request, but one of HTTP/2 stays and takes all that follow: for a minute it is not used.
 */
void httphost_hung(struct httphost *h);
bool httphost_wants_http1(const struct httphost *h);
bool httphost_looking_up(const struct httphost *h);    /* nobody gets a turn before that has ended */
const char *httphost_origin(const struct httphost *h); /* "https://host:443" */

#endif
