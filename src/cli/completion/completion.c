/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/completion/completion.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/completion/completion_parts.h"

static const char help_text[] = "Usage: kscaled completion SHELL\n"
				"Print the script for bash, zsh or fish that completes kscaled's command lines:\n"
				"    source <(kscaled completion bash)\n"
				"\n"
				"  -h, --help             print this text\n";

static const char *const shell_names[] = { "bash", "zsh", "fish", NULL };
static const completion_write_fn writers[] = { completion_bash, completion_zsh, completion_fish };

static const struct option options[] = {
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

const struct commandline cli_completion_line = { .help = help_text, .options = options, .words = shell_names };

/* ---- Parsing --help ---- */

/* The caller owns it. */
static char *help_of(const struct commandline *line)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out;

	if (line->help)
		return mem_dup(line->help);
	out = open_memstream(&text, &size);
	if (out) {
		line->print_help(out);
		fclose(out);
	}
	return text ? text : mem_dup("");
}

static enum completion_kind kind_of(const char *argument)
{
	if (strcmp(argument, "FILE") == 0 || strcmp(argument, "PATH") == 0)
		return COMPLETION_FILES;
	return text_begins(argument, "DIR") ? COMPLETION_FOLDERS : COMPLETION_OPEN;
}

/*
 * Reads " -x, --name ARGUMENT meaning", or " --name ARGUMENT" with the meaning in the next line.
 * false: not such a line.
 */
static bool read_option(const char *text, const char *next, struct completion_option *out)
{
	const char *p = text + strspn(text, " ");
	size_t len;

	*out = (struct completion_option){ .letter = '\0' };
	if (p == text)
		return false;
	if (p[0] == '-' && isalnum((unsigned char)p[1]) && text_begins(p + 2, ", ")) {
		out->letter = p[1];
		p += 4;
	}
	if (!text_begins(p, "--") || !isalnum((unsigned char)p[2]))
		return false;
	len = strcspn(p += 2, " ");
	out->name = mem_dupn(p, len);
	p += len;
	if (p[0] == ' ' && p[1] != ' ' && p[1] != '\0') {
		len = strcspn(++p, " ");
		out->argument = mem_dupn(p, len);
		p += len;
	}
	p += strspn(p, " ");
	if (*p == '\0')
		p = next + strspn(next, " ");
	out->help = mem_dup(p);
	return true;
}

static void add_option(struct completion_line *line, struct completion_option option, const struct commandline *of)
{
	if (option.argument)
		option.kind = kind_of(option.argument);
	option.words = option.argument && of->values ? of->values(option.name) : NULL;
	if (option.words)
		option.kind = COMPLETION_WORDS;
	line->options = mem_resize(line->options, line->count + 1, sizeof(*line->options));
	line->options[line->count++] = option;
}

static void read_line(const struct completion_command *command, struct completion_line *out)
{
	const struct commandline *line = command->line;
	struct completion_option option;
	MEM_AUTO char *help = NULL;

	*out = (struct completion_line){ .name = command->name, .help = command->help };
	if (!line)
		return;
	out->words = line->words;
	out->kind = line->words ? COMPLETION_WORDS : line->files ? COMPLETION_FILES : COMPLETION_OPEN;
	help = help_of(line);
	for (char *rest = help, *text; (text = strsep(&rest, "\n")) != NULL;) {
		MEM_AUTO char *next = mem_dupn(rest ? rest : "", strcspn(rest ? rest : "", "\n"));

		if (read_option(text, next, &option))
			add_option(out, option, line);
	}
}

static void line_done(struct completion_line *line)
{
	for (size_t i = 0; i < line->count; i++) {
		free(line->options[i].name);
		free(line->options[i].argument);
		free(line->options[i].help);
	}
	free(line->options);
}

/* ---- The command ---- */

char *completion_script(const char *shell, const struct completion_command *commands, size_t count, struct err *err)
{
	struct buf out = BUF_INIT(SIZE_MAX);
	struct completion_line *lines;
	size_t at = 0;

	while (shell_names[at] && strcmp(shell, shell_names[at]) != 0)
		at++;
	if (!shell_names[at]) {
		err_set(err, ERR_INVALID, "unknown shell \"%.64s\": use bash, zsh or fish", shell);
		return NULL;
	}
	lines = mem_array(count, sizeof(*lines));
	for (size_t i = 0; i < count; i++)
		read_line(&commands[i], &lines[i]);
	writers[at](&out, lines, count);
	for (size_t i = 0; i < count; i++)
		line_done(&lines[i]);
	free(lines);
	return buf_take(&out);
}

int cli_completion(int argc, char **argv, const struct completion_command *commands, size_t count)
{
	static char name[] = "kscaled completion"; /* getopt's messages begin with it */
	MEM_AUTO char *script = NULL;
	struct err err;
	int c;

	argv[0] = name;
	optind = 0; /* glibc: reset, main may have used getopt */
	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (c == 'h') {
			fputs(help_text, stdout);
			return 0;
		}
		fputs("Try \"kscaled completion --help\".\n", stderr);
		return 2;
	}
	if (optind + 1 != argc) {
		fputs("kscaled completion: name one shell: bash, zsh or fish\n", stderr);
		return 2;
	}
	script = completion_script(argv[optind], commands, count, &err);
	if (!script) {
		fprintf(stderr, "kscaled completion: %s\n", err.msg);
		return 2;
	}
	if (fputs(script, stdout) != EOF && fflush(stdout) == 0)
		return 0;
	fprintf(stderr, "kscaled completion: the output cannot be written: %s\n", strerror(errno));
	return 1;
}
