/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "net/redis/redisreply.h"

/* A reply as text: "[:1 $abc -ERR x nil]". */
static void write_reply(const struct redis_reply *reply, struct buf *out)
{
	switch (reply->type) {
	case REDIS_STATUS: buf_printf(out, "+%s", reply->text); break;
	case REDIS_ERROR: buf_printf(out, "-%s", reply->text); break;
	case REDIS_INTEGER: buf_printf(out, ":%lld", (long long)reply->integer); break;
	case REDIS_NIL: buf_puts(out, "nil"); break;
	case REDIS_STRING:
		buf_printf(out, "$%s", reply->text);
		assert_int_equal(reply->text[reply->len], '\0');
		break;
	case REDIS_ARRAY:
		buf_putc(out, '[');
		for (size_t i = 0; i < reply->count; i++) {
			buf_puts(out, i ? " " : "");
			write_reply(reply->elements[i], out);
		}
		buf_putc(out, ']');
		break;
	}
}

/* Feeds in steps and returns all replies as text, or the error. */
static void read_all(const char *bytes, size_t len, size_t step, struct buf *out)
{
	struct redisreply *r = redisreply_new();
	struct redis_reply *reply;
	struct err err = { .kind = ERR_NONE };
	int state = 0;

	for (size_t at = 0; at < len && state >= 0; at += step) {
		size_t n = len - at < step ? len - at : step;

		state = redisreply_feed(r, bytes + at, n, &err);
		while (state >= 0 && (state = redisreply_next(r, &reply, &err)) > 0) {
			buf_puts(out, out->len ? " " : "");
			write_reply(reply, out);
			redis_reply_free(reply);
		}
	}
	if (state < 0) {
		assert_int_equal(err.kind, ERR_TEMPORARY);
		buf_printf(out, "%s! %s", out->len ? " " : "", err.msg);
	}
	redisreply_free(r);
}

static void streams_become_replies(void **state)
{
	static const struct {
		const char *bytes, *replies;
	} rows[] = {
		{ "+OK\r\n", "+OK" }, { ":42\r\n:-7\r\n:0\r\n", ":42 :-7 :0" },
		{ ":9223372036854775807\r\n", ":9223372036854775807" }, { "$5\r\nhello\r\n", "$hello" },
		{ "$0\r\n\r\n", "$" }, { "$7\r\na\r\nb\r\nc\r\n", "$a\r\nb\r\nc" }, { "$-1\r\n*-1\r\n", "nil nil" },
		{ "-WRONGTYPE Operation\r\n", "-WRONGTYPE Operation" }, { "*0\r\n", "[]" },
		{ "*3\r\n:1\r\n$1\r\nx\r\n-ERR no\r\n", "[:1 $x -ERR no]" },
		{ "*2\r\n*1\r\n:1\r\n*2\r\n$-1\r\n+a\r\n:5\r\n", "[[:1] [nil +a]] :5" },
		{ "*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n", "[[[[:1]]]]" },
		{ "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n", "! malformed reply: arrays are nested more than 4 deep" },
		{ "HTTP/1.1 400\r\n", "! malformed reply: Protocol error, got \"H\" as reply type byte" },
		{ "\x15\x03\x03", "! malformed reply: Protocol error, got \"\\x15\" as reply type byte" },
		{ ":12a\r\n", "! malformed reply: Bad integer value" },
		{ ":99999999999999999999\r\n", "! malformed reply: Bad integer value" },
		{ "$-2\r\n", "! malformed reply: Bulk string length out of range" },
		{ "$abc\r\n", "! malformed reply: Bad bulk string length" },
		{ "*200000000\r\n", "! malformed reply: an array of 200000000 elements is too long" },
		{ "*2147483648\r\n", "! malformed reply: Multi-bulk length out of range" },
		{ "*65537\r\n", "! malformed reply: an array of 65537 elements is too long" },
		{ "*2\r\n*60000\r\n", "" }, /* incomplete */
		/* together too many */
		{ "*60000\r\n*60000\r\n", "! malformed reply: an array of 60000 elements is too long" },
		{ ":1\r\n*65537\r\n:2\r\n", ":1 ! malformed reply: an array of 65537 elements is too long" },
		{ "%1\r\n+a\r\n:1\r\n", "! malformed reply: Protocol error, got \"%\" as reply type byte" }, /* RESP3 */
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		for (size_t step = 1; step < 20; step += 6) {
			struct buf out = BUF_INIT((size_t)1 << 20);

			read_all(rows[i].bytes, strlen(rows[i].bytes), step, &out);
			if (strcmp(buf_text(&out), rows[i].replies) != 0)
				fail_msg("row %zu: %s", i, buf_text(&out));
			buf_done(&out);
		}
	}
}

static void memory_is_limited(void **state)
{
	struct buf bytes = BUF_INIT((size_t)64 << 20), out = BUF_INIT((size_t)64 << 20);
	char *megabyte = mem_alloc(1 << 20);

	(void)state;
	memset(megabyte, 'x', 1 << 20);
	/* A megabyte is accepted, one byte more is not. */
	buf_printf(&bytes, "$%d\r\n", 1 << 20);
	buf_append(&bytes, megabyte, 1 << 20);
	buf_puts(&bytes, "\r\n$1048577\r\nx");
	buf_append(&bytes, megabyte, 1 << 20);
	buf_puts(&bytes, "\r\n");
	read_all(bytes.data, bytes.len, 16384, &out);
	assert_int_equal(out.data[0], '$');
	assert_non_null(strstr(out.data, "! malformed reply: a string of 1048577 bytes is too long"));
	/* Strings that are short enough each, but not together. */
	buf_reset(&bytes);
	buf_reset(&out);
	buf_puts(&bytes, "*8\r\n");
	for (int i = 0; i < 8; i++) {
		buf_printf(&bytes, "$%d\r\n", 1 << 20);
		buf_append(&bytes, megabyte, 1 << 20);
		buf_puts(&bytes, "\r\n");
	}
	read_all(bytes.data, bytes.len, 16384, &out);
	assert_string_equal(buf_text(&out), "! malformed reply: a string of 1048576 bytes is too long");
	/* An endless line, and an endless bulk string. */
	buf_reset(&bytes);
	buf_reset(&out);
	buf_puts(&bytes, "+");
	for (int i = 0; i < 8; i++)
		buf_append(&bytes, megabyte, 1 << 20);
	read_all(bytes.data, bytes.len, 16384, &out);
	assert_string_equal(buf_text(&out), "! the reply is longer than 4194304 bytes");
	buf_reset(&bytes);
	buf_reset(&out);
	buf_puts(&bytes, "$2000000000\r\n");
	for (int i = 0; i < 8; i++)
		buf_append(&bytes, megabyte, 1 << 20);
	read_all(bytes.data, bytes.len, 16384, &out);
	assert_string_equal(buf_text(&out), "! the reply is longer than 4194304 bytes");
	mem_free_ptr(&megabyte);
	buf_done(&bytes);
	buf_done(&out);
	redis_reply_free(NULL);
	redisreply_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(streams_become_replies),
		cmocka_unit_test(memory_is_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
