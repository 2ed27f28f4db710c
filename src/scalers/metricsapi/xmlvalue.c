/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/metricsapi/xmlvalue.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "scalers/params.h"
#include "scalers/values/metricvalue.h"
#include "scalers/values/xmlpieces.h"

#define DEPTH_MAX 256
#define TEXT_MAX  1024 /* no number is longer */
/* As of JSON (base/json.h): an element costs some hundred nanoseconds, whatever it holds. */
#define ELEMENTS_MAX 100000

/* One step of the path: an element's name and its index. */
struct level {
	const char *name; /* borrowed */
	bool indexed;
	size_t index;
	size_t seen; /* elements of that name so far in the current parent */
};

struct xmlvalue {
	struct xmlpieces xml;
	struct level *levels; /* owned */
	size_t count;
	const char *attribute; /* borrowed; NULL: the element's text is read */
	size_t depth;          /* open elements */
	size_t elements;       /* so far */
	size_t matched;        /* how many of them, from the root, match the path */
	bool found, nested;
	struct buf text;
	struct err err; /* why the document is invalid */
};

static void stop(struct xmlvalue *s, const char *what)
{
	if (s->err.kind == ERR_NONE)
		err_set(&s->err, ERR_INVALID, "%s", what);
	XML_StopParser(s->xml.parser, XML_FALSE);
}

static bool is_named(const char *element, const char *wanted)
{
	const char *colon = strchr(element, ':');

	return strcmp(element, wanted) == 0 || (colon && !strchr(wanted, ':') && strcmp(colon + 1, wanted) == 0);
}

/* Whether this child of a matching element is the next step. */
static bool is_next(struct xmlvalue *s, const char *element)
{
	struct level *level = &s->levels[s->matched];

	if (!is_named(element, level->name))
		return false;
	level->seen++;
	if (level->indexed)
		return level->seen - 1 == level->index;
	if (level->seen > 1 && s->err.kind == ERR_NONE) {
		err_set(&s->err, ERR_INVALID,
			"there are several elements %.100s: an index must say which, such as %.100s.0", level->name,
			level->name);
		XML_StopParser(s->xml.parser, XML_FALSE);
	}
	return level->seen == 1;
}

static void read_attribute(struct xmlvalue *s, const char **attributes)
{
	for (; *attributes; attributes += 2) {
		if (!is_named(attributes[0], s->attribute))
			continue;
		s->found = true;
		buf_puts(&s->text, attributes[1]);
		return;
	}
}

static void XMLCALL on_start(void *arg, const char *element, const char **attributes)
{
	struct xmlvalue *s = arg;

	if (++s->elements > ELEMENTS_MAX) {
		stop(s, "the answer has more than 100,000 elements");
		return;
	}
	if (s->matched == s->count && s->depth >= s->count)
		s->nested = true; /* matters only for text */
	if (++s->depth > DEPTH_MAX) {
		stop(s, "the answer is nested too deep: at most 256 levels");
		return;
	}
	if (s->depth != s->matched + 1 || s->matched == s->count || !is_next(s, element))
		return;
	if (++s->matched < s->count) {
		s->levels[s->matched].seen = 0;
		return;
	}
	s->found = !s->attribute;
	if (s->attribute)
		read_attribute(s, attributes);
}

static void XMLCALL on_end(void *arg, const char *element)
{
	struct xmlvalue *s = arg;

	(void)element;
	if (s->matched == s->depth)
		s->matched--;
	s->depth--;
}

static void XMLCALL on_text(void *arg, const char *text, int len)
{
	struct xmlvalue *s = arg;

	if (s->attribute || s->matched != s->count || s->depth != s->count)
		return;
	buf_append(&s->text, text, (size_t)len);
}

static void XMLCALL on_doctype(void *arg, const char *name, const char *system, const char *public, int internal)
{
	(void)name, (void)system, (void)public, (void)internal;
	stop(arg, "the answer has a document type (<!DOCTYPE ...>), which is refused");
}

/* ---- The path ---- */

static bool is_attribute(const struct dotpath_part *part)
{
	return part->name[0] == '@' && !part->escaped;
}

int xmlvalue_check(const struct dotpath *path, struct err *err)
{
	for (size_t i = 0; i < path->count; i++) {
		const struct dotpath_part *part = &path->parts[i];

		if (part->indexed && i == 0)
			return err_set(err, ERR_INVALID,
				"the path begins with the name of the root element, not with an index");
		if (part->indexed && path->parts[i - 1].indexed)
			return err_set(err, ERR_INVALID,
				"an index stands behind the name of an element, not behind an index");
		if (is_attribute(part) && (i == 0 || i + 1 < path->count || !part->name[1]))
			return err_set(err, ERR_INVALID,
				"an attribute (@name) is the last part of a path, behind an element");
	}
	return 0;
}

static void read_path(const struct dotpath *path, struct xmlvalue *s)
{
	s->levels = mem_array(path->count, sizeof(*s->levels));
	for (size_t i = 0; i < path->count; i++) {
		const struct dotpath_part *part = &path->parts[i];

		if (is_attribute(part)) {
			s->attribute = part->name + 1;
		} else if (part->indexed) {
			s->levels[s->count - 1].indexed = true;
			s->levels[s->count - 1].index = part->index;
		} else {
			s->levels[s->count++].name = part->name;
		}
	}
}

/* ---- The answer ---- */

static int number(const struct xmlvalue *s, double *out, struct err *err)
{
	MEM_AUTO char *text = params_trimmed(buf_text(&s->text));

	if (!s->found)
		return metricvalue_none("Null: there is nothing", err);
	if (s->nested && !s->attribute)
		return metricvalue_none("an element with elements inside", err);
	if (!text)
		return metricvalue_none("nothing: it is empty", err);
	if (!buf_failed(&s->text) && metricvalue_of_text(text, strlen(text), out))
		return 0;
	return metricvalue_none(METRICVALUE_NO_QUANTITY, err);
}

size_t xmlvalue_kept(const struct xmlvalue *s)
{
	return xmlpieces_kept(&s->xml);
}

static int feed(struct xmlvalue *s, const char *bytes, size_t len, bool last)
{
	struct err err;

	if (s->err.kind != ERR_NONE)
		return -1;
	if (xmlpieces_feed(&s->xml, bytes, len, last, &err) == 0)
		return 0;
	if (s->err.kind == ERR_NONE) {
		s->err = err;
		err_wrap(&s->err, "the answer is not XML");
	}
	return -1;
}

int xmlvalue_feed(struct xmlvalue *s, const char *bytes, size_t len)
{
	return feed(s, bytes, len, false);
}

int xmlvalue_end(struct xmlvalue *s, double *out, struct err *err)
{
	if (feed(s, "", 0, true) == 0)
		return number(s, out, err);
	if (err)
		*err = s->err;
	return -1;
}

struct xmlvalue *xmlvalue_new(const struct dotpath *path)
{
	struct xmlvalue *s = mem_zalloc(sizeof(*s));

	xmlpieces_init(&s->xml, s);
	buf_init(&s->text, TEXT_MAX);
	read_path(path, s);
	XML_SetElementHandler(s->xml.parser, on_start, on_end);
	XML_SetCharacterDataHandler(s->xml.parser, on_text);
	XML_SetStartDoctypeDeclHandler(s->xml.parser, on_doctype);
	return s;
}

void xmlvalue_free(struct xmlvalue *s)
{
	if (!s)
		return;
	xmlpieces_done(&s->xml);
	buf_done(&s->text);
	free(s->levels);
	free(s);
}
