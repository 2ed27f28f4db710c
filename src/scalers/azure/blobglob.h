/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_AZURE_BLOBGLOB_H
#define SCALERS_AZURE_BLOBGLOB_H

/*
 * globPattern of azure-blob, matched against a whole name, by the rules of KEDA's library
 * (gobwas/glob without separators): * and ** any characters, ? one, [abc] [a-c] [!abc] [!a-c] one
 * of a set, {a,b*} one of several patterns, \ takes the next character as it is. A slash is a
 * character like others. Of texts around one run of stars, and nothing else, the end of the first
 * and the beginning of the second may be the same: "a/" ** "/b" fits "a/b". Patterns and names are
 * untrusted: what all names of a page may take is
 * limited.
 */

#include <stddef.h>

#include "base/err.h"

struct blobglob;

/* A slash at its beginning is dropped. NULL with ERR_INVALID; the caller owns it. */
struct blobglob *blobglob_new(const char *pattern, struct err *err);
void blobglob_free(struct blobglob *g); /* NULL is fine */

/* 1: it matches; 0: not; -1 with ERR_INVALID: *budget is used up. */
int blobglob_fits(const struct blobglob *g, const char *name, size_t *budget, struct err *err);

#define BLOBGLOB_BUDGET 2000000 /* some milliseconds */

#endif
