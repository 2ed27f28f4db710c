/* SPDX-License-Identifier: Apache-2.0 */
#include "net/kafka/kafkacluster.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/hash.h"
#include "base/mem.h"
#include "net/kafka/kafkabrokers.h"
#include "net/kafka/kafkashares.h"

#define PARTITIONS_MAX  20000 /* in one request */
#define NAMES_MAX       500   /* topics in one request: their partitions, 42 bytes or more each, fit into an answer */
#define GROUP_FORGET_MS 600000
/*
 * A request ends a little before its waiters do, so that their error names the broker that did not
 * answer.
 */
#define EARLIER_MS 50
/*
 * Holds ListOffsets back this long while OffsetFetch requests are in flight, so that questions
 * whose offsets arrive one after the other share one ListOffsets.
 */
#define GATHER_MS 20

enum kind { DESCRIBE, COMMITTED, OFFSETS };

/* What callers of one batch have in common. Compared bytewise: made by batch_get alone. */
struct batch_key {
	enum kind kind;
	int32_t node; /* OFFSETS */
	int64_t which;
	struct group *group; /* COMMITTED */
	int all;             /* COMMITTED: of all topics */
};

/* One request, for all that asked in this turn. */
struct kafkabatch {
	struct kafkacluster *cluster;
	struct batch_key key;
	bool has_room; /* in the table `open`: others may join */
	struct kafkabatch *prev, *next;
	struct kafkabatch **list;         /* the list it is in: pending, taken, under_way, or a group's waiting */
	struct kafka_partition_ref *refs; /* each with a reference to its topic */
	size_t count;
	char **names; /* DESCRIBE; owned */
	size_t name_count;
	struct kafkawaiter *waiters;
	int64_t begun_ms, deadline_ms;
	struct kafkalink *link;    /* that it was sent over */
	struct pool_call *request; /* while under way */
	size_t tries;
	UT_hash_handle hh;
};

/* A consumer group and its coordinator. */
struct group {
	struct kafkacluster *cluster;
	char *name;
	int32_t node;           /* -1: unknown */
	struct kafkalink *link; /* that was asked for the coordinator */
	struct pool_call *finding;
	struct kafkabatch *waiting; /* for the coordinator */
	size_t batches;             /* that ask about the group */
	size_t tries;
	int64_t used_ms;
	UT_hash_handle hh;
};

struct kafkacluster {
	struct loop *loop;
	struct kafkamap map;
	struct kafkabrokers brokers;
	struct group *groups;
	struct kafkabatch *pending; /* sent at the end of this turn, or a little later (gathering) */
	struct kafkabatch *open;    /* those of them with room, by key */
	struct kafkabatch *taken;   /* being sent or finished now (take_all) */
	struct kafkabatch *under_way;
	size_t groups_asked; /* of those, COMMITTED */
	struct loop_task flush;
	struct loop_timer gathering;
};

/* ---- Batches ---- */

/* The open batch with this key, or a new one. */
static struct kafkabatch *batch_get(struct kafkacluster *c, enum kind kind, struct group *group, bool all, int32_t node,
	int64_t which)
{
	struct batch_key key;
	struct kafkabatch *b;

	memset(&key, 0, sizeof(key)); /* padding included */
	key.kind = kind;
	key.node = node;
	key.which = which;
	key.group = group;
	key.all = all;
	HASH_FIND(hh, c->open, &key, sizeof(key), b);
	if (b)
		return b;
	b = mem_zalloc(sizeof(*b));
	b->cluster = c;
	memcpy(&b->key, &key, sizeof(key));
	b->begun_ms = loop_now_ms(c->loop);
	if (group)
		group->batches++;
	b->list = &c->pending;
	DL_APPEND(c->pending, b);
	b->has_room = true;
	HASH_ADD(hh, c->open, key, sizeof(key), b);
	loop_task_queue(c->loop, &c->flush);
	return b;
}

/* No one may join it any more. */
static void batch_close(struct kafkabatch *b)
{
	if (b->has_room)
		HASH_DEL(b->cluster->open, b);
	b->has_room = false;
}

static void relist_batch(struct kafkabatch *b, struct kafkabatch **list)
{
	DL_DELETE(*b->list, b);
	b->list = list;
	DL_APPEND(*list, b);
}

