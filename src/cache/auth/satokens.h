/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_AUTH_SATOKENS_H
#define CACHE_AUTH_SATOKENS_H

/*
 * Tokens of service accounts (TokenRequest), requested on demand and renewed after 80 % of their
 * lifetime. One per service account and audience, shared. Held as in cache/auth/holders. Tokens are
 * wiped when freed and never in an error.
 */

#include <stdint.h>

#include "base/err.h"
#include "cache/auth/references.h"
#include "kube/client.h"

struct satokens;

struct satokens *satokens_new(struct kube *kube, int64_t life_ms /* expirationSeconds of the requests */);
void satokens_free(struct satokens *s);
void satokens_listen(struct satokens *s, object_fn fn, void *arg); /* one */

/*
 * audience NULL: the API server's own. *token is borrowed until the end of the turn. If a renewal
 * fails, the old token stays.
 */
enum reference_state satokens_get(struct satokens *s, struct object *owner, const char *namespace_,
	const char *service_account, const char *audience, const char **token, struct err *err);

#endif
