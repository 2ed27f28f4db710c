/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_REQUEST_H
#define SERVE_REQUEST_H

/*
 * One request from its start to its reply: its route is found, its user authenticated and
 * authorized, then its handler is called, which ends it with request_reply, now or later. Each step
 * may have to wait, and the client may leave meanwhile.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/objects/store.h"
#include "net/httpd/httpd.h"
#include "serve/access/authn.h"
#include "serve/access/authz.h"
#include "serve/access/requester.h"
#include "serve/apistatus.h"
#include "serve/parts.h"
#include "serve/router.h"

#define REQUEST_NAMESPACE_MAX 64
#define REQUEST_NAME_MAX      1024

struct request {
	struct serve *serve;
	struct httpd_request *http; /* NULL once the client has left */
	enum route_port port;
	const struct route *route; /* NULL: unknown path */
	const char *shown;         /* in logs, instead of a secret path; NULL: the path */
	struct route_parts parts;
	struct requester *user; /* owns a reference; NULL on free paths */
	const char *method;     /* a literal */
	int64_t started_us;
	char *logged;                /* for the access log; owned; kept while it waits, as the client may leave; NULL */
	struct request *prev, *next; /* in serve->waiting while it waits */
	bool waiting;
	void *wait; /* what it waits for, and what cancels that; give_up NULL: nothing */
	void (*give_up)(void *wait);
	/* ROUTE_RESOURCE: decoded from the path; "" where it has none. */
	char *name; /* of the metric, or of the object; owned; less than REQUEST_NAME_MAX bytes */
	char namespace_[REQUEST_NAMESPACE_MAX];
	char key[STORE_KEY_MAX]; /* of a metric's object; by the handler, from the selector */
};

/* Takes a request from the HTTP server of this port; every request ends with one reply. */
void request_start(struct serve *s, enum route_port port, struct httpd_request *http);

/*
 * The next step, or the handler's reply, will come later: if the client leaves first, give_up is
 * called and the request ends. The callback of what it waits for sets give_up back to NULL.
 */
void request_wait(struct request *r, void *wait, void (*give_up)(void *wait));

/* Answers, logs, counts, and ends the request: `r` is gone. */
void request_reply(struct request *r, int status, const char *content_type, const void *body, size_t len);

/* The same with a Status object, and with the header that goes with its code. */
void request_refuse(struct request *r, enum apistatus what, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Answers all waiting requests with 503, before the server is freed. */
void request_end_all(struct serve *s);

#endif
