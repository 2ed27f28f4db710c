/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCUMENTS_H
#define CLI_DOCUMENTS_H

/*
 * Manifests as `kubectl apply -f` reads them: YAML or JSON, several documents in one text, lists
 * taken apart into their items; each object as JSON, with the lines its fields stand in. Called by
 * `kscaled check`.
 *
 * Words and numbers without quotes mean what they mean to kubectl (YAML 1.1: yes and on are true,
 * 010 is 8). An alias is the value it stands for, shared and not copied, and counts with all that
 * is below it, so that a small text cannot stand for a huge object. Reads no files, knows nothing
 * of what the objects say.
 */

#include <jansson.h>
#include <stddef.h>

#include "base/err.h"

#define DOCUMENTS_BYTES_MAX (64 << 20) /* of one text */

struct documents;
struct places;

/* One object, borrowed from the documents. */
struct document {
	const char *file;
	const json_t *json;          /* any value: whether it is an object is for the caller to see */
	size_t line;                 /* its first */
	const struct places *places; /* for documents_line */
	size_t first, end;           /* what of them is this object's */
};

struct documents *documents_new(void);
/* the texts may hold Secrets: with json_wipe_on_free nothing of them stays in memory */
void documents_free(struct documents *d);

/*
 * Adds the objects of one text; `file` is what they are told to be from, copied. Documents without
 * anything in them are skipped. -1: ERR_INVALID `line 7: ...` when it is not YAML, too long, nested
 * too deep or has too many values; what was read before that place is there.
 */
int documents_read(struct documents *d, const char *file, const char *text, size_t len, struct err *err);

size_t documents_count(const struct documents *d);
const struct document *documents_at(const struct documents *d, size_t index);

/*
 * The line of a field by its path as base/json.h writes them:
 * "spec.triggers[2].metadata.listLength". What is not there: the line of the nearest thing above it
 * that is; always one.
 */
size_t documents_line(const struct document *doc, const char *path);

/*
 * A key that stands twice in one mapping; the last one counts. Called for each of them, in the
 * order of the text.
 */
typedef void (*documents_fault_fn)(void *arg, size_t line, const char *key);
void documents_each_fault(const struct document *doc, documents_fault_fn fn, void *arg);

#endif
