/* SPDX-License-Identifier: Apache-2.0 */
#include "net/pool.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/hash.h"
#include "base/mem.h"
#include "net/dial.h"

#define SLOTS         2
#define GROW_MS       50    /* a question that has waited so long behind another gets the second connection */
#define GROW_AGAIN_MS 30000 /* when that could not be had */
#define IDLE_MS       60000

enum slot_state { SLOT_CLOSED, SLOT_OPENING, SLOT_IDLE, SLOT_BUSY };

struct pool_slot {
	struct pool_server *server;
	void *connection; /* the protocol's; NULL while closed */
	enum slot_state state;
	struct pool_call *call; /* SLOT_BUSY */
	bool served;            /* an answer came by this connection */
	int64_t used_ms;
};

struct pool_server {
	struct pool *pool;
	struct endpoint *endpoint; /* one count */
	UT_hash_handle hh;         /* by the endpoint's key */
	struct pool_slot slots[SLOTS];
	struct pool_call *queue; /* oldest first */
	size_t waiting;          /* in the queue */
	bool note;
	unsigned failures;
	int64_t retry_ms, grow_ms; /* no earlier; loop clock */
	int64_t used_ms;           /* asked */
	struct err *last_err;
	struct loop_timer timer;
	int64_t timer_ms; /* when it is due; 0: not set */
};

struct pool {
	struct loop *loop;
	const struct pool_protocol *protocol;
	void *arg;
	struct pool_server *servers; /* hash */
	struct pool_call *told;      /* at the end of this turn */
	struct loop_task tell;
	bool telling; /* callbacks are on the stack */
	bool freed;   /* as soon as they are not */
};

static void dispatch(struct pool_server *s);

static int64_t now_of(const struct pool_server *s)
{
	return loop_now_ms(s->pool->loop);
}

/* The timer fires at_ms, or sooner. */
static void look_again(struct pool_server *s, int64_t at_ms)
{
	int64_t now_ms = now_of(s);

	if (s->timer_ms && s->timer_ms <= at_ms)
		return;
	s->timer_ms = at_ms;
	loop_timer_set(&s->timer, at_ms > now_ms ? at_ms - now_ms : 0);
}

/* ---- Calls ---- */

static void call_free(struct pool_call *call)
{
	if (call->pool->protocol->done)
		call->pool->protocol->done(call);
	free(call->query);
	free(call->err);
	free(call);
}

static void calls_free(struct pool_call *list)
{
	struct pool_call *call, *next;

	DL_FOREACH_SAFE (list, call, next)
		call_free(call);
}

static void leave_queue(struct pool_call *call)
{
	DL_DELETE(call->server->queue, call);
	call->server->waiting--;
}

/* why: NULL for an answer. The call is in no queue and no slot any more. */
static void tell_later(struct pool_server *s, struct pool_call *call, const struct err *why)
{
	struct pool *p = s->pool;
	struct err err;

	if (call->cancelled) {
		call_free(call);
		return;
	}
	if (why) {
		err_set(&err, why->kind, "%s at %s: %s", p->protocol->name, s->endpoint->name, why->msg);
		err_keep(&call->err, &err);
	}
	call->server = NULL;
	call->slot = NULL;
	DL_APPEND(p->told, call);
	loop_task_queue(p->loop, &p->tell);
}

static void on_tell(void *arg)
{
	struct pool *p = arg;

	p->telling = true;
	while (p->told && !p->freed) {
		struct pool_call *call = p->told;

		DL_DELETE(p->told, call);
		p->protocol->tell(call);
		call_free(call);
	}
	p->telling = false;
	if (p->freed)
		pool_free(p);
}

/* ---- Slots ---- */

static struct pool_slot *find_slot(struct pool_server *s, enum slot_state state)
{
	for (size_t i = 0; i < SLOTS; i++) {
		if (s->slots[i].state == state)
			return &s->slots[i];
	}
	return NULL;
}

static void slot_close(struct pool_slot *slot)
{
	if (slot->connection)
		slot->server->pool->protocol->close(slot->connection);
	*slot = (struct pool_slot){ .server = slot->server };
}

void pool_opened(struct pool_slot *slot)
{
	struct pool_server *s = slot->server;

	slot->state = SLOT_IDLE;
	slot->used_ms = now_of(s);
	if (s->grow_ms < slot->used_ms + GROW_MS) /* queries that waited for this one did not wait behind another */
		s->grow_ms = slot->used_ms + GROW_MS;
	dispatch(s);
}

void pool_finished(struct pool_slot *slot, bool usable)
{
	struct pool_server *s = slot->server;
	struct pool_call *call = slot->call;

	slot->call = NULL;
	slot->state = SLOT_IDLE;
	slot->served = true;
	slot->used_ms = now_of(s);
	s->failures = 0;
	if (!usable)
		slot_close(slot);
	tell_later(s, call, call->err);
	dispatch(s);
	look_again(s, now_of(s) + IDLE_MS);
}

