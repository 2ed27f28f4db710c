/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/readings/descriptions.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "cache/auth/holders.h"
#include "scalers/sources.h"

#define AGAIN_MS       15000
#define RETRY_FIRST_MS 1000
#define RETRY_MOST_MS  2000 /* short, because an undescribed trigger cannot scale */

struct described_question {
	struct held held; /* without a key */
	struct descriptions *owner;
	struct question *question;
	bool known;
	struct description description;
	struct err *err; /* owned; error of the last request; NULL */
	bool wrong;      /* known, but err says why the latest one is not used */
	unsigned failures;
	void *under_way; /* the scaler's handle; NULL */
	struct loop_timer again;
};

struct descriptions {
	struct scaler_sources *sources;
	int64_t deadline_ms;
	struct holders holders;
};

/* ---- Requests ---- */

/*
 * Whether to report that a known description is no longer updated: an invalid one at once, another
 * failure when it recurs, as the readings report a single one themselves.
 */
static bool is_wrong(const struct described_question *e, bool before)
{
	return e->known && e->err && (e->err->kind == ERR_INVALID || before);
}

/* Reports each change once; the text may vary between failures. */
static void tell_wrong(struct described_question *e, bool wrong)
{
	if (e->wrong == wrong)
		return;
	e->wrong = wrong;
	if (wrong)
		log_warn("descriptions", "%s: its metrics cannot be updated; the last known ones stay in use: %s",
			e->question->source, e->err->msg);
	else
		log_info("descriptions", "%s: its metrics can be updated again", e->question->source);
	holders_notify(&e->held);
}

static void take_description(struct described_question *e, const struct description *description)
{
	struct description copy = { 0 };

	for (size_t i = 0; i < description->count; i++)
		description_add(&copy, description->metrics[i].name, description->metrics[i].target);
	description_done(&e->description);
	e->description = copy;
	e->known = true;
}

static void on_description(void *arg, const struct description *description, const struct err *err)
{
	struct described_question *e = arg;
	bool first = !e->known && !e->err, retry = err && !e->known, before = e->err != NULL;

	e->under_way = NULL;
	err_keep(&e->err, err);
	loop_timer_set(&e->again,
		retry ? loop_backoff_ms(e->failures++, RETRY_FIRST_MS, RETRY_MOST_MS)
		      : loop_backoff_ms(0, AGAIN_MS, AGAIN_MS));
	if (err) {
		if (first)
			holders_notify(&e->held);
		tell_wrong(e, is_wrong(e, before));
		return;
	}
	tell_wrong(e, false);
	if (e->known && description_equal(&e->description, description))
		return;
	log_debug("descriptions", "%s: %zu metrics, the first is %s", e->question->source, description->count,
		description->metrics[0].name);
	take_description(e, description);
	holders_notify(&e->held);
}

static void on_again(void *arg)
{
	struct described_question *e = arg;
	struct descriptions *d = e->owner;

	if (!e->under_way)
		e->under_way = e->question->type->describe(d->sources, e->question,
			loop_now_ms(d->sources->loop) + d->deadline_ms, on_description, e);
}

/* ---- Life ---- */

static void on_unheld(void *arg, struct held *held)
{
	struct described_question *e = (struct described_question *)held;

	(void)arg;
	if (e->under_way)
		e->question->type->describe_cancel(e->under_way);
	loop_timer_done(&e->again);
	description_done(&e->description);
	err_keep(&e->err, NULL);
	e->question->described = NULL;
	question_unref(e->question);
	free(e);
}

static struct described_question *entry_new(struct descriptions *d, struct question *question)
{
	struct described_question *e = mem_zalloc(sizeof(*e));

	e->owner = d;
	e->question = question_ref(question);
	loop_timer_init(&e->again, d->sources->loop, on_again, e);
	loop_timer_set(&e->again, 0); /* asynchronously, not from inside the request */
	return e;
}

enum reference_state descriptions_get(struct descriptions *d, struct object *owner, struct question *question,
	const struct description **out, struct err *err)
{
	struct described_question *e = question->described;

	if (!e) {
		e = question->described = entry_new(d, question);
		holders_add(&d->holders, &e->held, NULL);
	}
	holdings_take(owner, &e->held);
	*out = &e->description;
	if (e->known)
		return REFERENCE_FOUND;
	if (e->err) {
		if (err)
			*err = *e->err;
		return REFERENCE_MISSING;
	}
	err_set(err, ERR_WAITING, "%s has not described its metrics yet", question->source);
	return REFERENCE_UNREAD;
}

const char *descriptions_trouble(const struct question *question)
{
	const struct described_question *e = question->described;

	return e && e->wrong ? e->err->msg : NULL;
}

struct descriptions *descriptions_new(struct scaler_sources *sources, int64_t deadline_ms)
{
	struct descriptions *d = mem_zalloc(sizeof(*d));

	d->sources = sources;
	d->deadline_ms = deadline_ms;
	holders_init(&d->holders, on_unheld, d);
	return d;
}

void descriptions_free(struct descriptions *d)
{
	free(d);
}

void descriptions_listen(struct descriptions *d, object_fn fn, void *arg)
{
	holders_listen(&d->holders, fn, arg);
}
