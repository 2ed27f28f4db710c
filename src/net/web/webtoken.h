/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_WEB_WEBTOKEN_H
#define NET_WEB_WEBTOKEN_H

/*
 * OAuth 2 access tokens by client credentials (RFC 6749, 4.4): one per client
 * (webaccess_token_key), fetched when first needed, shared by all who ask, renewed in the
 * background when four fifths of its life are over, and again after a server refused it. The
 * client's id and secret go as Basic, and, when the token's server does not take that, in the form;
 * the way that worked is kept. Part of net/web/webget, which posts for it.
 */

#include <stddef.h>

#include "base/err.h"
#include "net/loop.h"
#include "net/web/webaccess.h"

struct webtoken;
struct webtoken_store;
struct webtoken_wait;

/*
 * Posts the form (a secret, borrowed) to the server of tokens. What comes back, a failure of the
 * transport with status 0, is told by webtoken_answered, never before the function returned.
 */
typedef void (*webtoken_post_fn)(void *arg, const char *url, struct webaccess *a, const char *form, struct webtoken *t);
void webtoken_answered(struct webtoken *t, int status, const char *body, size_t len, const struct err *transport);

struct webtoken_store *webtoken_store_new(struct loop *loop, webtoken_post_fn post, void *arg);
/* who waits is dropped without callbacks; no post is under way any more */
void webtoken_store_free(struct webtoken_store *s);

/*
 * token (borrowed; a secret) or err. Exactly once, never before webtoken_ask has returned. A
 * failure is kept for a second.
 */
typedef void (*webtoken_fn)(void *arg, const char *token, const struct err *err);
struct webtoken_wait *webtoken_ask(struct webtoken_store *s, struct webaccess *access, webtoken_fn fn, void *arg);
void webtoken_cancel(struct webtoken_wait *w); /* no callback any more; NULL is fine */

/* A server did not take it: it is forgotten, unless there is a newer one already. */
void webtoken_reject(struct webtoken_store *s, const struct webaccess *access, const char *token);

/*
 * What a token's server answered, for tests and fuzzing: the token (caller owns; a secret) and its
 * life in ms (0: it said none), or NULL. An error repeats nothing but the error's code.
 */
char *webtoken_parse(int status, const char *body, size_t len, int64_t *life_ms, struct err *err);

#endif
