/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "kube/watch.h"

struct watch_lines {
	size_t max_line;
	struct buf rest; /* the start of an incomplete line; empty and without memory between lines */
};

struct watch_lines *watch_lines_new(size_t max_line)
{
	struct watch_lines *l = mem_zalloc(sizeof *l);

	l->max_line = max_line;
	buf_init(&l->rest, max_line);
	return l;
}

void watch_lines_free(struct watch_lines *l)
{
	if (!l)
		return;
	buf_done_secret(&l->rest); /* Secrets are watched too */
	free(l);
}

static bool hand_on(const char *line, size_t len, watch_line_fn fn, void *arg)
{
	if (len > 0 && line[len - 1] == '\r')
		len--;
	return len == 0 || fn(arg, line, len);
}

/* The end of the line that began in an earlier piece. */
static bool end_rest(struct watch_lines *l, const char *bytes, size_t len, watch_line_fn fn, void *arg)
{
	bool go_on;

	buf_append(&l->rest, bytes, len);
	if (buf_failed(&l->rest))
		return false;
	go_on = hand_on(l->rest.data, l->rest.len, fn, arg);
	/* Most watches are idle most of the time, so none keeps a buffer. */
	buf_done_secret(&l->rest);
	return go_on;
}

bool watch_lines_feed(struct watch_lines *l, const char *bytes, size_t len, watch_line_fn fn, void *arg)
{
	const char *end;

	for (; len > 0 && (end = memchr(bytes, '\n', len)); len -= (size_t)(end - bytes) + 1, bytes = end + 1) {
		size_t line_len = (size_t)(end - bytes);

		if (l->rest.len > 0) {
			if (!end_rest(l, bytes, line_len, fn, arg))
				return false;
		} else if (line_len > l->max_line || !hand_on(bytes, line_len, fn, arg)) {
			return false;
		}
	}
	buf_append(&l->rest, bytes, len);
	return !buf_failed(&l->rest);
}
