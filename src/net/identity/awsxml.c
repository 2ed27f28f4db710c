/* SPDX-License-Identifier: Apache-2.0 */
#include "net/identity/awsxml.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/xmlreader.h"

#define TEXT_MAX ((size_t)1 << 16)

/* One path being followed. */
struct trail {
	const char *rest; /* the part of the path not entered yet; NULL: all is */
	size_t entered;   /* open elements that match, from the root */
	struct buf text;
};

struct awsxml {
	struct xmlreader xml;
	struct trail trails[AWSXML_PATHS_MAX];
	size_t count;
};

/* Enters the next part if it is this element; once only, so that the first one counts. */
static bool enter(struct trail *t, size_t depth, const char *name)
{
	size_t len = t->rest ? strcspn(t->rest, "/") : 0;

	if (!t->rest || depth != t->entered + 1 || strlen(name) != len || memcmp(t->rest, name, len) != 0)
		return false;
	t->entered++;
	t->rest = t->rest[len] ? t->rest + len + 1 : NULL;
	return !t->rest;
}

static void on_start(void *arg, const char *name, const char **attributes, size_t depth)
{
	struct awsxml *x = arg;

	(void)attributes;
	for (size_t i = 0; i < x->count; i++)
		if (enter(&x->trails[i], depth, name))
			xmlreader_take(&x->xml, &x->trails[i].text, NULL);
}

/* Leaving a matched element ends the trail: the next one is not the first. */
static void leave(struct trail *t, size_t depth)
{
	static const char nowhere[] = "/";

	if (t->entered != depth)
		return;
	if (t->rest)
		t->rest = nowhere;
	t->entered = SIZE_MAX - 1;
}

static void on_end(void *arg, size_t depth)
{
	struct awsxml *x = arg;

	for (size_t i = 0; i < x->count; i++)
		leave(&x->trails[i], depth);
}

int awsxml_read(const char *body, size_t len, const char *const *paths, size_t count, char **out, struct err *err)
{
	static const struct xmlreader_rules rules = { "the answer", 64, on_start, on_end };
	struct awsxml x = { .count = count };
	int failed;

	for (size_t i = 0; i < count; i++) {
		x.trails[i].rest = paths[i];
		buf_init(&x.trails[i].text, TEXT_MAX);
	}
	xmlreader_init(&x.xml, &rules, &x);
	failed = xmlreader_feed(&x.xml, body, len, true, err);
	xmlreader_done(&x.xml);
	for (size_t i = 0; i < count; i++) {
		out[i] = failed || x.trails[i].rest || buf_failed(&x.trails[i].text)
			? NULL
			: mem_dup(buf_text(&x.trails[i].text));
		buf_done_secret(&x.trails[i].text);
	}
	return failed;
}
