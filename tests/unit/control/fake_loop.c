/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <utlist.h>

#include "base/log.h"
#include "base/mem.h"

#define START_MS      1000000
#define START_WALL_MS 1767225600000 /* 2026-01-01 */
#define STEPS_MAX     1000000
#define TIMERS_MAX    64

struct line {
	struct line *next;
	enum log_level level;
	char *text;
};

static struct {
	int64_t now_ms, wall_ahead_ms;
	uint64_t order;
	struct fake_job *jobs;
	struct { /* struct loop_timer has no place for a job */
		struct loop_timer *timer;
		struct fake_job job;
	} timers[TIMERS_MAX];
	struct line *lines;
} fake;

/* ---- The clocks ---- */

int64_t __wrap_timestamp_now_ms(void);
int64_t __wrap_timestamp_now_ms(void)
{
	return START_WALL_MS + fake.now_ms - START_MS + fake.wall_ahead_ms;
}

int64_t fake_wall_ms(void)
{
	return __wrap_timestamp_now_ms();
}

struct loop *fake_loop(void)
{
	return (struct loop *)&fake.now_ms;
}

int64_t loop_now_ms(const struct loop *loop)
{
	assert_ptr_equal(loop, fake_loop());
	return fake.now_ms;
}

int64_t fake_now_ms(void)
{
	return fake.now_ms;
}

void fake_set_wall_ahead(int64_t ms)
{
	fake.wall_ahead_ms = ms;
}

void fake_jump(int64_t ms)
{
	fake.now_ms += ms;
}

/* ---- Jobs ---- */

void fake_job_cancel(struct fake_job *job)
{
	if (job->queued)
		DL_DELETE(fake.jobs, job);
	job->queued = false;
}

void fake_job_set(struct fake_job *job, int64_t due_ms, void (*fn)(void *arg), void *arg)
{
	fake_job_cancel(job);
	job->due_ms = due_ms;
	job->order = ++fake.order;
	job->fn = fn;
	job->arg = arg;
	job->queued = true;
	DL_APPEND(fake.jobs, job);
}

static struct fake_job *first_until(int64_t until_ms)
{
	struct fake_job *job, *first = NULL;

	DL_FOREACH (fake.jobs, job)
		if (job->due_ms <= until_ms &&
			(!first || job->due_ms < first->due_ms ||
				(job->due_ms == first->due_ms && job->order < first->order)))
			first = job;
	return first;
}

void fake_advance(int64_t ms)
{
	int64_t until = fake.now_ms + ms;
	struct fake_job *job;

	for (unsigned steps = 0; (job = first_until(until)) != NULL; steps++) {
		if (steps > STEPS_MAX)
			fail_msg("the loop turns for ever");
		if (job->due_ms > fake.now_ms)
			fake.now_ms = job->due_ms;
		fake_job_cancel(job);
		job->fn(job->arg);
	}
	fake.now_ms = until;
}

/* ---- Timers ---- */

void loop_timer_init(struct loop_timer *t, struct loop *loop, loop_fn fn, void *arg)
{
	memset(t, 0, sizeof *t);
	t->loop = loop;
	t->fn = fn;
	t->arg = arg;
}

static int slot_of(const struct loop_timer *t)
{
	for (int i = 0; i < TIMERS_MAX; i++)
		if (fake.timers[i].timer == t)
			return i;
	return -1;
}

static void on_due(void *arg)
{
	struct loop_timer *t = arg;

	fake.timers[slot_of(t)].timer = NULL;
	t->fn(t->arg);
}

void loop_timer_set(struct loop_timer *t, int64_t delay_ms)
{
	int slot = slot_of(t);

	assert_true(delay_ms >= 0);
	if (slot < 0)
		slot = slot_of(NULL);
	assert_true(slot >= 0);
	fake.timers[slot].timer = t;
	fake_job_set(&fake.timers[slot].job, fake.now_ms + delay_ms, on_due, t);
}

void loop_timer_cancel(struct loop_timer *t)
{
	int slot = slot_of(t);

	if (slot < 0)
		return;
	fake.timers[slot].timer = NULL;
	fake_job_cancel(&fake.timers[slot].job);
}

bool loop_timer_pending(const struct loop_timer *t)
{
	return slot_of(t) >= 0;
}

void loop_timer_done(struct loop_timer *t)
{
	loop_timer_cancel(t);
}

/* Without the jitter. */
int64_t loop_backoff_ms(unsigned failures, int64_t first_ms, int64_t max_ms)
{
	int64_t ms = first_ms;

	while (failures-- > 0 && ms < max_ms)
		ms *= 2;
	return ms < max_ms ? ms : max_ms;
}

/* ---- The log ---- */

static void keep_line(void *arg, enum log_level level, const char *text)
{
	struct line *line = mem_zalloc(sizeof *line);

	(void)arg;
	line->level = level;
	line->text = mem_dup(text);
	LL_APPEND(fake.lines, line);
}

unsigned fake_logged_at(int level, const char *part)
{
	struct line *line;
	unsigned count = 0;

	LL_FOREACH (fake.lines, line)
		if ((level == FAKE_ANY || level == (int)line->level) && strstr(line->text, part))
			count++;
	return count;
}

unsigned fake_logged(const char *part)
{
	return fake_logged_at(FAKE_ANY, part);
}

/* ---- Start and end ---- */

void fake_loop_start(void)
{
	memset(&fake, 0, sizeof fake);
	fake.now_ms = START_MS;
	log_setup(LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
	log_set_sink(keep_line, NULL);
}

void fake_loop_end(void)
{
	struct line *line, *next;

	log_set_sink(NULL, NULL);
	LL_FOREACH_SAFE (fake.lines, line, next) {
		free(line->text);
		free(line);
	}
	fake.lines = NULL;
	for (int i = 0; i < TIMERS_MAX; i++)
		assert_null(fake.timers[i].timer);
	assert_null(fake.jobs);
}
