/* SPDX-License-Identifier: Apache-2.0 */
#include "net/kafka/kafkamessages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define CLIENT_ID "kscaled"
#define HOST_MAX  253
#define GROUP     0 /* kind of coordinator */

static const struct {
	const char *name;
	int16_t key, version;
} apis[KAFKA_APIS] = {
	[KAFKA_API_VERSIONS] = { "ApiVersions", 18, 0 },
	[KAFKA_METADATA] = { "Metadata", 3, 4 },
	[KAFKA_FIND_COORDINATOR] = { "FindCoordinator", 10, 1 },
	[KAFKA_OFFSET_FETCH] = { "OffsetFetch", 9, 3 },
	[KAFKA_LIST_OFFSETS] = { "ListOffsets", 2, 2 },
	[KAFKA_SASL_HANDSHAKE] = { "SaslHandshake", 17, 1 },
	[KAFKA_SASL_AUTHENTICATE] = { "SaslAuthenticate", 36, 0 },
};

const char *kafkamessages_name(enum kafkamessages_api api)
{
	return apis[api].name;
}

/* ---- Error codes ---- */

static const struct {
	int16_t code;
	bool retryable, denied;
	const char *text;
} errors[] = {
	{ -1, false, false, "UNKNOWN_SERVER_ERROR" },
	{ 3, false, false, "UNKNOWN_TOPIC_OR_PARTITION: it does not exist" },
	{ 5, true, false, "LEADER_NOT_AVAILABLE: its leader is being elected, or is down" },
	{ 6, true, false, "NOT_LEADER_OR_FOLLOWER: its leader has moved" },
	{ 7, true, false, "REQUEST_TIMED_OUT" },
	{ 8, true, false, "BROKER_NOT_AVAILABLE" },
	{ 9, true, false, "REPLICA_NOT_AVAILABLE" },
	{ 13, true, false, "NETWORK_EXCEPTION" },
	{ 14, true, false, "COORDINATOR_LOAD_IN_PROGRESS: the group's coordinator is still loading its offsets" },
	{ 15, true, false, "COORDINATOR_NOT_AVAILABLE: the group has no coordinator at the moment" },
	{ 16, true, false, "NOT_COORDINATOR: the group's coordinator has moved" },
	{ 17, false, false, "INVALID_TOPIC_EXCEPTION: no topic can have this name" },
	{ 24, false, false, "INVALID_GROUP_ID" },
	{ 29, false, true, "TOPIC_AUTHORIZATION_FAILED: the user needs DESCRIBE permission on the topic" },
	{ 30, false, true, "GROUP_AUTHORIZATION_FAILED: the user needs DESCRIBE permission on the group" },
	{ 31, false, true, "CLUSTER_AUTHORIZATION_FAILED" },
	{ 33, false, true, "UNSUPPORTED_SASL_MECHANISM" },
	{ 34, false, true, "ILLEGAL_SASL_STATE: this listener does not use SASL" },
	{ 35, false, false, "UNSUPPORTED_VERSION" },
	{ 43, false, false, "UNSUPPORTED_FOR_MESSAGE_FORMAT" },
	{ 56, true, false, "KAFKA_STORAGE_ERROR" },
	{ 58, false, true, "SASL_AUTHENTICATION_FAILED" },
	{ 74, true, false, "FENCED_LEADER_EPOCH" },
	{ 75, true, false, "UNKNOWN_LEADER_EPOCH" },
	{ 78, true, false, "OFFSET_NOT_AVAILABLE: a new leader does not know the end yet" },
};

static size_t error_at(int16_t code)
{
	size_t i = 0;

	while (i < MEM_COUNT(errors) && errors[i].code != code)
		i++;
	return i;
}

const char *kafkamessages_error(int16_t code, char room[32])
{
	size_t i = error_at(code);

	if (i < MEM_COUNT(errors))
		return errors[i].text;
	snprintf(room, 32, "error %d", code);
	return room;
}

bool kafkamessages_is_retryable(int16_t code)
{
	size_t i = error_at(code);

	return i < MEM_COUNT(errors) && errors[i].retryable;
}

bool kafkamessages_is_denied(int16_t code)
{
	size_t i = error_at(code);

	return i < MEM_COUNT(errors) && errors[i].denied;
}

/* ---- Requests ---- */

