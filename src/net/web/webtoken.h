/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_WEB_WEBTOKEN_H
#define NET_WEB_WEBTOKEN_H

/*
 * The credentials of identities (net/identity): one per identity, exchanged at first use, shared by
 * all requests, renewed in the background after four fifths of its life, of AWS five minutes before
 * its end at latest, and again after a server has refused it, but not again and again. How long it
 * lives is what a server says, or the difference between its clock and ours, so that it may be
 * nothing: each is used for 5 s at least, and whoever it is shown to says whether it is over.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "net/identity/identity.h"
#include "net/loop.h"
#include "net/web/webclient.h"

struct webtoken_store;
struct webtoken_wait;

/*
 * client: borrowed for the store's life; sends the requests of the exchanges. environment: copied;
 * NULL: this process's.
 */
struct webtoken_store *webtoken_store_new(struct loop *loop, struct webclient *client,
	const struct identity_environment *environment);
/* Whether identities may ask the machine's metadata server; at first they may not. */
void webtoken_allow_metadata(struct webtoken_store *s, bool allowed);
void webtoken_store_free(struct webtoken_store *s); /* waiting callers end without callbacks */

/*
 * credential (borrowed; secret) or err. Called exactly once, never before webtoken_ask has
 * returned. A failure is cached for a second, or as long as the server asked for with it, ten
 * minutes at most. namespace_: who asks (NULL: several, or none), and so whose turns and shares an
 * exchange that begins now uses, unless it is of kscaled's own identity, which all need.
 */
typedef void (*webtoken_fn)(void *arg, const struct credential *credential, const struct err *err);
struct webtoken_wait *webtoken_ask(struct webtoken_store *s, struct identity *identity, const char *namespace_,
	webtoken_fn fn, void *arg);
/* The same where one is kept: borrowed until the turn ends. NULL: it must be asked for. */
const struct credential *webtoken_kept(struct webtoken_store *s, struct identity *identity, const char *namespace_);
void webtoken_cancel(struct webtoken_wait *w); /* no callback any more; NULL is fine */

/*
 * A server has refused the credential. True: asking again gives another one, as it is dropped now,
 * or there is a newer one already. False: it is kept, as those before it were refused just now. A
 * server that refuses each new one has the next made after 5 s, then 10, and so on to a minute, so
 * that who makes them is not asked with each poll; other servers may well take it.
 */
bool webtoken_reject(struct webtoken_store *s, const struct identity *identity, const struct credential *refused);

/*
 * When a credential with this life is renewed, in ms after it came: after four fifths of it, or so
 * long before its end if that is earlier, but not in its first half.
 */
int64_t webtoken_due_ms(int64_t life_ms, int64_t early_ms);

#endif
