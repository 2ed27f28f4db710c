/* SPDX-License-Identifier: Apache-2.0 */

/* The command lines of all commands, and the manual. */

#include "cli/commands.h"

#include <ctype.h>
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

#define PAGE_OF_ALL "kscaled.8"

/* NULL: no such page. The caller owns it. */
static char *page_named(const char *name)
{
	struct buf text = BUF_INIT((size_t)1 << 20);
	const char *folder = getenv("srcdir");
	MEM_AUTO char *path = mem_printf("%s/man/%s", folder ? folder : ".", name);

	return file_read(path, FILE_ANY, NULL, &text, NULL) < 0 ? NULL : buf_take(&text);
}

/* Each other page has one command. */
static char *own_page(const struct commandline *line, char **name)
{
	*name = mem_printf("kscaled-%s.1", line->name);
	return page_named(*name);
}

/* From a heading to the next one. The caller owns it. */
static char *section_of(const char *page, const char *heading)
{
	const char *start = strstr(page, heading), *end, *chapter;

	if (!start)
		fail_msg("no \"%s\"", heading);
	end = strstr(start + 1, "\n.Ss ");
	chapter = strstr(start + 1, "\n.Sh ");
	end = !end || (chapter && chapter < end) ? chapter : end;
	return mem_dupn(start, end ? (size_t)(end - start) : strlen(start));
}

/* What has the options: the command's own page, or its section of the page of all. */
static char *options_page(const struct commandline *line, char **name)
{
	MEM_AUTO char *page = own_page(line, name), *heading = mem_printf("\n.Ss Options of %s\n", line->name);

	if (page)
		return mem_dup(page);
	free(*name);
	*name = mem_dup(PAGE_OF_ALL);
	page = page_named(PAGE_OF_ALL);
	assert_non_null(page);
	return section_of(page, heading);
}

/* In mdoc: ".It Fl n , Fl -name Ar value". Counts the line's options in seen[]. */
static void read_item(const struct commandline *line, const char *page, char *item, int *seen)
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
		while (commandline_option(line, i, &o) && strcmp(o.name, word + 1) != 0)
			i++;
		if (!commandline_option(line, i, &o))
			fail_msg("%s: -%s is no option of %s", page, word, line->name);
		if (o.letter != letter)
			fail_msg("%s: -%s has the letter \"%c\", not \"%c\"", page, word, o.letter, letter);
		letter = '\0';
		seen[i]++;
	}
}

static void the_manual_has_each_option(void **state)
{
	struct option o;

	(void)state;
	for (size_t i = 0; commands[i]; i++) {
		MEM_AUTO char *name = NULL;
		MEM_AUTO char *page = commands[i]->usage ? options_page(commands[i], &name) : NULL;
		int seen[COMMANDLINE_MAX] = { 0 };

		for (char *rest = page, *text; (text = strsep(&rest, "\n")) != NULL;)
			if (text_begins(text, ".It Fl "))
				read_item(commands[i], name, text + 4, seen);
		for (size_t k = 0; commandline_option(commands[i], k, &o); k++)
			if (seen[k] != 1)
				fail_msg("%s has --%s of %s %d times", name, o.name, commands[i]->name, seen[k]);
	}
}

/* ---- Synopses ---- */

/* A line of mdoc as text: ".Op Fl o Ar file" is " [-o file]". */
static void render(char *line, struct buf *out)
{
	const char *close = "", *word;
	bool joined = false;

	for (word = strsep(&line, " "); word; word = strsep(&line, " ")) {
		if (strcmp(word, "Nm") == 0) {
			buf_puts(out, line ? "\n" : "\nkscaled");
			joined = true;
		} else if (strcmp(word, "Oc") == 0) {
			buf_putc(out, ']');
		} else if (strcmp(word, "Ns") == 0) {
			joined = true;
		} else if (strcmp(word, "Ar") != 0 && strcmp(word, "Cm") != 0) {
			bool opens = strcmp(word, "Op") == 0 || strcmp(word, "Oo") == 0, flag = strcmp(word, "Fl") == 0;

			if (strcmp(word, "Op") == 0)
				close = "]";
			buf_printf(out, "%s%s", joined ? "" : " ", opens ? "[" : flag ? "-" : word);
			joined = opens || flag;
		} else if (!line) {
			buf_puts(out, " file ...");
		}
	}
	buf_puts(out, close);
}

/* "[OPTION]... FILE..." is "[option ...] file ..." there. */
static void put_usage(const struct commandline *line, struct buf *out)
{
	buf_printf(out, line == commands[0] ? "\nkscaled [%s]" : "\nkscaled %s", line->name);
	for (const char *c = line->usage ? line->usage : ""; *c; c++) {
		if (c == line->usage)
			buf_putc(out, ' ');
		if (text_begins(c, "]...")) {
			buf_puts(out, " ...]");
			c += 3;
		} else if (text_begins(c, "...")) {
			buf_puts(out, " ...");
			c += 2;
		} else {
			buf_putc(out, (char)tolower((unsigned char)*c));
		}
	}
}

static void has_synopsis(const char *page, const char *usage)
{
	MEM_AUTO char *section = section_of(page, "\n.Sh SYNOPSIS\n");
	struct buf shown = BUF_INIT(SIZE_MAX);

	for (char *rest = section + 1, *line = strsep(&rest, "\n"); (line = strsep(&rest, "\n")) != NULL;)
		if (*line)
			render(line + 1, &shown);
	assert_string_equal(buf_text(&shown), usage);
	buf_done(&shown);
}

static void synopses(void **state)
{
	struct buf all = BUF_INIT(SIZE_MAX);
	MEM_AUTO char *page_of_all = page_named(PAGE_OF_ALL);
	int pages = 0;

	(void)state;
	for (size_t i = 0; commands[i]; i++) {
		struct buf one = BUF_INIT(SIZE_MAX);
		MEM_AUTO char *name = NULL;
		MEM_AUTO char *page = own_page(commands[i], &name);

		put_usage(commands[i], &one);
		buf_puts(&all, buf_text(&one));
		if (page)
			has_synopsis(page, buf_text(&one));
		pages += page != NULL;
		buf_done(&one);
	}
	assert_int_equal(pages, 8);
	assert_non_null(page_of_all);
	has_synopsis(page_of_all, buf_text(&all));
	buf_done(&all);
}

/* ---- The tables ---- */

/* A name or letter twice would hide the second; a value needs room in struct commandline_given. */
static void names_are_unique(void **state)
{
	struct option a, b;

	(void)state;
	for (size_t i = 0; commands[i]; i++) {
		const struct commandline *line = commands[i];
		size_t k = 0;

		for (; commandline_option(line, k, &a); k++) {
			assert_true(a.help && *a.help);
			assert_int_equal(a.argument == NULL, a.kind == OPTION_SWITCH || a.kind == OPTION_END);
			for (size_t l = k + 1; commandline_option(line, l, &b); l++)
				assert_true(strcmp(a.name, b.name) != 0 && (!a.letter || a.letter != b.letter));
		}
		assert_true(line->usage ? k >= 1 : k == 0);
		assert_true(k <= COMMANDLINE_MAX && (i == 0) == !line->run);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_manual_has_each_option),
		cmocka_unit_test(synopses),
		cmocka_unit_test(names_are_unique),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
