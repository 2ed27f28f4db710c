/* SPDX-License-Identifier: Apache-2.0 */
#include "net/grpc/grpcturns.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/hash.h"
#include "base/mem.h"

/* The calls of one namespace to one server; freed when there are none. */
struct grpcturns_lane {
	struct grpcturns_share *share;
	struct grpcturns_server *server;
	size_t under_way;
	struct grpcturn *waiting;           /* oldest first */
	struct grpcturns_lane *prev, *next; /* while calls wait: in its share's list; the last served is at the end */
	UT_hash_handle hh;
};

/* The calls of one namespace to all servers; freed when there are none. */
struct grpcturns_share {
	struct grpcturns *turns;
	char *namespace_;
	size_t under_way;
	struct grpcturns_lane *lanes, *lanes_by_server; /* with waiting calls; all */
	bool ready;                                     /* in grpcturns.ready: calls wait, below its limit */
	struct grpcturns_share *prev, *next;            /* in that list; the one served last is at the end */
	UT_hash_handle hh;
};

struct grpcturns {
	struct loop *loop;
	grpcturns_fn begin;
	struct grpcturns_share *shares, *ready;
	uint64_t loop_turn; /* the turn of the loop that `begun` counts for */
	size_t begun;
	struct loop_task dispatch;
	struct loop_timer next_turn;
};

/* ---- Shares and lanes ---- */

static struct grpcturns_share *share_get(struct grpcturns *t, const char *namespace_)
{
	struct grpcturns_share *s;

	HASH_FIND_STR(t->shares, namespace_, s);
	if (s)
		return s;
	s = mem_zalloc(sizeof(*s));
	s->turns = t;
	s->namespace_ = mem_dup(namespace_);
	HASH_ADD_KEYPTR(hh, t->shares, s->namespace_, strlen(s->namespace_), s);
	return s;
}

/* After a change: adds it to the ready list, removes it, or frees it. */
static void share_settle(struct grpcturns_share *s)
{
	struct grpcturns *t = s->turns;
	bool ready = s->lanes && s->under_way < GRPCTURNS_OF_NAMESPACE;

	if (ready && !s->ready)
		DL_APPEND(t->ready, s);
	else if (!ready && s->ready)
		DL_DELETE(t->ready, s);
	s->ready = ready;
	if (t->ready)
		loop_task_queue(t->loop, &t->dispatch);
	if (s->lanes || s->under_way)
		return;
	HASH_DEL(t->shares, s);
	free(s->namespace_);
	free(s);
}

static struct grpcturns_lane *lane_get(struct grpcturns_share *s, struct grpcturns_server *server)
{
	struct grpcturns_lane *lane;

	HASH_FIND_PTR(s->lanes_by_server, &server, lane);
	if (lane)
		return lane;
	lane = mem_zalloc(sizeof(*lane));
	lane->share = s;
	lane->server = server;
	HASH_ADD_PTR(s->lanes_by_server, server, lane);
	return lane;
}

static void lane_leave(struct grpcturns_lane *lane, struct grpcturn *turn)
{
	DL_DELETE(lane->waiting, turn);
	if (!lane->waiting)
		DL_DELETE(lane->share->lanes, lane);
	turn->waits = false;
}

/* ---- Scheduling ---- */

static bool may_begin(const struct grpcturns_lane *lane)
{
	if (lane->under_way == 0)
		return lane->server->under_way < GRPCTURNS_OF_SERVER + GRPCTURNS_EXTRA;
	return lane->server->under_way < GRPCTURNS_OF_SERVER &&
		lane->under_way < GRPCTURNS_OF_NAMESPACE - lane->share->under_way;
}

static struct grpcturn *next_of(struct grpcturns_share *s)
{
	struct grpcturns_lane *lane;

	DL_FOREACH (s->lanes, lane) {
		if (!may_begin(lane))
			continue;
		DL_DELETE(s->lanes, lane);
		DL_APPEND(s->lanes, lane);
		return lane->waiting;
	}
	return NULL;
}

static void on_dispatch(void *arg)
{
	struct grpcturns *t = arg;
	struct grpcturns_share *s;
	struct grpcturn *turn;

	if (t->loop_turn != loop_turns(t->loop))
		t->begun = 0;
	t->loop_turn = loop_turns(t->loop);
	while (t->begun < GRPCTURNS_AT_ONCE) {
		turn = NULL;
		DL_FOREACH (t->ready, s) {
			turn = next_of(s);
			if (turn)
				break;
		}
		if (!turn)
			return; /* the waiting calls need others to end first */
		DL_DELETE(t->ready, s);
		DL_APPEND(t->ready, s);
		lane_leave(turn->lane, turn);
		turn->lane->under_way++;
		s->under_way++;
		turn->server->under_way++;
		t->begun++;
		share_settle(s);
		t->begin(turn);
	}
	if (t->ready)
		loop_timer_set(&t->next_turn, 0);
}

/* ---- Public functions ---- */

void grpcturns_join(struct grpcturns *t, struct grpcturn *turn, struct grpcturns_server *server, const char *namespace_)
{
	turn->share = share_get(t, namespace_);
	turn->server = server;
	turn->lane = lane_get(turn->share, server);
	if (!turn->lane->waiting)
		DL_APPEND(turn->share->lanes, turn->lane);
	DL_APPEND(turn->lane->waiting, turn);
	turn->waits = true;
	share_settle(turn->share);
}

void grpcturns_leave(struct grpcturn *turn)
{
	struct grpcturns_share *s = turn->share;

	if (!s)
		return;
	if (turn->waits) {
		lane_leave(turn->lane, turn);
	} else {
		turn->lane->under_way--;
		s->under_way--;
		turn->server->under_way--;
	}
	if (!turn->lane->waiting && !turn->lane->under_way) {
		HASH_DEL(s->lanes_by_server, turn->lane);
		free(turn->lane);
	}
	*turn = (struct grpcturn){ .share = NULL };
	share_settle(s);
}

struct grpcturns *grpcturns_new(struct loop *loop, grpcturns_fn begin_fn)
{
	struct grpcturns *t = mem_zalloc(sizeof(*t));

	t->loop = loop;
	t->begin = begin_fn;
	loop_task_init(&t->dispatch, on_dispatch, t);
	loop_timer_init(&t->next_turn, loop, on_dispatch, t);
	return t;
}

void grpcturns_free(struct grpcturns *t)
{
	if (!t)
		return;
	loop_task_cancel(t->loop, &t->dispatch);
	loop_timer_done(&t->next_turn);
	free(t);
}
