/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_AUTH_FETCHED_H
#define CACHE_AUTH_FETCHED_H

/*
 * A secret text that is fetched from a server repeatedly: a ServiceAccount token, a value of Vault
 * or a secret manager. The module that embeds it sends the requests and reports the results; while
 * fetching fails the old text stays in use.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "cache/auth/holders.h"
#include "cache/auth/references.h"
#include "net/loop.h"

struct fetched { /* first member of the thing, like struct held */
	struct held held;
	char *text;      /* owned; NULL: none yet */
	struct err *err; /* error of the last attempt; NULL */
	unsigned failures;
	struct loop_timer again; /* initialised by its module, which fetches when it fires */
};

void fetched_done(struct fetched *f);
void fetched_again(struct fetched *f); /* schedules a retry with back-off, without an error */
/*
 * Schedules a retry with back-off. A new error is logged under `who`, followed by `stays` if there
 * is a text; otherwise holders are notified.
 */
void fetched_failed(struct fetched *f, const struct err *err, const char *who, const char *stays);
/* True: it differs from the text before; holders are not notified. */
bool fetched_take(struct fetched *f, const char *text, int64_t again_in_ms);
/*
 * Adds a hold of the owner. Without a text *err is the last attempt's, or unchanged if none has
 * ended.
 */
enum reference_state fetched_get(struct fetched *f, struct object *owner, const char **text, struct err *err);

#endif
