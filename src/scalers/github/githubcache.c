/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/github/githubcache.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

/* Further pages are not cached. */
#define ENTRIES_MAX 4000
#define ETAG_MAX    256

struct cached_page {
	char *path, *etag; /* owned */
	struct githubpage page;
	bool asked; /* used in this scan */
	UT_hash_handle hh;
};

struct githubcache {
	struct cached_page *pages;
};

struct githubcache *githubcache_new(void)
{
	return mem_zalloc(sizeof(struct githubcache));
}

static void drop(struct githubcache *m, struct cached_page *one)
{
	HASH_DEL(m->pages, one);
	free(one->path);
	free(one->etag);
	githubpage_done(&one->page);
	free(one);
}

void githubcache_free(struct githubcache *m)
{
	struct cached_page *one, *next;

	if (!m)
		return;
	HASH_ITER (hh, m->pages, one, next) {
		drop(m, one);
	}
	free(m);
}

static struct cached_page *find(const struct githubcache *m, const char *path)
{
	struct cached_page *one = NULL;

	if (m)
		HASH_FIND_STR(m->pages, path, one);
	return one;
}

const char *githubcache_etag(const struct githubcache *m, const char *path)
{
	const struct cached_page *one = find(m, path);

	return one ? one->etag : NULL;
}

const struct githubpage *githubcache_page(struct githubcache *m, const char *path)
{
	struct cached_page *one = find(m, path);

	if (!one)
		return NULL;
	one->asked = true;
	return &one->page;
}

void githubcache_put(struct githubcache *m, const char *path, const char *etag, struct githubpage *page)
{
	struct cached_page *one = find(m, path);

	if (one)
		drop(m, one);
	if (m && *etag && strlen(etag) <= ETAG_MAX && HASH_COUNT(m->pages) < ENTRIES_MAX) {
		one = mem_zalloc(sizeof(*one));
		one->path = mem_dup(path);
		one->etag = mem_dup(etag);
		one->page = *page;
		one->asked = true;
		HASH_ADD_KEYPTR(hh, m->pages, one->path, strlen(one->path), one);
		*page = (struct githubpage){ 0 };
	}
	githubpage_done(page);
}

void githubcache_sweep(struct githubcache *m)
{
	struct cached_page *one, *next;

	if (!m)
		return;
	HASH_ITER (hh, m->pages, one, next) {
		if (!one->asked)
			drop(m, one);
		else
			one->asked = false;
	}
}
