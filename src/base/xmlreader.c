/* SPDX-License-Identifier: Apache-2.0 */
#include "base/xmlreader.h"

#include <stdlib.h>

void xmlreader_stop(struct xmlreader *x, const struct err *why)
{
	if (x->err.kind == ERR_NONE)
		x->err = *why;
	XML_StopParser(x->parser, XML_FALSE);
}

static void stop_with(struct xmlreader *x, const char *what)
{
	struct err why;

	err_set(&why, ERR_INVALID, "%s %s", x->rules->subject, what);
	xmlreader_stop(x, &why);
}

/* ---- expat's handlers ---- */

/* After a stop expat still reports the end of an element without content. */
static bool is_stopped(const struct xmlreader *x)
{
	return x->err.kind != ERR_NONE;
}

static void XMLCALL on_start(void *arg, const char *name, const char **attributes)
{
	struct xmlreader *x = arg;
	struct err why;

	if (++x->elements > XMLREADER_ELEMENTS_MAX) {
		stop_with(x, "has more than 100,000 elements");
	} else if (++x->depth > x->rules->depth_max) {
		err_set(&why, ERR_INVALID, "%s is nested too deep: at most %zu levels", x->rules->subject,
			x->rules->depth_max);
		xmlreader_stop(x, &why);
	} else {
		x->rules->on_start(x->arg, name, attributes, x->depth);
	}
}

static void leave_text(struct xmlreader *x)
{
	x->into = NULL;
	XML_SetCharacterDataHandler(x->parser, NULL);
}

static void XMLCALL on_end(void *arg, const char *name)
{
	struct xmlreader *x = arg;

	(void)name;
	if (is_stopped(x))
		return;
	if (x->into && x->into_depth == x->depth)
		leave_text(x);
	x->rules->on_end(x->arg, x->depth--);
}

static void XMLCALL on_text(void *arg, const char *text, int len)
{
	struct xmlreader *x = arg;
	struct err why;

	if (!x->into || x->into_depth != x->depth)
		return;
	buf_append(x->into, text, (size_t)len);
	if (!x->too_long || !buf_failed(x->into))
		return;
	err_set(&why, ERR_INVALID, "%s", x->too_long);
	xmlreader_stop(x, &why);
}

static void XMLCALL on_doctype(void *arg, const char *name, const char *system_id, const char *public_id, int internal)
{
	(void)name, (void)system_id, (void)public_id, (void)internal;
	stop_with(arg, "has a document type (<!DOCTYPE ...>), which is refused");
}

/* Expat itself skips other text. */
void xmlreader_take(struct xmlreader *x, struct buf *into, const char *too_long)
{
	x->into = into;
	x->into_depth = x->depth;
	x->too_long = too_long;
	XML_SetCharacterDataHandler(x->parser, on_text);
}

/* ---- The document ---- */

void xmlreader_init(struct xmlreader *x, const struct xmlreader_rules *rules, void *arg)
{
	*x = (struct xmlreader){ .rules = rules, .arg = arg, .parser = XML_ParserCreate(NULL) };
	if (!x->parser)
		abort(); /* out of memory */
	buf_init(&x->waiting, XMLREADER_PIECE);
	XML_SetUserData(x->parser, x);
	XML_SetElementHandler(x->parser, on_start, on_end);
	XML_SetStartDoctypeDeclHandler(x->parser, on_doctype);
}

void xmlreader_done(struct xmlreader *x)
{
	XML_ParserFree(x->parser);
	buf_done_secret(&x->waiting);
}

/* What expat holds but has not read. */
static size_t unread(const struct xmlreader *x)
{
	return (size_t)(x->given - x->read);
}

static void give(struct xmlreader *x, const char *bytes, size_t len, bool last)
{
	enum XML_Status status = XML_Parse(x->parser, bytes, (int)len, last);
	XML_Index read = XML_GetCurrentByteIndex(x->parser);

	x->given += (XML_Index)len;
	/* Unknown (-1) while an expat since 2.6 waits for more before it retries an open tag */
	if (read >= 0)
		x->read = read;
	if (is_stopped(x))
		return;
	if (status != XML_STATUS_OK)
		err_set(&x->err, ERR_INVALID, "%s is not XML: line %lu column %lu: %s", x->rules->subject,
			XML_GetCurrentLineNumber(x->parser), XML_GetCurrentColumnNumber(x->parser) + 1,
			XML_ErrorString(XML_GetErrorCode(x->parser)));
	else if (unread(x) > XMLREADER_TOKEN_MAX)
		stop_with(x, "is not XML: a tag or a comment is too long");
}

int xmlreader_feed(struct xmlreader *x, const char *bytes, size_t len, bool last, struct err *err)
{
	while (len > 0 && !is_stopped(x)) {
		size_t room = XMLREADER_PIECE - x->waiting.len, used = len < room ? len : room;
		bool whole = used == XMLREADER_PIECE;

		if (!whole)
			buf_append(&x->waiting, bytes, used);
		if (used == room) {
			give(x, whole ? bytes : x->waiting.data, XMLREADER_PIECE, false);
			buf_reset(&x->waiting);
		}
		bytes += used;
		len -= used;
	}
	if (last && !is_stopped(x))
		give(x, buf_text(&x->waiting), x->waiting.len, true);
	if (is_stopped(x) && err)
		*err = x->err;
	return is_stopped(x) ? -1 : 0;
}

size_t xmlreader_kept(const struct xmlreader *x)
{
	return unread(x) + x->waiting.len;
}
