/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/init.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/check/checkobjects.h"
#include "net/tls/tlsrules.h"
#include "scalers/params.h"
#include "scalers/scaler.h"

/* No problems or warnings, except that KEDA has deprecated the type. */
static void check(const char *type, const struct buf *text)
{
	size_t announced = scaler_type_find(type)->announced != NULL;
	struct checkobjects_params params = { .namespace_ = "default", .rules = { .cluster_namespace = "kscaled" } };
	struct documents *d = documents_new();
	struct checkobjects_result found;
	struct err err = { 0 };

	if (documents_read(d, type, buf_text(text), text->len, &err) < 0)
		fail_msg("%s: %s", type, err.msg);
	assert_int_equal(d->count, 1);
	found = checkobjects_run(&params, d, stderr);
	documents_free(d);
	if (found.problems > 0 || found.warnings != announced)
		fail_msg("%s does not pass: %s", type, buf_text(text));
}

/* Each parameter of its tables, except ignored and refused ones, is printed with its help. */
static void look_for_rows(const char *name, const char *text)
{
	const struct scaler_type *type = scaler_type_find(name);

	assert_non_null(type);
	for (size_t t = 0; type && type->tables[t]; t++) {
		for (size_t i = 0; i < type->tables[t]->count; i++) {
			const struct param_row *row = &type->tables[t]->rows[i];
			const char *names = row->names;
			char spelling[PARAM_NAME_SIZE];

			params_next_name(&names, spelling);
			if (row->kind == PARAM_IGNORED || row->kind == PARAM_REFUSED || row->kind == PARAM_DROPPED ||
				row->kind == PARAM_OTHERS || strcmp(spelling, "type") == 0)
				continue;
			if (!strstr(text, spelling) || !row->help || !strstr(text, row->help))
				fail_msg("%s: nothing is told of %s in: %s", name, spelling, text);
		}
	}
}

static void each_type_passes_check(void **state)
{
	MEM_AUTO char *names = mem_dup(scaler_type_names());
	char *rest = names, *name;
	size_t count = 0;

	(void)state;
	tlsrules_set(&(struct tlsrules_config){ .required = false }, NULL);
	while ((name = strsep(&rest, ",")) != NULL) {
		struct buf out = BUF_INIT(1 << 20);

		name = text_trim(name, " ");
		assert_true(init_print(name, &out));
		check(name, &out);
		look_for_rows(name, buf_text(&out));
		buf_done(&out);
		count++;
	}
	assert_true(count >= 16);
	tlsrules_done();
}

static void an_unknown_type(void **state)
{
	struct buf out = BUF_INIT(1000);

	(void)state;
	assert_false(init_print("predictkube", &out));
	assert_int_equal(out.len, 0);
	buf_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_type_passes_check),
		cmocka_unit_test(an_unknown_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
