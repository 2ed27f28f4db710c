/* SPDX-License-Identifier: Apache-2.0 */
/* Of a thousand unknown keys only a few are compared with all names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/editdist.h"
#include "base/mem.h"
#include "scalers/params.h"

static unsigned compared;

bool __real_editdist_offer(struct editdist_best *best, const char *name);
bool __wrap_editdist_offer(struct editdist_best *best, const char *name);
bool __wrap_editdist_offer(struct editdist_best *best, const char *name)
{
	compared++;
	return __real_editdist_offer(best, name);
}

static void unknown_keys_are_limited(void **state)
{
	static const struct param_row rows[] = {
		{ "count|number", PARAM_TEXT, "mae", 0, .required = false },
		{ "colour", PARAM_TEXT, "m", 0, .required = false },
	};
	static const struct param_table table = PARAM_TABLE(rows), *const tables[] = { &table, NULL };
	struct strmap metadata = { 0 };
	struct scaler_params params = { .tables = tables, .metadata = &metadata };
	char *said;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		MEM_AUTO char *key = mem_printf("colou%03d", i);

		strmap_set(&metadata, key, "x");
	}
	strmap_set(&metadata, "colour", "x");
	strmap_set(&metadata, "numberFromEnv", "x");
	said = params_unknown(&params);
	assert_non_null(strstr(said, "\"colou000\""));
	assert_non_null(strstr(said, "\"colou007\""));
	assert_null(strstr(said, "\"colou008\""));
	assert_non_null(strstr(said, ", and 992 more"));
	assert_in_range(compared, 1, 1000);
	free(said);
	strmap_done(&metadata);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(unknown_keys_are_limited) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
