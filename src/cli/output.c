/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

bool output_text(const char *command, const struct buf *text)
{
	if (fwrite(text->data, 1, text->len, stdout) == text->len && fflush(stdout) == 0)
		return true;
	fprintf(stderr, "%s: the output cannot be written\n", command);
	return false;
}

bool output_json(const char *command, const json_t *value)
{
	struct buf out = BUF_INIT(SIZE_MAX);
	char *text = json_dumps(value, JSON_INDENT(1));
	bool written;

	buf_puts(&out, text ? text : "null");
	buf_putc(&out, '\n');
	written = output_text(command, &out);
	free(text);
	buf_done(&out);
	return written;
}