/*
 * Moves the list into `taken`, which nothing else fills: callbacks add to the other lists, so
 * processing it ends.
 */
static void take_all(struct kafkacluster *c, struct kafkabatch **list)
{
	while (*list)
		relist_batch(*list, &c->taken);
}

static void leave_list(struct kafkabatch *b)
{
	struct kafkacluster *c = b->cluster;

	batch_close(b);
	DL_DELETE(*b->list, b);
	c->groups_asked -= b->key.kind == COMMITTED && b->list == &c->under_way;
	if (c->groups_asked == 0 && c->pending)
		loop_task_queue(c->loop, &c->flush);
}

static void move_batch(struct kafkabatch *b, struct kafkabatch **list)
{
	leave_list(b);
	b->cluster->groups_asked += b->key.kind == COMMITTED && list == &b->cluster->under_way;
	b->list = list;
	DL_APPEND(*list, b);
}

static void batch_free(struct kafkabatch *b)
{
	if (b->list)
		leave_list(b);
	pool_cancel(b->request);
	if (b->key.group)
		b->key.group->batches--;
	for (size_t i = 0; i < b->count; i++)
		kafkatopic_unref(b->refs[i].topic);
	free(b->refs);
	for (size_t i = 0; i < b->name_count; i++)
		free(b->names[i]);
	free(b->names);
	free(b);
}

static void join_batch(struct kafkabatch *b, struct kafkawaiter *w, int64_t deadline_ms)
{
	int64_t left_ms = deadline_ms - loop_now_ms(b->cluster->loop);
	int64_t ends_ms = deadline_ms - (left_ms < 8 * EARLIER_MS ? left_ms / 8 : EARLIER_MS);

	w->batch = b;
	DL_APPEND(b->waiters, w);
	if (ends_ms > b->deadline_ms)
		b->deadline_ms = ends_ms;
}

void kafkacluster_leave(struct kafkawaiter *w)
{
	struct kafkabatch *b = w->batch;

	if (!b)
		return;
	DL_DELETE(b->waiters, w);
	w->batch = NULL;
	/* A batch that is being finished frees itself. */
	if (!b->waiters && b->list)
		batch_free(b);
}

static enum kafkacluster_failure failure_of_code(int16_t code)
{
	return kafkamessages_is_retryable(code) ? KAFKACLUSTER_MOVED : KAFKACLUSTER_FINAL;
}

static enum kafkacluster_failure failure_of_loss(const struct kafkalink *link, const struct err *err)
{
	if (err->kind == ERR_DENIED)
		return KAFKACLUSTER_FINAL;
	return link->closed_by_peer ? KAFKACLUSTER_MOVED : KAFKACLUSTER_LOST;
}

/* Calls all waiters back, and frees the batch. */
static void finish_batch(struct kafkabatch *b, const struct kafkamessages_offsets *answer, const struct err *err,
	enum kafkacluster_failure failure)
{
	struct kafkawaiter *w;

	leave_list(b);
	b->list = NULL;
	while ((w = b->waiters) != NULL) {
		DL_DELETE(b->waiters, w);
		w->batch = NULL;
		w->fn(w, answer, err, failure);
	}
	batch_free(b);
}

/* ---- Sending ---- */

static void on_answered(void *arg, struct wire *r, const struct err *err);
static void find_coordinator(struct group *g, int64_t deadline_ms);

static struct buf frame_buf(void)
{
	struct buf frame = BUF_INIT(KAFKAMESSAGES_FRAME_MAX);

	return frame;
}

static void put_partitions(const struct kafkabatch *b, struct buf *frame)
{
	struct kafkamessages_partition_ref *refs = mem_array(b->count, sizeof(*refs));
	size_t count;

	for (size_t i = 0; i < b->count; i++)
		refs[i] = (struct kafkamessages_partition_ref){ b->refs[i].topic->name, b->refs[i].partition };
	count = kafkamessages_sort(refs, b->count);
	if (b->key.kind == COMMITTED)
		kafkamessages_put_committed(frame, b->key.group->name, refs, count);
	else
		kafkamessages_put_offsets(frame, b->key.which, refs, count);
	free(refs);
}

