/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <event2/event.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

/* Instead of the C library's: what CLOCK_MONOTONIC does not count. */
static time_t suspended_s;

int clock_gettime(clockid_t clock, struct timespec *ts)
{
	int rc = (int)syscall(SYS_clock_gettime, clock, ts);

	if (clock == CLOCK_BOOTTIME)
		ts->tv_sec += suspended_s;
	return rc;
}

/* What ran, in order, as letters. */
struct trace {
	struct loop *loop;
	char text[64];
};

struct step {
	struct trace *trace;
	char letter;
	struct loop_timer timer;
	struct loop_task task;
	struct step *other;
};

static void note(struct step *s)
{
	size_t len = strlen(s->trace->text);

	assert_true(len + 1 < sizeof(s->trace->text));
	s->trace->text[len] = s->letter;
}

static void on_step(void *arg)
{
	note(arg);
}

static void step_init(struct step *s, struct trace *trace, char letter, loop_fn fn)
{
	*s = (struct step){ .trace = trace, .letter = letter };
	loop_timer_init(&s->timer, trace->loop, fn, s);
	loop_task_init(&s->task, fn, s);
}

/* ---- Timers ---- */

struct early {
	struct loop_timer timer;
	int64_t due_ms;
	int fired;
};

static void on_maybe_early(void *arg)
{
	struct early *e = arg;

	assert_true(loop_now_ms(e->timer.loop) >= e->due_ms);
	e->fired++;
}

/* Whoever was suspended for longer than its Lease must know. */
static void the_time_of_a_suspended_machine_counts(void **state)
{
	struct fixture *f = *state;
	int64_t before_ms = loop_now_ms(f->loop);

	suspended_s = 100;
	assert_in_range(loop_now_ms(f->loop) - before_ms, 100000, 100000 + PATIENCE_MS);
	suspended_s = 0;
}

static void timers_are_never_early(void **state)
{
	struct fixture *f = *state;
	static const int64_t delays[] = { 41, 7, 0, 23, 1, 12, 30, 3 };
	struct early timers[sizeof delays / sizeof *delays];
	size_t fired = 0;

	for (size_t i = 0; i < sizeof delays / sizeof *delays; i++) {
		loop_timer_init(&timers[i].timer, f->loop, on_maybe_early, &timers[i]);
		timers[i].fired = 0;
		timers[i].due_ms = loop_now_ms(f->loop) + delays[i];
		loop_timer_set(&timers[i].timer, delays[i]);
		assert_true(loop_timer_pending(&timers[i].timer));
		assert_int_equal(timers[i].fired, 0); /* not even 0 fires at once */
	}
	while (fired < sizeof delays / sizeof *delays) {
		loop_turn(f->loop);
		fired = 0;
		for (size_t i = 0; i < sizeof delays / sizeof *delays; i++)
			fired += timers[i].fired;
	}
	for (size_t i = 0; i < sizeof delays / sizeof *delays; i++) {
		assert_int_equal(timers[i].fired, 1);
		assert_false(loop_timer_pending(&timers[i].timer));
		loop_timer_done(&timers[i].timer);
	}
}

static void on_slow(void *arg)
{
	struct early *e = arg;
	struct timespec pause = { .tv_nsec = 20 * 1000000 };

	/* libevent counts from the start of the turn: without care this would fire 20 ms early. */
	nanosleep(&pause, NULL);
	e->due_ms = loop_now_ms(e->timer.loop) + 25;
	loop_timer_set(&e->timer, 25);
}

static void timer_set_late_in_a_turn_is_not_early(void **state)
{
	struct fixture *f = *state;
	struct early e = { .fired = 0 };
	struct loop_timer slow;

	loop_timer_init(&e.timer, f->loop, on_maybe_early, &e);
	loop_timer_init(&slow, f->loop, on_slow, &e);
	loop_timer_set(&slow, 0);
	UNTIL(f, e.fired == 1);
	loop_timer_done(&e.timer);
	loop_timer_done(&slow);
}

