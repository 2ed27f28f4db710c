/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/asking.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/statusclient.h"

#define ANSWER_MAX ((size_t)64 << 20)

struct asking_screen asking_screen(void)
{
	struct winsize size = { 0 };

	if (!isatty(STDOUT_FILENO))
		return (struct asking_screen){ 0, 0 };
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_col < 20 || size.ws_row < 5)
		return (struct asking_screen){ 80, 24 };
	return (struct asking_screen){ size.ws_col, size.ws_row };
}

const char *asking_kind(const char *word)
{
	static const struct {
		const char *word, *kind;
	} words[] = {
		{ "so", "scaledobject" },
		{ "scaledobject", "scaledobject" },
		{ "scaledobjects", "scaledobject" },
		{ "sj", "scaledjob" },
		{ "scaledjob", "scaledjob" },
		{ "scaledjobs", "scaledjob" },
	};

	for (size_t i = 0; i < MEM_COUNT(words); i++)
		if (strcmp(words[i].word, word) == 0)
			return words[i].kind;
	return NULL;
}

bool asking_is_name(const char *text)
{
	size_t len = strlen(text);

	return len > 0 && len <= 253 && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-.") == len && text[0] != '.';
}

static enum asking_exit print(const char *command, const struct buf *text)
{
	if (fwrite(text->data, 1, text->len, stdout) == text->len && fflush(stdout) == 0)
		return ASKING_OK;
	fprintf(stderr, "%s: the output cannot be written\n", command);
	return ASKING_UNREACHABLE;
}

enum asking_exit asking_run(const char *command, const char *address, const char *path, bool json, asking_render render,
	const void *arg)
{
	struct buf body = BUF_INIT(ANSWER_MAX), text = BUF_INIT(ANSWER_MAX);
	struct asking_screen screen = asking_screen();
	struct err err = { 0 };
	enum asking_exit status;
	json_t *answer;

	if (statusclient_get(address, path, &body, &answer, &err)) {
		fprintf(stderr, "%s: %s\n", command, err.msg);
		status = err.kind == ERR_MISSING ? ASKING_UNKNOWN : ASKING_UNREACHABLE;
	} else if (json) {
		status = print(command, &body);
	} else {
		render(answer, &screen, arg, &text);
		status = print(command, &text);
	}
	json_decref(answer);
	buf_done(&text);
	buf_done(&body);
	return status;
}
