/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_KUBE_FAKEAPI_H
#define TESTS_UNIT_KUBE_FAKEAPI_H

/*
 * An API server that a test plays itself: plain HTTP on a free loopback port, on the test's own
 * loop. A request stays open until the test has looked at it and answers, in any order; so a test
 * reads as the talk between the two, and waits for nothing but the next request.
 */

#include <stdbool.h>
#include <stddef.h>

#include "kube/config.h"
#include "net/loop.h"

struct fakeapi;

struct fakeapi_request { /* lives until fakeapi_free */
	struct fakeapi_request *next;
	char *method, *uri, *body;
	int64_t timeout_ms;                                       /* the time-out removed from its address; 0: none */
	char *authorization, *content_type, *accept, *user_agent; /* "" when absent */
	struct evhttp_request *req;                               /* NULL once answered or cut */
};

struct fakeapi *fakeapi_new(struct loop *loop);
void fakeapi_free(struct fakeapi *f);
const char *fakeapi_url(const struct fakeapi *f);

/* A configuration for this server, without files behind it. */
struct kube_config fakeapi_config(const struct fakeapi *f, const char *token);

/* Turns the loop until the next request has come, in the order in which they came. */
struct fakeapi_request *fakeapi_next(struct fakeapi *f);
/*
 * The same, and it must be this: "GET /path..." (the whole URI) or, with a star at the end, its
 * start.
 */
struct fakeapi_request *fakeapi_expect(struct fakeapi *f, const char *what);
size_t fakeapi_waiting(const struct fakeapi *f); /* requests that came and were not looked at */

void fakeapi_reply(struct fakeapi_request *r, int status, const char *json);
void fakeapi_reply_retry_after(struct fakeapi_request *r, int status, const char *json, const char *retry_after);
void fakeapi_stream_start(struct fakeapi_request *r);
void fakeapi_stream_send(struct fakeapi_request *r, const char *text);
void fakeapi_stream_end(struct fakeapi_request *r); /* cleanly */
void fakeapi_cut(struct fakeapi_request *r);        /* the connection is closed, whatever was under way */

/* Turns the loop until *flag. A test that hangs is ended by an alarm after a minute. */
void fakeapi_turn_until(struct fakeapi *f, const bool *flag);
/* Turns the loop for so long: to see that nothing happens. */
void fakeapi_turn_for(struct fakeapi *f, int64_t ms);

#endif
