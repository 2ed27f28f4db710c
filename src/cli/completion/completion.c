/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/completion/completion.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/output.h"

/*
 * Each script asks this program. bash breaks words at "=", so --name=value is three words; it does
 * not need the package bash-completion. When zsh autoloads the file, the file is the function's
 * body and must complete at once.
 */
static const struct shell {
	const char *name;
	char before_help; /* '\0': the shell shows none */
	bool whole;       /* candidates for a value of --name=value begin with --name= */
	const char *script;
} shells[] = {
	{ "bash", '\0', false,
		"# Completion of kscaled for bash: source <(kscaled completion bash)\n"
		"\n"
		"_kscaled()\n"
		"{\n"
		"	local IFS=$'\\n' i words=()\n"
		"	for ((i = 1; i <= COMP_CWORD; i++)); do\n"
		"		if ((i > 1)) && [[ ${COMP_WORDS[i]} == = || ${COMP_WORDS[i-1]} == = ]]; then\n"
		"			words[-1]+=${COMP_WORDS[i]}\n"
		"		else\n"
		"			words+=(\"${COMP_WORDS[i]}\")\n"
		"		fi\n"
		"	done\n"
		"	local cur=${words[-1]}\n"
		"	[[ $cur != --*=* ]] || cur=${cur#*=}\n"
		"	COMPREPLY=($(kscaled completion bash -- \"${words[@]}\" 2>/dev/null))\n"
		"	case ${COMPREPLY[0]} in\n"
		"	:files) COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n"
		"	:folders) COMPREPLY=($(compgen -d -- \"$cur\")) ;;\n"
		"	*) return ;;\n"
		"	esac\n"
		"	compopt -o filenames 2>/dev/null\n"
		"}\n"
		"complete -F _kscaled kscaled\n" },
	{ "zsh", ':', false,
		"#compdef kscaled\n"
		"# Completion of kscaled for zsh: source <(kscaled completion zsh), or a file _kscaled in a folder of "
		"$fpath\n"
		"\n"
		"_kscaled() {\n"
		"	local -a found\n"
		"	found=(\"${(@f)$(kscaled completion zsh -- \"${(@Q)words[2,CURRENT]}\" 2>/dev/null)}\")\n"
		"	compset -P '--*='\n"
		"	case $found[1] in\n"
		"	:files) _files ;;\n"
		"	:folders) _files -/ ;;\n"
		"	--*) _describe -o kscaled found ;;\n"
		"	?*) _describe kscaled found ;;\n"
		"	esac\n"
		"}\n"
		"\n"
		"if [[ $funcstack[1] == _kscaled ]]; then\n"
		"	_kscaled \"$@\"\n"
		"else\n"
		"	compdef _kscaled kscaled\n"
		"fi\n" },
	{ "fish", '\t', true,
		"# Completion of kscaled for fish: kscaled completion fish | source\n"
		"\n"
		"function __kscaled\n"
		"	set -l words (commandline -opc) (commandline -ct)\n"
		"	set -l found (kscaled completion fish -- $words[2..-1] 2>/dev/null)\n"
		"	set -l name (string match -r -- '^--[^=]*=' $words[-1])\n"
		"	set -l path (string replace -r -- '^--[^=]*=' '' $words[-1])\n"
		"	switch \"$found[1]\"\n"
		"	case :files\n"
		"		__fish_complete_path $path | string replace -r '^' -- \"$name\"\n"
		"	case :folders\n"
		"		__fish_complete_directories $path | string replace -r '^' -- \"$name\"\n"
		"	case '*'\n"
		"		printf '%s\\n' $found\n"
		"	end\n"
		"end\n"
		"complete -c kscaled -f -a '(__kscaled)'\n" },
};

static const char *const shell_names[] = { "bash", "zsh", "fish", NULL };

/* ---- Candidates ---- */

struct candidates {
	const struct shell *shell;
	const char *begun;  /* what they begin with */
	const char *before; /* printed in front of each */
	struct buf *out;
};

