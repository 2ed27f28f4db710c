/* SPDX-License-Identifier: Apache-2.0 */
/* Encoding and decoding of etcd's messages, as etcd 3.6 sends them, and malformed ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "scalers/etcd/etcdmessages.h"

/* A literal's bytes, without its NUL. */
#define BYTES(text) (text), sizeof(text) - 1

static void expect_bytes(struct buf *got, const char *bytes, size_t len)
{
	assert_int_equal(got->len, len);
	assert_memory_equal(got->data, bytes, len);
	buf_done(got);
}

static void requests_are_encoded(void **state)
{
	struct buf out = BUF_INIT(4096);

	(void)state;
	etcdmessages_put_range(&out, "jobs");
	expect_bytes(&out, BYTES("\x0a\x04jobs"));
	etcdmessages_put_login(&out, "me", "p\xc3\xa4ss");
	expect_bytes(&out, BYTES("\x0a\x02me\x12\x05p\xc3\xa4ss"));
	etcdmessages_put_watch(&out, "ok");
	expect_bytes(&out, BYTES("\x0a\x06\x0a\x02ok\x20\x01"));
}

/* header {1: cluster, 2: member, 3: revision 3, 4: term 2} */
#define HEADER "\x0a\x06\x08\x05\x10\x07\x18\x03"
/* kvs {1: "k", 2: 2, 3: 3, 4: 1, 5: ...} */
#define KV(len, value) "\x12" len "\x0a\x01k\x10\x02\x18\x03\x20\x01\x2a" value

static const struct {
	const char *bytes;
	size_t len;
	double value;
	enum err_kind kind;
	const char *says;
} ranges[] = {
	{ BYTES(HEADER KV("\x0d",
		  "\x02"
		  "12") "\x20\x01"),
		12, ERR_NONE, "" },
	{ BYTES(KV("\x0f",
		  "\x04"
		  "-2.5")),
		-2.5, ERR_NONE, "" },
	{ BYTES(KV("\x0e",
		  "\x03"
		  "1e3")),
		1000, ERR_NONE, "" },
	{ BYTES(HEADER), 0, ERR_MISSING, "watchKey k doesn't exist" },
	{ BYTES(""), 0, ERR_MISSING, "watchKey k doesn't exist" },
	{ BYTES(KV("\x0e",
		  "\x03"
		  "500") KV("\x0e",
		  "\x03"
		  "500")),
		0, ERR_INVALID, "the answer has 2 keys" },
	{ BYTES(KV("\x0f",
		  "\x04"
		  "500m")),
		0, ERR_INVALID, "the value of watchKey k (4 bytes) must be a number such as 5 or 1.5" },
	{ BYTES(KV("\x0e",
		  "\x03"
		  "nan")),
		0, ERR_INVALID, "must be a number" },
	{ BYTES(KV("\x0d",
		  "\x02"
		  "5\0")),
		0, ERR_INVALID, "watchKey k (2 bytes)" },
	{ BYTES("\x12\x00"), 0, ERR_INVALID, "watchKey k (0 bytes)" },
	{ BYTES("\x12\x09\x0a\x01k"), 0, ERR_INVALID, "not a valid RangeResponse" },
	{ BYTES("\xff\xff"), 0, ERR_INVALID, "not a valid RangeResponse" },
};

static void numbers(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(ranges); i++) {
		struct err err = { 0 };
		double value = 0;
		int rc = etcdmessages_get_number(ranges[i].bytes, ranges[i].len, "k", &value, &err);

		if (rc != (ranges[i].kind ? -1 : 0) || err.kind != ranges[i].kind || !strstr(err.msg, ranges[i].says))
			fail_msg("range %zu: %d, \"%s\"", i, rc, err.msg);
		assert_true(rc || value == ranges[i].value);
	}
}

static void tokens(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *token; /* NULL: an error */
	} answers[] = {
		{ BYTES(HEADER "\x12\x07"
			       "abcd.12"),
			"abcd.12" },
		{ BYTES(HEADER), NULL },
		{ BYTES("\x12\x03"
			"a b"),
			NULL },
		{ BYTES("\x12\x03"
			"a\r\n"),
			NULL },
		{ BYTES("\x12\x02\xc3\xa4"), NULL },
		{ BYTES("\x12\x09"
			"a"),
			NULL },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(answers); i++) {
		struct err err = { 0 };
		char *token = NULL;
		int rc = etcdmessages_get_token(answers[i].bytes, answers[i].len, &token, &err);

		assert_int_equal(rc, answers[i].token ? 0 : -1);
		if (answers[i].token)
			assert_string_equal(token, answers[i].token);
		else
			assert_int_equal(err.kind, ERR_INVALID);
		mem_free_secret(token);
	}
}

static void watch_messages(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		int news; /* -1: canceled or malformed */
		enum err_kind kind;
		const char *says;
	} answers[] = {
		{ BYTES(HEADER "\x18\x01"), ETCDMESSAGES_CREATED, ERR_NONE, "" },
		{ BYTES(HEADER), ETCDMESSAGES_ALIVE, ERR_NONE, "" },
		{ BYTES(HEADER "\x5a\x05\x08\x01\x12\x01k"), ETCDMESSAGES_CHANGED, ERR_NONE, "" },
		{ BYTES("\x5a\x00\x5a\x00"), ETCDMESSAGES_CHANGED, ERR_NONE, "" },
		{ BYTES("\x20\x01"), -1, ERR_TEMPORARY, "the watch was canceled" },
		{ BYTES("\x20\x01\x28\x09"), -1, ERR_TEMPORARY, "its revision has been compacted" },
		{ BYTES("\x28\x09"), -1, ERR_TEMPORARY, "its revision has been compacted" },
		{ BYTES("\x18\x01\x20\x01\x32\x0e"
			"no\nleader here"),
			-1, ERR_TEMPORARY, "canceled: no leader here" },
		{ BYTES("\x18\x01\x20\x01\x32\x11"
			"permission denied"),
			-1, ERR_DENIED, "canceled: permission denied" },
		{ BYTES("\x18"), -1, ERR_INVALID, "not a valid WatchResponse" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(answers); i++) {
		struct err err = { 0 };
		enum etcdmessages_news got = ETCDMESSAGES_ALIVE;
		int rc = etcdmessages_get_news(answers[i].bytes, answers[i].len, &got, &err);

		if (rc != (answers[i].news < 0 ? -1 : 0) || err.kind != answers[i].kind ||
			!strstr(err.msg, answers[i].says))
			fail_msg("news %zu: %d, \"%s\"", i, rc, err.msg);
		assert_true(rc || (int)got == answers[i].news);
	}
}

/* Each takes two bytes in the message, and much more in memory. */
static void memory_is_limited(void **state)
{
	size_t len = (size_t)2 << 20;
	char *bytes = mem_zalloc(len);
	enum etcdmessages_news got;
	struct err err = { 0 };

	(void)state;
	for (size_t i = 0; i < len; i += 2)
		bytes[i] = 0x5a;
	assert_int_equal(etcdmessages_get_news(bytes, len, &got, &err), -1);
	assert_non_null(strstr(err.msg, "not a valid WatchResponse, or is too large"));
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_are_encoded),
		cmocka_unit_test(numbers),
		cmocka_unit_test(tokens),
		cmocka_unit_test(watch_messages),
		cmocka_unit_test(memory_is_limited),
	};

	return cmocka_run_group_tests_name("scalers/etcd/etcdmessages", tests, NULL, NULL);
}
