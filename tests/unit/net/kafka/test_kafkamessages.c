/* SPDX-License-Identifier: Apache-2.0 */

/* Requests as sent, answers as received, and answers with false counts. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/kafka/kafkamessages.h"

#define BYTES(text) text, sizeof(text) - 1

static void assert_frame(struct buf *frame, const char *bytes, size_t len)
{
	assert_false(buf_failed(frame));
	assert_int_equal(frame->len, len);
	assert_memory_equal(frame->data, bytes, len);
	buf_done(frame);
}

/* From the protocol guide: length, API key, version, correlation id, client id. */
#define HEADER(len, api, version) "\0\0\0" len "\0" api "\0" version "\0\0\0\7\0\7kscaled"

static void requests(void **state)
{
	static const char *const topics[] = { "a", "bc" };
	struct kafkamessages_partition_ref refs[] = { { "b", 1 }, { "a", 2 }, { "b", 0 }, { "a", 2 } };
	size_t count = kafkamessages_sort(refs, MEM_COUNT(refs));
	struct buf frame = BUF_INIT(4096);

	(void)state;
	assert_int_equal(count, 3);
	kafkamessages_put_versions(&frame);
	kafkamessages_set_correlation(&frame, 7);
	assert_frame(&frame, BYTES(HEADER("\x11", "\x12", "\0")));
	kafkamessages_put_metadata(&frame, topics, 2);
	kafkamessages_set_correlation(&frame, 7);
	assert_frame(&frame, BYTES(HEADER("\x1d", "\3", "\4") "\0\0\0\2\0\1a\0\2bc\0"));
	kafkamessages_put_coordinator(&frame, "g");
	kafkamessages_set_correlation(&frame, 7);
	assert_frame(&frame, BYTES(HEADER("\x15", "\x0a", "\1") "\0\1g\0"));
	kafkamessages_put_committed(&frame, "g", NULL, 0);
	kafkamessages_set_correlation(&frame, 7);
	assert_frame(&frame, BYTES(HEADER("\x18", "\x09", "\3") "\0\1g\xff\xff\xff\xff"));
	kafkamessages_put_committed(&frame, "g", refs, count);
	kafkamessages_set_correlation(&frame, 7);
	assert_frame(&frame,
		BYTES(HEADER("\x32", "\x09", "\3") "\0\1g\0\0\0\2\0\1a\0\0\0\1\0\0\0\2\0\1b\0\0\0\2\0\0\0\0\0\0\0\1"));
	kafkamessages_put_offsets(&frame, KAFKA_END, refs, 1);
	kafkamessages_set_correlation(&frame, 7);
	assert_frame(&frame,
		BYTES(HEADER("\x2d", "\2",
			"\2") "\xff\xff\xff\xff\0\0\0\0\1\0\1a\0\0\0\1\0\0\0\2\xff\xff\xff\xff\xff\xff\xff\xff"));
	kafkamessages_put_handshake(&frame, "PLAIN");
	kafkamessages_set_correlation(&frame, 7);
	assert_frame(&frame, BYTES(HEADER("\x18", "\x11", "\1") "\0\5PLAIN"));
	kafkamessages_put_authenticate(&frame, "\0u\0p", 4);
	kafkamessages_set_correlation(&frame, 7);
	assert_frame(&frame, BYTES(HEADER("\x19", "\x24", "\0") "\0\0\0\4\0u\0p"));
}

static struct wire reader(const char *bytes, size_t len)
{
	return (struct wire){ (const unsigned char *)bytes, len, false };
}

#define METADATA                                                                                                       \
	"\0\0\0\0"                                                                                                     \
	"\0\0\0\3"                                                                                                     \
	"\0\0\0\1\0\2h1\0\0\x23\x84\xff\xff"                                                                           \
	"\0\0\0\2\0\2h2\0\0\x23\x85\0\1r"                                                                              \
	"\0\0\0\3\0\0\xff\xff\xff\xff\xff\xff"                                                                         \
	"\0\1c\0\0\0\1"                                                                                                \
	"\0\0\0\2"                                                                                                     \
	"\0\0\0\1t\0\0\0\0\2"                                                                                          \
	"\0\0\0\0\0\1\0\0\0\2\0\0\0\1\0\0\0\2\0\0\0\1\0\0\0\2"                                                         \
	"\0\5\0\0\0\0\xff\xff\xff\xff\0\0\0\0\0\0\0\0"                                                                 \
	"\0\3\0\1x\0\0\0\0\0"

