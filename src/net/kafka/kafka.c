/* SPDX-License-Identifier: Apache-2.0 */
#include "net/kafka/kafka.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/hash.h"
#include "base/mem.h"
#include "net/kafka/kafkacluster.h"
#include "net/kafka/kafkaleaders.h"
#include "net/kafka/kafkashares.h"

#define WINDOW_MS      50
#define WAITING_MAX    20000 /* per cluster */
#define PARTITIONS_MAX 100000
#define TIDY_MS        30000
#define FORGET_MS      300000
/* As other clients do: electing a leader, or loading a coordinator, takes a moment. */
#define TRIES_MAX    3
#define TRY_AGAIN_MS 250

/* One cluster and the calls to it. */
struct cluster_client {
	struct kafka_pool *pool;
	struct kafkaendpoint *endpoint; /* one count */
	struct kafkacluster *cluster;
	struct kafka_call *queued, *under_way;
	size_t waiting;
	int64_t begun_ms, used_ms; /* start of the last window; last call */
	struct loop_timer window;
	struct loop_task begin;
	UT_hash_handle hh;
};

/* The step in progress. */
enum step { TOPICS, GROUPS_TOPICS, COMMITTED, ENDS, STARTS };

struct kafka_call {
	struct cluster_client *client;
	struct kafka_call *prev, *next;
	struct kafka_call **list; /* the list it is in */
	const struct kafka_question *question;
	kafka_fn fn;
	void *arg;
	struct loop_timer deadline, again;
	struct loop_task tell;
	int64_t deadline_ms;
	enum step step;
	struct kafkawaiter *waiters; /* of this step */
	size_t waiter_count, left;
	struct kafkatopic **topics; /* a reference each */
	size_t topic_count;
	char **found; /* owned; names of the group's topics, if the question has none */
	size_t found_count;
	struct kafka_partition *partitions;
	struct kafka_place *places; /* of each */
	struct kafka_share *shares;
	struct kafka_span {
		size_t from, to;
	} * spans; /* range of shares, per waiter for offsets */
	size_t count;
	struct shares_hold share;                     /* of the partitions that may be asked about at a time */
	struct kafka_call *parked_prev, *parked_next; /* while it waits for its share */
	bool parked;
	size_t tries;
	bool was_lost;   /* a try failed because of a connection */
	struct err *err; /* owned */
};

struct kafka_pool {
	struct loop *loop;
	struct webtoken_store *tokens;
	struct salter *salter;
	struct cluster_client *clients;
	struct kafka_call *finished;
	struct kafkashares shares;
	struct kafka_call *parked; /* waiting for their share, oldest first */
	struct loop_task unpark;
	struct loop_timer tidy;
};

/* ---- Shares ---- */

static void unpark_call(struct kafka_call *call)
{
	if (call->parked)
		DL_DELETE2(call->client->pool->parked, call, parked_prev, parked_next);
	call->parked = false;
}

static void give_share(struct kafka_call *call)
{
	struct kafka_pool *p = call->client->pool;

	if (call->share.has > 0 && p->parked)
		loop_task_queue(p->loop, &p->unpark);
	shares_give(&call->share, call->share.has);
}

/* ---- The end of a question ---- */

static void forget_try(struct kafka_call *call)
{
	for (size_t i = 0; i < call->waiter_count; i++)
		kafkacluster_leave(&call->waiters[i]);
	free(call->waiters);
	call->waiters = NULL;
	call->waiter_count = call->left = 0;
	for (size_t i = 0; i < call->topic_count; i++)
		kafkatopic_unref(call->topics[i]);
	free(call->topics);
	call->topics = NULL;
	call->topic_count = 0;
	for (size_t i = 0; i < call->found_count; i++)
		free(call->found[i]);
	mem_free_ptr(&call->found);
	call->found_count = 0;
	mem_free_ptr(&call->partitions);
	mem_free_ptr(&call->places);
	mem_free_ptr(&call->shares);
	mem_free_ptr(&call->spans);
	call->count = 0;
	unpark_call(call);
	give_share(call);
}

static void leave_list(struct kafka_call *call)
{
	DL_DELETE(*call->list, call);
	if (call->list != &call->client->pool->finished)
		call->client->waiting--;
	call->list = NULL;
}

static void call_free(struct kafka_call *call)
{
	struct loop *loop = call->client->pool->loop;

	forget_try(call);
	loop_timer_done(&call->deadline);
	loop_timer_done(&call->again);
	loop_task_cancel(loop, &call->tell);
	err_keep(&call->err, NULL);
	free(call);
}

