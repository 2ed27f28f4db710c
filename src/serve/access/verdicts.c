/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/access/verdicts.h"

#include <stdlib.h>
#include <string.h>

#include <utlist.h>

#include "base/hash.h"
#include "base/mem.h"

struct verdicts_wait {
	struct verdicts_wait *prev, *next;
	struct verdicts_wait **list; /* of an entry, of those being notified, or of the refused */
	struct verdicts *owner;
	verdicts_fn fn;
	void *arg;
	struct loop_task refusal;
};

struct verdicts_entry {
	struct verdicts *owner;
	struct kube_call *review; /* while asking */
	bool asking;
	struct verdict verdict;             /* while not asking */
	char *why;                          /* owned text of the verdict */
	struct verdicts_wait *waiters;      /* while asking */
	struct verdicts_entry *prev, *next; /* settled ones by age, oldest first */
	UT_hash_handle hh;
	size_t len;
	unsigned char key[];
};

struct verdicts {
	struct kube *kube; /* borrowed, as its loop */
	struct loop *loop;
	struct verdicts_config config;
	struct verdicts_entry *entries;
	struct verdicts_entry *settled;
	struct verdicts_wait *refused; /* those to be told that too many reviews are under way */
	size_t asking;
};

static void wait_add(struct verdicts_wait **list, struct verdicts_wait *w)
{
	w->list = list;
	DL_APPEND(*list, w);
}

static void wait_free(struct verdicts_wait *w)
{
	DL_DELETE(*w->list, w);
	loop_task_cancel(w->owner->loop, &w->refusal);
	free(w);
}

static void waits_free(struct verdicts_wait **list)
{
	while (*list)
		wait_free(*list);
}

/* Appends to an empty list. */
static void waits_move(struct verdicts_wait **from, struct verdicts_wait **to)
{
	struct verdicts_wait *w;

	*to = *from;
	*from = NULL;
	DL_FOREACH (*to, w)
		w->list = to;
}

struct verdicts *verdicts_new(struct kube *kube, const struct verdicts_config *config)
{
	struct verdicts *v = mem_zalloc(sizeof(*v));

	v->kube = kube;
	v->loop = kube_loop(kube);
	v->config = *config;
	return v;
}

static void entry_free(struct verdicts_entry *e)
{
	struct verdicts *v = e->owner;

	HASH_DELETE(hh, v->entries, e);
	if (e->asking)
		v->asking--;
	else
		DL_DELETE(v->settled, e);
	waits_free(&e->waiters);
	kube_cancel(e->review);
	requester_unref(e->verdict.who);
	free(e->why);
	free(e);
}

void verdicts_free(struct verdicts *v)
{
	struct verdicts_entry *e, *next;

	if (!v)
		return;
	HASH_ITER (hh, v->entries, e, next)
		entry_free(e);
	waits_free(&v->refused);
	free(v);
}

static struct verdicts_entry *entry_find(struct verdicts *v, const void *key, size_t len)
{
	struct verdicts_entry *e;

	HASH_FIND(hh, v->entries, key, len, e);
	return e;
}

const struct verdict *verdicts_peek(struct verdicts *v, const void *key, size_t len)
{
	struct verdicts_entry *e = entry_find(v, key, len);

	return e && !e->asking && loop_now_ms(v->loop) < e->verdict.until_ms ? &e->verdict : NULL;
}

/* All are kept for the same time, so the oldest expires first. */
static void make_room(struct verdicts *v)
{
	int64_t now_ms = loop_now_ms(v->loop);

	while (v->settled &&
		(v->settled->verdict.until_ms <= now_ms || HASH_COUNT(v->entries) >= v->config.max_entries))
		entry_free(v->settled);
}

static struct verdicts_entry *entry_new(struct verdicts *v, const void *key, size_t len)
{
	struct verdicts_entry *e;

	make_room(v);
	e = mem_zalloc(sizeof(*e) + len);
	e->owner = v;
	e->asking = true;
	e->len = len;
	memcpy(e->key, key, len);
	HASH_ADD_KEYPTR(hh, v->entries, e->key, e->len, e);
	v->asking++;
	return e;
}

static void on_refused(void *arg)
{
	struct verdicts_wait *w = arg;
	verdicts_fn fn = w->fn;
	void *fn_arg = w->arg;
	struct err err = { 0 };

	err_set(&err, ERR_TEMPORARY, "too many reviews by the API server are under way");
	err.http_status = 429;
	err.retry_after_ms = 1000;
	wait_free(w);
	fn(fn_arg, NULL, &err);
}

static struct verdicts_wait *wait_new(struct verdicts *v, verdicts_fn fn, void *arg)
{
	struct verdicts_wait *w = mem_zalloc(sizeof(*w));

	w->owner = v;
	w->fn = fn;
	w->arg = arg;
	loop_task_init(&w->refusal, on_refused, w);
	return w;
}

struct verdicts_wait *verdicts_ask(struct verdicts *v, const void *key, size_t len, const void *question,
	verdicts_fn fn, void *arg)
{
	struct verdicts_wait *w = wait_new(v, fn, arg);
	struct verdicts_entry *e = entry_find(v, key, len);

	if (e && !e->asking) {
		entry_free(e);
		e = NULL;
	}
	if (!e && v->asking >= v->config.max_asking) {
		wait_add(&v->refused, w);
		loop_task_queue(v->loop, &w->refusal);
		return w;
	}
	if (!e) {
		e = entry_new(v, key, len);
		e->review = v->config.start(v->kube, question, e);
	}
	wait_add(&e->waiters, w);
	return w;
}

void verdicts_cancel(struct verdicts_wait *w)
{
	if (w)
		wait_free(w);
}

/*
 * The callbacks may cancel each other, ask again, or free the entry: it is settled first, and only
 * locals are used here.
 */
static void notify_waiters(struct verdicts_wait **waiters, const struct verdict *verdict, const struct err *err)
{
	while (*waiters) {
		verdicts_fn fn = (*waiters)->fn;
		void *arg = (*waiters)->arg;

		wait_free(*waiters);
		fn(arg, verdict, err);
	}
}

void verdicts_settle(struct verdicts_entry *e, bool yes, const struct review_user *who, const char *why)
{
	struct verdicts *v = e->owner;
	struct requester *user = who ? requester_new(who) : NULL;
	struct verdict verdict = { yes, user, why, loop_now_ms(v->loop) + v->config.keep_ms };
	struct verdicts_wait *waiters;

	e->review = NULL;
	e->asking = false;
	v->asking--;
	e->why = mem_dup(why);
	e->verdict = verdict;
	e->verdict.why = e->why;
	DL_APPEND(v->settled, e);
	waits_move(&e->waiters, &waiters);
	if (user)
		requester_ref(user);
	notify_waiters(&waiters, &verdict, NULL);
	requester_unref(user);
}

/*
 * This is never the caller's fault, whatever the kind of error: if kscaled itself may not ask, that
 * is not a denial to others, and the API server's 429 to us is not one to them.
 */
void verdicts_fail(struct verdicts_entry *e, const struct err *err)
{
	struct err failure = { 0 };
	struct verdicts_wait *waiters;

	err_set(&failure, ERR_TEMPORARY, "%s: %s", e->owner->config.failing, err->msg);
	e->review = NULL;
	waits_move(&e->waiters, &waiters);
	entry_free(e);
	notify_waiters(&waiters, NULL, &failure);
}

size_t verdicts_count(const struct verdicts *v)
{
	return HASH_COUNT(v->entries);
}
