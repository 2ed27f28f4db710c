/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/completion/completion_parts.h"

#include <string.h>

static void put_quoted(struct buf *out, const char *text)
{
	buf_putc(out, '\'');
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			buf_putc(out, '\\');
		buf_putc(out, *text);
	}
	buf_putc(out, '\'');
}

static void put_words(struct buf *out, const char *const *words)
{
	buf_puts(out, " -a '");
	completion_put_words(out, words);
	buf_putc(out, '\'');
}

static void put_option(struct buf *out, const char *command, const struct option *option)
{
	buf_printf(out, "complete -c kscaled -n '__kscaled_is %s'", command);
	if (option->letter)
		buf_printf(out, " -s %c", option->letter);
	buf_printf(out, " -l %s", option->name);
	if (option->argument) {
		enum completion_kind kind = completion_kind(option);

		buf_puts(out, kind == COMPLETION_FILES ? " -r -F" : " -x");
		if (kind == COMPLETION_FOLDERS)
			buf_puts(out, " -a '(__fish_complete_directories (commandline -ct))'");
		else if (kind == COMPLETION_WORDS)
			put_words(out, commandline_words(option));
	}
	buf_puts(out, " -d ");
	put_quoted(out, option->help);
	buf_putc(out, '\n');
}

static void put_line(struct buf *out, const struct commandline *line)
{
	struct option option;

	for (size_t i = 0; commandline_option(line, i, &option); i++)
		put_option(out, line->name, &option);
	if (!line->files && !line->words)
		return;
	buf_printf(out, "complete -c kscaled -n '__kscaled_is %s%s'", line->name,
		line->words ? "; and __kscaled_words 2" : "");
	if (line->files)
		buf_puts(out, " -F");
	else
		put_words(out, line->words);
	buf_putc(out, '\n');
}

void completion_fish(struct buf *out, const struct commandline *const *lines)
{
	buf_printf(out,
		"# Completion of kscaled for fish: kscaled completion fish | source\n"
		"\n"
		"# Whether this many words precede the one to complete.\n"
		"function __kscaled_words\n"
		"	test (count (commandline -opc)) -eq $argv[1]\n"
		"end\n"
		"\n"
		"# Whether the line is this command's; flags alone belong to %s.\n"
		"function __kscaled_is\n"
		"	set -l command (commandline -opc)[2]\n"
		"	if test -z \"$command\"; or string match -q -- '-*' $command\n"
		"		set command %s\n"
		"	end\n"
		"	test $command = $argv[1]\n"
		"end\n"
		"\n"
		"complete -c kscaled -f\n",
		lines[0]->name, lines[0]->name);
	for (size_t i = 0; lines[i]; i++) {
		buf_printf(out, "complete -c kscaled -n '__kscaled_words 1' -a %s -d ", lines[i]->name);
		put_quoted(out, lines[i]->summary);
		buf_putc(out, '\n');
	}
	for (size_t i = 0; lines[i]; i++)
		put_line(out, lines[i]);
}
