/* SPDX-License-Identifier: Apache-2.0 */

/* Messages and filters: accepted, rejected, and as sent, byte by byte. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "mongotext.h"
#include "net/mongo/mongocommand.h"
#include "net/mongo/mongofilter.h"
#include "net/mongo/mongowire.h"

#define WIRE(...)                                                                                                      \
	(const uint8_t[])                                                                                              \
	{                                                                                                              \
		__VA_ARGS__                                                                                            \
	}
#define EMPTY 5, 0, 0, 0, 0
#define HEAD  9, 0, 0, 0, 7, 0, 0, 0, 0xdd, 7, 0, 0

static const struct {
	const char *what;
	const uint8_t *bytes;
	size_t len;
	int64_t length; /* -1: rejected by its header */
	bool read;
} messages[] = {
	{ "nothing", WIRE(0), 0, 0, false },
	{ "half a header", WIRE(26, 0, 0, 0, 9), 5, 0, false },
	{ "an empty document", WIRE(26, 0, 0, 0, HEAD, 0, 0, 0, 0, 0, EMPTY), 26, 26, true },
	{ "with a checksum", WIRE(30, 0, 0, 0, HEAD, 1, 0, 0, 0, 0, EMPTY, 1, 2, 3, 4), 30, 30, true },
	{ "that may be exhausted", WIRE(26, 0, 0, 0, HEAD, 0, 0, 1, 0, 0, EMPTY), 26, 26, true },
	{ "a checksum that is not there", WIRE(26, 0, 0, 0, HEAD, 1, 0, 0, 0, 0, EMPTY), 26, 26, false },
	{ "more to come", WIRE(26, 0, 0, 0, HEAD, 2, 0, 0, 0, 0, EMPTY), 26, 26, false },
	{ "another section", WIRE(26, 0, 0, 0, HEAD, 0, 0, 0, 0, 1, EMPTY), 26, 26, false },
	{ "two documents", WIRE(31, 0, 0, 0, HEAD, 0, 0, 0, 0, 0, EMPTY, EMPTY), 31, 31, false },
	{ "a document that is longer", WIRE(26, 0, 0, 0, HEAD, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0), 26, 26, false },
	{ "to another question", WIRE(26, 0, 0, 0, 9, 0, 0, 0, 8, 0, 0, 0, 0xdd, 7, 0, 0, 0, 0, 0, 0, 0, EMPTY), 26, 26,
		false },
	{ "OP_REPLY", WIRE(26, 0, 0, 0, 9, 0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0), 16, -1, false },
	{ "no length", WIRE(0, 0, 0, 0, HEAD), 16, -1, false },
	{ "a negative length", WIRE(0xff, 0xff, 0xff, 0xff, HEAD), 16, -1, false },
	{ "a length of 256 KiB", WIRE(0, 0, 4, 0, HEAD), 16, 256 << 10, false },
	{ "and one byte more", WIRE(1, 0, 4, 0, HEAD), 16, -1, false },
	{ "HTTP", (const uint8_t *)"HTTP/1.1 400 Bad Request\r\n", 26, -1, false },
};

static void replies(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(messages); i++) {
		struct mongowire_document d = { 0 };
		struct err err = { 0 };

		if (mongowire_length(messages[i].bytes, messages[i].len, &err) != messages[i].length)
			fail_msg("%s: %s", messages[i].what, err.msg);
		if (messages[i].length != (int64_t)messages[i].len)
			continue;
		if ((mongowire_read(messages[i].bytes, messages[i].len, 7, &d, &err) == 0) != messages[i].read)
			fail_msg("%s: %s", messages[i].what, err.msg);
		assert_true(!messages[i].read || d.len == 5);
	}
}

/* Reads one of our messages as if it were an answer; its document must match the text. */
static void expect_command(struct buf *message, const char *text)
{
	struct mongofilter expected = mongotext_make(text);
	struct mongowire_document d;
	struct err err = { 0 };

	memcpy(message->data + 8, message->data + 4, 4); /* as if it answered itself */
	assert_int_equal(mongowire_read((const uint8_t *)message->data, message->len, 7, &d, &err), 0);
	if (d.len != expected.len || memcmp(d.bytes, expected.bytes, d.len) != 0)
		fail_msg("not %s", text);
	mongofilter_done(&expected);
	buf_reset(message);
}

