/* SPDX-License-Identifier: Apache-2.0 */
#include "net/web/webtoken.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "net/http/httpurl.h"

/* Between a failure and the next exchange: at least, and at most where the server asks for more. */
#define FAILED_MS     1000
#define FAILED_MAX_MS 600000
#define FORGET_MS     600000
/* A credential with an end is used for so long at least, and so not exchanged sooner. */
#define LEAST_MS 5000
/* Between refusals that have another credential made; a while without one, and they begin anew. */
#define REFUSED_FIRST_MS 5000
#define REFUSED_MAX_MS   60000
#define REFUSED_OVER_MS  (2 * REFUSED_MAX_MS)

struct webtoken_wait {
	struct webtoken *owner;
	webtoken_fn fn;
	void *arg;
	struct loop_task task;
	struct webtoken_wait *prev, *next;
};

struct webtoken {
	struct webtoken_store *store;
	struct identity *identity; /* one reference */
	const char *key;           /* inside identity */
	struct credential credential;
	bool has;                             /* there is a credential */
	int64_t fetched_ms, ends_ms;          /* ends_ms 0: unknown */
	struct err *err;                      /* owned; the error of the last exchange; NULL */
	int64_t failed_ms, quiet_ms, used_ms; /* quiet_ms: so long after failed_ms nothing is sent */
	unsigned refusals;                    /* in a row, that had it dropped */
	int64_t refused_ms, may_drop_ms;      /* the last of them; no sooner than then again */
	bool fetching;
	struct identity_exchange exchange;
	char *namespace_;                  /* owned; whom it is for */
	unsigned sent;                     /* requests of this exchange */
	char where[256];                   /* whom the last one was sent to */
	struct credential source;          /* of identity_source */
	struct webtoken_wait *source_wait; /* NULL */
	struct webtoken_wait *waits;
	UT_hash_handle hh;
};

struct webtoken_store {
	struct loop *loop;
	const struct identity_world *world;
	webtoken_send_fn send;
	void *send_arg;
	struct webtoken *tokens;
	uint64_t serial;
};

/* ---- An exchange ---- */

static void end_exchange(struct webtoken *t)
{
	struct webtoken_wait *w;

	t->fetching = false;
	identity_exchange_done(&t->exchange);
	credential_done(&t->source);
	DL_FOREACH (t->waits, w)
		loop_task_queue(t->store->loop, &w->task);
}

static void succeed(struct webtoken *t, const struct credential *got /* takes its texts */)
{
	credential_done(&t->credential);
	t->credential = *got;
	t->credential.serial = ++t->store->serial;
	t->has = true;
	t->fetched_ms = loop_now_ms(t->store->loop);
	t->ends_ms = !got->life_ms ? 0 : t->fetched_ms + (got->life_ms > LEAST_MS ? got->life_ms : LEAST_MS);
	err_keep(&t->err, NULL);
	end_exchange(t);
}

static void fail(struct webtoken *t, struct err *err)
{
	if (*t->where && !text_begins(err->msg, t->where))
		err_wrap(err, "%s", t->where);
	err_wrap(err, "%s", identity_called(t->identity));
	err_keep(&t->err, err);
	t->failed_ms = loop_now_ms(t->store->loop);
	t->quiet_ms = err->retry_after_ms < FAILED_MS ? FAILED_MS
		: err->retry_after_ms > FAILED_MAX_MS ? FAILED_MAX_MS
						      : err->retry_after_ms;
	end_exchange(t);
}

static void step(struct webtoken *t);

static void on_source(void *arg, const struct credential *credential, const struct err *err)
{
	struct webtoken *t = arg;
	struct err copy;

	t->source_wait = NULL;
	if (err) {
		copy = *err;
		*t->where = '\0'; /* it names its own */
		fail(t, &copy);
		return;
	}
	credential_copy(&t->source, credential);
	t->exchange.source = &t->source;
	step(t);
}

