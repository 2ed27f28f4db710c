/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Answers of name servers, byte by byte: the records that are in them, and bytes that are none.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/dns/dnsrecord.h"

#define HEAD(answers)   "\0\1\x81\x80\0\1\0" answers "\0\0\0\0"
#define QUESTION(kind)  "\2_x\4test\0\0" kind "\0\1"
#define SRV             "\x21"
#define TXT             "\x10"
#define OF(kind, ttl)   "\xc0\x0c\0" kind "\0\1\0\0\0" ttl
#define TARGET(text)    "\0\0\0\0\0\x50" text
#define BYTES(literal)  (literal), sizeof(literal) - 1
#define ANSWER(n, kind) HEAD(n) QUESTION(kind)

static const struct row {
	const char *bytes;
	size_t len;
	enum dnsrecord_kind kind;
	const char *first; /* NULL: none */
	size_t count;
	uint16_t port;
	int64_t ttl_s;
} goods[] = {
	{ BYTES(ANSWER("\0", SRV)), DNSRECORD_SRV, NULL, 0, 0, 0 },
	{ BYTES(ANSWER("\1", SRV) OF(SRV, "\x3c") "\0\x0a" TARGET("\2db\0")), DNSRECORD_SRV, "db", 1, 80, 60 },
	/* A name that continues in the question. */
	{ BYTES(ANSWER("\1", SRV) OF(SRV, "\x3c") "\0\x0b" TARGET("\2db\xc0\x0f")), DNSRECORD_SRV, "db.test", 1, 80,
		60 },
	{ BYTES(ANSWER("\2", SRV) OF(SRV, "\x3c") "\0\x0a" TARGET("\2a_\0") OF(SRV, "\5") "\0\x0a" TARGET("\2-B\0")),
		DNSRECORD_SRV, "a_", 2, 80, 5 },
	/* Others are passed over: an alias, another class. */
	{ BYTES(ANSWER("\3", SRV) OF("\5", "\1") "\0\2\xc0\x0f"
						 "\xc0\x0c\0" SRV "\0\3\0\0\0\1\0\x0a" TARGET("\2ch\0")
							 OF(SRV, "\x3c") "\0\x0a" TARGET("\2db\0")),
		DNSRECORD_SRV, "db", 1, 80, 60 },
	{ BYTES(ANSWER("\1", TXT) OF(TXT, "\x3c") "\0\6\1a\0\2=b"), DNSRECORD_TXT, "a=b", 1, 0, 60 },
	{ BYTES(ANSWER("\1", TXT) OF(TXT, "\x3c") "\0\0"), DNSRECORD_TXT, "", 1, 0, 60 },
	{ BYTES(ANSWER("\2", TXT) OF(TXT, "\x3c") "\0\2\1a" OF(TXT, "\x3c") "\0\2\1b"), DNSRECORD_TXT, "a", 2, 0, 60 },
	/* No question, no answer; an invalid time. */
	{ BYTES("\0\1\x81\x80\0\0\0\0\0\0\0\0"), DNSRECORD_SRV, NULL, 0, 0, 0 },
	{ BYTES(ANSWER("\1", TXT) "\xc0\x0c\0" TXT "\0\1\xff\0\0\1\0\2\1a"), DNSRECORD_TXT, "a", 1, 0, 0 },
};

static const struct {
	const char *bytes;
	size_t len;
	enum dnsrecord_kind kind;
} bads[] = {
	{ BYTES(""), DNSRECORD_SRV },
	{ BYTES("\0\1\x81\x80\0\0\0\0\0\0\0"), DNSRECORD_SRV },
	{ BYTES("\0\1\x81\x80\0\0\0\1\0\0\0\0"), DNSRECORD_SRV },
	{ BYTES(HEAD("\1") "\2_x"), DNSRECORD_SRV },
	{ BYTES(HEAD("\0") "\x50"
			   "abc"),
		DNSRECORD_SRV },
	{ BYTES(ANSWER("\2", SRV) OF(SRV, "\1") "\0\x0a" TARGET("\2db\0")), DNSRECORD_SRV }, /* fewer than announced */
	{ BYTES(ANSWER("\1", SRV) OF(SRV, "\1") "\0\x0b" TARGET("\2db\0")), DNSRECORD_SRV }, /* longer than it is */
	{ BYTES(ANSWER("\1", SRV) OF(SRV, "\1") "\0\7" TARGET("\2db\0")), DNSRECORD_SRV },   /* beyond its data */
	{ BYTES(ANSWER("\1", SRV) OF(SRV, "\1") "\0\4" TARGET("\2db\0")), DNSRECORD_SRV },
	{ BYTES(ANSWER("\1", SRV) OF(SRV, "\1") "\0\7" TARGET("\0")), DNSRECORD_SRV }, /* the root: no such service */
	{ BYTES(ANSWER("\1", SRV) OF(SRV, "\1") "\0\x0a\0\0\0\0\0\0\2db\0"), DNSRECORD_SRV },  /* port 0 */
	{ BYTES(ANSWER("\1", SRV) OF(SRV, "\1") "\0\x0a" TARGET("\2d \0")), DNSRECORD_SRV },   /* no name */
	{ BYTES(ANSWER("\1", SRV) OF(SRV, "\1") "\0\x0a" TARGET("\2d.\0")), DNSRECORD_SRV },   /* a dot in a label */
	{ BYTES(ANSWER("\1", SRV) OF(SRV, "\1") "\0\x08" TARGET("\xc0\x2b")), DNSRECORD_SRV }, /* to itself */
	{ BYTES(ANSWER("\1", SRV) OF(SRV, "\1") "\0\x0b" TARGET("\2db\xc0\x2b")), DNSRECORD_SRV }, /* a circle */
	{ BYTES(ANSWER("\1", SRV) OF(SRV, "\1") "\0\x08" TARGET("\xff\xff")), DNSRECORD_SRV },
	{ BYTES(ANSWER("\1", TXT) OF(TXT, "\1") "\0\2\2a"), DNSRECORD_TXT },
	{ BYTES(ANSWER("\1", TXT) OF(TXT, "\1") "\0\3\2a\0"), DNSRECORD_TXT }, /* a NUL in it */
	{ BYTES(ANSWER("\1", TXT) OF(TXT, "\1") "\0\3\2a\n"), DNSRECORD_TXT },
};

