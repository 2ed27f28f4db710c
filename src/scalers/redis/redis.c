/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/redis/redis.h"

#include <stdlib.h>

#include "base/mem.h"
#include "net/redis/redisreply.h"
#include "scalers/redis/redisparams.h"

/*
 * Reads the key's type and its length atomically in one round trip. Command names are literals,
 * because some proxies search for them. The script is sent in full each time, so a restarted server
 * needs no preparation. A missing key has length 0.
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

static void redis_free_data(void *data)
{
	redisserver_question_done(data);
	free(data);
}

static int redis_build(const struct scaler_params *params, struct scaler *out, char **metric_name, struct err *err)
{
	struct redisserver_question *q = mem_zalloc(sizeof(*q));
	struct redis_fields f = { 0 };
	int rc = params_read(&table, params, &f, err) || params_check_target(params, "listLength", &f.length, err)
		? -1
		: redisparams_read(params, q, err);

	if (rc >= 0) {
		out->target = quantity_from_int(f.length);
		out->activation = (double)f.activation;
		*metric_name = params_normalise(mem_printf("redis-%s", f.list));
	}
	if (rc == 0) {
		q->key = mem_dup(f.list);
		q->classes = REDISWATCH_LENGTHS;
		out->question = question_new(out->type,
			mem_printf("redis length %s%s %s", redisserver_key(&q->server),
				rediswatch_notify_key(q->notify), q->key),
			redisserver_name(&q->server), q);
	} else {
		redis_free_data(q);
	}
	params_done(&table, &f);
	return rc;
}

static void on_reply(void *arg, const struct redis_reply *reply, const struct err *transport)
{
	struct redisserver_ask *ask = arg;
	const struct redisserver_question *q = ask->base.question->data;
	MEM_AUTO char *doing = mem_printf("asking the length of %s", q->key);

	redisserver_end_with_count(&ask->base, doing, reply, transport);
}

static void *redis_ask(struct scaler_sources *sources, struct question *question, int64_t deadline_ms, question_fn fn,
	void *arg)
{
	const struct redisserver_question *q = question->data;
	const char *argv[] = { "EVAL", length_script, "1", q->key };
	struct redisserver_ask *ask = scaler_ask_new(sizeof(*ask), question, fn, arg);

	redisserver_command(sources, ask, 4, argv, deadline_ms, on_reply);
	return ask;
}

#define REDIS_TYPE(word, ...)                                                                                          \
	REDISSERVER_TYPE(word, "redisScaler", redis_build, redis_ask, redis_free_data, __VA_ARGS__)

const struct scaler_type redis_scaler_type = REDIS_TYPE("redis", NULL);
const struct scaler_type redis_cluster_scaler_type = REDIS_TYPE("redis-cluster", NULL);
const struct scaler_type redis_sentinel_scaler_type = REDIS_TYPE("redis-sentinel", &redisparams_sentinel_table);