static void timer_moves_cancels_and_is_done(void **state)
{
	struct fixture *f = *state;
	struct trace trace = { .loop = f->loop };
	struct step a, b, c;
	struct loop_timer zero = { .loop = NULL };

	step_init(&a, &trace, 'a', on_step);
	step_init(&b, &trace, 'b', on_step);
	step_init(&c, &trace, 'c', on_step);
	loop_timer_set(&a.timer, 100000);
	loop_timer_set(&a.timer, 20); /* moved nearer */
	loop_timer_set(&b.timer, 0);
	loop_timer_cancel(&b.timer);
	assert_false(loop_timer_pending(&b.timer));
	loop_timer_set(&c.timer, 0);
	loop_timer_set(&c.timer, 60); /* moved away */
	UNTIL(f, strlen(trace.text) == 2);
	assert_string_equal(trace.text, "ac");
	loop_timer_cancel(&zero);
	assert_false(loop_timer_pending(&zero));
	loop_timer_done(&zero);
	loop_timer_done(&a.timer);
	loop_timer_done(&a.timer);
	loop_timer_done(&b.timer);
	loop_timer_done(&c.timer);
}

static void on_set_other(void *arg)
{
	struct step *s = arg;

	note(s);
	loop_timer_set(&s->other->timer, 0);
}

static void on_end_other(void *arg)
{
	struct step *s = arg;

	note(s);
	loop_timer_done(&s->other->timer);
}

/* Sockets have their turn in between, and a due timer may be cancelled by another. */
static void timers_set_in_a_turn_wait_for_the_next(void **state)
{
	struct fixture *f = *state;
	struct trace trace = { .loop = f->loop };
	struct step a, b, c, d;

	step_init(&a, &trace, 'a', on_set_other);
	step_init(&b, &trace, 'b', on_step);
	a.other = &b;
	loop_timer_set(&a.timer, 0);
	loop_turn(f->loop);
	assert_string_equal(trace.text, "a");
	loop_turn(f->loop);
	assert_string_equal(trace.text, "ab");
	loop_timer_done(&a.timer);
	loop_timer_done(&b.timer);
	step_init(&c, &trace, 'c', on_end_other);
	step_init(&d, &trace, 'd', on_step);
	c.other = &d;
	loop_timer_set(&c.timer, 0);
	loop_timer_set(&d.timer, 0);
	loop_turn(f->loop);
	assert_string_equal(trace.text, "abc");
	assert_false(loop_timer_pending(&d.timer));
	loop_timer_done(&c.timer);
}

/* ---- Work put off ---- */

static void on_queue_other(void *arg)
{
	struct step *s = arg;

	loop_task_queue(s->trace->loop, &s->other->task);
	loop_task_queue(s->trace->loop, &s->other->task); /* once however often */
	note(s);                                          /* before the task: it waits for the end of the turn */
}

static void on_cancel_other(void *arg)
{
	struct step *s = arg;

	note(s);
	loop_task_cancel(s->trace->loop, &s->other->task);
}

static void tasks_run_at_the_end_of_the_turn(void **state)
{
	struct fixture *f = *state;
	struct trace trace = { .loop = f->loop };
	struct step timer1, timer2, task;

	step_init(&task, &trace, 't', on_step);
	step_init(&timer1, &trace, '1', on_queue_other);
	step_init(&timer2, &trace, '2', on_queue_other);
	timer1.other = timer2.other = &task;
	loop_timer_set(&timer1.timer, 0);
	loop_timer_set(&timer2.timer, 0);
	UNTIL(f, strchr(trace.text, 't'));
	assert_string_equal(trace.text, "12t");
	loop_timer_done(&timer1.timer);
	loop_timer_done(&timer2.timer);
}

static void tasks_queue_and_cancel_tasks(void **state)
{
	struct fixture *f = *state;
	struct trace trace = { .loop = f->loop };
	struct step a, b, c, d;

	step_init(&a, &trace, 'a', on_queue_other);
	step_init(&b, &trace, 'b', on_cancel_other);
	step_init(&c, &trace, 'c', on_step);
	step_init(&d, &trace, 'd', on_step);
	a.other = &d;
	b.other = &c;
	loop_task_queue(f->loop, &a.task);
	loop_task_queue(f->loop, &b.task);
	loop_task_queue(f->loop, &c.task);
	loop_turn(f->loop); /* does not wait while work is put off, and d, queued by a, runs in the same turn */
	assert_string_equal(trace.text, "abd");
	loop_task_cancel(f->loop, &c.task); /* cancelling a task that is not queued is fine */
}

struct endless {
	struct loop *loop;
	struct loop_task task;
	struct loop_timer timer;
	bool fired;
	int rounds;
};

static void on_again(void *arg)
{
	struct endless *e = arg;

	e->rounds++;
	if (!e->fired)
		loop_task_queue(e->loop, &e->task);
}

static void on_endless_timer(void *arg)
{
	struct endless *e = arg;

	e->fired = true;
}

