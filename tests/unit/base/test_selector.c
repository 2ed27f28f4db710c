/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/selector.h"

#define A63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* Accepted texts, and the result as key=value pairs in order. */
static void reads(void **state)
{
	static const struct {
		const char *text, *pairs;
	} rows[] = {
		{ "", "" },
		{ "  ", "" },
		{ "a=b", "a=b" },
		{ "a==b", "a=b" },
		{ "scaledobject.keda.sh/name=web", "scaledobject.keda.sh/name=web" },
		{ "c=d,a=b", "a=b,c=d" },
		{ " a = b , c == d ", "a=b,c=d" },
		{ "a=", "a=" },
		{ "a=,b=c", "a=,b=c" },
		{ "a==", "a=" },
		{ "a=b,a=b", "a=b" },
		{ "A.b_c-D=0.1_x-Y", "A.b_c-D=0.1_x-Y" },
		{ "in=in", "in=in" },
		{ "notin=x", "notin=x" },
		{ A63 "=" A63, A63 "=" A63 },
		{ "x.y-z.9/k=v", "x.y-z.9/k=v" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct strmap m = { NULL, 0 };
		struct buf pairs = BUF_INIT(4096);
		struct err err;
		if (selector_parse(rows[i].text, &m, &err) < 0)
			fail_msg("\"%s\": %s", rows[i].text, err.msg);
		for (size_t p = 0; p < m.count; p++)
			buf_printf(&pairs, "%s%s=%s", p > 0 ? "," : "", m.pairs[p].key, m.pairs[p].value);
		assert_string_equal(buf_text(&pairs), rows[i].pairs);
		strmap_done(&m);
		buf_done(&pairs);
	}
}

/* Refused texts, and part of the message. */
static void refuses(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{ "a!=b", "not !=" },
		{ "!a", "not !key" },
		{ "! a", "not !key" },
		{ "a", "not key alone" },
		{ "x.y/a", "not key alone" },
		{ "a in (b)", "not in" },
		{ "a in(b,c)", "not in" },
		{ "a notin (b, c)", "not notin" },
		{ "b=c,a notin (b, c)", "not notin" },
		{ "a>1", "not >" },
		{ "a<1", "not <" },
		{ "a exists", "is not key=value" },
		{ "a=b,", "comma" },
		{ ",a=b", "comma" },
		{ "a=b,,c=d", "comma" },
		{ ",", "comma" },
		{ "=b", "is not a valid label key" },
		{ "=", "is not a valid label key" },
		{ "-a=b", "\"-a\" is not a valid label key" },
		{ "a-=b", "is not a valid label key" },
		{ "a b=c", "is not a valid label key" },
		{ "a" A63 "=b", "is not a valid label key" },
		{ "/a=b", "is not a valid label key" },
		{ "a/=b", "is not a valid label key" },
		{ "a/b/c=d", "is not a valid label key" },
		{ "A.b/c=d", "is not a valid label key" },
		{ ".a/b=c", "is not a valid label key" },
		{ "a./b=c", "is not a valid label key" },
		{ "a..b/c=d", "is not a valid label key" },
		{ "a.-b/c=d", "is not a valid label key" },
		{ "a-.b/c=d", "is not a valid label key" },
		{ "a_b/c=d", "is not a valid label key" },
		{ "a=-b", "is not a valid label value" },
		{ "a=b-", "is not a valid label value" },
		{ "a=b c", "is not a valid label value" },
		{ "a=b=c", "is not a valid label value" },
		{ "a===b", "is not a valid label value" },
		{ "a=\xC3\xA9", "is not a valid label value" },
		{ "a=b" A63, "is not a valid label value" },
		{ "a=b,a=c", "cannot be both \"b\" and \"c\"" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct strmap m = { NULL, 0 };
		struct err err;
		if (selector_parse(rows[i].text, &m, &err) == 0)
			fail_msg("\"%s\" was read", rows[i].text);
		assert_int_equal(err.kind, ERR_INVALID);
		if (strstr(err.msg, rows[i].says) == NULL)
			fail_msg("\"%s\": \"%s\" does not say \"%s\"", rows[i].text, err.msg, rows[i].says);
		assert_int_equal(m.count, 0);
	}
}

static void refuses_long_texts(void **state)
{
	struct buf text = BUF_INIT(100000);
	struct strmap m = { NULL, 0 };
	struct err err;

	(void)state;
	for (int i = 0; i < 5000; i++)
		buf_printf(&text, "k%d=v,", i);
	buf_puts(&text, "last=v");
	assert_int_equal(selector_parse(buf_text(&text), &m, &err), -1);
	assert_non_null(strstr(err.msg, "longer than"));
	buf_done(&text);
}

static void long_prefix(void **state)
{
	struct strmap m = { NULL, 0 };
	char text[400];

	(void)state;
	for (size_t len = 252; len <= 255; len++) {
		memset(text, 'a', len);
		text[len] = '\0';
		snprintf(text + len, sizeof(text) - len, "/b=c");
		assert_int_equal(selector_parse(text, &m, NULL), len <= 253 ? 0 : -1);
		strmap_done(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads),
		cmocka_unit_test(refuses),
		cmocka_unit_test(refuses_long_texts),
		cmocka_unit_test(long_prefix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
