/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/completion/completion_parts.h"

#include <string.h>

static const char head[] =
	"#compdef kscaled\n"
	"# Completion of kscaled for zsh: source <(kscaled completion zsh), or a file _kscaled in a folder of $fpath\n"
	"\n"
	"_kscaled() {\n"
	"	local -a commands\n"
	"	if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
	"		commands=(\n";

/* When autoloaded, the file is the function's body and must complete at once. */
static const char tail[] = "	esac\n"
			   "}\n"
			   "\n"
			   "if [[ $funcstack[1] == _kscaled ]]; then\n"
			   "	_kscaled \"$@\"\n"
			   "else\n"
			   "	compdef _kscaled kscaled\n"
			   "fi\n";

/* For single quotes, with a backslash before characters of `special`. */
static void put_quoted(struct buf *out, const char *text, const char *special)
{
	for (; *text; text++) {
		if (strchr(special, *text))
			buf_putc(out, '\\');
		if (*text == '\'')
			buf_puts(out, "'\\''");
		else
			buf_putc(out, *text);
	}
}

static void put_action(struct buf *out, enum completion_kind kind, const char *const *words)
{
	switch (kind) {
	case COMPLETION_OPEN: buf_puts(out, " "); break;
	case COMPLETION_FILES: buf_puts(out, "_files"); break;
	case COMPLETION_FOLDERS: buf_puts(out, "_files -/"); break;
	case COMPLETION_WORDS:
		buf_putc(out, '(');
		completion_put_words(out, words);
		buf_putc(out, ')');
		break;
	}
}

/* '(-n --namespace)'{-n+,--namespace=}'[help]:NS: ' */
static void put_option(struct buf *out, const struct option *option)
{
	const char *value = option->argument ? "=" : "";

	buf_puts(out, " \\\n\t\t\t");
	if (option->letter)
		buf_printf(out, "'(-%c --%s)'{-%c%s,--%s%s}'[", option->letter, option->name, option->letter,
			option->argument ? "+" : "", option->name, value);
	else
		buf_printf(out, "'--%s%s[", option->name, value);
	put_quoted(out, option->help, "[]\\");
	buf_putc(out, ']');
	if (option->argument) {
		/* A switch also stands for itself. */
		buf_puts(out, option->kind == OPTION_BOOL ? "::" : ":");
		put_quoted(out, option->argument, ":\\");
		buf_putc(out, ':');
		put_action(out, completion_kind(option), commandline_words(option));
	}
	buf_putc(out, '\'');
}

static void put_line(struct buf *out, const struct commandline *line)
{
	struct option option;

	buf_printf(out, "\t%s)\n\t\t_arguments -s -S :", line->name);
	for (size_t i = 0; commandline_option(line, i, &option); i++)
		put_option(out, &option);
	if (line->files || line->words) {
		buf_puts(out, line->files ? " \\\n\t\t\t'*: :" : " \\\n\t\t\t'1: :");
		put_action(out, line->files ? COMPLETION_FILES : COMPLETION_WORDS, line->words);
		buf_putc(out, '\'');
	}
	buf_puts(out, "\n\t\t;;\n");
}

void completion_zsh(struct buf *out, const struct commandline *const *lines)
{
	buf_puts(out, head);
	for (size_t i = 0; lines[i]; i++) {
		buf_printf(out, "\t\t\t'%s:", lines[i]->name);
		put_quoted(out, lines[i]->summary, "\\");
		buf_puts(out, "'\n");
	}
	buf_puts(out, "\t\t)\n\t\t_describe -t commands command commands\n\t\treturn\n\tfi\n");
	buf_printf(out,
		"\tlocal command=%s\n\tif [[ $words[2] != -* ]]; then\n\t\tcommand=$words[2]\n\t\tshift words\n"
		"\t\t(( CURRENT-- ))\n\tfi\n\tcase $command in\n",
		lines[0]->name);
	for (size_t i = 0; lines[i]; i++)
		put_line(out, lines[i]);
	buf_puts(out, tail);
}
