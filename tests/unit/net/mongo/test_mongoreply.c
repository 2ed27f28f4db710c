/* SPDX-License-Identifier: Apache-2.0 */

/* A server's documents, valid and invalid. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "mongotext.h"
#include "net/mongo/mongoreply.h"

/* ---- Success or error ---- */

static void refusals(void **state)
{
	static const struct {
		const char *text;
		enum err_kind kind;
		const char *message;
	} rows[] = {
		{ "{\"ok\": 0.0, \"code\": 18, \"codeName\": \"AuthenticationFailed\", \"errmsg\": \"Authentication "
		  "failed.\"}",
			ERR_DENIED, "counting: Authentication failed. (AuthenticationFailed, 18)" },
		{ "{\"ok\": 0, \"code\": 2, \"errmsg\": \"unknown operator: $foo\"}", ERR_INVALID,
			"counting: unknown operator: $foo (code 2)" },
		{ "{\"ok\": 0, \"code\": {\"$numberLong\": \"50\"}, \"errmsg\": \"operation exceeded time limit\"}",
			ERR_TEMPORARY, "counting: operation exceeded time limit (code 50)" },
		{ "{\"ok\": false, \"errmsg\": \"a\\tb\\u007f\"}", ERR_TEMPORARY, "counting: a b " },
		{ "{\"ok\": 0}", ERR_TEMPORARY, "counting: refused" },
		{ "{\"ok\": 0, \"errmsg\": \"\", \"code\": -1}", ERR_TEMPORARY, "counting: refused" },
		{ "{\"ok\": 0, \"errmsg\": \"no s3cret for you\"}", ERR_TEMPORARY,
			"counting: the server's words repeat the password, so they are not shown" },
		{ "{\"ok\": 0, \"code\": 1, \"codeName\": \"s3cret\"}", ERR_INVALID,
			"counting: the server's words repeat the password, so they are not shown" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct mongofilter made = mongotext_make(rows[i].text);
		struct mongoreply_status s;
		struct err err = { 0 };

		assert_int_equal(mongoreply_status(mongotext_document(&made), &s, &err), 0);
		assert_false(s.ok);
		assert_int_equal(mongoreply_refused(&s, "counting", "s3cret", &err), -1);
		assert_string_equal(err.msg, rows[i].message);
		assert_int_equal(err.kind, rows[i].kind);
		mongofilter_done(&made);
	}
}

/* An answer with more than 1,000 fields is refused. */
static void fields_are_limited(void **state)
{
	static const size_t counts[] = { 999, 1000 };

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(counts); i++) {
		struct buf text = BUF_INIT(1 << 16);
		struct mongofilter made;
		struct mongoreply_status s;
		struct err err = { 0 };

		buf_puts(&text, "{\"ok\": 1");
		for (size_t field = 0; field < counts[i]; field++)
			buf_printf(&text, ", \"f%zu\": null", field);
		buf_puts(&text, "}");
		made = mongotext_make(buf_text(&text));
		assert_int_equal(mongoreply_status(mongotext_document(&made), &s, &err), i == 0 ? 0 : -1);
		mongofilter_done(&made);
		buf_done(&text);
	}
}

static void codes_to_retry_elsewhere(void **state)
{
	static const struct {
		const char *text;
		bool elsewhere;
	} rows[] = {
		{ "{\"ok\": 1, \"code\": 10107}", false },
		{ "{\"ok\": 0, \"code\": 10107}", true },
		{ "{\"ok\": 0, \"code\": 13435}", true },
		{ "{\"ok\": 0, \"code\": 91}", true },
		{ "{\"ok\": 0, \"code\": 6}", true }, /* from a router, during a shard's election */
		{ "{\"ok\": 0, \"code\": 9001}", true },
		{ "{\"ok\": 0, \"code\": 2}", false },
		{ "{\"ok\": 0, \"code\": 50}", false },
		{ "{\"ok\": 0}", false },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct mongofilter made = mongotext_make(rows[i].text);
		struct mongoreply_status s;
		struct err err = { 0 };

		assert_int_equal(mongoreply_status(mongotext_document(&made), &s, &err), 0);
		assert_int_equal(mongoreply_is_elsewhere(&s), rows[i].elsewhere);
		mongofilter_done(&made);
	}
}

/* ---- The server's role ---- */

static void greetings(void **state)
{
	struct mongofilter made = mongotext_make(
		"{\"ismaster\": false, \"secondary\": true, \"setName\": \"rs0\", \"primary\": \"b:2\", \"hosts\": "
		"[\"a:1\", "
		"\"b:2\", 3, \"\", \"c\"], \"passives\": [\"d:4\"], \"arbiters\": [\"e:5\"], \"maxWireVersion\": 21, "
		"\"saslSupportedMechs\": [\"SCRAM-SHA-1\", null, \"SCRAM-SHA-256\"], \"ok\": 1}");
	static const char *const members[] = { "b:2", "a:1", "c", "d:4" };
	struct mongoreply_hello h;

	(void)state;
	mongoreply_hello(mongotext_document(&made), &h);
	assert_true(h.is_secondary && !h.is_primary && !h.is_router && !h.is_unready && h.sha1 && h.sha256);
	assert_string_equal(h.set, "rs0");
	assert_int_equal(h.newest, 21);
	assert_int_equal(h.count, MEM_COUNT(members));
	for (size_t i = 0; i < h.count; i++)
		assert_string_equal(h.members[i], members[i]);
	mongoreply_hello_done(&h);
	mongofilter_done(&made);

	made = mongotext_make("{\"isWritablePrimary\": true, \"msg\": \"isdbgrid\", \"maxWireVersion\": 6}");
	mongoreply_hello(mongotext_document(&made), &h);
	assert_true(h.is_primary && h.is_router && !h.set && h.count == 0 && !h.sha1 && !h.sha256);
	mongofilter_done(&made);
	mongoreply_hello_done(&h);
}

