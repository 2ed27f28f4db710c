/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_MYSQL_COROUTINE_H
#define NET_MYSQL_COROUTINE_H

/*
 * A coroutine: a function with its own stack that can be suspended and resumed, for libraries that
 * block inside nested calls on events that the loop can watch. No threads: coroutine_resume
 * returns when the function waits or has ended. The stack is mapped with a guard page below it, and
 * only its used pages cost memory; one free stack is cached.
 *
 * Sanitizers are informed of each stack switch, as their interface requires.
 */

#include <stdbool.h>

struct coroutine;
typedef void (*coroutine_fn)(void *arg);

#define COROUTINE_STACK_BYTES                                                                                          \
	((size_t)256 * 1024) /* address space; a TLS handshake with a certificate chain uses about 40 KiB */

struct coroutine *coroutine_new(coroutine_fn fn, void *arg); /* not started yet */
/*
 * Runs it until it waits (true) or has ended (false; then only coroutine_free may follow). Not from
 * inside a coroutine.
 */
bool coroutine_resume(struct coroutine *co);
void coroutine_wait(struct coroutine *co); /* only from inside: returns to coroutine_resume's caller */
/* Whether it is running now; NULL gives false. */
bool coroutine_inside(const struct coroutine *co);
void coroutine_free(struct coroutine *co); /* it must have ended, or not have started; NULL is fine */

#endif
