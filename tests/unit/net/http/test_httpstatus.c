/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/http/httpstatus.h"

static void labels(void **state)
{
	static const struct {
		int status;
		const char *label;
	} rows[] = { { 200, "200" }, { 226, "226" }, { 304, "304" }, { 404, "404" }, { 431, "431" }, { 432, "other" },
		{ 451, "451" }, { 499, "other" }, { 503, "503" }, { 511, "511" }, { 600, "other" }, { 999, "other" },
		{ 0, "other" }, { -1, "other" }, { 1000, "other" } };
	char text[HTTPSTATUS_TEXT];
	int labels = 0;

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++)
		assert_string_equal(httpstatus_label(rows[i].status, text), rows[i].label);
	/* times some thirty types of triggers: as many series a server can make */
	for (int status = 0; status < 1000; status++)
		labels += strcmp(httpstatus_label(status, text), "other") != 0;
	assert_true(labels < 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(labels) };

	return cmocka_run_group_tests_name("net/http/httpstatus", tests, NULL, NULL);
}