static void commands(void **state)
{
	struct buf message = BUF_INIT(4096);
	struct mongofilter filter = mongotext_make("{\"done\": false}");

	(void)state;
	mongocommand_count(&message, 7, &(struct mongocommand_count){ "shop", "jobs", &filter, NULL, NULL, 2700 });
	expect_command(&message,
		"{\"aggregate\": \"jobs\", \"pipeline\": [{\"$match\": {\"done\": false}}, {\"$group\": {\"_id\": 1, "
		"\"n\": {\"$sum\": 1}}}], \"cursor\": {}, \"maxTimeMS\": {\"$numberLong\": \"2700\"}, \"$db\": "
		"\"shop\"}");
	mongocommand_count(&message, 7,
		&(struct mongocommand_count){ "shop", "jobs", &filter, "majority", "nearest", 100 });
	expect_command(&message,
		"{\"aggregate\": \"jobs\", \"pipeline\": [{\"$match\": {\"done\": false}}, {\"$group\": {\"_id\": 1, "
		"\"n\": {\"$sum\": 1}}}], \"cursor\": {}, \"maxTimeMS\": {\"$numberLong\": \"100\"}, \"readConcern\": "
		"{\"level\": \"majority\"}, \"$readPreference\": {\"mode\": \"nearest\"}, \"$db\": \"shop\"}");
	mongocommand_x509(&message, 7, NULL);
	expect_command(&message, "{\"authenticate\": 1, \"mechanism\": \"MONGODB-X509\", \"$db\": \"$external\"}");
	mongocommand_sasl_start(&message, 7, "admin", "SCRAM-SHA-1", "n,,n=u,r=x");
	expect_command(&message,
		"{\"saslStart\": 1, \"mechanism\": \"SCRAM-SHA-1\", \"payload\": {\"$binary\": {\"base64\": "
		"\"biwsbj11LHI9eA==\", \"subType\": \"00\"}}, \"options\": {\"skipEmptyExchange\": true}, \"$db\": "
		"\"admin\"}");
	mongocommand_sasl_continue(&message, 7, "admin", 3, "");
	expect_command(&message,
		"{\"saslContinue\": 1, \"conversationId\": 3, \"payload\": {\"$binary\": {\"base64\": \"\", "
		"\"subType\": "
		"\"00\"}}, \"$db\": \"admin\"}");
	mongofilter_done(&filter);
	buf_done(&message);
}

static void filters(void **state)
{
	static const struct {
		const char *text, *error; /* NULL: accepted */
	} rows[] = {
		{ " \n{\"a\": 1}\n", NULL },
		{ "{\"at\": {\"$gt\": {\"$date\": \"2026-01-01T00:00:00Z\"}}}", NULL },
		{ "{\"_id\": {\"$oid\": \"507f1f77bcf86cd799439011\"}}", NULL },
		{ "{\"n\": {\"$numberLong\": \"5\"}, \"name\": {\"$regex\": \"^x\", \"$options\": \"i\"}}", NULL },
		{ "{\"$expr\": {\"$lt\": [\"$at\", \"$$NOW\"]}}", NULL },
		{ "{\"$or\": [{\"a\": {\"$in\": [1, 2.5, null]}}, {\"b\": {\"$exists\": false}}]}", NULL },
		{ "{}", "failed to parse query: empty bson document" },
		{ "", "it must be a JSON object" },
		{ "[1]", "it must be a JSON object" },
		{ "\"x\"", "it must be a JSON object" },
		{ "{\"a\": 1", "Incomplete JSON" },
		{ "{'a': 1}", "parse error" },
		{ "{\"a\": 1} more", "parse error" },
		{ "{\"a\": 1}{\"b\": 2}", "more than one" },
		{ "{\"_id\": {\"$oid\": \"xx\"}}", "looking for OID" },
		{ "{\"a\": 1e999}", "out of range" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct mongofilter f = { 0 };
		struct err err = { 0 };
		int rc = mongofilter_parse(rows[i].text, &f, &err);

		if ((rc == 0) != !rows[i].error || (rc && !strstr(err.msg, rows[i].error)))
			fail_msg("%s: %s", rows[i].text, err.msg);
		mongofilter_done(&f);
	}
}

static void large_filters(void **state)
{
	struct buf text = BUF_INIT(MONGOFILTER_TEXT_MAX + 64);
	struct mongofilter f = { 0 };
	struct err err = { 0 };

	(void)state;
	buf_puts(&text, "{\"a\": [1");
	while (text.len + 4 <= MONGOFILTER_TEXT_MAX)
		buf_puts(&text, ",1");
	buf_puts(&text, "]}");
	assert_int_equal(mongofilter_parse(buf_text(&text), &f, &err), 0);
	mongofilter_done(&f);
	buf_puts(&text, "   ");
	assert_int_equal(mongofilter_parse(buf_text(&text), &f, &err), -1);
	assert_non_null(strstr(err.msg, "64 KiB"));
	buf_reset(&text);
	for (int i = 0; i < 10000; i++)
		buf_puts(&text, "{\"a\":");
	assert_int_equal(mongofilter_parse(buf_text(&text), &f, &err), -1);
	assert_non_null(strstr(err.msg, "LEVELS_EXCEEDED"));
	buf_done(&text);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(replies),
		cmocka_unit_test(commands),
		cmocka_unit_test(filters),
		cmocka_unit_test(large_filters),
	};

	return cmocka_run_group_tests_name("net/mongo/mongowire", tests, NULL, NULL);
}
