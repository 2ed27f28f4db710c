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

#define WINDOW_MS      50
#define WAITING_MAX    20000 /* per cluster */
#define PARTITIONS_MAX 100000
#define TIDY_MS        30000
#define FORGET_MS      300000
/*
 * As often as other clients: a new leader, or a coordinator that is still reading, takes a moment.
 */
#define TRIES_MAX    3
#define TRY_AGAIN_MS 250

/* One cluster and those who ask it. */
struct home {
	struct kafka_pool *pool;
	struct kafkaendpoint *endpoint; /* one count */
	struct kafkacluster *cluster;
	struct kafka_call *queued, *under_way;
	size_t waiting;
	int64_t begun_ms, used_ms; /* the last window; the last question */
	struct loop_timer window;
	struct loop_task begin;
	UT_hash_handle hh;
};

/* What is asked next, or has been asked. */
enum step { TOPICS, GROUPS_TOPICS, COMMITTED, ENDS, STARTS };

struct kafka_call {
	struct home *home;
	struct kafka_call *prev, *next;
	struct kafka_call **list; /* that it is in; NULL: it is over, and will be told */
	const struct kafka_question *question;
	kafka_fn fn;
	void *arg;
	struct loop_timer deadline, again;
	struct loop_task tell;
	int64_t deadline_ms;
	enum step step;
	struct kafkawait *waits; /* those of the step */
	size_t wait_count, left;
	struct kafkatopic **topics; /* a reference each */
	size_t topic_count;
	char **found; /* owned; of the group's own topics: their names */
	size_t found_count;
	struct kafka_partition *partitions;
	struct kafka_place {
		struct kafkatopic *topic; /* in topics */
		int32_t leader;
	} * places; /* of each */
	struct kafka_share {
		int32_t leader;
		uint32_t partition; /* its place in partitions */
	} * shares;                 /* sorted: each leader's partitions lie together */
	struct kafka_span {
		size_t from, to;
	} * spans; /* of the shares; for each wait for offsets */
	size_t count;
	size_t tries;
	bool was_lost;   /* a try failed by its connection */
	struct err *err; /* owned */
};

struct kafka_pool {
	struct loop *loop;
	struct webtoken_store *tokens;
	struct salter *salter;
	struct home *homes;
	struct kafka_call *over;
	struct loop_timer tidy;
};

/* ---- The end of a question ---- */

static void forget_try(struct kafka_call *call)
{
	for (size_t i = 0; i < call->wait_count; i++)
		kafkacluster_leave(&call->waits[i]);
	free(call->waits);
	call->waits = NULL;
	call->wait_count = call->left = 0;
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
}

static void leave_home(struct kafka_call *call)
{
	DL_DELETE(*call->list, call);
	if (call->list != &call->home->pool->over)
		call->home->waiting--;
	call->list = NULL;
}

static void call_free(struct kafka_call *call)
{
	struct loop *loop = call->home->pool->loop;

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

	leave_home(call);
	call->fn(call->arg, call->err ? NULL : &answer, call->err);
	call_free(call);
}

