/* SPDX-License-Identifier: Apache-2.0 */
#include "net/redis/redisrouter.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/mem.h"
#include "base/text.h"
#include "net/redis/redisreply.h"
#include "net/redis/redisroute.h"

#define CALLS_MAX 20000 /* in flight, per topology */

/* A command: waiting for the map, sent, or failed with its callback due. */
struct redisrouter_call {
	struct redisroute *route;
	struct redisrouter_call *prev, *next;
	redis_fn fn;
	void *arg;
	unsigned slot;
	int argc;
	char **argv; /* owned; the arguments' bytes follow the pointers */
	size_t *lens;
	int64_t deadline_ms;
	struct redisendpoint *at; /* one count; where it was last sent */
	struct pool_call *sent, *asking;
	bool waiting, retried;
	int redirects;
	struct err *err;         /* why it waits again, or the final error */
	struct loop_timer timer; /* while it waits */
	struct loop_task tell;   /* for a failure */
};

static void stop_waiting(struct redisrouter_call *call)
{
	call->route->waiting_count -= call->waiting;
	call->waiting = false;
	loop_timer_cancel(&call->timer);
}

static void call_free(struct redisrouter_call *call)
{
	struct redisroute *r = call->route;

	stop_waiting(call);
	DL_DELETE(r->calls, call);
	r->call_count--;
	pool_cancel(call->sent);
	pool_cancel(call->asking);
	endpoint_unref(call->at);
	loop_timer_done(&call->timer);
	loop_task_cancel(r->router->loop, &call->tell);
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
	call->route->used_ms = redisroute_now_ms(call->route);
	call_free(call);
	fn(arg, reply, err ? &copy : NULL);
}

static void on_tell(void *arg)
{
	struct redisrouter_call *call = arg;

	call_end(call, NULL, call->err);
}

/* err may be call->err. */
static void call_fail_later(struct redisrouter_call *call, const struct err *err)
{
	if (err != call->err)
		err_keep(&call->err, err);
	stop_waiting(call);
	loop_task_queue(call->route->router->loop, &call->tell);
}

static void on_waited(void *arg)
{
	struct redisrouter_call *call = arg;
	struct err err;

	err_set(&err, ERR_TEMPORARY, "%s: none of them answered in time", call->route->topology->name);
	if (!call->err && !call->route->fanout && call->route->err)
		err = *call->route->err;
	call_end(call, NULL, call->err ? call->err : &err);
}

static void refresh_or_schedule(struct redisroute *r)
{
	if (redisroute_may_refresh(r))
		redisroute_refresh(r);
	else
		redisroute_schedule(r);
}

static void call_wait(struct redisrouter_call *call)
{
	struct redisroute *r = call->route;
	int64_t left_ms = call->deadline_ms - redisroute_now_ms(r);

	call->waiting = true;
	r->waiting_count++;
	loop_timer_set(&call->timer, left_ms > 0 ? left_ms : 0);
	refresh_or_schedule(r);
}

/*
 * Waits for a new map, once. If that does not help, the first error is reported, as it is more
 * informative than the lack of another server.
 */
static void call_retry(struct redisrouter_call *call, const struct err *why)
{
	struct redisroute *r = call->route;

	r->wrong = true;
	if (!call->retried && redisroute_now_ms(r) < call->deadline_ms) {
		call->retried = true;
		err_keep(&call->err, why);
		call_wait(call);
		return;
	}
	refresh_or_schedule(r);
	call_end(call, NULL, why);
}

static void call_send(struct redisrouter_call *call, struct redisendpoint *e, bool asking);

/* True: the reply was a redirect, and has been handled. */
static bool call_redirected(struct redisrouter_call *call, const char *text)
{
	struct redisroute *r = call->route;
	MEM_AUTO char *address = NULL;
	enum redismap_redirect redirect = redismap_read_redirect(text, call->at->base.name, &address);
	struct redisendpoint *e;
	struct err err;

	if (redirect == REDISMAP_STAY || r->topology->kind->redirects == 0)
		return false;
	r->stale = r->stale || redirect == REDISMAP_MOVED;
	if (call->redirects++ >= r->topology->kind->redirects)
		err_set(&err, ERR_TEMPORARY, "redis at %s: redirected %d times, finally by: %.100s",
			call->at->base.name, call->redirects, text);
	else if (!address)
		err_set(&err, ERR_TEMPORARY, "redis at %s: redirected without an address: %.100s", call->at->base.name,
			text);
	e = address && call->redirects <= r->topology->kind->redirects
		? redisendpoint_at(r->topology->like, address, &err)
		: NULL;
	if (redisroute_may_refresh(r) && r->stale)
		redisroute_refresh(r);
	else
		redisroute_schedule(r);
	if (!e) {
		call_end(call, NULL, &err);
		return true;
	}
	call_send(call, e, redirect == REDISMAP_ASK);
	endpoint_unref(e);
	return true;
}

static void on_asked(void *arg, const struct redis_reply *reply, const struct err *err)
{
	struct redisrouter_call *call = arg;

	(void)reply;
	(void)err; /* the command behind it gets the same error */
	call->asking = NULL;
}

