/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_ACCESS_AUTHZ_H
#define SERVE_ACCESS_AUTHZ_H

/*
 * May this user do this: members of system:masters always, others as the API server's
 * SubjectAccessReview says; yes and no are remembered for 10 s (keda-core.md 5.3). An API server
 * that cannot be asked means nobody is allowed, and that is told apart from a no.
 */

#include "base/err.h"
#include "kube/reviews.h"
#include "serve/access/identity.h"

struct authz;
struct authz_wait;

struct authz *authz_new(struct kube *kube);
void authz_free(struct authz *a); /* nobody may be waiting any more */

enum authz_found { AUTHZ_ALLOWED, AUTHZ_DENIED, AUTHZ_UNKNOWN };
/* What is known at once. err gets the refusal's text as Kubernetes words it. */
enum authz_found authz_peek(struct authz *a, const struct identity *who, const struct review_access *access,
	struct err *err);

/*
 * err NULL: allowed; ERR_DENIED: not allowed; ERR_TEMPORARY: it could not be found out (http_status
 * 429: too many reviews are under way).
 */
typedef void (*authz_fn)(void *arg, const struct err *err);
struct authz_wait *authz_ask(struct authz *a, struct identity *who, const struct review_access *access, authz_fn fn,
	void *arg);
void authz_cancel(struct authz_wait *w); /* no callback any more; NULL is fine */

#endif
