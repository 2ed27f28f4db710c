/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/kafka/kafkaquestion.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "scalers/kafka/kafkamemory.h"
#include "scalers/sources.h"

/* ---- Making ---- */

void kafkaquestion_done(void *data)
{
	struct kafkaquestion *q = data;

	endpoint_unref(q->endpoint);
	free(q->ranges);
	free(q->memory_key);
}

/* The partitions in canonical form. */
static char *ranges_text(const struct kafkaquestion *q)
{
	struct buf text = BUF_INIT(1u << 20);

	for (size_t i = 0; i < q->asked.range_count; i++)
		buf_printf(&text, "%s%" PRId32 "-%" PRId32, i > 0 ? "," : "", q->ranges[i].first, q->ranges[i].last);
	return buf_take(&text);
}

/* Identifies what is read from the cluster, whatever rules are applied to it. */
static char *make_memory_key(const struct kafkaquestion *q, const char *ranges)
{
	struct buf key = BUF_INIT(1u << 20);

	buf_printf(&key, "%s group %zu:%s topics", q->endpoint->base.key, strlen(q->group), q->group);
	for (size_t i = 0; i < q->asked.topic_count; i++)
		buf_printf(&key, " %zu:%s", strlen(q->asked.topics[i]), q->asked.topics[i]);
	buf_printf(&key, " partitions %s polled %" PRId64, ranges, q->poll_ms);
	return buf_take(&key);
}

static void drop_empty(struct param_list *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++) {
		if (*list->items[i])
			list->items[kept++] = list->items[i];
		else
			free(list->items[i]);
	}
	list->count = kept;
}

void kafkaquestion_complete(struct scaler_build *b)
{
	struct kafkaquestion *q = b->data;
	MEM_AUTO char *ranges = ranges_text(q), *polled = mem_printf("%" PRId64, b->params->polling_ms);
	bool bounded = !q->rules.idle || q->rules.only_lagging || q->rules.even;

	drop_empty(&q->topics);
	q->rules.from_start = q->policy == KAFKAQUESTION_EARLIEST;
	q->poll_ms = b->params->polling_ms;
	free(q->limitation);
	q->limitation = mem_dup(ranges); /* canonical */
	if (!bounded)                    /* the threshold has no effect */
		q->rules.threshold = 1;
	q->asked = (struct kafka_question){
		.group = q->group,
		.topics = (const char *const *)(q->topic ? &q->topic : q->topics.items),
		.topic_count = q->topic ? 1 : q->topics.count,
		.ranges = q->ranges,
		.range_count = q->asked.range_count,
		.starts = q->rules.from_start && !q->rules.zero_on_invalid,
	};
	if (q->excludes_stuck)
		q->memory_key = make_memory_key(q, ranges);
	b->source = mem_printf("kafka %s", q->endpoint->base.name);
	params_add_key(b, q->endpoint->base.key);
	params_add_key(b, q->excludes_stuck ? polled : NULL);
}

/* ---- Asking ---- */

static struct kafkalag count_lag(const struct kafkaquestion *t, const struct scaler_ask *ask,
	const struct kafka_answer *answer)
{
	bool *stuck = NULL;
	struct kafkalag lag;

	if (t->memory_key) {
		stuck = mem_array(answer->count, sizeof(*stuck));
		kafkamemory_compare(ask->sources->kafka_memory, t->memory_key, endpoint_namespace(&t->endpoint->base),
			t->poll_ms, loop_now_ms(ask->sources->loop), answer->partitions, answer->count, stuck);
	}
	lag = kafkalag_count(&t->rules, answer->partitions, stuck, answer->count);
	free(stuck);
	return lag;
}

static void on_answer(void *arg, const struct kafka_answer *answer, const struct err *err)
{
	struct scaler_ask *ask = arg;
	struct kafkalag lag;

	if (err) {
		scaler_ask_answer(ask, NULL, err);
		return;
	}
	lag = count_lag(ask->question->data, ask, answer);
	scaler_ask_answer(ask,
		&(struct answer){ .value = (double)lag.value, .load = (double)lag.load, .activity = ACTIVITY_BY_LOAD },
		NULL);
}

static void ask(void *handle)
{
	struct scaler_ask *a = handle;
	struct kafkaquestion *t = a->question->data;

	a->call = kafka_ask(a->sources->kafka, t->endpoint, &t->asked, a->deadline_ms, on_answer, a);
}

static void cancel(void *handle)
{
	kafka_cancel(((struct scaler_ask *)handle)->call);
}

const struct scaler_asker kafkaquestion_asker = { .ask = ask, .cancel = cancel };
