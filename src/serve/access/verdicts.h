/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_ACCESS_VERDICTS_H
#define SERVE_ACCESS_VERDICTS_H

/*
 * A cache of the API server's verdicts on a token or an access, positive or negative. Callers with
 * the same key share one review; a failed review is reported to all of them and not cached. Entries
 * and reviews under way are capped: the oldest verdict makes room, and callers beyond the cap on
 * reviews get an error with status 429. Knows neither tokens nor accesses: authn and authz, which
 * own one each, start the reviews.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "kube/client.h"
#include "net/loop.h"
#include "serve/access/requester.h"

struct verdicts;
struct verdicts_entry;
struct verdicts_wait;

struct verdict {
	bool yes;
	struct requester *who; /* the owner of a token; NULL of an access */
	const char *why;       /* of a denial, for people; may be NULL */
	int64_t until_ms;      /* loop clock: cached until then */
};

struct verdicts_config { /* copied */
	int64_t keep_ms;
	size_t max_entries;
	size_t max_asking; /* reviews under way at once; less than max_entries */
	/*
	 * Starts the review of `question` (the owner's own, borrowed for the call); it ends with
	 * exactly one call of verdicts_settle or verdicts_fail.
	 */
	struct kube_call *(*start)(struct kube *kube, const void *question, struct verdicts_entry *entry);
	const char *failing; /* prefix of the error of a failed review; a literal */
};

struct verdicts *verdicts_new(struct kube *kube, const struct verdicts_config *config);
void verdicts_free(struct verdicts *v); /* cancels reviews; no callbacks */

/* The cached verdict, borrowed until the loop turns; NULL: there is none. Keys are bytes. */
const struct verdict *verdicts_peek(struct verdicts *v, const void *key, size_t len);

/*
 * verdict NULL exactly when err is not. err is ERR_TEMPORARY; its http_status is 429 if too many
 * reviews are under way, otherwise 0.
 */
typedef void (*verdicts_fn)(void *arg, const struct verdict *verdict, const struct err *err);
struct verdicts_wait *verdicts_ask(struct verdicts *v, const void *key, size_t len, const void *question,
	verdicts_fn fn, void *arg);
/* no callback then; the review goes on, and its verdict is cached; NULL is fine */
void verdicts_cancel(struct verdicts_wait *w);

void verdicts_settle(struct verdicts_entry *e, bool yes, const struct review_user *who /* may be NULL */,
	const char *why /* copied; may be NULL */);
void verdicts_fail(struct verdicts_entry *e, const struct err *err);

size_t verdicts_count(const struct verdicts *v); /* for tests */

#endif
