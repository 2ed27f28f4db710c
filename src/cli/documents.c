/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/documents.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/places.h"
#include "base/yamljson.h"

/* One document of a text: its objects borrow from it. */
struct whole {
	json_t *json; /* owned */
	json_t *twin; /* owned; what places borrow keys from, when that is another; NULL */
	struct places places;
};

struct documents {
	char **files;
	size_t file_count;
	struct whole **wholes;
	size_t whole_count, whole_alloc;
	struct document *list;
	size_t count, alloc;
};

struct documents *documents_new(void)
{
	return mem_zalloc(sizeof(struct documents));
}

static void whole_free(struct whole *w)
{
	json_decref(w->json);
	places_done(&w->places);
	json_decref(w->twin);
	free(w);
}

void documents_free(struct documents *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->whole_count; i++)
		whole_free(d->wholes[i]);
	for (size_t i = 0; i < d->file_count; i++)
		free(d->files[i]);
	free(d->wholes);
	free(d->files);
	free(d->list);
	free(d);
}

size_t documents_count(const struct documents *d)
{
	return d->count;
}

const struct document *documents_at(const struct documents *d, size_t index)
{
	return &d->list[index];
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

static void add_object(struct documents *d, const char *file, const struct whole *w, const json_t *json, size_t first,
	size_t line)
{
	size_t end = first < w->places.count ? places_end(&w->places, first) : first;

	if (d->count == d->alloc) {
		d->alloc = d->alloc ? 2 * d->alloc : 64;
		d->list = mem_resize(d->list, d->alloc, sizeof(*d->list));
	}
	d->list[d->count++] = (struct document){ file, json, line, &w->places, first, end };
}

/* Lists of lists end where the text's nesting does. */
static void add_objects(struct documents *d, const char *file, const struct whole *w, const json_t *json, size_t first,
	size_t line)
{
	const json_t *items = json_object_get(json, "items"), *item;
	size_t i, at, end, here;

	if (json_is_null(json))
		return;
	if (!is_list(json)) {
		add_object(d, file, w, json, first, line);
		return;
	}
	end = first < w->places.count ? places_end(&w->places, first) : first;
	at = first < end ? places_find(&w->places, first, end, "items") : first;
	here = at + 1; /* the first item's place: each item's is just behind the end of the one before */
	json_array_foreach(items, i, item)
	{
		bool known = at != first && here < end && w->places.list[here].parent == at;

		/* Items that an alias stands for have no places of their own. */
		add_objects(d, file, w, item, known ? here : w->places.count, known ? w->places.list[here].line : line);
		if (known)
			here = places_end(&w->places, here);
	}
}

/* Takes the document. The first line is that of its first place, as far as it has places. */
static void add_whole(struct documents *d, const char *file, struct whole *w, size_t line)
{
	if (d->whole_count == d->whole_alloc) {
		d->whole_alloc = d->whole_alloc ? 2 * d->whole_alloc : 64;
		d->wholes = mem_resize(d->wholes, d->whole_alloc, sizeof(struct whole *));
	}
	d->wholes[d->whole_count++] = w;
	add_objects(d, file, w, w->json, 0, w->places.count > 0 ? w->places.list[0].line : line);
}

/* ---- YAML ---- */

static int read_yaml(struct documents *d, const char *file, const char *text, size_t len, struct err *err)
{
	struct yamljson *y = yamljson_new(text, len, YAMLJSON_VALUES_MAX);
	int rc;

	do {
		struct whole *w = mem_zalloc(sizeof(*w));

		rc = yamljson_next(y, &w->json, &w->places, err);
		if (rc > 0)
			add_whole(d, file, w, 1);
		else
			whole_free(w);
	} while (rc > 0);
	yamljson_free(y);
	return rc;
}

/* ---- JSON: texts one behind the other ---- */

/* libyaml reads nearly all of it, too, and knows the lines. */

static size_t skip_space(const char *text, size_t len, size_t at)
{
	while (at < len && strchr(" \t\r\n", text[at]) && text[at])
		at++;
	return at;
}

/*
 * Where JSON's own text is no YAML (a pair of surrogates, a key of more than 1,024 characters) the
 * lines are not known.
 */
static void find_places(struct whole *w, const char *text, size_t len, size_t lines_before)
{
	struct yamljson *y = yamljson_new(text, len, YAMLJSON_VALUES_MAX);

	if (yamljson_next(y, &w->twin, &w->places, NULL) <= 0)
		places_done(&w->places);
	for (size_t i = 0; i < w->places.count; i++)
		w->places.list[i].line += (uint32_t)lines_before;
	yamljson_free(y);
}

/* Whether all of it is JSON; when it is not, nothing has been added. */
static bool read_json(struct documents *d, const char *file, const char *text, size_t len)
{
	size_t at = skip_space(text, len, 0), counted = 0, lines = 0, count = 0;
	struct whole **found = NULL;
	bool good = at < len && (text[at] == '{' || text[at] == '[');

	for (; good && at < len; at = skip_space(text, len, at)) {
		struct whole *w = mem_zalloc(sizeof(*w));
		json_error_t where;

		w->json = json_loadb(text + at, len - at, JSON_DISABLE_EOF_CHECK | JSON_ALLOW_NUL, &where);
		good = w->json;
		for (; counted < at; counted++)
			lines += text[counted] == '\n';
		if (good)
			find_places(w, text + at, (size_t)where.position, lines);
		if (good && w->places.count == 0)
			places_add(&w->places, (struct place){ .parent = PLACES_NONE, .line = (uint32_t)lines + 1 });
		found = mem_resize(found, count + 1, sizeof(struct whole *));
		found[count++] = w;
		at += good ? (size_t)where.position : 0;
	}
	for (size_t i = 0; i < count; i++) {
		if (good)
			add_whole(d, file, found[i], 1);
		else
			whole_free(found[i]);
	}
	free(found);
	return good;
}

int documents_read(struct documents *d, const char *file, const char *text, size_t len, struct err *err)
{
	static const char bom[] = "\xEF\xBB\xBF";
	char *name = mem_dup(file);

	d->files = mem_resize(d->files, d->file_count + 1, sizeof(*d->files));
	d->files[d->file_count++] = name;
	if (len > DOCUMENTS_BYTES_MAX)
		return err_set(err, ERR_INVALID, "line 1: longer than %d MiB", DOCUMENTS_BYTES_MAX >> 20);
	if (len >= 3 && memcmp(text, bom, 3) == 0) {
		text += 3;
		len -= 3;
	}
	return read_json(d, name, text, len) ? 0 : read_yaml(d, name, text, len, err);
}
