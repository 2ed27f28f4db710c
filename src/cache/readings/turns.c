/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/readings/turns.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/hash.h"
#include "base/mem.h"

/* A namespace of which something waits. */
struct turns_party {
	struct turns *turns;
	char *namespace_; /* owned; the table's key */
	struct turns_wait *waiting;
	struct turns_party *prev, *next; /* the first is next */
	UT_hash_handle hh;
};

struct turns {
	struct loop *loop;
	struct turns_party *by_namespace, *waiting;
	uint64_t loop_turn; /* in which so many have begun: */
	unsigned begun;
	struct loop_timer next_turn;
};

static bool may_begin(struct turns *t)
{
	uint64_t now = loop_turns(t->loop);

	if (t->loop_turn != now)
		t->begun = 0;
	t->loop_turn = now;
	return t->begun < TURNS_BEGIN_MAX;
}

static struct turns_party *party_of(struct turns *t, const char *namespace_)
{
	struct turns_party *p;

	HASH_FIND_STR(t->by_namespace, namespace_, p);
	if (p)
		return p;
	p = mem_zalloc(sizeof(*p));
	p->turns = t;
	p->namespace_ = mem_dup(namespace_);
	HASH_ADD_KEYPTR(hh, t->by_namespace, p->namespace_, strlen(p->namespace_), p);
	DL_APPEND(t->waiting, p);
	return p;
}

static void remove_wait(struct turns_wait *w)
{
	struct turns_party *p = w->party;

	w->party = NULL;
	DL_DELETE(p->waiting, w);
	if (p->waiting)
		return;
	DL_DELETE(p->turns->waiting, p);
	HASH_DELETE(hh, p->turns->by_namespace, p);
	free(p->namespace_);
	free(p);
}

/* The next, whose namespace is the last then. */
static struct turns_wait *take_first(struct turns *t)
{
	struct turns_party *p = t->waiting;
	struct turns_wait *w = p->waiting;

	DL_DELETE(t->waiting, p);
	DL_APPEND(t->waiting, p);
	remove_wait(w);
	return w;
}

static void on_next_turn(void *arg)
{
	struct turns *t = arg;
	struct turns_wait *w;

	while (t->waiting && may_begin(t)) {
		t->begun++;
		w = take_first(t);
		w->fn(w->arg);
	}
	if (t->waiting)
		loop_timer_set(&t->next_turn, 0);
}

bool turns_begin(struct turns *t, struct turns_wait *w, const char *namespace_)
{
	if (!t->waiting && may_begin(t)) {
		t->begun++;
		return true;
	}
	w->party = party_of(t, namespace_);
	DL_APPEND(w->party->waiting, w);
	if (!loop_timer_pending(&t->next_turn))
		loop_timer_set(&t->next_turn, 0);
	return false;
}

void turns_give_up(struct turns_wait *w)
{
	if (w->party)
		remove_wait(w);
}

struct turns *turns_new(struct loop *loop)
{
	struct turns *t = mem_zalloc(sizeof(*t));

	t->loop = loop;
	loop_timer_init(&t->next_turn, loop, on_next_turn, t);
	return t;
}

void turns_free(struct turns *t)
{
	if (!t)
		return;
	while (t->waiting)
		remove_wait(t->waiting->waiting);
	loop_timer_done(&t->next_turn);
	free(t);
}
