/* SPDX-License-Identifier: Apache-2.0 */
/* Frames and methods of AMQP 0-9-1, byte by byte as in the specification. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/amqp/amqpframe.h"

#define BYTES(text) (text), sizeof(text) - 1

/* ---- Reading ---- */

static void frames_are_read_one_by_one(void **state)
{
	static const char two[] = "\x08\0\0\0\0\0\0\xce" /* a heartbeat */
				  "\x01\0\x03\0\0\0\x05"
				  "hello"
				  "\xce"; /* channel 3 */
	struct amqpframe f;
	struct err err;

	(void)state;
	assert_int_equal(amqpframe_next(BYTES(two), true, &f, &err), 1);
	assert_int_equal(f.type, AMQPFRAME_HEARTBEAT);
	assert_int_equal(f.whole, 8);
	for (size_t len = 0; len < 13; len++)
		assert_int_equal(amqpframe_next(two + 8, len, false, &f, &err), 0);
	assert_int_equal(amqpframe_next(two + 8, 13, false, &f, &err), 1);
	assert_int_equal(f.type, AMQPFRAME_METHOD);
	assert_int_equal(f.channel, 3);
	assert_memory_equal(f.payload, "hello", 5);
	assert_int_equal(f.len, 5);
	assert_int_equal(f.whole, 13);
}

static void non_frames_are_explained(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		bool first;
		const char *message;
	} rows[] = {
		{ BYTES("HTTP/1.1 400 Bad Request"), true, "the server speaks HTTP, not AMQP 0-9-1" },
		{ BYTES("AMQP\0\1\0\0"), true, "another version of AMQP than 0-9-1" },
		{ BYTES("\x15\x03\x03\0\2\2\x46"), true, "the server speaks TLS here (write amqps://)" },
		{ BYTES("-ERR unknown"), true, "the server does not speak AMQP 0-9-1" },
		{ BYTES("\x02\0\0\0\0\0\0\xce"), false, "something other than an AMQP frame" },
		{ BYTES("\x01\0\0\0\0\0\1x\xcd"), false, "something other than an AMQP frame" },
		{ BYTES("\x01\0\0\0\0\x1f\xf9"), false, "a frame of 8185 bytes, which is more than 8192" },
		{ BYTES("\x01\0\0\xff\xff\xff\xff"), false, "a frame of 4294967295 bytes" },
	};
	struct amqpframe f;
	struct err err;

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		assert_int_equal(amqpframe_next(rows[i].bytes, rows[i].len, rows[i].first, &f, &err), -1);
		assert_int_equal(err.kind, ERR_TEMPORARY);
		if (!strstr(err.msg, rows[i].message))
			fail_msg("row %zu: %s", i, err.msg);
	}
	/* "HTT" alone is undecided. */
	assert_int_equal(amqpframe_next("HTT", 3, true, &f, &err), 0);
}

static struct amqpmethod read_good(const char *payload, size_t len)
{
	const struct amqpframe f = { AMQPFRAME_METHOD, 1, (const unsigned char *)payload, len, len + AMQPFRAME_AROUND };
	struct amqpmethod m;
	struct err err;

	if (amqpframe_read(&f, &m, &err))
		fail_msg("%s", err.msg);
	/* Shorter input is incomplete, and bytes behind the frame are ignored. */
	for (size_t less = 0; less < len; less++) {
		char *copy = mem_dupn(payload, less);
		const struct amqpframe cut = { AMQPFRAME_METHOD, 1, (unsigned char *)copy, less, 0 };
		struct amqpmethod other;

		assert_int_equal(amqpframe_read(&cut, &other, &err), -1);
		free(copy);
	}
	return m;
}

