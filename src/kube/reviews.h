/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBE_REVIEWS_H
#define KUBE_REVIEWS_H

/*
 * TokenReview and SubjectAccessReview: authenticates a token and checks a permission, with one call
 * each. No cache (serve has one).
 */

#include "base/strmap.h"
#include "kube/client.h"

#define REVIEW_GROUPS_MAX 256

struct review_user { /* a value; owns its strings */
	char *name;
	char *uid;
	char **groups;
	size_t group_count;
	char **extra_keys; /* parallel arrays: one pair per value */
	char **extra_values;
	size_t extra_count;
};
void review_user_done(struct review_user *u);

/* user and err both NULL: the token is not valid. */
typedef void (*review_token_fn)(void *arg, const struct review_user *user, const struct err *err);
struct kube_call *review_token(struct kube *k, const char *token, review_token_fn fn, void *arg);

/* Resource attributes if `resource` is set, otherwise a non-resource path. Borrowed. */
struct review_access {
	const char *verb, *group, *version, *resource, *namespace_, *name;
	const char *path;
};
typedef void (*review_access_fn)(void *arg, bool allowed, const char *reason, const struct err *err);
struct kube_call *review_access(struct kube *k, const struct review_user *user, const struct review_access *access,
	review_access_fn fn, void *arg);

/* kube_cancel cancels either call and frees its context. */

#endif
