/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/completion/completion_parts.h"

#include <string.h>

#include "base/text.h"

enum completion_kind completion_kind(const struct option *option)
{
	if (commandline_words(option))
		return COMPLETION_WORDS;
	if (strcmp(option->argument, "FILE") == 0 || strcmp(option->argument, "PATH") == 0)
		return COMPLETION_FILES;
	return text_begins(option->argument, "DIR") ? COMPLETION_FOLDERS : COMPLETION_OPEN;
}

void completion_put_words(struct buf *out, const char *const *words)
{
	for (size_t i = 0; words && words[i]; i++)
		buf_printf(out, "%s%s", i > 0 ? " " : "", words[i]);
}