/*
 * That a server has closed an idle connection is often noticed only when the next query is sent.
 * That query is sent once more, where the protocol allows it; not when the connection was closed
 * because of the answer.
 */
static bool try_again(struct pool_server *s, struct pool_call *call, const struct err *why)
{
	bool (*again)(struct pool_call *) = s->pool->protocol->again;

	if (!again || call->retried || call->cancelled || why->kind != ERR_TEMPORARY ||
		call->deadline_ms <= now_of(s) || !again(call))
		return false;
	err_keep(&call->err, NULL);
	call->retried = true;
	call->slot = NULL;
	DL_PREPEND(s->queue, call);
	s->waiting++;
	return true;
}

/* No further connection before the back-off is over. */
static void back_off(struct pool_server *s, const struct err *why)
{
	err_keep(&s->last_err, why);
	s->retry_ms = now_of(s) + loop_backoff_ms(s->failures++, DIAL_AGAIN_FIRST_MS, DIAL_AGAIN_MAX_MS);
}

/*
 * The query under way ends with its connection. A server that accepts connections and then closes
 * them without an answer is not dialled for each waiting query; one that closes an idle connection
 * is not at fault.
 */
void pool_lost(struct pool_slot *slot, const struct err *lost)
{
	struct pool_server *s = slot->server;
	struct pool_call *call = slot->call;
	enum slot_state was = slot->state;
	bool served = slot->served;
	struct err why = *lost; /* lost may be a member of the connection */
	struct pool_call *next;

	slot_close(slot);
	if (call && !try_again(s, call, &why))
		tell_later(s, call, call->err ? call->err : &why);
	if (was == SLOT_OPENING && (find_slot(s, SLOT_IDLE) || find_slot(s, SLOT_BUSY))) {
		s->grow_ms = now_of(s) + GROW_AGAIN_MS;
	} else if (was == SLOT_OPENING) {
		back_off(s, &why);
		DL_FOREACH_SAFE (s->queue, call, next) {
			leave_queue(call);
			tell_later(s, call, &why);
		}
	} else if (was == SLOT_BUSY && !served) {
		back_off(s, &why);
	}
	look_again(s, now_of(s) + IDLE_MS);
	dispatch(s);
}

struct pool_call *pool_slot_call(const struct pool_slot *slot)
{
	return slot->call;
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

/* ---- Who goes when ---- */

static void send_next(struct pool_slot *slot)
{
	struct pool_server *s = slot->server;
	struct pool_call *call = s->queue;
	struct err err;

	leave_queue(call);
	if (s->pool->protocol->send(slot->connection, call, &err)) {
		slot_close(slot);
		tell_later(s, call, &err);
		return;
	}
	call->slot = slot;
	slot->call = call;
	slot->state = SLOT_BUSY;
}

/*
 * Opens a second connection only for queries that wait behind a slow one, to keep connections few.
 */
static void grow(struct pool_server *s)
{
	int64_t due_ms = s->retry_ms;
	struct pool_slot *closed = find_slot(s, SLOT_CLOSED);

	if (!closed || find_slot(s, SLOT_OPENING))
		return;
	if (find_slot(s, SLOT_BUSY)) {
		int64_t waited_ms = s->queue->asked_ms + GROW_MS;

		due_ms = waited_ms > due_ms ? waited_ms : due_ms;
		due_ms = s->grow_ms > due_ms ? s->grow_ms : due_ms;
	}
	if (now_of(s) < due_ms) {
		look_again(s, due_ms);
		return;
	}
	closed->state = SLOT_OPENING;
	closed->connection = s->pool->protocol->open(closed, s->endpoint, s->queue);
}

static void dispatch(struct pool_server *s)
{
	struct pool_slot *idle;

	while (s->queue && (idle = find_slot(s, SLOT_IDLE)) != NULL)
		send_next(idle);
	if (s->queue)
		grow(s);
}

/* ---- The timer: deadlines, growing, idleness ---- */

static void expire_queue(struct pool_server *s)
{
	const struct pool_protocol *protocol = s->pool->protocol;
	const struct pool_slot *opening = find_slot(s, SLOT_OPENING);
	bool busy = find_slot(s, SLOT_BUSY), waits = !busy && !opening && s->failures > 0;
	struct pool_call *call, *next;
	struct err err;

	err_set(&err, ERR_TEMPORARY, "%s",
		busy ? protocol->crowded : protocol->opening(opening ? opening->connection : NULL));
	DL_FOREACH_SAFE (s->queue, call, next) {
		if (call->deadline_ms > now_of(s))
			continue;
		leave_queue(call);
		tell_later(s, call, waits ? s->last_err : &err);
	}
}

static void expire_slots(struct pool_server *s)
{
	struct err err;

	for (size_t i = 0; i < SLOTS; i++) {
		struct pool_slot *slot = &s->slots[i];
		struct pool_call *call = slot->call;

		if (call && call->deadline_ms <= now_of(s)) {
			slot_close(slot);
			err_set(&err, ERR_TEMPORARY, "%s", s->pool->protocol->overdue);
			tell_later(s, call, &err);
		} else if (slot->state == SLOT_IDLE && now_of(s) - slot->used_ms >= IDLE_MS) {
			slot_close(slot);
		}
	}
}

static void server_free(struct pool_server *s)
{
	for (size_t i = 0; i < SLOTS; i++) {
		struct pool_call *call = s->slots[i].call;

		slot_close(&s->slots[i]);
		if (call)
			call_free(call);
	}
	calls_free(s->queue);
	loop_timer_done(&s->timer);
	HASH_DEL(s->pool->servers, s);
	endpoint_unref(s->endpoint);
	free(s->last_err);
	free(s);
}

static bool is_unused(const struct pool_server *s)
{
	for (size_t i = 0; i < SLOTS; i++) {
		if (s->slots[i].state != SLOT_CLOSED)
			return false;
	}
	return !s->queue && now_of(s) - s->used_ms >= IDLE_MS;
}

static void on_timer(void *arg)
{
	struct pool_server *s = arg;

	s->timer_ms = 0;
	expire_slots(s);
	expire_queue(s);
	if (is_unused(s)) {
		server_free(s);
		return;
	}
	dispatch(s);
	for (const struct pool_call *call = s->queue; call; call = call->next)
		look_again(s, call->deadline_ms);
	for (size_t i = 0; i < SLOTS; i++) {
		if (s->slots[i].call)
			look_again(s, s->slots[i].call->deadline_ms);
		else if (s->slots[i].state == SLOT_IDLE)
			look_again(s, s->slots[i].used_ms + IDLE_MS);
	}
	look_again(s, now_of(s) + IDLE_MS);
}

/* ---- For everybody ---- */

struct pool *pool_new(struct loop *loop, const struct pool_protocol *protocol, void *arg)
{
	struct pool *p = mem_zalloc(sizeof(*p));

