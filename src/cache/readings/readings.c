/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/readings/readings.h"

#include <stdlib.h>
#include <utlist.h>

#include "base/mem.h"
#include "base/shares.h"
#include "cache/readings/turns.h"
#include "scalers/sources.h"

#define WAITERS_FEW     64    /* per namespace, of the reserve for namespaces with few waiters */
#define FORGET_AFTER_MS 60000 /* entries without requests for this long; the next request simply asks the source */

struct reading_entry {
	struct readings *owner;
	struct question *question;
	bool known;           /* the result of the last completed query: */
	struct answer answer; /* of a failure only its times */
	struct err *err;      /* owned; NULL: answer is good */
	bool asking;          /* a query is under way: */
	int64_t asked_at_ms;
	uint64_t number;        /* of the newest query; counted over all entries */
	struct turns_wait turn; /* before it begins */
	void *ask;              /* the scaler's handle; NULL before it begins */
	struct readings_wait *waiters;
	struct readings_wait *next_waiters; /* those for whom the query under way began too early */
	int64_t touched_at_ms;
	struct reading_entry *prev, *next;
};

struct readings_wait {
	struct readings_wait **list; /* the list that it is in */
	struct readings_wait *prev, *next;
	struct readings *owner;
	readings_fn fn;
	void *arg;
	struct loop_timer deadline; /* only set if the asker's deadline is before the query's */
	struct question *question;
	struct shares_hold share;
	/* An answer or a failure from memory, handed over at the end of the turn. */
	struct loop_task later;
	struct answer answer; /* of a failure only its times; all 0 if it was not the source's */
	struct err *err;      /* owned; NULL: answer is good */
};

struct readings {
	struct scaler_sources *sources;
	struct turns *turns;
	struct loop *loop;
	struct readings_config config;
	struct reading_entry *entries;
	size_t entry_count;
	struct readings_wait *remembered; /* waiters that are answered from memory */
	struct loop_timer sweep;
	size_t asking, waiters;
	struct shares shares; /* of the second half of the waiters */
	uint64_t questions, from_memory;
};

/* ---- Waiters ---- */

static void list_add(struct readings_wait **list, struct readings_wait *w)
{
	DL_APPEND(*list, w);
	w->list = list;
}

static void list_move_all(struct readings_wait **from, struct readings_wait **to)
{
	struct readings_wait *w;

	while ((w = *from) != NULL) {
		DL_DELETE(*from, w);
		list_add(to, w);
	}
}

static void wait_free(struct readings_wait *w)
{
	DL_DELETE(*w->list, w);
	loop_timer_done(&w->deadline);
	loop_task_cancel(w->owner->loop, &w->later);
	question_unref(w->question);
	shares_give(&w->share, 1);
	w->owner->waiters--;
	err_keep(&w->err, NULL);
	free(w);
}

/* Ends a wait: calls the asker's callback, once. */
static void wait_finish(struct readings_wait *w, const struct answer *answer, const struct err *err,
	int64_t completed_at_ms)
{
	readings_fn fn = w->fn;
	void *arg = w->arg;

	wait_free(w);
	fn(arg, answer, err, completed_at_ms);
}

/* ---- Entries ---- */

static void entry_begin(void *arg);

static struct reading_entry *entry_get(struct readings *r, struct question *q)
{
	struct reading_entry *e = q->reading;

	if (e)
		return e;
	e = q->reading = mem_zalloc(sizeof(*e));
	e->owner = r;
	e->question = question_ref(q);
	e->turn = (struct turns_wait){ .fn = entry_begin, .arg = e };
	DL_APPEND(r->entries, e);
	r->entry_count++;
	return e;
}

static void entry_free(struct reading_entry *e)
{
	DL_DELETE(e->owner->entries, e);
	e->owner->entry_count--;
	e->question->reading = NULL;
	if (e->ask)
		question_cancel(e->ask);
	e->owner->asking -= e->asking;
	turns_give_up(&e->turn);
	while (e->waiters)
		wait_free(e->waiters);
	while (e->next_waiters)
		wait_free(e->next_waiters);
	question_unref(e->question);
	err_keep(&e->err, NULL);
	free(e);
}

/* A failure needs no rest, and is asked about again. */
static bool is_resting(const struct reading_entry *e, int64_t now_ms)
{
	int64_t rest_ms = e->answer.rest_ms;

	if (e->question->type->metered && e->owner->config.metered_ms > rest_ms)
		rest_ms = e->owner->config.metered_ms;
	return e->known && !e->err && now_ms - e->answer.answered_at_ms < rest_ms;
}

