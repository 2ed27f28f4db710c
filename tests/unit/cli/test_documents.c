/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/places.h"
#include "cli/documents.h"

static struct documents *read_text(const char *text)
{
	struct documents *d = documents_new();
	struct err err = { 0 };

	if (documents_read(d, "f.yaml", text, strlen(text), &err) < 0)
		fail_msg("%s: %s", text, err.msg);
	return d;
}

/* All objects as JSON, one line each. */
static char *texts(const struct documents *d)
{
	char *out = mem_dup("");

	for (size_t i = 0; i < d->count; i++) {
		char *one = json_dumps(d->list[i].json, JSON_COMPACT | JSON_ENCODE_ANY),
		     *joined = mem_printf("%s%s%s", out, i > 0 ? "\n" : "", one);

		free(one);
		free(out);
		out = joined;
	}
	return out;
}

static void types_scalars_like_kubectl(void **state)
{
	static const struct {
		const char *text, *json;
	} cases[] = {
		{ "a: 1", "{\"a\":1}" },
		{ "a: \"1\"", "{\"a\":\"1\"}" },
		{ "a: '1'", "{\"a\":\"1\"}" },
		{ "[yes, No, on, OFF, y, N, true, False]", "[true,false,true,false,true,false,true,false]" },
		{ "[~, null, '', 'null', ]", "[null,null,\"\",\"null\"]" },
		{ "[010, 0x1F, 0o17, 0b11, 1_000, +5, -7, 089]", "[8,31,15,3,1000,5,-7,89.0]" },
		{ "[1.5, .5, 1e3, 1., -2.5e-1, 1.2.3, 1e, 0x, '-']",
			"[1.5,0.5,1000.0,1.0,-0.25,\"1.2.3\",\"1e\",\"0x\",\"-\"]" },
		{ "[9223372036854775807, -9223372036854775808, 9223372036854775808]",
			"[9223372036854775807,-9223372036854775808,9.2233720368547758e18]" },
		{ "[.nan, .inf, 2024-01-02, 12:30:45, 1e999]",
			"[\".nan\",\".inf\",\"2024-01-02\",\"12:30:45\",\"1e999\"]" },
		{ "[!!str 5, !!int '7', !!bool 'true', ! 8]", "[\"5\",7,true,\"8\"]" },
		{ "a: |\n  x\n  y\nb: >\n  x\n  y\n", "{\"a\":\"x\\ny\\n\",\"b\":\"x y\\n\"}" },
		{ "1: a\ntrue: b", "{\"1\":\"a\",\"true\":\"b\"}" },
		{ "a: &x {b: 1}\nc: *x", "{\"a\":{\"b\":1},\"c\":{\"b\":1}}" },
		{ "base: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}", "{\"base\":{\"b\":1,\"c\":2},\"d\":{\"c\":3,\"b\":1}}" },
		{ "d: {<<: [{a: 1, b: 1}, {b: 2, c: 2}]}", "{\"d\":{\"a\":1,\"b\":1,\"c\":2}}" },
		{ "a: 1\na: 2", "{\"a\":2}" },
		{ "\xEF\xBB\xBF"
		  "a: 1\r\nb: 2\r\n",
			"{\"a\":1,\"b\":2}" },
		{ "", "" },
		{ "# only a comment\n---\n...\n", "" },
		{ "---\na: 1\n---\n---\nb: 2\n", "{\"a\":1}\n{\"b\":2}" },
		{ "{\"a\":1}\n{\"b\":2} [3]", "{\"a\":1}\n{\"b\":2}\n[3]" },
		{ "{\"a\": \"\\ud83d\\ude00\"}", "{\"a\":\"\xF0\x9F\x98\x80\"}" },
		{ "{\"a\": \"yes\", \"b\":\t010}", NULL },
		{ "{a: yes}", "{\"a\":true}" },
		{ "kind: List\nitems:\n- {a: 1}\n- kind: FooList\n  items: [{b: 2}, null]\n- {c: 3}",
			"{\"a\":1}\n{\"b\":2}\n{\"c\":3}" },
		{ "kind: List\nitems: 5", "{\"kind\":\"List\",\"items\":5}" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct documents *d = read_text(cases[i].text);
		char *got = texts(d);

		if (cases[i].json)
			assert_string_equal(got, cases[i].json);
		free(got);
		documents_free(d);
	}
}

static void yaml_errors_have_a_line(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{ "a: 1\nb: [1,\n", "line 3: not YAML: did not find expected node content" },
		{ "a: 1\n\tb: 2\n", "line 2: not YAML: found a tab character that violates indentation" },
		{ "a: 1\nb: \xFF\n", "line 2: not YAML: invalid leading UTF-8 octet" },
		{ "a: 1\n\nb: \x01\n", "line 3: not YAML: control characters are not allowed" },
		{ "a: *nobody", "line 1: the alias refers to an anchor that does not exist" },
		{ "a: &x\n  b: *x", "line 2: the alias refers to a value that it is part of" },
		{ "? [a]\n: b", "line 1: a key must be a text" },
		{ "\"a\\0b\": 1", "line 1: a key must be a text" },
		{ "a: !mine 5", "line 1: the value has a tag that is not understood, or is not what its tag says" },
		{ "a: !!int five", "line 1: the value has a tag that is not understood, or is not what its tag says" },
		{ "a: {<<: 5}", "line 1: << takes a mapping, or a list of them" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct documents *d = documents_new();
		struct err err = { 0 };

		assert_int_equal(documents_read(d, "f", cases[i].text, strlen(cases[i].text), &err), -1);
		assert_string_equal(err.msg, cases[i].message);
		assert_int_equal(err.kind, ERR_INVALID);
		documents_free(d);
	}
}

static void keeps_documents_before_an_error(void **state)
{
	static const char text[] = "a: 1\n---\nb: 2\n---\nc: [\n";
	struct documents *d = documents_new();

	(void)state;
	assert_int_equal(documents_read(d, "f", text, strlen(text), NULL), -1);
	assert_int_equal(d->count, 2);
	documents_free(d);
}

static void aliases_do_not_expand_a_document(void **state)
{
	struct documents *d = documents_new();
	struct err err = { 0 };
	char *text = mem_dup("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");

	(void)state;
	for (int i = 1; i < 12; i++) {
		char *more = mem_printf("%sa%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", text, i, i,
			i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);

		free(text);
		text = more;
	}
	assert_int_equal(documents_read(d, "f", text, strlen(text), &err), -1);
	assert_string_equal(err.msg,
		"line 6: the document has too many values (aliases count like their values): at most 1000000");
	assert_int_equal(d->count, 0);
	documents_free(d);
	free(text);
}

static void nesting_is_limited(void **state)
{
	char text[300];
	struct documents *d = documents_new();
	struct err err = { 0 };

	(void)state;
	memset(text, '[', 200);
	assert_int_equal(documents_read(d, "f", text, 200, &err), -1);
	assert_string_equal(err.msg, "line 1: nested too deep: at most 100 levels");
	memset(text + 99, ']', 99);
	assert_int_equal(documents_read(d, "f", text, 198, &err), 0);
	documents_free(d);
}

static const char sample[] = "# first\n"                        /* 1 */
			     "metadata:\n"                      /* 2 */
			     "  annotations:\n"                 /* 3 */
			     "    a.b/c: x\n"                   /* 4 */
			     "spec:\n"                          /* 5 */
			     "  triggers:\n"                    /* 6 */
			     "  - type: redis\n"                /* 7 */
			     "    metadata: {listName: jobs}\n" /* 8 */
			     "  - type: cpu\n"                  /* 9 */
			     "    metadata:\n"                  /* 10 */
			     "      value: \"5\"\n"             /* 11 */
			     "  copy: &c {x: 1}\n"              /* 12 */
			     "  copied: *c\n"                   /* 13 */
			     "  twice: {x: 1}\n"                /* 14 */
			     "  twice: {y: 1}\n";               /* 15 */

static void lines_of_fields(void **state)
{
	static const struct {
		const char *path;
		size_t line;
	} cases[] = {
		{ "", 2 },
		{ "metadata", 2 },
		{ "metadata.annotations[a.b/c]", 4 },
		{ "spec", 5 },
		{ "spec.triggers", 6 },
		{ "spec.triggers[0]", 7 },
		{ "spec.triggers[0].type", 7 },
		{ "spec.triggers[0].metadata.listName", 8 },
		{ "spec.triggers[1]", 9 },
		{ "spec.triggers[1].metadata.value", 11 },
		{ "spec.copied.x", 13 },
		{ "spec.twice.y", 15 },
		/* A missing field has the line of its parent. */
		{ "spec.triggers[1].metadata.nothing", 10 },
		{ "spec.triggers[7].type", 6 },
		{ "spec.nothing.at.all", 5 },
		{ "nothing", 2 },
		{ "spec.triggers[x]", 6 },
		{ "[", 2 },
		{ "spec..", 5 },
	};
	struct documents *d = read_text(sample);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (documents_line(&d->list[0], cases[i].path) != cases[i].line)
			fail_msg("%s: line %zu instead of %zu", cases[i].path,
				documents_line(&d->list[0], cases[i].path), cases[i].line);
	documents_free(d);
}

static void lines_of_items_and_json(void **state)
{
	struct documents *d = read_text("kind: List\nitems:\n- a: 1\n  b: {c: 2}\n- a: &x\n    c: 3\n- *x\n");

	(void)state;
	assert_int_equal(d->count, 3);
	assert_int_equal(documents_line(&d->list[0], "b.c"), 4);
	assert_int_equal(d->list[1].line, 5);
	assert_int_equal(documents_line(&d->list[1], "a.c"), 6);
	assert_int_equal(documents_line(&d->list[2], "c"), 7);
	documents_free(d);
	d = read_text("\n{\"a\": 1,\n \"b\": {\n\t\"c\": 2}}\n\n{\"d\":\n 1}\n{\"e\": \"\\ud83d\\ude00\",\n\"f\": 1}");
	assert_int_equal(d->count, 3);
	assert_int_equal(d->list[0].line, 2);
	assert_int_equal(documents_line(&d->list[0], "b.c"), 4);
	assert_int_equal(documents_line(&d->list[1], "d"), 6);
	/* If libyaml does not support an escape of JSON, the object's line is used. */
	assert_int_equal(documents_line(&d->list[2], "f"), 8);
	documents_free(d);
}

struct faults {
	size_t count, line;
	char key[20];
};

static void on_fault(void *arg, size_t line, const char *key)
{
	struct faults *f = arg;

	f->count++;
	f->line = line;
	snprintf(f->key, sizeof(f->key), "%s", key);
}

static void duplicate_keys_are_reported(void **state)
{
	struct documents *d = read_text(sample);
	struct faults f = { 0 };

	(void)state;
	documents_each_fault(&d->list[0], on_fault, &f);
	assert_int_equal(f.count, 1);
	assert_int_equal(f.line, 15);
	assert_string_equal(f.key, "twice");
	documents_free(d);
	memset(&f, 0, sizeof(f));
	d = read_text("kind: List\nitems:\n- {a: 1}\n- {b: {c: 1}, b: {c: 2, c: 3}}\n");
	documents_each_fault(&d->list[0], on_fault, &f);
	assert_int_equal(f.count, 0);
	documents_each_fault(&d->list[1], on_fault, &f);
	assert_int_equal(f.count, 2);
	documents_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_scalars_like_kubectl),
		cmocka_unit_test(yaml_errors_have_a_line),
		cmocka_unit_test(keeps_documents_before_an_error),
		cmocka_unit_test(aliases_do_not_expand_a_document),
		cmocka_unit_test(nesting_is_limited),
		cmocka_unit_test(lines_of_fields),
		cmocka_unit_test(lines_of_items_and_json),
		cmocka_unit_test(duplicate_keys_are_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
