/* SPDX-License-Identifier: Apache-2.0 */

/* The command lines of all commands, and the manual. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/ask/explain.h"
#include "cli/ask/get.h"
#include "cli/check/check.h"
#include "cli/completion/completion.h"
#include "cli/doctor/doctor.h"
#include "cli/init.h"
#include "cli/join/join.h"
#include "cli/leave/leave.h"
#include "cli/manifests.h"
#include "options/options.h"

static const struct command {
	const struct commandline *line;
	const char *page, *section; /* NULL: the whole page */
} commands[] = {
	{ &options_line, "kscaled.8", "Options of run" },
	{ &cli_manifests_line, "kscaled.8", "Options of manifests" },
	{ &cli_explain_line, "kscaled-explain.1", NULL },
	{ &cli_get_line, "kscaled-get.1", NULL },
	{ &cli_doctor_line, "kscaled-doctor.1", NULL },
	{ &cli_join_line, "kscaled-join.1", NULL },
	{ &cli_leave_line, "kscaled-leave.1", NULL },
	{ &cli_init_line, "kscaled-init.1", NULL },
	{ &cli_check_line, "kscaled-check.1", NULL },
	{ &cli_completion_line, "kscaled-completion.1", NULL },
};

static char *page_of(const struct command *command)
{
	struct buf text = BUF_INIT((size_t)1 << 20);
	const char *folder = getenv("srcdir");
	MEM_AUTO char *path = mem_printf("%s/man/%s", folder ? folder : ".", command->page), *whole = NULL,
		      *head = NULL;
	char *start, *end, *chapter;
	struct err err;

	if (file_read(path, FILE_ANY, NULL, &text, &err) < 0)
		fail_msg("%s: %s", path, err.msg);
	whole = buf_take(&text);
	if (!command->section)
		return mem_dup(whole);
	head = mem_printf("\n.Ss %s\n", command->section);
	start = strstr(whole, head);
	assert_non_null(start);
	end = strstr(start + 1, "\n.Ss ");
	chapter = strstr(start, "\n.Sh ");
	end = !end || (chapter && chapter < end) ? chapter : end;
	return mem_dupn(start, end ? (size_t)(end - start) : strlen(start));
}

/* In mdoc: ".It Fl n , Fl -name Ar value". Counts the line's options in seen[]. */
static void read_item(const struct command *command, char *item, int *seen)
{
	char letter = '\0';
	struct option o;

	for (char *word; (word = strsep(&item, " ")) != NULL;) {
		if (strcmp(word, "Fl") != 0)
			continue;
		word = strsep(&item, " ");
		assert_non_null(word);
		if (*word != '-') {
			letter = *word;
			continue;
		}
		size_t i = 0;
		while (commandline_option(command->line, i, &o) && strcmp(o.name, word + 1) != 0)
			i++;
		if (!commandline_option(command->line, i, &o))
			fail_msg("%s: -%s is no option of %s", command->page, word, command->line->name);
		if (o.letter != letter)
			fail_msg("%s: -%s has the letter \"%c\", not \"%c\"", command->page, word, o.letter, letter);
		letter = '\0';
		seen[i]++;
	}
}

static void the_manual_has_each_option(void **state)
{
	struct option o;

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(commands); i++) {
		MEM_AUTO char *page = page_of(&commands[i]);
		int seen[COMMANDLINE_MAX] = { 0 };

		for (char *rest = page, *text; (text = strsep(&rest, "\n")) != NULL;)
			if (text_begins(text, ".It Fl "))
				read_item(&commands[i], text + 4, seen);
		for (size_t k = 0; commandline_option(commands[i].line, k, &o); k++)
			if (seen[k] != 1)
				fail_msg("%s has --%s of %s %d times", commands[i].page, o.name, commands[i].line->name,
					seen[k]);
	}
}

/* A name or letter twice would hide the second; a value needs room in struct commandline_given. */
static void names_are_unique(void **state)
{
	struct option a, b;

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(commands); i++) {
		const struct commandline *line = commands[i].line;
		size_t k = 0;

		for (; commandline_option(line, k, &a); k++) {
			assert_true(a.help && *a.help);
			assert_int_equal(a.argument == NULL, a.kind == OPTION_SWITCH || a.kind == OPTION_END);
			for (size_t l = k + 1; commandline_option(line, l, &b); l++)
				assert_true(strcmp(a.name, b.name) != 0 && (!a.letter || a.letter != b.letter));
		}
		assert_in_range(k, 1, COMMANDLINE_MAX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_manual_has_each_option),
		cmocka_unit_test(names_are_unique),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
