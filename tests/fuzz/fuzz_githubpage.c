/* SPDX-License-Identifier: Apache-2.0 */

/*
 * GitHub's lists, one after the other as a scan asks for them: the first byte chooses the runner
 * and whose repositories, then each answer ends with a NUL. A scan ends with a count, or an error
 * on one line, and asks for paths alone that hold nothing foreign but names.
 */

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "fuzz.h"
#include "scalers/github/githubcache.h"
#include "scalers/github/githubscan.h"

static void check_error(const struct err *err)
{
	must(err->kind == ERR_INVALID || err->kind == ERR_MISSING);
	must(err->msg[0] != '\0' && strpbrk(err->msg, "\r\n\t") == NULL);
}

static void check_path(const char *path)
{
	must(*path == '/' && strpbrk(path, " \r\n#\\") == NULL && strstr(path, "/../") == NULL);
	must(strlen(path) < 400);
}

/* The next page; an answer that is no JSON is one of status 404. */
static int step(struct githubscan *s, const struct githubscan_place *place, const struct githubpage_runner *runner,
	struct githubcache *cache, const char *text, size_t len)
{
	json_t *answer = json_parse_foreign(text, len, NULL);
	char *path = githubscan_path(s, place), words[GITHUBPAGE_WORDS];
	struct githubpage page = { 0 };
	struct err err = { 0 };
	int rc;

	check_path(path);
	must(strpbrk(githubpage_words(answer, words), "\r\n\t") == NULL);
	if (!answer) {
		rc = githubscan_missing(s, place, &err);
	} else {
		rc = githubpage_read(githubscan_kind(s), answer, json_str_or_empty(answer, "link"), runner, &page,
			&err);
		must(rc || page.count <= GITHUBPAGE_ENTRIES_MAX);
		if (rc == 0)
			rc = githubscan_take(s, place, &page, &err);
		if (rc == 0)
			githubcache_put(cache, path, words, &page);
		must(rc || !*words || githubcache_page(cache, path) != NULL);
	}
	if (rc)
		check_error(&err);
	githubpage_done(&page);
	json_decref(answer);
	mem_free_secret(path);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const labels[] = { "gpu", "Big" }, *const repos[] = { "web", "mail" };
	unsigned how = size > 0 ? data[0] : 0;
	const struct githubpage_runner runner = { .labels = labels,
		.count = how & 1 ? 2 : 0,
		.no_default_labels = how & 2,
		.unlabeled_apart = how & 4 };
	const struct githubscan_place place = { .owner = "shop",
		.is_user = how & 8,
		.repos = how & 16 ? repos : NULL,
		.count = how & 16 ? 2 : 0 };
	const char *at = (const char *)data + 1, *end = (const char *)data + size, *stop;
	struct githubcache *cache = githubcache_new();
	struct githubscan scan = { 0 };
	bool goes_on = size > 0;

	githubscan_begin(&scan, &place);
	while (goes_on && at < end && scan.stage != GITHUBSCAN_DONE) {
		stop = memchr(at, 0, (size_t)(end - at));
		goes_on = step(&scan, &place, &runner, cache, at, (size_t)((stop ? stop : end) - at)) == 0;
		at = stop ? stop + 1 : end;
	}
	githubcache_sweep(cache);
	githubcache_free(cache);
	githubscan_done(&scan);
	return 0;
}