static void on_reply(void *arg, const struct redis_reply *reply, const struct err *err)
{
	static const char *const elsewhere[] = { "READONLY", "MASTERDOWN", "CLUSTERDOWN", "UNBLOCKED", NULL };
	struct redisrouter_call *call = arg;
	struct err why;

	call->sent = NULL;
	if (err && err->kind != ERR_DENIED && err->kind != ERR_BUG) {
		call_retry(call, err);
		return;
	}
	if (!err && reply->type == REDIS_ERROR) {
		if (call_redirected(call, reply->text))
			return;
		/* this server is not, or no longer, the right one */
		if (text_begins_with_one_of(reply->text, elsewhere)) {
			err_set(&why, ERR_TEMPORARY, "redis at %s: %.300s", call->at->base.name, reply->text);
			call_retry(call, &why);
			return;
		}
	}
	call_end(call, reply, err);
}

/*
 * ASKING must immediately precede its command in the pipeline: both are queued at once, on one
 * connection.
 */
static void call_send(struct redisrouter_call *call, struct redisendpoint *e, bool asking)
{
	struct pool *pool = call->route->router->pool;

	stop_waiting(call);
	endpoint_ref(e);
	endpoint_unref(call->at);
	call->at = e;
	pool_cancel(call->asking);
	call->asking = asking
		? redis_command(pool, e, 1, (const char *[]){ "ASKING" }, NULL, call->deadline_ms, on_asked, call)
		: NULL;
	call->sent = redis_command(pool, e, call->argc, (const char *const *)call->argv, call->lens, call->deadline_ms,
		on_reply, call);
}

/* Sends the command according to the current map, or fails it. */
static void call_place(struct redisrouter_call *call)
{
	struct redisroute *r = call->route;
	struct redisendpoint *e;
	struct err err;

	if (!r->map_ms) {
		call_fail_later(call, r->err);
		return;
	}
	e = redisroute_server(r, call->slot, &err);
	if (!e)
		call_fail_later(call, call->err ? call->err : &err);
	else if (call->err && strcmp(e->base.name, call->at->base.name) == 0)
		call_fail_later(call, call->err);
	else
		call_send(call, e, false);
}

/* Sends the waiting commands, or fails them. Callbacks run at the end of the turn only. */
static void serve_waiting(struct redisroute *r)
{
	struct redisrouter_call *call, *next;

	DL_FOREACH_SAFE (r->calls, call, next) {
		if (call->waiting)
			call_place(call);
	}
}

static void call_begin(struct redisrouter_call *call)
{
	struct redisroute *r = call->route;
	struct err err;

	if (r->call_count > CALLS_MAX) {
		err_set(&err, ERR_TEMPORARY, "%s: too many commands wait (%d)", r->topology->name, CALLS_MAX);
		call_fail_later(call, &err);
		return;
	}
	if (!r->map_ms || r->wrong) {
		call_wait(call);
		return;
	}
	if (redisroute_now_ms(r) - r->map_ms >= r->topology->kind->refresh_ms && redisroute_may_refresh(r))
		redisroute_refresh(r);
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

struct redisrouter_call *redisrouter_command(struct redisrouter *router, struct redistopology *topology,
	const char *key, size_t key_len, int argc, const char *const *argv, const size_t *argv_len, int64_t deadline_ms,
	redis_fn fn, void *arg)
{
	struct redisrouter_call *call = mem_zalloc(sizeof(*call));
	struct redisroute *r = redisroute_get(router, topology, serve_waiting);

	call->route = r;
	call->fn = fn;
	call->arg = arg;
	call->slot = redismap_slot(key, key_len);
	call->deadline_ms = deadline_ms;
	copy_args(call, argc, argv, argv_len);
	loop_timer_init(&call->timer, router->loop, on_waited, call);
	loop_task_init(&call->tell, on_tell, call);
	DL_APPEND(r->calls, call);
	r->call_count++;
	r->used_ms = loop_now_ms(router->loop);
	call_begin(call);
	if (!r->fanout && !loop_timer_pending(&r->timer))
		redisroute_schedule(r);
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

	f->fn(f->arg, f->reported);
}

struct redisrouter_follower *redisrouter_follow(struct redisrouter *router, struct redistopology *topology,
	const char *key, size_t key_len, redisrouter_follow_fn fn, void *arg)
{
	struct redisrouter_follower *f = mem_zalloc(sizeof(*f));
	struct redisroute *r = redisroute_get(router, topology, serve_waiting);

	f->route = r;
	f->fn = fn;
	f->arg = arg;
	f->slot = redismap_slot(key, key_len);
	loop_task_init(&f->tell, on_follower_tell, f);
	DL_APPEND(r->followers, f);
	redisroute_notify(f);
	redisroute_schedule(r);
	return f;
}

void redisrouter_unfollow(struct redisrouter_follower *f)
{
	struct redisroute *r;

	if (!f)
		return;
	r = f->route;
	DL_DELETE(r->followers, f);
	endpoint_unref(f->reported);
	loop_task_cancel(r->router->loop, &f->tell);
	r->used_ms = redisroute_now_ms(r);
	redisroute_schedule(r);
	free(f);
}

/* ---- The router ---- */

struct redisrouter *redisrouter_new(struct loop *loop, struct pool *pool)
{
	struct redisrouter *router = mem_zalloc(sizeof(*router));

	router->loop = loop;
	router->pool = pool;
	return router;
}

void redisrouter_free(struct redisrouter *router)
{
	struct redisroute *r, *next;

	if (!router)
		return;
	HASH_ITER (hh, router->routes, r, next) {
		while (r->calls)
			call_free(r->calls);
		while (r->followers)
			redisrouter_unfollow(r->followers);
		redisroute_free(r);
	}
	free(router);
}
