/* SPDX-License-Identifier: Apache-2.0 */
#include "net/pool.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/hash.h"
#include "base/mem.h"
#include "net/dial.h"
#include "net/pool_parts.h"

#define GROW_MS       50    /* a call that has waited this long behind another gets a second connection */
#define GROW_AGAIN_MS 30000 /* after a failure to open one */
#define IDLE_MS       60000

static void dispatch(struct pool_server *s);

static int64_t now_of(const struct pool_server *s)
{
	return loop_now_ms(s->pool->loop);
}

static bool pipelines(const struct pool_server *s)
{
	return s->pool->protocol->window > 1;
}

/* Sets the timer to at_ms, unless it is due earlier. */
static void schedule(struct pool_server *s, int64_t at_ms)
{
	int64_t now_ms;

	if (s->timer_ms && s->timer_ms <= at_ms)
		return;
	now_ms = now_of(s);
	s->timer_ms = at_ms;
	loop_timer_set(&s->timer, at_ms > now_ms ? at_ms - now_ms : 0);
}

static void name_server(const struct pool_server *s, struct err *err)
{
	const struct pool_protocol *protocol = s->pool->protocol;

	if (protocol->locate)
		protocol->locate(s->pool->arg, err);
	else
		err_wrap(err, "%s at %s", protocol->name, s->endpoint->name);
}

/* ---- Callbacks ---- */

static void on_tell(void *arg)
{
	struct pool *p = arg;

	p->telling = true;
	while (p->told && !p->freed) {
		struct pool_call *call = p->told;

		DL_DELETE(p->told, call);
		p->protocol->tell(call);
		pool_call_free(call);
	}
	p->telling = false;
	if (p->freed)
		pool_free(p);
}

/* ---- Slots ---- */

static struct pool_slot *find_slot(struct pool_server *s, enum slot_state state)
{
	for (size_t i = 0; i < s->slots_count; i++) {
		if (s->slots[i].state == state)
			return &s->slots[i];
	}
	return NULL;
}

static bool is_closed(struct pool_server *s)
{
	return !find_slot(s, SLOT_OPENING) && !find_slot(s, SLOT_OPEN);
}

/* The lanes must hold no calls any more. */
static void slot_close(struct pool_slot *slot)
{
	const struct pool *p = slot->server->pool;

	if (slot->state == SLOT_CLOSED)
		return;
	slot->state = SLOT_CLOSED;
	slot->served = false;
	p->protocol->close(slot->connection);
	if (!p->protocol->free)
		slot->connection = NULL;
	for (unsigned i = 0; i < p->lanes; i++)
		slot->lanes[i] = (struct pool_lane){ .window = p->protocol->window };
}

void pool_opened(struct pool_slot *slot, unsigned lane)
{
	struct pool_server *s = slot->server;

	slot->lanes[lane].ready = true;
	if (slot->state == SLOT_OPENING) {
		slot->state = SLOT_OPEN;
		slot->used_ms = now_of(s);
		/* Queries that waited for this connection did not wait behind another query. */
		if (s->grow_ms < slot->used_ms + GROW_MS)
			s->grow_ms = slot->used_ms + GROW_MS;
	}
	dispatch(s);
}

static void note_answer(struct pool_slot *slot)
{
	slot->served = true;
	slot->used_ms = now_of(slot->server);
	slot->server->failures = 0;
}

void pool_finished(struct pool_call *call, bool usable)
{
	struct pool_slot *slot = call->slot;
	struct pool_server *s = slot->server;
	struct pool_lane *lane = &slot->lanes[call->lane];
	unsigned window = s->pool->protocol->window;

	pool_call_leave(call);
	note_answer(slot);
	if (lane->window < window)
		lane->window = lane->window < window / 2 ? 2 * lane->window : window;
	if (call->err)
		name_server(s, call->err);
	pool_call_tell(s, call, NULL);
	if (!usable) {
		for (unsigned i = 0; i < s->pool->lanes; i++)
			pool_calls_requeue(s, &slot->lanes[i]);
		slot_close(slot);
	}
	if (s->queue)
		dispatch(s);
	schedule(s, slot->used_ms + IDLE_MS);
}

