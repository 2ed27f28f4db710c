/* SPDX-License-Identifier: Apache-2.0 */
#include "net/loop.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <utlist.h>

#include "base/fingerprint.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/timerheap.h"

/* Rounds of tasks queued by tasks, before sockets are handled again. */
#define TASK_ROUNDS_MAX 8
/*
 * A turn ends after this many callbacks, or this much time: other ready events wait for the next
 * one, and events of LOOP_FIRST come before them.
 */
#define TURN_ENTRIES 16
#define TURN_US      2000
#define TICK_MAX_MS  86400000 /* longer waits are split */

struct loop_signal {
	struct loop *loop;
	struct event *event;
	loop_fn fn;
	void *arg;
	struct loop_signal *next;
};

struct loop {
	struct event_base *base;
	void *kept;
	void (*free_kept)(void *);
	struct loop_signal *signals;
	struct timerheap timers;
	struct event *tick;      /* libevent's event for the first timer */
	int64_t tick_ms;         /* its due time; 0: not pending */
	bool ticking;            /* its callback is running and sets it again at its end */
	uint64_t turn_order;     /* timers with this order or a later one were set in this turn */
	struct loop_task *tasks; /* queued, oldest first */
	bool stop;
	int64_t clock_step_ms;
	int64_t entered_us; /* when this turn's work began; 0 while waiting */
	int64_t cpu_us;     /* of the thread, at the end of the last turn; 0: no turn yet */
	unsigned entries;   /* callbacks in this turn */
	bool ending;        /* the turn ends after the current callback */
	struct loop_stats stats;
};

/*
 * BOOTTIME counts suspended time, too, like the clocks of others: a Lease expires meanwhile, and
 * readings become old.
 */
