/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_LOOP_H
#define NET_LOOP_H

/*
 * The one loop: a libevent base with a monotonic clock, timers, signals, name resolution and work
 * put off to the end of the turn. Every room that waits for something waits here; nothing on it may
 * block. The loop measures its own turns, so a callback that takes long is seen (loop_stats).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct event_base;
struct names;
struct loop;
struct shares;
struct sourcerules;

typedef void (*loop_fn)(void *arg);

/* the process ignores SIGPIPE from here on: a peer that left is an error of its write */
struct loop *loop_new(struct err *err);
void loop_free(struct loop *loop); /* runs the work put off, then frees; timers must be done before */

struct event_base *loop_base(struct loop *loop);          /* borrowed, for the rest of net */
struct names *loop_names(struct loop *loop);              /* borrowed, for net/dns; made when first asked for */
struct sourcerules *loop_source_rules(struct loop *loop); /* borrowed; where triggers' servers may be */
/*
 * Both borrowed: who has connections to them (net/descriptors); who has how many bytes of their
 * answers (net/answers).
 */
struct shares *loop_descriptors(struct loop *loop);
struct shares *loop_answers(struct loop *loop);

/* monotonic, with the time in which the machine was suspended, read anew at each call, never 0 */
int64_t loop_now_ms(const struct loop *loop);

void loop_run(struct loop *loop);  /* until loop_stop, or until there is nothing left to wait for; turn by turn */
void loop_turn(struct loop *loop); /* one turn: waits for at least one event; for tests */
void loop_stop(struct loop *loop); /* loop_run returns at the end of this turn */

/* A one-shot timer that lives inside its owner. Zero-initialised is idle and may be done. */
struct loop_timer {
	size_t place;      /* in net/timerheap; 0: not pending */
	struct loop *loop; /* borrowed */
	int64_t due_ms;    /* loop clock; while pending; 0: at once */
	loop_fn fn;
	void *arg;
};
void loop_timer_init(struct loop_timer *t, struct loop *loop, loop_fn fn, void *arg);
/*
 * sets or moves it; 0 fires in the next turn, never at once; never fires before its time on
 * loop_now_ms
 */
void loop_timer_set(struct loop_timer *t, int64_t delay_ms);
void loop_timer_cancel(struct loop_timer *t);
bool loop_timer_pending(const struct loop_timer *t);
void loop_timer_done(struct loop_timer *t);

/*
 * Work at the end of this turn: it lives inside its owner, is queued once however often asked for,
 * and can be cancelled. This is how a callback is kept from coming before its starting function has
 * returned, and how objects are freed while their callbacks are on the stack.
 */
struct loop_task {
	loop_fn fn;
	void *arg;
	struct loop_task *prev, *next;
	bool queued;
};
void loop_task_init(struct loop_task *t, loop_fn fn, void *arg);
void loop_task_queue(struct loop *loop, struct loop_task *t);
void loop_task_cancel(struct loop *loop, struct loop_task *t);

/* free_fn(ptr) at the end of this turn. */
void loop_free_later(struct loop *loop, void *ptr, void (*free_fn)(void *));

/* Calls fn on each signal `signo` until the loop is freed. */
int loop_on_signal(struct loop *loop, int signo, loop_fn fn, void *arg, struct err *err);

/*
 * For what libevent or a library calls directly (not timers, tasks and signals of the loop): work
 * begins. Cheap. The first of a turn begins its time; when there were many, or that is over, the
 * turn ends with this one.
 */
void loop_enter(struct loop *loop);

/*
 * The priority of libevent's events that are looked at before all others: between any two turns.
 * Only for who is known to be the API server: whoever keeps them ready keeps all others waiting.
 */
#define LOOP_FIRST 0

/*
 * For what would go on in this turn as long as its peer likes, as libevent runs what its callbacks
 * make ready before the turn is over, and tasks wait for that: the turn ends with this callback,
 * all else that is ready runs in the next.
 */
void loop_end_turn(struct loop *loop);

struct loop_stats {
	uint64_t turns;
	int64_t longest_turn_us; /* since the last reset: work between two waits */
	int64_t busy_us;         /* sum of work */
	int64_t longest_lag_ms;  /* since the last reset: how late a timer was */
};
struct loop_stats loop_stats(struct loop *loop, bool reset_longest);
uint64_t loop_turns(const struct loop *loop); /* another number in another turn */

/* Back-off with jitter: 0 failures -> first_ms, doubling, at most max_ms, each +-20%. */
int64_t loop_backoff_ms(unsigned failures, int64_t first_ms, int64_t max_ms);

#endif