void pool_refused(struct pool_call *call, const struct err *why)
{
	struct pool_slot *slot = call->slot;
	struct pool_server *s = slot->server;
	struct pool_lane *lane = &slot->lanes[call->lane];
	struct err err = *why;

	lane->ready = false;
	lane->window = 1;
	note_answer(slot);
	name_server(s, &err);
	pool_call_fail(call, &err);
	pool_calls_requeue(s, lane);
	dispatch(s);
}

/*
 * A connection that the server closed while idle is often noticed only when the next query is sent.
 * That query is sent once more if the protocol allows it, but never after we closed the connection
 * ourselves.
 */
static bool try_again(struct pool_call *call, const struct err *why)
{
	struct pool_server *s = call->server;
	bool (*again)(struct pool_call *) = s->pool->protocol->again;

	if (!again || call->retried || call->cancelled || why->kind != ERR_TEMPORARY ||
		call->deadline_ms <= now_of(s) || !again(call))
		return false;
	err_keep(&call->err, NULL);
	call->retried = true;
	return true;
}

static void back_off(struct pool_server *s, const struct err *why)
{
	err_keep(&s->last_err, why);
	s->retry_ms = now_of(s) + loop_backoff_ms(s->failures++, DIAL_AGAIN_FIRST_MS, DIAL_AGAIN_MAX_MS);
}

/* Ends the calls in flight, as their connection is lost. */
static void fail_under_way(struct pool_slot *slot, const struct err *why, bool retry)
{
	struct pool_server *s = slot->server;
	struct pool_call *call, *next;

	for (unsigned i = 0; i < s->pool->lanes; i++) {
		DL_FOREACH_SAFE (slot->lanes[i].sent, call, next) {
			if (retry && try_again(call, why))
				continue;
			if (call->err)
				name_server(s, call->err);
			pool_call_fail(call, call->err ? NULL : why);
		}
		pool_calls_requeue(s, &slot->lanes[i]);
	}
}

/*
 * Closes the connection. The server goes into back-off if it closes connections without answering,
 * so that it is not dialled for every queued query. Closing an idle connection is no fault; nor is
 * our ending a slow query (by_us), unless others are pipelined behind it: then the server hangs.
 */
static void lose_connection(struct pool_slot *slot, const struct err *lost, bool by_us)
{
	struct pool_server *s = slot->server;
	bool opening = slot->state == SLOT_OPENING,
	     faulty = slot->under_way > 0 && (pipelines(s) || (!by_us && !slot->served));
	struct err why = *lost; /* lost may be part of the connection */
	struct pool_call *call, *next;

	name_server(s, &why);
	fail_under_way(slot, &why, !by_us);
	slot_close(slot);
	if (faulty || (opening && is_closed(s)))
		back_off(s, &why);
	else if (opening)
		s->grow_ms = now_of(s) + GROW_AGAIN_MS;
	if (opening && is_closed(s)) {
		DL_FOREACH_SAFE (s->queue, call, next)
			pool_call_fail(call, &why);
	}
}

void pool_lost(struct pool_slot *slot, const struct err *why)
{
	struct pool_server *s = slot->server;

	lose_connection(slot, why, false);
	schedule(s, now_of(s) + IDLE_MS);
	dispatch(s);
}

struct pool_call *pool_slot_call(const struct pool_slot *slot, unsigned lane)
{
	return slot->lanes[lane].sent;
}

void *pool_slot_connection(const struct pool_slot *slot)
{
	return slot->connection;
}

struct loop *pool_slot_loop(const struct pool_slot *slot)
{
	return slot->server->pool->loop;
}

void *pool_slot_arg(const struct pool_slot *slot)
{
	return slot->server->pool->arg;
}

bool *pool_slot_note(struct pool_slot *slot)
{
	return &slot->server->note;
}

/* ---- Dispatching ---- */

