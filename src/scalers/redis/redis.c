/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/redis/redis.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/redis/redisreply.h"
#include "scalers/redis/redisparams.h"

/* What is asked: one key on one server. */
struct redis_question {
	struct redisserver server;
	char *key;
	enum rediswatch_notify notify;
};

/*
 * One round trip and atomic: the type of the key, then its length. Command names are literals, as
 * some proxies look for them; the script is sent whole each time, so a restarted server needs
 * nothing from us. A key that does not exist has length 0; that is the source's own answer.
 */
static const char length_script[] = "local t=redis.call('TYPE',KEYS[1]).ok "
				    "if t=='list' or t=='none' then return redis.call('LLEN',KEYS[1]) end "
				    "if t=='set' then return redis.call('SCARD',KEYS[1]) end "
				    "if t=='zset' then return redis.call('ZCARD',KEYS[1]) end "
				    "if t=='hash' then return redis.call('HLEN',KEYS[1]) end "
				    "return redis.error_reply('ERR unsupported key type: '..t)";

struct redis_fields {
	char *list;
	int64_t length, activation;
};

#define AT(field) offsetof(struct redis_fields, field)
static const struct param_row rows[] = {
	{ "listName", PARAM_TEXT, "m", AT(list), .required = true, .help = "the key" },
	{ "listLength", PARAM_INT64, "m", AT(length), .otherwise = "5", .help = "target: as many per replica" },
	{ "activationListLength", PARAM_INT64, "m", AT(activation), .help = "active when there are more" },
};
static const struct param_table table = PARAM_TABLE(rows);

static void make_question(struct scaler *out, const struct redis_fields *f,
	const struct redisserver *server /* takes */, enum rediswatch_notify notify)
{
	struct redis_question *q = mem_zalloc(sizeof(*q));

	q->server = *server;
	q->key = mem_dup(f->list);
	q->notify = notify;
	out->question = question_new(out->type,
		mem_printf("redis length %s%s %s", redisserver_key(server), rediswatch_notify_key(notify), f->list),
		redisserver_name(server), q);
}

static int redis_build(const struct scaler_params *params, struct scaler *out, char **metric_name, struct err *err)
{
	struct redisserver server = { 0 };
	enum rediswatch_notify notify;
	struct redis_fields f = { 0 };
	int rc = params_read(&table, params, &f, err) || redisparams_check_target(params, "listLength", &f.length, err)
		? -1
		: redisparams_read(params, &server, &notify, err);

	if (rc >= 0) {
		out->target = quantity_from_int(f.length);
		out->activation = (double)f.activation;
		*metric_name = params_normalise(mem_printf("redis-%s", f.list));
	}
	if (rc == 0)
		make_question(out, &f, &server, notify);
	params_done(&table, &f);
	return rc;
}

static void redis_free_data(void *data)
{
	struct redis_question *q = data;

	redisserver_done(&q->server);
	free(q->key);
	free(q);
}

/* One question under way. */
struct redis_ask {
	struct scaler_ask base;
	struct redisserver_call call;
};

static void on_reply(void *arg, const struct redis_reply *reply, const struct err *transport)
{
	struct redis_ask *ask = arg;
	const struct redis_question *q = ask->base.question->data;
	MEM_AUTO char *doing = mem_printf("asking the length of %s", q->key);

	redisserver_end_with_count(&ask->base, doing, reply, transport);
}

static void *redis_ask(struct scaler_sources *sources, struct question *question, int64_t deadline_ms, question_fn fn,
	void *arg)
{
	const struct redis_question *q = question->data;
	const char *argv[] = { "EVAL", length_script, "1", q->key };
	struct redis_ask *ask = scaler_ask_new(sizeof(*ask), question, fn, arg);

	ask->call = redisserver_command(sources, &q->server, q->key, 4, argv, deadline_ms, on_reply, ask);
	return ask;
}

static void redis_ask_cancel(void *handle)
{
	struct redis_ask *ask = handle;

	redisserver_cancel(&ask->call);
	scaler_ask_free(ask);
}

static void *redis_watch(struct scaler_sources *sources, struct question *question, question_look_fn look, void *arg)
{
	const struct redis_question *q = question->data;
	const struct rediswatch_config config = { .key = q->key, .notify = q->notify, .classes = REDISWATCH_LENGTHS };

	return redisserver_watch_start(sources, &q->server, &config, look, arg);
}

#define REDIS_TYPE(word, ...)                                                                                          \
	{                                                                                                              \
		.name = (word), .go_name = "redisScaler", .tables = { &table, &redisparams_table, __VA_ARGS__ },       \
		.build = redis_build, .ask = redis_ask, .cancel = redis_ask_cancel, .free_data = redis_free_data,      \
		.watch = redis_watch, .unwatch = redisserver_watch_stop, .watch_report = redisserver_watch_report,     \
	}

const struct scaler_type redis_scaler_type = REDIS_TYPE("redis", NULL);
const struct scaler_type redis_cluster_scaler_type = REDIS_TYPE("redis-cluster", NULL);
const struct scaler_type redis_sentinel_scaler_type = REDIS_TYPE("redis-sentinel", &redisparams_sentinel_table);