static void metadata(void **state)
{
	struct wire r = reader(BYTES(METADATA));
	struct kafkamessages_metadata m;
	struct err err = { 0 };

	(void)state;
	if (kafkamessages_read_metadata(&r, &m, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(r.left, 0);
	/* The third broker has no address for this listener. */
	assert_int_equal(m.broker_count, 2);
	assert_int_equal(m.brokers[1].id, 2);
	assert_string_equal(m.brokers[1].host, "h2");
	assert_int_equal(m.brokers[1].port, 9093);
	assert_int_equal(m.topic_count, 2);
	assert_string_equal(m.topics[0].name, "t");
	assert_int_equal(m.topics[0].count, 2);
	assert_int_equal(m.topics[0].partitions[0].leader, -1);
	assert_int_equal(m.topics[0].partitions[1].leader, 2);
	assert_int_equal(m.topics[1].error, KAFKA_UNKNOWN_TOPIC);
	kafkamessages_metadata_done(&m);
}

/* An answer truncated at any byte is rejected, and nothing is read beyond its end. */
static void truncated_metadata(void **state)
{
	static const char whole[] = METADATA;

	(void)state;
	for (size_t len = 0; len < sizeof(whole) - 1; len++) {
		char *cut = mem_alloc(len + 1);
		struct wire r;
		struct kafkamessages_metadata m;
		struct err err = { 0 };

		memcpy(cut, whole, len);
		r = reader(cut, len);
		assert_int_equal(kafkamessages_read_metadata(&r, &m, &err), -1);
		assert_int_equal(err.kind, ERR_INVALID);
		kafkamessages_metadata_done(&m);
		mem_free_ptr(&cut);
	}
}

static void false_counts(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
	} rows[] = {
		{ BYTES("\0\0\0\0\x7f\xff\xff\xff") },
		{ BYTES("\0\0\0\0\xff\xff\xff\xfe") },
		{ BYTES("\0\0\0\0\0\0\0\0\xff\xff\0\0\0\1\x10\0\0\0") },
		{ BYTES("\0\0\0\0\0\0\0\0\xff\xff\0\0\0\1\0\0\0\1\0\0\0\1t\0\x40\0\0\0") },
		{ BYTES("\0\0\0\0\0\0\0\0\xff\xff\0\0\0\1\0\0\0\1\0\0\xff\xff\0\0\0\0\0") },
		{ BYTES("\0\0\0\0\0\0\0\0\xff\xff\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\0\0\0") },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct wire r = reader(rows[i].bytes, rows[i].len);
		struct kafkamessages_metadata m;
		struct err err = { 0 };

		assert_int_equal(kafkamessages_read_metadata(&r, &m, &err), -1);
		kafkamessages_metadata_done(&m);
	}
}

static void offsets(void **state)
{
	struct wire r = reader(BYTES("\0\0\0\0\0\0\0\2\0\1u\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\5\0\0\0\0\0\1t\0"
				     "\0\0\2\0\0\0\1\xff\xff\xff\xff\xff\xff"
				     "\xff\xff\0\1m\0\0\0\0\0\0\0\0\0\0\0\0\0\x09\xff\xff\0\x10\0\0"));
	struct kafkamessages_offsets o;
	struct err err = { 0 };

	(void)state;
	if (kafkamessages_read_committed(&r, &o, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(o.count, 3);
	assert_string_equal(o.topics[0], "t");
	assert_int_equal(kafkamessages_find(&o, "t", 1)->offset, -1);
	assert_int_equal(kafkamessages_find(&o, "t", 0)->error, KAFKA_NOT_COORDINATOR);
	assert_int_equal(kafkamessages_find(&o, "u", 0)->offset, 5);
	assert_null(kafkamessages_find(&o, "t", 2));
	assert_null(kafkamessages_find(&o, "v", 0));
	kafkamessages_offsets_done(&o);

	r = reader(BYTES("\0\0\0\0\0\0\0\1\0\1t\0\0\0\1\0\0\0\3\0\0\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0\0\0\1\0"));
	assert_int_equal(kafkamessages_read_offsets(&r, &o, &err), 0);
	assert_int_equal(kafkamessages_find(&o, "t", 3)->offset, 256);
	kafkamessages_offsets_done(&o);

	r = reader(BYTES("\0\0\0\0\0\0\0\1\0\1t\x7f\0\0\0\0\0\0\3"));
	assert_int_equal(kafkamessages_read_offsets(&r, &o, &err), -1);
	kafkamessages_offsets_done(&o);
}

#define VERSION(api, least, most) "\0" api "\0" least "\0" most
#define ALL                                                                                                            \
	VERSION("\3", "\0", "\4")                                                                                      \
	VERSION("\x0a", "\0", "\1") VERSION("\x09", "\0", "\3") VERSION("\2", "\0", "\2") VERSION("\x12", "\0", "\1")

static void versions(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		bool sasl;
		const char *error; /* NULL: valid */
	} rows[] = {
		{ BYTES("\0\0\0\0\0\5" ALL), false, NULL },
		{ BYTES("\0\0\0\0\0\5" ALL), true, "does not offer SaslHandshake" },
		{ BYTES("\0\0\0\0\0\6" ALL VERSION("\x11", "\0", "\1")), true, "Kafka 1.0" },
		{ BYTES("\0\0\0\0\0\7" ALL VERSION("\x11", "\0", "\1") VERSION("\x24", "\0", "\0")), true, NULL },
		{ BYTES("\0\0\0\0\0\6" ALL VERSION("\3", "\5", "\x0d")), false, "versions 5 to 13 of Metadata" },
		{ BYTES("\0\0\0\0\0\0"), false, "is it Kafka?" },
		{ BYTES("\0\x23\0\0\0\0"), false, "UNSUPPORTED_VERSION" },
		{ BYTES("HTTP/1.1 400 Bad Request\r\n"), false, "ApiVersions" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct wire r = reader(rows[i].bytes, rows[i].len);
		struct kafkamessages_versions v;
		struct err err = { 0 };
		int rc = kafkamessages_read_versions(&r, &v, &err) ||
			kafkamessages_check_versions(&v, rows[i].sasl, &err);

		if (!rc != !rows[i].error || (rows[i].error && !strstr(err.msg, rows[i].error)))
			fail_msg("%zu: %s", i, err.msg);
	}
}

static void a_coordinator(void **state)
{
	struct wire r = reader(BYTES("\0\0\0\0\0\0\xff\xff\0\0\0\2\0\2h2\0\0\x23\x85"));
	struct kafkamessages_coordinator c;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(kafkamessages_read_coordinator(&r, &c, &err), 0);
	assert_int_equal(c.broker.id, 2);
	assert_string_equal(c.broker.host, "h2");
	kafkamessages_coordinator_done(&c);
	r = reader(BYTES("\0\0\0\0\0\x0f\0\3why\xff\xff\xff\xff\0\0\xff\xff\xff\xff"));
	assert_int_equal(kafkamessages_read_coordinator(&r, &c, &err), 0);
	assert_true(kafkamessages_is_retryable(c.error));
	kafkamessages_coordinator_done(&c);
	/* Neither an error nor a broker: retries would never end. */
	r = reader(BYTES("\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\0\2h2\0\0\x23\x85"));
	assert_int_equal(kafkamessages_read_coordinator(&r, &c, &err), -1);
	kafkamessages_coordinator_done(&c);
	r = reader(BYTES("\0\0\0\0\0\0\xff\xff\0\0\0\2\0\2h\n\0\0\x23\x85"));
	assert_int_equal(kafkamessages_read_coordinator(&r, &c, &err), -1);
	kafkamessages_coordinator_done(&c);
}

static void texts_of_codes(void **state)
{
	char room[32];

	(void)state;
	assert_non_null(strstr(kafkamessages_error(29, room), "DESCRIBE permission on the topic"));
	assert_non_null(strstr(kafkamessages_error(30, room), "DESCRIBE permission on the group"));
	assert_string_equal(kafkamessages_error(999, room), "error 999");
	assert_true(kafkamessages_is_denied(29) && !kafkamessages_is_retryable(29) && !kafkamessages_is_denied(999));
	for (int16_t code = 5; code <= 6; code++)
		assert_true(kafkamessages_is_retryable(code));
	for (int16_t code = 14; code <= 16; code++)
		assert_true(kafkamessages_is_retryable(code));
	assert_true(kafkamessages_is_retryable(9) && !kafkamessages_is_retryable(3) && !kafkamessages_is_retryable(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests),
		cmocka_unit_test(metadata),
		cmocka_unit_test(truncated_metadata),
		cmocka_unit_test(false_counts),
		cmocka_unit_test(offsets),
		cmocka_unit_test(versions),
		cmocka_unit_test(a_coordinator),
		cmocka_unit_test(texts_of_codes),
	};

	return cmocka_run_group_tests_name("net/kafka/kafkamessages", tests, NULL, NULL);
}
