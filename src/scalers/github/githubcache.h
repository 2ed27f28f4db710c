/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_GITHUB_GITHUBCACHE_H
#define SCALERS_GITHUB_GITHUBCACHE_H

/*
 * Caches GitHub's pages with their ETags, by path. If an ETag still holds, GitHub answers 304,
 * which does not count towards its rate limit. Pages that a scan did not use are dropped at its
 * end.
 */

#include "scalers/github/githubpage.h"

struct githubcache;

struct githubcache *githubcache_new(void);
void githubcache_free(struct githubcache *m); /* NULL is fine */

/* The ETag to send; borrowed; NULL: unknown. m may be NULL, here and below. */
const char *githubcache_etag(const struct githubcache *m, const char *path);
/* The cached page, which is marked as used; borrowed; NULL: none. */
const struct githubpage *githubcache_page(struct githubcache *m, const char *path);
/* Takes and caches a page, unless the ETag is empty or too long, or the cache is full. */
void githubcache_put(struct githubcache *m, const char *path, const char *etag, struct githubpage *page);
/* Call after each successful scan. */
void githubcache_sweep(struct githubcache *m);

#endif
