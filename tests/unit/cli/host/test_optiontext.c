/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/host/optiontext.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"

struct values {
	const char *text, *unset;
	bool yes, no;
};

static const struct option options[] = {
	{ "text", OPTION_TEXT, offsetof(struct values, text), .help = "" },
	{ "unset", OPTION_LABEL, offsetof(struct values, unset), .help = "" },
	{ "yes", OPTION_SWITCH, offsetof(struct values, yes), .help = "" },
	{ "no", OPTION_SWITCH, offsetof(struct values, no), .help = "" },
	{ .name = NULL },
};

static void reads_what_it_writes(void **state)
{
	const struct values values = { .text = "a b", .yes = true };
	struct buf out = BUF_INIT(1000);
	MEM_AUTO char *text = NULL, *yes = NULL;

	(void)state;
	optiontext_put(&out, options, &values, '=');
	assert_string_equal(buf_text(&out), " --text='a b' --yes");
	text = optiontext_find(buf_text(&out) + 1, "text");
	yes = optiontext_find(buf_text(&out) + 1, "yes");
	assert_string_equal(text, "a b");
	assert_string_equal(yes, "");
	assert_null(optiontext_find(buf_text(&out) + 1, "no"));
	assert_null(optiontext_find(buf_text(&out) + 1, "tex"));
	buf_reset(&out);
	optiontext_put(&out, options, &values, ' ');
	optiontext_put_one(&out, "one", "x", ' ');
	optiontext_put_one(&out, "none", NULL, ' ');
	assert_string_equal(buf_text(&out), " --text 'a b' --yes --one x");
	buf_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_it_writes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
