/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/redis/redisserver.h"

#include <string.h>

#include "base/mem.h"
#include "net/redis/redisendpoint.h"
#include "net/redis/redisreply.h"
#include "scalers/sources.h"

void redisserver_done(struct redisserver *s)
{
	redisendpoint_unref(s->endpoint);
	redissite_unref(s->site);
	memset(s, 0, sizeof(*s));
}

const char *redisserver_key(const struct redisserver *s)
{
	return s->site ? s->site->key : s->endpoint->base.key;
}

char *redisserver_name(const struct redisserver *s)
{
	return s->site ? mem_dup(s->site->name) : mem_printf("redis %s", s->endpoint->base.name);
}

struct redisserver_call redisserver_command(struct scaler_sources *sources, const struct redisserver *s,
	const char *key, int argc, const char *const *argv, int64_t deadline_ms, redis_fn fn, void *arg)
{
	if (s->site)
		return (struct redisserver_call){ .routed = redisrouter_command(sources->redis_router, s->site, key,
							  strlen(key), argc, argv, NULL, deadline_ms, fn, arg) };
	return (struct redisserver_call){ .direct = redis_command(sources->redis, s->endpoint, argc, argv, NULL,
						  deadline_ms, fn, arg) };
}

void redisserver_cancel(struct redisserver_call *call)
{
	redis_cancel(call->direct);
	redisrouter_cancel(call->routed);
	memset(call, 0, sizeof(*call));
}

struct redisserver_watch {
	struct rediswatch *watch;
	struct redisrouter_follower *follower; /* NULL for a single server */
};

static void on_owner(void *arg, struct redisendpoint *endpoint)
{
	struct redisserver_watch *w = arg;

	rediswatch_set_endpoint(w->watch, endpoint);
}

struct redisserver_watch *redisserver_watch_start(struct scaler_sources *sources, const struct redisserver *s,
	const struct rediswatch_config *config, question_look_fn look, void *arg)
{
	struct rediswatch *watch = rediswatch_start(sources->redis_watches, config, look, arg);
	struct redisserver_watch *w;

	if (!watch)
		return NULL;
	w = mem_zalloc(sizeof(*w));
	w->watch = watch;
	if (s->site)
		w->follower = redisrouter_follow(sources->redis_router, s->site, config->key, strlen(config->key),
			on_owner, w);
	else
		rediswatch_set_endpoint(watch, s->endpoint);
	return w;
}

void redisserver_watch_stop(void *watch)
{
	struct redisserver_watch *w = watch;

	redisrouter_unfollow(w->follower);
	rediswatch_stop(w->watch);
	mem_free_ptr(&w);
}

struct watch_report redisserver_watch_report(const void *watch)
{
	return rediswatch_report(((const struct redisserver_watch *)watch)->watch);
}

bool redisserver_failed(const char *source, const char *doing, const struct redis_reply *reply,
	const struct err *transport, struct err *err)
{
	if (transport)
		*err = *transport;
	/* The router follows MOVED: here it is of a server that was taken for a single one. */
	else if (reply->type == REDIS_ERROR)
		err_set(err, redis_error_kind(reply->text), "%s: %s: %s%s", source, doing, reply->text,
			(strncmp(reply->text, "MOVED ", 6) == 0 || strncmp(reply->text, "ASK ", 4) == 0)
				? " (a node of a cluster: the trigger's type should be redis-cluster "
				  "or redis-cluster-streams)"
				: "");
	else
		return false;
	return true;
}

void redisserver_end_with_count(struct scaler_ask *ask, const char *doing, const struct redis_reply *reply,
	const struct err *transport)
{
	const char *source = ask->question->source;
	bool good = !transport && reply->type == REDIS_INTEGER && reply->integer >= 0;
	struct err err;

	if (!good && !redisserver_failed(source, doing, reply, transport, &err))
		err_set(&err, ERR_INVALID, "%s: %s: the reply is not a length", source, doing);
	scaler_ask_end(ask, good ? (double)reply->integer : 0, good ? NULL : &err);
}
