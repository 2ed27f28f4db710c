/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_PLACES_H
#define BASE_PLACES_H

/*
 * Where the fields of one YAML document stand: a list of all its values in the order of the text,
 * each with its line, its key and the value around it. Small (24 bytes a value), and searched only
 * when there is something to say. Made by yamljson, asked by cli/documents.
 */

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct place {
	uint32_t parent; /* PLACES_NONE: the document itself */
	uint32_t line;
	uint32_t index;  /* in a list, where key is NULL */
	const char *key; /* borrowed from the JSON that was made beside it */
};

struct place_fault {
	size_t place;
	const char *key;
}; /* the key stood in that mapping before */

#define PLACES_NONE UINT32_MAX

struct places { /* zeroed is empty */
	struct place *list;
	size_t count, alloc;
	struct place_fault *faults;
	size_t fault_count;
	/*
	 * values that are no part of the document any more, but whose keys are borrowed; NULL: none
	 */
	json_t *kept;
};

size_t places_add(struct places *p, struct place place); /* returns its position */
void places_add_fault(struct places *p, size_t place, const char *key);
void places_done(struct places *p);

/*
 * The place of a path below `root`, whose own values are those before `end`; when there is none, of
 * the nearest thing above.
 */
size_t places_find(const struct places *p, size_t root, size_t end, const char *path);

/* Just behind the last value inside the one at `root`. */
size_t places_end(const struct places *p, size_t root);

#endif
