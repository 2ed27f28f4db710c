/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/readings/questions.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void on_end(struct question *q)
{
	HASH_DELETE(hh, q->shared->all, q);
}

/* A question of two namespaces is attributed to neither. */
static void add_asker(struct question *known, const struct question *q)
{
	const char *one = known->namespace_ ? known->namespace_ : "", *other = q->namespace_ ? q->namespace_ : "";

	if (strcmp(one, other) != 0) {
		free(known->namespace_);
		known->namespace_ = mem_dup("");
	}
}

struct question *questions_share(struct questions *t, struct question *q)
{
	struct question *known;

	if (q->shared)
		return q;
	HASH_FIND_STR(t->all, q->key, known);
	if (known) {
		add_asker(known, q);
		question_ref(known);
		question_unref(q);
		return known;
	}
	q->shared = t;
	q->on_end = on_end;
	HASH_ADD_KEYPTR(hh, t->all, q->key, strlen(q->key), q);
	return q;
}
