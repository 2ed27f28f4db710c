/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/documents.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <utlist.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/places.h"
#include "base/yamljson.h"

/* One document of a text: its objects borrow from it. */
struct document_whole {
	char *file;   /* owned */
	json_t *json; /* owned */
	json_t *twin; /* owned; the owner of the keys of places, if not json; NULL */
	struct places places;
	struct document_whole *next;
};

struct documents *documents_new(void)
{
	return mem_zalloc(sizeof(struct documents));
}

static void wholes_free(struct document_whole *first)
{
	struct document_whole *w, *next;

	LL_FOREACH_SAFE (first, w, next) {
		json_decref(w->json);
		places_done(&w->places);
		json_decref(w->twin);
		free(w->file);
		free(w);
	}
}

void documents_free(struct documents *d)
{
	if (!d)
		return;
	wholes_free(d->wholes);
	free(d->list);
	free(d);
}

size_t documents_line(const struct document *doc, const char *path)
{
	if (doc->first >= doc->places->count)
		return doc->line;
	return doc->places->list[places_find(doc->places, doc->first, doc->end, path)].line;
}

void documents_each_fault(const struct document *doc, documents_fault_fn fn, void *arg)
{
	for (size_t i = 0; i < doc->places->fault_count; i++) {
		const struct place_fault *f = &doc->places->faults[i];

		if (f->place >= doc->first && f->place < doc->end)
			fn(arg, doc->places->list[f->place].line, f->key);
	}
}

/* ---- Objects ---- */

static bool is_list(const json_t *json)
{
	const char *kind = json_str_or_empty(json, "kind");
	size_t len = strlen(kind);

	return len >= 4 && strcmp(kind + len - 4, "List") == 0 && json_is_array(json_object_get(json, "items"));
}

static void add_object(struct documents *d, const struct document_whole *w, const json_t *json, size_t first,
	size_t line)
{
	size_t end = first < w->places.count ? places_end(&w->places, first) : first;

	if (d->count == d->alloc) {
		d->alloc = d->alloc ? 2 * d->alloc : 64;
		d->list = mem_resize(d->list, d->alloc, sizeof(*d->list));
	}
	d->list[d->count++] = (struct document){ w->file, json, line, &w->places, first, end };
}

/* Recursion is limited by the nesting of the text. */
static void add_objects(struct documents *d, const struct document_whole *w, const json_t *json, size_t first,
	size_t line)
{
	const json_t *items = json_object_get(json, "items"), *item;
	size_t i, at, end, here;

	if (json_is_null(json))
		return;
	if (!is_list(json)) {
		add_object(d, w, json, first, line);
		return;
	}
	end = first < w->places.count ? places_end(&w->places, first) : first;
	at = first < end ? places_find(&w->places, first, end, "items") : first;
	here = at + 1; /* the first item's place; each other one follows the previous one's end */
	json_array_foreach(items, i, item)
	{
		bool known = at != first && here < end && w->places.list[here].parent == at;

		/* An alias has no places of its own. */
		add_objects(d, w, item, known ? here : w->places.count, known ? w->places.list[here].line : line);
		if (known)
			here = places_end(&w->places, here);
	}
}

static struct document_whole *whole_new(const char *file)
{
	struct document_whole *w = mem_zalloc(sizeof(*w));

	w->file = mem_dup(file);
	return w;
}

/* Takes the document, which has at least one place. */
static void add_whole(struct documents *d, struct document_whole *w)
{
	LL_PREPEND(d->wholes, w);
	add_objects(d, w, w->json, 0, w->places.list[0].line);
}

/* ---- YAML ---- */

static int read_yaml(struct documents *d, const char *file, const char *text, size_t len, struct err *err)
{
	struct yamljson *y = yamljson_new(text, len, YAMLJSON_VALUES_MAX);
	int rc;

	do {
		struct document_whole *w = whole_new(file);

		rc = yamljson_next(y, &w->json, &w->places, err);
		if (rc > 0)
			add_whole(d, w);
		else
			wholes_free(w);
	} while (rc > 0);
	yamljson_free(y);
	return rc;
}

/*
 * ---- JSON: several values in one text. libyaml also reads nearly all of them, with lines. ----
 */

static size_t skip_space(const char *text, size_t len, size_t at)
{
	while (at < len && text[at] && strchr(" \t\r\n", text[at]))
		at++;
	return at;
}

/* JSON that is not YAML (surrogate pairs, keys of more than 1,024 characters) has no lines. */
static void find_places(struct document_whole *w, const char *text, size_t len, size_t lines_before)
{
	struct yamljson *y = yamljson_new(text, len, YAMLJSON_VALUES_MAX);

	if (yamljson_next(y, &w->twin, &w->places, NULL) <= 0)
		places_done(&w->places);
	for (size_t i = 0; i < w->places.count; i++)
		w->places.list[i].line += (uint32_t)lines_before;
	yamljson_free(y);
}

/* Whether the whole text is JSON; if not, adds nothing. */
static bool read_json(struct documents *d, const char *file, const char *text, size_t len)
{
	size_t at = skip_space(text, len, 0), counted = 0, lines = 0;
	struct document_whole *found = NULL, **end = &found, *w, *next;
	bool good = at < len && (text[at] == '{' || text[at] == '[');

	for (; good && at < len; at = skip_space(text, len, at)) {
		json_error_t where;

		w = whole_new(file);
		*end = w;
		end = &w->next;
		w->json = json_loadb(text + at, len - at, JSON_DISABLE_EOF_CHECK | JSON_ALLOW_NUL, &where);
		good = w->json;
		if (!good)
			break;
		for (; counted < at; counted++)
			lines += text[counted] == '\n';
		find_places(w, text + at, (size_t)where.position, lines);
		if (w->places.count == 0)
			places_add(&w->places, (struct place){ .parent = PLACES_NONE, .line = (uint32_t)lines + 1 });
		at += (size_t)where.position;
	}
	if (!good)
		wholes_free(found);
	else
		LL_FOREACH_SAFE (found, w, next)
			add_whole(d, w);
	return good;
}

int documents_read(struct documents *d, const char *file, const char *text, size_t len, struct err *err)
{
	static const char bom[] = "\xEF\xBB\xBF";

	if (len > DOCUMENTS_BYTES_MAX)
		return err_set(err, ERR_INVALID, "line 1: longer than %d MiB", DOCUMENTS_BYTES_MAX >> 20);
	if (len >= 3 && memcmp(text, bom, 3) == 0) {
		text += 3;
		len -= 3;
	}
	return read_json(d, file, text, len) ? 0 : read_yaml(d, file, text, len, err);
}
