/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_GITHUB_GITHUBPAGE_H
#define SCALERS_GITHUB_GITHUBPAGE_H

/*
 * Reads a page of GitHub's lists: repositories, workflow runs, jobs of a run. Keeps only the fields
 * that are needed to count jobs. Pure.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Entries per page, GitHub's maximum; labels of a job, and of a trigger. */
#define GITHUBPAGE_ENTRIES_MAX 100
#define GITHUBPAGE_LABELS_MAX  100
#define GITHUBPAGE_NAME_MAX    100

enum githubpage_kind { GITHUBPAGE_REPOS, GITHUBPAGE_RUNS, GITHUBPAGE_JOBS };

/* Our runner. Borrowed. */
struct githubpage_runner {
	const char *const *labels; /* at most GITHUBPAGE_LABELS_MAX */
	size_t count;
	bool no_default_labels; /* it lacks the labels self-hosted, linux, x64 */
	bool unlabeled_apart;   /* jobs without labels need a runner without labels */
};

/* Whether there is another page, by the header Link. */
enum githubpage_link { GITHUBPAGE_UNKNOWN, GITHUBPAGE_NEXT, GITHUBPAGE_LAST };

struct githubpage { /* empty when zeroed */
	enum githubpage_link link;
	size_t entries; /* on the page, relevant or not */
	int64_t total;  /* entries of all pages; 0: not reported */
	size_t count;   /* of names, runs, or waiting and running jobs for our runner */
	char **names;   /* owned; of active repositories; NULL */
	int64_t *runs;  /* owned; IDs of waiting and running runs; NULL */
};

/*
 * 0, or -1 with ERR_INVALID. The caller frees *out in both cases. link: the header; "" for none.
 * runner: for GITHUBPAGE_JOBS.
 */
int githubpage_read(enum githubpage_kind kind, const json_t *answer, const char *link,
	const struct githubpage_runner *runner, struct githubpage *out, struct err *err);
void githubpage_done(struct githubpage *page);

/* Whether text is valid as the name of a repository or owner, and in a URL without escaping. */
bool githubpage_is_name(const char *text);

/* The message of an error answer, on one line; "" for none. Returns out. */
#define GITHUBPAGE_WORDS 200
char *githubpage_words(const json_t *answer, char out[GITHUBPAGE_WORDS]);

#endif