	p->loop = loop;
	p->protocol = protocol;
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
	calls_free(p->told);
	loop_task_cancel(p->loop, &p->tell);
	free(p);
}

size_t pool_connections(const struct pool *p)
{
	size_t count = 0;

	for (const struct pool_server *s = p->servers; s; s = s->hh.next) {
		for (size_t i = 0; i < SLOTS; i++)
			count += s->slots[i].state != SLOT_CLOSED;
	}
	return count;
}

static struct pool_server *server_for(struct pool *p, struct endpoint *e)
{
	struct pool_server *s;

	HASH_FIND_STR(p->servers, e->key, s);
	if (s) {
		endpoint_share(s->endpoint, e);
		return s;
	}
	s = mem_zalloc(sizeof(*s));
	s->pool = p;
	s->endpoint = endpoint_ref(e);
	for (size_t i = 0; i < SLOTS; i++)
		s->slots[i].server = s;
	loop_timer_init(&s->timer, p->loop, on_timer, s);
	HASH_ADD_KEYPTR(hh, p->servers, e->key, strlen(e->key), s);
	return s;
}

/* -1 with the reason why the query may not even wait. */
static int admit(const struct pool_server *s, const char *query, struct err *err)
{
	const struct pool_protocol *protocol = s->pool->protocol;

	if (s->waiting >= protocol->waiting_max)
		return err_set(err, ERR_TEMPORARY, "too many queries wait (%zu)", s->waiting);
	if (protocol->query_max && strlen(query) > protocol->query_max)
		return err_set(err, ERR_INVALID, "the query has more than %zu bytes", protocol->query_max);
	return 0;
}

void pool_ask(struct pool *p, struct endpoint *e, const char *query, int64_t deadline_ms, struct pool_call *call)
{
	struct pool_server *s = server_for(p, e);
	struct err err;

	call->pool = p;
	call->asked_ms = s->used_ms = loop_now_ms(p->loop);
	call->deadline_ms = deadline_ms;
	if (admit(s, query, &err)) {
		look_again(s, call->asked_ms + IDLE_MS);
		tell_later(s, call, &err);
		return;
	}
	call->server = s;
	call->query = mem_dup(query);
	DL_APPEND(s->queue, call);
	s->waiting++;
	look_again(s, deadline_ms);
	dispatch(s);
}

void pool_cancel(struct pool_call *call)
{
	if (!call)
		return;
	if (call->slot) {
		call->cancelled = true; /* its slot becomes free with the answer or the deadline */
		return;
	}
	if (call->server)
		leave_queue(call);
	else
		DL_DELETE(call->pool->told, call);
	call_free(call);
}