/* Finds the lane with the most room for the next call; false: none has room. */
static bool find_room(struct pool_server *s, struct pool_slot **slot, unsigned *lane)
{
	unsigned most = 0;

	for (size_t i = 0; i < s->slots_count; i++) {
		for (unsigned n = 0; s->slots[i].state == SLOT_OPEN && n < s->pool->lanes; n++) {
			const struct pool_lane *l = &s->slots[i].lanes[n];

			if (l->ready && l->window > l->under_way && l->window - l->under_way > most) {
				most = l->window - l->under_way;
				*slot = &s->slots[i];
				*lane = n;
			}
		}
	}
	return most > 0;
}

/* The call must be in no queue. */
static void send_call(struct pool_slot *slot, unsigned lane, struct pool_call *call)
{
	struct err err;

	DL_APPEND(slot->lanes[lane].sent, call);
	slot->lanes[lane].under_way++;
	slot->under_way++;
	call->slot = slot;
	call->lane = lane;
	if (slot->server->pool->protocol->send(slot->connection, call, &err))
		lose_connection(slot, &err, true);
}

/*
 * Opens a connection. A second one is opened only for queries that wait behind a slow one, to keep
 * connections few.
 */
static void grow(struct pool_server *s)
{
	int64_t due_ms = s->retry_ms;
	struct pool_slot *closed = find_slot(s, SLOT_CLOSED);

	if (!closed || find_slot(s, SLOT_OPENING))
		return;
	if (find_slot(s, SLOT_OPEN)) {
		int64_t waited_ms = s->queue->asked_ms + GROW_MS;

		due_ms = waited_ms > due_ms ? waited_ms : due_ms;
		due_ms = s->grow_ms > due_ms ? s->grow_ms : due_ms;
	}
	if (now_of(s) < due_ms) {
		schedule(s, due_ms);
		return;
	}
	closed->state = SLOT_OPENING;
	closed->connection = s->pool->protocol->open(closed, s->endpoint, s->queue);
}

static void dispatch(struct pool_server *s)
{
	struct pool_slot *slot;
	unsigned lane;

	while (s->queue && find_room(s, &slot, &lane)) {
		struct pool_call *call = s->queue;

		DL_DELETE(s->queue, call);
		send_call(slot, lane, call);
	}
	if (s->queue)
		grow(s);
}

/* ---- The timer: deadlines, growth, idle close ---- */

/* Why a call expired that is not the oldest in flight. */
static void explain_overdue(struct pool_server *s, struct err *err)
{
	const struct pool_protocol *protocol = s->pool->protocol;
	const struct pool_slot *opening = find_slot(s, SLOT_OPENING);
	bool open = find_slot(s, SLOT_OPEN);

	if (!open && !opening && s->failures > 0) {
		*err = *s->last_err;
		return;
	}
	err_set(err, ERR_TEMPORARY, "%s", protocol->crowded);
	if (!open && opening)
		protocol->opening(opening->connection, err);
	name_server(s, err);
}

static void expire_calls(struct pool_server *s, struct pool_call *list)
{
	int64_t now_ms = now_of(s);
	struct pool_call *call, *next;
	struct err err;

	err.kind = ERR_NONE;
	DL_FOREACH_SAFE (list, call, next) {
		if (call->deadline_ms > now_ms) {
			schedule(s, call->deadline_ms);
		} else if (!call->cancelled) {
			if (err.kind == ERR_NONE)
				explain_overdue(s, &err);
			pool_call_expire(call, &err);
		}
	}
}

/*
 * Whether the oldest call of a lane (*what) is overdue, or that of the queue while no lane opens.
 */
static bool hangs(const struct pool_slot *slot, const char **what)
{
	const struct pool_server *s = slot->server;
	int64_t now_ms = now_of(s);
	bool ready = false;
	struct err err;

	for (unsigned i = 0; i < s->pool->lanes; i++) {
		const struct pool_lane *lane = &slot->lanes[i];

		if (lane->sent && lane->sent->deadline_ms <= now_ms) {
			*what = lane->sent->what;
			return true;
		}
		ready = ready || lane->ready;
	}
	return !ready && s->queue && s->queue->deadline_ms <= now_ms &&
		(slot->state == SLOT_OPEN || s->pool->protocol->opening(slot->connection, &err) == 0);
}

