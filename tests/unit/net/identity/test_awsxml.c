/* SPDX-License-Identifier: Apache-2.0 */
/* Texts from XML: the first of several counts; what AWS never sends is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "net/identity/awsxml.h"

static char *first(const char *body, const char *path, struct err *err)
{
	char *out = NULL;

	if (awsxml_read(body, strlen(body), &path, 1, &out, err))
		assert_null(out);
	return out;
}

static void texts(void **state)
{
	static const char *const table[][3] = {
		{ "<a><b>1</b></a>", "a/b", "1" },
		{ "<a xmlns=\"urn:x\"><b>1</b><b>2</b></a>", "a/b", "1" },
		{ "<a><b><c>1</c></b><b><c>2</c><d>3</d></b></a>", "a/b/c", "1" },
		{ "<a><b><c>1</c></b><b><d>3</d></b></a>", "a/b/d", NULL }, /* of the first b only */
		{ "<a><b/><b>2</b></a>", "a/b", "" },
		{ "<a><x><b>0</b></x><b>1</b></a>", "a/b", "1" },
		{ "<a><b>1<x>no</x>2</b></a>", "a/b", "12" },
		{ "<a><b>&lt;&#228;</b></a>", "a/b", "<\303\244" },
		{ "<a><bb>1</bb></a>", "a/b", NULL },
		{ "<b>1</b>", "a/b", NULL },
		{ "<a>1</a>", "a", "1" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(table); i++) {
		struct err err = { 0 };
		MEM_AUTO char *got = first(table[i][0], table[i][1], &err);

		assert_int_equal(err.kind, ERR_NONE);
		if (table[i][2])
			assert_string_equal(got, table[i][2]);
		else
			assert_null(got);
	}
}

static void refused(void **state)
{
	static const char *const table[][2] = {
		{ "", "is not XML" },
		{ "{}", "is not XML" },
		{ "<a><b>1</b>", "is not XML" },
		{ "<!DOCTYPE a [<!ENTITY e \"1\">]><a><b>&e;</b></a>", "has a document type" },
	};
	struct err err = { 0 };
	char deep[65 * 3 + 1] = "";

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(table); i++) {
		err_clear(&err);
		assert_null(first(table[i][0], "a/b", &err));
		assert_int_equal(err.kind, ERR_INVALID);
		assert_non_null(strstr(err.msg, table[i][1]));
	}
	for (int i = 0; i < 65; i++)
		strcat(deep, "<a>");
	assert_null(first(deep, "a", &err));
	assert_non_null(strstr(err.msg, "nested too deep"));
	for (size_t elements = 99999; elements <= 100000; elements++) { /* and the root */
		struct buf many = BUF_INIT(1u << 20);
		MEM_AUTO char *got = NULL;

		err_clear(&err);
		buf_puts(&many, "<a><b>1</b>");
		for (size_t i = 1; i < elements; i++)
			buf_puts(&many, "<c/>");
		buf_puts(&many, "</a>");
		got = first(buf_text(&many), "a/b", &err);
		assert_int_equal(got != NULL, elements == 99999);
		assert_int_equal(strcmp(err.msg, "the answer has more than 100,000 elements") == 0, elements == 100000);
		buf_done(&many);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(texts), cmocka_unit_test(refused) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
