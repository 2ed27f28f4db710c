/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/values/xmlpieces.h"

#include <stdlib.h>

void xmlpieces_init(struct xmlpieces *x, void *arg)
{
	*x = (struct xmlpieces){ .parser = XML_ParserCreate(NULL) };
	if (!x->parser)
		abort(); /* out of memory */
	buf_init(&x->waiting, XMLPIECES_SIZE);
	XML_SetUserData(x->parser, arg);
}

void xmlpieces_done(struct xmlpieces *x)
{
	XML_ParserFree(x->parser);
	buf_done(&x->waiting);
}

/* What expat keeps of what it has got. */
static size_t unread(const struct xmlpieces *x)
{
	return (size_t)(x->given - x->read);
}

static int give(struct xmlpieces *x, const char *bytes, size_t len, bool last, struct err *err)
{
	enum XML_Status status = XML_Parse(x->parser, bytes, (int)len, last);
	XML_Index read = XML_GetCurrentByteIndex(x->parser);

	x->given += (XML_Index)len;
	/* Unknown (-1) while an expat since 2.6 waits for more before it tries an open tag again */
	if (read >= 0)
		x->read = read;
	if (status != XML_STATUS_OK)
		return err_set(err, ERR_INVALID, "line %lu column %lu: %s", XML_GetCurrentLineNumber(x->parser),
			XML_GetCurrentColumnNumber(x->parser) + 1, XML_ErrorString(XML_GetErrorCode(x->parser)));
	return unread(x) > XMLPIECES_TOKEN_MAX ? err_set(err, ERR_INVALID, "a tag or a comment is too long") : 0;
}

int xmlpieces_feed(struct xmlpieces *x, const char *bytes, size_t len, bool last, struct err *err)
{
	while (len > 0) {
		size_t room = XMLPIECES_SIZE - x->waiting.len, used = len < room ? len : room;
		bool whole = used == XMLPIECES_SIZE;

		if (!whole)
			buf_append(&x->waiting, bytes, used);
		if (used == room) {
			if (give(x, whole ? bytes : x->waiting.data, XMLPIECES_SIZE, false, err))
				return -1;
			buf_reset(&x->waiting);
		}
		bytes += used;
		len -= used;
	}
	return last ? give(x, buf_text(&x->waiting), x->waiting.len, true, err) : 0;
}

size_t xmlpieces_kept(const struct xmlpieces *x)
{
	return unread(x) + x->waiting.len;
}
