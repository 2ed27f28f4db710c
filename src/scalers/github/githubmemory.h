/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_GITHUB_GITHUBMEMORY_H
#define SCALERS_GITHUB_GITHUBMEMORY_H

/*
 * Caches GitHub's pages with their ETags, by path. If an ETag still holds, GitHub answers 304,
 * which does not count towards its rate limit. Pages that a scan did not use are dropped at its
 * end.
 */

#include "scalers/github/githubpage.h"

struct githubmemory;

struct githubmemory *githubmemory_new(void);
void githubmemory_free(struct githubmemory *m); /* NULL is fine */

/* The ETag to send; borrowed; NULL: unknown. m may be NULL, here and below. */
const char *githubmemory_etag(const struct githubmemory *m, const char *path);
/* The cached page, which is marked as used; borrowed; NULL: none. */
const struct githubpage *githubmemory_page(struct githubmemory *m, const char *path);
/* Takes and caches a page, unless the ETag is empty or too long, or the cache is full. */
void githubmemory_keep(struct githubmemory *m, const char *path, const char *etag, struct githubpage *page);
/* Call after each successful scan. */
void githubmemory_sweep(struct githubmemory *m);

#endif