/* At the end of the turn it is told; err NULL: with what it has. */
static void end_call(struct kafka_call *call, const struct err *err)
{
	struct kafka_pool *p = call->home->pool;
	struct err full;

	if (err) {
		full = *err;
		err_wrap(&full, "kafka at %s", call->home->endpoint->base.name);
		err_keep(&call->err, &full);
	}
	for (size_t i = 0; i < call->wait_count; i++)
		kafkacluster_leave(&call->waits[i]);
	loop_timer_cancel(&call->deadline);
	loop_timer_cancel(&call->again);
	leave_home(call);
	DL_APPEND(p->over, call);
	call->list = &p->over;
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

/* What is known of its topics and coordinator may be old: who asks next has another look. */
static void doubt(struct kafka_call *call)
{
	for (size_t i = 0; i < call->topic_count; i++)
		call->topics[i]->doubted = true;
	kafkacluster_doubt_group(call->home->cluster, call->question->group);
}

/*
 * The question begins anew a little later; or it fails, if that was tried already. A lost
 * connection is tried once more only: its back-off makes the next one wait, and who asks should
 * hear of an outage.
 */
static void try_again(struct kafka_call *call, const struct err *err, bool was_lost)
{
	doubt(call);
	if (call->tries >= TRIES_MAX || (was_lost && call->was_lost) ||
		loop_now_ms(call->home->pool->loop) + TRY_AGAIN_MS >= call->deadline_ms) {
		end_call(call, err);
		return;
	}
	call->tries++;
	call->was_lost |= was_lost;
	err_keep(&call->err, err); /* what is told if the deadline passes before the next try */
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

	doubt(call);
	if (call->err) { /* wrapped when it ends */
		err = *call->err;
		end_call(call, &err);
		return;
	}
	end_with(call, ERR_TEMPORARY, "no answer in time, waiting for %s", doing[call->step]);
}

/* ---- Steps ---- */

static void next_step(struct kafka_call *call);

static void on_topics(struct kafkawait *w, const struct kafkamessages_offsets *answer, const struct err *err,
	enum kafkacluster_doubt doubt);
static void on_groups_topics(struct kafkawait *w, const struct kafkamessages_offsets *answer, const struct err *err,
	enum kafkacluster_doubt doubt);
static void on_offsets(struct kafkawait *w, const struct kafkamessages_offsets *answer, const struct err *err,
	enum kafkacluster_doubt doubt);

static void prepare(struct kafka_call *call, enum step step, size_t waits,
	void (*fn)(struct kafkawait *w, const struct kafkamessages_offsets *answer, const struct err *err,
		enum kafkacluster_doubt doubt))
{
	for (size_t i = 0; i < call->wait_count; i++)
		kafkacluster_leave(&call->waits[i]);
	free(call->waits);
	call->step = step;
	call->waits = mem_array(waits, sizeof(*call->waits));
	call->wait_count = call->left = waits;
	for (size_t i = 0; i < waits; i++)
		call->waits[i] = (struct kafkawait){ .fn = fn, .arg = call };
}

static void fail_step(struct kafka_call *call, const struct err *err, enum kafkacluster_doubt doubt)
{
	if (doubt == KAFKACLUSTER_CERTAIN)
		end_call(call, err);
	else
		try_again(call, err, doubt == KAFKACLUSTER_LOST);
}

/* The name of a topic: a group's own come from the broker. */
static const char *shown(const struct kafka_call *call, const char *topic)
{
	return kafkaendpoint_shown(call->home->endpoint, topic);
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
	struct kafkacluster *cluster = call->home->cluster;
	int64_t now_ms = loop_now_ms(call->home->pool->loop);
	size_t count, missing = 0;
	const char *const *names = wanted_topics(call, &count);
	const char **ask = mem_array(count, sizeof(*ask));

	for (size_t i = 0; i < count; i++)
		if (!kafkamap_is_good(kafkamap_topic(kafkacluster_map(cluster), names[i]), now_ms))
			ask[missing++] = names[i];
	prepare(call, TOPICS, 1, on_topics);
	if (missing > 0)
		kafkacluster_describe(cluster, ask, missing, call->deadline_ms, &call->waits[0]);
	else
		take_topics(call);
	free(ask);
}

static bool is_wanted(const struct kafka_question *q, int32_t id)
{
	size_t low = 0, high = q->range_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (id >= q->ranges[middle].first && id <= q->ranges[middle].last)
			return true;
		if (id > q->ranges[middle].last)
			low = middle + 1;
		else
			high = middle;
	}
	return q->range_count == 0;
}

/*
 * Also false when it has an error, or nothing that is wanted; the call is over then, or tried
 * again.
 */
