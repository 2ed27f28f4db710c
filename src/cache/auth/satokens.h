/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_AUTH_SATOKENS_H
#define CACHE_AUTH_SATOKENS_H

/*
 * Tokens of service accounts (TokenRequest), asked for when somebody needs one and renewed when
 * 80 % of their life is over. One per service account and audience, however many need it. Held
 * as cache/auth/holders says. Tokens are wiped when freed and are in no error.
 */

#include <stdint.h>

#include "base/err.h"
#include "cache/auth/references.h"
#include "kube/client.h"

struct satokens;

struct satokens *satokens_new(struct kube *kube, int64_t life_ms /* expirationSeconds of what is asked for */);
void satokens_free(struct satokens *s);
void satokens_listen(struct satokens *s, object_fn fn, void *arg); /* one */

/*
 * audience NULL: the API server's own. *token is borrowed until the loop turns. A renewal that
 * fails keeps the old token.
 */
enum reference_state satokens_get(struct satokens *s, struct object *owner, const char *namespace_,
	const char *service_account, const char *audience, const char **token, struct err *err);

#endif
