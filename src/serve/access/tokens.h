/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_ACCESS_TOKENS_H
#define SERVE_ACCESS_TOKENS_H

/*
 * Whose bearer token this is: the API server's TokenReview, good or not, remembered for 10 s
 * (keda-core.md 5.3) under a keyed fingerprint: no token is kept. Called by authn.
 */

#include "serve/access/verdicts.h"

struct tokens;

struct tokens *tokens_new(struct kube *kube);
void tokens_free(struct tokens *t);

/*
 * verdict->who is the user of a good token, NULL for a bad one. See verdicts.h for borrowing and
 * errors.
 */
const struct verdict *tokens_peek(struct tokens *t, const char *token);
/* verdicts_cancel ends it */
struct verdicts_wait *tokens_ask(struct tokens *t, const char *token, verdicts_fn fn, void *arg);

#endif
