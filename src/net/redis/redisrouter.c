/* SPDX-License-Identifier: Apache-2.0 */
#include "net/redis/redisrouter.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/mem.h"
#include "base/text.h"
#include "net/redis/redisreply.h"
#include "net/redis/redisway.h"

#define CALLS_MAX 20000 /* under way, per site */

/* A command waits for the map, is sent, or has failed and is about to be told. */
struct redisrouter_call {
	struct redisway *way;
	struct redisrouter_call *prev, *next;
	redis_fn fn;
	void *arg;
	unsigned slot;
	int argc;
	char **argv; /* owned, with the bytes behind it */
	size_t *lens;
	int64_t deadline_ms;
	struct redisendpoint *at; /* one count; where it was sent last */
	struct redis_call *sent, *asking;
	bool waiting, retried;
	int redirects;
	struct err *err;         /* why it waits again, or how it ended */
	struct loop_timer timer; /* while it waits */
	struct loop_task tell;   /* of its failure */
};

static void stop_waiting(struct redisrouter_call *call)
{
	call->way->waiting_count -= call->waiting;
	call->waiting = false;
	loop_timer_cancel(&call->timer);
}

static void call_free(struct redisrouter_call *call)
{
	struct redisway *w = call->way;

	stop_waiting(call);
	DL_DELETE(w->calls, call);
	w->call_count--;
	redis_cancel(call->sent);
	redis_cancel(call->asking);
	redisendpoint_unref(call->at);
	loop_timer_done(&call->timer);
	loop_task_cancel(w->router->loop, &call->tell);
	err_keep(&call->err, NULL);
	free(call->argv);
	free(call->lens);
	free(call);
}

static void call_end(struct redisrouter_call *call, const struct redis_reply *reply, const struct err *err)
{
	redis_fn fn = call->fn;
	void *arg = call->arg;
	struct err copy;

	if (err)
		copy = *err;
	call->way->used_ms = redisway_now_ms(call->way);
	call_free(call);
	fn(arg, reply, err ? &copy : NULL);
}

static void on_tell(void *arg)
{
	struct redisrouter_call *call = arg;

	call_end(call, NULL, call->err);
}

/* err: may be the call's own. */
static void call_fail_later(struct redisrouter_call *call, const struct err *err)
{
	if (err != call->err)
		err_keep(&call->err, err);
	stop_waiting(call);
	loop_task_queue(call->way->router->loop, &call->tell);
}

static void on_waited(void *arg)
{
	struct redisrouter_call *call = arg;
	struct err err;

	err_set(&err, ERR_TEMPORARY, "%s: none of them answered in time", call->way->site->name);
	if (!call->err && !call->way->round && call->way->err)
		err = *call->way->err;
	call_end(call, NULL, call->err ? call->err : &err);
}

static void ask_or_tend(struct redisway *w)
{
	if (redisway_may_ask(w))
		redisway_ask(w);
	else
		redisway_tend(w);
}

static void call_wait(struct redisrouter_call *call)
{
	struct redisway *w = call->way;
	int64_t left_ms = call->deadline_ms - redisway_now_ms(w);

	call->waiting = true;
	w->waiting_count++;
	loop_timer_set(&call->timer, left_ms > 0 ? left_ms : 0);
	ask_or_tend(w);
}

/* The first error tells more than that no other server was found. */
static void call_doubt(struct redisrouter_call *call, const struct err *why)
{
	struct redisway *w = call->way;

	w->doubted = true;
	if (!call->retried && redisway_now_ms(w) < call->deadline_ms) {
		call->retried = true;
		err_keep(&call->err, why);
		call_wait(call);
		return;
	}
	ask_or_tend(w);
	call_end(call, NULL, why);
}

static void call_send(struct redisrouter_call *call, struct redisendpoint *e, bool asking);