/* At most as many members as a set may have, however many a server names. */
static void members_are_limited(void **state)
{
	struct buf text = BUF_INIT(1 << 16);
	struct mongofilter made;
	struct mongoreply_hello h;

	(void)state;
	buf_puts(&text, "{\"setName\": \"rs0\", \"hosts\": [\"h\"");
	for (int i = 0; i < 1000; i++)
		buf_printf(&text, ", \"h%d:1\"", i);
	buf_printf(&text, "], \"passives\": [\"%0400d\", \"p:1\"]}", 1);
	made = mongotext_make(buf_text(&text));
	mongoreply_hello(mongotext_document(&made), &h);
	assert_int_equal(h.count, MONGOREPLY_MEMBERS_MAX);
	mongoreply_hello_done(&h);
	mongofilter_done(&made);
	buf_done(&text);
}

/* ---- A count ---- */

static void counts(void **state)
{
	static const struct {
		const char *text;
		double count; /* -1: refused */
	} rows[] = {
		{ "{\"cursor\": {\"firstBatch\": [{\"_id\": 1, \"n\": 7}], \"id\": {\"$numberLong\": \"0\"}}, \"ok\": "
		  "1}",
			7 },
		{ "{\"cursor\": {\"firstBatch\": [{\"_id\": 1, \"n\": {\"$numberLong\": \"5000000000\"}}]}}", 5e9 },
		{ "{\"cursor\": {\"firstBatch\": [{\"n\": 3.0}, {\"n\": 4}]}}", 3 },
		{ "{\"cursor\": {\"firstBatch\": [], \"id\": {\"$numberLong\": \"0\"}}}", 0 },
		{ "{\"cursor\": {\"firstBatch\": []}}", 0 },
		{ "{\"cursor\": {\"firstBatch\": [], \"id\": {\"$numberLong\": \"5\"}}}", -1 },
		{ "{\"cursor\": {\"firstBatch\": [{\"_id\": 1}]}}", -1 },
		{ "{\"cursor\": {\"firstBatch\": [{\"n\": \"7\"}]}}", -1 },
		{ "{\"cursor\": {\"firstBatch\": [{\"n\": -1}]}}", -1 },
		{ "{\"cursor\": {\"firstBatch\": [{\"n\": {\"$numberDouble\": \"NaN\"}}]}}", -1 },
		{ "{\"cursor\": {\"firstBatch\": [{\"n\": {\"$numberDouble\": \"Infinity\"}}]}}", -1 },
		{ "{\"cursor\": {\"firstBatch\": [7]}}", -1 },
		{ "{\"cursor\": {\"firstBatch\": {\"n\": 7}}}", -1 },
		{ "{\"cursor\": {\"nextBatch\": []}}", -1 },
		{ "{\"cursor\": 1}", -1 },
		{ "{\"ok\": 1}", -1 },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct mongofilter made = mongotext_make(rows[i].text);
		struct err err = { 0 };
		double count = -1;
		int rc = mongoreply_count(mongotext_document(&made), &count, &err);

		if ((rc == 0) != (rows[i].count >= 0) || (rc == 0 && count != rows[i].count))
			fail_msg("%s: %g %s", rows[i].text, count, err.msg);
		mongofilter_done(&made);
	}
}

/* Documents that are truncated, malformed, or rejected by libbson. */
static void broken(void **state)
{
	struct mongofilter made = mongotext_make(
		"{\"cursor\": {\"firstBatch\": [{\"_id\": 1, \"n\": 7}]}, \"setName\": \"x\", \"hosts\": "
		"[\"a\"], \"payload\": {\"$binary\": {\"base64\": \"AQID\", \"subType\": \"00\"}}, \"ok\": 1}");

	(void)state;
	for (size_t len = 0; len <= made.len; len++) {
		for (size_t at = 0; at < len; at++) {
			uint8_t *bytes = mem_alloc(len + 1); /* allocated exactly, so that reading beyond is detected */
			struct mongowire_document d = { bytes, len };
			struct mongoreply_status status;
			struct mongoreply_hello hello;
			struct mongoreply_sasl sasl;
			struct err err = { 0 };
			double count;

			memcpy(bytes, made.bytes, len);
			bytes[at] ^= 0x15;
			if (len >= 4)
				bytes[0] = (uint8_t)len;
			if (mongoreply_status(d, &status, &err) == 0 && !status.ok)
				mongoreply_refused(&status, "x", "y", &err);
			mongoreply_hello(d, &hello);
			mongoreply_hello_done(&hello);
			mongoreply_sasl(d, &sasl, &err);
			mongoreply_count(d, &count, &err);
			mem_free_ptr(&bytes);
		}
	}
	mongofilter_done(&made);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(refusals),
		cmocka_unit_test(fields_are_limited),
		cmocka_unit_test(codes_to_retry_elsewhere),
		cmocka_unit_test(greetings),
		cmocka_unit_test(members_are_limited),
		cmocka_unit_test(counts),
		cmocka_unit_test(broken),
	};

	return cmocka_run_group_tests_name("net/mongo/mongoreply", tests, NULL, NULL);
}
