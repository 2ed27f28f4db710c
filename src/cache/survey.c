/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/survey.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "cache/readings/lastpoll.h"

/*
 * How late after its pollingInterval a poll's answer may arrive before useCachedMetrics asks the
 * source. On a replica that does not poll, the HPA's requests do so, at that rate.
 */
#define CACHED_SLACK_MS 5000

/*
 * A replica reads the Secrets of an object on the first request for it: retried at this interval
 * until the caller's deadline.
 */
#define WAIT_STEP_MS 25

/* The present questions and scalers. Borrowed until the end of the turn. */
struct survey_view {
	struct cache *cache;
	struct object *object;
	const struct survey_terms *terms;
	struct built built; /* all of the object's scalers, or one alone */
	size_t asked;       /* number of scalers with a question */
	bool all;
};

/* The result of one question. */
struct sampled {
	const struct scaler *scaler;
	struct answer answer;
	const struct err *err; /* NULL: answer is good */
	int64_t completed_at_ms;
	bool held; /* from cache/readings/lastpoll: not new */
};

/* Memory for the result: parallel arrays. */
struct room {
	struct sampled *found;
	struct verdict_trigger *triggers;
	const struct scaler **scalers;
};

/* A pending question; its result is the `found` with the same index. */
struct slot {
	struct survey *survey;
	struct question *question; /* counted */
	struct readings_wait *wait;
	struct err *err; /* owned */
};

struct survey {
	struct cache *cache;
	struct object *object; /* counted */
	char *metric;
	struct survey_terms terms;
	survey_fn fn;
	void *arg;
	struct slot *slots; /* owned, with the room behind them */
	struct room room;
	size_t count, awaited;
	struct loop_task later;  /* nothing is pending: fn is called at the end of the turn */
	struct loop_timer again; /* the scalers' inputs are being read */
};

/*
 * One block: an array with members of `size` bytes, followed by the room. All are aligned like
 * pointers.
 */
static void *room_make(struct room *room, size_t count, size_t size)
{
	char *block = mem_array(count, size + sizeof(*room->found) + sizeof(*room->triggers) + sizeof(*room->scalers));
	void *at = block + count * size;

	room->found = at;
	room->triggers = at = room->found + count;
	room->scalers = at = room->triggers + count;
	return block;
}

/* ---- The questions ---- */

/* The spec with fallback and scalingModifiers; NULL for a ScaledJob. */
static const struct scaledobject_spec *spec_of(const struct survey_view *v)
{
	return v->built.of.so ? &v->built.of.so->spec : NULL;
}

static int open_view(struct cache *cache, struct object *o, const struct survey_terms *terms, struct survey_view *v,
	struct err *err)
{
	const char *metric = terms->metric;

	v->cache = cache;
	v->object = o;
	v->terms = terms;
	if (scalers_get(cache->scalers, o, &v->built, err))
		return -1;
	v->all = !metric || (verdict_has_composite(spec_of(v)) && strcasecmp(metric, VERDICT_COMPOSITE_NAME) == 0);
	if (!v->all) {
		v->built.list = scalers_find(&v->built, metric, err);
		v->built.count = v->asked = 1;
		v->built.formula = NULL;
		return v->built.list ? 0 : -1;
	}
	v->asked = 0;
	for (size_t i = 0; i < v->built.count; i++)
		v->asked += v->built.list[i].question != NULL;
	return 0;
}

/* ---- UseCachedMetrics ---- */

static bool uses_cached(const struct survey_view *v, const struct scaler *s)
{
	return v->built.of.triggers[s->index].use_cached_metrics;
}

static int64_t held_since(const struct survey_view *v)
{
	return loop_now_ms(v->cache->loop) - (int64_t)v->built.of.polling_interval_s * 1000 - CACHED_SLACK_MS;
}

static enum readings_found peek_lastpoll(const struct survey_view *v, const struct scaler *s, struct answer *answer,
	struct err *err)
{
	return lastpoll_peek(v->object, s->question, held_since(v), answer, err);
}

/* The result held for the HPA. */
static enum readings_found peek_held(const struct survey_view *v, const struct scaler *s, struct answer *answer,
	struct err *err)
{
	return v->terms->cached && uses_cached(v, s) ? peek_lastpoll(v, s, answer, err) : READINGS_NONE;
}

/*
 * Stores results of timed polls, and on a replica without polls those of the HPA's requests. A push
 * serves activation only, but a good answer always replaces a stored failure.
 */
static void hold(const struct survey_view *v, const struct sampled *f)
{
	struct answer answer = f->answer, held;

	if (f->held || !f->completed_at_ms || !uses_cached(v, f->scaler))
		return;
	if (!v->terms->timed && !v->terms->cached &&
		(f->err || peek_lastpoll(v, f->scaler, &held, NULL) != READINGS_FAILURE))
		return;
	answer.answered_at_ms = f->completed_at_ms;
	lastpoll_put(v->object, f->scaler->question, &answer, f->err, held_since(v));
}

