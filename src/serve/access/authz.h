/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_ACCESS_AUTHZ_H
#define SERVE_ACCESS_AUTHZ_H

/*
 * Authorization: members of system:masters may do everything, others what the API server's
 * SubjectAccessReview allows; both answers are cached for 10 s (doc/keda.md 5.3). While the API
 * server is unreachable no one else is allowed, with an error other than a denial.
 */

#include "base/err.h"
#include "kube/reviews.h"
#include "serve/access/requester.h"

struct authz;
struct authz_wait;

struct authz *authz_new(struct kube *kube);
void authz_free(struct authz *a); /* when no request waits */

enum authz_found { AUTHZ_ALLOWED, AUTHZ_DENIED, AUTHZ_UNKNOWN };
/* The result if it is known at once. For a denial err gets the text, in Kubernetes' words. */
enum authz_found authz_peek(struct authz *a, const struct requester *who, const struct review_access *access,
	struct err *err);

/*
 * err NULL: allowed; ERR_DENIED: not allowed; ERR_TEMPORARY: not known (http_status 429: too many
 * reviews are under way).
 */
typedef void (*authz_fn)(void *arg, const struct err *err);
struct authz_wait *authz_ask(struct authz *a, struct requester *who, const struct review_access *access, authz_fn fn,
	void *arg);
void authz_cancel(struct authz_wait *w); /* no callback then; NULL is fine */

#endif
