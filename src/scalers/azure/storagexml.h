/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_AZURE_STORAGEXML_H
#define SCALERS_AZURE_STORAGEXML_H

/*
 * Counts the items of Azure Storage's XML lists: messages of a queue, or blobs of one page. Reads
 * the response in pieces and keeps no list. No I/O; the input is untrusted: elements, depth and
 * kept bytes are limited, and document types are refused.
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

/* Whether a blob counts, by its decoded name. -1 with err stops reading. */
typedef int (*storagexml_fits_fn)(void *arg, const char *name, struct err *err);

struct storagexml;

/* fits NULL: all count, and names are not read. */
struct storagexml *storagexml_new(enum storagexml_list list, storagexml_fits_fn fits, void *arg);
void storagexml_free(struct storagexml *x); /* NULL is fine */

/* The next bytes. -1 with err: not such a list. */
int storagexml_feed(struct storagexml *x, const char *bytes, size_t len, struct err *err);
size_t storagexml_kept(const struct storagexml *x); /* bytes kept of the input */

/*
 * After the last bytes: the count, and in *marker, which the caller owns, the next page; "": none.
 * -1 with err: the list is incomplete.
 */
int storagexml_end(struct storagexml *x, size_t *count, char **marker, struct err *err);

#endif
