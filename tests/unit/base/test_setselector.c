/* SPDX-License-Identifier: Apache-2.0 */
/* Label selectors for Pods: the whole language, its normal form, and errors with their place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/setselector.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void understood(void **state)
{
	static const struct {
		const char *text, *normal;
	} rows[] = {
		{ "app=web", "app=web" },
		{ " app == web ,tier!= db", "app=web,tier!=db" },
		{ "tier in (a, b ,c),env notin(test)", "tier in (a,b,c),env notin (test)" },
		{ "!canary , gpu", "!canary,gpu" },
		{ "! canary", "!canary" },
		{ "size>3,size < 10", "size>3,size<10" },
		{ "app=", "app=" },
		{ "app!=,x", "app!=,x" },
		{ "a in (,b)", "a in (,b)" },
		{ "app.kubernetes.io/name=x_y.z-1", "app.kubernetes.io/name=x_y.z-1" },
		{ "in in (in,notin),notin=in", "in in (in,notin),notin=in" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err err = { 0 };
		MEM_AUTO char *normal = setselector_normal(rows[i].text, &err), *again = NULL;

		if (!normal)
			fail_msg("%s: %s", rows[i].text, err.msg);
		assert_string_equal(normal, rows[i].normal);
		again = setselector_normal(normal, &err);
		assert_string_equal(again, normal);
	}
}

static void refused(void **state)
{
	static const struct {
		const char *text, *message;
	} rows[] = {
		{ "", "(character 1): the key of a label is missing" },
		{ "  ", "the key of a label is missing" },
		{ "app=web,", "\"app=web,\" (character 9): the key of a label is missing" },
		{ ",app=web", "(character 1): the key" },
		{ "=web", "(character 1): the key" },
		{ "app=we b", "(character 8): a comma or the end is needed" },
		{ "app web", "(character 5): the key must be followed by one of" },
		{ "app=a=b", "a comma or the end is needed" },
		{ "a in", "need values in brackets" },
		{ "a in b", "need values in brackets" },
		{ "a in ()", "there must be a value between the brackets" },
		{ "a in (b", "a comma or a closing bracket is missing" },
		{ "a in (b c)", "a comma or a closing bracket is missing" },
		{ "a in (b))", "a comma or the end is needed" },
		{ "!a=b", "!key must be followed by a comma or the end" },
		{ "!!a", "the key" },
		{ "a>b", "need a whole number" },
		{ "a>", "need a whole number" },
		{ "-a=b", "is not a valid label key" },
		{ "A/B/c=b", "is not a valid label key" },
		{ "a=-b", "is not a valid label value" },
		{ "a=b*", "is not a valid label value" },
		{ "a(b)", "the key must be followed by one of" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err err = { 0 };

		if (setselector_normal(rows[i].text, &err))
			fail_msg("\"%s\" was accepted", rows[i].text);
		assert_int_equal(err.kind, ERR_INVALID);
		if (!strstr(err.msg, rows[i].message))
			fail_msg("\"%s\": said \"%s\"", rows[i].text, err.msg);
	}
}

/* Of app=web, tier=db, size=12, empty= and part.of/it=x. */
static void evaluated(void **state)
{
	static const struct {
		const char *text;
		bool matches;
	} rows[] = {
		{ "app=web", true },
		{ "app=we", false },
		{ "app=web2", false },
		{ "app==web,tier=db", true },
		{ "app=web,tier=cache", false },
		{ "none=web", false },
		{ "app!=web", false },
		{ "app!=api", true },
		{ "none!=web", true },
		{ "app", true },
		{ "none", false },
		{ "ap", false },
		{ "!app", false },
		{ "!none", true },
		{ "app,!none,tier", true },
		{ "app in (api,web)", true },
		{ "app in (web)", true },
		{ "app in (api,we)", false },
		{ "none in (a,)", false },
		{ "app notin (api,we)", true },
		{ "app notin (api,web)", false },
		{ "none notin (api)", true },
		{ "app in (api,web),tier notin (cache),size>11", true },
		{ "app in (api,web),tier notin (cache,db)", false },
		{ "size>11", true },
		{ "size>12", false },
		{ "size<13", true },
		{ "size<9", false },
		{ "app>1", false },
		{ "none<1", false },
		{ "empty=", true },
		{ "app=", false },
		{ "empty in (,b)", true },
		{ "empty in (b,)", true },
		{ "empty>0", false },
		{ "part.of/it=x", true },
	};
	struct strmap labels = { NULL, 0 };

	(void)state;
	strmap_set(&labels, "app", "web");
	strmap_set(&labels, "tier", "db");
	strmap_set(&labels, "size", "12");
	strmap_set(&labels, "empty", "");
	strmap_set(&labels, "part.of/it", "x");
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err err = { 0 };
		MEM_AUTO char *normal = setselector_normal(rows[i].text, &err);

		assert_non_null(normal);
		if (setselector_matches(normal, &labels) != rows[i].matches)
			fail_msg("%s", rows[i].text);
	}
	assert_true(setselector_matches("", &labels));
	strmap_done(&labels);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(understood), cmocka_unit_test(refused),
		cmocka_unit_test(evaluated) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
