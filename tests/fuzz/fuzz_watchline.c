/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What a watch receives: however the bytes come in pieces, the lines are the same, none is longer
 * than the cap, and what they say can be read.
 */

#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "fuzz.h"
#include "kube/objecttext.h"
#include "kube/status.h"
#include "kube/watch.h"

#define LINE_MAX_BYTES 512

static void check_part(const struct objecttext_part *part, const json_t *metadata, const char *key)
{
	must(objecttext_says(part, json_str_or_empty(metadata, key)));
}

/* A text of a member that is there twice, or is written with escapes, may be another. */
static bool is_plain(const char *line, size_t len)
{
	json_t *unique = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);

	json_decref(unique);
	return unique && !memchr(line, '\\', len);
}

/*
 * What is stripped was in metadata or status, and no longer is; the text says what the JSON does.
 */
static void check_text(const char *line, size_t len, json_t *event)
{
	char room[LINE_MAX_BYTES];
	struct objecttext text;
	json_t *stripped, *before = json_object_get(event, "object"), *after;

	objecttext_read(&text, line, len, room);
	must(text.json == room && text.len <= len);
	stripped = json_parse(text.json, text.len, NULL);
	must(!event || stripped);
	after = json_object_get(stripped, "object");
	if (json_is_object(before) && is_plain(line, len)) {
		json_object_del(json_object_get(before, "metadata"), "managedFields");
		json_object_del(json_object_get(after, "metadata"), "managedFields");
		json_object_del(json_object_get(before, "status"), "currentMetrics");
		json_object_del(json_object_get(after, "status"), "currentMetrics");
		must(json_equal(before, after));
		if (text.print) {
			const json_t *metadata = json_object_get(after, "metadata");

			check_part(&text.namespace_, metadata, "namespace");
			check_part(&text.name, metadata, "name");
			check_part(&text.uid, metadata, "uid");
			check_part(&text.version, metadata, "resourceVersion");
		}
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
	check_text(line, len, event);
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
