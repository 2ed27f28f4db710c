/* SPDX-License-Identifier: Apache-2.0 */
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
#include "cli/ask/explain.h"
#include "cli/ask/get.h"
#include "cli/check/check.h"
#include "cli/completion/completion.h"
#include "cli/manifests.h"
#include "net/tls/tlsrules.h"
#include "options/options.h"

static const struct commandline run_line = { .print_help = options_help, .values = options_values };

/* As main.c has them. */
static const struct completion_command commands[] = {
	{ "run", "runs the daemon", &run_line },
	{ "explain", "tells why", &cli_explain_line },
	{ "get", "lists the daemon's objects", &cli_get_line },
	{ "manifests", "prints", &cli_manifests_line },
	{ "check", "checks", &cli_check_line },
	{ "completion", "completes", &cli_completion_line },
	{ "version", "prints", NULL },
};

static const char *const shells[] = { "bash", "zsh", "fish" };

static char *script(const char *shell)
{
	struct err err = { 0 };
	char *text = completion_script(shell, commands, MEM_COUNT(commands), &err);

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
		assert_int_equal(strstr(part, with_value) != NULL, option->has_arg != no_argument);
	} else if (fish) {
		assert_int_equal(strncmp(at + strlen(name), "-r", 2) == 0 || strncmp(at + strlen(name), "-x", 2) == 0,
			option->has_arg != no_argument);
	} else {
		MEM_AUTO char *with_value = mem_printf("--%s=", option->name);
		assert_int_equal(strstr(part, with_value) != NULL, option->has_arg != no_argument);
	}
}

/*
 * Each option of getopt_long is in each script, with a value if it takes one, although the script
 * is generated from --help. One option exists only to report its removal.
 */
static void completes_every_option(void **state)
{
	int seen = 0;

	(void)state;
	for (size_t s = 0; s < MEM_COUNT(shells); s++) {
		MEM_AUTO char *text = script(shells[s]);

		for (size_t i = 1; commands[i].line; i++) {
			MEM_AUTO char *part = part_of(shells[s], text, commands[i].name);

			for (const struct option *o = commands[i].line->options; o->name; o++, seen++) {
				if (strcmp(o->name, "status-address") == 0)
					assert_null(strstr(part, o->name));
				else
					stands_in(shells[s], part, commands[i].name, o);
			}
		}
	}
	assert_true(seen > 3 * 25);
}

/* tests/unit/options/test_options.c compares options_help with the table. */
static void completes_every_daemon_option(void **state)
{
	char *help = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&help, &size);
	int seen = 0;

	(void)state;
	options_help(out);
	fclose(out);
	for (size_t s = 0; s < MEM_COUNT(shells); s++) {
		MEM_AUTO char *text = script(shells[s]), *part = part_of(shells[s], text, "run"), *copy = mem_dup(help);

		for (char *rest = copy, *line; (line = strsep(&rest, "\n")) != NULL;) {
			if (strncmp(line, "  --", 4) != 0)
				continue;
			size_t len = strcspn(line + 4, " ");
			bool has_value = line[4 + len] != '\0';
			line[4 + len] = '\0';
			stands_in(shells[s], part, "run",
				&(struct option){ line + 4, has_value ? required_argument : no_argument, NULL, 0 });
			seen++;
		}
	}
	assert_int_equal(seen, 3 * (50 + 2));
	free(help);
}

static void completes_commands_and_values(void **state)
{
	(void)state;
	for (size_t s = 0; s < MEM_COUNT(shells); s++) {
		MEM_AUTO char *text = script(shells[s]), *get = part_of(shells[s], text, "get"),
			      *explain = part_of(shells[s], text, "explain"), *run = part_of(shells[s], text, "run");

		for (size_t i = 0; i < MEM_COUNT(commands); i++)
			assert_non_null(strstr(text, commands[i].name));
		assert_non_null(strstr(get, "json wide"));
		assert_non_null(strstr(get, "so scaledobject "));
		assert_null(strstr(explain, "wide"));
		assert_non_null(strstr(run, "debug info warn error"));
		assert_non_null(strstr(run, "text json"));
		assert_non_null(strstr(run, "true false"));
		assert_non_null(strstr(run, "TLS10 TLS11 TLS12 TLS13"));
		assert_non_null(strstr(text, "bash zsh fish"));
	}
}

/* Offered values are accepted. */
static void each_value_of_an_option_is_accepted(void **state)
{
	static const char *const names[] = { "leader-elect", "log-level", "log-format", "http-min-tls-version" };
	int seen = 0;

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(names); i++) {
		for (const char *const *value = options_values(names[i]); *value; value++, seen++) {
			MEM_AUTO char *flag = mem_printf("--%s=%s", names[i], *value);
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
	assert_int_equal(seen, 2 + 4 + 2 + 4);
	assert_null(options_values("namespace"));
	assert_null(options_values("nonsense"));
}

/* Special characters are quoted: apostrophes, and brackets for zsh. */
static void help_texts_are_quoted(void **state)
{
	static const struct commandline line = { .help = "  --odd X      it's [a\\b] $x `c`\n" };
	static const struct completion_command odd[] = { { "run", "it's", &line } };
	static const char *const expected[][3] = {
		{ "zsh", "'--odd=[it'\\''s \\[a\\\\b\\] $x `c`]:X: '", "'run:it'\\''s'" },
		{ "fish", "-d 'it\\'s [a\\\\b] $x `c`'", "-a run -d 'it\\'s'" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(expected); i++) {
		MEM_AUTO char *text = completion_script(expected[i][0], odd, 1, NULL);

		for (size_t j = 1; j < 3; j++)
			if (!strstr(text, expected[i][j]))
				fail_msg("\"%s\" is missing in %s", expected[i][j], text);
	}
}

static void unknown_shell_is_an_error(void **state)
{
	struct err err = { 0 };

	(void)state;
	assert_null(completion_script("tcsh", commands, MEM_COUNT(commands), &err));
	assert_int_equal(err.kind, ERR_INVALID);
	assert_string_equal(err.msg, "unknown shell \"tcsh\": use bash, zsh or fish");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(completes_every_option),
		cmocka_unit_test(completes_every_daemon_option),
		cmocka_unit_test(completes_commands_and_values),
		cmocka_unit_test(each_value_of_an_option_is_accepted),
		cmocka_unit_test(help_texts_are_quoted),
		cmocka_unit_test(unknown_shell_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
