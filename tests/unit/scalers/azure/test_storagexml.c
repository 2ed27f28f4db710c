/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of Azure Storage: whole, in pieces, cut off, and hostile ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "scalers/azure/storagexml.h"

#define BOM     "\xEF\xBB\xBF"
#define HEAD    "<?xml version=\"1.0\" encoding=\"utf-8\"?>"
#define MESSAGE "<QueueMessage><MessageId>1</MessageId><MessageText>&lt;QueueMessage&gt;</MessageText></QueueMessage>"
#define BLOB(name)                                                                                                     \
	"<Blob><Name>" name                                                                                            \
	"</Name><Properties><Name>not this</Name><Content-Length>1</Content-Length></Properties></Blob>"
#define LIST(items, marker)                                                                                            \
	BOM HEAD "<EnumerationResults ServiceEndpoint=\"https://h/\" "                                                 \
		 "ContainerName=\"c\"><Prefix>a/</Prefix><Blobs>" items "</Blobs>" marker "</EnumerationResults>"

/* Those that begin with "in/" count. */
static int begins(void *arg, const char *name, struct err *err)
{
	(void)arg;
	if (strcmp(name, "stop") == 0)
		return err_set(err, ERR_INVALID, "enough");
	return strncmp(name, "in/", 3) == 0;
}

static int read_list(enum storagexml_list list, bool picks, const char *text, size_t len, size_t step, size_t *count,
	char **marker, struct err *err)
{
	struct storagexml *x = storagexml_new(list, picks ? begins : NULL, NULL);
	int rc = 0;

	*count = 0;
	*marker = NULL;
	for (size_t at = 0; rc == 0 && at < len; at += step) {
		rc = storagexml_feed(x, text + at, at + step < len ? step : len - at, err);
		if (rc == 0)
			assert_true(storagexml_kept(x) <= len);
	}
	if (rc == 0)
		rc = storagexml_end(x, count, marker, err);
	storagexml_free(x);
	return rc;
}

static const struct {
	enum storagexml_list list;
	bool picks;
	const char *text;
	size_t count;
	const char *marker; /* NULL: refused, with */
	const char *error;
} rows[] = {
	{ STORAGEXML_MESSAGES, false, HEAD "<QueueMessagesList></QueueMessagesList>", 0, "", NULL },
	{ STORAGEXML_MESSAGES, false, BOM HEAD "<QueueMessagesList />", 0, "", NULL },
	{ STORAGEXML_MESSAGES, false, "<QueueMessagesList>" MESSAGE MESSAGE "</QueueMessagesList>", 2, "", NULL },
	{ STORAGEXML_MESSAGES, false, "<QueueMessagesList><Other>" MESSAGE "</Other></QueueMessagesList>", 0, "",
		NULL },
	{ STORAGEXML_BLOBS, false, LIST("", "<NextMarker />"), 0, "", NULL },
	{ STORAGEXML_BLOBS, false, LIST(BLOB("a/1") BLOB("a/2"), "<NextMarker>2!76!x--</NextMarker>"), 2, "2!76!x--",
		NULL },
	/* folders do not count */
	{ STORAGEXML_BLOBS, false, LIST("<BlobPrefix><Name>a/b/</Name></BlobPrefix>" BLOB("a/1"), ""), 1, "", NULL },
	/* by name */
	{ STORAGEXML_BLOBS, true, LIST(BLOB("in/1") BLOB("out/2") BLOB("in/3"), "<NextMarker>m</NextMarker>"), 2, "m",
		NULL },
	{ STORAGEXML_BLOBS, true, LIST("<Blob><Name Encoded=\"true\">in%2F%EF%BF%BE%zz%4</Name></Blob>", ""), 1, "",
		NULL },
	{ STORAGEXML_BLOBS, true, LIST("<Blob><Name>in%2F1</Name></Blob>", ""), 0, "", NULL },
	{ STORAGEXML_BLOBS, true, LIST("<Blob><Name></Name></Blob><Blob/>", ""), 0, "", NULL },
	{ STORAGEXML_BLOBS, true, LIST("<Blob><Deleted>x</Deleted><Name>in/1</Name></Blob>", ""), 1, "", NULL },
	{ STORAGEXML_BLOBS, true, LIST(BLOB("in/1") BLOB("stop") BLOB("in/1"), ""), 0, NULL, "enough" },
	/* invalid */
	{ STORAGEXML_BLOBS, false, "", 0, NULL,
		"the answer is not a list of blobs: it is not XML: line 1 column 1: no element found" },
	{ STORAGEXML_BLOBS, false, "{}", 0, NULL, "the answer is not a list of blobs: it is not XML: line 1" },
	{ STORAGEXML_BLOBS, false, "<html><body/></html>", 0, NULL,
		"the answer is not a list of blobs: unexpected root element" },
	{ STORAGEXML_BLOBS, false, HEAD "<QueueMessagesList/>", 0, NULL, "unexpected root element" },
	{ STORAGEXML_BLOBS, false, "<EnumerationResults><Containers/></EnumerationResults>", 0, NULL,
		"it has no Blobs" },
	{ STORAGEXML_BLOBS, false, "<EnumerationResults><Blobs>" BLOB("a"), 0, NULL, "no element found" },
	{ STORAGEXML_MESSAGES, false, "<QueueMessagesList>" MESSAGE, 0, NULL,
		"the answer is not a list of a queue's messages: it is not XML: line 1" },
	{ STORAGEXML_MESSAGES, false, "<!DOCTYPE a [<!ENTITY b 'c'>]><QueueMessagesList/>", 0, NULL,
		"it has a document type" },
};

