/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/redis/redisserver.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/redis/redisendpoint.h"
#include "net/redis/redisreply.h"
#include "scalers/sources.h"

const char *redisserver_key(const struct redisserver *s)
{
	return s->topology ? s->topology->key : s->endpoint->base.key;
}

char *redisserver_name(const struct redisserver *s)
{
	return s->topology ? mem_dup(s->topology->name) : mem_printf("redis %s", s->endpoint->base.name);
}

void redisserver_question_done(void *question)
{
	struct redisserver_question *q = question;

	endpoint_unref(q->server.endpoint);
	redistopology_unref(q->server.topology);
}

void redisserver_command(struct scaler_ask *ask, int argc, const char *const *argv, redis_fn fn)
{
	const struct redisserver_question *q = ask->question->data;

	if (q->server.topology)
		ask->call = redisrouter_command(ask->sources->redis_router, q->server.topology, q->key, strlen(q->key),
			argc, argv, NULL, ask->deadline_ms, fn, ask);
	else
		ask->call = redis_command(ask->sources->redis, q->server.endpoint, argc, argv, NULL, ask->deadline_ms,
			fn, ask);
}

void redisserver_cancel(void *handle)
{
	const struct scaler_ask *ask = handle;
	const struct redisserver_question *q = ask->question->data;

	if (q->server.topology)
		redisrouter_cancel(ask->call);
	else
		pool_cancel(ask->call);
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

void *redisserver_watch_start(struct scaler_sources *sources, struct question *question, question_look_fn look,
	void *arg)
{
	const struct redisserver_question *q = question->data;
	const struct rediswatch_config config = { .key = q->key, .notify = q->notify, .classes = q->classes };
	struct rediswatch *watch = rediswatch_start(sources->redis_watches, &config, look, arg);
	struct redisserver_watch *w;

	if (!watch)
		return NULL;
	w = mem_zalloc(sizeof(*w));
	w->watch = watch;
	if (q->server.topology)
		w->follower = redisrouter_follow(sources->redis_router, q->server.topology, q->key, strlen(q->key),
			on_owner, w);
	else
		rediswatch_set_endpoint(watch, q->server.endpoint);
	return w;
}

void redisserver_watch_stop(void *watch)
{
	struct redisserver_watch *w = watch;

	redisrouter_unfollow(w->follower);
	rediswatch_stop(w->watch);
	free(w);
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
	/* The router follows MOVED; this is a cluster node addressed as a single server. */
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
