/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/completion/completion.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/completion/completion_parts.h"

static const char *const shell_names[] = { "bash", "zsh", "fish", NULL };
static const completion_write_fn writers[] = { completion_bash, completion_zsh, completion_fish };

/* ---- The command ---- */

char *completion_script(const char *shell, const struct commandline *const *lines, struct err *err)
{
	struct buf out = BUF_INIT(SIZE_MAX);
	size_t at = 0;

	while (shell_names[at] && strcmp(shell, shell_names[at]) != 0)
		at++;
	if (!shell_names[at]) {
		err_set(err, ERR_INVALID, "unknown shell \"%.64s\": use bash, zsh or fish", shell);
		return NULL;
	}
	writers[at](&out, lines);
	return buf_take(&out);
}

static int run_completion(void *arguments, char **operands, int count, struct err *err)
{
	MEM_AUTO char *script = NULL;

	(void)arguments;
	if (count == 1)
		script = completion_script(operands[0], commands, err);
	else
		err_set(err, ERR_INVALID, "name one shell: bash, zsh or fish");
	if (!script)
		return COMMANDLINE_WRONG;
	if (fputs(script, stdout) != EOF && fflush(stdout) == 0)
		return 0;
	err_set(err, ERR_TEMPORARY, "the output cannot be written: %s", strerror(errno));
	return 1;
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