static void expire_slot(struct pool_slot *slot)
{
	struct pool_server *s = slot->server;
	const char *what = NULL;
	struct err err;

	if (slot->state == SLOT_CLOSED)
		return;
	if (hangs(slot, &what)) {
		err_set(&err, ERR_TEMPORARY, "%s%s%s", what ? what : "", what ? ": " : "", s->pool->protocol->overdue);
		lose_connection(slot, &err, true);
	} else if (slot->state == SLOT_OPEN && slot->under_way == 0 && now_of(s) - slot->used_ms >= IDLE_MS) {
		slot_close(slot);
	}
}

static void server_free(struct pool_server *s)
{
	const struct pool *p = s->pool;

	for (size_t i = 0; i < s->slots_count; i++) {
		struct pool_slot *slot = &s->slots[i];

		for (unsigned n = 0; n < p->lanes; n++)
			pool_calls_free(slot->lanes[n].sent);
		slot_close(slot);
		if (slot->connection)
			p->protocol->free(slot->connection);
	}
	pool_calls_free(s->queue);
	loop_timer_done(&s->timer);
	HASH_DEL(s->pool->servers, s);
	s->pool->last = NULL;
	endpoint_unref(s->endpoint);
	free(s->slots[0].lanes);
	free(s->last_err);
	free(s);
}

static void schedule_slot(struct pool_slot *slot)
{
	struct pool_server *s = slot->server;

	for (unsigned i = 0; i < s->pool->lanes; i++)
		expire_calls(s, slot->lanes[i].sent);
	if (slot->state == SLOT_OPEN && slot->under_way == 0)
		schedule(s, slot->used_ms + IDLE_MS);
}

static void on_timer(void *arg)
{
	struct pool_server *s = arg;

	s->timer_ms = 0;
	for (size_t i = 0; i < s->slots_count; i++)
		expire_slot(&s->slots[i]);
	expire_calls(s, s->queue);
	if (is_closed(s) && !s->queue && now_of(s) - s->used_ms >= IDLE_MS) {
		server_free(s);
		return;
	}
	dispatch(s);
	for (size_t i = 0; i < s->slots_count; i++)
		schedule_slot(&s->slots[i]);
	schedule(s, now_of(s) + IDLE_MS);
}

/* ---- Users ---- */

struct pool *pool_new(struct loop *loop, const struct pool_protocol *protocol, void *arg)
{
	struct pool *p = mem_zalloc(sizeof(*p));

	p->loop = loop;
	p->protocol = protocol;
	p->lanes = protocol->lanes ? protocol->lanes : 1;
	p->arg = arg;
	loop_task_init(&p->tell, on_tell, p);
	return p;
}

void pool_free(struct pool *p)
{
	struct pool_server *s, *next;

	if (!p)
		return;
	p->freed = true;
	if (p->telling)
		return;
	HASH_ITER (hh, p->servers, s, next)
		server_free(s);
	pool_calls_free(p->told);
	loop_task_cancel(p->loop, &p->tell);
	free(p);
}

size_t pool_connections(const struct pool *p)
{
	size_t count = 0;

	for (const struct pool_server *s = p->servers; s; s = s->hh.next) {
		for (size_t i = 0; i < s->slots_count; i++)
			count += s->slots[i].state != SLOT_CLOSED;
	}
	return count;
}

static struct pool_server *server_find(const struct pool *p, struct endpoint *e)
{
	struct pool_server *s = p->last;

	if (s && s->endpoint == e)
		return s;
	if (e->key_len == 0) {
		e->key_len = strlen(e->key);
		e->key_hash = hash_of(e->key, e->key_len);
	}
	HASH_FIND_BYHASHVALUE(hh, p->servers, e->key, e->key_len, e->key_hash, s);
	return s;
}

bool pool_backs_off(const struct pool *p, struct endpoint *e)
{
	struct pool_server *s = server_find(p, e);

	return s && is_closed(s) && now_of(s) < s->retry_ms;
}

static struct pool_server *server_new(struct pool *p, struct endpoint *e)
{
	struct pool_server *s = mem_zalloc(sizeof(*s));
	struct pool_lane *lanes;

