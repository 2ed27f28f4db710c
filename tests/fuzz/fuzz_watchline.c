/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What a watch receives: however the bytes come in pieces, the lines are the same, none is longer
 * than the cap, and what they say can be read.
 */

#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "fuzz.h"
#include "kube/managedfields.h"
#include "kube/status.h"
#include "kube/watch.h"

#define LINE_MAX_BYTES 512

/* Whatever is stripped was in metadata, and no longer is. */
static void check_stripped(const char *line, size_t len, const json_t *event)
{
	json_t *stripped = managedfields_parse(line, len, false);
	json_t *before = json_object_get(json_object_get(event, "object"), "metadata"),
	       *after = json_object_get(json_object_get(stripped, "object"), "metadata");

	must(!event || stripped);
	if (json_is_object(before) && json_is_object(after)) {
		must(json_object_size(after) <= json_object_size(before));
		json_object_del(before, "managedFields");
		json_object_del(after, "managedFields");
		must(json_equal(before, after));
	}
	json_decref(stripped);
}

static bool on_line(void *arg, const char *line, size_t len)
{
	struct buf *seen = arg;
	json_t *event = json_parse(line, len, NULL);
	struct err err;

	must(len > 0 && len <= LINE_MAX_BYTES && !memchr(line, '\n', len));
	buf_append(seen, line, len);
	buf_putc(seen, '\n');
	if (event && strcmp(json_str_or_empty(event, "type"), "ERROR") == 0) {
		status_object_to_err(json_object_get(event, "object"), &err);
		must(err.kind != ERR_NONE && err.msg[0] != '\0');
	}
	if (memmem(line, len, "managedFields", strlen("managedFields")))
		check_stripped(line, len, event);
	json_decref(event);
	return true;
}

static bool feed(const char *bytes, size_t len, size_t piece, struct buf *seen)
{
	struct watch_lines *lines = watch_lines_new(LINE_MAX_BYTES);
	bool good = true;

	for (size_t at = 0; at < len && good; at += piece)
		good = watch_lines_feed(lines, bytes + at, len - at < piece ? len - at : piece, on_line, seen);
	watch_lines_free(lines);
	return good;
}

/* The first byte is the size of the pieces. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf whole = BUF_INIT(1 << 20), pieces = BUF_INIT(1 << 20);

	if (size < 2 || size > 1 << 19)
		return 0;
	must(feed((const char *)data + 1, size - 1, size, &whole) ==
		feed((const char *)data + 1, size - 1, data[0] + (size_t)1, &pieces));
	must(strcmp(buf_text(&whole), buf_text(&pieces)) == 0 && whole.len == pieces.len);
	buf_done(&whole);
	buf_done(&pieces);
	return 0;
}