/* True when the reply was a redirect, which is then handled. */
static bool call_redirected(struct redisrouter_call *call, const char *text)
{
	struct redisway *w = call->way;
	MEM_AUTO char *address = NULL;
	enum redismap_redirect redirect = redismap_read_redirect(text, call->at->base.name, &address);
	struct redisendpoint *e;
	struct err err;

	if (redirect == REDISMAP_STAY || w->site->kind->redirects == 0)
		return false;
	w->stale = w->stale || redirect == REDISMAP_MOVED;
	if (call->redirects++ >= w->site->kind->redirects)
		err_set(&err, ERR_TEMPORARY, "redis at %s: sent on to another node for the %dth time: %.100s",
			call->at->base.name, call->redirects, text);
	else if (!address)
		err_set(&err, ERR_TEMPORARY, "redis at %s: sent on to nowhere: %.100s", call->at->base.name, text);
	e = address && call->redirects <= w->site->kind->redirects ? redisendpoint_at(w->site->like, address, &err)
								   : NULL;
	if (redisway_may_ask(w) && w->stale)
		redisway_ask(w);
	else
		redisway_tend(w);
	if (!e) {
		call_end(call, NULL, &err);
		return true;
	}
	call_send(call, e, redirect == REDISMAP_ASK);
	redisendpoint_unref(e);
	return true;
}

static void on_asked(void *arg, const struct redis_reply *reply, const struct err *err)
{
	struct redisrouter_call *call = arg;

	(void)reply;
	(void)err; /* the command behind it fares the same */
	call->asking = NULL;
}

static void on_reply(void *arg, const struct redis_reply *reply, const struct err *err)
{
	static const char *const elsewhere[] = { "READONLY", "MASTERDOWN", "CLUSTERDOWN", "UNBLOCKED", NULL };
	struct redisrouter_call *call = arg;
	struct err told;

	call->sent = NULL;
	if (err && err->kind != ERR_DENIED && err->kind != ERR_BUG) {
		call_doubt(call, err);
		return;
	}
	if (!err && reply->type == REDIS_ERROR) {
		if (call_redirected(call, reply->text))
			return;
		/* this server is not, or not any more, the one to ask */
		if (text_begins_with_one_of(reply->text, elsewhere)) {
			err_set(&told, ERR_TEMPORARY, "redis at %s: %.300s", call->at->base.name, reply->text);
			call_doubt(call, &told);
			return;
		}
	}
	call_end(call, reply, err);
}

/*
 * ASKING must come right before its command in the pipeline: both are queued at once, on one
 * connection.
 */
static void call_send(struct redisrouter_call *call, struct redisendpoint *e, bool asking)
{
	struct pool *pool = call->way->router->pool;

	stop_waiting(call);
	redisendpoint_ref(e);
	redisendpoint_unref(call->at);
	call->at = e;
	redis_cancel(call->asking);
	call->asking = asking
		? redis_command(pool, e, 1, (const char *[]){ "ASKING" }, NULL, call->deadline_ms, on_asked, call)
		: NULL;
	call->sent = redis_command(pool, e, call->argc, (const char *const *)call->argv, call->lens, call->deadline_ms,
		on_reply, call);
}

/* Sends the command by the current map, or fails it. */
static void call_place(struct redisrouter_call *call)
{
	struct redisway *w = call->way;
	struct redisendpoint *e;
	struct err err;

	if (!w->map_ms) {
		call_fail_later(call, w->err);
		return;
	}
	e = redisway_server(w, call->slot, &err);
	if (!e)
		call_fail_later(call, call->err ? call->err : &err);
	else if (call->err && strcmp(e->base.name, call->at->base.name) == 0)
		call_fail_later(call, call->err);
	else
		call_send(call, e, false);
}

/* Sends the waiting commands, or fails them; both call back at the end of the turn only. */
static void serve_waiting(struct redisway *w)
{
	struct redisrouter_call *call, *next;

	DL_FOREACH_SAFE (w->calls, call, next) {
		if (call->waiting)
			call_place(call);
	}
}

