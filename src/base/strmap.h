/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_STRMAP_H
#define BASE_STRMAP_H

/*
 * A map from string to string, sorted by key, for labels, annotations, trigger metadata and
 * environments. A value, compact in memory (one allocation per pair); zeroed is empty.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strmap {
	struct strmap_pair *pairs; /* owned, sorted by key */
	size_t count;
};
struct strmap_pair {
	char *key;         /* owned; key and value share one allocation */
	const char *value; /* inside the key's allocation */
};

const char *strmap_get(const struct strmap *m, const char *key); /* borrowed; NULL when absent */
void strmap_set(struct strmap *m, const char *key, const char *value);
void strmap_remove(struct strmap *m, const char *key);
void strmap_remove_secret(struct strmap *m, const char *key);   /* wipes the pair first */
void strmap_copy(struct strmap *to, const struct strmap *from); /* into an empty map */
void strmap_done(struct strmap *m);
void strmap_done_secret(struct strmap *m); /* wipes keys and values first */
bool strmap_equal(const struct strmap *a, const struct strmap *b);

#endif
