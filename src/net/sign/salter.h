/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_SIGN_SALTER_H
#define NET_SIGN_SALTER_H

/*
 * Salts passwords for SCRAM logins (net/sign/scram), with as many iterations as each server
 * demands. They run in slices between turns of the loop, at most half of the time, and namespaces
 * take turns after each piece: a namespace with a thousand logins and the most iterations delays
 * others by a few pieces only. Within a namespace the oldest is first, and its result serves those
 * behind it with the same salt, such as a cluster's brokers. Net/kafka, net/mongo and net/pg share
 * one salter.
 */

#include "base/fairqueue.h"
#include "net/loop.h"
#include "net/sign/scram.h"

struct salter;

struct salter *salter_new(struct loop *loop);
void salter_free(struct salter *s); /* no callbacks; NULL is fine */

/* A waiting login; a member of its owner. Zeroed: not waiting. */
struct salter_turn {
	struct fairqueue_entry entry; /* first */
	struct scram *scram;          /* borrowed, like memory */
	struct scram_memory *memory;
	loop_fn fn;
	void *arg;
};

/*
 * Calls fn(arg) once the password is salted (scram_final is next): from the loop, exactly once,
 * never before this returns. namespace_: "" for several.
 */
void salter_ask(struct salter *s, struct salter_turn *t, const char *namespace_);
void salter_leave(struct salter_turn *t); /* no callback; fine when not waiting */

#endif