static int64_t clock_us(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

static int64_t now_us(void)
{
	return clock_us(CLOCK_BOOTTIME);
}

/*
 * The resolution of libevent's clock. A timer is set one step later, so that it fires once, and not
 * first too early and then again.
 */
static int64_t clock_step_ms(void)
{
	struct timespec step;

	return clock_getres(CLOCK_MONOTONIC_COARSE, &step) == 0 ? step.tv_sec * 1000 + (step.tv_nsec + 999999) / 1000000
								: 0;
}

int64_t loop_now_ms(const struct loop *loop)
{
	struct timespec ts;
	int64_t ms;

	(void)loop;
	clock_gettime(CLOCK_BOOTTIME, &ts); /* without now_us: a tick asks a dozen times */
	ms = (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
	return ms > 0 ? ms : 1;
}

/* ---- Life ---- */

/*
 * libevent ends the process after an error (a broken invariant), so this is its last message. Its
 * warnings are about connections whose failure is reported anyway.
 */
static void on_libevent_log(int severity, const char *msg)
{
	if (severity == EVENT_LOG_ERR)
		log_error("libevent", "%s", msg);
	else
		log_debug("libevent", "%s", msg);
}

static void on_tick(evutil_socket_t fd, short what, void *arg);

struct loop *loop_new(struct err *err)
{
	struct event_config *config;
	struct loop *loop;
	struct event_base *base;

	/*
	 * libevent allocates each header of a request with calloc, which in glibc bypasses the
	 * thread's cache of freed blocks. With malloc, libevent clears the memory itself.
	 */
	event_set_mem_functions(malloc, realloc, free);
	config = event_config_new();
	if (!config) {
		err_set(err, ERR_BUG, "event loop: no configuration");
		return NULL;
	}
	/*
	 * A server's connection turns reading off and on within one turn; the change list reduces
	 * that to no system call.
	 */
	event_config_set_flag(config, EVENT_BASE_FLAG_EPOLL_USE_CHANGELIST);
	event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
	event_set_log_callback(on_libevent_log);
	base = event_base_new_with_config(config);
	event_config_free(config);
	if (!base) {
		err_set(err, ERR_TEMPORARY, "event loop: %s", strerror(errno));
		return NULL;
	}
	event_base_priority_init(base, 2); /* LOOP_FIRST, and everything else */
	signal(SIGPIPE, SIG_IGN);
	loop = mem_zalloc(sizeof(*loop));
	loop->base = base;
	loop->tick = evtimer_new(base, on_tick, loop);
	loop->clock_step_ms = clock_step_ms();
	return loop;
}

static void run_tasks(struct loop *loop, unsigned rounds_max);

void loop_free(struct loop *loop)
{
	struct loop_signal *s, *next;

	if (!loop)
		return;
	run_tasks(loop, UINT32_MAX);
	if (loop->kept)
		loop->free_kept(loop->kept);
	/* Closed bufferevents are freed by deferred callbacks of libevent. */
	event_base_loop(loop->base, EVLOOP_NONBLOCK);
	run_tasks(loop, UINT32_MAX);
	LL_FOREACH_SAFE (loop->signals, s, next) {
		event_free(s->event);
		free(s);
	}
	event_free(loop->tick);
	timerheap_done(&loop->timers);
	event_base_free(loop->base);
	free(loop);
}

struct event_base *loop_base(struct loop *loop)
{
	return loop->base;
}

void loop_keep(struct loop *loop, void *ptr, void (*free_fn)(void *))
{
	loop->kept = ptr;
	loop->free_kept = free_fn;
}

void *loop_kept(const struct loop *loop)
{
	return loop->kept;
}

/* ---- Turns ---- */

void loop_enter(struct loop *loop)
{
	loop->entries++;
	if (!loop->entered_us)
		loop->entered_us = now_us();
	else if (loop->entries >= TURN_ENTRIES || now_us() - loop->entered_us >= TURN_US)
		loop_end_turn(loop);
}

void loop_end_turn(struct loop *loop)
{
	loop->ending = true;
	event_base_loopbreak(loop->base);
}

/* False when there was nothing to wait for. */
static bool turn(struct loop *loop)
{
	bool idle = !loop->tasks;
	int result;
	int64_t us, cpu_us;

	loop->turn_order = loop->timers.orders;
	loop->ending = false;
	result = event_base_loop(loop->base, idle ? EVLOOP_ONCE : EVLOOP_ONCE | EVLOOP_NONBLOCK);
	run_tasks(loop, TASK_ROUNDS_MAX);
	loop->stats.turns++;
	us = loop->entered_us ? now_us() - loop->entered_us : 0;
	loop->entered_us = 0;
	loop->entries = 0;
	loop->stats.busy_us += us;
	if (us > loop->stats.longest_turn_us)
		loop->stats.longest_turn_us = us;
	/*
	 * Nothing is computed while it waits: CPU time since the end of the last turn belongs to
	 * this one.
	 */
	cpu_us = clock_us(CLOCK_THREAD_CPUTIME_ID);
	if (loop->cpu_us && cpu_us - loop->cpu_us > loop->stats.longest_turn_cpu_us)
		loop->stats.longest_turn_cpu_us = cpu_us - loop->cpu_us;
	loop->cpu_us = cpu_us;
	return result == 0 || !idle || loop->tasks;
}

void loop_turn(struct loop *loop)
{
	turn(loop);
}

void loop_run(struct loop *loop)
{
	while (!loop->stop && turn(loop))
		;
	loop->stop = false;
}

void loop_stop(struct loop *loop)
{
	loop->stop = true;
}

uint64_t loop_turns(const struct loop *loop)
{
	return loop->stats.turns;
}

struct loop_stats loop_stats(struct loop *loop, bool reset_longest)
{
	struct loop_stats stats = loop->stats;

	if (reset_longest)
		loop->stats.longest_turn_us = loop->stats.longest_turn_cpu_us = loop->stats.longest_lag_ms = 0;
	return stats;
}

/* ---- Timers ---- */

/* Sets the tick for the first timer; it may come earlier, as time_t may have 32 bits. */
static void follow_first(struct loop *loop)
{
	const struct timerheap_entry *first = timerheap_first(&loop->timers);
	int64_t left_ms, asked_ms;
	struct timeval tv;

	if (loop->ticking || loop->tick_ms == (first ? first->due_ms : 0))
		return;
	loop->tick_ms = first ? first->due_ms : 0;
	if (!first) {
		event_del(loop->tick);
		return;
	}
	left_ms = first->due_ms - loop_now_ms(loop);
	asked_ms = left_ms > 0 ? left_ms + loop->clock_step_ms : 0;
	if (asked_ms > TICK_MAX_MS)
		asked_ms = TICK_MAX_MS;
	tv = (struct timeval){ .tv_sec = (time_t)(asked_ms / 1000), .tv_usec = (suseconds_t)(asked_ms % 1000 * 1000) };
	event_add(loop->tick, &tv);
}

static void fire(struct loop_timer *t, int64_t late_ms)
{
	struct loop *loop = t->loop;

	if (t->due_ms && late_ms > loop->stats.longest_lag_ms)
		loop->stats.longest_lag_ms = late_ms;
	timerheap_take(&loop->timers, &t->place);
	loop_enter(loop);
	t->fn(t->arg);
}

/*
 * Runs all due timers, except those set in this turn, until the turn ends. Perhaps none is due:
 * libevent counts from the start of the turn in which the event was set, on a coarse clock.
 */
static void on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct loop *loop = arg;
	const struct timerheap_entry *first;

	(void)fd;
	(void)what;
	loop->ticking = true;
	while ((first = timerheap_first(&loop->timers)) && first->order < loop->turn_order && !loop->ending) {
		int64_t late_ms = loop_now_ms(loop) - first->due_ms;

		if (late_ms < 0)
			break;
		fire((struct loop_timer *)first->place, late_ms); /* place is the first member */
	}
	loop->ticking = false;
	loop->tick_ms = 0;
	follow_first(loop);
}

void loop_timer_init(struct loop_timer *t, struct loop *loop, loop_fn fn, void *arg)
{
	*t = (struct loop_timer){ .loop = loop, .fn = fn, .arg = arg };
}

void loop_timer_set(struct loop_timer *t, int64_t delay_ms)
{
	int64_t now_ms;

	if (t->place && delay_ms <= 0 && t->due_ms == 0)
		return; /* libcurl does so many times in a turn */
	now_ms = loop_now_ms(t->loop);
	t->due_ms = delay_ms > 0 ? now_ms + delay_ms : 0;
	timerheap_put(&t->loop->timers, &t->place, delay_ms > 0 ? t->due_ms : now_ms);
	follow_first(t->loop);
}

void loop_timer_cancel(struct loop_timer *t)
{
	if (!t->place)
		return;
	timerheap_take(&t->loop->timers, &t->place);
	follow_first(t->loop);
}

bool loop_timer_pending(const struct loop_timer *t)
{
	return t->place > 0;
}

void loop_timer_done(struct loop_timer *t)
{
	loop_timer_cancel(t);
}

/* ---- Tasks ---- */

void loop_task_init(struct loop_task *t, loop_fn fn, void *arg)
{
	*t = (struct loop_task){ .fn = fn, .arg = arg };
}

void loop_task_queue(struct loop *loop, struct loop_task *t)
{
	if (t->queued)
		return;
	t->queued = true;
	DL_APPEND(loop->tasks, t);
}

void loop_task_cancel(struct loop *loop, struct loop_task *t)
{
	if (!t->queued)
		return;
	t->queued = false;
	DL_DELETE(loop->tasks, t);
}

/* Tasks queued by tasks run in a later round. */
static void run_tasks(struct loop *loop, unsigned rounds_max)
{
	for (unsigned round = 0; loop->tasks && round < rounds_max; round++) {
		/* marks the end of this round, whichever tasks are cancelled meanwhile */
		struct loop_task end = { .queued = false };

		loop_task_queue(loop, &end);
		while (loop->tasks != &end) {
			struct loop_task *t = loop->tasks;

			loop_task_cancel(loop, t);
			loop_enter(loop);
			t->fn(t->arg);
		}
		loop_task_cancel(loop, &end);
	}
}

struct doomed {
	struct loop_task task;
	void *ptr;
	void (*free_fn)(void *);
};

static void on_doomed(void *arg)
{
	struct doomed *d = arg;

	d->free_fn(d->ptr);
	free(d);
}

void loop_free_later(struct loop *loop, void *ptr, void (*free_fn)(void *))
{
	struct doomed *d;

	if (!ptr)
		return;
	d = mem_zalloc(sizeof(*d));
	d->ptr = ptr;
	d->free_fn = free_fn;
	loop_task_init(&d->task, on_doomed, d);
	loop_task_queue(loop, &d->task);
}

/* ---- Signals and back-off ---- */

static void on_signal(evutil_socket_t signo, short what, void *arg)
{
	struct loop_signal *s = arg;

	(void)signo;
	(void)what;
	loop_enter(s->loop);
	s->fn(s->arg);
}

int loop_on_signal(struct loop *loop, int signo, loop_fn fn, void *arg, struct err *err)
{
	struct loop_signal *s = mem_zalloc(sizeof(*s));

	s->loop = loop;
	s->fn = fn;
	s->arg = arg;
	s->event = evsignal_new(loop->base, signo, on_signal, s);
	if (!s->event || event_add(s->event, NULL) < 0) {
		if (s->event)
			event_free(s->event);
		free(s);
		return err_set(err, ERR_BUG, "cannot watch signal %d: %s", signo, strerror(errno));
	}
	LL_PREPEND(loop->signals, s);
	return 0;
}

int64_t loop_backoff_ms(unsigned failures, int64_t first_ms, int64_t max_ms)
{
	int64_t ms = first_ms;

	while (failures-- > 0 && ms < max_ms)
		ms *= 2;
	if (ms > max_ms)
		ms = max_ms;
	return (int64_t)((double)ms * (0.8 + 0.4 * fingerprint_random_unit()));
}
