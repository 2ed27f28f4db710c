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

static const char *const shells[] = { "bash", "zsh", "fish" };

static char *script(const char *shell)
{
	struct err err = { 0 };
	char *text = completion_script(shell, commands, &err);

	if (!text)
		fail_msg("%s", err.msg);
	return text;
}

/* The part of the script for one command. */
static char *part_of(const char *shell, const char *text, const char *command)
{
	bool fish = strcmp(shell, "fish") == 0;
	MEM_AUTO char *begin = mem_printf(fish ? "complete -c kscaled -n '__kscaled_is %s" : "\n\t%s)\n", command);
	const char *start = strstr(text, begin), *end;

	if (!start)
		fail_msg("%s has no part about %s", shell, command);
	if (!fish) {
		end = strstr(start, "\n\t\t;;\n");
		assert_non_null(end);
		return mem_dupn(start, (size_t)(end - start));
	}
	for (end = start; text_begins(end, begin); end = strchr(end, '\n') + 1)
		continue;
	return mem_dupn(start, (size_t)(end - start));
}

static void stands_in(const char *shell, const char *part, const char *command, const struct option *option)
{
	bool bash = strcmp(shell, "bash") == 0, fish = strcmp(shell, "fish") == 0;
	MEM_AUTO char *name = mem_printf(fish ? " -l %s " : "--%s", option->name);
	const char *at = strstr(part, name);

	while (at && !fish && strchr(" =['),|}", at[strlen(name)]) == NULL)
		at = strstr(at + 1, name);
	if (!at)
		fail_msg("%s: %s --%s is missing", shell, command, option->name);
	if (bash) {
		MEM_AUTO char *with_value = mem_printf("--%s) ", option->name);
		assert_int_equal(strstr(part, with_value) != NULL, option->argument != NULL);
	} else if (fish) {
		assert_int_equal(strncmp(at + strlen(name), "-r", 2) == 0 || strncmp(at + strlen(name), "-x", 2) == 0,
			option->argument != NULL);
	} else {
		MEM_AUTO char *with_value = mem_printf("--%s=", option->name);
		assert_int_equal(strstr(part, with_value) != NULL, option->argument != NULL);
	}
}

/* With a value if it takes one. */
static void completes_every_option(void **state)
{
	struct option option;
	int seen = 0;

	(void)state;
	for (size_t s = 0; s < MEM_COUNT(shells); s++) {
		MEM_AUTO char *text = script(shells[s]);

		for (size_t i = 0; commands[i]; i++) {
			MEM_AUTO char *part = commands[i]->usage ? part_of(shells[s], text, commands[i]->name) : NULL;

			for (size_t k = 0; commandline_option(commands[i], k, &option); k++, seen++)
				stands_in(shells[s], part, commands[i]->name, &option);
		}
		assert_null(strstr(text, "--status-address was"));
	}
	assert_true(seen > 3 * 130);
}

static void completes_commands_and_values(void **state)
{
	(void)state;
	for (size_t s = 0; s < MEM_COUNT(shells); s++) {
		MEM_AUTO char *text = script(shells[s]), *get = part_of(shells[s], text, "get"),
			      *explain = part_of(shells[s], text, "explain"), *run = part_of(shells[s], text, "run");

		for (size_t i = 0; commands[i]; i++)
			assert_non_null(strstr(text, commands[i]->name));
		assert_non_null(strstr(get, "json wide"));
		assert_non_null(strstr(get, "so scaledobject "));
		assert_null(strstr(explain, "wide"));
		assert_non_null(strstr(run, "debug info warn error"));
		assert_non_null(strstr(run, "text json"));
		assert_non_null(strstr(run, "true false"));
		assert_non_null(strstr(run, "TLS10 TLS11 TLS12 TLS13"));
		assert_non_null(strstr(text, "bash zsh fish"));
		assert_non_null(strstr(text, "pod service"));
	}
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

/* Special characters are quoted: apostrophes, and brackets for zsh. */
static void help_texts_are_quoted(void **state)
{
	static const struct option odd_option[] = {
		{ "odd", OPTION_TEXT, .argument = "X", .help = "it's [a\\b] $x `c`" }, { .name = NULL }
	};
	static const struct commandline line = { .name = "run",
		.summary = "it's",
		.tables = { { .options = odd_option } } };
	const struct commandline *const odd[] = { &line, NULL };
	static const char *const expected[][3] = {
		{ "zsh", "'--odd=[it'\\''s \\[a\\\\b\\] $x `c`]:X: '", "'run:it'\\''s'" },
		{ "fish", "-d 'it\\'s [a\\\\b] $x `c`'", "-a run -d 'it\\'s'" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(expected); i++) {
		MEM_AUTO char *text = completion_script(expected[i][0], odd, NULL);

		for (size_t j = 1; j < 3; j++)
			if (!strstr(text, expected[i][j]))
				fail_msg("\"%s\" is missing in %s", expected[i][j], text);
	}
}

static void unknown_shell_is_an_error(void **state)
{
	struct err err = { 0 };

	(void)state;
	assert_null(completion_script("tcsh", commands, &err));
	assert_int_equal(err.kind, ERR_INVALID);
	assert_string_equal(err.msg, "unknown shell \"tcsh\": use bash, zsh or fish");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(completes_every_option),
		cmocka_unit_test(completes_commands_and_values),
		cmocka_unit_test(each_value_of_an_option_is_accepted),
		cmocka_unit_test(help_texts_are_quoted),
		cmocka_unit_test(unknown_shell_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
