/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_ETCD_ETCDSESSION_H
#define SCALERS_ETCD_ETCDSESSION_H

/*
 * Which member of an etcd is asked, and with which token: one session for all questions and watches
 * with the same place, so that a thousand triggers log in once. A login takes etcd a tenth of a
 * second of computing; its token is used until etcd no longer takes it.
 *
 *   enter     gives a pass: a member, and a token when a user is named. Who comes while a login is
 *             under way waits for it.
 *   complain  a call with that pass has failed: the session goes on to the next member, or drops
 *             the token, and says whether another try with a new pass makes sense.
 *
 * An etcd that knows no users takes everybody, whatever token.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/grpc/grpc.h"
#include "net/loop.h"
#include "scalers/etcd/etcdplace.h"
#include "scalers/sources.h"

struct etcdsession_pool;
struct etcdsession_entry;

/* Owned by scalers/sources; borrows both. */
struct etcdsession_pool *etcdsession_pool_new(struct loop *loop, struct grpc_pool *grpc);
/* Before grpc_pool_free. All entries must be left. NULL is fine. */
void etcdsession_pool_free(struct etcdsession_pool *p);

struct etcdsession_pass {
	size_t member;               /* index into the place's members */
	unsigned login;              /* which one the token is of; 0: none */
	const char *const *metadata; /* for net/grpc; borrowed for the callback only; NULL: none */
};

/*
 * Either pass or err, which names the member. Once, never before etcdsession_enter has returned,
 * never after leave.
 */
typedef void (*etcdsession_fn)(void *arg, const struct etcdsession_pass *pass, const struct err *err);
/* namespace_: borrowed for this call; deadline_ms: loop clock. */
struct etcdsession_entry *etcdsession_enter(struct etcdsession_pool *p, struct etcdplace *place, const char *namespace_,
	int64_t deadline_ms, etcdsession_fn fn, void *arg);
void etcdsession_leave(struct etcdsession_entry *e); /* NULL is fine */

enum etcdsession_advice {
	ETCDSESSION_NO,     /* it would be the same again */
	ETCDSESSION_MEMBER, /* with another member, if there is one */
	ETCDSESSION_TOKEN,  /* with a new token */
};
/* err is left as it is, but for words that repeat a secret. */
enum etcdsession_advice etcdsession_complain(struct etcdsession_pool *p, struct etcdplace *place,
	const struct etcdsession_pass *pass, struct err *err);

extern const struct sources_part etcdsession_part; /* scaler_sources.etcd */

#endif
