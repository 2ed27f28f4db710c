/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/kafka/kafkaquestion.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "scalers/kafka/kafkamemory.h"
#include "scalers/sources.h"

/* The data of a question. */
struct kafka_trigger {
	struct kafkaquestion_config config;
	struct kafka_question asked; /* borrows from it */
	char *memory_key;            /* NULL: it remembers nothing */
};

struct kafka_trigger_ask {
	struct scaler_ask base;
	struct scaler_sources *sources;
	struct kafka_call *call;
};

/* ---- Making ---- */

void kafkaquestion_config_done(struct kafkaquestion_config *config)
{
	for (size_t i = 0; i < config->topic_count; i++)
		free(config->topics[i]);
	free(config->topics);
	free(config->group);
	free(config->ranges);
	kafkaendpoint_unref(config->endpoint);
	*config = (struct kafkaquestion_config){ 0 };
}

void kafkaquestion_free_data(void *data)
{
	struct kafka_trigger *t = data;

	kafkaquestion_config_done(&t->config);
	free(t->memory_key);
	free(t);
}

/* What is read from the cluster, without what is made of it. */
static char *make_source_key(const struct kafkaquestion_config *c)
{
	struct buf key = BUF_INIT(1u << 20);

	buf_printf(&key, "%s group %zu:%s topics", c->endpoint->base.key, strlen(c->group), c->group);
	for (size_t i = 0; i < c->topic_count; i++)
		buf_printf(&key, " %zu:%s", strlen(c->topics[i]), c->topics[i]);
	for (size_t i = 0; i < c->range_count; i++)
		buf_printf(&key, "%s%" PRId32 "-%" PRId32, i > 0 ? "," : " partitions ", c->ranges[i].first,
			c->ranges[i].last);
	return buf_take(&key);
}

static char *make_key(const struct kafkaquestion_config *c, const char *source_key)
{
	const struct kafkalag_rules *r = &c->rules;
	bool bounded = !r->idle || r->only_lagging || r->even;
	struct buf key = BUF_INIT(1u << 21);

	buf_printf(&key, "%s %s%s%s", source_key, r->from_start ? "earliest" : "latest",
		r->zero_on_invalid ? " zero" : "", c->excludes_stuck ? " moving" : "");
	if (bounded)
		buf_printf(&key, " bounded by %s%s of %" PRId64, r->only_lagging ? "lagging" : "partitions",
			r->even ? " evenly" : "", r->threshold);
	if (c->excludes_stuck)
		buf_printf(&key, " polled %" PRId64, c->poll_ms);
	return buf_take(&key);
}

struct question *kafkaquestion_new(struct kafkaquestion_config *config)
{
	struct kafka_trigger *t = mem_zalloc(sizeof(*t));
	MEM_AUTO char *source_key = make_source_key(config);

	t->config = *config;
	*config = (struct kafkaquestion_config){ 0 };
	if (t->config.excludes_stuck)
		t->memory_key = mem_printf("%s polled %" PRId64, source_key, t->config.poll_ms);
	t->asked = (struct kafka_question){
		.group = t->config.group,
		.topics = (const char *const *)t->config.topics,
		.topic_count = t->config.topic_count,
		.ranges = t->config.ranges,
		.range_count = t->config.range_count,
		.starts = t->config.rules.from_start && !t->config.rules.zero_on_invalid,
	};
	return question_new(t->config.type, make_key(&t->config, source_key),
		mem_printf("kafka %s", t->config.endpoint->base.name), t);
}

/* ---- Asking ---- */

static struct kafkalag count(const struct kafka_trigger *t, const struct kafka_trigger_ask *ask,
	const struct kafka_answer *answer)
{
	bool *stuck = NULL;
	struct kafkalag lag;

	if (t->memory_key) {
		stuck = mem_array(answer->count, sizeof(*stuck));
		kafkamemory_compare(ask->sources->kafka_memory, t->memory_key,
			endpoint_namespace(&t->config.endpoint->base), t->config.poll_ms,
			loop_now_ms(ask->sources->loop), answer->partitions, answer->count, stuck);
	}
	lag = kafkalag_count(&t->config.rules, answer->partitions, stuck, answer->count);
	free(stuck);
	return lag;
}

static void on_answer(void *arg, const struct kafka_answer *answer, const struct err *err)
{
	struct kafka_trigger_ask *ask = arg;
	struct kafkalag lag;

	if (err) {
		scaler_ask_answer(ask, NULL, err);
		return;
	}
	lag = count(ask->base.question->data, ask, answer);
	scaler_ask_answer(ask,
		&(struct answer){ .value = (double)lag.value, .load = (double)lag.load, .activity = ACTIVITY_BY_LOAD },
		NULL);
}

void *kafkaquestion_ask(struct scaler_sources *sources, struct question *question, int64_t deadline_ms, question_fn fn,
	void *arg)
{
	struct kafka_trigger *t = question->data;
	struct kafka_trigger_ask *ask = scaler_ask_new(sizeof(*ask), question, fn, arg);

	ask->sources = sources;
	ask->call = kafka_ask(sources->kafka, t->config.endpoint, &t->asked, deadline_ms, on_answer, ask);
	return ask;
}

void kafkaquestion_cancel(void *handle)
{
	struct kafka_trigger_ask *ask = handle;

	kafka_cancel(ask->call);
	scaler_ask_free(ask);
}