static void lists(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		size_t len = strlen(rows[i].text);

		for (size_t step = 1; step <= len + 1; step += step < 8 ? 1 : 37) {
			struct err err = { 0 };
			size_t count;
			MEM_AUTO char *marker = NULL;
			int rc = read_list(rows[i].list, rows[i].picks, rows[i].text, len, step, &count, &marker, &err);

			if (rc != (rows[i].marker ? 0 : -1))
				fail_msg("row %zu in %zu: %d %s", i, step, rc, err.msg);
			assert_int_equal(count, rows[i].count);
			if (rows[i].marker)
				assert_string_equal(marker, rows[i].marker);
			else if (!strstr(err.msg, rows[i].error))
				fail_msg("row %zu: %s", i, err.msg);
		}
	}
}

static void repeat(struct buf *out, const char *text, size_t times)
{
	for (size_t i = 0; i < times; i++)
		buf_puts(out, text);
}

/* Hostile servers. */
static void limits(void **state)
{
	static const struct {
		const char *begin, *again;
		size_t times;
		const char *error;
	} big[] = {
		{ "<EnumerationResults><Blobs>", "<Blob/>", 100000, "it has more than 100,000 elements" },
		{ "<EnumerationResults><Blobs>", "<a>", 70, "it is nested too deep" },
		{ "<EnumerationResults><Blobs><Blob><Name>", "name", 3000, "a blob's name is too long" },
		{ "<EnumerationResults><NextMarker>", "mark", 2000, "NextMarker is too long" },
		{ "<EnumerationResults ", "abcdefgh", 40000, "a tag or a comment is too long" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(big); i++) {
		struct buf text = BUF_INIT((size_t)4 << 20);
		struct err err = { 0 };
		size_t count;
		char *marker;

		buf_puts(&text, big[i].begin);
		repeat(&text, big[i].again, big[i].times);
		assert_int_equal(read_list(STORAGEXML_BLOBS, true, text.data, text.len, 4096, &count, &marker, &err),
			-1);
		if (!strstr(err.msg, big[i].error))
			fail_msg("%s", err.msg);
		buf_done(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(lists), cmocka_unit_test(limits) };

	return cmocka_run_group_tests_name("scalers/azure/storagexml", tests, NULL, NULL);
}
