/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schedules the looks at the triggers of an object of either kind. A look asks all triggers and
 * waits for every answer or the deadline; scaleloop.c and jobloop.c act on the answers. Polls fall
 * into slots of 50 ms, so that queries of several objects to one server go out in one write; the
 * phase of each object is random, so that a thousand of them do not poll at the same time.
 */
#include "control/objects/polling.h"

#include <stdlib.h>

#include "base/fingerprint.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "control/objects/recorder.h"
#include "control/objects/status.h"
#include "control/objects/work.h"
#include "decide/mark.h"

#define SLOT_MS 50
/* A poll wants new readings; two triggers with the same question in one slot still share one. */
#define POLL_MAX_AGE_MS SLOT_MS

/* How long a status waits for a tick that is about to end, which usually changes it, too. */
#define TICK_MS 300

static int64_t slot_after(int64_t at_ms)
{
	return (at_ms + SLOT_MS - 1) / SLOT_MS * SLOT_MS;
}

static void arm(struct work *work, int64_t at_ms)
{
	int64_t now_ms = loop_now_ms(work->control->cache->loop);

	loop_timer_set(&work->loop.timer, at_ms > now_ms ? at_ms - now_ms : 0);
}

void polling_arm_sooner(struct work *work, int64_t wait_ms)
{
	int64_t now_ms = loop_now_ms(work->control->cache->loop);

	if (wait_ms < work->loop.due_ms - now_ms)
		arm(work, now_ms + wait_ms);
}

/* ---- The end of a poll ---- */

static void look_when_allowed(struct work *work);

static void on_survey(void *arg, const struct survey_result *result)
{
	struct work *work = arg;

	work->loop.survey = NULL;
	work->kind->decide(work, result);
	if (work->loop.again) {
		work->loop.again = false;
		arm(work, loop_now_ms(work->control->cache->loop) + SLOT_MS);
	}
	if (work->loop.woken)
		look_when_allowed(work);
}

/* ---- Failures ---- */

/*
 * Events of one look: an object with a thousand triggers must not use up the room for all objects'
 * Events (kube/events). All failures are counted, and `kscaled explain` shows all.
 */
#define FAILURES_TOLD 16

static void count_failed(struct work *work, const struct survey_result *r)
{
	const struct meta *meta = r->of.meta;

	counters_add(work->control->errors[r->of.kind], (const char *const[]){ meta->namespace_, meta->name }, 1);
}

static void say_failed(struct work *work, const struct survey_result *r, const char *what, const struct err *err)
{
	recorder_event(work, "Warning", r->composite ? "KEDAMetricSourceFailed" : "KEDAScalerFailed", "%s: %s", what,
		err->msg);
}

/* "trigger 0 (redis)"; the caller owns it. */
static char *trigger_label(const struct survey_result *r, size_t i)
{
	int index = r->scalers[i]->index;

	return mem_printf("trigger %d (%s)", index, r->of.triggers[index].type);
}

/* The formula's failure is reported only if no trigger failed, as that would be its cause. */
static void say_failures(struct work *work, const struct survey_result *r)
{
	size_t failed = 0;

	for (size_t i = 0; i < r->count; i++) {
		MEM_AUTO char *label = r->triggers[i].err && failed < FAILURES_TOLD ? trigger_label(r, i) : NULL;

		if (label)
			say_failed(work, r, label, r->triggers[i].err);
		if (!r->triggers[i].err)
			continue;
		failed++;
		count_failed(work, r);
	}
	if (!r->composite || !r->composite->failing || failed > 0)
		return;
	count_failed(work, r);
	say_failed(work, r, VERDICT_COMPOSITE_NAME, &r->composite->err);
}

/* The source's failure, even if fallback replaces its value. */
static const struct err *source_trouble(const struct verdict_trigger *t)
{
	return t->err ? t->err : t->source_err;
}

/* Drops log state of triggers that have changed or moved. */
static void forget_told(struct work *work)
{
	mem_free_ptr(&work->loop.told);
	work->loop.told_count = 0;
	work->loop.was_failing = false;
}

static void make_told(struct work *work, size_t count)
{
	if (work->loop.told_count == count)
		return;
	forget_told(work);
	work->loop.told = mem_zalloc(count * sizeof(*work->loop.told));
	work->loop.told_count = count;
}

static uint64_t cause_of(const struct err *err)
{
	return err ? mark_words(mark_word(0, err->kind), err->msg) | 1 : 0;
}

static void log_failing(struct work *work, const struct survey_result *r, size_t i, const struct err *err)
{
	MEM_AUTO char *label = NULL;

	if (!readiness_tells(&work->loop.told[i], cause_of(err), loop_now_ms(work->control->cache->loop)))
		return;
	label = i < r->count ? trigger_label(r, i) : mem_dup(VERDICT_COMPOSITE_NAME);
	log_warn(work->subject, "%s: %s", label, err->msg);
	work->loop.was_failing = true;
}