static void send(struct webtoken *t, const struct webrequest *request)
{
	struct webaccess *access = webaccess_for_identity(t->identity);

	httpurl_origin(request->url, t->where, sizeof(t->where));
	t->sent++;
	t->store->send(t->store->send_arg, request, access, t->namespace_, t);
	webaccess_unref(access);
}

static void step(struct webtoken *t)
{
	struct webrequest request = { 0 };
	struct credential got = { 0 };
	struct err err = { 0 };

	t->exchange.unix_ms = timestamp_now_ms();
	switch (identity_next(&t->exchange, &request, &got, &err)) {
	case IDENTITY_SEND:
		if (t->sent < IDENTITY_STEPS_MAX) {
			send(t, &request);
			break;
		}
		err_set(&err, ERR_INVALID, "more than %d requests", IDENTITY_STEPS_MAX);
		fail(t, &err);
		break;
	case IDENTITY_NEEDS_SOURCE:
		t->source_wait = webtoken_ask(t->store, identity_source(t->identity), t->namespace_, on_source, t);
		break;
	case IDENTITY_GOT: succeed(t, &got); break;
	case IDENTITY_NEXT: /* of identity_read only */
	case IDENTITY_FAILED: fail(t, &err); break;
	}
	webrequest_done(&request);
}

void webtoken_answered(struct webtoken *t, const struct webresponse *answer)
{
	struct credential got = { 0 };
	struct err err = { 0 };

	t->exchange.unix_ms = timestamp_now_ms();
	switch (identity_read(&t->exchange, answer, &got, &err)) {
	case IDENTITY_NEXT: step(t); break;
	case IDENTITY_GOT: succeed(t, &got); break;
	default: fail(t, &err); break;
	}
}

static void start_fetch(struct webtoken *t, const char *namespace_)
{
	mem_free_ptr(&t->namespace_);
	t->namespace_ = mem_dup(namespace_ && !identity_is_own(t->identity) ? namespace_ : "");
	t->fetching = true;
	t->sent = 0;
	*t->where = '\0';
	t->exchange = (struct identity_exchange){ .identity = t->identity,
		.world = t->store->world,
		.memory = t->exchange.memory };
	step(t);
}

/* ---- Asking ---- */

static void token_free(struct webtoken *t)
{
	HASH_DELETE(hh, t->store->tokens, t);
	webtoken_cancel(t->source_wait);
	while (t->waits)
		webtoken_cancel(t->waits);
	identity_exchange_done(&t->exchange);
	credential_done(&t->credential);
	credential_done(&t->source);
	err_keep(&t->err, NULL);
	identity_unref(t->identity);
	free(t->namespace_);
	free(t);
}

static struct webtoken *token_find(struct webtoken_store *s, const struct identity *identity)
{
	const char *key = identity_key(identity);
	struct webtoken *t;

	HASH_FIND_STR(s->tokens, key, t);
	return t;
}

static struct webtoken *token_get(struct webtoken_store *s, struct identity *identity)
{
	struct webtoken *t = token_find(s, identity), *old, *next;
	int64_t now_ms = loop_now_ms(s->loop);

	if (t)
		return t;
	HASH_ITER (hh, s->tokens, old, next)
		if (!old->fetching && !old->waits && now_ms - old->used_ms > FORGET_MS)
			token_free(old);
	t = mem_zalloc(sizeof(*t));
	t->store = s;
	t->identity = identity_ref(identity);
	t->key = identity_key(identity);
	HASH_ADD_KEYPTR(hh, s->tokens, t->key, strlen(t->key), t);
	return t;
}

static bool is_good(const struct webtoken *t, int64_t now_ms)
{
	return t->has && (!t->ends_ms || now_ms < t->ends_ms);
}

int64_t webtoken_due_ms(int64_t life_ms, int64_t early_ms)
{
	int64_t usual = life_ms / 5 * 4, early = life_ms - early_ms;

	if (early < life_ms / 2)
		early = life_ms / 2;
	return early_ms > 0 && early < usual ? early : usual;
}

