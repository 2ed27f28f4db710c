/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trigger types `redis`, `redis-cluster` and `redis-sentinel`: the length of a list, set, sorted
 * set or hash (doc/keda.md 8.1).
 */
#include <stdlib.h>

#include "base/mem.h"
#include "net/redis/redisreply.h"
#include "scalers/redis/redisparams.h"
#include "scalers/types.h"

/*
 * Reads the key's type and its length atomically, in one round trip. Command names are literals,
 * because some proxies look for them. The script is sent in full each time, so a restarted server
 * needs no preparation. A missing key has length 0.
 */
static const char length_script[] = "local t=redis.call('TYPE',KEYS[1]).ok "
				    "if t=='list' or t=='none' then return redis.call('LLEN',KEYS[1]) end "
				    "if t=='set' then return redis.call('SCARD',KEYS[1]) end "
				    "if t=='zset' then return redis.call('ZCARD',KEYS[1]) end "
				    "if t=='hash' then return redis.call('HLEN',KEYS[1]) end "
				    "return redis.error_reply('ERR unsupported key type: '..t)";

static const struct redisserver_question absent = { .notify = REDISWATCH_QUIET };

#define AT(field) offsetof(struct redisserver_question, field)
static const struct param_row rows[] = {
	{ "listName", PARAM_TEXT, "m", AT(key), .required = true, .help = "key of the list, set, sorted set or hash" },
	{ "listLength", PARAM_WHOLE_TARGET, "m", .otherwise = "5", .help = "target: elements per replica" },
	{ "activationListLength", PARAM_WHOLE_ACTIVATION, "m", .help = "active above this length" },
};
static const struct param_table table = PARAM_TABLE(rows);

static int build(struct scaler_build *b, struct err *err)
{
	struct redisserver_question *q = b->data;

	q->classes = REDISWATCH_LENGTHS;
	b->metric_name = mem_printf("redis-%s", q->key);
	return redisparams_build(b, q, err);
}

static void on_reply(void *arg, const struct redis_reply *reply, const struct err *transport)
{
	struct scaler_ask *ask = arg;
	const struct redisserver_question *q = ask->question->data;
	MEM_AUTO char *doing = mem_printf("asking the length of %s", q->key);

	redisserver_end_with_count(ask, doing, reply, transport);
}

static void ask(void *handle)
{
	const struct redisserver_question *q = ((const struct scaler_ask *)handle)->question->data;

	redisserver_command(handle, 4, (const char *[]){ "EVAL", length_script, "1", q->key }, on_reply);
}

static const struct scaler_asker asker = { .ask = ask, .cancel = redisserver_cancel };

#define REDIS_TYPE(word, ...) REDISSERVER_TYPE(word, "redisScaler", struct redisserver_question, __VA_ARGS__)

const struct scaler_type redis_scaler_type = REDIS_TYPE("redis", NULL);
const struct scaler_type redis_cluster_scaler_type = REDIS_TYPE("redis-cluster", NULL);
const struct scaler_type redis_sentinel_scaler_type = REDIS_TYPE("redis-sentinel", &redisparams_sentinel_table);
