/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/readings/questions.h"

#include <string.h>

static void on_end(struct question *q)
{
	HASH_DELETE(hh, q->shared->all, q);
}

struct question *questions_share(struct questions *t, struct question *q)
{
	struct question *known;

	if (q->shared)
		return q;
	HASH_FIND_STR(t->all, q->key, known);
	if (known) {
		question_ref(known);
		question_unref(q);
		return known;
	}
	q->shared = t;
	q->on_end = on_end;
	HASH_ADD_KEYPTR(hh, t->all, q->key, strlen(q->key), q);
	return q;
}
