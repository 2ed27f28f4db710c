/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_MYSQL_COROUTINE_H
#define NET_MYSQL_COROUTINE_H

/*
 * A function with a stack of its own that can be left in the middle and taken up again: for
 * libraries that wait by themselves, in the depth of their calls, for what the loop could wait for.
 * No thread: whoever resumes it goes on when it waits or has ended. The stack is mapped with a
 * guard page below it, and only what is used of it costs memory; one free stack is kept.
 *
 * Sanitizers are told about each change of stacks, as their interface asks for it.
 */

#include <stdbool.h>

struct coroutine;
typedef void (*coroutine_fn)(void *arg);

#define COROUTINE_STACK_BYTES                                                                                          \
	((size_t)256 * 1024) /* of addresses: a TLS handshake with a chain of certificates touches about 40 KiB */

struct coroutine *coroutine_new(coroutine_fn fn, void *arg); /* does not run yet */
/*
 * runs it until it waits (true) or has ended (false; then only coroutine_free is left). Not from
 * inside a coroutine
 */
bool coroutine_resume(struct coroutine *co);
void coroutine_wait(struct coroutine *co); /* only from inside: back to whoever resumed it */
/* whether its function is what runs now; NULL gives false */
bool coroutine_inside(const struct coroutine *co);
void coroutine_free(struct coroutine *co); /* one that has ended, or has never run; NULL is fine */

#endif