static void endless_tasks_do_not_starve_sockets(void **state)
{
	struct fixture *f = *state;
	struct endless e = { .loop = f->loop };

	loop_task_init(&e.task, on_again, &e);
	loop_timer_init(&e.timer, f->loop, on_endless_timer, &e);
	loop_task_queue(f->loop, &e.task);
	loop_timer_set(&e.timer, 5);
	UNTIL(f, e.fired && !e.task.queued);
	assert_true(e.rounds > 1);
	loop_timer_done(&e.timer);
}

/* ---- Ready at once ---- */

#define READY 60

struct ready {
	struct loop *loop;
	struct event *event[READY];
	int ran, ran_before_first;
};

static void on_ready(evutil_socket_t fd, short what, void *arg)
{
	struct ready *r = arg;

	(void)fd;
	(void)what;
	loop_enter(r->loop);
	r->ran++;
}

static void on_first(evutil_socket_t fd, short what, void *arg)
{
	struct ready *r = arg;

	(void)fd;
	(void)what;
	r->ran_before_first = r->ran;
}

/* And LOOP_FIRST goes between two turns, whatever else is ready. */
static void a_turn_has_limited_work(void **state)
{
	struct fixture *f = *state;
	struct ready r = { .loop = f->loop, .ran_before_first = -1 };
	struct event *first = event_new(loop_base(f->loop), -1, EV_PERSIST, on_first, &r);

	event_priority_set(first, LOOP_FIRST);
	for (int i = 0; i < READY; i++) {
		r.event[i] = event_new(loop_base(f->loop), -1, EV_PERSIST, on_ready, &r);
		event_active(r.event[i], EV_READ, 0);
	}
	loop_turn(f->loop);
	assert_in_range(r.ran, 1, READY / 2);
	event_active(first, EV_READ, 0);
	loop_turn(f->loop);
	assert_in_range(r.ran_before_first, 1, READY / 2);
	UNTIL(f, r.ran == READY);
	event_free(first);
	for (int i = 0; i < READY; i++)
		event_free(r.event[i]);
}

static void on_due(void *arg)
{
	struct ready *r = arg;

	r->ran++;
}

static void timers_that_are_due_are_work_too(void **state)
{
	struct fixture *f = *state;
	struct ready r = { .loop = f->loop };
	struct loop_timer timers[READY];

	for (int i = 0; i < READY; i++) {
		loop_timer_init(&timers[i], f->loop, on_due, &r);
		loop_timer_set(&timers[i], 0);
	}
	loop_turn(f->loop);
	assert_in_range(r.ran, 1, READY / 2);
	UNTIL(f, r.ran == READY);
	for (int i = 0; i < READY; i++)
		loop_timer_done(&timers[i]);
}

static int freed;

static void count_free(void *ptr)
{
	freed++;
	free(ptr);
}

static void freed_at_the_end_of_the_turn_or_with_the_loop(void **state)
{
	struct loop *loop = loop_new(NULL);

	(void)state;
	freed = 0;
	loop_free_later(loop, mem_alloc(10), count_free);
	loop_free_later(loop, NULL, count_free);
	assert_int_equal(freed, 0);
	loop_turn(loop);
	assert_int_equal(freed, 1);
	loop_free_later(loop, mem_alloc(10), count_free);
	loop_free(loop);
	assert_int_equal(freed, 2);
	loop_free(NULL);
}

/* ---- Running ---- */

static void on_stop(void *arg)
{
	loop_stop(arg);
}

static void runs_until_stopped_or_until_nothing_is_left(void **state)
{
	struct loop *loop = loop_new(NULL);
	struct loop_timer timer;

	(void)state;
	loop_run(loop); /* nothing to wait for */
	loop_timer_init(&timer, loop, on_stop, loop);
	loop_timer_set(&timer, 1);
	loop_run(loop);
	assert_true(loop_stats(loop, false).turns > 0);
	loop_stop(loop);
	loop_run(loop); /* a stop before the run counts, once */
	loop_timer_done(&timer);
	loop_free(loop);
}

static void on_signal(void *arg)
{
	(*(int *)arg)++;
}

static void signals_come(void **state)
{
	struct fixture *f = *state;
	int count = 0, other = 0;
	struct err err;

	assert_int_equal(loop_on_signal(f->loop, SIGUSR1, on_signal, &count, &err), 0);
	assert_int_equal(loop_on_signal(f->loop, SIGUSR2, on_signal, &other, &err), 0);
	kill(getpid(), SIGUSR1);
	UNTIL(f, count == 1);
	assert_int_equal(other, 0);
}

static void on_busy(void *arg)
{
	struct timespec pause = { .tv_nsec = 30 * 1000000 };

	nanosleep(&pause, NULL);
	*(bool *)arg = true;
}