/* ---- The result ---- */

/* An answer resets the count, whatever caused the query. */
static int32_t failures_in_a_row(const struct survey_view *v, const struct sampled *f)
{
	struct health *health = v->cache->health;

	if (f->err && !v->terms->counted)
		return health_failures(health, v->object, f->scaler->metric_name);
	return health_note(health, v->object, f->scaler->metric_name, !f->err, f->completed_at_ms);
}

static struct verdict_trigger trigger_of(const struct survey_view *v, const struct sampled *f)
{
	struct verdict_trigger t = {
		.metric_name = f->scaler->metric_name,
		.trigger_name = f->scaler->trigger_name,
		.metric = scaler_metric_spec(f->scaler),
		.activation = f->scaler->activation,
		.source_err = f->err,
		.failures = failures_in_a_row(v, f),
	};

	if (!f->err)
		t.reading = scaler_judge(f->scaler, &f->answer);
	return t;
}

static void report_verdict(const struct survey_view *v, const struct room *room, survey_fn fn, void *arg)
{
	struct verdict_trigger *triggers = room->triggers;
	struct composite composite;
	const struct workload *w;
	struct verdict_facts facts = { .spec = spec_of(v),
		.formula = v->built.formula,
		.triggers = triggers,
		.count = v->asked,
		.ready_replicas = -1 };
	struct survey_result result = { .of = v->built.of,
		.scalers = room->scalers,
		.triggers = triggers,
		.count = v->asked,
		.resource_count = v->built.count - v->asked };
	bool refused = false;

	for (size_t i = 0; i < v->asked; i++) {
		const struct sampled *f = &room->found[i];

		room->scalers[i] = f->scaler;
		triggers[i] = trigger_of(v, f);
		hold(v, f);
		refused = refused || (f->err && f->err->kind == ERR_DENIED);
		if (f->err)
			continue;
		if (!result.answered_at_ms || f->answer.answered_at_ms < result.answered_at_ms)
			result.answered_at_ms = f->answer.answered_at_ms;
		if (!result.asked_at_ms || f->answer.asked_at_ms < result.asked_at_ms)
			result.asked_at_ms = f->answer.asked_at_ms;
	}
	if (refused && v->terms->timed)
		lookups_reread(v->cache->lookups, v->object);
	if (targets_get(v->object, &w) == TARGET_PRESENT) {
		result.replicas_known = facts.replicas_known = true;
		result.replicas = facts.replicas = w->replicas;
		facts.ready_replicas = w->ready_replicas;
	}
	verdict_make(&facts, &composite);
	if (v->all && verdict_has_composite(facts.spec))
		result.composite = &composite;
	fn(arg, &result);
}

/* ---- From memory ---- */

static bool peek_one(const struct survey_view *v, const struct scaler *s, struct sampled *f, struct err *err)
{
	enum readings_found found = peek_held(v, s, &f->answer, err);

	f->held = found != READINGS_NONE;
	if (!f->held)
		found = readings_peek(v->cache->readings, s->question, v->terms->max_age_ms, &f->answer, err);
	if (found == READINGS_NONE)
		return false;
	f->err = found == READINGS_FAILURE ? err : NULL;
	f->scaler = s;
	f->completed_at_ms = f->answer.answered_at_ms;
	return true;
}

static bool peek_all(const struct survey_view *v, survey_fn fn, void *arg)
{
	struct room room;
	struct err *errs = room_make(&room, v->asked, sizeof(*errs));
	bool there = true;

	for (size_t i = 0, n = 0; i < v->built.count && there; i++) {
		if (!v->built.list[i].question)
			continue;
		there = peek_one(v, &v->built.list[i], &room.found[n], &errs[n]);
		n++;
	}
	if (there)
		report_verdict(v, &room, fn, arg);
	free(errs);
	return there;
}

bool survey_peek(struct cache *cache, struct object *o, const struct survey_terms *terms, survey_fn fn, void *arg)
{
	struct survey_view v;
	struct err err;
	struct sampled found;
	const struct scaler *scaler;
	struct verdict_trigger trigger;
	struct room room = { &found, &trigger, &scaler };

	if (open_view(cache, o, terms, &v, &err)) {
		if (err.kind == ERR_WAITING)
			return false;
		fn(arg, &(struct survey_result){ .err = &err });
		return true;
	}
	if (v.all)
		return peek_all(&v, fn, arg);
	if (!peek_one(&v, v.built.list, &found, &err))
		return false;
	report_verdict(&v, &room, fn, arg);
	return true;
}

/* ---- Asking ---- */

static void slots_free(struct survey *s)
{
	for (size_t i = 0; i < s->count; i++) {
		readings_cancel(s->slots[i].wait);
		question_unref(s->slots[i].question);
		free(s->slots[i].err);
	}
	free(s->slots);
	s->slots = NULL;
	s->count = s->awaited = 0;
}