static void begin_request(struct buf *out, enum kafkamessages_api api)
{
	kafkawire_put_i32(out, 0); /* the length, set at the end */
	kafkawire_put_i16(out, apis[api].key);
	kafkawire_put_i16(out, apis[api].version);
	kafkawire_put_i32(out, 0); /* the correlation id, set when it is sent */
	kafkawire_put_text(out, CLIENT_ID);
}

static void set_number(struct buf *out, size_t at, size_t value)
{
	for (size_t i = 0; !buf_failed(out) && i < 4; i++)
		out->data[at + i] = (char)(value >> (8 * (3 - i)));
}

void kafkamessages_set_correlation(struct buf *frame, int32_t correlation)
{
	set_number(frame, 8, (uint32_t)correlation);
}

static void end_request(struct buf *out)
{
	set_number(out, 0, out->len - 4);
}

void kafkamessages_put_versions(struct buf *out)
{
	begin_request(out, KAFKA_API_VERSIONS);
	end_request(out);
}

void kafkamessages_put_metadata(struct buf *out, const char *const *topics, size_t count)
{
	begin_request(out, KAFKA_METADATA);
	kafkawire_put_i32(out, (int32_t)count);
	for (size_t i = 0; i < count; i++)
		kafkawire_put_text(out, topics[i]);
	kafkawire_put_i8(out, 0); /* do not create topics */
	end_request(out);
}

void kafkamessages_put_coordinator(struct buf *out, const char *group)
{
	begin_request(out, KAFKA_FIND_COORDINATOR);
	kafkawire_put_text(out, group);
	kafkawire_put_i8(out, GROUP);
	end_request(out);
}

void kafkamessages_put_handshake(struct buf *out, const char *mechanism)
{
	begin_request(out, KAFKA_SASL_HANDSHAKE);
	kafkawire_put_text(out, mechanism);
	end_request(out);
}

void kafkamessages_put_authenticate(struct buf *out, const void *bytes, size_t len)
{
	begin_request(out, KAFKA_SASL_AUTHENTICATE);
	kafkawire_put_bytes(out, bytes, len);
	end_request(out);
}

static int compare_refs(const void *a, const void *b)
{
	const struct kafkamessages_partition_ref *x = a, *y = b;
	int order = x->topic == y->topic ? 0 : strcmp(x->topic, y->topic);

	return order ? order : (x->partition > y->partition) - (x->partition < y->partition);
}

size_t kafkamessages_sort(struct kafkamessages_partition_ref *refs, size_t count)
{
	size_t kept = 0;

	if (count > 1)
		qsort(refs, count, sizeof(*refs), compare_refs);
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || compare_refs(&refs[kept - 1], &refs[i]) != 0)
			refs[kept++] = refs[i];
	return kept;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

size_t kafkamessages_sort_names(char **names, size_t count)
{
	size_t kept = 0;

	if (count > 1)
		qsort(names, count, sizeof(*names), compare_texts);
	for (size_t i = 0; i < count; i++) {
		if (kept > 0 && strcmp(names[kept - 1], names[i]) == 0)
			free(names[i]);
		else
			names[kept++] = names[i];
	}
	return kept;
}

static bool is_next_topic(const struct kafkamessages_partition_ref *refs, size_t i)
{
	return i == 0 || strcmp(refs[i - 1].topic, refs[i].topic) != 0;
}

/* Topics with their partitions, each with the timestamp unless it is NULL. */
static void put_partitions(struct buf *out, const struct kafkamessages_partition_ref *refs, size_t count,
	const int64_t *timestamp)
{
	size_t topics = 0, at = 0, partitions = 0;

	for (size_t i = 0; i < count; i++)
		topics += is_next_topic(refs, i);
	kafkawire_put_i32(out, (int32_t)topics);
	for (size_t i = 0; i < count; i++) {
		if (is_next_topic(refs, i)) {
			kafkawire_put_text(out, refs[i].topic);
			at = out->len;
			partitions = 0;
			kafkawire_put_i32(out, 0);
		}
		kafkawire_put_i32(out, refs[i].partition);
		if (timestamp)
			kafkawire_put_i64(out, *timestamp);
		set_number(out, at, ++partitions);
	}
}

