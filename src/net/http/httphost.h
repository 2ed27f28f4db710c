/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_HTTP_HTTPHOST_H
#define NET_HTTP_HTTPHOST_H

/*
 * Schedules HTTP requests of scalers per server: limits the requests under way, queues the others,
 * and resolves the server's name. Addresses are looked up on the loop, cached, and refreshed in the
 * background while the cached ones are still used, so that working connections do not depend on
 * DNS. A server without requests is dropped after five minutes, or earlier if its namespace has
 * many of them: redirects let a tenant create any number.
 *
 * Turns alternate between namespaces: one with no request under way comes before one that has some.
 * Nor does it wait for others' requests that hang: a request that has been under way for
 * HTTPHOST_PATIENCE_MS does not count against it.
 *
 * A request that gets its turn is sent at once; libcurl never queues it. libcurl has one queue for
 * all servers and looks only at its head when a connection becomes free, so that one hanging server
 * would delay requests to others.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "net/http/httpurl.h"
#include "net/loop.h"

struct httphost_table;
struct httphost;

#define HTTPHOST_CONNECTIONS 8  /* requests under way per server with HTTP/1.1, each on its own connection */
#define HTTPHOST_FEW         4  /* to a server of httphost_spare */
#define HTTPHOST_STREAMS     64 /* with HTTP/2, on one shared connection */
#define HTTPHOST_PATIENCE_MS 250
#define HTTPHOST_EXTRA       64 /* at most this many more, each of a namespace with none under way */

/*
 * Reads proxies from the environment now: the variables that libcurl knows, and Go's HTTP_PROXY,
 * which it does not.
 */
struct httphost_table *httphost_table_new(struct loop *loop);
void httphost_table_free(struct httphost_table *t);    /* remaining turns end without callbacks */
size_t httphost_known(const struct httphost_table *t); /* for tests */

/*
 * Returns the entry of a server, creating it if needed; the caller waits there next. Borrowed for
 * this turn of the loop, and while a turn waits or is under way there. Behind a proxy, names are
 * not looked up and servers not probed. namespace_: on whose behalf; lookups and probes count for
 * the newest one.
 */
struct httphost *httphost_get(struct httphost_table *t, const struct httpurl_place *place, const char *namespace_);

/*
 * From now on at most HTTPHOST_FEW requests by HTTP/1.1: for servers where each request is
 * expensive.
 */
void httphost_spare(struct httphost *h);

/* The turn of one request; a member of its owner. */
struct httphost_turn {
	struct httphost *host; /* NULL: neither waiting nor under way */
	struct httphost_party *party;
	bool under_way, connecting;
	/*
	 * err NULL: the request may start, and httphost_leave must follow. Otherwise it cannot
	 * start and has left already. Never called before httphost_wait has returned.
	 */
	void (*fn)(void *arg, const struct err *err);
	void *arg;
	unsigned attempts; /* number of probe attempts when it began to wait */
	int64_t started_ms;
	struct httphost_turn *prev, *next;             /* of all that wait, or all under way */
	struct httphost_turn *party_prev, *party_next; /* of one namespace */
};
/* namespace_: whose request it is; copied; "" for several or none. */
void httphost_wait(struct httphost *h, struct httphost_turn *turn, const char *namespace_,
	void (*fn)(void *arg, const struct err *err), void *arg);
void httphost_leave(struct httphost_turn *turn); /* ends waiting or being under way; fine if neither */
/*
 * The request under way has its connection (httpc_events.on_connected). Until then no other request
 * opens one that it might share.
 */
void httphost_connected(struct httphost_turn *turn, bool http2);

const char *httphost_proxy(const struct httphost *h);     /* for httpc_server.proxy_url; NULL: left to libcurl */
const char *httphost_addresses(const struct httphost *h); /* for httpc_request.addresses; NULL: none */
/*
 * A connection failed: the name is looked up before the next request, and net/probe tries the
 * server; while it is lost, turns wait.
 */
void httphost_unanswered(struct httphost *h);
/* Why the server cannot be reached; no turn starts meanwhile. NULL: it can. */
const struct err *httphost_lost(const struct httphost *h);
/*
 * A request got no response, perhaps because of its connection. An HTTP/1.1 connection is closed
 * with its request, but an HTTP/2 one would stay and take all further requests: for two minutes
 * HTTP/1.1 is used.
 */
void httphost_hung(struct httphost *h);
bool httphost_wants_http1(const struct httphost *h);
bool httphost_looking_up(const struct httphost *h);    /* a lookup is under way, and no turn starts before its end */
const char *httphost_origin(const struct httphost *h); /* "https://host:443" */

#endif