static void log_all_failing(struct work *work, const struct survey_result *r)
{
	const struct err *formula = r->composite && r->composite->failing ? &r->composite->err : NULL;
	bool any = false;

	for (size_t i = 0; i < r->count && !any; i++)
		any = source_trouble(&r->triggers[i]) != NULL;
	if (!any && !formula && !work->loop.told)
		return;
	make_told(work, r->count + 1);
	for (size_t i = 0; i < r->count; i++)
		log_failing(work, r, i, source_trouble(&r->triggers[i]));
	/* A failing trigger would be its cause. */
	log_failing(work, r, r->count, any ? NULL : formula);
	if (any || formula || !work->loop.was_failing)
		return;
	work->loop.was_failing = false;
	log_info(work->subject, "all triggers can be read again");
}

void polling_tell(struct work *work, const struct survey_result *r)
{
	say_failures(work, r);
	log_all_failing(work, r);
}

/* ---- Ready ---- */

struct readiness_says polling_judge(struct work *work, struct readiness_look *look)
{
	struct readiness_says says;

	look->now_ms = loop_now_ms(work->control->cache->loop);
	look->generation = work->object->of.meta->generation;
	look->poll = work->loop.timed;
	look->is_ready = look->failing && work_says(work, "Ready");
	says = readiness_judge(&work->loop.readiness, look);
	if (says.look_in_ms > 0)
		polling_arm_sooner(work, says.look_in_ms);
	return says;
}

/* ---- The start of a poll ---- */

bool polling_busy(const struct work *work)
{
	return work->loop.survey || work->loop.preparing;
}

/*
 * Failures in looks between two polls are not counted, or they would reach the threshold of
 * fallback too early.
 */
static void ask_triggers(struct work *work)
{
	struct cache *cache = work->control->cache;
	int64_t now_ms = loop_now_ms(cache->loop);
	struct survey_terms terms = {
		.max_age_ms = POLL_MAX_AGE_MS,
		.deadline_ms = now_ms + work->control->query_deadline_ms,
		.timed = work->loop.timed,
		.counted = work->loop.timed,
	};

	/* A reading that began after the wake-up is used at any age, an earlier one never. */
	if (work->loop.woken) {
		terms.max_age_ms = INT64_MAX;
		terms.after = work->loop.woken_after;
	}
	work->loop.woken = false;
	loop_timer_cancel(&work->loop.wake);
	work->loop.survey = survey_start(cache, work->object, &terms, on_survey, work);
}

void polling_prepared(struct work *work)
{
	work->loop.preparing = false;
	ask_triggers(work);
}

static void poll(struct work *work)
{
	work->loop.timed = work->loop.owed;
	work->loop.owed = false;
	work->loop.looked_at_ms = loop_now_ms(work->control->cache->loop);
	work->loop.preparing = work->kind->prepare && work->kind->prepare(work);
	if (!work->loop.preparing)
		ask_triggers(work);
}

/* Cancels the look under way. */
static void abandon(struct work *work)
{
	work->loop.owed |= polling_busy(work) && work->loop.timed;
	if (work->loop.preparing)
		work->kind->unprepare(work);
	work->loop.preparing = false;
	survey_cancel(work->loop.survey);
	work->loop.survey = NULL;
}

static void note_lateness(struct work *work, int64_t late_ms)
{
	const struct scaled *of = &work->object->of;

	if ((work->loop.late_known && work->loop.late_ms == late_ms) || work->object->gone)
		return;
	work->loop.late_ms = late_ms;
	work->loop.late_known = true;
	counters_set(work->control->loop_latency,
		(const char *const[]){ of->meta->namespace_, scaled_kind_word(of->kind), of->meta->name },
		(double)late_ms / 1000);
}

static void on_timer(void *arg)
{
	struct work *work = arg;
	int64_t now_ms = loop_now_ms(work->control->cache->loop);
	int64_t interval_ms = (int64_t)work->loop.interval_s * 1000;

	if (now_ms >= work->loop.due_ms) {
		note_lateness(work, now_ms - work->loop.due_ms);
		work->loop.owed = true;
		/* Counted from start to start; polls missed in a stall are dropped. */
		work->loop.due_ms += interval_ms;
		if (work->loop.due_ms <= now_ms)
			work->loop.due_ms = slot_after(now_ms + interval_ms);
	}
	arm(work, work->loop.due_ms);
	if (polling_busy(work))
		work->loop.again = true;
	else
		poll(work);
}

void polling_look(struct work *work)
{
	if (!work->loop.running)
		return;
	/* The triggers may have changed; queries that are still needed are joined or in memory. */
	abandon(work);
	recorder_push_anew(work);
	loop_timer_set(&work->loop.timer, 0);
}

/* ---- Woken by a source ---- */

/*
 * The interval counts from the last look of any cause: a wake-up after it leads to a look at once,
 * those within it to one look at its end.
 */