static void good(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(goods); i++) {
		const struct row *g = &goods[i];
		struct dnsrecord_list list;
		int64_t ttl_s;
		const char *why = dnsrecord_read((const uint8_t *)g->bytes, g->len, g->kind, &list, &ttl_s);

		if (why || list.count != g->count || ttl_s != g->ttl_s)
			fail_msg("%zu: %s, %zu, %d", i, why ? why : "good", list.count, (int)ttl_s);
		if (g->first) {
			assert_string_equal(list.at[0].text, g->first);
			assert_int_equal(list.at[0].port, g->port);
		}
		dnsrecord_done(&list);
	}
}

/* Each in a block of its exact size, so that a sanitizer detects reads beyond. */
static void bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(bads); i++) {
		uint8_t *exact = mem_alloc(bads[i].len + 1);
		struct dnsrecord_list list;
		int64_t ttl_s;

		memcpy(exact, bads[i].bytes, bads[i].len);
		exact = realloc(exact, bads[i].len > 0 ? bads[i].len : 1);
		if (!dnsrecord_read(exact, bads[i].len, bads[i].kind, &list, &ttl_s))
			fail_msg("%zu was read", i);
		assert_int_equal(list.count, 0);
		assert_null(list.at);
		free(exact);
	}
}

/* An answer of one kind, with as many records of `size` bytes of data, all alike. */
static const char *read_many(const char *kind, unsigned count, const char *data, size_t size,
	struct dnsrecord_list *out)
{
	size_t len = 0;
	uint8_t *answer = mem_alloc(64 + (12 + size) * count);
	int64_t ttl_s;
	const char *why;

	memcpy(answer, ANSWER("\0", SRV), sizeof(ANSWER("\0", SRV)) - 1);
	len = sizeof(ANSWER("\0", SRV)) - 1;
	answer[6] = (uint8_t)(count >> 8);
	answer[7] = (uint8_t)count;
	for (unsigned i = 0; i < count; i++) {
		memcpy(answer + len, "\xc0\x0c\0?\0\1\0\0\0\1", 10);
		answer[len + 3] = (uint8_t)*kind;
		answer[len + 10] = (uint8_t)(size >> 8);
		answer[len + 11] = (uint8_t)size;
		memcpy(answer + len + 12, data, size);
		len += 12 + size;
	}
	why = dnsrecord_read(answer, len, (enum dnsrecord_kind) * kind, out, &ttl_s);
	free(answer);
	return why;
}

static void limits(void **state)
{
	char text[16384];
	struct dnsrecord_list list, copy;

	(void)state;
	assert_null(read_many(SRV, 3000, TARGET("\2db\0"), 10, &list));
	assert_int_equal(list.count, DNSRECORD_MAX);
	dnsrecord_copy(&list, &copy);
	dnsrecord_done(&list);
	assert_string_equal(copy.at[DNSRECORD_MAX - 1].text, "db");
	dnsrecord_done(&copy);
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = i % 256 ? 'a' : '\xff';
	assert_null(read_many(TXT, 1, text, 8192, &list));
	assert_int_equal(strlen(list.at[0].text), 8192 - 8192 / 256);
	dnsrecord_done(&list);
	assert_non_null(read_many(TXT, 1, text, 16384, &list));
	assert_non_null(read_many(TXT, 2, text, 8192, &list)); /* none is left out */
	/* 253 characters are a name, one more is not. */
	memcpy(text, TARGET(""), 6);
	for (size_t i = 0; i < 4; i++) {
		memset(text + 6 + 64 * i, 'a', 64);
		text[6 + 64 * i] = i < 3 ? 63 : 61;
	}
	text[6 + 3 * 64 + 62] = '\0';
	assert_null(read_many(SRV, 1, text, 6 + 3 * 64 + 63, &list));
	assert_int_equal(strlen(list.at[0].text), 253);
	dnsrecord_done(&list);
	text[6 + 3 * 64] = 62;
	text[6 + 3 * 64 + 62] = 'a';
	text[6 + 3 * 64 + 63] = '\0';
	assert_non_null(read_many(SRV, 1, text, 6 + 4 * 64, &list));
	assert_non_null(read_many(SRV, 40, text, 6 + 4 * 64, &list));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(good),
		cmocka_unit_test(bad),
		cmocka_unit_test(limits),
	};

	return cmocka_run_group_tests_name("net/dns/dnsrecord", tests, NULL, NULL);
}
