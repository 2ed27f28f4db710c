/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns of blobs' names by the rules of KEDA's library, and what they may cost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/mem.h"
#include "scalers/azure/blobglob.h"

static void patterns(void **state)
{
	static const struct {
		const char *pattern;
		const char *fits[6], *others[6]; /* NULL-terminated */
	} rows[] = {
		{ "a.json", { "a.json" }, { "axjson", "/a.json", "a.json ", "a.json\n", "" } },
		{ "/in/*.json", { "in/a.json", "in/b/c.json", "in/.json" },
			{ "/in/a.json", "in/a.jsonl", "out/a.json" } },
		{ "*", { "", "a", "a/b", "a\nb" }, { NULL } },
		/* before and behind the stars may overlap */
		{ "/dir/**/file", { "dir/a/file", "dir/file", "dir/a/b/file" },
			{ "dir/", "/file", "dirfile", "dir/files" } },
		{ "a\\*b*b\\?", { "a*b?", "a*bxb?" }, { "a*b", "axb?" } },
		{ "dir/**/f?le", { "dir/a/file" }, { "dir/file" } },
		{ "**/x***", { "/x", "a/b/x/c" }, { "x", "a/y" } },
		{ "a?c",
			{ "abc", "a/c",
				"a\xC3\xA4"
				"c" },
			{ "ac", "abbc" } },
		{ "[abc]x", { "ax", "cx" }, { "dx", "x" } },
		{ "[!abc]x", { "dx", "-x" }, { "ax", "x" } },
		{ "[a-c]x", { "ax", "bx" }, { "-x", "dx" } },
		{ "[!a-c]x", { "dx", "-x" }, { "bx" } },
		{ "[^a]", { "^", "a" }, { "b" } },
		{ "[\\]\\-]", { "]", "-" }, { "\\" } },
		{ "[-a]", { "-", "a" }, { "b" } },
		{ "[\xC3\xA4-\xC3\xBC]", { "\xC3\xB6" }, { "o" } },
		{ "{a,b*}.{json,xml}", { "a.json", "b.xml", "bcd.json" }, { "ab.json", "a.txt", "{a,b*}.json" } },
		{ "x{,y{1,2}}z", { "xz", "xy1z", "xy2z" }, { "xyz", "xy12z" } },
		{ "a,b}", { "a,b}" }, { "a", "b" } },
		{ "{a\\,b,\\}}", { "a,b", "}" }, { "a", "b" } },
		{ "a\\*\\?\\[", { "a*?[" }, { "abc[" } },
		{ "a\\", { "a\\" }, { "a" } },
		/* what has a meaning in a regular expression */
		{ "a+(b|c)$^.", { "a+(b|c)$^." }, { "aab", "a+b$^.", "a+(b|c)$^x" } },
		{ "\\d", { "d" }, { "1" } },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct err err = { 0 };
		struct blobglob *g = blobglob_new(rows[i].pattern, &err);
		size_t budget = BLOBGLOB_BUDGET;

		if (!g)
			fail_msg("%s: %s", rows[i].pattern, err.msg);
		for (const char *const *name = rows[i].fits; *name; name++)
			if (blobglob_matches(g, *name, &budget, &err) != 1)
				fail_msg("%s: not %s", rows[i].pattern, *name);
		for (const char *const *name = rows[i].others; *name; name++)
			if (blobglob_matches(g, *name, &budget, &err) != 0)
				fail_msg("%s: %s", rows[i].pattern, *name);
		blobglob_free(g);
	}
}

static void invalid_patterns(void **state)
{
	static char longest[600];
	static const struct {
		const char *pattern, *error;
	} rows[] = {
		{ "[abc", "a [ is not closed" },
		{ "[a-", "a [ is not closed" },
		{ "[", "a [ is not closed" },
		{ "[]", "[] is empty" },
		{ "[!]", "[] is empty" },
		{ "[a-zA-Z]", "a [] with a range must have nothing else" },
		{ "[c-a]", "a range in [] is in the wrong order" },
		{ "{a,b", "a { is not closed" },
		{ "{a,{b}", "a { is not closed" },
		{ "a\xFF", "it is not UTF-8" },
		{ "a*\xFF", "it is not UTF-8" },
		{ longest, "it is too long" },
	};

	(void)state;
	memset(longest, 'a', sizeof(longest) - 1);
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct err err = { 0 };

		if (blobglob_new(rows[i].pattern, &err))
			fail_msg("%s was accepted", rows[i].pattern);
		assert_int_equal(err.kind, ERR_INVALID);
		if (!strstr(err.msg, "invalid glob pattern \"") || !strstr(err.msg, rows[i].error))
			fail_msg("%s: %s", rows[i].pattern, err.msg);
	}
}

/* Names of 500 characters, as many as a piece of an answer has, are no matter for a plain one. */
static void costs(void **state)
{
	static char name[501];
	struct err err = { 0 };
	struct blobglob *plain = blobglob_new("in/*/{a,b}*.json", &err), *bad = blobglob_new("*a*a*a*a*a*a*a*b", &err);
	size_t budget = BLOBGLOB_BUDGET;

	(void)state;
	memset(name, 'a', sizeof(name) - 1);
	memcpy(name, "in/b/", 5);
	for (int i = 0; i < 27; i++)
		assert_int_equal(blobglob_matches(plain, name, &budget, &err), 0);
	budget = BLOBGLOB_BUDGET;
	assert_int_equal(blobglob_matches(bad, name, &budget, &err), -1);
	assert_string_equal(err.msg, "the glob pattern takes too long: use fewer *");
	blobglob_free(plain);
	blobglob_free(bad);
	blobglob_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(patterns), cmocka_unit_test(invalid_patterns),
		cmocka_unit_test(costs) };

	return cmocka_run_group_tests_name("scalers/azure/blobglob", tests, NULL, NULL);
}