static void call_begin(struct redisrouter_call *call)
{
	struct redisway *w = call->way;
	struct err err;

	if (w->call_count > CALLS_MAX) {
		err_set(&err, ERR_TEMPORARY, "%s: too many commands wait (%d)", w->site->name, CALLS_MAX);
		call_fail_later(call, &err);
		return;
	}
	if (!w->map_ms || w->doubted) {
		call_wait(call);
		return;
	}
	if (redisway_now_ms(w) - w->map_ms >= w->site->kind->way_ms && redisway_may_ask(w))
		redisway_ask(w);
	call_place(call);
}

static void copy_args(struct redisrouter_call *call, int argc, const char *const *argv, const size_t *argv_len)
{
	size_t total = (size_t)argc * sizeof(char *);
	char *at;

	call->argc = argc;
	call->lens = mem_array((size_t)argc, sizeof(*call->lens));
	for (int i = 0; i < argc; i++) {
		call->lens[i] = argv_len ? argv_len[i] : strlen(argv[i]);
		total += call->lens[i];
	}
	call->argv = mem_alloc(total);
	at = (char *)(call->argv + argc);
	for (int i = 0; i < argc; i++) {
		memcpy(at, argv[i], call->lens[i]);
		call->argv[i] = at;
		at += call->lens[i];
	}
}

struct redisrouter_call *redisrouter_command(struct redisrouter *r, struct redissite *site, const char *key,
	size_t key_len, int argc, const char *const *argv, const size_t *argv_len, int64_t deadline_ms, redis_fn fn,
	void *arg)
{
	struct redisrouter_call *call = mem_zalloc(sizeof(*call));
	struct redisway *w = redisway_of(r, site, serve_waiting);

	call->way = w;
	call->fn = fn;
	call->arg = arg;
	call->slot = redismap_slot(key, key_len);
	call->deadline_ms = deadline_ms;
	copy_args(call, argc, argv, argv_len);
	loop_timer_init(&call->timer, r->loop, on_waited, call);
	loop_task_init(&call->tell, on_tell, call);
	DL_APPEND(w->calls, call);
	w->call_count++;
	w->used_ms = loop_now_ms(r->loop);
	call_begin(call);
	if (!w->round && !loop_timer_pending(&w->timer))
		redisway_tend(w);
	return call;
}

void redisrouter_cancel(struct redisrouter_call *call)
{
	if (call)
		call_free(call);
}

/* ---- Following ---- */

static void on_follower_tell(void *arg)
{
	struct redisrouter_follower *f = arg;

	f->fn(f->arg, f->told);
}

struct redisrouter_follower *redisrouter_follow(struct redisrouter *r, struct redissite *site, const char *key,
	size_t key_len, redisrouter_follow_fn fn, void *arg)
{
	struct redisrouter_follower *f = mem_zalloc(sizeof(*f));
	struct redisway *w = redisway_of(r, site, serve_waiting);

	f->way = w;
	f->fn = fn;
	f->arg = arg;
	f->slot = redismap_slot(key, key_len);
	loop_task_init(&f->tell, on_follower_tell, f);
	DL_APPEND(w->followers, f);
	redisway_tell(f);
	redisway_tend(w);
	return f;
}

void redisrouter_unfollow(struct redisrouter_follower *f)
{
	struct redisway *w;

	if (!f)
		return;
	w = f->way;
	DL_DELETE(w->followers, f);
	redisendpoint_unref(f->told);
	loop_task_cancel(w->router->loop, &f->tell);
	w->used_ms = redisway_now_ms(w);
	redisway_tend(w);
	free(f);
}

/* ---- For the daemon ---- */

struct redisrouter *redisrouter_new(struct loop *loop, struct pool *pool)
{
	struct redisrouter *r = mem_zalloc(sizeof(*r));

	r->loop = loop;
	r->pool = pool;
	return r;
}

void redisrouter_free(struct redisrouter *r)
{
	struct redisway *w, *next;

	if (!r)
		return;
	HASH_ITER (hh, r->ways, w, next) {
		while (w->calls)
			call_free(w->calls);
		while (w->followers)
			redisrouter_unfollow(w->followers);
		redisway_free(w);
	}
	free(r);
}
