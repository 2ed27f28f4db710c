/* SPDX-License-Identifier: Apache-2.0 */
#include "net/identity/awsxml.h"

#include <expat.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

#define DEPTH_MAX 64
#define TEXT_MAX  ((size_t)1 << 16)
/* An answer is read in one turn of the loop. Those of AWS have some hundred. */
#define ELEMENTS_MAX 100000

/* One path being followed. */
struct trail {
	const char *rest; /* the part of the path that is not entered yet; NULL: all of it is */
	size_t entered;   /* open elements that match, from the root */
	struct buf text;
};

struct awsxml {
	XML_Parser parser;
	struct trail trails[AWSXML_PATHS_MAX];
	size_t count, depth, elements;
	const char *wrong; /* NULL */
};

static void stop(struct awsxml *x, const char *wrong)
{
	x->wrong = wrong;
	XML_StopParser(x->parser, XML_FALSE);
}

/* Enters the next part when it is this element; once only, so that the first counts. */
static void enter(struct trail *t, size_t depth, const char *name)
{
	size_t len = t->rest ? strcspn(t->rest, "/") : 0;

	if (!t->rest || depth != t->entered || strlen(name) != len || memcmp(t->rest, name, len) != 0)
		return;
	t->entered++;
	t->rest = t->rest[len] ? t->rest + len + 1 : NULL;
}

static void XMLCALL on_start(void *arg, const char *name, const char **attributes)
{
	struct awsxml *x = arg;

	(void)attributes;
	if (++x->elements > ELEMENTS_MAX) {
		stop(x, "the answer has more than 100,000 elements");
		return;
	}
	for (size_t i = 0; i < x->count; i++)
		enter(&x->trails[i], x->depth, name);
	if (++x->depth > DEPTH_MAX)
		stop(x, "the answer is nested too deep");
}

/* What leaves an element that matched never comes back: the next one is not the first. */
static void leave(struct trail *t, size_t depth)
{
	static const char nowhere[] = "/";

	if (t->entered != depth)
		return;
	if (t->rest)
		t->rest = nowhere;
	t->entered = SIZE_MAX;
}

static void XMLCALL on_end(void *arg, const char *name)
{
	struct awsxml *x = arg;

	(void)name;
	for (size_t i = 0; i < x->count; i++)
		leave(&x->trails[i], x->depth);
	x->depth--;
}

static void XMLCALL on_text(void *arg, const char *text, int len)
{
	struct awsxml *x = arg;

	for (size_t i = 0; i < x->count; i++)
		if (!x->trails[i].rest && x->trails[i].entered == x->depth)
			buf_append(&x->trails[i].text, text, (size_t)len);
}

/* Entities, which could make much of little, need one. */
static void XMLCALL on_doctype(void *arg, const char *name, const char *system_id, const char *public_id, int internal)
{
	(void)name;
	(void)system_id;
	(void)public_id;
	(void)internal;
	stop(arg, "the answer has a DTD, which AWS does not send");
}

int awsxml_read(const char *body, size_t len, const char *const *paths, size_t count, char **out, struct err *err)
{
	struct awsxml x = { .parser = XML_ParserCreate(NULL), .count = count };
	int failed;

	if (!x.parser)
		abort();
	for (size_t i = 0; i < count; i++) {
		x.trails[i].rest = paths[i];
		buf_init(&x.trails[i].text, TEXT_MAX);
	}
	XML_SetUserData(x.parser, &x);
	XML_SetElementHandler(x.parser, on_start, on_end);
	XML_SetCharacterDataHandler(x.parser, on_text);
	XML_SetStartDoctypeDeclHandler(x.parser, on_doctype);
	failed = len > INT32_MAX || XML_Parse(x.parser, body, (int)len, 1) != XML_STATUS_OK;
	XML_ParserFree(x.parser);
	for (size_t i = 0; i < count; i++) {
		out[i] = failed || x.trails[i].rest || buf_failed(&x.trails[i].text)
			? NULL
			: mem_dup(buf_text(&x.trails[i].text));
		buf_done_secret(&x.trails[i].text);
	}
	return failed ? err_set(err, ERR_INVALID, "%s", x.wrong ? x.wrong : "the answer is not XML") : 0;
}
