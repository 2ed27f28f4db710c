/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_SIGN_SALTER_H
#define NET_SIGN_SALTER_H

/*
 * Computes what SCRAM logins need before they can go on (net/sign/scram): as many iterations as
 * each server names, for as many servers as there are. They are computed in slices between turns of
 * the loop, at most half of the time, and namespaces take turns after each piece: logins of one, at
 * a thousand servers with the most iterations, keep those of others waiting for a few of theirs. In
 * a namespace the oldest is first, and what it computed serves those behind it, as a cluster's
 * brokers have one salt for a user. Net/kafka, net/mongo and net/pg share one.
 */

#include "base/fairqueue.h"
#include "net/loop.h"
#include "net/sign/scram.h"

struct salter;

struct salter *salter_new(struct loop *loop);
void salter_free(struct salter *s); /* no callback any more; NULL is fine */

/* One that waits; a member of its owner. Zeroed it does not. */
struct salter_turn {
	struct fairqueue_entry entry; /* first */
	struct scram *scram;          /* borrowed, as is: */
	struct scram_memory *memory;
	loop_fn fn;
	void *arg;
};

/*
 * fn(arg) once the password is salted (scram_final is next): from the loop, exactly once, never
 * before this returns. namespace_: for whom; "" for several.
 */
void salter_ask(struct salter *s, struct salter_turn *t, const char *namespace_);
void salter_leave(struct salter_turn *t); /* no callback any more; fine when it does not wait */

#endif
