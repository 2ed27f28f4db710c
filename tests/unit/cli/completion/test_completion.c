/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/completion/completion.h"

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
#include "cli/commands.h"
#include "net/tls/tlsrules.h"
#include "options/options.h"

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* The answer to words, which begin with the shell. */
static char *answer(const char *const *words)
{
	struct buf out = BUF_INIT(SIZE_MAX);
	struct err err = { 0 };
	char *copies[8];
	int count = 0;

	for (; words[count]; count++)
		copies[count] = (char *)(uintptr_t)words[count];
	if (completion_print(commands, copies, count, &out, &err) < 0)
		fail_msg("%s", err.msg);
	return buf_take(&out);
}

static void offers(const char *const *words, const char *expected)
{
	MEM_AUTO char *text = answer(words);

	assert_string_equal(text, expected);
}

/* Each with its help, and its values behind it, as the next word and with "=". */
static void completes_every_option(void **state)
{
	struct option option;
	int seen = 0;

	(void)state;
	for (size_t i = 0; commands[i]; i++) {
		for (size_t k = 0; commandline_option(commands[i], k, &option); k++, seen++) {
			MEM_AUTO char *name = mem_printf("--%s", option.name), *joined = mem_printf("%s=", name),
				      *line = mem_printf("%s\t%s\n", name, option.help);
			MEM_AUTO char *all = answer(WORDS("fish", commands[i]->name, "--")),
				      *bare = answer(WORDS("bash", commands[i]->name, name));
			const char *const *values = option.argument ? commandline_words(&option) : NULL;
			MEM_AUTO char *next = answer(WORDS("bash", commands[i]->name, name, "")),
				      *same = answer(WORDS("bash", commands[i]->name, joined));

			if (!strstr(all, line))
				fail_msg("%s: no %s", commands[i]->name, line);
			assert_true(text_begins(bare, name));
			if (option.argument)
				assert_string_equal(next, same);
			else
				assert_string_equal(same, "");
			for (; values && *values; values++)
				assert_non_null(strstr(next, *values));
		}
	}
	assert_true(seen > 130);
}

static void completes_commands_and_values(void **state)
{
	static const struct {
		const char *words[6], *offered;
	} rows[] = {
		{ { "bash", "ma" }, "manifests\n" },
		{ { "zsh", "expl" }, "explain:explains the replicas or Jobs of an object\n" },
		{ { "bash", "get", "-o", "" }, "json\nwide\n" },
		{ { "zsh", "get", "--output=w" }, "wide\n" },
		{ { "fish", "get", "--output=w" }, "--output=wide\n" },
		{ { "bash", "get", "--strict=" }, "" },
		{ { "bash", "get", "scaledj" }, "scaledjob\nscaledjobs\n" },
		{ { "bash", "explain", "-o", "w" }, "" },
		{ { "bash", "explain", "--status" }, "" },
		{ { "bash", "--log-level", "d" }, "debug\n" },
		{ { "bash", "--log-f" }, "--log-format\n" },
		{ { "fish", "run", "--webhook=" }, "--webhook=true\n--webhook=false\n" },
		{ { "bash", "run", "--config", "x" }, ":files\n" },
		{ { "fish", "run", "--ca-dir=x" }, ":folders\n" },
		{ { "bash", "run", "--namespace", "x" }, "" },
		{ { "bash", "run", "x" }, "" },
		{ { "zsh", "check", "-v", "x" }, ":files\n" },
		{ { "bash", "check", "-n", "x" }, "" },
		{ { "bash", "manifests", "--monitor", "" }, "pod\nservice\n" },
		{ { "bash", "completion", "" }, "bash\nzsh\nfish\n" },
		{ { "bash", "version", "--" }, "" },
		{ { "bash", "nonsense", "--" }, "" },
		{ { "bash", "nonsense", "" }, "" },
		{ { "bash", "get", "-" }, "--namespace\n--all-namespaces\n--output\n--socket\n--kubeconfig\n--help\n" },
	};
	MEM_AUTO char *all = answer(WORDS("bash", ""));
	const char *at = all;

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++)
		offers(rows[i].words, rows[i].offered);
	for (size_t i = 0; commands[i]; i++) {
		assert_true(text_begins(at, commands[i]->name));
		at = strchr(at, '\n') + 1;
	}
	assert_string_equal(at, "");
}

/* Offered values are accepted. */
static void each_value_of_an_option_is_accepted(void **state)
{
	struct option option;
	int seen = 0;

	(void)state;
	for (size_t i = 0; commandline_option(&options_line, i, &option); i++) {
		for (const char *const *value = commandline_words(&option); value && *value; value++, seen++) {
			MEM_AUTO char *flag = mem_printf("--%s=%s", option.name, *value);
			struct options options;
			struct err err = { 0 };

			if (options_load(1, &flag, &options, &err) < 0 ||
				tlsrules_set(&(struct tlsrules_config){ .min_version = options.http_min_tls_version },
					&err) < 0)
				fail_msg("%s: %s", flag, err.msg);
			tlsrules_done();
			options_done(&options);
		}
	}
	assert_int_equal(seen, 10 * 2 + 4 + 2 + 4 + 3);
}

/* tests/check-completion has the shells run them. */
static void scripts(void **state)
{
	static const char *const shells[] = { "bash", "zsh", "fish" };

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(shells); i++) {
		MEM_AUTO char *script = answer(WORDS(shells[i])),
			      *call = mem_printf("kscaled completion %s -- ", shells[i]);

		assert_non_null(strstr(script, call));
	}
}

static void unknown_shell_is_an_error(void **state)
{
	struct buf out = BUF_INIT(SIZE_MAX);
	char name[] = "tcsh", *words[] = { name };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(completion_print(commands, words, 1, &out, &err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_string_equal(err.msg, "unknown shell \"tcsh\": use bash, zsh or fish");
	assert_int_equal(out.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(completes_every_option),
		cmocka_unit_test(completes_commands_and_values),
		cmocka_unit_test(each_value_of_an_option_is_accepted),
		cmocka_unit_test(scripts),
		cmocka_unit_test(unknown_shell_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
