/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_AUTH_FETCHED_H
#define CACHE_AUTH_FETCHED_H

/*
 * A secret text that a server is asked for, again and again: the token of a ServiceAccount, a value
 * of Vault. Its module asks and says what came of it; what was read once stays in use while the
 * next tries fail.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "cache/auth/holders.h"
#include "net/loop.h"

struct fetched { /* stands first in the thing, as its struct held */
	struct held held;
	char *text;      /* owned; NULL: none yet */
	struct err *err; /* why the last try failed; NULL */
	unsigned failures;
	struct loop_timer again; /* its module initialises it, and asks when it fires */
};

void fetched_done(struct fetched *f);
/*
 * Tried again after a back-off. A new failure is logged under `who`, with what `stays` when there
 * is a text.
 */
void fetched_failed(struct fetched *f, const struct err *err, const char *who, const char *stays);
void fetched_take(struct fetched *f, const char *text, int64_t again_in_ms);
/* The owner holds it from now on. False: there is no text, but *err when the last try failed. */
bool fetched_get(struct fetched *f, struct object *owner, const char **text, struct err *err);

#endif
