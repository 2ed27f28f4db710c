/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/metricsapi/xmlvalue.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/xmlreader.h"
#include "scalers/params.h"
#include "scalers/values/metricvalue.h"

#define TEXT_MAX 1024 /* no number is longer */

/* One step of the path: an element's name and its index. */
struct level {
	const char *name; /* borrowed */
	bool indexed;
	size_t index;
	size_t seen; /* elements of that name so far in the current parent */
};

struct xmlvalue {
	struct xmlreader xml;
	struct level *levels; /* owned */
	size_t count;
	const char *attribute; /* borrowed; NULL: the element's text is read */
	size_t matched;        /* open elements, from the root, that match the path */
	bool found, nested;
	struct buf text;
};

static bool is_named(const char *element, const char *wanted)
{
	const char *colon = strchr(element, ':');

	return strcmp(element, wanted) == 0 || (colon && !strchr(wanted, ':') && strcmp(colon + 1, wanted) == 0);
}

/* Whether this child of a matching element is the next step. */
static bool is_next(struct xmlvalue *s, const char *element)
{
	struct level *level = &s->levels[s->matched];
	struct err why;

	if (!is_named(element, level->name))
		return false;
	level->seen++;
	if (level->indexed)
		return level->seen - 1 == level->index;
	if (level->seen > 1) {
		err_set(&why, ERR_INVALID, "there are several elements %.100s: add an index, such as %.100s.0",
			level->name, level->name);
		xmlreader_stop(&s->xml, &why);
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

static void on_start(void *arg, const char *element, const char **attributes, size_t depth)
{
	struct xmlvalue *s = arg;

	if (s->matched == s->count && depth > s->count)
		s->nested = true; /* matters only for text */
	if (depth != s->matched + 1 || s->matched == s->count || !is_next(s, element))
		return;
	if (++s->matched < s->count) {
		s->levels[s->matched].seen = 0;
		return;
	}
	s->found = !s->attribute;
	if (s->attribute)
		read_attribute(s, attributes);
	else
		xmlreader_take(&s->xml, &s->text, NULL);
}

static void on_end(void *arg, size_t depth)
{
	struct xmlvalue *s = arg;

	if (s->matched == depth)
		s->matched--;
}

static const struct xmlreader_rules rules = { "the answer", 256, on_start, on_end };

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
				"the path must begin with the name of the root element, not with an index");
		if (part->indexed && path->parts[i - 1].indexed)
			return err_set(err, ERR_INVALID,
				"an index must follow the name of an element, not another index");
		if (is_attribute(part) && (i == 0 || i + 1 < path->count || !part->name[1]))
			return err_set(err, ERR_INVALID,
				"an attribute (@name) must be the last part of a path and follow an element");
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

size_t xmlvalue_buffered(const struct xmlvalue *s)
{
	return xmlreader_kept(&s->xml);
}

int xmlvalue_feed(struct xmlvalue *s, const char *bytes, size_t len)
{
	return xmlreader_feed(&s->xml, bytes, len, false, NULL);
}

int xmlvalue_end(struct xmlvalue *s, double *out, struct err *err)
{
	return xmlreader_feed(&s->xml, "", 0, true, err) == 0 ? number(s, out, err) : -1;
}

struct xmlvalue *xmlvalue_new(const struct dotpath *path)
{
	struct xmlvalue *s = mem_zalloc(sizeof(*s));

	xmlreader_init(&s->xml, &rules, s);
	buf_init(&s->text, TEXT_MAX);
	read_path(path, s);
	return s;
}

void xmlvalue_free(struct xmlvalue *s)
{
	if (!s)
		return;
	xmlreader_done(&s->xml);
	buf_done(&s->text);
	free(s->levels);
	free(s);
}
