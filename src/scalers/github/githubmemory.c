/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/github/githubmemory.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

/* Further pages are not cached. */
#define ENTRIES_MAX 4000
#define ETAG_MAX    256

struct kept {
	char *path, *etag; /* owned */
	struct githubpage page;
	bool asked; /* used in this scan */
	UT_hash_handle hh;
};

struct githubmemory {
	struct kept *pages;
};

struct githubmemory *githubmemory_new(void)
{
	return mem_zalloc(sizeof(struct githubmemory));
}

static void drop(struct githubmemory *m, struct kept *one)
{
	HASH_DEL(m->pages, one);
	free(one->path);
	free(one->etag);
	githubpage_done(&one->page);
	free(one);
}

void githubmemory_free(struct githubmemory *m)
{
	struct kept *one, *next;

	if (!m)
		return;
	HASH_ITER (hh, m->pages, one, next) {
		drop(m, one);
	}
	free(m);
}

static struct kept *find(const struct githubmemory *m, const char *path)
{
	struct kept *one = NULL;

	if (m)
		HASH_FIND_STR(m->pages, path, one);
	return one;
}

const char *githubmemory_etag(const struct githubmemory *m, const char *path)
{
	const struct kept *one = find(m, path);

	return one ? one->etag : NULL;
}

const struct githubpage *githubmemory_page(struct githubmemory *m, const char *path)
{
	struct kept *one = find(m, path);

	if (!one)
		return NULL;
	one->asked = true;
	return &one->page;
}

void githubmemory_keep(struct githubmemory *m, const char *path, const char *etag, struct githubpage *page)
{
	struct kept *one = find(m, path);

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

void githubmemory_sweep(struct githubmemory *m)
{
	struct kept *one, *next;

	if (!m)
		return;
	HASH_ITER (hh, m->pages, one, next) {
		if (!one->asked)
			drop(m, one);
		else
			one->asked = false;
	}
}