static void send_batch(struct kafkabatch *b)
{
	static const enum kafkamessages_api apis[] = { KAFKA_METADATA, KAFKA_OFFSET_FETCH, KAFKA_LIST_OFFSETS };
	struct kafkacluster *c = b->cluster;
	struct buf frame = frame_buf();
	struct kafkalink *link;
	struct err err;

	if (b->key.kind == COMMITTED && b->key.group->node < 0) {
		move_batch(b, &b->key.group->waiting);
		find_coordinator(b->key.group, b->deadline_ms);
		return;
	}
	if (b->key.kind == DESCRIBE)
		kafkamessages_put_metadata(&frame, (const char *const *)b->names, b->name_count);
	else if (b->key.all)
		kafkamessages_put_committed(&frame, b->key.group->name, NULL, 0);
	else
		put_partitions(b, &frame);
	link = b->key.kind == DESCRIBE
		? kafkabrokers_any(&c->brokers)
		: kafkabrokers_link(&c->brokers, b->key.kind == COMMITTED ? b->key.group->node : b->key.node, &err);
	if (link && buf_failed(&frame)) {
		err_set(&err, ERR_INVALID, "%s: the request is too large", kafkamessages_name(apis[b->key.kind]));
		link = NULL;
	}
	if (!link) {
		enum kafkacluster_failure failure = buf_failed(&frame) ? KAFKACLUSTER_FINAL : KAFKACLUSTER_MOVED;

		buf_done(&frame);
		finish_batch(b, NULL, &err, failure);
		return;
	}
	move_batch(b, &c->under_way);
	b->link = link;
	b->request = kafkalink_ask(link, apis[b->key.kind], &frame, b->deadline_ms, on_answered, b);
	buf_done(&frame);
}

static void send_pending(struct kafkacluster *c, bool gathers)
{
	int64_t now_ms = loop_now_ms(c->loop), wait_ms = 0;
	struct kafkabatch *b;

	take_all(c, &c->pending);
	while ((b = c->taken) != NULL) {
		int64_t left_ms = b->begun_ms + GATHER_MS - now_ms;

		if (gathers && b->key.kind == OFFSETS && c->groups_asked > 0 && left_ms > 0 &&
			b->count < PARTITIONS_MAX) {
			wait_ms = left_ms;
			relist_batch(b, &c->pending);
			continue;
		}
		if (b->key.kind == DESCRIBE)
			b->name_count = kafkamessages_sort_names(b->names, b->name_count);
		send_batch(b);
	}
	if (wait_ms > 0 && !loop_timer_pending(&c->gathering))
		loop_timer_set(&c->gathering, wait_ms);
}

static void on_flush(void *arg)
{
	struct kafkacluster *c = arg;

	send_pending(c, true);
	kafkabrokers_close_bootstrap(&c->brokers);
}

/* ---- Coordinators ---- */

static struct group *group_get(struct kafkacluster *c, const char *name)
{
	struct group *g;

	HASH_FIND_STR(c->groups, name, g);
	if (!g) {
		g = mem_zalloc(sizeof(*g));
		g->cluster = c;
		g->name = mem_dup(name);
		g->node = -1;
		HASH_ADD_KEYPTR(hh, c->groups, g->name, strlen(g->name), g);
	}
	g->used_ms = loop_now_ms(c->loop);
	return g;
}

static void group_free(struct group *g)
{
	HASH_DEL(g->cluster->groups, g);
	pool_cancel(g->finding);
	while (g->waiting)
		batch_free(g->waiting);
	free(g->name);
	free(g);
}

static void not_found(struct group *g, const struct err *err, enum kafkacluster_failure failure)
{
	struct kafkacluster *c = g->cluster;

	take_all(c, &g->waiting);
	while (c->taken)
		finish_batch(c->taken, NULL, err, failure);
}

/*
 * If the coordinator cannot be connected to, all batches that wait for it fail together. One by
 * one, each would mark the coordinator stale, and the next would look it up again.
 */
static void send_waiting(struct group *g)
{
	struct kafkacluster *c = g->cluster;
	struct err err;

	if (!kafkabrokers_link(&c->brokers, g->node, &err)) {
		not_found(g, &err, KAFKACLUSTER_MOVED);
		return;
	}
	take_all(c, &g->waiting);
	while (c->taken)
		send_batch(c->taken);
}