static void on_tell(void *arg)
{
	struct kafka_call *call = arg;
	const struct kafka_answer answer = { call->partitions, call->count };

	leave_list(call);
	call->fn(call->arg, call->err ? NULL : &answer, call->err);
	call_free(call);
}

/* Ends the call, with err or its answer; the callback runs at the end of the turn. */
static void end_call(struct kafka_call *call, const struct err *err)
{
	struct kafka_pool *p = call->client->pool;
	struct err full;

	if (err) {
		full = *err;
		err_wrap(&full, "kafka at %s", call->client->endpoint->base.name);
		err_keep(&call->err, &full);
	}
	for (size_t i = 0; i < call->waiter_count; i++)
		kafkacluster_leave(&call->waiters[i]);
	loop_timer_cancel(&call->deadline);
	loop_timer_cancel(&call->again);
	unpark_call(call);
	leave_list(call);
	DL_APPEND(p->finished, call);
	call->list = &p->finished;
	loop_task_queue(p->loop, &call->tell);
}

static void end_with(struct kafka_call *call, enum err_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void end_with(struct kafka_call *call, enum err_kind kind, const char *fmt, ...)
{
	struct err err;
	va_list ap;

	va_start(ap, fmt);
	err_vset(&err, kind, fmt, ap);
	va_end(ap);
	end_call(call, &err);
}

/* ---- Trying again ---- */

/* Marks the metadata of its topics, and its coordinator, as stale: the next call refreshes them. */
static void mark_stale(struct kafka_call *call)
{
	for (size_t i = 0; i < call->topic_count; i++)
		call->topics[i]->stale = true;
	kafkacluster_forget_coordinator(call->client->cluster, call->question->group);
}

/*
 * Restarts the call a little later, or fails it after TRIES_MAX. A lost connection is retried only
 * once: back-off delays the next one, and users should learn of an outage.
 */
static void try_again(struct kafka_call *call, const struct err *err, bool was_lost)
{
	mark_stale(call);
	if (call->tries >= TRIES_MAX || (was_lost && call->was_lost) ||
		loop_now_ms(call->client->pool->loop) + TRY_AGAIN_MS >= call->deadline_ms) {
		end_call(call, err);
		return;
	}
	call->tries++;
	call->was_lost |= was_lost;
	err_keep(&call->err, err); /* reported if the deadline passes before the next try */
	forget_try(call);
	loop_timer_set(&call->again, TRY_AGAIN_MS);
}

static void on_deadline(void *arg)
{
	static const char *const doing[] = {
		[TOPICS] = "metadata",
		[GROUPS_TOPICS] = "the group's topics",
		[COMMITTED] = "committed offsets",
		[ENDS] = "the partitions' ends",
		[STARTS] = "the partitions' starts",
	};
	struct kafka_call *call = arg;
	struct err err;

	if (call->parked) {
		kafkashares_refuse_query(endpoint_namespace(&call->client->endpoint->base), &err);
		end_call(call, &err);
		return;
	}
	mark_stale(call);
	if (call->err) { /* end_call wraps it */
		err = *call->err;
		end_call(call, &err);
		return;
	}
	end_with(call, ERR_TEMPORARY, "no answer in time, waiting for %s", doing[call->step]);
}

/* ---- Steps ---- */

static void next_step(struct kafka_call *call);

static kafkawaiter_fn on_topics, on_groups_topics, on_offsets;

static void begin_step(struct kafka_call *call, enum step step, size_t waiters, kafkawaiter_fn *fn)
{
	for (size_t i = 0; i < call->waiter_count; i++)
		kafkacluster_leave(&call->waiters[i]);
	free(call->waiters);
	call->step = step;
	call->waiters = mem_array(waiters, sizeof(*call->waiters));
	call->waiter_count = call->left = waiters;
	for (size_t i = 0; i < waiters; i++)
		call->waiters[i] = (struct kafkawaiter){ .fn = fn, .arg = call };
}

static void fail_step(struct kafka_call *call, const struct err *err, enum kafkacluster_failure failure)
{
	if (failure == KAFKACLUSTER_FINAL)
		end_call(call, err);
	else
		try_again(call, err, failure == KAFKACLUSTER_LOST);
}

/* A topic's name for messages: those of the group's topics come from the broker. */
static const char *redact_topic(const struct kafka_call *call, const char *topic)
{
	return kafkaendpoint_redact(call->client->endpoint, topic);
}

/* ---- Topics ---- */

static const char *const *wanted_topics(const struct kafka_call *call, size_t *count)
{
	*count = call->question->topic_count ? call->question->topic_count : call->found_count;
	return call->question->topic_count ? call->question->topics : (const char *const *)call->found;
}

static void take_topics(struct kafka_call *call);

static void ask_topics(struct kafka_call *call)
{
	struct kafkacluster *cluster = call->client->cluster;
	int64_t now_ms = loop_now_ms(call->client->pool->loop);
	size_t count, missing = 0;
	const char *const *names = wanted_topics(call, &count);
	const char **ask = mem_array(count, sizeof(*ask));

	for (size_t i = 0; i < count; i++)
		if (!kafkamap_is_good(kafkamap_topic(kafkacluster_map(cluster), names[i]), now_ms))
			ask[missing++] = names[i];
	begin_step(call, TOPICS, 1, on_topics);
	if (missing > 0)
		kafkacluster_describe(cluster, ask, missing, call->deadline_ms, &call->waiters[0]);
	else
		take_topics(call);
	free(ask);
}

static struct kafkaranges ranges_of(const struct kafka_call *call)
{
	return (struct kafkaranges){ call->question->ranges, call->question->range_count };
}

/*
 * Adds the topic's partitions. False: the topic has an error, or no partition to ask about; the
 * call has ended or will be retried.
 */
static bool add_topic(struct kafka_call *call, struct kafkatopic *t)
{
	size_t wanted = kafkaranges_count(ranges_of(call), t);
	struct err err;
	char room[32];

	call->topics[call->topic_count++] = kafkatopic_ref(t);
	if (t->too_many) {
		kafkashares_refuse_topic(endpoint_namespace(&call->client->endpoint->base), &err);
		err_wrap(&err, "topic %s", redact_topic(call, t->name));
		end_call(call, &err);
		return false;
	}
	if (t->error) {
		err_set(&err, kafkamessages_is_denied(t->error) ? ERR_DENIED : ERR_TEMPORARY, "topic %s: %s",
			redact_topic(call, t->name), kafkamessages_error(t->error, room));
		if (kafkamessages_is_retryable(t->error))
			try_again(call, &err, false);
		else
			end_call(call, &err);
		return false;
	}
	if (wanted > PARTITIONS_MAX - call->count) {
		end_with(call, ERR_INVALID, "there are more than %d partitions", PARTITIONS_MAX);
		return false;
	}
	call->partitions = mem_resize(call->partitions, call->count + wanted + 1, sizeof(*call->partitions));
	call->places = mem_resize(call->places, call->count + wanted + 1, sizeof(*call->places));
	for (size_t i = 0; i < t->count; i++) {
		if (!kafkaranges_have(ranges_of(call), t->partitions[i].id))
			continue;
		call->places[call->count] = (struct kafka_place){ t, t->partitions[i].leader };
		call->partitions[call->count++] = (struct kafka_partition){
			.topic = t->name,
			.id = t->partitions[i].id,
			.committed = KAFKA_OFFSET_NONE,
			.start = KAFKA_OFFSET_NONE,
		};
	}
	if (wanted > 0)
		return true;
	end_with(call, ERR_INVALID, "expected at least one active partition within the topic '%s'",
		redact_topic(call, t->name));
	return false;
}

/*
 * Takes a share for all its partitions; false: none is free. (More than PARTITIONS_MAX are refused
 * later.)
 */
static bool take_share(struct kafka_call *call, const char *const *names, size_t count)
{
	const struct kafkamap *map = kafkacluster_map(call->client->cluster);
	size_t partitions = 0;

	for (size_t i = 0; i < count && partitions <= PARTITIONS_MAX; i++) {
		const struct kafkatopic *t = kafkamap_topic(map, names[i]);

		partitions += t ? kafkaranges_count(ranges_of(call), t) : 0;
	}
	return shares_take(&call->client->pool->shares.asked, &call->share,
		endpoint_namespace(&call->client->endpoint->base),
		partitions < PARTITIONS_MAX ? partitions : PARTITIONS_MAX);
}

/* Waits until another call frees its share, or the deadline. */
static void park_call(struct kafka_call *call)
{
	DL_APPEND2(call->client->pool->parked, call, parked_prev, parked_next);
	call->parked = true;
}

static void take_topics(struct kafka_call *call)
{
	const struct kafkamap *map = kafkacluster_map(call->client->cluster);
	size_t count;
	const char *const *names = wanted_topics(call, &count);

	if (!take_share(call, names, count)) {
		park_call(call);
		return;
	}

	call->topics = mem_array(count, sizeof(*call->topics));
	for (size_t i = 0; i < count; i++) {
		struct kafkatopic *t = kafkamap_topic(map, names[i]);

		if (!t) {
			end_with(call, ERR_TEMPORARY, "topic %s: the brokers returned no metadata",
				redact_topic(call, names[i]));
			return;
		}
		if (!add_topic(call, t))
			return;
	}
	for (size_t i = 0; i < call->count; i++) {
		struct err err;

		if (call->places[i].leader >= 0)
			continue;
		err_set(&err, ERR_TEMPORARY, "partition %" PRId32 " of topic %s has no leader at the moment",
			call->partitions[i].id, redact_topic(call, call->partitions[i].topic));
		try_again(call, &err, false);
		return;
	}
	next_step(call);
}

/* Tries each parked call once; it may be parked again. */
static void on_unpark(void *arg)
{
	struct kafka_pool *p = arg;
	struct kafka_call *call;
	size_t left;

	DL_COUNT2(p->parked, call, left, parked_next);
	for (; left > 0 && p->parked; left--) {
		call = p->parked;
		unpark_call(call);
		take_topics(call);
	}
}

static void on_topics(struct kafkawaiter *w, const struct kafkamessages_offsets *answer, const struct err *err,
	enum kafkacluster_failure failure)
{
	struct kafka_call *call = w->arg;

	(void)answer;
	if (err)
		fail_step(call, err, failure);
	else
		take_topics(call);
}

/* ---- Offsets ---- */

/*
 * Collects the partitions of the leader at `from` to ask about; *to: where the next leader's begin.
 */
static size_t partitions_of(const struct kafka_call *call, enum step step, size_t from, size_t *to,
	struct kafka_partition_ref *refs)
{
	size_t count = 0;

	for (*to = from; *to < call->count && call->shares[*to].leader == call->shares[from].leader; (*to)++) {
		const struct kafka_partition *p = &call->partitions[call->shares[*to].partition];

		if (step != STARTS || (p->committed == KAFKA_OFFSET_NONE && p->has_end))
			refs[count++] = (struct kafka_partition_ref){ call->places[call->shares[*to].partition].topic,
				p->id };
	}
	return count;
}

/* One request to each leader. Starts are asked for only where nothing is committed. */
static void ask_offsets(struct kafka_call *call, enum step step)
{
	struct kafka_partition_ref *refs = mem_array(call->count, sizeof(*refs));
	struct kafka_span *spans;
	size_t brokers = 0, to;

	if (!call->shares)
		call->shares = kafkaleaders_sort(call->places, call->count);
	spans = mem_array(call->count, sizeof(*spans));
	for (size_t from = 0; from < call->count; from = to)
		if (partitions_of(call, step, from, &to, refs) > 0)
			spans[brokers++] = (struct kafka_span){ from, to };
	free(call->spans);
	call->spans = spans;
	if (brokers == 0) {
		call->step = step;
		next_step(call);
	} else {
		begin_step(call, step, brokers, on_offsets);
	}
	for (size_t i = 0; i < brokers; i++) {
		size_t count = partitions_of(call, step, call->spans[i].from, &to, refs);

		kafkacluster_offsets(call->client->cluster, call->shares[call->spans[i].from].leader,
			step == ENDS ? KAFKA_END : KAFKA_START, refs, count, call->deadline_ms, &call->waiters[i]);
	}
	free(refs);
}

static void ask_committed(struct kafka_call *call)
{
	struct kafka_partition_ref *refs = mem_array(call->count, sizeof(*refs));

	for (size_t i = 0; i < call->count; i++)
		refs[i] = (struct kafka_partition_ref){ call->places[i].topic, call->partitions[i].id };
	begin_step(call, COMMITTED, 1, on_offsets);
	kafkacluster_committed(call->client->cluster, call->question->group, refs, call->count, call->deadline_ms,
		&call->waiters[0]);
	free(refs);
}

/* -1 with err: the broker returned an error, or no committed offset. */
static int take_offset(struct kafka_call *call, struct kafka_partition *p, const struct kafkamessages_offset *o,
	struct err *err)
{
	char room[32];

	if (!o) {
		/* Ends and starts may be missing, committed offsets may not. */
		return call->step != COMMITTED
			? 0
			: err_set(err, ERR_INVALID, "error finding offset block for topic %s and partition %" PRId32,
				  redact_topic(call, p->topic), p->id);
	}
	if (o->error && call->step == STARTS)
		return 0; /* the end alone must do */
	if (o->error)
		return err_set(err, kafkamessages_is_denied(o->error) ? ERR_DENIED : ERR_TEMPORARY,
			"%s of partition %" PRId32 " of topic %s: %s",
			call->step == ENDS ? "the end" : "the committed offset", p->id, redact_topic(call, p->topic),
			kafkamessages_error(o->error, room));
	if (call->step == COMMITTED)
		p->committed = o->offset >= 0 ? o->offset : KAFKA_OFFSET_NONE;
	else if (call->step == STARTS)
		p->start = o->offset >= 0 ? o->offset : KAFKA_OFFSET_NONE;
	else
		p->end = o->offset;
	p->has_end |= call->step == ENDS;
	return 0;
}

static void on_offsets(struct kafkawaiter *w, const struct kafkamessages_offsets *answer, const struct err *failed,
	enum kafkacluster_failure failure)
{
	struct kafka_call *call = w->arg;
	struct kafka_span span = { 0, call->count };
	struct err err;

	/* Starts are optional: without one, all messages up to the end count. */
	if (failed && call->step != STARTS) {
		fail_step(call, failed, failure);
		return;
	}
	if (call->step != COMMITTED)
		span = call->spans[w - call->waiters];
	for (size_t i = span.from; answer && i < span.to; i++) {
		struct kafka_partition *p = &call->partitions[call->step == COMMITTED ? i : call->shares[i].partition];
		const struct kafkamessages_offset *o = kafkamessages_find(answer, p->topic, p->id);

		if ((o || call->step == COMMITTED) && take_offset(call, p, o, &err)) {
			/*
			 * After a topic is recreated its former leader answers UNKNOWN_TOPIC:
			 * retry.
			 */
			if (o && (kafkamessages_is_retryable(o->error) || o->error == KAFKA_UNKNOWN_TOPIC))
				try_again(call, &err, false);
			else
				end_call(call, &err);
			return;
		}
	}
	if (--call->left == 0)
		next_step(call);
}

/* ---- The group's own topics ---- */

static bool is_topic(const char *name)
{
	size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");

	return len > 0 && len <= KAFKA_TOPIC_MAX && !name[len];
}

/*
 * Takes the names of the topics in which the group has committed offsets. The offsets are asked for
 * again, for all partitions of these topics.
 */
static void on_groups_topics(struct kafkawaiter *w, const struct kafkamessages_offsets *answer, const struct err *err,
	enum kafkacluster_failure failure)
{
	struct kafka_call *call = w->arg;

	if (err) {
		fail_step(call, err, failure);
		return;
	}
	for (size_t i = 0; i < answer->topic_count; i++) {
		if (!is_topic(answer->topics[i])) {
			end_with(call, ERR_INVALID, "the group's topics: the answer makes no sense");
			return;
		}
	}
	call->found = mem_array(answer->topic_count, sizeof(*call->found));
	for (size_t i = 0; i < answer->topic_count; i++)
		if (i == 0 || strcmp(answer->topics[i - 1], answer->topics[i]) != 0)
			call->found[call->found_count++] = mem_dup(answer->topics[i]);
	if (call->found_count == 0)
		end_call(call, NULL);
	else
		ask_topics(call);
}

static void next_step(struct kafka_call *call)
{
	switch (call->step) {
	case GROUPS_TOPICS: break;
	case TOPICS: ask_committed(call); break;
	case COMMITTED: ask_offsets(call, ENDS); break;
	case ENDS:
		if (call->question->starts)
			ask_offsets(call, STARTS);
		else
			end_call(call, NULL);
		break;
	case STARTS: end_call(call, NULL); break;
	}
}

static void begin_try(struct kafka_call *call)
{
	err_keep(&call->err, NULL);
	if (call->question->topic_count > 0) {
		ask_topics(call);
		return;
	}
	begin_step(call, GROUPS_TOPICS, 1, on_groups_topics);
	kafkacluster_committed(call->client->cluster, call->question->group, NULL, 0, call->deadline_ms,
		&call->waiters[0]);
}

static void on_again(void *arg)
{
	begin_try(arg);
}

/* ---- Windows ---- */

static void on_begin(void *arg)
{
	struct cluster_client *c = arg;

	c->begun_ms = loop_now_ms(c->pool->loop);
	while (c->queued) {
		struct kafka_call *call = c->queued;

		DL_DELETE(c->queued, call);
		DL_APPEND(c->under_way, call);
		call->list = &c->under_way;
		begin_try(call);
	}
}

static struct cluster_client *client_new(struct kafka_pool *p, struct kafkaendpoint *e)
{
	struct cluster_client *c = mem_zalloc(sizeof(*c));

	c->pool = p;
	c->endpoint = endpoint_ref(e);
	c->cluster =
		kafkacluster_new(&(struct kafkalink_terms){ .loop = p->loop, .tokens = p->tokens, .salter = p->salter },
			e, &p->shares);
	c->begun_ms = loop_now_ms(p->loop) - WINDOW_MS;
	loop_timer_init(&c->window, p->loop, on_begin, c);
	loop_task_init(&c->begin, on_begin, c);
	HASH_ADD_KEYPTR(hh, p->clients, c->endpoint->base.key, strlen(c->endpoint->base.key), c);
	if (!loop_timer_pending(&p->tidy))
		loop_timer_set(&p->tidy, TIDY_MS);
	return c;
}

static void free_calls(struct kafka_call **list)
{
	while (*list) {
		struct kafka_call *call = *list;

		DL_DELETE(*list, call);
		call_free(call);
	}
}

static void client_free(struct cluster_client *c)
{
	free_calls(&c->queued);
	free_calls(&c->under_way);
	kafkacluster_free(c->cluster);
	loop_timer_done(&c->window);
	loop_task_cancel(c->pool->loop, &c->begin);
	HASH_DEL(c->pool->clients, c);
	endpoint_unref(c->endpoint);
	free(c);
}

static void on_tidy(void *arg)
{
	struct kafka_pool *p = arg;
	int64_t now_ms = loop_now_ms(p->loop);
	struct cluster_client *c, *next;

	HASH_ITER (hh, p->clients, c, next) {
		kafkacluster_tidy(c->cluster);
		if (c->waiting == 0 && now_ms - c->used_ms > FORGET_MS && !p->finished)
			client_free(c);
	}
	if (p->clients)
		loop_timer_set(&p->tidy, TIDY_MS);
}

struct kafka_pool *kafka_pool_new(struct loop *loop, struct webtoken_store *tokens, struct salter *salter)
{
	struct kafka_pool *p = mem_zalloc(sizeof(*p));

	p->loop = loop;
	p->tokens = tokens;
	p->salter = salter;
	kafkashares_init(&p->shares);
	loop_task_init(&p->unpark, on_unpark, p);
	loop_timer_init(&p->tidy, loop, on_tidy, p);
	return p;
}

void kafka_pool_free(struct kafka_pool *p)
{
	struct cluster_client *c, *next;

	if (!p)
		return;
	free_calls(&p->finished);
	HASH_ITER (hh, p->clients, c, next)
		client_free(c);
	loop_task_cancel(p->loop, &p->unpark);
	loop_timer_done(&p->tidy);
	free(p);
}

struct kafka_call *kafka_ask(struct kafka_pool *p, struct kafkaendpoint *e, const struct kafka_question *question,
	int64_t deadline_ms, kafka_fn fn, void *arg)
{
	struct kafka_call *call = mem_zalloc(sizeof(*call));
	struct cluster_client *c;

	HASH_FIND_STR(p->clients, e->base.key, c);
	if (!c)
		c = client_new(p, e);
	endpoint_share(&c->endpoint->base, &e->base);
	c->used_ms = loop_now_ms(p->loop);
	call->client = c;
	call->question = question;
	call->fn = fn;
	call->arg = arg;
	call->deadline_ms = deadline_ms;
	loop_timer_init(&call->deadline, p->loop, on_deadline, call);
	loop_timer_init(&call->again, p->loop, on_again, call);
	loop_task_init(&call->tell, on_tell, call);
	loop_timer_set(&call->deadline, deadline_ms - c->used_ms);
	DL_APPEND(c->queued, call);
	call->list = &c->queued;
	if (++c->waiting > WAITING_MAX)
		end_with(call, ERR_TEMPORARY, "too many questions wait (%zu)", c->waiting);
	else if (c->used_ms - c->begun_ms >= WINDOW_MS)
		loop_task_queue(p->loop, &c->begin);
	else if (!loop_timer_pending(&c->window))
		loop_timer_set(&c->window, c->begun_ms + WINDOW_MS - c->used_ms);
	return call;
}

void kafka_cancel(struct kafka_call *call)
{
	if (!call)
		return;
	leave_list(call);
	call_free(call);
}
