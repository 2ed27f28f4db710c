/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_LOOP_H
#define NET_LOOP_H

/*
 * The event loop: a libevent base with a monotonic clock, timers, signals, and tasks that
 * run at the end of a turn. The process has one. Everything that waits registers here;
 * no callback may block. The loop measures its turns, so that a slow callback shows (loop_stats).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct event_base;
struct loop;

typedef void (*loop_fn)(void *arg);

/*
 * The process ignores SIGPIPE from now on: a write to a peer that has left returns an error. NULL
 * with err.
 */
struct loop *loop_new(struct err *err);
void loop_free(struct loop *loop); /* runs the queued tasks first; timers must be done before; NULL is fine */

struct event_base *loop_base(struct loop *loop); /* borrowed, for the rest of net */

/* Lets the loop free ptr after its tasks have run; for net/network. NULL until loop_keep. */
void loop_keep(struct loop *loop, void *ptr, void (*free_fn)(void *));
void *loop_kept(const struct loop *loop);

/* CLOCK_BOOTTIME: monotonic, counts suspended time, too. Read at each call; never 0. */
int64_t loop_now_ms(const struct loop *loop);

void loop_run(struct loop *loop);  /* until loop_stop, or until nothing is left to wait for */
void loop_turn(struct loop *loop); /* one turn, which waits for at least one event; for tests */
void loop_stop(struct loop *loop); /* loop_run returns at the end of this turn */

/*
 * A one-shot timer, a member of its owner. Zeroed it is not pending and may be cancelled or done.
 */
struct loop_timer {
	size_t place;      /* its index in net/timerheap; 0: not pending */
	struct loop *loop; /* borrowed */
	int64_t due_ms;    /* loop clock; while pending; 0: at once */
	loop_fn fn;
	void *arg;
};
void loop_timer_init(struct loop_timer *t, struct loop *loop, loop_fn fn, void *arg);
/*
 * Sets or moves it. A delay of 0 or less fires in the next turn, never within this call. It never
 * fires before its time on loop_now_ms.
 */
void loop_timer_set(struct loop_timer *t, int64_t delay_ms);
void loop_timer_cancel(struct loop_timer *t);
bool loop_timer_pending(const struct loop_timer *t);
void loop_timer_done(struct loop_timer *t);

/*
 * A task runs at the end of the turn in which it was queued. It is a member of its owner, runs once
 * however often it was queued, and can be cancelled. So a callback never comes before the function
 * that started the operation has returned, and an object is not freed while its callbacks are on
 * the stack.
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

/* Calls free_fn(ptr) at the end of this turn. */
void loop_free_later(struct loop *loop, void *ptr, void (*free_fn)(void *));

/* Calls fn on each signal `signo` until the loop is freed. */
int loop_on_signal(struct loop *loop, int signo, loop_fn fn, void *arg, struct err *err);

/*
 * Marks the beginning of work, for callbacks that libevent or a library calls directly (timers,
 * tasks and signals of the loop do it themselves). Cheap. The first call of a turn starts its
 * clock; a call after too many others or too much time ends the turn after this callback.
 */
void loop_enter(struct loop *loop);

/*
 * The priority of events that are handled before all others, between any two turns. Only for
 * connections known to be from the API server: a peer that keeps such events ready starves all
 * others.
 */
#define LOOP_FIRST 0

/*
 * Ends the turn after this callback; other ready events run in the next one. For callbacks whose
 * peer could keep the turn going as long as it likes: libevent runs what callbacks make ready
 * within the same turn, and tasks wait for its end.
 */
void loop_end_turn(struct loop *loop);

struct loop_stats {
	uint64_t turns;
	int64_t longest_turn_us;     /* since the last reset: work between two waits */
	int64_t longest_turn_cpu_us; /* since the last reset: of CPU time alone */
	int64_t busy_us;             /* sum of work */
	int64_t longest_lag_ms;      /* since the last reset: how late a timer was */
};
struct loop_stats loop_stats(struct loop *loop, bool reset_longest);
uint64_t loop_turns(const struct loop *loop); /* the number of the turn */

/*
 * Exponential back-off with jitter: first_ms at 0 failures, doubled for each, at most max_ms, each
 * value +-20 %.
 */
int64_t loop_backoff_ms(unsigned failures, int64_t first_ms, int64_t max_ms);

#endif