static void look_when_allowed(struct work *work)
{
	int64_t wait_ms = work->loop.looked_at_ms + work->control->wake_interval_ms -
		loop_now_ms(work->control->cache->loop);

	/* By the timer even when due at once: all objects woken in this turn then share a query. */
	if (!loop_timer_pending(&work->loop.wake))
		loop_timer_set(&work->loop.wake, wait_ms > 0 ? wait_ms : 0);
}

static void on_wake_allowed(void *arg)
{
	struct work *work = arg;

	if (!polling_busy(work))
		poll(work);
}

void polling_wake(struct work *work)
{
	if (!work->loop.running)
		return;
	work->loop.woken = true;
	work->loop.woken_after = readings_mark(work->control->cache->readings);
	/* A look under way began before the wake-up: another one follows. */
	if (!polling_busy(work))
		look_when_allowed(work);
}

/* ---- Life ---- */

/*
 * A new leader that finds the object active counts the cooldown from now, because the last active
 * time is not stored while active. A loop that was only stopped may know a later time than the
 * stored one.
 */
static int64_t last_active_at_start(const struct work *work, const struct scaledobject_status *stored)
{
	const struct condition *active = conditions_get(&stored->conditions, "Active");

	if (active && active->status == CONDITION_TRUE)
		return timestamp_now_ms();
	return work->loop.last_active_unix_ms > stored->last_active_unix_ms ? work->loop.last_active_unix_ms
									    : stored->last_active_unix_ms;
}

/* Starts polling, or applies a changed interval; the first look comes at once. */
static void start(struct work *work)
{
	const struct scaled *of = &work->object->of;
	int64_t now_ms = loop_now_ms(work->control->cache->loop);
	int64_t interval_ms = (int64_t)of->polling_interval_s * 1000;

	if (work->loop.running && work->loop.interval_s == of->polling_interval_s)
		return;
	if (!work->loop.running) {
		loop_timer_init(&work->loop.timer, work->control->cache->loop, on_timer, work);
		loop_timer_init(&work->loop.wake, work->control->cache->loop, on_wake_allowed, work);
		pushes_hold(work->control->cache->pushes, work->object);
		work->loop.last_active_unix_ms = last_active_at_start(work, of->status);
		readiness_start(&work->loop.readiness, of->status, of->meta->generation);
	}
	work->loop.running = true;
	work->loop.interval_s = of->polling_interval_s;
	work->loop.late_known = false;
	work->loop.owed = true;
	/*
	 * The first look at once, the second after half an interval or more, which sets the phase.
	 */
	work->loop.due_ms = slot_after(
		now_ms + interval_ms / 2 + (int64_t)(fingerprint_random_unit() * (double)interval_ms / 2));
	loop_timer_set(&work->loop.timer, 0);
}

void polling_stop(struct work *work)
{
	if (!work->loop.running)
		return;
	abandon(work);
	loop_timer_done(&work->loop.timer);
	loop_timer_done(&work->loop.wake);
	pushes_release(work->object);
	recorder_forget_push(work);
	work->loop.woken = false;
	work->loop.unwatched = false;
	work->loop.running = false;
	work->loop.again = false;
	forget_told(work);
}

static void say_stopped(struct work *work)
{
	recorder_event(work, "Normal", "KEDAScalersStopped", "Stopped scalers watch");
}

/* A changed spec, annotation or credential does not wait for the next poll. */
static bool take_news(struct work *work, const struct annotations *says)
{
	struct loop_part *p = &work->loop;
	int64_t generation = work->object->of.meta->generation;
	uint64_t questions = scalers_questions(work->object);
	bool changed = work->generation != generation;
	bool news = changed || p->questions != questions || !annotations_same(&p->annotations, says);

	work->generation = generation;
	p->questions = questions;
	p->annotations = *says;
	if (changed) {
		forget_told(work);
		recorder_unknown(work);
	}
	return news;
}

void polling_keep(struct work *work, const struct annotations *says, bool passes)
{
	bool first = !work->loop.running, news = take_news(work, says);

	if (passes && !first)
		return;
	if (!work->loop.unwatched && !first)
		say_stopped(work);
	start(work);
	work->loop.unwatched = true;
	if (first || !news)
		return;
	work->loop.owed = true;
	polling_look(work);
}

void polling_follow(struct work *work, const struct annotations *says, bool became_ready, bool was_paused)
{
	bool first = !work->loop.running || work->loop.unwatched, news = take_news(work, says);

	if (first && (became_ready || was_paused))
		recorder_started(work);
	start(work);
	work->loop.unwatched = false;
	if (became_ready || first || news) {
		work->loop.owed = true;
		polling_look(work);
		status_write_within(work, TICK_MS);
	} else {
		status_write(work);
	}
}

void polling_end(struct work *work)
{
	if (work->loop.running && !work->loop.unwatched)
		say_stopped(work);
	polling_stop(work);
}

void polling_note_active(struct work *work, int64_t at_unix_ms)
{
	work->loop.last_active_unix_ms = at_unix_ms;
}
