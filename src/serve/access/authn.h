/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_ACCESS_AUTHN_H
#define SERVE_ACCESS_AUTHN_H

/*
 * Who asks (keda-core.md 5.3): the user whom a verified front proxy names, else the owner of the
 * bearer token, else nobody. Nobody is anonymous here. What a connection proved is kept with it:
 * its certificate is verified once and again when the ConfigMap changes, and whom it spoke for
 * last, and its last good token, are known without a look-up.
 */

#include "base/err.h"
#include "kube/client.h"
#include "net/http/httpd.h"
#include "serve/access/frontproxy.h"
#include "serve/access/identity.h"

struct authn;
struct authn_wait;

struct authn *authn_new(struct kube *kube, const struct frontproxy *frontproxy /* borrowed, outlives */);
void authn_free(struct authn *a); /* nobody may be waiting any more */

enum authn_found { AUTHN_KNOWN, AUTHN_REFUSED, AUTHN_UNKNOWN };
/*
 * What is known at once: *user (the caller owns one count), or the refusal in err, or that the API
 * server must be asked.
 */
enum authn_found authn_peek(struct authn *a, struct httpd_request *r, struct identity **user, struct err *err);

/*
 * user (borrowed) NULL exactly when err is not. ERR_DENIED: not good; ERR_TEMPORARY: it could not
 * be found out (http_status 429: too many reviews are under way).
 */
typedef void (*authn_fn)(void *arg, struct identity *user, const struct err *err);
/* Only behind AUTHN_UNKNOWN. `r` must live until the callback; when it goes, cancel. */
struct authn_wait *authn_ask(struct authn *a, struct httpd_request *r, authn_fn fn, void *arg);
void authn_cancel(struct authn_wait *w); /* no callback any more; NULL is fine */

#endif