static void offer(const struct candidates *c, const char *dashes, const char *word, const char *help)
{
	const char *rest = text_behind(c->begun, dashes);

	if (rest ? !text_begins(word, rest) : !text_begins(dashes, c->begun))
		return;
	buf_printf(c->out, "%s%s%s", c->before, dashes, word);
	if (c->shell->before_help && help)
		buf_printf(c->out, "%c%s", c->shell->before_help, help);
	buf_putc(c->out, '\n');
}

static void offer_words(const struct candidates *c, const char *const *words)
{
	for (; words && *words; words++)
		offer(c, "", *words, NULL);
}

static void offer_values(const struct candidates *c, const struct option *option)
{
	if (commandline_words(option))
		offer_words(c, commandline_words(option));
	else if (strcmp(option->argument, "FILE") == 0 || strcmp(option->argument, "PATH") == 0)
		buf_puts(c->out, ":files\n");
	else if (text_begins(option->argument, "DIR"))
		buf_puts(c->out, ":folders\n");
}

/* word: "--name" or "-n", with a value to complete. */
static bool find_option(const struct commandline *line, const char *word, struct option *out)
{
	const char *name = text_behind(word, "--");

	for (size_t i = 0; commandline_option(line, i, out); i++)
		if (out->argument &&
			(name ? strcmp(name, out->name) == 0
			      : out->letter && word[0] == '-' && word[1] == out->letter && !word[2]))
			return true;
	return false;
}

/* Flags without a command belong to the first. NULL: no command. */
static const struct commandline *line_of(const struct commandline *const *lines, const char *word)
{
	if (*word == '-')
		return *lines;
	while (*lines && strcmp((*lines)->name, word) != 0)
		lines++;
	return *lines;
}

static void complete(struct candidates *c, const struct commandline *const *lines, char *const *words, int count)
{
	const struct commandline *line = line_of(lines, words[0]);
	const char *equals = text_begins(c->begun, "--") ? strchr(c->begun, '=') : NULL;
	struct option option;

	if (count == 1 && *c->begun != '-') {
		for (; *lines; lines++)
			offer(c, "", (*lines)->name, (*lines)->summary);
	} else if (line && equals) {
		MEM_AUTO char *name = mem_dupn(c->begun, (size_t)(equals - c->begun)),
			      *before = mem_printf("%s=", name);

		c->begun = equals + 1;
		c->before = c->shell->whole ? before : "";
		if (find_option(line, name, &option))
			offer_values(c, &option);
	} else if (line && *c->begun == '-') {
		for (size_t i = 0; commandline_option(line, i, &option); i++)
			offer(c, "--", option.name, option.help);
	} else if (line && find_option(line, words[count - 2], &option)) {
		offer_values(c, &option);
	} else if (line && line->files) {
		buf_puts(c->out, ":files\n");
	} else if (line) {
		offer_words(c, line->words);
	}
}

int completion_print(const struct commandline *const *lines, char *const *words, int count, struct buf *out,
	struct err *err)
{
	const struct shell *shell = shells;

	while (shell < shells + MEM_COUNT(shells) && strcmp(words[0], shell->name) != 0)
		shell++;
	if (shell == shells + MEM_COUNT(shells))
		return err_set(err, ERR_INVALID, "unknown shell \"%.64s\": use bash, zsh or fish", words[0]);
	if (count == 1)
		buf_puts(out, shell->script);
	else
		complete(&(struct candidates){ shell, words[count - 1], "", out }, lines, words + 1, count - 1);
	return 0;
}

static int run_completion(void *arguments, char **operands, int count, struct err *err)
{
	struct buf out = BUF_INIT(SIZE_MAX);
	int status = COMMANDLINE_WRONG;

	(void)arguments;
	if (count == 0)
		err_set(err, ERR_INVALID, "name one shell: bash, zsh or fish");
	else if (completion_print(commands, operands, count, &out, err) == 0)
		status = output_text(&out, err) < 0;
	buf_done(&out);
	return status;
}

const struct commandline cli_completion_line = {
	.name = "completion",
	.summary = "prints the completion script for bash, zsh or fish",
	.usage = "bash | zsh | fish",
	.text = "Print the script for bash, zsh or fish that completes kscaled's command lines:\n"
		"    source <(kscaled completion bash)",
	.operands = true,
	.words = shell_names,
	.run = run_completion,
};
