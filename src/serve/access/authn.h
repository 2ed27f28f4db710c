/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_ACCESS_AUTHN_H
#define SERVE_ACCESS_AUTHN_H

/*
 * Authentication (doc/keda.md 5.3): the user named by a verified front proxy, otherwise the owner
 * of the bearer token; there are no anonymous users. A connection caches what it proved: its
 * certificate, which is verified again when the ConfigMap changes, the last user of the front
 * proxy, and the last good token.
 */

#include "base/err.h"
#include "kube/client.h"
#include "net/httpd/httpd.h"
#include "serve/access/frontproxy.h"
#include "serve/access/requester.h"

struct authn;
struct authn_wait;

struct authn *authn_new(struct kube *kube, const struct frontproxy *frontproxy /* borrowed, outlives */);
void authn_free(struct authn *a); /* when no request waits */

enum authn_found { AUTHN_KNOWN, AUTHN_REFUSED, AUTHN_UNKNOWN };
/*
 * The result if it is known at once: *user (the caller owns one reference), or the refusal in err,
 * or AUTHN_UNKNOWN: the API server must be asked.
 */
enum authn_found authn_peek(struct authn *a, struct httpd_request *r, struct requester **user, struct err *err);

/*
 * user (borrowed) NULL exactly when err is not. ERR_DENIED: the credentials are rejected;
 * ERR_TEMPORARY: not known (http_status 429: too many reviews are under way).
 */
typedef void (*authn_fn)(void *arg, struct requester *user, const struct err *err);
/* Only after AUTHN_UNKNOWN. `r` must live until the callback, or authn_cancel is called. */
struct authn_wait *authn_ask(struct authn *a, struct httpd_request *r, authn_fn fn, void *arg);
void authn_cancel(struct authn_wait *w); /* no callback then; NULL is fine */

#endif
