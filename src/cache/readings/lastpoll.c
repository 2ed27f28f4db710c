/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/readings/lastpoll.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

struct record {
	struct question *question; /* counted */
	struct answer answer;
	struct err *err; /* owned; NULL: answer is good */
};

struct polled { /* only of objects that have a record */
	char *key;
	struct record *records;
	size_t count;
	UT_hash_handle hh;
};

struct lastpoll {
	struct store *store;
	struct polled *objects;
};

static struct polled *find(const struct lastpoll *l, const char *key)
{
	struct polled *p;

	HASH_FIND_STR(l->objects, key, p);
	return p;
}

static struct polled *find_or_add(struct lastpoll *l, const char *key)
{
	struct polled *p = find(l, key);

	if (p)
		return p;
	p = mem_zalloc(sizeof(*p));
	p->key = mem_dup(key);
	HASH_ADD_KEYPTR(hh, l->objects, p->key, strlen(p->key), p);
	return p;
}

static bool is_about(const struct record *r, const struct question *q)
{
	return r->question == q || strcmp(r->question->key, q->key) == 0;
}

/* All that is from before since_ms, and what is about q (NULL: nothing is). */
static void drop(struct polled *p, const struct question *q, int64_t since_ms)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->count; i++) {
		struct record *r = &p->records[i];

		if (r->answer.answered_at_ms >= since_ms && !(q && is_about(r, q))) {
			p->records[kept++] = *r;
			continue;
		}
		question_unref(r->question);
		free(r->err);
	}
	p->count = kept;
}

void lastpoll_put(struct lastpoll *l, const char *key, struct question *q, const struct answer *answer,
	const struct err *err, int64_t since_ms)
{
	struct polled *p = find_or_add(l, key);
	struct record record = { .question = question_ref(q), .answer = *answer };

	err_keep(&record.err, err);
	drop(p, q, since_ms);
	p->records = mem_resize(p->records, p->count + 1, sizeof(*p->records));
	p->records[p->count++] = record;
}

enum readings_found lastpoll_peek(const struct lastpoll *l, const char *key, const struct question *q, int64_t since_ms,
	struct answer *answer, struct err *err)
{
	const struct polled *p = find(l, key);

	for (size_t i = 0; p && i < p->count; i++) {
		const struct record *r = &p->records[i];

		if (!is_about(r, q) || r->answer.answered_at_ms < since_ms)
			continue;
		*answer = r->answer;
		if (r->err && err)
			*err = *r->err;
		return r->err ? READINGS_FAILURE : READINGS_ANSWER;
	}
	return READINGS_NONE;
}

static void forget(struct lastpoll *l, struct polled *p)
{
	HASH_DELETE(hh, l->objects, p);
	drop(p, NULL, INT64_MAX);
	free(p->records);
	free(p->key);
	free(p);
}

static void on_store_change(void *arg, unsigned changes, const char *key)
{
	struct lastpoll *l = arg;
	struct polled *p = changes & STORE_GONE ? find(l, key) : NULL;

	if (p)
		forget(l, p);
}

struct lastpoll *lastpoll_new(struct store *store)
{
	struct lastpoll *l = mem_zalloc(sizeof(*l));

	l->store = store;
	store_listen(store, on_store_change, l);
	return l;
}

void lastpoll_free(struct lastpoll *l)
{
	struct polled *p, *next;

	if (!l)
		return;
	HASH_ITER (hh, l->objects, p, next)
		forget(l, p);
	free(l);
}
