/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/azure/storagexml.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/xmlreader.h"

/* The elements from the root to a counted item. */
struct shape {
	const char *name, *path[3]; /* NULL-terminated when shorter */
	size_t depth;
};
static const struct shape shapes[] = {
	[STORAGEXML_MESSAGES] = { "list of a queue's messages", { "QueueMessagesList", "QueueMessage" }, 2 },
	[STORAGEXML_BLOBS] = { "list of blobs", { "EnumerationResults", "Blobs", "Blob" }, 3 },
};

struct storagexml {
	const struct shape *shape;
	struct xmlreader xml;
	storagexml_fits_fn fits; /* NULL */
	void *arg;
	size_t matched; /* open elements, from the root, that match the shape */
	size_t count;
	bool judged;  /* the error is from fits */
	bool listed;  /* the items' parent element was read */
	bool encoded; /* the current name is percent-encoded */
	struct buf name, marker;
};

/* ---- Elements ---- */

static void begin_text(struct storagexml *x, struct buf *into, const char *too_long)
{
	buf_reset(into);
	xmlreader_take(&x->xml, into, too_long);
}

static bool is_encoded(const char **attributes)
{
	for (; *attributes; attributes += 2)
		if (strcmp(attributes[0], "Encoded") == 0)
			return strcmp(attributes[1], "true") == 0;
	return false;
}

static void begin_item(struct storagexml *x)
{
	if (!x->fits)
		x->count++;
	buf_reset(&x->name);
	x->encoded = false;
}

static void on_start(void *arg, const char *element, const char **attributes, size_t depth)
{
	struct storagexml *x = arg;
	const struct shape *shape = x->shape;
	struct err why;
	bool inside = x->matched == depth - 1; /* all its parents match */

	if (inside && depth <= shape->depth && strcmp(element, shape->path[depth - 1]) == 0) {
		if (++x->matched == shape->depth)
			begin_item(x);
		x->listed = x->listed || x->matched + 1 == shape->depth;
	} else if (depth == 1) {
		err_set(&why, ERR_INVALID, "unexpected root element");
		xmlreader_stop(&x->xml, &why);
	} else if (depth == 2 && strcmp(element, "NextMarker") == 0) {
		begin_text(x, &x->marker, "NextMarker is too long");
	} else if (x->fits && inside && depth == shape->depth + 1 && strcmp(element, "Name") == 0) {
		begin_text(x, &x->name, "a blob's name is too long");
		x->encoded = is_encoded(attributes);
	}
}

static void judge_item(struct storagexml *x)
{
	struct err err;
	int fits;

	if (!x->fits || x->name.len == 0)
		return;
	if (x->encoded)
		x->name.len = text_percent_decode(x->name.data, x->name.len);
	fits = x->fits(x->arg, buf_text(&x->name), &err);
	x->count += fits > 0;
	if (fits < 0) {
		x->judged = true;
		xmlreader_stop(&x->xml, &err);
	}
}

static void on_end(void *arg, size_t depth)
{
	struct storagexml *x = arg;

	if (x->matched == depth && x->matched-- == x->shape->depth)
		judge_item(x);
}

static const struct xmlreader_rules rules = { "it", 64, on_start, on_end };

/* ---- The answer ---- */

struct storagexml *storagexml_new(enum storagexml_list list, storagexml_fits_fn fits, void *arg)
{
	struct storagexml *x = mem_zalloc(sizeof(*x));

	xmlreader_init(&x->xml, &rules, x);
	x->shape = &shapes[list];
	x->fits = fits;
	x->arg = arg;
	buf_init(&x->name, STORAGEXML_NAME_MAX);
	buf_init(&x->marker, STORAGEXML_MARKER_MAX);
	return x;
}

void storagexml_free(struct storagexml *x)
{
	if (!x)
		return;
	xmlreader_done(&x->xml);
	buf_done(&x->name);
	buf_done(&x->marker);
	free(x);
}

size_t storagexml_kept(const struct storagexml *x)
{
	return xmlreader_kept(&x->xml);
}

static int feed(struct storagexml *x, const char *bytes, size_t len, bool last, struct err *err)
{
	if (xmlreader_feed(&x->xml, bytes, len, last, err) == 0)
		return 0;
	return x->judged ? -1 : err_wrap(err, "the answer is not a %s", x->shape->name);
}

int storagexml_feed(struct storagexml *x, const char *bytes, size_t len, struct err *err)
{
	return feed(x, bytes, len, false, err);
}

int storagexml_end(struct storagexml *x, size_t *count, char **marker, struct err *err)
{
	*count = 0;
	*marker = NULL;
	if (feed(x, "", 0, true, err))
		return -1;
	if (!x->listed)
		return err_set(err, ERR_INVALID, "the answer is not a %s: it has no %s", x->shape->name,
			x->shape->path[x->shape->depth - 2]);
	*count = x->count;
	*marker = mem_dup(buf_text(&x->marker));
	return 0;
}
