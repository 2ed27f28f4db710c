/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBE_OBJECTTEXT_H
#define KUBE_OBJECTTEXT_H

/*
 * The text of an object from the API server, before it is parsed: parsing is most of its cost.
 *
 * Fields that hardly anyone reads are stripped from the text, like TransformStripManagedFields of
 * controller-runtime does from objects:
 * - metadata.managedFields, which client wrote which field: often more than half of the text;
 * - status.currentMetrics, an HPA's measured values: they change with each of its syncs.
 *
 * The scan also finds name and version of the object and, for a watch event, a print that shows
 * whether anything but the stripped fields differs from an earlier event. So an object that is
 * known already, or that differs only in stripped fields, need not be parsed.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct objecttext_part {
	const char *at; /* not NUL-terminated; NULL: absent, or with escapes */
	size_t len;
};

struct objecttext {
	const char *json; /* stripped */
	size_t len;
	/*
	 * Of a single object, also inside a watch event. namespace_ is empty for a cluster-wide
	 * one.
	 */
	struct objecttext_part namespace_, name, uid, version;
	/*
	 * Of an ADDED or MODIFIED event: a keyed hash of the object's text without its version. 0
	 * for any other text.
	 */
	uint64_t print;
};

/*
 * Scans an object, a list or a watch event. room holds len bytes and receives the stripped text,
 * which *out borrows. Only metadata and status of the object itself, of a list's items or of an
 * event's object are stripped; nested ones, as in a Pod template, are kept. Text after a JSON error
 * is kept unchanged.
 */
void objecttext_read(struct objecttext *out, const char *json, size_t len, char *room);

bool objecttext_says(const struct objecttext_part *part, const char *text);

/* json_parse of the stripped text, or of json itself when keep is true. NULL: not JSON. */
json_t *objecttext_parse(const char *json, size_t len, bool keep);

typedef bool (*objecttext_known_fn)(void *arg, const struct objecttext *text);
/*
 * json_parse of the stripped text, unless the object is known: then *known is true and the result
 * NULL.
 */
json_t *objecttext_parse_news(const char *json, size_t len, objecttext_known_fn is_known, void *arg, bool *known);

#endif
