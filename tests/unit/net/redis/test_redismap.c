/* SPDX-License-Identifier: Apache-2.0 */

/* Slots of keys, the answer to CLUSTER SLOTS, MOVED and ASK. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/redis/redismap.h"
#include "net/redis/redisreply.h"

/* Slots as computed by redis-cli's `cluster keyslot`. */
static void slots_of_keys(void **state)
{
	static const struct {
		const char *key;
		unsigned slot;
	} rows[] = {
		{ "", 0 },
		{ "foo", 12182 },
		{ "bar", 5061 },
		{ "123456789", 12739 },
		{ "{user1000}.following", 3443 },
		{ "{user1000}.followers", 3443 },
		{ "user1000", 3443 },
		{ "foo{}{bar}", 8363 },
		{ "foo{{bar}}zap", 4015 },
		{ "{bar", 4015 },
		{ "foo{bar}{zap}", 5061 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (redismap_slot(rows[i].key, strlen(rows[i].key)) != rows[i].slot)
			fail_msg("%s: %u", rows[i].key, redismap_slot(rows[i].key, strlen(rows[i].key)));
	}
	assert_int_equal(redismap_slot("a{b}c", 3), redismap_slot("a{b", 3)); /* no further than len */
}

static struct redis_reply *parse(const char *bytes)
{
	struct redisreply *r = redisreply_new();
	struct redis_reply *reply = NULL;
	struct err err = { 0 };

	assert_int_equal(redisreply_feed(r, bytes, strlen(bytes), &err), 0);
	if (redisreply_next(r, &reply, &err) != 1)
		fail_msg("%s: %s", bytes, err.msg);
	redisreply_free(r);
	return reply;
}

#define RANGE(first, last, node) "*3\r\n:" first "\r\n:" last "\r\n" node
#define NODE(host, port)         "*3\r\n" host ":" port "\r\n$2\r\nid\r\n"
#define A                        "$8\r\n10.0.0.1\r\n"

static void slots_are_read(void **state)
{
	static const struct {
		const char *bytes, *from;
		unsigned slot;
		const char *address; /* NULL: unassigned */
	} rows[] = {
		{ "*1\r\n" RANGE("0", "16383", NODE(A, "7000")), "x:1", 5, "10.0.0.1:7000" },
		{ "*2\r\n" RANGE("100", "200", NODE(A, "7001")) RANGE("0", "99", NODE(A, "7000")), "x:1", 99,
			"10.0.0.1:7000" },
		{ "*2\r\n" RANGE("100", "200", NODE(A, "7001")) RANGE("0", "99", NODE(A, "7000")), "x:1", 100,
			"10.0.0.1:7001" },
		{ "*2\r\n" RANGE("100", "200", NODE(A, "7001")) RANGE("0", "99", NODE(A, "7000")), "x:1", 201, NULL },
		{ "*1\r\n" RANGE("0", "16383", NODE("$-1\r\n", "7000")), "seed.example:1", 5, "seed.example:7000" },
		{ "*1\r\n" RANGE("0", "16383", NODE("$0\r\n\r\n", "7000")), "[::1]:1", 5, "[::1]:7000" },
		{ "*1\r\n" RANGE("0", "16383", NODE("$1\r\n?\r\n", "7000")), "seed:1", 5, "seed:7000" },
		{ "*1\r\n" RANGE("0", "16383", "*4\r\n$1\r\n?\r\n:7000\r\n$2\r\nid\r\n*2\r\n$2\r\nip\r\n" A), "seed:1",
			5, "10.0.0.1:7000" },
		{ "*1\r\n" RANGE("0", "16383", "*4\r\n$1\r\nh\r\n:7000\r\n$2\r\nid\r\n*2\r\n$2\r\nip\r\n" A), "seed:1",
			5, "h:7000" },
		{ "*1\r\n" RANGE("0", "16383", NODE("$9\r\n127.0.0.1\r\n", "7000")), "seed:1", 5, "seed:7000" },
		{ "*1\r\n" RANGE("0", "16383", NODE("$9\r\n127.0.0.1\r\n", "7000")), "localhost:1", 5,
			"127.0.0.1:7000" },
		{ "*1\r\n" RANGE("0", "16383", NODE("$7\r\nfd00::1\r\n", "7000")), "x:1", 5, "[fd00::1]:7000" },
		{ "*1\r\n" RANGE("0", "16383", NODE("$-1\r\n", "7000")), "/run/redis.sock", 5, "127.0.0.1:7000" },
		/* Unreachable servers have no slots. */
		{ "*2\r\n" RANGE("0", "9", NODE(A, "0")) RANGE("10", "16383", NODE(A, "7000")), "x:1", 5, NULL },
		{ "*2\r\n" RANGE("0", "9", NODE("$3\r\na b\r\n", "1")) RANGE("10", "16383", NODE(A, "7000")), "x:1", 5,
			NULL },
		{ "*2\r\n*2\r\n:0\r\n:9\r\n" RANGE("10", "16383", NODE(A, "7000")), "x:1", 5, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct redis_reply *reply = parse(rows[i].bytes);
		struct redismap map = { 0 };
		struct err err = { 0 };
		const char *found;

		if (redismap_read_slots(&map, reply, rows[i].from, &err))
			fail_msg("row %zu: %s", i, err.msg);
		found = redismap_find(&map, rows[i].slot);
		if (rows[i].address ? !found || strcmp(found, rows[i].address) != 0 : found != NULL)
			fail_msg("row %zu: %s", i, found ? found : "nobody");
		redismap_done(&map);
		redis_reply_free(reply);
	}
}

static void nonsense_is_refused(void **state)
{
	static const struct {
		const char *bytes, *why;
	} rows[] = {
		{ ":1\r\n", "not a list" },
		{ "*0\r\n", "no slots assigned" },
		{ "*1\r\n:1\r\n", "not a range" },
		{ "*1\r\n*1\r\n:1\r\n", "not a range" },
		{ "*1\r\n" RANGE("5", "4", NODE(A, "1")), "slots 5 to 4" },
		{ "*1\r\n" RANGE("-1", "4", NODE(A, "1")), "slots -1 to 4" },
		{ "*1\r\n" RANGE("0", "16384", NODE(A, "1")), "slots 0 to 16384" },
		{ "*2\r\n" RANGE("0", "9", NODE(A, "1")) RANGE("9", "12", NODE(A, "2")), "slot 9 has two masters" },
		{ "*1\r\n" RANGE("0", "9", NODE(A, "0")), "no server with a host and a port" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct redis_reply *reply = parse(rows[i].bytes);
		struct redismap map = { 0 };
		struct err err = { 0 };

		assert_int_equal(redismap_read_slots(&map, reply, "x:1", &err), -1);
		assert_int_equal(err.kind, ERR_TEMPORARY);
		if (!strstr(err.msg, rows[i].why))
			fail_msg("row %zu: %s", i, err.msg);
		assert_null(map.addresses);
		redis_reply_free(reply);
	}
}

static void redirects_are_read(void **state)
{
	static const struct {
		const char *text, *from;
		enum redismap_redirect kind;
		const char *address;
	} rows[] = {
		{ "MOVED 3999 10.0.0.1:6381", "x:1", REDISMAP_MOVED, "10.0.0.1:6381" },
		{ "ASK 3999 h.example:6381", "x:1", REDISMAP_ASK, "h.example:6381" },
		{ "MOVED 3999 :6381", "x:1", REDISMAP_MOVED, "x:6381" },
		{ "MOVED 3999 ?:6381", "x:1", REDISMAP_MOVED, "x:6381" },
		{ "MOVED 3999 fd00::1:6381", "x:1", REDISMAP_MOVED, "[fd00::1]:6381" },
		{ "MOVED 3999 127.0.0.1:6381", "x:1", REDISMAP_MOVED, "x:6381" },
		{ "MOVED 3999", "x:1", REDISMAP_MOVED, NULL },
		{ "MOVED 3999 h", "x:1", REDISMAP_MOVED, NULL },
		{ "MOVED 3999 h:0", "x:1", REDISMAP_MOVED, NULL },
		{ "MOVED 3999 h:99999", "x:1", REDISMAP_MOVED, NULL },
		{ "MOVED 3999 h:1x", "x:1", REDISMAP_MOVED, NULL },
		{ "MOVED 3999 /run/x:1", "x:1", REDISMAP_MOVED, NULL },
		{ "ERR MOVED 1 h:1", "x:1", REDISMAP_STAY, NULL },
		{ "ASKING", "x:1", REDISMAP_STAY, NULL },
		{ "", "x:1", REDISMAP_STAY, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		MEM_AUTO char *address = NULL;

		assert_int_equal(redismap_read_redirect(rows[i].text, rows[i].from, &address), rows[i].kind);
		if (rows[i].address ? !address || strcmp(address, rows[i].address) != 0 : address != NULL)
			fail_msg("%s: %s", rows[i].text, address ? address : "nowhere");
	}
}

static void one_server_has_all_slots(void **state)
{
	struct redismap map = { 0 };

	(void)state;
	redismap_whole(&map, "h:1");
	assert_string_equal(redismap_find(&map, 0), "h:1");
	assert_string_equal(redismap_find(&map, REDISMAP_SLOTS - 1), "h:1");
	redismap_done(&map);
	assert_null(redismap_find(&map, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_of_keys),
		cmocka_unit_test(slots_are_read),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(redirects_are_read),
		cmocka_unit_test(one_server_has_all_slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
