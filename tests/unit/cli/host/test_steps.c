/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/host/steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cli/commands.h"

/* --wait and the directories, as join and leave take them. */
static void arguments(void **state)
{
	static const struct {
		const char *argument, *says; /* NULL: taken */
	} rows[] = { { "--wait=0s", NULL }, { "--wait=90s", NULL }, { "--wait=1h", NULL },
		{ "--wait=1h1s", "--wait: \"1h1s\" is out of range: 0s to 1h" }, { "--wait=-1s", "--wait: " },
		{ "--wait=soon", "--wait: " }, { "--wait=", "--wait: " },
		{ "--config-dir=etc", "--config-dir: \"etc\" is not an absolute path" },
		{ "--state-dir=", "is not an absolute path" } };
	const struct commandline *const lines[] = { &cli_join_line, &cli_leave_line };

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows) * 2; i++) {
		MEM_AUTO char *argument = mem_dup(rows[i / 2].argument);
		struct steps_arguments a = { .files = { "/etc", "/var" } };
		struct commandline_given given;
		struct option o;
		struct err err = { 0 };
		int64_t wait_ms = -1;
		int failed = commandline_parse(lines[i % 2], 1, &argument, &given, &err);

		for (size_t k = 0; !failed && commandline_option(lines[i % 2], k, &o); k++) {
			if (!given.value[k])
				continue;
			bool wait = strcmp(o.name, "wait") == 0;
			o.offset = wait ? 0 : o.offset - lines[i % 2]->tables[0].base;
			failed = commandline_set(&o, given.value[k], wait ? (void *)&wait_ms : &a, &err);
			if (failed)
				err_wrap(&err, "--%s", o.name);
		}
		assert_int_equal(failed != 0, rows[i / 2].says != NULL);
		if (rows[i / 2].says && !strstr(err.msg, rows[i / 2].says))
			fail_msg("%s: %s", argument, err.msg);
	}
}

static void time_passes(void **state)
{
	int64_t begin = steps_now_ms();

	(void)state;
	steps_nap();
	assert_true(steps_now_ms() - begin >= 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments),
		cmocka_unit_test(time_passes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
