/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_WEB_WEBHOST_H
#define NET_WEB_WEBHOST_H

/*
 * The servers that net/web/webget asks: how many requests each has under way, who waits for a turn,
 * and where its name leads. A name is looked up on the loop, kept, and looked up again in the
 * background while what was found is still used: connections that live do not depend on it. A
 * server that nobody asked for five minutes is forgotten.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "net/http/httpurl.h"
#include "net/loop.h"

struct webhost_table;
struct webhost;

/*
 * Requests under way per server; with HTTP/1.1 more than the connections: the rest waits inside
 * libcurl.
 */
#define WEBHOST_UNDER_WAY   32
#define WEBHOST_CONNECTIONS 8

struct webhost_table *webhost_table_new(struct loop *loop);
void webhost_table_free(struct webhost_table *t); /* turns that are left end without callbacks */

/* by_proxy: the name is somebody else's to look up. */
struct webhost *webhost_get(struct webhost_table *t, const struct httpurl_place *place, bool by_proxy);

/* One wait for one request; lives inside its owner. */
struct webhost_turn {
	struct webhost *host; /* NULL: neither waiting nor under way */
	bool under_way;
	/*
	 * It may start (err NULL; then webhost_leave is due), or cannot (it has left already).
	 * Never before webhost_wait has returned.
	 */
	void (*fn)(void *arg, const struct err *err);
	void *arg;
	unsigned attempts; /* to reach the server, when it began to wait */
	struct webhost_turn *prev, *next;
};
void webhost_wait(struct webhost *h, struct webhost_turn *turn, void (*fn)(void *arg, const struct err *err),
	void *arg);
void webhost_leave(struct webhost_turn *turn); /* no longer waiting or under way; nothing to do is fine */

const char *webhost_addresses(const struct webhost *h); /* for httpc_request.addresses; NULL: nothing to say */
/*
 * a connection failed: the name is looked up before the next, and whether anybody answers there
 * (net/probe): while nobody does, turns wait
 */
void webhost_unanswered(struct webhost *h);
/* why nobody gets a turn: the server cannot be reached; NULL */
const struct err *webhost_lost(const struct webhost *h);
/*
 * A request had no answer. One connection may be at fault; with HTTP/1.1 it is closed with its
 * request, but one of HTTP/2 stays and takes all that follow: for a minute it is not used.
 */
void webhost_hung(struct webhost *h);
bool webhost_wants_http1(const struct webhost *h);
bool webhost_looking_up(const struct webhost *h);    /* nobody gets a turn before that has ended */
const char *webhost_origin(const struct webhost *h); /* "https://host:443" */

#endif