static bool add_topic(struct kafka_call *call, struct kafkatopic *t)
{
	size_t before = call->count;
	struct err err;
	char room[32];

	call->topics[call->topic_count++] = kafkatopic_ref(t);
	if (t->error) {
		err_set(&err, kafkamessages_is_denied(t->error) ? ERR_DENIED : ERR_TEMPORARY, "topic %s: %s",
			shown(call, t->name), kafkamessages_error(t->error, room));
		if (kafkamessages_is_retryable(t->error))
			try_again(call, &err, false);
		else
			end_call(call, &err);
		return false;
	}
	if (t->count > PARTITIONS_MAX - call->count) {
		end_with(call, ERR_INVALID, "there are more than %d partitions", PARTITIONS_MAX);
		return false;
	}
	call->partitions = mem_resize(call->partitions, call->count + t->count + 1, sizeof(*call->partitions));
	call->places = mem_resize(call->places, call->count + t->count + 1, sizeof(*call->places));
	for (size_t i = 0; i < t->count; i++) {
		if (!is_wanted(call->question, t->partitions[i].id))
			continue;
		call->places[call->count] = (struct kafka_place){ t, t->partitions[i].leader };
		call->partitions[call->count++] = (struct kafka_partition){
			.topic = t->name,
			.id = t->partitions[i].id,
			.committed = KAFKA_OFFSET_NONE,
			.start = KAFKA_OFFSET_NONE,
		};
	}
	if (call->count > before)
		return true;
	end_with(call, ERR_INVALID, "expected at least one active partition within the topic '%s'",
		shown(call, t->name));
	return false;
}

static void take_topics(struct kafka_call *call)
{
	const struct kafkamap *map = kafkacluster_map(call->home->cluster);
	size_t count;
	const char *const *names = wanted_topics(call, &count);

	call->topics = mem_array(count, sizeof(*call->topics));
	for (size_t i = 0; i < count; i++) {
		struct kafkatopic *t = kafkamap_topic(map, names[i]);

		if (!t) {
			end_with(call, ERR_TEMPORARY, "topic %s: nothing is known of it", shown(call, names[i]));
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
			call->partitions[i].id, shown(call, call->partitions[i].topic));
		try_again(call, &err, false);
		return;
	}
	next_step(call);
}

static void on_topics(struct kafkawait *w, const struct kafkamessages_offsets *answer, const struct err *err,
	enum kafkacluster_doubt doubt)
{
	struct kafka_call *call = w->arg;

	(void)answer;
	if (err)
		fail_step(call, err, doubt);
	else
		take_topics(call);
}

/* ---- Offsets ---- */

static int compare_shares(const void *a, const void *b)
{
	const struct kafka_share *x = a, *y = b;
	int order = (x->leader > y->leader) - (x->leader < y->leader);

	return order ? order : (x->partition > y->partition) - (x->partition < y->partition);
}

/* Once in a try: a cluster may have as many leaders as partitions. */
static void make_shares(struct kafka_call *call)
{
	call->shares = mem_array(call->count, sizeof(*call->shares));
	for (size_t i = 0; i < call->count; i++)
		call->shares[i] = (struct kafka_share){ call->places[i].leader, (uint32_t)i };
	if (call->count > 1)
		qsort(call->shares, call->count, sizeof(*call->shares), compare_shares);
}

/* Those of the leader at `from` that are asked about; *to: where the next one's begin. */
static size_t wants_of(const struct kafka_call *call, enum step step, size_t from, size_t *to, struct kafkawant *wants)
{
	size_t count = 0;

	for (*to = from; *to < call->count && call->shares[*to].leader == call->shares[from].leader; (*to)++) {
		const struct kafka_partition *p = &call->partitions[call->shares[*to].partition];

		if (step != STARTS || (p->committed == KAFKA_OFFSET_NONE && p->has_end))
			wants[count++] = (struct kafkawant){ call->places[call->shares[*to].partition].topic, p->id };
	}
	return count;
}

/* One request to each broker that leads some of the partitions; starts only where they matter. */
static void ask_offsets(struct kafka_call *call, enum step step)
{
	struct kafkawant *wants = mem_array(call->count, sizeof(*wants));
	struct kafka_span *spans;
	size_t brokers = 0, to;

	if (!call->shares)
		make_shares(call);
	spans = mem_array(call->count, sizeof(*spans));
	for (size_t from = 0; from < call->count; from = to)
		if (wants_of(call, step, from, &to, wants) > 0)
			spans[brokers++] = (struct kafka_span){ from, to };
	free(call->spans);
	call->spans = spans;
	if (brokers == 0) {
		call->step = step;
		next_step(call);
	} else {
		prepare(call, step, brokers, on_offsets);
	}
	for (size_t i = 0; i < brokers; i++) {
		size_t count = wants_of(call, step, call->spans[i].from, &to, wants);

		kafkacluster_offsets(call->home->cluster, call->shares[call->spans[i].from].leader,
			step == ENDS ? KAFKA_END : KAFKA_START, wants, count, call->deadline_ms, &call->waits[i]);
	}
	free(wants);
}