static void entry_ask(struct reading_entry *e);

/*
 * One completed query counts once, however many asked: all waiters get the same answer or the same
 * failure.
 */
static void on_answer(void *arg, const struct answer *given, const struct err *err)
{
	struct reading_entry *e = arg;
	struct readings *r = e->owner;
	struct readings_wait *finished = NULL;
	struct answer answer = {
		.value = given ? given->value : 0,
		.load = given ? given->load : 0,
		.activity = given ? given->activity : ACTIVITY_BY_THRESHOLD,
		.rest_ms = given ? given->rest_ms : 0,
		.remark = given ? given->remark : NULL,
		.asked_at_ms = e->asked_at_ms,
		.answered_at_ms = loop_now_ms(r->loop),
	};
	struct err failure;

	err_clear(&failure);
	if (err)
		failure = *err;
	e->ask = NULL;
	e->asking = false;
	r->asking--;
	e->known = true;
	e->answer = answer;
	err_keep(&e->err, err ? &failure : NULL);
	/*
	 * The callbacks may ask again, cancel each other, or free the entry through a sweep: from
	 * here on only locals are used.
	 */
	list_move_all(&e->waiters, &finished);
	if (is_resting(e, answer.answered_at_ms))
		list_move_all(&e->next_waiters, &finished);
	if (e->next_waiters) {
		list_move_all(&e->next_waiters, &e->waiters);
		entry_ask(e);
	}
	while (finished)
		wait_finish(finished, err ? NULL : &answer, err ? &failure : NULL, answer.answered_at_ms);
}

int64_t readings_patience_ms(const struct readings *r, const struct question *q)
{
	int64_t ms = q->timeout_ms == QUESTION_TIMEOUT_HTTP ? r->config.http_timeout_ms : q->timeout_ms;

	return ms > r->config.ask_timeout_ms ? ms : r->config.ask_timeout_ms;
}

static void entry_begin(void *arg)
{
	struct reading_entry *e = arg;
	struct readings *r = e->owner;

	e->ask = question_ask(e->question, r->sources, e->asked_at_ms + readings_patience_ms(r, e->question), on_answer,
		e);
}

static void entry_ask(struct reading_entry *e)
{
	struct readings *r = e->owner;

	e->asking = true;
	e->asked_at_ms = loop_now_ms(r->loop);
	r->asking++;
	e->number = ++r->questions;
	if (turns_begin(r->turns, &e->turn, e->question->namespace_ ? e->question->namespace_ : ""))
		entry_begin(e);
}

static void on_sweep(void *arg)
{
	struct readings *r = arg;
	int64_t now_ms = loop_now_ms(r->loop);
	struct reading_entry *e, *next;

	DL_FOREACH_SAFE (r->entries, e, next)
		if (!e->asking && !e->waiters && now_ms - e->touched_at_ms > FORGET_AFTER_MS && !is_resting(e, now_ms))
			entry_free(e);
	loop_timer_set(&r->sweep, FORGET_AFTER_MS);
}

/* ---- Asking ---- */

enum readings_found readings_peek(struct readings *r, const struct question *q, int64_t max_age_ms,
	struct answer *answer, struct err *err)
{
	struct reading_entry *e = q->reading;

	if (!e)
		return READINGS_NONE;
	e->touched_at_ms = loop_now_ms(r->loop);
	if (!e->known ||
		(e->touched_at_ms - e->answer.answered_at_ms >= max_age_ms && !is_resting(e, e->touched_at_ms)))
		return READINGS_NONE;
	r->from_memory++;
	*answer = e->answer;
	if (e->err && err)
		*err = *e->err;
	return e->err ? READINGS_FAILURE : READINGS_ANSWER;
}

static void on_later(void *arg)
{
	struct readings_wait *w = arg;
	struct answer answer = w->answer;
	struct err *err = w->err;

	w->err = NULL; /* it outlives the wait */
	wait_finish(w, err ? NULL : &answer, err, answer.answered_at_ms);
	free(err);
}

static void on_deadline(void *arg)
{
	struct readings_wait *w = arg;
	struct err err = { 0 };

	err_set(&err, ERR_TEMPORARY, "%s: no answer in time", w->question->source);
	wait_finish(w, NULL, &err, 0);
}

