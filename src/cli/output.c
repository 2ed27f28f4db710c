/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int output_text(const struct buf *text, struct err *err)
{
	if (fwrite(text->data, 1, text->len, stdout) == text->len && fflush(stdout) == 0)
		return 0;
	return err_set(err, ERR_TEMPORARY, "the output cannot be written: %s", strerror(errno));
}

int output_json(const json_t *value, struct err *err)
{
	struct buf out = BUF_INIT(SIZE_MAX);
	char *text = json_dumps(value, JSON_INDENT(1));
	int failed;

	buf_puts(&out, text ? text : "null");
	buf_putc(&out, '\n');
	failed = output_text(&out, err);
	free(text);
	buf_done(&out);
	return failed;
}
