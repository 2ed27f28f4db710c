/* SPDX-License-Identifier: Apache-2.0 */
#include "net/web/webtoken.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "net/http/httpurl.h"
#include "net/web/exchange.h"

/* Pause after a failure; the maximum is for Retry-After. */
#define FAILED_MS     1000
#define FAILED_MAX_MS 600000
#define FORGET_MS     600000
#define ANSWER_MAX    ((size_t)1 << 18)
/* Minimum use of a credential, whatever its life. */
#define LIFE_MIN_MS 5000
/* Back-off between renewals after refusals; it starts anew after REFUSED_OVER_MS without one. */
#define REFUSED_FIRST_MS 5000
#define REFUSED_MAX_MS   60000
#define REFUSED_OVER_MS  (2 * REFUSED_MAX_MS)

struct webtoken;

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
	bool has;                             /* credential is set */
	int64_t fetched_ms, ends_ms;          /* ends_ms 0: unknown */
	struct err *err;                      /* owned; the error of the last exchange; NULL */
	int64_t failed_ms, quiet_ms, used_ms; /* quiet_ms: pause after failed_ms */
	unsigned refusals;                    /* in a row, for which it was dropped */
	int64_t refused_ms, may_drop_ms;      /* the last refusal; earliest time of the next drop */
	bool fetching;
	struct identity_exchange steps;    /* state of the exchange */
	struct exchange exchange;          /* owns one reference to its access */
	char *namespace_;                  /* owned; the asking namespace */
	char where[256];                   /* server of the last request */
	struct credential source;          /* of identity_source */
	struct webtoken_wait *source_wait; /* NULL */
	struct webtoken_wait *waits;
	UT_hash_handle hh;
};

struct webtoken_store {
	struct loop *loop;
	struct webclient *client;
	struct identity_environment environment;
	struct webtoken *tokens;
	uint64_t serial;
};

/* ---- Fetching ---- */

static void fetch_done(struct webtoken *t)
{
	exchange_done(&t->exchange);
	webaccess_unref(t->exchange.options.access);
	t->exchange.options.access = NULL;
	webtoken_cancel(t->source_wait);
	t->source_wait = NULL;
	identity_exchange_done(&t->steps);
	credential_done(&t->source);
	t->fetching = false;
}

static void take(struct webtoken *t, const struct credential *got /* takes its texts */)
{
	credential_done(&t->credential);
	t->credential = *got;
	t->credential.serial = ++t->store->serial;
	t->has = true;
	t->fetched_ms = loop_now_ms(t->store->loop);
	t->ends_ms = !got->life_ms ? 0 : t->fetched_ms + (got->life_ms > LIFE_MIN_MS ? got->life_ms : LIFE_MIN_MS);
	err_keep(&t->err, NULL);
}

static void fail(struct webtoken *t, struct err err)
{
	if (*t->where && !text_begins(err.msg, t->where))
		err_wrap(&err, "%s", t->where);
	err_wrap(&err, "%s", identity_label(t->identity));
	err_keep(&t->err, &err);
	t->failed_ms = loop_now_ms(t->store->loop);
	t->quiet_ms = err.retry_after_ms < FAILED_MS ? FAILED_MS
		: err.retry_after_ms > FAILED_MAX_MS ? FAILED_MAX_MS
						     : err.retry_after_ms;
}

static void on_end(void *arg, const struct err *err)
{
	struct webtoken *t = arg;
	struct webtoken_wait *w;

	fetch_done(t);
	if (err)
		fail(t, *err);
	DL_FOREACH (t->waits, w)
		loop_task_queue(t->store->loop, &w->task);
}

static void on_source(void *arg, const struct credential *credential, const struct err *err)
{
	struct webtoken *t = arg;

	t->source_wait = NULL;
	if (err) {
		*t->where = '\0'; /* err names its own server */
	} else {
		credential_copy(&t->source, credential);
		t->steps.source = &t->source;
	}
	exchange_resume(&t->exchange, err);
}

static enum exchange_verdict on_next(void *arg, struct webrequest *out, struct err *err)
{
	struct webtoken *t = arg;
	struct credential got = { 0 };
	enum exchange_verdict verdict;