static int64_t cpu_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

static void on_computing(void *arg)
{
	int64_t until_us = cpu_us() + 20000;

	while (cpu_us() < until_us)
		continue;
	*(bool *)arg = true;
}

/* A turn that waits for something takes no processor time. */
static void computing_is_seen(void **state)
{
	struct fixture *f = *state;
	struct loop_timer waits, computes;
	bool waited = false, computed = false;

	loop_timer_init(&waits, f->loop, on_busy, &waited);
	loop_timer_init(&computes, f->loop, on_computing, &computed);
	fixture_linger(f, 1);
	loop_stats(f->loop, true);
	loop_timer_set(&waits, 1);
	UNTIL(f, waited);
	assert_true(loop_stats(f->loop, true).longest_turn_cpu_us < 20000);
	loop_timer_set(&computes, 1);
	UNTIL(f, computed);
	assert_true(loop_stats(f->loop, true).longest_turn_cpu_us >= 20000);
	assert_int_equal(loop_stats(f->loop, false).longest_turn_cpu_us, 0);
	loop_timer_done(&waits);
	loop_timer_done(&computes);
}

static void long_turns_are_seen(void **state)
{
	struct fixture *f = *state;
	struct loop_timer timer;
	bool done = false;
	struct loop_stats before = loop_stats(f->loop, true), after;

	loop_timer_init(&timer, f->loop, on_busy, &done);
	loop_timer_set(&timer, 50);
	UNTIL(f, done);
	after = loop_stats(f->loop, true);
	assert_true(after.turns > before.turns);
	assert_true(after.longest_turn_us >= 30000);
	assert_true(after.busy_us - before.busy_us >= 30000);
	assert_int_equal(loop_stats(f->loop, false).longest_turn_us, 0);
	loop_timer_done(&timer);
}

static void late_timers_are_seen(void **state)
{
	struct fixture *f = *state;
	struct loop_timer busy, late;
	bool done = false, was_late = false;

	loop_timer_init(&busy, f->loop, on_busy, &done);
	loop_timer_init(&late, f->loop, on_busy, &was_late);
	loop_stats(f->loop, true);
	loop_timer_set(&busy, 50);
	loop_timer_set(&late, 55);
	UNTIL(f, was_late);
	assert_true(loop_stats(f->loop, true).longest_lag_ms >= 20);
	assert_int_equal(loop_stats(f->loop, false).longest_lag_ms, 0);
	loop_timer_done(&busy);
	loop_timer_done(&late);
}

static void waiting_is_not_work(void **state)
{
	struct loop *loop = loop_new(NULL);
	struct loop_timer timer;

	(void)state;
	loop_timer_init(&timer, loop, on_stop, loop);
	loop_timer_set(&timer, 200);
	loop_run(loop);
	assert_true(loop_stats(loop, false).busy_us < 200000);
	loop_timer_done(&timer);
	loop_free(loop);
}

static void backoff_doubles_to_its_end(void **state)
{
	static const struct {
		unsigned failures;
		int64_t middle_ms;
	} rows[] = { { 0, 100 }, { 1, 200 }, { 2, 400 }, { 5, 3200 }, { 6, 5000 }, { 31, 5000 },
		{ 4000000000u, 5000 } };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		for (int n = 0; n < 50; n++) {
			int64_t ms = loop_backoff_ms(rows[i].failures, 100, 5000);

			assert_true(ms >= rows[i].middle_ms * 8 / 10 && ms <= rows[i].middle_ms * 12 / 10);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_time_of_a_suspended_machine_counts, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(timers_are_never_early, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(timer_set_late_in_a_turn_is_not_early, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(timer_moves_cancels_and_is_done, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(timers_set_in_a_turn_wait_for_the_next, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(tasks_run_at_the_end_of_the_turn, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(tasks_queue_and_cancel_tasks, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(endless_tasks_do_not_starve_sockets, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_turn_has_limited_work, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(timers_that_are_due_are_work_too, fixture_setup, fixture_teardown),
		cmocka_unit_test(freed_at_the_end_of_the_turn_or_with_the_loop),
		cmocka_unit_test(runs_until_stopped_or_until_nothing_is_left),
		cmocka_unit_test_setup_teardown(signals_come, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(long_turns_are_seen, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(computing_is_seen, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(late_timers_are_seen, fixture_setup, fixture_teardown),
		cmocka_unit_test(waiting_is_not_work),
		cmocka_unit_test(backoff_doubles_to_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