void kafkamessages_put_committed(struct buf *out, const char *group, const struct kafkamessages_partition_ref *refs,
	size_t count)
{
	begin_request(out, KAFKA_OFFSET_FETCH);
	kafkawire_put_text(out, group);
	if (refs)
		put_partitions(out, refs, count, NULL);
	else
		kafkawire_put_i32(out, -1);
	end_request(out);
}

void kafkamessages_put_offsets(struct buf *out, int64_t timestamp, const struct kafkamessages_partition_ref *refs,
	size_t count)
{
	begin_request(out, KAFKA_LIST_OFFSETS);
	kafkawire_put_i32(out, -1); /* we are no replica */
	kafkawire_put_i8(out, 0);   /* read uncommitted */
	put_partitions(out, refs, count, &timestamp);
	end_request(out);
}

/* ---- Reading ---- */

static int malformed_answer(enum kafkamessages_api api, struct err *err)
{
	return err_set(err, ERR_INVALID, "%s: the answer makes no sense", apis[api].name);
}

static int too_large(enum kafkamessages_api api, struct err *err)
{
	return err_set(err, ERR_INVALID, "%s: the answer is too large", apis[api].name);
}

int kafkamessages_read_versions(struct wire *r, struct kafkamessages_versions *out, struct err *err)
{
	int16_t error = kafkawire_i16(r);
	size_t count = kafkawire_count(r, 6);
	char room[32];

	for (size_t i = 0; i < KAFKA_APIS; i++)
		out->apis[i].least = out->apis[i].most = -1;
	if (error)
		return err_set(err, ERR_INVALID, "ApiVersions: %s", kafkamessages_error(error, room));
	for (size_t i = 0; i < count; i++) {
		int16_t key = kafkawire_i16(r), least = kafkawire_i16(r), most = kafkawire_i16(r);

		for (size_t k = 0; k < KAFKA_APIS; k++) {
			if (apis[k].key == key) {
				out->apis[k].least = least;
				out->apis[k].most = most;
			}
		}
	}
	return r->failed ? malformed_answer(KAFKA_API_VERSIONS, err) : 0;
}

int kafkamessages_check_versions(const struct kafkamessages_versions *v, bool sasl, struct err *err)
{
	for (size_t i = 0; i < KAFKA_APIS; i++) {
		int16_t least = v->apis[i].least, most = v->apis[i].most;

		/*
		 * A broker without SASL may lack its two requests. ApiVersions itself was just
		 * answered.
		 */
		if (i == KAFKA_API_VERSIONS || (!sasl && i >= KAFKA_SASL_HANDSHAKE))
			continue;
		if (most < 0 && least < 0)
			return err_set(err, ERR_INVALID, "the broker does not offer %s: %s", apis[i].name,
				i == KAFKA_SASL_AUTHENTICATE ? "Kafka 1.0 or later is needed" : "is it Kafka?");
		if (apis[i].version < least || apis[i].version > most)
			return err_set(err, ERR_INVALID,
				"the broker speaks versions %d to %d of %s, kscaled version %d (Kafka 1.0 to 4)", least,
				most, apis[i].name, apis[i].version);
	}
	return 0;
}

static bool is_printable(const char *text)
{
	while ((unsigned char)*text > ' ' && (unsigned char)*text < 0x7f)
		text++;
	return !*text;
}

/*
 * False: no usable host and port. A broker without an address for this listener has "" and -1; a
 * missing broker has an id below 0.
 */
static bool read_broker(struct wire *r, struct kafkamessages_broker *out)
{
	int32_t port;

	out->id = kafkawire_i32(r);
	out->host = kafkawire_dup(kafkawire_text(r));
	port = kafkawire_i32(r);
	if (out->id >= 0 && out->host && *out->host && strlen(out->host) <= HOST_MAX && is_printable(out->host) &&
		port > 0 && port <= UINT16_MAX) {
		out->port = (uint16_t)port;
		return true;
	}
	mem_free_ptr(&out->host);
	return false;
}

