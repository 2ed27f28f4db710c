/* SPDX-License-Identifier: Apache-2.0 */
/* Dot paths, and the numbers they find in YAML and XML. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/yamljson.h"
#include "scalers/metricsapi/xmlvalue.h"
#include "scalers/values/dotpath.h"
#include "scalers/values/yamlpath.h"

static void paths(void **state)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{ "a..b", "position 3: a name is missing" },
		{ ".a", "position 1: a name is missing" },
		{ "a.", "position 3: a name is missing" },
		{ "a.b\\", "position 3: the last backslash must be followed by a character" },
	};
	struct dotpath p;
	struct err err = { 0 };
	char *text;

	(void)state;
	assert_int_equal(dotpath_read("a\\.b.12.\\3.c\\\\", &p, &err), 0);
	assert_int_equal(p.count, 4);
	assert_string_equal(p.parts[0].name, "a.b");
	assert_true(p.parts[1].indexed && p.parts[1].index == 12);
	assert_true(!p.parts[2].indexed && p.parts[2].escaped);
	assert_string_equal(p.parts[3].name, "c\\");
	text = dotpath_text(&p, 2);
	assert_string_equal(text, "a\\.b.12");
	free(text);
	dotpath_done(&p);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(dotpath_read(bad[i].text, &p, &err), -1);
		if (!strstr(err.msg, bad[i].message))
			fail_msg("%s: %s", bad[i].text, err.msg);
	}
}

struct looked {
	const char *path, *answer;
	double value;
	const char *message; /* NULL: the value is found */
};

typedef int (*number_fn)(const struct dotpath *path, const char *answer, size_t len, double *out, struct err *err);

static void look(const struct looked *l, number_fn number)
{
	struct dotpath p;
	struct err err = { 0 };
	double value = -99;
	int rc = dotpath_read(l->path, &p, &err);

	assert_int_equal(rc, 0);
	rc = number(&p, l->answer, strlen(l->answer), &value, &err);
	dotpath_done(&p);
	if (l->message ? rc == 0 || err.kind != ERR_INVALID || !strstr(err.msg, l->message) || strstr(err.msg, "cret")
		       : rc != 0 || value != l->value)
		fail_msg("%s of %s: %g %s, not %g %s", l->path, l->answer, value, err.msg, l->value,
			l->message ? l->message : "");
}

static size_t piece; /* the answer is delivered in pieces of this size */

static int xml_number(const struct dotpath *path, const char *answer, size_t len, double *out, struct err *err)
{
	struct xmlvalue *x = xmlvalue_new(path);
	int rc;

	for (size_t at = 0; at < len; at += piece)
		if (xmlvalue_feed(x, answer + at, len - at < piece ? len - at : piece))
			break;
	rc = xmlvalue_end(x, out, err);
	xmlvalue_free(x);
	return rc;
}

static void look_in_pieces(const struct looked *l)
{
	static const size_t pieces[] = { 1, 7, 16384, INT_MAX };

	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		piece = pieces[i];
		look(l, xml_number);
	}
}

