/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBE_OBJECTTEXT_H
#define KUBE_OBJECTTEXT_H

/*
 * An object as the API server sends it, before it is parsed: to parse it is most of what it costs.
 *
 * What hardly anybody reads is stripped from the text, as controller-runtime's
 * TransformStripManagedFields does from the object:
 * - metadata.managedFields, which client wrote which field: often more than half of the text;
 * - status.currentMetrics, an HPA's measured values: they change with each of its syncs.
 *
 * The text says, too, which object it is in which version, and of a watch event, by its print,
 * whether anything else differs from an event before: so an object that is known already, or that
 * differs in what is stripped only, need not be parsed.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct objecttext_part {
	const char *at; /* not ended by a NUL; NULL: it is not said, or not in plain characters */
	size_t len;
};

struct objecttext {
	const char *json; /* stripped */
	size_t len;
	/*
	 * Of one object, alone or in a watch event. The namespace is empty for a cluster-wide one.
	 */
	struct objecttext_part namespace_, name, uid, version;
	/*
	 * Of an ADDED or MODIFIED event: of the object's text without its version, under the key of
	 * the process. 0: it is no such event.
	 */
	uint64_t print;
};

/*
 * Reads an object, a list or a watch event. room holds len bytes and takes the stripped text, which
 * *out borrows. An object's own metadata and status are meant, those of the items of a list, or of
 * a watch event's object; those deeper inside, as in a Pod template, stay. What is not JSON stays
 * as it is from there on.
 */
void objecttext_read(struct objecttext *out, const char *json, size_t len, char *room);

bool objecttext_says(const struct objecttext_part *part, const char *text);

/* json_parse of what is left, or, to keep all, of json itself. NULL: it is not JSON. */
json_t *objecttext_parse(const char *json, size_t len, bool keep);

typedef bool (*objecttext_known_fn)(void *arg, const struct objecttext *text);
/* json_parse of what is left, unless the object is known: then *known and NULL. */
json_t *objecttext_parse_news(const char *json, size_t len, objecttext_known_fn is_known, void *arg, bool *known);

#endif
