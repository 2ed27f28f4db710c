/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/github/githubscan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static size_t repo_count(const struct githubscan *s, const struct githubscan_place *place)
{
	return place->repos ? place->count : s->name_count;
}

static const char *repo_at(const struct githubscan *s, const struct githubscan_place *place)
{
	return place->repos ? place->repos[s->at] : s->names[s->at];
}

static void go_to(struct githubscan *s, enum githubscan_stage stage)
{
	s->stage = stage;
	s->page = 1;
	s->seen = 0;
}

void githubscan_begin(struct githubscan *s, const struct githubscan_place *place)
{
	go_to(s, place->repos ? GITHUBSCAN_QUEUED : GITHUBSCAN_REPOS);
}

void githubscan_done(struct githubscan *s)
{
	for (size_t i = 0; i < s->name_count; i++)
		free(s->names[i]);
	free(s->names);
	*s = (struct githubscan){ 0 };
}

/* ---- The next request ---- */

enum githubpage_kind githubscan_kind(const struct githubscan *s)
{
	return s->stage == GITHUBSCAN_REPOS   ? GITHUBPAGE_REPOS
		: s->stage == GITHUBSCAN_JOBS ? GITHUBPAGE_JOBS
					      : GITHUBPAGE_RUNS;
}

char *githubscan_path(const struct githubscan *s, const struct githubscan_place *place)
{
	char page[20] = "";

	if (s->stage == GITHUBSCAN_REPOS)
		return mem_printf("/%s/%s/repos?per_page=%d&page=%u", place->is_user ? "users" : "orgs", place->owner,
			GITHUBPAGE_ENTRIES_MAX, s->page);
	if (s->stage == GITHUBSCAN_JOBS)
		return mem_printf("/repos/%s/%s/actions/runs/%lld/jobs?per_page=%d&page=%u", place->owner,
			repo_at(s, place), (long long)s->runs[s->run_at], GITHUBPAGE_ENTRIES_MAX, s->page);
	if (s->page > 1)
		snprintf(page, sizeof(page), "&page=%u", s->page);
	return mem_printf("/repos/%s/%s/actions/runs?status=%s&per_page=%d%s", place->owner, repo_at(s, place),
		s->stage == GITHUBSCAN_QUEUED ? "queued" : "in_progress", GITHUBPAGE_ENTRIES_MAX, page);
}

/* ---- Its answer ---- */

static int leave_repo(struct githubscan *s, const struct githubscan_place *place, struct err *err)
{
	s->run_count = s->run_at = 0;
	go_to(s, ++s->at < repo_count(s, place) ? GITHUBSCAN_QUEUED : GITHUBSCAN_DONE);
	if (s->stage == GITHUBSCAN_DONE && s->missing == repo_count(s, place))
		return err_set(err, ERR_MISSING,
			"%s has no repository whose runs the token may read: does it have the right Actions (read)?",
			place->owner);
	return 0;
}

/* Goes to the next page, if there is one. */
static bool turn_page(struct githubscan *s, const struct githubpage *page)
{
	bool more;

	s->seen += page->entries;
	if (page->link != GITHUBPAGE_UNKNOWN)
		more = page->link == GITHUBPAGE_NEXT;
	else if (page->total > 0)
		more = page->entries > 0 && (int64_t)s->seen < page->total;
	else
		more = page->entries >= GITHUBPAGE_ENTRIES_MAX;
	s->page += more;
	return more;
}

static bool is_listed(const struct githubscan *s, const char *name)
{
	for (size_t i = 0; i < s->name_count; i++)
		if (strcmp(s->names[i], name) == 0)
			return true;
	return false;
}

/* A repository that is created during the scan moves others to the next page: skips duplicates. */
static int take_repos(struct githubscan *s, const struct githubscan_place *place, const struct githubpage *page,
	struct err *err)
{
	if (s->name_count + page->count > GITHUBSCAN_REPOS_MAX)
		return err_set(err, ERR_INVALID, "%s has more than %d repositories: set repos to those that count",
			place->owner, GITHUBSCAN_REPOS_MAX);
	s->names = mem_resize(s->names, s->name_count + page->count + 1, sizeof(*s->names));
	for (size_t i = 0; i < page->count; i++)
		if (!is_listed(s, page->names[i]))
			s->names[s->name_count++] = mem_dup(page->names[i]);
	if (turn_page(s, page))
		return 0;
	if (s->name_count == 0)
		return err_set(err, ERR_MISSING,
			"%s has no repository that the token may see: check the token's rights, or set repos",
			place->owner);
	go_to(s, GITHUBSCAN_QUEUED);
	return 0;
}

static bool is_known(const struct githubscan *s, int64_t run)
{
	for (size_t i = 0; i < s->run_count; i++)
		if (s->runs[i] == run)
			return true;
	return false;
}

/*
 * A run that started between the two requests is in both lists. Only the first hundred of each list
 * count, which is GitHub's first page.
 */
static int take_runs(struct githubscan *s, const struct githubscan_place *place, const struct githubpage *page,
	struct err *err)
{
	bool more;

	for (size_t i = 0; i < page->count && s->run_count < MEM_COUNT(s->runs); i++)
		if (!is_known(s, page->runs[i]))
			s->runs[s->run_count++] = page->runs[i];
	more = turn_page(s, page);
	if (more && s->seen < GITHUBPAGE_ENTRIES_MAX)
		return 0;
	s->cut |= more;
	if (s->stage == GITHUBSCAN_QUEUED)
		go_to(s, GITHUBSCAN_RUNNING);
	else if (s->run_count > 0)
		go_to(s, GITHUBSCAN_JOBS);
	else
		return leave_repo(s, place, err);
	return 0;
}

static int take_jobs(struct githubscan *s, const struct githubscan_place *place, const struct githubpage *page,
	struct err *err)
{
	s->jobs += page->count;
	if (turn_page(s, page))
		return 0;
	go_to(s, GITHUBSCAN_JOBS);
	return ++s->run_at < s->run_count ? 0 : leave_repo(s, place, err);
}

int githubscan_take(struct githubscan *s, const struct githubscan_place *place, const struct githubpage *page,
	struct err *err)
{
	switch (s->stage) {
	case GITHUBSCAN_REPOS: return take_repos(s, place, page, err);
	case GITHUBSCAN_JOBS: return take_jobs(s, place, page, err);
	default: return take_runs(s, place, page, err);
	}
}

int githubscan_missing(struct githubscan *s, const struct githubscan_place *place, struct err *err)
{
	switch (s->stage) {
	case GITHUBSCAN_REPOS:
		return err_set(err, ERR_MISSING,
			"%s %s does not exist or is not visible to the token: check owner and runnerScope",
			place->is_user ? "user" : "organization", place->owner);
	case GITHUBSCAN_QUEUED:
		if (!place->repos) {
			s->missing++;
			return leave_repo(s, place, err);
		}
		break;
	default: break;
	}
	return err_set(err, ERR_MISSING,
		"repository %s/%s does not exist, or the token may not read its runs: check its right Actions (read)",
		place->owner, repo_at(s, place));
}