static void methods_are_read(void **state)
{
	struct amqpmethod m;

	(void)state;
	m = read_good(BYTES("\0\x0a\0\x0a\0\x09\0\0\0\5"
			    "table"
			    "\0\0\0\x0e"
			    "AMQPLAIN PLAIN"));
	assert_int_equal(m.id, AMQPFRAME_START);
	assert_int_equal(m.major * 10 + m.minor, 9);
	assert_true(m.plain && !m.external);
	m = read_good(BYTES("\0\x0a\0\x0a\0\x09\0\0\0\0\0\0\0\x12"
			    "EXTERNAL PLAINTEXT"));
	assert_true(m.external && !m.plain);
	m = read_good(BYTES("\0\x0a\0\x1e\7\xff\0\2\0\0\0\x3c"));
	assert_int_equal(m.id, AMQPFRAME_TUNE);
	assert_int_equal(m.channel_max, 2047);
	assert_int_equal(m.frame_max, 131072);
	assert_int_equal(m.beat_s, 60);
	m = read_good(BYTES("\0\x0a\0\x32\1\x40\4gone"));
	assert_int_equal(m.id, AMQPFRAME_CLOSE);
	assert_int_equal(m.code, 320);
	assert_string_equal(m.text, "gone");
	m = read_good(BYTES("\0\x14\0\x28\1\x94\0"));
	assert_int_equal(m.id, AMQPFRAME_CHANNEL_CLOSE);
	assert_int_equal(m.code, 404);
	m = read_good(BYTES("\0\x32\0\x0b\4jobs\1\2\3\4\0\0\0\2"));
	assert_int_equal(m.id, AMQPFRAME_DECLARE_OK);
	assert_string_equal(m.text, "jobs");
	assert_int_equal(m.messages, 0x01020304);
	assert_int_equal(m.consumers, 2);
}

/* ---- Writing ---- */

/* Asserts that the frame written has this channel and payload. */
static void assert_frame(struct buf *b, unsigned type, unsigned channel, const char *payload, size_t len)
{
	assert_false(buf_failed(b));
	assert_int_equal(b->len, len + 8);
	assert_int_equal((unsigned char)b->data[0], type);
	assert_int_equal((unsigned char)b->data[1] << 8 | (unsigned char)b->data[2], channel);
	assert_int_equal((unsigned char)b->data[5] << 8 | (unsigned char)b->data[6], len);
	assert_memory_equal(b->data + 7, payload, len);
	assert_int_equal((unsigned char)b->data[7 + len], 0xce);
	buf_done_secret(b);
}

#define PROPERTIES                                                                                                     \
	"\0\0\0\x66"                                                                                                   \
	"\7product"                                                                                                    \
	"S\0\0\0\7kscaled"                                                                                             \
	"\x0f"                                                                                                         \
	"connection_name"                                                                                              \
	"S\0\0\0\x0c"                                                                                                  \
	"kscaled-shop"                                                                                                 \
	"\x0c"                                                                                                         \
	"capabilities"                                                                                                 \
	"F\0\0\0\x1f"                                                                                                  \
	"\x1c"                                                                                                         \
	"authentication_failure_close"                                                                                 \
	"t\1"

static void frames_are_written(void **state)
{
	struct buf b = BUF_INIT(4096);

	(void)state;
	amqpframe_put_start_ok(&b, "kscaled-shop", "me", "s3:t");
	assert_frame(&b, 1, 0,
		BYTES("\0\x0a\0\x0b" PROPERTIES "\5PLAIN"
		      "\0\0\0\x08"
		      "\0me\0s3:t"
		      "\5en_US"));
	amqpframe_put_start_ok(&b, "kscaled-shop", NULL, NULL);
	assert_frame(&b, 1, 0,
		BYTES("\0\x0a\0\x0b" PROPERTIES "\x08"
		      "EXTERNAL"
		      "\0\0\0\0"
		      "\5en_US"));
	amqpframe_put_tune_ok(&b, 8, 8192, 30);
	assert_frame(&b, 1, 0, BYTES("\0\x0a\0\x1f\0\x08\0\0\x20\0\0\x1e"));
	amqpframe_put_open(&b, "shop/x");
	assert_frame(&b, 1, 0, BYTES("\0\x0a\0\x28\6shop/x\0\0"));
	amqpframe_put_close(&b);
	assert_frame(&b, 1, 0, BYTES("\0\x0a\0\x32\0\xc8\4done\0\0\0\0"));
	amqpframe_put_channel_open(&b, 3);
	assert_frame(&b, 1, 3, BYTES("\0\x14\0\x0a\0"));
	amqpframe_put_channel_close_ok(&b, 259);
	assert_frame(&b, 1, 259, BYTES("\0\x14\0\x29"));
	amqpframe_put_declare(&b, 2, "jobs");
	assert_frame(&b, 1, 2, BYTES("\0\x32\0\x0a\0\0\4jobs\1\0\0\0\0"));
	amqpframe_put_heartbeat(&b);
	assert_frame(&b, 8, 0, BYTES(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_read_one_by_one),
		cmocka_unit_test(non_frames_are_explained),
		cmocka_unit_test(methods_are_read),
		cmocka_unit_test(frames_are_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