static void ask_committed(struct kafka_call *call)
{
	struct kafkawant *wants = mem_array(call->count, sizeof(*wants));

	for (size_t i = 0; i < call->count; i++)
		wants[i] = (struct kafkawant){ call->places[i].topic, call->partitions[i].id };
	prepare(call, COMMITTED, 1, on_offsets);
	kafkacluster_committed(call->home->cluster, call->question->group, wants, call->count, call->deadline_ms,
		&call->waits[0]);
	free(wants);
}

/* 0; -1 with err: the broker says that it cannot tell. */
static int take_offset(struct kafka_call *call, struct kafka_partition *p, const struct kafkamessages_offset *o,
	struct err *err)
{
	char room[32];

	if (!o) {
		/* Ends and starts may be left out; what was committed may not. */
		return call->step != COMMITTED
			? 0
			: err_set(err, ERR_INVALID, "error finding offset block for topic %s and partition %" PRId32,
				  shown(call, p->topic), p->id);
	}
	if (o->error && call->step == STARTS)
		return 0; /* the end alone has to do */
	if (o->error)
		return err_set(err, kafkamessages_is_denied(o->error) ? ERR_DENIED : ERR_TEMPORARY,
			"%s of partition %" PRId32 " of topic %s: %s",
			call->step == ENDS ? "the end" : "the committed offset", p->id, shown(call, p->topic),
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

static void on_offsets(struct kafkawait *w, const struct kafkamessages_offsets *answer, const struct err *failed,
	enum kafkacluster_doubt doubt)
{
	struct kafka_call *call = w->arg;
	struct kafka_span span = { 0, call->count };
	struct err err;

	/* The start is a refinement: without it the end counts, as it did before. */
	if (failed && call->step != STARTS) {
		fail_step(call, failed, doubt);
		return;
	}
	if (call->step != COMMITTED)
		span = call->spans[w - call->waits];
	for (size_t i = span.from; answer && i < span.to; i++) {
		struct kafka_partition *p = &call->partitions[call->step == COMMITTED ? i : call->shares[i].partition];
		const struct kafkamessages_offset *o = kafkamessages_find(answer, p->topic, p->id);

		if ((o || call->step == COMMITTED) && take_offset(call, p, o, &err)) {
			/* Of a topic that was made anew the old leader says that there is none. */
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
 * What is committed in any topic. The names are kept for the metadata; the offsets are asked for
 * again, with all the partitions that there are.
 */
static void on_groups_topics(struct kafkawait *w, const struct kafkamessages_offsets *answer, const struct err *err,
	enum kafkacluster_doubt doubt)
{
	struct kafka_call *call = w->arg;

	if (err) {
		fail_step(call, err, doubt);
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
	prepare(call, GROUPS_TOPICS, 1, on_groups_topics);
	kafkacluster_committed(call->home->cluster, call->question->group, NULL, 0, call->deadline_ms, &call->waits[0]);
}

static void on_again(void *arg)
{
	begin_try(arg);
}

/* ---- Windows ---- */

static void on_begin(void *arg)
{
	struct home *h = arg;

	h->begun_ms = loop_now_ms(h->pool->loop);
	while (h->queued) {
		struct kafka_call *call = h->queued;

		DL_DELETE(h->queued, call);
		DL_APPEND(h->under_way, call);
		call->list = &h->under_way;
		begin_try(call);
	}
}

static struct home *home_new(struct kafka_pool *p, struct kafkaendpoint *e)
{
	struct home *h = mem_zalloc(sizeof(*h));

	h->pool = p;
	h->endpoint = kafkaendpoint_ref(e);
	h->cluster = kafkacluster_new(
		&(struct kafkalink_terms){ .loop = p->loop, .tokens = p->tokens, .salter = p->salter }, e);
	h->begun_ms = loop_now_ms(p->loop) - WINDOW_MS;
	loop_timer_init(&h->window, p->loop, on_begin, h);
	loop_task_init(&h->begin, on_begin, h);
	HASH_ADD_KEYPTR(hh, p->homes, h->endpoint->base.key, strlen(h->endpoint->base.key), h);
	if (!loop_timer_pending(&p->tidy))
		loop_timer_set(&p->tidy, TIDY_MS);
	return h;
}

static void free_calls(struct kafka_call **list)
{
	while (*list) {
		struct kafka_call *call = *list;

		DL_DELETE(*list, call);
		call_free(call);
	}
}

static void home_free(struct home *h)
{
	free_calls(&h->queued);
	free_calls(&h->under_way);
	kafkacluster_free(h->cluster);
	loop_timer_done(&h->window);
	loop_task_cancel(h->pool->loop, &h->begin);
	HASH_DEL(h->pool->homes, h);
	kafkaendpoint_unref(h->endpoint);
	free(h);
}

static void on_tidy(void *arg)
{
	struct kafka_pool *p = arg;
	int64_t now_ms = loop_now_ms(p->loop);
	struct home *h, *next;

	HASH_ITER (hh, p->homes, h, next) {
		kafkacluster_tidy(h->cluster);
		if (h->waiting == 0 && now_ms - h->used_ms > FORGET_MS && !p->over)
			home_free(h);
	}
	if (p->homes)
		loop_timer_set(&p->tidy, TIDY_MS);
}

struct kafka_pool *kafka_pool_new(struct loop *loop, struct webtoken_store *tokens, struct salter *salter)
{
	struct kafka_pool *p = mem_zalloc(sizeof(*p));

	p->loop = loop;
	p->tokens = tokens;
	p->salter = salter;
	loop_timer_init(&p->tidy, loop, on_tidy, p);
	return p;
}

void kafka_pool_free(struct kafka_pool *p)
{
	struct home *h, *next;

	if (!p)
		return;
	free_calls(&p->over);
	HASH_ITER (hh, p->homes, h, next)
		home_free(h);
	loop_timer_done(&p->tidy);
	free(p);
}

size_t kafka_pool_connections(const struct kafka_pool *p)
{
	size_t count = 0;

	for (const struct home *h = p->homes; h; h = h->hh.next)
		count += kafkacluster_connections(h->cluster);
	return count;
}

struct kafka_call *kafka_ask(struct kafka_pool *p, struct kafkaendpoint *e, const struct kafka_question *question,
	int64_t deadline_ms, kafka_fn fn, void *arg)
{
	struct kafka_call *call = mem_zalloc(sizeof(*call));
	struct home *h;

	HASH_FIND_STR(p->homes, e->base.key, h);
	if (!h)
		h = home_new(p, e);
	endpoint_share(&h->endpoint->base, &e->base);
	h->used_ms = loop_now_ms(p->loop);
	call->home = h;
	call->question = question;
	call->fn = fn;
	call->arg = arg;
	call->deadline_ms = deadline_ms;
	loop_timer_init(&call->deadline, p->loop, on_deadline, call);
	loop_timer_init(&call->again, p->loop, on_again, call);
	loop_task_init(&call->tell, on_tell, call);
	loop_timer_set(&call->deadline, deadline_ms - h->used_ms);
	DL_APPEND(h->queued, call);
	call->list = &h->queued;
	if (++h->waiting > WAITING_MAX)
		end_with(call, ERR_TEMPORARY, "too many questions wait (%zu)", h->waiting);
	else if (h->used_ms - h->begun_ms >= WINDOW_MS)
		loop_task_queue(p->loop, &h->begin);
	else if (!loop_timer_pending(&h->window))
		loop_timer_set(&h->window, h->begun_ms + WINDOW_MS - h->used_ms);
	return call;
}

void kafka_cancel(struct kafka_call *call)
{
	if (!call)
		return;
	leave_home(call);
	call_free(call);
}
