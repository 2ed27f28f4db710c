/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_GITHUB_GITHUBMEMORY_H
#define SCALERS_GITHUB_GITHUBMEMORY_H

/*
 * The pages that GitHub has answered with an ETag, by their path: asked again with it, GitHub
 * answers 304 when nothing has changed, which does not count towards its rate limit. What one scan
 * did not ask for is forgotten at its end.
 */

#include "scalers/github/githubpage.h"

struct githubmemory;

struct githubmemory *githubmemory_new(void);
void githubmemory_free(struct githubmemory *m); /* NULL is fine */

/* The ETag to send; borrowed; NULL: none is known. m may be NULL, here and below. */
const char *githubmemory_etag(const struct githubmemory *m, const char *path);
/* The page that belongs to it; borrowed; NULL: none. It counts as asked for. */
const struct githubpage *githubmemory_page(struct githubmemory *m, const char *path);
/* Takes a page and keeps it, unless the ETag is too long, or there are too many pages. */
void githubmemory_keep(struct githubmemory *m, const char *path, const char *etag, struct githubpage *page);
/* At the end of a scan that had its answer. */
void githubmemory_sweep(struct githubmemory *m);

#endif
