/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_VAULT_VAULTLOGIN_H
#define NET_VAULT_VAULTLOGIN_H

/*
 * One login to one Vault server, for net/vault: gets a token for its waiters, renews it while it is
 * used, and finds out whether a refused request was the token's fault.
 *
 *     none -> asking -> ready -> none       (lookup-self of a given token, or login by JWT; ready
 *                                           until it expires or turns out to be invalid)
 *             ready -> checking -> ready, or asking (by JWT), or none
 *
 * The owner (the pool) frees it when it has no waiters and is no longer in use.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "net/loop.h"
#include "net/vault/vaultrequest.h"
#include "net/vault/vaultterms.h"

struct vaultlogin;

/*
 * err NULL: there is a token. Called exactly once, never before vaultlogin_wait has returned, never
 * after vaultlogin_leave.
 */
typedef void (*vaultlogin_fn)(void *arg, const struct err *err);

struct vaultlogin_waiter { /* a member of its owner; zeroed: not waiting */
	vaultlogin_fn fn;
	void *arg;
	struct vaultlogin *login; /* NULL: not waiting */
	uint64_t number;
	struct vaultlogin_waiter *prev, *next;
};

/*
 * client: must outlive the login. Texts are copied. NULL with ERR_INVALID, which names what is
 * invalid: address, token, mount, or the CA file (read here).
 */
struct vaultlogin *vaultlogin_new(struct loop *loop, struct webclient *client, const struct vault_server *server,
	const struct vault_login *login, const char *ca_file, bool skip_verify, struct err *err);
/* Wipes it; waiters get no callback. The memory is freed at the end of the turn. */
void vaultlogin_free(struct vaultlogin *l);

/*
 * This namespace uses the login, too. A login that several namespaces use counts for none of them.
 */
void vaultlogin_share(struct vaultlogin *l, const char *asker);
void vaultlogin_wait(struct vaultlogin *l, struct vaultlogin_waiter *w); /* counts as use */
/*
 * The token of that generation was refused: checks whether it is still valid. If the generation is
 * the same in the callback, it is.
 */
void vaultlogin_recheck(struct vaultlogin *l, struct vaultlogin_waiter *w, uint64_t generation);
void vaultlogin_leave(struct vaultlogin_waiter *w);

/* Valid from the callback until the end of the turn: */
const char *vaultlogin_token(const struct vaultlogin *l);   /* borrowed */
uint64_t vaultlogin_generation(const struct vaultlogin *l); /* number of the token */
const struct vaultrequest_server *vaultlogin_server(const struct vaultlogin *l);

/* A value read with the token is used until then (loop clock) and expires with the token. */
void vaultlogin_need(struct vaultlogin *l, int64_t until_ms);
/* When the token expires without renewal (loop clock); 0: it is renewed, or does not expire. */
int64_t vaultlogin_ends_ms(const struct vaultlogin *l);
bool vaultlogin_in_use(const struct vaultlogin *l);
int64_t vaultlogin_used_ms(const struct vaultlogin *l); /* last use; loop clock */

#endif