static void yaml(void **state)
{
	static const struct looked cases[] = {
		{ "a", "a: 5", 5, NULL },
		{ "a", "---\r\na: 5\r\n", 5, NULL },
		{ "a",
			"\xef\xbb\xbf"
			"a: 5",
			5, NULL },
		{ "a.b.1.c", "a:\n  b:\n  - c: 1\n  - c: 1.5\n", 1.5, NULL },
		{ "a.0.1", "a: [[1, 2]]", 2, NULL },
		{ "a", "a: 500m", 0.5, NULL },
		{ "a", "a: \"1Ki\"", 1024, NULL },
		{ "a\\.b", "a.b: 3", 3, NULL },
		{ "1", "1: 4", 4, NULL },
		{ "a", "{\"a\": 1e3}", 1000, NULL },
		{ "b.c", "a: &x {c: 7}\nb: *x\n", 7, NULL },
		{ "b.c", "a: &x {c: 7}\nb:\n  <<: *x\n  d: 1\n", 7, NULL },
		{ "a", "a: 1\n---\na: 2\n", 1, NULL },
		{ "a.b.c", "a: {b: 5}", 0, "a.b is a scalar: there is no \"c\" in it" },
		{ "a.b", "a: {c: 5}", 0, "key \"b\" not found in a" },
		{ "b", "a: 5", 0, "key \"b\" not found" },
		{ "a.2", "a: [1, 2]", 0, "a has 2 elements, so there is none with index 2" },
		{ "a.x", "a: [1, 2]", 0, "a is a list: there is no \"x\" in it" },
		{ "a", "a: [1]", 0, "got JSON: a list" },
		{ "a", "a: {b: 1}", 0, "got JSON: an object" },
		{ "a", "a: true", 0, "got True" },
		{ "a", "a: no", 0, "got False" },
		{ "a", "a:", 0, "got Null" },
		{ "a", "a: .nan", 0, "got String" },
		{ "a", "a: s3cret", 0, "got String" },
		{ "a", "", 0, "the text is empty" },
		{ "a", "# nothing", 0, "the text is empty" },
		{ "a", "5", 0, "the text is a scalar, not a mapping" },
		{ "a", "- 5", 0, "the text is a list, not a mapping" },
		{ "a", "a: 1\na: 2\n", 0, "line 2: a mapping has a key twice" },
		{ "a", "a: [1", 0, "not YAML" },
		{ "a", "a: *nobody", 0, "the alias refers to an anchor that does not exist" },
		{ "a", "a: &a [*a]", 0, "the alias refers to a value that it is part of" },
	};
	/* Nine levels of nine: 387 million values. */
	static const char laughs[] =
		"a: &a [l,l,l,l,l,l,l,l,l]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: "
		"&d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\n"
		"f: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f]\nh: &h "
		"[*g,*g,*g,*g,*g,*g,*g,*g,*g]\ni: 5\n";
	struct buf many = BUF_INIT(1 << 20);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		look(&cases[i], yamlpath_number);
	look(&(struct looked){ "i", laughs, 0, "too many values" }, yamlpath_number);
	/* The mapping, the list and 5 count towards the limit of values. */
	buf_puts(&many, "i: 5\na: [0");
	for (int i = 4; i < YAMLJSON_FOREIGN_VALUES_MAX; i++)
		buf_puts(&many, ",1");
	buf_puts(&many, "]");
	look(&(struct looked){ "i", buf_text(&many), 5, NULL }, yamlpath_number);
	buf_puts(&many, "\nb: 1");
	look(&(struct looked){ "i", buf_text(&many), 0, "line 3: the document has too many values" }, yamlpath_number);
	buf_done(&many);
}

