/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/github/githubpage.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

bool githubpage_is_name(const char *text)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	size_t len = strspn(text, allowed);

	return len > 0 && len <= GITHUBPAGE_NAME_MAX && text[len] == '\0' && strcmp(text, ".") != 0 &&
		strcmp(text, "..") != 0;
}

/* Whether a run or job waits for a runner or has one. */
static bool is_open(const json_t *one)
{
	return json_str_is(one, "status", "queued") || json_str_is(one, "status", "in_progress");
}

/* ---- Entries ---- */

/* Skips archived and disabled repositories, in which nothing runs. */
static int take_repo(const json_t *one, struct githubpage *out, struct err *err)
{
	const char *name = json_str_or_empty(one, "name");

	if (!githubpage_is_name(name))
		return err_set(err, ERR_INVALID, "a repository of the list has no valid name");
	if (!json_is_true(json_object_get(one, "archived")) && !json_is_true(json_object_get(one, "disabled")))
		out->names[out->count++] = mem_dup(name);
	return 0;
}

static int take_run(const json_t *one, struct githubpage *out, struct err *err)
{
	const json_t *id = json_object_get(one, "id");

	if (!json_is_integer(id) || json_integer_value(id) <= 0)
		return err_set(err, ERR_INVALID, "a run of the list has no id");
	if (is_open(one))
		out->runs[out->count++] = json_integer_value(id);
	return 0;
}

static bool has_label(const struct githubpage_runner *runner, const char *label)
{
	static const char *const defaults[] = { "self-hosted", "linux", "x64" };

	for (size_t i = 0; i < runner->count; i++)
		if (text_equal_nocase(runner->labels[i], label))
			return true;
	for (size_t i = 0; !runner->no_default_labels && i < MEM_COUNT(defaults); i++)
		if (text_equal_nocase(defaults[i], label))
			return true;
	return false;
}

/* As in KEDA a runner takes a job if it has all the job's labels, so also one without labels. */
static int take_job(const json_t *one, const struct githubpage_runner *runner, struct githubpage *out, struct err *err)
{
	const json_t *labels = json_object_get(one, "labels"), *label;
	size_t count = json_array_size(labels), i;

	if (!json_is_string(json_object_get(one, "status")))
		return err_set(err, ERR_INVALID, "a job of the list has no status");
	if (!is_open(one))
		return 0;
	if (count > GITHUBPAGE_LABELS_MAX)
		return err_set(err, ERR_INVALID, "a job has more than %d labels", GITHUBPAGE_LABELS_MAX);
	if (count == 0 && runner->unlabeled_apart) {
		out->count += runner->count == 0;
		return 0;
	}
	json_array_foreach(labels, i, label)
	{
		if (!json_is_string(label))
			return err_set(err, ERR_INVALID, "a label of a job is not a string");
		if (!has_label(runner, json_string_value(label)))
			return 0;
	}
	out->count++;
	return 0;
}

/* ---- The page ---- */

static const json_t *list_of(enum githubpage_kind kind, const json_t *answer, struct err *err)
{
	static const char *const names[] = { [GITHUBPAGE_RUNS] = "workflow_runs", [GITHUBPAGE_JOBS] = "jobs" };
	const json_t *list = kind == GITHUBPAGE_REPOS ? answer : json_object_get(answer, names[kind]);

	if (!json_is_array(list)) {
		err_set(err, ERR_INVALID, "the answer is not a list of %s: is githubApiURL the URL of GitHub's API?",
			kind == GITHUBPAGE_REPOS ? "repositories" : names[kind]);
		return NULL;
	}
	if (json_array_size(list) > GITHUBPAGE_ENTRIES_MAX) {
		err_set(err, ERR_INVALID, "a page has more than %d entries", GITHUBPAGE_ENTRIES_MAX);
		return NULL;
	}
	return list;
}

/* `<https://...>; rel="next", <...>; rel="last"`: RFC 8288. Other relations do not count. */
static enum githubpage_link link_of(const char *link)
{
	if (strcasestr(link, "rel=\"next\"") || strcasestr(link, "rel=next"))
		return GITHUBPAGE_NEXT;
	return strcasestr(link, "rel=\"prev\"") || strcasestr(link, "rel=\"first\"") || strcasestr(link, "rel=\"last\"")
		? GITHUBPAGE_LAST
		: GITHUBPAGE_UNKNOWN;
}

int githubpage_read(enum githubpage_kind kind, const json_t *answer, const char *link,
	const struct githubpage_runner *runner, struct githubpage *out, struct err *err)
{
	const json_t *list = list_of(kind, answer, err), *one;
	size_t i, count = json_array_size(list);

	*out = (struct githubpage){ .link = link_of(link),
		.entries = count,
		.total = json_integer_value(json_object_get(answer, "total_count")) };
	if (!list)
		return -1;
	if (kind == GITHUBPAGE_REPOS)
		out->names = mem_zalloc((count + 1) * sizeof(*out->names));
	if (kind == GITHUBPAGE_RUNS)
		out->runs = mem_zalloc((count + 1) * sizeof(*out->runs));
	json_array_foreach(list, i, one)
	{
		int rc = kind == GITHUBPAGE_REPOS ? take_repo(one, out, err)
			: kind == GITHUBPAGE_RUNS ? take_run(one, out, err)
						  : take_job(one, runner, out, err);

		if (rc)
			return -1;
	}
	return 0;
}

void githubpage_done(struct githubpage *page)
{
	for (size_t i = 0; page->names && i < page->count; i++)
		free(page->names[i]);
	free(page->names);
	free(page->runs);
	*page = (struct githubpage){ 0 };
}

char *githubpage_words(const json_t *answer, char out[GITHUBPAGE_WORDS])
{
	const char *message = json_str_or_empty(answer, "message");

	return text_line(message, strlen(message), out, GITHUBPAGE_WORDS);
}