/* The first half of the places is open to any namespace. */
static bool may_wait(struct readings_wait *w)
{
	struct readings *r = w->owner;
	const char *namespace_ = w->question->namespace_ ? w->question->namespace_ : "";

	return r->waiters <= r->config.max_waiters / 2 || shares_take(&r->shares, &w->share, namespace_, 1);
}

static struct readings_wait *wait_new(struct readings *r, struct question *q, readings_fn fn, void *arg)
{
	struct readings_wait *w = mem_zalloc(sizeof(*w));

	w->owner = r;
	w->question = question_ref(q);
	w->fn = fn;
	w->arg = arg;
	loop_task_init(&w->later, on_later, w);
	loop_timer_init(&w->deadline, r->loop, on_deadline, w);
	r->waiters++;
	return w;
}

static void answer_later(struct readings *r, struct readings_wait *w)
{
	list_add(&r->remembered, w);
	loop_task_queue(r->loop, &w->later);
}

uint64_t readings_mark(const struct readings *r)
{
	return r->questions + 1;
}

/* The newest query, finished or not, began before the mark: it will not do. */
static bool too_early(const struct reading_entry *e, uint64_t after)
{
	return e && e->number < after && !is_resting(e, loop_now_ms(e->owner->loop));
}

/* Joins the query under way, or the next one if that began too early. */
static void wait_for_query(struct reading_entry *e, struct readings_wait *w, uint64_t after, int64_t deadline_ms)
{
	struct readings *r = e->owner;
	bool next = e->asking && too_early(e, after);
	int64_t ends_ms;

	list_add(next ? &e->next_waiters : &e->waiters, w);
	if (!e->asking)
		entry_ask(e);
	ends_ms = e->asked_at_ms + readings_patience_ms(r, e->question);
	/* When the next one will begin is not known: it may end too late. */
	if (next || deadline_ms < ends_ms)
		loop_timer_set(&w->deadline, deadline_ms > e->touched_at_ms ? deadline_ms - e->touched_at_ms : 0);
}

struct readings_wait *readings_ask(struct readings *r, struct question *q, uint64_t after, int64_t max_age_ms,
	int64_t deadline_ms, readings_fn fn, void *arg)
{
	struct readings_wait *w = wait_new(r, q, fn, arg);
	enum readings_found found;
	struct reading_entry *e;
	struct err err;

	if (!may_wait(w)) {
		err_set(&err, ERR_TEMPORARY, "%s: too many requests of this namespace are waiting", q->source);
		err_keep(&w->err, &err);
		answer_later(r, w);
		return w;
	}
	/*
	 * While asking, the result in memory is older than the query under way, whose number is the
	 * entry's.
	 */
	e = after ? q->reading : NULL;
	found = e && (e->asking || too_early(e, after)) ? READINGS_NONE
							: readings_peek(r, q, max_age_ms, &w->answer, &err);
	if (found == READINGS_FAILURE)
		err_keep(&w->err, &err);
	if (found != READINGS_NONE) {
		answer_later(r, w);
		return w;
	}
	e = entry_get(r, q);
	e->touched_at_ms = loop_now_ms(r->loop);
	wait_for_query(e, w, after, deadline_ms);
	return w;
}

void readings_cancel(struct readings_wait *w)
{
	if (w)
		wait_free(w);
}

struct readings *readings_new(struct scaler_sources *sources, const struct readings_config *config)
{
	struct readings *r = mem_zalloc(sizeof(*r));

	r->sources = sources;
	r->turns = turns_new(sources->loop);
	r->loop = sources->loop;
	r->config = *config;
	r->shares = (struct shares){ .total = config->max_waiters - config->max_waiters / 2, .few = WAITERS_FEW };
	loop_timer_init(&r->sweep, r->loop, on_sweep, r);
	loop_timer_set(&r->sweep, FORGET_AFTER_MS);
	return r;
}

void readings_free(struct readings *r)
{
	struct reading_entry *e, *next;

	if (!r)
		return;
	DL_FOREACH_SAFE (r->entries, e, next)
		entry_free(e);
	while (r->remembered)
		wait_free(r->remembered);
	loop_timer_done(&r->sweep);
	turns_free(r->turns);
	free(r);
}

struct readings_stats readings_stats(const struct readings *r)
{
	return (struct readings_stats){
		.entries = r->entry_count,
		.asking = r->asking,
		.waiters = r->waiters,
		.questions = r->questions,
		.answers_from_memory = r->from_memory,
	};
}
