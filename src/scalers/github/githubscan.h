/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_GITHUB_GITHUBSCAN_H
#define SCALERS_GITHUB_GITHUBSCAN_H

/*
 * Counts jobs at GitHub, which has no request for it: lists the owner's repositories, unless the
 * trigger names them, the waiting and the running runs of each, and the jobs of each run, one
 * request after the other, as GitHub recommends. Pure: names the next page, and is given it.
 *
 * Gitea, Forgejo and proxies choose their own page size, so there is another page if the header
 * Link says so; without it, if fewer entries were seen than total_count; without both, if the page
 * is full.
 */

#include "scalers/github/githubpage.h"

/* Each costs at least two requests. */
#define GITHUBSCAN_REPOS_MAX 1000

/* The repositories to scan. Borrowed. */
struct githubscan_place {
	const char *owner;
	bool is_user;             /* the owner is a user, not an organization */
	const char *const *repos; /* their names; NULL: all of the owner */
	size_t count;
};

enum githubscan_stage { GITHUBSCAN_REPOS, GITHUBSCAN_QUEUED, GITHUBSCAN_RUNNING, GITHUBSCAN_JOBS, GITHUBSCAN_DONE };

struct githubscan { /* owns its lists; zeroed before githubscan_begin */
	enum githubscan_stage stage;
	unsigned page; /* from 1 */
	size_t seen;   /* entries of the list's pages so far */
	char **names;  /* of the repositories found */
	size_t name_count, at, missing;
	int64_t runs[2 * GITHUBPAGE_ENTRIES_MAX]; /* of the repository at `at` */
	size_t run_count, run_at;
	size_t jobs; /* counted so far; the answer at the end */
	bool cut;    /* a repository has more open runs than are counted */
};

void githubscan_begin(struct githubscan *s, const struct githubscan_place *place);
void githubscan_done(struct githubscan *s);

/* Kind of the next page; its path and query, which the caller owns. */
enum githubpage_kind githubscan_kind(const struct githubscan *s);
char *githubscan_path(const struct githubscan *s, const struct githubscan_place *place);

/* Takes the requested page; stage GITHUBSCAN_DONE ends the scan. 0, or -1 with err. */
int githubscan_take(struct githubscan *s, const struct githubscan_place *place, const struct githubpage *page,
	struct err *err);

/*
 * The requested page does not exist or is not visible to the token. Skips a repository from
 * GitHub's own list, which may have been deleted since, and returns 0. Anything else, or a list of
 * which no repository exists, is an error: -1 with ERR_MISSING.
 */
int githubscan_missing(struct githubscan *s, const struct githubscan_place *place, struct err *err);

#endif