	s->pool = p;
	s->endpoint = endpoint_ref(e);
	s->slots_count = pipelines(s) ? 1 : MEM_COUNT(s->slots);
	lanes = mem_array(s->slots_count * p->lanes, sizeof(*lanes));
	for (size_t i = 0; i < s->slots_count; i++)
		s->slots[i] = (struct pool_slot){ .server = s, .lanes = lanes + i * p->lanes };
	for (size_t i = 0; i < s->slots_count * p->lanes; i++)
		lanes[i].window = p->protocol->window;
	loop_timer_init(&s->timer, p->loop, on_timer, s);
	HASH_ADD_KEYPTR_BYHASHVALUE(hh, p->servers, e->key, e->key_len, e->key_hash, s);
	return s;
}

/* -1 with err: the call may not even be queued. */
static int admit(const struct pool_server *s, size_t bytes, struct err *err)
{
	const struct pool_protocol *protocol = s->pool->protocol;

	if (s->waiting >= protocol->waiting_max ||
		(protocol->waiting_bytes_max && s->waiting_bytes >= protocol->waiting_bytes_max))
		return err_set(err, ERR_TEMPORARY, "too many %s wait (%zu)", protocol->calls, s->waiting);
	if (protocol->query_max && bytes > protocol->query_max)
		return err_set(err, ERR_INVALID, "the query has more than %zu bytes", protocol->query_max);
	return 0;
}

void pool_ask(struct pool *p, struct endpoint *e, char *query, size_t bytes, int64_t deadline_ms,
	struct pool_call *call)
{
	struct pool_server *s = server_find(p, e);
	struct pool_slot *slot;
	unsigned lane;
	struct err err;

	if (!s)
		s = server_new(p, e);
	p->last = s;
	endpoint_share(s->endpoint, e);
	call->pool = p;
	call->query = query;
	call->bytes = bytes;
	call->asked_ms = s->used_ms = loop_now_ms(p->loop);
	call->deadline_ms = deadline_ms;
	if (admit(s, bytes, &err)) {
		schedule(s, call->asked_ms + IDLE_MS);
		name_server(s, &err);
		pool_call_tell(s, call, &err);
		return;
	}
	call->server = s;
	s->waiting++;
	s->waiting_bytes += bytes;
	schedule(s, deadline_ms);
	if (!s->queue && find_room(s, &slot, &lane)) {
		send_call(slot, lane, call);
		return;
	}
	DL_APPEND(s->queue, call);
	dispatch(s);
}

void pool_cancel(struct pool_call *call)
{
	if (!call)
		return;
	if (call->slot) {
		call->cancelled = true; /* keeps its place until the answer, or the end of the connection */
		return;
	}
	if (call->server)
		pool_call_leave(call);
	else
		DL_DELETE(call->pool->told, call);
	pool_call_free(call);
}

/* ---- Owners of one pool per server ---- */

size_t pool_waiting(const struct pool *p)
{
	size_t count = 0;

	for (const struct pool_server *s = p->servers; s; s = s->hh.next)
		count += s->waiting;
	return count;
}

int64_t pool_oldest_ms(const struct pool *p)
{
	int64_t oldest_ms = 0;

	for (const struct pool_server *s = p->servers; s; s = s->hh.next) {
		const struct pool_call *next = s->slots[0].lanes[0].sent ? s->slots[0].lanes[0].sent : s->queue;

		if (next && (oldest_ms == 0 || next->asked_ms < oldest_ms))
			oldest_ms = next->asked_ms;
	}
	return oldest_ms;
}

bool pool_is_quiet(const struct pool *p)
{
	return pool_connections(p) == 0 && pool_waiting(p) == 0 && !p->told && !p->telling;
}

void pool_close_idle(struct pool *p)
{
	for (struct pool_server *s = p->servers; s; s = s->hh.next) {
		for (size_t i = 0; i < s->slots_count; i++) {
			if (s->slots[i].state == SLOT_OPEN && s->waiting == 0)
				slot_close(&s->slots[i]);
		}
	}
}
