/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/completion/completion_parts.h"

/*
 * Does not need the package bash-completion. bash also breaks words at "=", so --name=value is
 * three words.
 */
static const char head[] =
	"# Completion of kscaled for bash: source <(kscaled completion bash)\n"
	"\n"
	"_kscaled_paths()\n"
	"{\n"
	"	local IFS=$'\\n'\n"
	"	compopt -o filenames 2>/dev/null\n"
	"	COMPREPLY=($(compgen \"$1\" -- \"$cur\"))\n"
	"}\n"
	"\n"
	"_kscaled()\n"
	"{\n"
	"	local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} words\n"
	"	COMPREPLY=()\n"
	"	if [[ $cur == = ]]; then\n"
	"		cur=\n"
	"	elif [[ $before == = ]]; then\n"
	"		before=${COMP_WORDS[COMP_CWORD-2]}\n"
	"	fi\n";

static const char tail[] = "	esac\n"
			   "	COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
			   "}\n"
			   "complete -F _kscaled kscaled\n";

static void put_argument(struct buf *out, const struct option *option)
{
	if (!option->argument)
		return;
	buf_puts(out, "\t\t");
	if (option->letter)
		buf_printf(out, "-%c|", option->letter);
	buf_printf(out, "--%s) ", option->name);
	switch (completion_kind(option)) {
	case COMPLETION_OPEN: break;
	case COMPLETION_FILES: buf_puts(out, "_kscaled_paths -f; "); break;
	case COMPLETION_FOLDERS: buf_puts(out, "_kscaled_paths -d; "); break;
	case COMPLETION_WORDS:
		buf_puts(out, "COMPREPLY=($(compgen -W '");
		completion_put_words(out, commandline_words(option));
		buf_puts(out, "' -- \"$cur\")); ");
		break;
	}
	buf_puts(out, "return ;;\n");
}

static void put_line(struct buf *out, const struct commandline *line)
{
	struct option option;

	buf_printf(out, "\t%s)\n\t\t[[ $cur == -* ]] || case $before in\n", line->name);
	for (size_t i = 0; commandline_option(line, i, &option); i++)
		put_argument(out, &option);
	buf_puts(out, "\t\tesac\n\t\twords='");
	for (size_t i = 0; commandline_option(line, i, &option); i++)
		buf_printf(out, "%s--%s", i > 0 ? " " : "", option.name);
	buf_puts(out, "'\n");
	if (line->files) {
		buf_puts(out, "\t\t[[ $cur == -* ]] || { _kscaled_paths -f; return; }\n");
	} else {
		buf_puts(out, "\t\t[[ $cur == -* ]] || words='");
		completion_put_words(out, line->words);
		buf_puts(out, "'\n");
	}
	buf_puts(out, "\t\t;;\n");
}

void completion_bash(struct buf *out, const struct commandline *const *lines)
{
	buf_puts(out, head);
	buf_puts(out, "\tif [[ $COMP_CWORD -eq 1 && $cur != -* ]]; then\n\t\tCOMPREPLY=($(compgen -W '");
	for (size_t i = 0; lines[i]; i++)
		buf_printf(out, "%s%s", i > 0 ? " " : "", lines[i]->name);
	buf_puts(out, "' -- \"$cur\"))\n\t\treturn\n\tfi\n");
	buf_printf(out, "\t[[ $command != -* ]] || command=%s\n\tcase $command in\n", lines[0]->name);
	for (size_t i = 0; lines[i]; i++)
		put_line(out, lines[i]);
	buf_puts(out, tail);
}