static int compare_partitions(const void *a, const void *b)
{
	const struct kafkamessages_partition *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static void sort_partitions(struct kafkamessages_topic *t)
{
	size_t kept = 0;

	if (t->count > 1)
		qsort(t->partitions, t->count, sizeof(*t->partitions), compare_partitions);
	for (size_t i = 0; i < t->count; i++)
		if (kept == 0 || t->partitions[kept - 1].id != t->partitions[i].id)
			t->partitions[kept++] = t->partitions[i];
	t->count = kept;
}

/* False: too many partitions. */
static bool read_topic(struct wire *r, struct kafkamessages_topic *t, size_t *left)
{
	size_t count;

	t->error = kafkawire_i16(r);
	t->name = kafkawire_dup(kafkawire_text(r));
	r->failed |= !t->name;
	kafkawire_i8(r); /* internal */
	count = kafkawire_count(r, 18);
	if (count > *left)
		return false;
	*left -= count;
	t->partitions = mem_array(count, sizeof(*t->partitions));
	for (t->count = 0; t->count < count && !r->failed; t->count++) {
		/* The error only repeats that there is no leader, or is about a replica. */
		kafkawire_i16(r);
		t->partitions[t->count].id = kafkawire_i32(r);
		t->partitions[t->count].leader = kafkawire_i32(r);
		kafkawire_skip(r, 4 * kafkawire_count(r, 4)); /* replicas */
		kafkawire_skip(r, 4 * kafkawire_count(r, 4)); /* in-sync replicas */
	}
	sort_partitions(t);
	return true;
}

int kafkamessages_read_metadata(struct wire *r, struct kafkamessages_metadata *out, struct err *err)
{
	size_t count, left = KAFKAMESSAGES_PARTITIONS_MAX;

	*out = (struct kafkamessages_metadata){ 0 };
	kafkawire_i32(r); /* throttle */
	count = kafkawire_count(r, 12);
	if (count > KAFKAMESSAGES_BROKERS_MAX)
		return too_large(KAFKA_METADATA, err);
	out->brokers = mem_array(count, sizeof(*out->brokers));
	for (size_t i = 0; i < count && !r->failed; i++) {
		out->broker_count += read_broker(r, &out->brokers[out->broker_count]);
		kafkawire_text(r); /* rack */
	}
	kafkawire_text(r); /* the cluster's id */
	kafkawire_i32(r);  /* its controller */
	count = kafkawire_count(r, 9);
	if (count > KAFKAMESSAGES_TOPICS_MAX)
		return too_large(KAFKA_METADATA, err);
	out->topics = mem_array(count, sizeof(*out->topics));
	while (out->topic_count < count && !r->failed)
		if (!read_topic(r, &out->topics[out->topic_count++], &left))
			return too_large(KAFKA_METADATA, err);
	return r->failed ? malformed_answer(KAFKA_METADATA, err) : 0;
}

void kafkamessages_metadata_done(struct kafkamessages_metadata *m)
{
	for (size_t i = 0; i < m->broker_count; i++)
		free(m->brokers[i].host);
	for (size_t i = 0; i < m->topic_count; i++) {
		free(m->topics[i].name);
		free(m->topics[i].partitions);
	}
	free(m->brokers);
	free(m->topics);
	*m = (struct kafkamessages_metadata){ 0 };
}

int kafkamessages_read_coordinator(struct wire *r, struct kafkamessages_coordinator *out, struct err *err)
{
	bool usable;

	*out = (struct kafkamessages_coordinator){ 0 };
	kafkawire_i32(r); /* throttle */
	out->error = kafkawire_i16(r);
	kafkawire_text(r); /* error text; says no more than the code */
	usable = read_broker(r, &out->broker);
	if (r->failed)
		return malformed_answer(KAFKA_FIND_COORDINATOR, err);
	if (!out->error && !usable)
		return err_set(err, ERR_INVALID,
			"FindCoordinator: broker %d advertises no host and port that can be connected to",
			out->broker.id);
	return 0;
}

void kafkamessages_coordinator_done(struct kafkamessages_coordinator *c)
{
	mem_free_ptr(&c->broker.host);
}

/* ---- Offsets ---- */

static int compare_offsets(const void *a, const void *b)
{
	const struct kafkamessages_offset *x = a, *y = b;
	int order = x->topic == y->topic ? 0 : strcmp(x->topic, y->topic);

	return order ? order : (x->partition > y->partition) - (x->partition < y->partition);
}

static int read_lists(struct wire *r, enum kafkamessages_api api, struct kafkamessages_offsets *out, struct err *err)
{
	size_t topics = kafkawire_count(r, 6);

	if (topics > KAFKAMESSAGES_TOPICS_MAX)
		return too_large(api, err);
	out->topics = mem_array(topics, sizeof(*out->topics));
	while (out->topic_count < topics && !r->failed) {
		char *name = kafkawire_dup(kafkawire_text(r));
		size_t count = kafkawire_count(r, api == KAFKA_OFFSET_FETCH ? 16 : 22);

		if (!name || r->failed) {
			free(name);
			r->failed = true;
			break;
		}
		out->topics[out->topic_count++] = name;
		if (count > KAFKAMESSAGES_PARTITIONS_MAX - out->count)
			return too_large(api, err);
		if (count > 0)
			out->list = mem_resize(out->list, out->count + count, sizeof(*out->list));
		for (size_t i = 0; i < count && !r->failed; i++) {
			struct kafkamessages_offset o = { .topic = name, .partition = kafkawire_i32(r) };

			if (api == KAFKA_OFFSET_FETCH) {
				o.offset = kafkawire_i64(r);
				kafkawire_text(r); /* the consumer's metadata */
				o.error = kafkawire_i16(r);
			} else {
				o.error = kafkawire_i16(r);
				kafkawire_i64(r); /* timestamp */
				o.offset = kafkawire_i64(r);
			}
			out->list[out->count++] = o;
		}
	}
	return 0;
}

static int finish_offsets(struct wire *r, enum kafkamessages_api api, struct kafkamessages_offsets *out,
	struct err *err)
{
	if (r->failed)
		return malformed_answer(api, err);
	if (out->topic_count > 1)
		qsort(out->topics, out->topic_count, sizeof(*out->topics), compare_texts);
	if (out->count > 1)
		qsort(out->list, out->count, sizeof(*out->list), compare_offsets);
	return 0;
}

int kafkamessages_read_committed(struct wire *r, struct kafkamessages_offsets *out, struct err *err)
{
	*out = (struct kafkamessages_offsets){ 0 };
	kafkawire_i32(r); /* throttle */
	if (read_lists(r, KAFKA_OFFSET_FETCH, out, err))
		return -1;
	out->error = kafkawire_i16(r);
	return finish_offsets(r, KAFKA_OFFSET_FETCH, out, err);
}

int kafkamessages_read_offsets(struct wire *r, struct kafkamessages_offsets *out, struct err *err)
{
	*out = (struct kafkamessages_offsets){ 0 };
	kafkawire_i32(r); /* throttle */
	if (read_lists(r, KAFKA_LIST_OFFSETS, out, err))
		return -1;
	return finish_offsets(r, KAFKA_LIST_OFFSETS, out, err);
}

const struct kafkamessages_offset *kafkamessages_find(const struct kafkamessages_offsets *o, const char *topic,
	int32_t partition)
{
	const struct kafkamessages_offset wanted = { .topic = topic, .partition = partition };

	return o->count > 0 ? bsearch(&wanted, o->list, o->count, sizeof(*o->list), compare_offsets) : NULL;
}

void kafkamessages_offsets_done(struct kafkamessages_offsets *o)
{
	for (size_t i = 0; i < o->topic_count; i++)
		free(o->topics[i]);
	free(o->topics);
	free(o->list);
	*o = (struct kafkamessages_offsets){ 0 };
}

/* ---- SASL ---- */

int kafkamessages_read_handshake(struct wire *r, struct kafkamessages_handshake *out, struct err *err)
{
	size_t count, len = 0;

	*out = (struct kafkamessages_handshake){ .error = kafkawire_i16(r) };
	count = kafkawire_count(r, 2);
	for (size_t i = 0; i < count && !r->failed; i++) {
		MEM_AUTO char *name = kafkawire_dup(kafkawire_text(r));

		if (name && is_printable(name) && len < sizeof(out->mechanisms))
			len += (size_t)snprintf(out->mechanisms + len, sizeof(out->mechanisms) - len, "%s%s",
				len > 0 ? ", " : "", name);
	}
	return r->failed ? malformed_answer(KAFKA_SASL_HANDSHAKE, err) : 0;
}

int kafkamessages_read_authenticate(struct wire *r, struct kafkamessages_authenticate *out, struct err *err)
{
	out->error = kafkawire_i16(r);
	out->message = kafkawire_text(r);
	out->bytes = kafkawire_bytes(r);
	return r->failed ? malformed_answer(KAFKA_SASL_AUTHENTICATE, err) : 0;
}