/* Unless an exchange has failed just now. */
static bool is_due(const struct webtoken *t, int64_t now_ms)
{
	if (t->err && now_ms - t->failed_ms < t->quiet_ms)
		return false;
	return !is_good(t, now_ms) ||
		(t->ends_ms &&
			now_ms - t->fetched_ms >=
				webtoken_due_ms(t->ends_ms - t->fetched_ms, identity_early_ms(t->identity)));
}

static void on_wait(void *arg)
{
	struct webtoken_wait *w = arg;
	struct webtoken *t = w->owner;
	webtoken_fn fn = w->fn;
	void *fn_arg = w->arg;
	struct err err;

	webtoken_cancel(w);
	if (is_good(t, loop_now_ms(t->store->loop))) {
		fn(fn_arg, &t->credential, NULL);
		return;
	}
	if (t->err)
		err = *t->err;
	else
		err_set(&err, ERR_DENIED, "%s: it was refused before it could be used", identity_called(t->identity));
	fn(fn_arg, NULL, &err);
}

struct webtoken_wait *webtoken_ask(struct webtoken_store *s, struct identity *identity, const char *namespace_,
	webtoken_fn fn, void *arg)
{
	struct webtoken *t = token_get(s, identity);
	struct webtoken_wait *w = mem_zalloc(sizeof(*w));
	int64_t now_ms = loop_now_ms(s->loop);

	t->used_ms = now_ms;
	w->owner = t;
	w->fn = fn;
	w->arg = arg;
	loop_task_init(&w->task, on_wait, w);
	DL_APPEND(t->waits, w);
	if (!t->fetching && is_due(t, now_ms))
		start_fetch(t, namespace_);
	if (!t->fetching || is_good(t, now_ms))
		loop_task_queue(s->loop, &w->task);
	return w;
}

void webtoken_cancel(struct webtoken_wait *w)
{
	if (!w)
		return;
	DL_DELETE(w->owner->waits, w);
	loop_task_cancel(w->owner->store->loop, &w->task);
	free(w);
}

bool webtoken_reject(struct webtoken_store *s, const struct identity *identity, const struct credential *refused)
{
	struct webtoken *t = token_find(s, identity);
	int64_t now_ms = loop_now_ms(s->loop), wait_ms = REFUSED_FIRST_MS;

	if (!t || !t->has || t->credential.serial != refused->serial)
		return true;
	if (t->refusals > 0 && now_ms < t->may_drop_ms)
		return false;
	if (now_ms - t->refused_ms >= REFUSED_OVER_MS)
		t->refusals = 0;
	for (unsigned i = 0; i < t->refusals && wait_ms < REFUSED_MAX_MS; i++)
		wait_ms *= 2;
	t->refusals++;
	t->refused_ms = now_ms;
	t->may_drop_ms = now_ms + (wait_ms < REFUSED_MAX_MS ? wait_ms : REFUSED_MAX_MS);
	credential_done(&t->credential);
	t->has = false;
	return true;
}

struct webtoken_store *webtoken_store_new(struct loop *loop, const struct identity_world *world, webtoken_send_fn send_,
	void *arg)
{
	struct webtoken_store *s = mem_zalloc(sizeof(*s));

	s->loop = loop;
	s->world = world;
	s->send = send_;
	s->send_arg = arg;
	return s;
}

/* What waits for a source goes first: its wait is in another one's list. */
void webtoken_store_free(struct webtoken_store *s)
{
	struct webtoken *t, *next;

	if (!s)
		return;
	HASH_ITER (hh, s->tokens, t, next) {
		webtoken_cancel(t->source_wait);
		t->source_wait = NULL;
	}
	HASH_ITER (hh, s->tokens, t, next)
		token_free(t);
	free(s);
}
