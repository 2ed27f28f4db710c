/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_GITHUB_GITHUBPAGE_H
#define SCALERS_GITHUB_GITHUBPAGE_H

/*
 * A page of one of GitHub's lists: repositories, runs of workflows, jobs of a run. Of each only
 * what a count of jobs needs is kept. Pure.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Entries of one page, as many as GitHub gives; labels of a job, and of a trigger. */
#define GITHUBPAGE_ENTRIES_MAX 100
#define GITHUBPAGE_LABELS_MAX  100
#define GITHUBPAGE_NAME_MAX    100

enum githubpage_kind { GITHUBPAGE_REPOS, GITHUBPAGE_RUNS, GITHUBPAGE_JOBS };

/* Which runner ours is. Borrowed. */
struct githubpage_runner {
	const char *const *labels; /* at most GITHUBPAGE_LABELS_MAX */
	size_t count;
	bool no_default_labels; /* it has not self-hosted, linux, x64 */
	bool unlabeled_apart;   /* a job without labels is for a runner without labels alone */
};

/* What the server says of another page by the header Link. */
enum githubpage_link { GITHUBPAGE_UNSAID, GITHUBPAGE_NEXT, GITHUBPAGE_LAST };

struct githubpage { /* empty when zeroed */
	enum githubpage_link link;
	size_t entries; /* whatever they are */
	int64_t total;  /* of all pages together; 0: it is not said */
	size_t count;   /* of names, of runs, or jobs that are waiting or running, and for our runner */
	char **names;   /* owned; of repositories in which something can run; NULL */
	int64_t *runs;  /* owned; of those that wait or run; NULL */
};

/*
 * 0, or -1 with ERR_INVALID. After both the caller frees *out. link: the header; "" for none.
 * runner: of GITHUBPAGE_JOBS.
 */
int githubpage_read(enum githubpage_kind kind, const json_t *answer, const char *link,
	const struct githubpage_runner *runner, struct githubpage *out, struct err *err);
void githubpage_done(struct githubpage *page);

/* Whether it can be a name of a repository or of its owner, and part of a URL as it is. */
bool githubpage_is_name(const char *text);

/* GitHub's words in an answer that is an error, on one line; "" for none. Returns out. */
#define GITHUBPAGE_WORDS 200
char *githubpage_words(const json_t *answer, char out[GITHUBPAGE_WORDS]);

#endif
