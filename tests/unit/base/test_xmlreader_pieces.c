/* SPDX-License-Identifier: Apache-2.0 */
/* XML in pieces of the server's choice: how much expat reads, and when it stops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/xmlreader.h"

/* The work of an expat that rereads a tag or comment with each piece. */
static size_t bytes_read;
static XML_Index bytes_given;

XML_Index __real_XML_GetCurrentByteIndex(XML_Parser parser);
XML_Index __wrap_XML_GetCurrentByteIndex(XML_Parser parser);
enum XML_Status __real_XML_Parse(XML_Parser parser, const char *bytes, int len, int last);
enum XML_Status __wrap_XML_Parse(XML_Parser parser, const char *bytes, int len, int last);

enum XML_Status __wrap_XML_Parse(XML_Parser parser, const char *bytes, int len, int last)
{
	bytes_given += len;
	bytes_read += (size_t)len;
	if (bytes_given > len)
		bytes_read += (size_t)(bytes_given - len - __real_XML_GetCurrentByteIndex(parser));
	return __real_XML_Parse(parser, bytes, len, last);
}

/* As in an expat since 2.6, which waits for more before it tries an open tag again. */
static bool index_hidden;
static unsigned looks;

XML_Index __wrap_XML_GetCurrentByteIndex(XML_Parser parser)
{
	return index_hidden && looks++ % 2 > 0 ? -1 : __real_XML_GetCurrentByteIndex(parser);
}

struct seen {
	struct xmlreader xml;
	size_t elements;
	struct buf text; /* of elements named b */
};

static void on_start(void *arg, const char *element, const char **attributes, size_t depth)
{
	struct seen *s = arg;

	(void)attributes, (void)depth;
	s->elements++;
	if (strcmp(element, "b") == 0)
		xmlreader_take(&s->xml, &s->text, NULL);
}

static void on_end(void *arg, size_t depth)
{
	(void)arg, (void)depth;
}

/* Feeds the text in steps, and the end. */
static int feed(const struct buf *text, size_t step, struct seen *seen, struct err *err)
{
	static const struct xmlreader_rules rules = { "it", 3, on_start, on_end };
	int rc = 0;

	bytes_read = 0;
	bytes_given = 0;
	seen->elements = 0;
	buf_init(&seen->text, SIZE_MAX);
	xmlreader_init(&seen->xml, &rules, seen);
	for (size_t at = 0; rc == 0 && at < text->len; at += step) {
		rc = xmlreader_feed(&seen->xml, text->data + at, at + step < text->len ? step : text->len - at, false,
			err);
		assert_true(rc || xmlreader_kept(&seen->xml) <= at + step);
	}
	if (rc == 0)
		rc = xmlreader_feed(&seen->xml, "", 0, true, err);
	xmlreader_done(&seen->xml);
	return rc;
}

static void seen_done(struct seen *seen)
{
	buf_done(&seen->text);
}

static void fill(struct buf *text, const char *before, size_t count, const char *after)
{
	buf_reset(text);
	buf_puts(text, before);
	for (size_t i = 0; i < count; i++)
		buf_putc(text, 'x');
	buf_puts(text, after);
}

static void whole(void **state)
{
	struct buf text = BUF_INIT((size_t)1 << 20);

	(void)state;
	for (size_t count = 0; count < 3 * XMLREADER_PIECE; count += 4093)
		for (size_t step = 1; step < 4 * XMLREADER_PIECE; step = 3 * step + 1) {
			struct err err = { 0 };
			struct seen seen;

			fill(&text, "<a><b>", count, "</b><c/></a>");
			assert_int_equal(feed(&text, step, &seen, &err), 0);
			assert_int_equal(seen.elements, 3);
			assert_int_equal(seen.text.len, count);
			seen_done(&seen);
		}
	buf_done(&text);
}

/* 200 KiB of a comment, and of an attribute: 20 GB when each byte begins them anew. */
static void byte_by_byte(void **state)
{
	static const char *const tags[][2] = { { "<a><!--", "--></a>" }, { "<a><b c=\"", "\"/></a>" } };
	struct buf text = BUF_INIT((size_t)1 << 20);

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(tags); i++) {
		struct err err = { 0 };
		struct seen seen;

		fill(&text, tags[i][0], 200 << 10, tags[i][1]);
		assert_int_equal(feed(&text, 1, &seen, &err), 0);
		seen_done(&seen);
		assert_true(bytes_read < XMLREADER_TOKEN_MAX / XMLREADER_PIECE * text.len);
	}
	buf_done(&text);
}

static void wrong(void **state)
{
	static const struct {
		const char *before, *after, *error;
		size_t count;
	} rows[] = {
		{ "<a>", "", "it is not XML: line 1 column 8: no element found", 4 },
		{ "<a>\n</b>", "", "it is not XML: line 2 column 3: mismatched tag", 0 },
		{ "", "", "it is not XML: line 1 column 1: no element found", 0 },
		{ "<a><!--", "--></a>", "it is not XML: a tag or a comment is too long",
			XMLREADER_TOKEN_MAX + XMLREADER_PIECE },
		{ "<a ", "=''/>", "it is not XML: a tag or a comment is too long",
			XMLREADER_TOKEN_MAX + XMLREADER_PIECE },
	};
	struct buf text = BUF_INIT((size_t)1 << 20);

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++)
		for (size_t step = 1; step < (size_t)1 << 20; step *= 40) {
			struct err err = { 0 };
			struct seen seen;

			fill(&text, rows[i].before, rows[i].count, rows[i].after);
			assert_int_equal(feed(&text, step, &seen, &err), -1);
			seen_done(&seen);
			assert_int_equal(err.kind, ERR_INVALID);
			assert_string_equal(err.msg, rows[i].error);
		}
	buf_done(&text);
}

static void where_it_is_may_be_unknown(void **state)
{
	struct buf text = BUF_INIT((size_t)1 << 21);
	struct err err = { 0 };
	struct seen seen;

	(void)state;
	buf_puts(&text, "<a>");
	for (size_t i = 0; i < 99999; i++)
		buf_puts(&text, "<b>c</b>");
	buf_puts(&text, "</a>");
	index_hidden = true;
	assert_int_equal(feed(&text, XMLREADER_PIECE, &seen, &err), 0);
	index_hidden = false;
	assert_int_equal(seen.elements, 100000);
	assert_int_equal(seen.text.len, 99999);
	seen_done(&seen);
	buf_done(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(whole), cmocka_unit_test(byte_by_byte),
		cmocka_unit_test(wrong), cmocka_unit_test(where_it_is_may_be_unknown) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