static void on_coordinator(void *arg, struct wire *r, const struct err *failed)
{
	struct group *g = arg;
	struct kafkacluster *c = g->cluster;
	struct kafkamessages_coordinator answer = { 0 };
	char room[32];
	struct err err;

	g->finding = NULL;
	if (failed && failed->kind != ERR_DENIED && ++g->tries < c->brokers.terms.endpoint->count && g->waiting) {
		c->brokers.next_server++;
		find_coordinator(g, g->waiting->deadline_ms);
	} else if (failed) {
		not_found(g, failed, failure_of_loss(g->link, failed));
	} else if (kafkamessages_read_coordinator(r, &answer, &err)) {
		not_found(g, &err, KAFKACLUSTER_FINAL);
	} else if (answer.error) {
		err_set(&err, kafkamessages_is_denied(answer.error) ? ERR_DENIED : ERR_TEMPORARY, "group %s: %s",
			g->name, kafkamessages_error(answer.error, room));
		not_found(g, &err, failure_of_code(answer.error));
	} else {
		g->node = answer.broker.id;
		kafkabrokers_add(&c->brokers, &answer.broker);
		send_waiting(g);
	}
	kafkamessages_coordinator_done(&answer);
	if (!g->finding)
		g->tries = 0;
}

static void find_coordinator(struct group *g, int64_t deadline_ms)
{
	struct buf frame = frame_buf();

	if (g->finding)
		return;
	kafkamessages_put_coordinator(&frame, g->name);
	g->link = kafkabrokers_any(&g->cluster->brokers);
	g->finding = kafkalink_ask(g->link, KAFKA_FIND_COORDINATOR, &frame, deadline_ms, on_coordinator, g);
	buf_done(&frame);
}

void kafkacluster_forget_coordinator(struct kafkacluster *c, const char *group)
{
	struct group *g;

	HASH_FIND_STR(c->groups, group, g);
	if (g)
		g->node = -1;
}

/* ---- Answers ---- */

static void take_metadata(struct kafkabatch *b, struct wire *r)
{
	struct kafkacluster *c = b->cluster;
	struct kafkamessages_metadata metadata;
	struct err err;

	if (kafkamessages_read_metadata(r, &metadata, &err)) {
		kafkamessages_metadata_done(&metadata);
		finish_batch(b, NULL, &err, KAFKACLUSTER_FINAL);
		return;
	}
	/*
	 * Pending batches refer to the old metadata. They are sent apart from later ones, so that
	 * no request has a partition twice.
	 */
	send_pending(c, false);
	c->map.namespace_ = endpoint_namespace(&c->brokers.terms.endpoint->base);
	kafkamap_take(&c->map, &metadata, (const char *const *)b->names, b->name_count, loop_now_ms(c->loop));
	kafkamessages_metadata_done(&metadata);
	kafkabrokers_name_links(&c->brokers);
	finish_batch(b, NULL, NULL, KAFKACLUSTER_FINAL);
}

static void take_offsets(struct kafkabatch *b, struct wire *r)
{
	struct kafkamessages_offsets answer;
	char room[32];
	struct err err;
	int rc = b->key.kind == COMMITTED ? kafkamessages_read_committed(r, &answer, &err)
					  : kafkamessages_read_offsets(r, &answer, &err);

	if (rc == 0 && answer.error)
		rc = err_set(&err, kafkamessages_is_denied(answer.error) ? ERR_DENIED : ERR_TEMPORARY,
			"committed offsets of group %s: %s", b->key.group->name,
			kafkamessages_error(answer.error, room));
	if (rc)
		finish_batch(b, NULL, &err, failure_of_code(answer.error));
	else
		finish_batch(b, &answer, NULL, KAFKACLUSTER_FINAL);
	kafkamessages_offsets_done(&answer);
}

