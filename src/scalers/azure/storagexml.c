/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/azure/storagexml.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "scalers/values/xmlpieces.h"

#define DEPTH_MAX 64

/* The names of the elements, from the root to what is counted. */
struct shape {
	const char *called, *path[3]; /* NULL-terminated when shorter */
	size_t depth;
};
static const struct shape shapes[] = {
	[STORAGEXML_MESSAGES] = { "list of a queue's messages", { "QueueMessagesList", "QueueMessage" }, 2 },
	[STORAGEXML_BLOBS] = { "list of blobs", { "EnumerationResults", "Blobs", "Blob" }, 3 },
};

struct storagexml {
	const struct shape *shape;
	struct xmlpieces xml;
	storagexml_fits_fn fits; /* NULL */
	void *arg;
	size_t depth, matched; /* open elements; how many of them, from the root, are the shape's */
	size_t elements, count;
	bool listed;     /* the element came in which items stand */
	bool encoded;    /* the name that is read is percent-encoded */
	struct buf *now; /* where text goes; NULL: nowhere */
	struct buf name, marker;
	struct err err; /* why it is no such list */
};

static void stop(struct storagexml *x, const char *what)
{
	if (x->err.kind == ERR_NONE)
		err_set(&x->err, ERR_INVALID, "the answer is no %s: %s", x->shape->called, what);
	XML_StopParser(x->xml.parser, XML_FALSE);
}

/* ---- Elements ---- */

static void begin_text(struct storagexml *x, struct buf *into)
{
	buf_reset(into);
	x->now = into;
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

static void XMLCALL on_start(void *arg, const char *element, const char **attributes)
{
	struct storagexml *x = arg;
	size_t depth = x->depth++;

	x->now = NULL; /* of text that holds elements nothing counts */
	if (++x->elements > STORAGEXML_ELEMENTS_MAX) {
		stop(x, "it has more than 100,000 elements");
	} else if (x->depth > DEPTH_MAX) {
		stop(x, "it is nested too deep");
	} else if (x->matched == depth && depth < x->shape->depth && strcmp(element, x->shape->path[depth]) == 0) {
		if (++x->matched == x->shape->depth)
			begin_item(x);
		x->listed = x->listed || x->matched + 1 == x->shape->depth;
	} else if (depth == 0) {
		stop(x, "it begins otherwise");
	} else if (depth == 1 && strcmp(element, "NextMarker") == 0) {
		begin_text(x, &x->marker);
	} else if (x->fits && x->matched == depth && depth == x->shape->depth && strcmp(element, "Name") == 0) {
		begin_text(x, &x->name);
		x->encoded = is_encoded(attributes);
	}
}

static void judge_item(struct storagexml *x)
{
	int fits;

	if (!x->fits || x->name.len == 0)
		return;
	if (x->encoded)
		x->name.len = text_percent_decode(x->name.data, x->name.len);
	fits = x->fits(x->arg, buf_text(&x->name), &x->err);
	x->count += fits > 0;
	if (fits < 0)
		XML_StopParser(x->xml.parser, XML_FALSE);
}

static void XMLCALL on_end(void *arg, const char *element)
{
	struct storagexml *x = arg;

	(void)element;
	x->now = NULL;
	if (x->matched == x->depth && x->matched-- == x->shape->depth)
		judge_item(x);
	x->depth--;
}

static void XMLCALL on_text(void *arg, const char *text, int len)
{
	struct storagexml *x = arg;

	if (!x->now)
		return;
	buf_append(x->now, text, (size_t)len);
	if (buf_failed(x->now))
		stop(x, x->now == &x->name ? "a blob's name is too long" : "NextMarker is too long");
}

/* Entities, which could make much of little, need one. */
static void XMLCALL on_doctype(void *arg, const char *name, const char *system_id, const char *public_id, int internal)
{
	(void)name, (void)system_id, (void)public_id, (void)internal;
	stop(arg, "it has a document type");
}

/* ---- The answer ---- */

struct storagexml *storagexml_new(enum storagexml_list list, storagexml_fits_fn fits, void *arg)
{
	struct storagexml *x = mem_zalloc(sizeof(*x));

	xmlpieces_init(&x->xml, x);
	x->shape = &shapes[list];
	x->fits = fits;
	x->arg = arg;
	buf_init(&x->name, STORAGEXML_NAME_MAX);
	buf_init(&x->marker, STORAGEXML_MARKER_MAX);
	XML_SetElementHandler(x->xml.parser, on_start, on_end);
	XML_SetCharacterDataHandler(x->xml.parser, on_text);
	XML_SetStartDoctypeDeclHandler(x->xml.parser, on_doctype);
	return x;
}

void storagexml_free(struct storagexml *x)
{
	if (!x)
		return;
	xmlpieces_done(&x->xml);
	buf_done(&x->name);
	buf_done(&x->marker);
	free(x);
}

size_t storagexml_kept(const struct storagexml *x)
{
	return xmlpieces_kept(&x->xml);
}

static int feed(struct storagexml *x, const char *bytes, size_t len, bool last, struct err *err)
{
	struct err wrong;

	if (x->err.kind == ERR_NONE && xmlpieces_feed(&x->xml, bytes, len, last, &wrong) && x->err.kind == ERR_NONE) {
		x->err = wrong;
		err_wrap(&x->err, "the answer is no %s", x->shape->called);
	}
	if (x->err.kind == ERR_NONE)
		return 0;
	if (err)
		*err = x->err;
	return -1;
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
		return err_set(err, ERR_INVALID, "the answer is no %s: there is no %s in it", x->shape->called,
			x->shape->path[x->shape->depth - 2]);
	*count = x->count;
	*marker = mem_dup(buf_text(&x->marker));
	return 0;
}