	t->steps.unix_ms = timestamp_now_ms();
	verdict = identity_next(&t->steps, out, &got, err);
	out->max_body = ANSWER_MAX;
	if (verdict == EXCHANGE_SEND)
		httpurl_origin(out->url, t->where, sizeof(t->where));
	else if (verdict == EXCHANGE_WAIT)
		t->source_wait = webtoken_ask(t->store, identity_source(t->identity), t->namespace_, on_source, t);
	else if (verdict == EXCHANGE_DONE)
		take(t, &got);
	return verdict;
}

static enum exchange_verdict on_read(void *arg, const struct webresponse *response, struct err *err)
{
	struct webtoken *t = arg;
	struct credential got = { 0 };
	enum exchange_verdict verdict;

	t->steps.unix_ms = timestamp_now_ms();
	verdict = identity_read(&t->steps, response, &got, err);
	if (verdict == EXCHANGE_DONE)
		take(t, &got);
	return verdict;
}

static const struct exchange_kind fetch = { .next = on_next, .read = on_read, .end = on_end };

static void start_fetch(struct webtoken *t, const char *namespace_)
{
	mem_free_ptr(&t->namespace_);
	t->namespace_ = mem_dup(namespace_ && !identity_is_own(t->identity) ? namespace_ : "");
	t->fetching = true;
	*t->where = '\0';
	t->steps = (struct identity_exchange){ .identity = t->identity,
		.environment = &t->store->environment,
		.memory = t->steps.memory };
	t->exchange = (struct exchange){ .loop = t->store->loop,
		.client = t->store->client,
		.options = { .access = webaccess_for_identity(t->identity), .namespace_ = t->namespace_ },
		.steps_max = IDENTITY_STEPS_MAX };
	exchange_start(&t->exchange, &fetch, t);
}

/* ---- Asking ---- */

static void token_free(struct webtoken *t)
{
	HASH_DELETE(hh, t->store->tokens, t);
	fetch_done(t);
	while (t->waits)
		webtoken_cancel(t->waits);
	credential_done(&t->credential);
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

/* Not during the pause after a failure. */
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
		err_set(&err, ERR_DENIED, "%s: it was refused before it could be used", identity_label(t->identity));
	fn(fn_arg, NULL, &err);
}

/* The identity's entry, marked as used; starts a fetch if due. */
static struct webtoken *token_want(struct webtoken_store *s, struct identity *identity, const char *namespace_)
{
	struct webtoken *t = token_get(s, identity);

	t->used_ms = loop_now_ms(s->loop);
	if (!t->fetching && is_due(t, t->used_ms))
		start_fetch(t, namespace_);
	return t;
}

const struct credential *webtoken_cached(struct webtoken_store *s, struct identity *identity, const char *namespace_)
{
	const struct webtoken *t = token_want(s, identity, namespace_);

	return is_good(t, t->used_ms) ? &t->credential : NULL;
}

struct webtoken_wait *webtoken_ask(struct webtoken_store *s, struct identity *identity, const char *namespace_,
	webtoken_fn fn, void *arg)
{
	struct webtoken *t = token_want(s, identity, namespace_);
	struct webtoken_wait *w = mem_zalloc(sizeof(*w));

	w->owner = t;
	w->fn = fn;
	w->arg = arg;
	loop_task_init(&w->task, on_wait, w);
	DL_APPEND(t->waits, w);
	if (!t->fetching || is_good(t, t->used_ms))
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

/* ---- The store ---- */

static const char *env(void *arg, const char *name)
{
	(void)arg;
	return getenv(name);
}

static int read_file(void *arg, const char *path, struct buf *out, struct err *err)
{
	(void)arg;
	return file_read(path, FILE_REGULAR, NULL, out, err);
}

struct webtoken_store *webtoken_store_new(struct loop *loop, struct webclient *client,
	const struct identity_environment *environment)
{
	struct webtoken_store *s = mem_zalloc(sizeof(*s));

	s->loop = loop;
	s->client = client;
	s->environment = environment ? *environment : (struct identity_environment){ .env = env, .file = read_file };
	return s;
}

void webtoken_allow_metadata(struct webtoken_store *s, bool allowed)
{
	s->environment.metadata = allowed;
}

/* First the waits for sources: each is in another entry's list. */
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
