/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_GITHUB_GITHUBSCAN_H
#define SCALERS_GITHUB_GITHUBSCAN_H

/*
 * The way to a count of jobs at GitHub, which has no request for it: the repositories of an owner,
 * unless they are named; of each its runs that wait, and those that run; of each of these its jobs.
 * One request after the other, as GitHub wants it. Pure: says which page is next, and is given it.
 * Gitea, Forgejo and proxies have pages of their own size: whether there is another says the header
 * Link, else the number of all; where neither is there, a page that is as full as was asked for.
 */

#include "scalers/github/githubpage.h"

/* Each costs two requests: more are not walked through in one poll. */
#define GITHUBSCAN_REPOS_MAX 1000

/* What is walked through. Borrowed. */
struct githubscan_place {
	const char *owner;
	bool is_user;             /* the owner is a user, not an organization */
	const char *const *repos; /* their names; NULL: all of the owner */
	size_t count;
};

enum githubscan_stage { GITHUBSCAN_REPOS, GITHUBSCAN_QUEUED, GITHUBSCAN_RUNNING, GITHUBSCAN_JOBS, GITHUBSCAN_DONE };

struct githubscan { /* owns its lists; githubscan_begin makes it, from zeroes */
	enum githubscan_stage stage;
	unsigned page; /* from 1 on */
	size_t seen;   /* entries of the list's pages so far */
	char **names;  /* of the repositories found */
	size_t name_count, at, missing;
	int64_t runs[2 * GITHUBPAGE_ENTRIES_MAX]; /* of the repository at `at` */
	size_t run_count, run_at;
	size_t jobs; /* so far: in the end the answer */
	bool cut;    /* of a repository more runs are open than are looked at */
};

void githubscan_begin(struct githubscan *s, const struct githubscan_place *place);
void githubscan_done(struct githubscan *s);

/* Of the next request: what its answer lists, and its path and query, which the caller owns. */
enum githubpage_kind githubscan_kind(const struct githubscan *s);
char *githubscan_path(const struct githubscan *s, const struct githubscan_place *place);

/*
 * Goes on with the page that was asked for; at GITHUBSCAN_DONE there is nothing more to ask. 0, or
 * -1 with err.
 */
int githubscan_take(struct githubscan *s, const struct githubscan_place *place, const struct githubpage *page,
	struct err *err);

/*
 * GitHub does not know what was asked for, or does not show it to us. A repository of its own list
 * is passed over, as it may have gone meanwhile; 0. All else, or if none of the list is there, is
 * an error: -1 with ERR_MISSING.
 */
int githubscan_missing(struct githubscan *s, const struct githubscan_place *place, struct err *err);

#endif