static void on_answered(void *arg, struct wire *r, const struct err *err)
{
	struct kafkabatch *b = arg;
	struct kafkacluster *c = b->cluster;

	b->request = NULL;
	if (!err && b->key.kind == DESCRIBE) {
		take_metadata(b, r);
	} else if (!err) {
		take_offsets(b, r);
	} else if (b->key.kind == DESCRIBE && err->kind != ERR_DENIED &&
		++b->tries < c->brokers.terms.endpoint->count) {
		c->brokers.next_server++;
		move_batch(b, &c->pending);
		loop_task_queue(c->loop, &c->flush);
	} else {
		finish_batch(b, NULL, err, failure_of_loss(b->link, err));
	}
}

/* ---- Asking ---- */

static void add_partitions(struct kafkabatch *b, const struct kafka_partition_ref *refs, size_t count)
{
	b->refs = mem_resize(b->refs, b->count + count, sizeof(*b->refs));
	for (size_t i = 0; i < count; i++) {
		b->refs[b->count] = refs[i];
		kafkatopic_ref(b->refs[b->count++].topic);
	}
	if (b->count >= PARTITIONS_MAX)
		batch_close(b);
}

void kafkacluster_describe(struct kafkacluster *c, const char *const *topics, size_t count, int64_t deadline_ms,
	struct kafkawaiter *w)
{
	struct kafkabatch *b = batch_get(c, DESCRIBE, NULL, false, 0, 0);

	b->names = mem_resize(b->names, b->name_count + count, sizeof(*b->names));
	for (size_t i = 0; i < count; i++)
		b->names[b->name_count++] = mem_dup(topics[i]);
	if (b->name_count >= NAMES_MAX)
		batch_close(b);
	join_batch(b, w, deadline_ms);
}

void kafkacluster_committed(struct kafkacluster *c, const char *group, const struct kafka_partition_ref *refs,
	size_t count, int64_t deadline_ms, struct kafkawaiter *w)
{
	struct kafkabatch *b = batch_get(c, COMMITTED, group_get(c, group), !refs, 0, 0);

	if (refs)
		add_partitions(b, refs, count);
	join_batch(b, w, deadline_ms);
}

void kafkacluster_offsets(struct kafkacluster *c, int32_t node, int64_t which, const struct kafka_partition_ref *refs,
	size_t count, int64_t deadline_ms, struct kafkawaiter *w)
{
	struct kafkabatch *b = batch_get(c, OFFSETS, NULL, false, node, which);

	add_partitions(b, refs, count);
	join_batch(b, w, deadline_ms);
}

/* ---- The cluster ---- */

const struct kafkamap *kafkacluster_map(const struct kafkacluster *c)
{
	return &c->map;
}

struct kafkacluster *kafkacluster_new(const struct kafkalink_terms *terms, struct kafkaendpoint *endpoint,
	struct kafkashares *shares)
{
	struct kafkacluster *c = mem_zalloc(sizeof(*c));

	c->loop = terms->loop;
	c->map.known = &shares->known;
	c->map.known_brokers = &shares->brokers;
	kafkabrokers_init(&c->brokers, terms, endpoint, &c->map);
	loop_task_init(&c->flush, on_flush, c);
	loop_timer_init(&c->gathering, c->loop, on_flush, c);
	return c;
}

static void drop_batch(struct kafkabatch *b)
{
	while (b->waiters) {
		b->waiters->batch = NULL;
		DL_DELETE(b->waiters, b->waiters);
	}
	batch_free(b);
}

void kafkacluster_free(struct kafkacluster *c)
{
	struct group *g, *next;

	if (!c)
		return;
	while (c->pending)
		drop_batch(c->pending);
	while (c->under_way)
		drop_batch(c->under_way);
	HASH_ITER (hh, c->groups, g, next) {
		while (g->waiting)
			drop_batch(g->waiting);
		group_free(g);
	}
	kafkabrokers_done(&c->brokers);
	loop_task_cancel(c->loop, &c->flush);
	loop_timer_done(&c->gathering);
	kafkamap_done(&c->map);
	free(c);
}

void kafkacluster_tidy(struct kafkacluster *c)
{
	int64_t now_ms = loop_now_ms(c->loop);
	struct group *g, *next;

	HASH_ITER (hh, c->groups, g, next)
		if (now_ms - g->used_ms > GROUP_FORGET_MS && g->batches == 0 && !g->finding)
			group_free(g);
	kafkabrokers_forget_old(&c->brokers, now_ms);
	kafkamap_forget_old(&c->map, now_ms);
}