static void xml(void **state)
{
	static const struct looked cases[] = {
		{ "a", "<a>5</a>", 5, NULL },
		{ "a", "\xef\xbb\xbf<a>5</a>", 5, NULL },
		{ "a", "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n<!-- c -->\n<a>\n 12.5 \n</a>\n", 12.5, NULL },
		{ "stats.queue.length",
			"<stats><other><length>1</length></other><queue><name>x</name><length>7</length></queue></"
			"stats>",
			7, NULL },
		{ "a.b.1", "<a><b>1</b><c/><b>2</b></a>", 2, NULL },
		{ "a.b.1.c", "<a><b><c>1</c></b><b><c>2</c></b></a>", 2, NULL },
		{ "a.b.0.c.1", "<a><b><c>1</c><c>3</c></b><b><c>2</c></b></a>", 3, NULL },
		{ "a.b.c", "<a><b><c>1</c></b><d><c>2</c></d></a>", 1, NULL },
		{ "a.b.@n", "<a><b n='3'>x</b></a>", 3, NULL },
		{ "a.@n", "<a n=\"1Ki\"/>", 1024, NULL },
		{ "a.b.1.@n", "<a><b n='3'/><b n='4'/></a>", 4, NULL },
		{ "a.b", "<x:a xmlns:x=\"u\"><x:b>4</x:b></x:a>", 4, NULL },
		{ "x:a.x:b", "<x:a xmlns:x=\"u\"><x:b>4</x:b></x:a>", 4, NULL },
		{ "a.y:b", "<x:a><x:b>4</x:b><y:b>5</y:b></x:a>", 5, NULL },
		{ "a\\.b", "<a.b>4</a.b>", 4, NULL },
		{ "a", "<a><![CDATA[6]]></a>", 6, NULL },
		{ "a", "<a>1<!-- x -->2</a>", 12, NULL },
		{ "a", "<a>&#53;</a>", 5, NULL },
		{ "a.b", "<a><c><b>1</b></c><b>2</b></a>", 2, NULL },
		{ "a.b", "<a><b>1</b><b>2</b></a>", 0, "there are several elements b: add an index, such as b.0" },
		{ "a.b.c", "<a><b><c>1</c></b><b/></a>", 0, "there are several elements b" },
		{ "a.b.2", "<a><b>1</b><b>2</b></a>", 0, "got Null: there is nothing" },
		{ "b", "<a><b>1</b></a>", 0, "got Null: there is nothing" },
		{ "a.b.@m", "<a><b n='3'>x</b></a>", 0, "got Null: there is nothing" },
		{ "a.b", "<a><b>1<c/></b></a>", 0, "got an element with elements inside" },
		{ "a.b", "<a><b/></a>", 0, "got nothing: it is empty" },
		{ "a.b", "<a><b>s3cret</b></a>", 0, "got String" },
		{ "a", "<a>5", 0, "the answer is not XML: line 1 column 5: no element found" },
		{ "a", "<a>5</a><b/>", 0, "the answer is not XML" },
		{ "a", "", 0, "the answer is not XML" },
		{ "a", "{\"a\":5}", 0, "the answer is not XML" },
		{ "a", "<!DOCTYPE a [<!ENTITY x \"5\">]><a>&x;</a>", 0,
			"the answer has a document type (<!DOCTYPE ...>), which is refused" },
		{ "a", "<!DOCTYPE a SYSTEM \"file:///etc/passwd\"><a>5</a>", 0, "document type" },
		{ "a", "<a>&x;</a>", 0, "the answer is not XML: line 1 column 4: undefined entity" },
	};
	static const char *const bad_paths[][2] = {
		{ "0.a", "must begin with the name of the root element" },
		{ "a.0.1", "not another index" },
		{ "@a", "an attribute (@name) must be the last part" },
		{ "a.@b.c", "an attribute (@name) must be the last part" },
		{ "a.@", "an attribute (@name)" },
	};
	struct buf deep = BUF_INIT(1 << 20);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		look_in_pieces(&cases[i]);
	for (size_t i = 0; i < sizeof(bad_paths) / sizeof(bad_paths[0]); i++) {
		struct dotpath p;
		struct err err = { 0 };

		assert_int_equal(dotpath_read(bad_paths[i][0], &p, &err), 0);
		assert_int_equal(xmlvalue_check(&p, &err), -1);
		assert_non_null(strstr(err.msg, bad_paths[i][1]));
		dotpath_done(&p);
	}
	for (int i = 0; i < 100000; i++)
		buf_puts(&deep, "<a>");
	look_in_pieces(&(struct looked){ "a", deep.data, 0, "nested too deep" });
	buf_reset(&deep);
	buf_puts(&deep, "<a>5<!--");
	for (int i = 0; i < 300000; i++)
		buf_putc(&deep, 'x');
	buf_puts(&deep, "--></a>");
	piece = 16384;
	look(&(struct looked){ "a", deep.data, 0, "not XML: a tag or a comment is too long" }, xml_number);
	buf_done(&deep);
}

static void so_many_elements(void **state)
{
	(void)state;
	for (size_t elements = 99999; elements <= 100000; elements++) { /* and the root */
		struct buf many = BUF_INIT(1u << 20);

		buf_puts(&many, "<a><b>1</b>");
		for (size_t i = 1; i < elements; i++)
			buf_puts(&many, "<c/>");
		buf_puts(&many, "</a>");
		piece = 16384;
		look(&(struct looked){ "a.b", buf_text(&many), 1,
			     elements == 99999 ? NULL : "the answer has more than 100,000 elements" },
			xml_number);
		buf_done(&many);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(paths), cmocka_unit_test(yaml), cmocka_unit_test(xml),
		cmocka_unit_test(so_many_elements) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
