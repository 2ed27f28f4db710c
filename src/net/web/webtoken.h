/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_WEB_WEBTOKEN_H
#define NET_WEB_WEBTOKEN_H

/*
 * Caches the credentials of identities (net/identity): one per identity, fetched at first use,
 * shared by all requests. It is renewed in the background after four fifths of its life, for AWS at
 * the latest five minutes before its end, and, with back-off, after a server has refused it. The
 * life comes from the server, or from the difference between its clock and ours, so it may be zero:
 * each credential is used for at least 5 s, and the server that receives it decides whether it is
 * valid.
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
 * client: borrowed for the store's life; sends the exchanges' requests. environment: copied; NULL:
 * this process's.
 */
struct webtoken_store *webtoken_store_new(struct loop *loop, struct webclient *client,
	const struct identity_environment *environment);
/* Whether identities may ask the cloud's metadata server; default: no. */
void webtoken_allow_metadata(struct webtoken_store *s, bool allowed);
void webtoken_store_free(struct webtoken_store *s); /* waiting callers end without callbacks */

/*
 * credential (borrowed; secret) or err. Called exactly once, never before webtoken_ask has
 * returned. A failure is cached for a second, or for the server's Retry-After, ten minutes at most.
 * namespace_: the asking namespace (NULL: several, or none), whose turns and shares an exchange
 * that starts now uses; kscaled's own identity, which all need, uses none.
 */
typedef void (*webtoken_fn)(void *arg, const struct credential *credential, const struct err *err);
struct webtoken_wait *webtoken_ask(struct webtoken_store *s, struct identity *identity, const char *namespace_,
	webtoken_fn fn, void *arg);
/* The cached credential, borrowed until the turn ends; NULL: call webtoken_ask. */
const struct credential *webtoken_cached(struct webtoken_store *s, struct identity *identity, const char *namespace_);
void webtoken_cancel(struct webtoken_wait *w); /* no callback; NULL is fine */

/*
 * A server has refused the credential. True: webtoken_ask gives another one, as this one is dropped
 * now or was replaced already. False: it is kept, as one was dropped only just before. If every new
 * credential is refused, renewals back off from 5 s to a minute, so that the token server is not
 * asked with each poll; other servers may accept the credential.
 */
bool webtoken_reject(struct webtoken_store *s, const struct identity *identity, const struct credential *refused);

/*
 * The age in ms at which a credential with this life is renewed: four fifths of its life, or
 * early_ms before its end if that is earlier, but not in its first half.
 */
int64_t webtoken_due_ms(int64_t life_ms, int64_t early_ms);

#endif
