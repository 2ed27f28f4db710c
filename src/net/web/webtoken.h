/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_WEB_WEBTOKEN_H
#define NET_WEB_WEBTOKEN_H

/*
 * OAuth 2 access tokens by client credentials (RFC 6749, 4.4): one per client
 * (webaccess_token_key), fetched at first use, shared by all requests, renewed in the background
 * after four fifths of its life, and again after a server has refused it. The client's id and
 * secret are sent as Basic credentials or, when the token server does not accept that, in the form;
 * what worked is remembered. Part of net/web/webget, which sends the requests.
 */

#include <stddef.h>

#include "base/err.h"
#include "net/loop.h"
#include "net/web/webaccess.h"

struct webtoken;
struct webtoken_store;
struct webtoken_wait;

/*
 * Posts the form (secret, borrowed) to the token server. The response, or status 0 when the
 * transport failed, is passed to webtoken_answered, never before this returns.
 */
typedef void (*webtoken_post_fn)(void *arg, const char *url, struct webaccess *a, const char *form, struct webtoken *t);
void webtoken_answered(struct webtoken *t, int status, const char *body, size_t len, const struct err *transport);

struct webtoken_store *webtoken_store_new(struct loop *loop, webtoken_post_fn post, void *arg);
/* Waiting callers end without callbacks. No post may be under way. */
void webtoken_store_free(struct webtoken_store *s);

/*
 * token (borrowed; secret) or err. Called exactly once, never before webtoken_ask has returned. A
 * failure is cached for a second.
 */
typedef void (*webtoken_fn)(void *arg, const char *token, const struct err *err);
struct webtoken_wait *webtoken_ask(struct webtoken_store *s, struct webaccess *access, webtoken_fn fn, void *arg);
void webtoken_cancel(struct webtoken_wait *w); /* no callback any more; NULL is fine */

/* A server has refused the token: it is dropped, unless there is a newer one already. */
void webtoken_reject(struct webtoken_store *s, const struct webaccess *access, const char *token);

/*
 * Parses the token server's response; public for tests and fuzzing. Returns the token (owned by the
 * caller; secret) and its life in ms (0: unknown), or NULL with err, which quotes nothing but the
 * error code.
 */
char *webtoken_parse(int status, const char *body, size_t len, int64_t *life_ms, struct err *err);

#endif
