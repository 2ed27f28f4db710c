/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trigger types `redis-streams`, `redis-cluster-streams` and `redis-sentinel-streams` (doc/keda.md
 * 8.2): the length of a stream, or a consumer group's pending entries or lag.
 *
 * The lag is the one that Redis 7 reports. When Redis reports nil (entries after the group's
 * position were deleted, or the position was set manually), KEDA uses -1 and scales to zero;
 * kscaled counts the entries after the position, and above 1,000 uses the length of the stream,
 * which the lag never exceeds.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/redis/redisreply.h"
#include "scalers/redis/redisparams.h"
#include "scalers/sources.h"
#include "scalers/types.h"

enum mode { LENGTH, PENDING, LAG };

struct stream_question {
	struct redisserver_question base;
	char *group;        /* NULL: LENGTH */
	int64_t targets[3]; /* by mode */
	enum mode mode;
};

static const struct stream_question absent = { .base = { .notify = REDISWATCH_QUIET } };

/*
 * With a group, the mode is LAG if lagCount is given, else PENDING; without one it is LENGTH.
 * Parameters of the other modes are only checked for syntax.
 */
#define AT(field) offsetof(struct stream_question, field)
static const struct param_row rows[] = {
	{ "stream", PARAM_TEXT, "m", AT(base.key), .required = true, .help = "key of the stream" },
	{ "consumerGroup", PARAM_TEXT, "m", AT(group), .help = "consumer group (default: count all entries)" },
	{ "activationLagCount", PARAM_WHOLE_ACTIVATION, "m", .help = "active above this number of entries" },
	{ "streamLength", PARAM_INT64, "m", AT(targets[LENGTH]), .unkeyed = true, .otherwise = "5",
		.help = "without consumerGroup: target, entries per replica" },
	{ "pendingEntriesCount", PARAM_INT64, "m", AT(targets[PENDING]), .unkeyed = true, .otherwise = "5",
		.help = "target: pending entries per replica" },
	{ "lagCount", PARAM_INT64, "m", AT(targets[LAG]), .unkeyed = true,
		.help = "target: entries per replica not yet delivered to the group" },
};
static const struct param_table table = PARAM_TABLE(rows);

static const struct {
	const char *name, *threshold; /* the mode in the key; its parameter */
} modes[] = {
	[LENGTH] = { "length", "streamLength" },
	[PENDING] = { "pending", "pendingEntriesCount" },
	[LAG] = { "lag", "lagCount" },
};

/*
 * Counts the entries after the group's last delivered one if Redis does not know the lag: up to
 * 1,000 in batches, to limit the server's work; above that it returns the length of the stream,
 * which the lag never exceeds. One script, so that both are consistent.
 */
static const char count_script[] = "local n,from=0,'('..ARGV[1] "
				   "repeat "
				   "local part=redis.call('XRANGE',KEYS[1],from,'+','COUNT',100) "
				   "n=n+#part "
				   "if #part<100 then return n end "
				   "from='('..part[100][1] "
				   "until n>=1000 "
				   "return redis.call('XLEN',KEYS[1])";

/* ---- The trigger ---- */

static int build(struct scaler_build *b, struct err *err)
{
	struct stream_question *q = b->data;

	q->base.classes = REDISWATCH_STREAM;
	q->mode = !q->group ? LENGTH : q->targets[LAG] != 0 ? LAG : PENDING;
	if (params_check_target(b->params, modes[q->mode].threshold, &q->targets[q->mode], err))
		return -1;
	b->scaler->target = quantity_from_int(q->targets[q->mode]);
	b->metric_name = mem_printf("redis-streams-%s", q->base.key);
	params_add_key(b, modes[q->mode].name);
	return redisparams_build(b, &q->base, err);
}

/* ---- Asking ---- */

static char *doing_of(const struct stream_question *q)
{
	return q->group ? mem_printf("asking for the %s of group %s of stream %s",
				  q->mode == LAG ? "lag" : "pending entries", q->group, q->base.key)
			: mem_printf("asking for the length of stream %s", q->base.key);
}

static void on_count(void *arg, const struct redis_reply *reply, const struct err *transport)
{
	struct scaler_ask *ask = arg;
	MEM_AUTO char *doing = doing_of(ask->question->data);

	redisserver_end_with_count(ask, doing, reply, transport);
}

static void ask_length(struct scaler_ask *ask)
{
	const struct stream_question *q = ask->question->data;

	redisserver_command(ask, 2, (const char *[]){ "XLEN", q->base.key }, on_count);
}

