/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_ETCD_ETCDSESSION_H
#define SCALERS_ETCD_ETCDSESSION_H

/*
 * Logs in to etcd and chooses the member to query: one session for all questions and watches of the
 * same cluster, so that a thousand triggers log in once. A login costs etcd a tenth of a second of
 * CPU time; the token is used until etcd rejects it.
 *
 *   enter     hands out a pass: a member, and a token if the trigger has a user. Waits for a login
 *             in progress.
 *   complain  reports that a call with a pass has failed. The session moves to the next member or
 *             drops the token, and advises whether to retry with a new pass.
 *
 * An etcd with authentication disabled accepts requests without a token.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/grpc/grpc.h"
#include "net/loop.h"
#include "scalers/etcd/etcdcluster.h"
#include "scalers/sources.h"

struct etcdsession_pool;
struct etcdsession_entry;

struct etcdsession_pass {
	size_t member;               /* index into the cluster's members */
	unsigned login;              /* the login that issued the token; 0: none */
	const char *const *metadata; /* for net/grpc; borrowed for the callback only; NULL: none */
};

/*
 * Receives a pass, or err, which names the member. Called once, never before etcdsession_enter has
 * returned, never after leave.
 */
typedef void (*etcdsession_fn)(void *arg, const struct etcdsession_pass *pass, const struct err *err);
/* namespace_: borrowed for this call; deadline_ms: loop clock. */
struct etcdsession_entry *etcdsession_enter(struct etcdsession_pool *p, struct etcdcluster *cluster,
	const char *namespace_, int64_t deadline_ms, etcdsession_fn fn, void *arg);
void etcdsession_leave(struct etcdsession_entry *e); /* NULL is fine */

enum etcdsession_advice {
	ETCDSESSION_NO,     /* do not retry */
	ETCDSESSION_MEMBER, /* retry at another member, if there is one */
	ETCDSESSION_TOKEN,  /* retry with a new token */
};
/* Changes err only if its message contains a secret. */
enum etcdsession_advice etcdsession_complain(struct etcdsession_pool *p, struct etcdcluster *cluster,
	const struct etcdsession_pass *pass, struct err *err);

extern const struct sources_part etcdsession_part; /* scaler_sources.etcd */

#endif
