/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_KAFKA_KAFKAMESSAGES_H
#define NET_KAFKA_KAFKAMESSAGES_H

/*
 * The seven requests that kscaled sends to Kafka brokers, and their answers as plain structs. Pure.
 * The versions are fixed: those that every broker from 1.0 to 4.1 supports, before the flexible
 * encoding. Answers are untrusted: counts are checked against the bytes available, and sizes
 * against limits, before anything is allocated.
 *
 * A request is a whole frame: length, header, body. A reader starts behind the correlation id.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "net/kafka/kafkawire.h"

#define KAFKAMESSAGES_FRAME_MAX      ((size_t)4 << 20) /* bytes of an answer or a request */
#define KAFKAMESSAGES_BROKERS_MAX    1000
#define KAFKAMESSAGES_TOPICS_MAX     10000  /* in one answer */
#define KAFKAMESSAGES_PARTITIONS_MAX 100000 /* in one answer, over all topics */

enum kafkamessages_api {
	KAFKA_API_VERSIONS,
	KAFKA_METADATA,
	KAFKA_FIND_COORDINATOR,
	KAFKA_OFFSET_FETCH,
	KAFKA_LIST_OFFSETS,
	KAFKA_SASL_HANDSHAKE,
	KAFKA_SASL_AUTHENTICATE,
};
#define KAFKA_APIS 7
const char *kafkamessages_name(enum kafkamessages_api api); /* "ListOffsets" */

/* ---- Error codes ---- */

enum {
	KAFKA_OK = 0,
	KAFKA_UNKNOWN_TOPIC = 3,
	KAFKA_LEADER_NOT_AVAILABLE = 5,
	KAFKA_NOT_LEADER = 6,
	KAFKA_NOT_COORDINATOR = 16,
	KAFKA_UNSUPPORTED_MECHANISM = 33,
	KAFKA_AUTHENTICATION_FAILED = 58,
};
/*
 * "NOT_LEADER_OR_FOLLOWER: ..." with its meaning or remedy; "error 99" for others. Static, or in
 * room.
 */
const char *kafkamessages_error(int16_t code, char room[32]);
bool kafkamessages_is_retryable(int16_t code); /* refreshing leaders and coordinators may help */
bool kafkamessages_is_denied(int16_t code);

/* ---- Requests: each fills an empty buffer ---- */

void kafkamessages_set_correlation(struct buf *frame, int32_t correlation); /* initially 0 */
void kafkamessages_put_versions(struct buf *out);
void kafkamessages_put_metadata(struct buf *out, const char *const *topics, size_t count);
void kafkamessages_put_coordinator(struct buf *out, const char *group);
void kafkamessages_put_handshake(struct buf *out, const char *mechanism);
void kafkamessages_put_authenticate(struct buf *out, const void *bytes, size_t len);

struct kafkamessages_partition_ref { /* borrowed */
	const char *topic;
	int32_t partition;
};
/*
 * Sorts by topic and partition, and removes duplicates, which brokers refuse. Returns the new
 * count.
 */
size_t kafkamessages_sort(struct kafkamessages_partition_ref *refs, size_t count);
/* The same for names; duplicates are freed. */
size_t kafkamessages_sort_names(char **names, size_t count);
/* refs NULL: all topics with committed offsets. */
void kafkamessages_put_committed(struct buf *out, const char *group, const struct kafkamessages_partition_ref *refs,
	size_t count);
#define KAFKA_END   (-1)
#define KAFKA_START (-2)
void kafkamessages_put_offsets(struct buf *out, int64_t timestamp, const struct kafkamessages_partition_ref *refs,
	size_t count);

/* ---- Answers: 0, or -1 with ERR_INVALID; their _done is needed in either case ---- */

struct kafkamessages_versions {
	struct {
		int16_t least, most; /* -1: not supported */
	} apis[KAFKA_APIS];
};
int kafkamessages_read_versions(struct wire *r, struct kafkamessages_versions *out, struct err *err);
/* -1 with ERR_INVALID, which names what the broker lacks. */
int kafkamessages_check_versions(const struct kafkamessages_versions *v, bool sasl, struct err *err);

struct kafkamessages_metadata {
	struct kafkamessages_broker {
		int32_t id;
		char *host; /* owned; printable */
		uint16_t port;
	} * brokers;
	size_t broker_count;
	struct kafkamessages_topic {
		char *name; /* owned */
		int16_t error;
		struct kafkamessages_partition {
			int32_t id, leader; /* -1: none */
		} * partitions;             /* sorted by id, each once */
		size_t count;
	} * topics;
	size_t topic_count;
};
int kafkamessages_read_metadata(struct wire *r, struct kafkamessages_metadata *out, struct err *err);
void kafkamessages_metadata_done(struct kafkamessages_metadata *m);

struct kafkamessages_coordinator {
	int16_t error;
	struct kafkamessages_broker broker;
};
int kafkamessages_read_coordinator(struct wire *r, struct kafkamessages_coordinator *out, struct err *err);
void kafkamessages_coordinator_done(struct kafkamessages_coordinator *c);

/* OffsetFetch: committed offsets, -1 for none. ListOffsets: ends or starts. */
struct kafkamessages_offsets {
	int16_t error; /* of the group */
	char **topics; /* owned names, sorted */
	size_t topic_count;
	struct kafkamessages_offset {
		const char *topic; /* points into topics */
		int32_t partition;
		int16_t error;
		int64_t offset;
	} * list; /* sorted by topic and partition */
	size_t count;
};
int kafkamessages_read_committed(struct wire *r, struct kafkamessages_offsets *out, struct err *err);
int kafkamessages_read_offsets(struct wire *r, struct kafkamessages_offsets *out, struct err *err);
/* NULL: not in the answer. */
const struct kafkamessages_offset *kafkamessages_find(const struct kafkamessages_offsets *o, const char *topic,
	int32_t partition);
void kafkamessages_offsets_done(struct kafkamessages_offsets *o);

#define KAFKAMESSAGES_MECHANISMS 200
struct kafkamessages_handshake {
	int16_t error;
	char mechanisms[KAFKAMESSAGES_MECHANISMS]; /* "PLAIN, SCRAM-SHA-256"; printable, truncated */
};
int kafkamessages_read_handshake(struct wire *r, struct kafkamessages_handshake *out, struct err *err);

struct kafkamessages_authenticate { /* borrows from the reader */
	int16_t error;
	struct kafkawire_text message, bytes;
};
int kafkamessages_read_authenticate(struct wire *r, struct kafkamessages_authenticate *out, struct err *err);

#endif