void survey_cancel(struct survey *s)
{
	if (!s)
		return;
	slots_free(s);
	loop_task_cancel(s->cache->loop, &s->later);
	loop_timer_done(&s->again);
	free(s->metric);
	object_unref(s->object);
	free(s);
}

/*
 * Whether the answers belong to the present questions. Thresholds may have changed: the new ones
 * apply.
 */
static bool same_questions(const struct survey *s, const struct survey_view *v)
{
	size_t n = 0;

	if (v->asked != s->count)
		return false;
	for (size_t i = 0; i < v->built.count; i++)
		if (v->built.list[i].question && v->built.list[i].question != s->slots[n++].question)
			return false;
	return true;
}

static void begin_survey(void *arg);

static bool may_wait(const struct survey *s, const struct err *err)
{
	return err->kind == ERR_WAITING && loop_now_ms(s->cache->loop) + WAIT_STEP_MS < s->terms.deadline_ms;
}

static void finish_survey(void *arg)
{
	struct survey *s = arg;
	struct survey_view v;
	struct err err;
	bool wrong = open_view(s->cache, s->object, &s->terms, &v, &err) != 0;

	if (wrong ? may_wait(s, &err) : !same_questions(s, &v)) {
		begin_survey(s);
		return;
	}
	if (wrong) {
		s->fn(s->arg, &(struct survey_result){ .err = &err });
	} else {
		for (size_t i = 0, n = 0; i < v.built.count; i++)
			if (v.built.list[i].question)
				s->room.found[n++].scaler = &v.built.list[i];
		report_verdict(&v, &s->room, s->fn, s->arg);
	}
	survey_cancel(s);
}

static void on_reading(void *arg, const struct answer *answer, const struct err *err, int64_t completed_at_ms)
{
	struct slot *slot = arg;
	struct survey *s = slot->survey;
	struct sampled *f = &s->room.found[slot - s->slots];

	slot->wait = NULL;
	f->completed_at_ms = completed_at_ms;
	if (err)
		err_keep(&slot->err, err);
	else
		f->answer = *answer;
	f->err = slot->err;
	if (--s->awaited == 0)
		finish_survey(s);
}

static void ask_one(struct slot *slot, struct sampled *f, const struct survey_view *v, const struct scaler *scaler)
{
	struct survey *s = slot->survey;
	struct question *q = scaler->question;
	struct readings *readings = s->cache->readings;
	int64_t own_ms = loop_now_ms(s->cache->loop) + readings_patience_ms(readings, q);
	struct err err;
	enum readings_found found = peek_held(v, scaler, &f->answer, &err);

	slot->question = question_ref(q);
	f->held = found != READINGS_NONE;
	f->completed_at_ms = f->answer.answered_at_ms;
	if (found == READINGS_FAILURE)
		err_keep(&slot->err, &err);
	f->err = slot->err;
	if (f->held)
		return;
	/*
	 * A trigger with its own timeout gets all of it, even if the caller's deadline is shorter:
	 * otherwise a slow query would never complete.
	 */
	slot->wait = readings_ask(readings, q, s->terms.after, s->terms.max_age_ms,
		q->timeout_ms && own_ms > s->terms.deadline_ms ? own_ms : s->terms.deadline_ms, on_reading, slot);
	s->awaited++;
}

static void ask_questions(struct survey *s, const struct survey_view *v)
{
	s->slots = room_make(&s->room, v->asked, sizeof(*s->slots));
	for (size_t i = 0; i < v->built.count; i++) {
		if (!v->built.list[i].question)
			continue;
		s->slots[s->count].survey = s;
		ask_one(&s->slots[s->count], &s->room.found[s->count], v, &v->built.list[i]);
		s->count++;
	}
	if (!s->awaited)
		loop_task_queue(s->cache->loop, &s->later);
}

static void begin_survey(void *arg)
{
	struct survey *s = arg;
	struct survey_view v;
	struct err err;
	bool wrong;

	slots_free(s);
	wrong = open_view(s->cache, s->object, &s->terms, &v, &err) != 0;
	if (wrong && may_wait(s, &err))
		loop_timer_set(&s->again, WAIT_STEP_MS);
	else if (wrong)
		loop_task_queue(s->cache->loop, &s->later);
	else
		ask_questions(s, &v);
}

struct survey *survey_start(struct cache *cache, struct object *o, const struct survey_terms *terms, survey_fn fn,
	void *arg)
{
	struct survey *s = mem_zalloc(sizeof(*s));

	s->cache = cache;
	s->object = object_ref(o);
	s->metric = mem_dup(terms->metric);
	s->terms = *terms;
	s->terms.metric = s->metric;
	s->fn = fn;
	s->arg = arg;
	loop_task_init(&s->later, finish_survey, s);
	loop_timer_init(&s->again, cache->loop, begin_survey, s);
	begin_survey(s);
	return s;
}
