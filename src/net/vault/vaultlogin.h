/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_VAULT_VAULTLOGIN_H
#define NET_VAULT_VAULTLOGIN_H

/*
 * One login to one Vault server, for net/vault: has a token when somebody waits for one, keeps it
 * alive while it is used, and finds out whether a refusal was meant for the token or for what was
 * asked with it.
 *
 *     none -> asking -> ready -> none       (lookup-self of a given token, or login by JWT; ready
 *                                           until it expires or turns out to be dead)
 *             ready -> doubting -> ready, or asking (by JWT), or none
 *
 * The owner (the pool) frees it when nobody waits and it is not in use any more.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "net/loop.h"
#include "net/vault/vaultrequest.h"
#include "net/vault/vaultterms.h"

struct vaultlogin;

/*
 * err NULL: there is a token. Never before vaultlogin_wait returned; exactly once; not after
 * vaultlogin_leave.
 */
typedef void (*vaultlogin_fn)(void *arg, const struct err *err);

struct vaultlogin_waiter { /* lives inside its owner; zero-initialised waits for nothing */
	vaultlogin_fn fn;
	void *arg;
	struct vaultlogin *login; /* NULL: waits for nothing */
	uint64_t number;
	struct vaultlogin_waiter *prev, *next;
};

/*
 * sender: outlives it. All texts are copied. ERR_INVALID names what cannot be used: the address,
 * the token, the mount, the file of authorities (read here).
 */
struct vaultlogin *vaultlogin_new(const struct vaultrequest_sender *sender, const struct vault_server *server,
	const struct vault_login *login, const char *ca_file, bool skip_verify, struct err *err);
/* wipes; waiters hear nothing any more; the memory goes at the end of the turn */
void vaultlogin_free(struct vaultlogin *l);

void vaultlogin_wait(struct vaultlogin *l, struct vaultlogin_waiter *w); /* counts as use */
/*
 * the token of that round was refused: a waiter that finds the round unchanged knows that the token
 * is good
 */
void vaultlogin_doubt(struct vaultlogin *l, struct vaultlogin_waiter *w, uint64_t round);
void vaultlogin_leave(struct vaultlogin_waiter *w);

/* Once it was told that there is a token, until the loop turns: */
const char *vaultlogin_token(const struct vaultlogin *l); /* borrowed */
uint64_t vaultlogin_round(const struct vaultlogin *l);    /* counts the tokens it has had */
const struct vaultrequest_server *vaultlogin_server(const struct vaultlogin *l);

/* loop clock: what was read with the token ends with the token */
void vaultlogin_need(struct vaultlogin *l, int64_t until_ms);
/* when the token ends for certain; 0: it is renewed, or does not end */
int64_t vaultlogin_ends_ms(const struct vaultlogin *l);
bool vaultlogin_in_use(const struct vaultlogin *l);
int64_t vaultlogin_used_ms(const struct vaultlogin *l); /* last, loop clock */

#endif
