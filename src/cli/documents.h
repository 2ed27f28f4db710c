/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCUMENTS_H
#define CLI_DOCUMENTS_H

/*
 * Manifests as `kubectl apply -f` reads them: YAML or JSON, several documents in one text, lists
 * split into their items. Each object is JSON, with the lines of its fields. Called by `kscaled
 * check`.
 *
 * Plain scalars are typed as by kubectl (base/yamljson). An alias shares its value, which counts
 * against the cap each time, so that a small text cannot expand to a huge object. Reads no files
 * and knows no kinds.
 */

#include <jansson.h>
#include <stddef.h>

#include "base/err.h"

#define DOCUMENTS_BYTES_MAX (64 << 20) /* of one text */

struct places;

/* One object, borrowed from the documents. */
struct document {
	const char *file;
	const json_t *json;          /* any value; the caller checks that it is an object */
	size_t line;                 /* the first of the object */
	const struct places *places; /* of the whole document, for documents_line */
	size_t first, end;           /* those of this object */
};

struct documents {
	struct document *list; /* in the order of the input */
	size_t count, alloc;
	struct document_whole *wholes; /* owners of what the list borrows */
};

struct documents *documents_new(void);
/* after json_wipe_on_free it also wipes all values, which may be Secrets */
void documents_free(struct documents *d);

/*
 * Adds the objects of one text; file: the name of their origin, copied. Empty documents are
 * skipped. -1: ERR_INVALID `line 7: ...`: the text is not YAML, too long, nested too deep, or has
 * too many values; the objects before the error are added.
 */
int documents_read(struct documents *d, const char *file, const char *text, size_t len, struct err *err);

/*
 * The line of a field, by its path as base/json.h writes it,
 * "spec.triggers[2].metadata.listLength"; of a field that is missing the line of its nearest
 * ancestor.
 */
size_t documents_line(const struct document *doc, const char *path);

/* Calls fn for each key that its mapping had before, in the order of the text. The last counts. */
typedef void (*documents_fault_fn)(void *arg, size_t line, const char *key);
void documents_each_fault(const struct document *doc, documents_fault_fn fn, void *arg);

#endif
