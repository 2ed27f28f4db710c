/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_AZURE_STORAGEXML_H
#define SCALERS_AZURE_STORAGEXML_H

/*
 * Counts what Azure Storage lists as XML: messages of a queue, or blobs of one page. Reads the
 * answer as it comes and keeps no list. No I/O; the bytes may be anybody's: elements, depth and
 * what is kept are limited, and a document type is refused.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define STORAGEXML_NAME_MAX   8192 /* bytes of a blob's name: 1,024 characters */
#define STORAGEXML_MARKER_MAX 4096

enum storagexml_list {
	STORAGEXML_MESSAGES, /* QueueMessagesList */
	STORAGEXML_BLOBS,    /* EnumerationResults */
};

/*
 * Whether a blob counts, by its name (decoded). -1 with err: it cannot be told, which ends the
 * reading.
 */
typedef int (*storagexml_fits_fn)(void *arg, const char *name, struct err *err);

struct storagexml;

/* fits NULL: each counts, and names are not read. */
struct storagexml *storagexml_new(enum storagexml_list list, storagexml_fits_fn fits, void *arg);
void storagexml_free(struct storagexml *x); /* NULL is fine */

/* The next bytes. -1 with err: it is no such list. */
int storagexml_feed(struct storagexml *x, const char *bytes, size_t len, struct err *err);
size_t storagexml_kept(const struct storagexml *x); /* bytes kept of what was fed */

/*
 * After the last bytes: how many, and in *marker, which the caller owns, where the next page
 * begins; "": there is none. -1 with err: the list is not whole.
 */
int storagexml_end(struct storagexml *x, size_t *count, char **marker, struct err *err);

#endif
