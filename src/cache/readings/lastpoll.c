/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/readings/lastpoll.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct record {
	struct question *question; /* counted */
	struct answer answer;
	struct err *err; /* owned; NULL: answer is good */
};

struct polled {
	struct record *records;
	size_t count;
};

/*
 * Shared questions (cache/readings/questions) are compared by pointer: keys may be long and differ
 * only at their ends, and a thousand are compared with a thousand.
 */
static bool is_about(const struct record *r, const struct question *q)
{
	return r->question == q || (!(r->question->shared && q->shared) && strcmp(r->question->key, q->key) == 0);
}

/* Drops everything from before since_ms, and the result for q (may be NULL). */
static void drop_results(struct polled *p, const struct question *q, int64_t since_ms)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->count; i++) {
		struct record *r = &p->records[i];

		if (r->answer.answered_at_ms >= since_ms && !(q && is_about(r, q))) {
			if (kept != i)
				p->records[kept] = *r;
			kept++;
			continue;
		}
		question_unref(r->question);
		free(r->err);
	}
	p->count = kept;
}

void lastpoll_put(struct object *o, struct question *q, const struct answer *answer, const struct err *err,
	int64_t since_ms)
{
	struct record record = { .question = question_ref(q), .answer = *answer };

	if (!o->polled)
		o->polled = mem_zalloc(sizeof(*o->polled));
	err_keep(&record.err, err);
	drop_results(o->polled, q, since_ms);
	o->polled->records = mem_resize(o->polled->records, o->polled->count + 1, sizeof(record));
	o->polled->records[o->polled->count++] = record;
}

enum readings_found lastpoll_peek(const struct object *o, const struct question *q, int64_t since_ms,
	struct answer *answer, struct err *err)
{
	for (size_t i = 0; o->polled && i < o->polled->count; i++) {
		const struct record *r = &o->polled->records[i];

		if (!is_about(r, q) || r->answer.answered_at_ms < since_ms)
			continue;
		*answer = r->answer;
		if (r->err && err)
			*err = *r->err;
		return r->err ? READINGS_FAILURE : READINGS_ANSWER;
	}
	return READINGS_NONE;
}

void lastpoll_forget(struct object *o)
{
	if (!o->polled)
		return;
	drop_results(o->polled, NULL, INT64_MAX);
	free(o->polled->records);
	free(o->polled);
	o->polled = NULL;
}
