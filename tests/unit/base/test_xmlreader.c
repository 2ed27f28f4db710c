/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/xmlreader.h"

#define DEPTH 4

/* The calls of handlers, as "name depth" and "/depth"; the text of elements named t. */
static struct {
	struct xmlreader xml;
	struct buf told, text;
	const char *too_long;
	bool stops; /* at an element named stop */
} t;

static void stop_it(void)
{
	struct err why;

	err_set(&why, ERR_DENIED, "enough");
	xmlreader_stop(&t.xml, &why);
}

static void on_start(void *arg, const char *name, const char **attributes, size_t depth)
{
	assert_ptr_equal(arg, &t);
	buf_printf(&t.told, "%s%zu", name, depth);
	for (; *attributes; attributes += 2)
		buf_printf(&t.told, "(%s=%s)", attributes[0], attributes[1]);
	buf_putc(&t.told, ' ');
	if (strcmp(name, "t") == 0)
		xmlreader_take(&t.xml, &t.text, t.too_long);
	if (t.stops && strcmp(name, "stop") == 0)
		stop_it();
}

static void on_end(void *arg, size_t depth)
{
	assert_ptr_equal(arg, &t);
	buf_printf(&t.told, "/%zu ", depth);
}

/* Reads it in pieces of this many bytes. */
static int read_in(const char *document, size_t len, size_t piece, struct err *err)
{
	static const struct xmlreader_rules rules = { "the page", DEPTH, on_start, on_end };
	int failed = 0;

	buf_reset(&t.told);
	buf_reset(&t.text);
	xmlreader_init(&t.xml, &rules, &t);
	for (size_t at = 0; at < len && !failed; at += piece) {
		failed = xmlreader_feed(&t.xml, document + at, len - at < piece ? len - at : piece, false, err);
		assert_true(xmlreader_kept(&t.xml) <= XMLREADER_TOKEN_MAX + 2 * XMLREADER_PIECE);
	}
	failed = xmlreader_feed(&t.xml, "", 0, true, err);
	xmlreader_done(&t.xml);
	return failed;
}

static int setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	buf_init(&t.told, SIZE_MAX);
	buf_init(&t.text, 8);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	buf_done(&t.told);
	buf_done(&t.text);
	return 0;
}

static void elements_and_texts_however_it_is_cut(void **state)
{
	static const char document[] = "<a x='1'>no<t>ab<b>no</b>c</t>no<n:b/></a>";

	(void)state;
	for (size_t piece = 1; piece < sizeof(document); piece++) {
		assert_int_equal(read_in(document, sizeof(document) - 1, piece, NULL), 0);
		assert_string_equal(buf_text(&t.told), "a1(x=1) t2 b3 /3 /2 n:b2 /2 /1 ");
		assert_string_equal(buf_text(&t.text), "abc");
	}
}

static void refused_documents(void **state)
{
	static const struct {
		const char *document, *message;
	} rows[] = {
		{ "", "the page is not XML: line 1 column 1: no element found" },
		{ "<a>", "the page is not XML: line 1 column 4: no element found" },
		{ "<a>\n</b>", "the page is not XML: line 2 column 3: mismatched tag" },
		{ "<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>",
			"the page has a document type (<!DOCTYPE ...>), which is refused" },
		{ "<a><a><a><a><a/></a></a></a></a>", "the page is nested too deep: at most 4 levels" },
	};
	struct err err;

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		assert_int_equal(read_in(rows[i].document, strlen(rows[i].document), 1, &err), -1);
		assert_string_equal(err.msg, rows[i].message);
		assert_int_equal(err.kind, ERR_INVALID);
		assert_int_equal(read_in(rows[i].document, strlen(rows[i].document), SIZE_MAX / 2, NULL), -1);
	}
}

static void elements_have_a_limit(void **state)
{
	(void)state;
	for (size_t inside = XMLREADER_ELEMENTS_MAX - 1; inside <= XMLREADER_ELEMENTS_MAX; inside++) {
		struct buf document = BUF_INIT(SIZE_MAX);
		struct err err = { 0 };

		buf_puts(&document, "<a>");
		for (size_t i = 0; i < inside; i++)
			buf_puts(&document, "<b/>");
		buf_puts(&document, "</a>");
		assert_int_equal(read_in(document.data, document.len, XMLREADER_PIECE, &err),
			inside < XMLREADER_ELEMENTS_MAX ? 0 : -1);
		assert_string_equal(err.msg,
			inside < XMLREADER_ELEMENTS_MAX ? "" : "the page has more than 100,000 elements");
		buf_done(&document);
	}
}

/* One that never ends is not collected. */
static void a_tag_has_a_limit(void **state)
{
	size_t len = 4 * XMLREADER_TOKEN_MAX;
	MEM_AUTO char *document = mem_alloc(len);
	struct err err;

	(void)state;
	memset(document, ' ', len);
	memcpy(document, "<a", 2);
	assert_int_equal(read_in(document, len, 1000, &err), -1);
	assert_string_equal(err.msg, "the page is not XML: a tag or a comment is too long");
}

static void a_text_has_the_limit_of_its_buffer(void **state)
{
	static const char document[] = "<a><t>123456789</t><b/></a>";
	struct err err;

	(void)state;
	assert_int_equal(read_in(document, sizeof(document) - 1, 5, NULL), 0);
	assert_true(buf_failed(&t.text));
	t.too_long = "the name is too long";
	assert_int_equal(read_in(document, sizeof(document) - 1, 5, &err), -1);
	assert_string_equal(err.msg, "the name is too long");
	assert_string_equal(buf_text(&t.told), "a1 t2 ");
}

/* Also for an element without content, whose end expat reports after a stop. */
static void no_handler_runs_after_a_stop(void **state)
{
	static const char document[] = "<a><stop/><b/><!DOCTYPE x></a>";
	struct err err;

	(void)state;
	t.stops = true;
	for (size_t piece = 1; piece < sizeof(document); piece++) {
		assert_int_equal(read_in(document, sizeof(document) - 1, piece, &err), -1);
		assert_int_equal(err.kind, ERR_DENIED);
		assert_string_equal(err.msg, "enough");
		assert_string_equal(buf_text(&t.told), "a1 stop2 ");
	}
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(elements_and_texts_however_it_is_cut),
		CASE(refused_documents),
		CASE(elements_have_a_limit),
		CASE(a_tag_has_a_limit),
		CASE(a_text_has_the_limit_of_its_buffer),
		CASE(no_handler_runs_after_a_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
