/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_AZURE_BLOBGLOB_H
#define SCALERS_AZURE_BLOBGLOB_H

/*
 * globPattern of azure-blob, matched against a whole name, by the rules of KEDA's library
 * (gobwas/glob without separators): * and ** any characters, ? one, [abc] [a-c] [!abc] [!a-c] one
 * of a set, {a,b*} one of several patterns, \ escapes the next character. A slash is an ordinary
 * character. In a pattern of two texts around one run of stars, the texts may overlap: "a/" ** "/b"
 * matches "a/b". Patterns and names are untrusted: the work for the names of a page is limited.
 */

#include <stddef.h>

#include "base/err.h"

struct blobglob;

/* A leading slash is dropped. The caller owns the result. NULL with ERR_INVALID. */
struct blobglob *blobglob_new(const char *pattern, struct err *err);
void blobglob_free(struct blobglob *g); /* NULL is fine */

/* 1: match; 0: no match; -1 with ERR_INVALID: *budget is used up. */
int blobglob_matches(const struct blobglob *g, const char *name, size_t *budget, struct err *err);

#define BLOBGLOB_BUDGET 2000000 /* some milliseconds */

#endif