/* The summary: count, first id, last id, consumers. */
static void on_pending(void *arg, const struct redis_reply *reply, const struct err *transport)
{
	struct scaler_ask *ask = arg;
	MEM_AUTO char *doing = doing_of(ask->question->data);
	struct err err;

	if (!redisserver_failed(ask->question->source, doing, reply, transport, &err)) {
		if (reply->type == REDIS_ARRAY && reply->count > 0) {
			on_count(ask, reply->elements[0], NULL);
			return;
		}
		err_set(&err, ERR_INVALID, "%s: %s: the reply is not a summary", ask->question->source, doing);
	}
	scaler_ask_end(ask, 0, &err);
}

/* ---- Lag ---- */

static bool is_text(const struct redis_reply *r, const char *text)
{
	return (r->type == REDIS_STRING || r->type == REDIS_STATUS) && strcmp(r->text, text) == 0;
}

/* A field of a group's list of alternating names and values; NULL when absent. */
static const struct redis_reply *field_of(const struct redis_reply *group, const char *name)
{
	for (size_t i = 0; group->type == REDIS_ARRAY && i + 1 < group->count; i += 2)
		if (is_text(group->elements[i], name))
			return group->elements[i + 1];
	return NULL;
}

static void take_groups(struct scaler_ask *ask, const struct redis_reply *reply, const char *doing)
{
	const struct stream_question *q = ask->question->data;
	const struct redis_reply *group = NULL, *lag, *last_id;
	struct err err;

	for (size_t i = 0; i < reply->count; i++) {
		const struct redis_reply *name = field_of(reply->elements[i], "name");

		/* Redis 7 and later always return it. */
		if (!field_of(reply->elements[i], "lag")) {
			err_set(&err, ERR_INVALID, "%s: %s: redis version 7+ required for lag", ask->question->source,
				doing);
			scaler_ask_end(ask, 0, &err);
			return;
		}
		if (!group && name && is_text(name, q->group))
			group = reply->elements[i];
	}
	if (!group) {
		ask_length(ask);
		return;
	}
	lag = field_of(group, "lag");
	last_id = field_of(group, "last-delivered-id");
	if (lag->type == REDIS_NIL && last_id && last_id->type == REDIS_STRING)
		redisserver_command(ask, 5, (const char *[]){ "EVAL", count_script, "1", q->base.key, last_id->text },
			on_count);
	else
		on_count(ask, lag, NULL);
}

static void on_groups(void *arg, const struct redis_reply *reply, const struct err *transport)
{
	struct scaler_ask *ask = arg;
	const char *source = ask->question->source;
	MEM_AUTO char *doing = doing_of(ask->question->data);
	struct err err;

	if (!transport && reply->type == REDIS_ERROR && strcmp(reply->text, "ERR no such key") == 0) {
		scaler_ask_end(ask, 0, NULL); /* no such stream: length 0 */
	} else if (redisserver_failed(source, doing, reply, transport, &err)) {
		scaler_ask_end(ask, 0, &err);
	} else if (reply->type != REDIS_ARRAY) {
		err_set(&err, ERR_INVALID, "%s: %s: the reply is not a list of groups", source, doing);
		scaler_ask_end(ask, 0, &err);
	} else {
		take_groups(ask, reply, doing);
	}
}

static void ask(void *handle)
{
	struct scaler_ask *a = handle;
	const struct stream_question *q = a->question->data;

	switch (q->mode) {
	case LENGTH: ask_length(a); break;
	case PENDING:
		redisserver_command(a, 3, (const char *[]){ "XPENDING", q->base.key, q->group }, on_pending);
		break;
	case LAG: redisserver_command(a, 3, (const char *[]){ "XINFO", "GROUPS", q->base.key }, on_groups); break;
	}
}

static const struct scaler_asker asker = { .ask = ask, .cancel = redisserver_cancel };

#define STREAMS_TYPE(word, ...) REDISSERVER_TYPE(word, "redisStreamsScaler", struct stream_question, __VA_ARGS__)

const struct scaler_type redisstreams_scaler_type = STREAMS_TYPE("redis-streams", NULL);
const struct scaler_type redisstreams_cluster_scaler_type = STREAMS_TYPE("redis-cluster-streams", NULL);
const struct scaler_type redisstreams_sentinel_scaler_type = STREAMS_TYPE("redis-sentinel-streams",
	&redisparams_sentinel_table);
