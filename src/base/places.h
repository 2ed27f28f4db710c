/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_PLACES_H
#define BASE_PLACES_H

/*
 * Line numbers of the fields of one YAML document: a list of all its values in the order of the
 * text, each with its line, key and parent. Small (24 bytes per value); searched linearly, as only
 * errors need it. Written by yamljson, read by cli/documents.
 */

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct place {
	uint32_t parent; /* its position; PLACES_NONE: the document itself */
	uint32_t line;
	uint32_t index;  /* in a list; then key is NULL */
	const char *key; /* borrowed from the JSON value of the document */
};

struct place_fault { /* a duplicate key of a mapping */
	size_t place;
	const char *key;
};

#define PLACES_NONE UINT32_MAX

struct places { /* zeroed is empty */
	struct place *list;
	size_t count, alloc;
	struct place_fault *faults;
	size_t fault_count;
	json_t *kept; /* replaced values whose keys are borrowed; NULL: none */
};

size_t places_add(struct places *p, struct place place); /* returns its position */
void places_add_fault(struct places *p, size_t place, const char *key);
void places_done(struct places *p);

/*
 * The position of a path (written as in base/json.h) below `root`, whose values end before `end`;
 * if the path does not exist, of its nearest ancestor.
 */
size_t places_find(const struct places *p, size_t root, size_t end, const char *path);

/* One past the last value inside `root`. */
size_t places_end(const struct places *p, size_t root);

#endif
