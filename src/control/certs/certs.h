/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_CERTS_CERTS_H
#define CONTROL_CERTS_CERTS_H

/*
 * The certificate of the HTTPS endpoint: the user's files, reloaded when they change, or our own CA
 * (10 years, good for the names of our Service alone) and serving certificate (1 year, renewed when
 * a third of its life is left) kept in Secret `kscaled-certs` of the own namespace, shared by all
 * replicas and swapped in place, by a new CA when those who ask us trust it; and the `caBundle` of
 * the APIServices, injected by the leader under conflict retry, never into an APIService that
 * points to somebody else's Service unless told to; and that of our ValidatingWebhookConfiguration,
 * with the path that it asks at (control/certs/webhookconfig). What the APIService of the metrics
 * says decides who may lead and what is well; that of the insight API may as well be missing.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "kube/client.h"
#include "net/tls.h"

struct certs;

#define CERTS_SECRET     "kscaled-certs"
#define CERTS_APISERVICE "v1beta1.external.metrics.k8s.io"
#define CERTS_INSIGHT    "v1.insight.kscaled.io" /* the other one */
#define CERTS_WEBHOOKS   "kscaled-admission"

struct certs_config {
	const char *namespace_, *service_name;
	int service_port;                    /* of that Service, written only by a take-over; 0: 443 */
	const char *cert_file, *key_file;    /* both or none; with them the caBundle is the user's business too */
	bool webhook;                        /* there is a ValidatingWebhookConfiguration to look after */
	bool take_over;                      /* repoint an APIService of somebody else to our Service */
	int64_t serving_valid_s, ca_valid_s; /* 0: 365 days, 10 years */

	/*
	 * Optional: whose Service the APIService points to
	 * ("keda/keda-operator-metrics-apiserver"), while that is not ours and not to be taken
	 * over; NULL when nothing speaks against leading. First told when the APIService has been
	 * looked at (or we may not look), then on each change; never before certs_new returned.
	 * `who` is borrowed for the call.
	 */
	void (*on_foreign)(void *arg, const char *who);
	void *on_foreign_arg;
};

/*
 * Borrows kube and tls. Fails only over the user's files: ERR_INVALID or ERR_MISSING naming the
 * file.
 */
struct certs *certs_new(struct kube *kube, struct tls_server *tls, const struct certs_config *config, struct err *err);
void certs_free(struct certs *c);
/*
 * only the leader renews and injects; everybody loads and, when there is no Secret at all, creates
 */
void certs_set_leading(struct certs *c, bool leading);
void certs_reload(struct certs *c); /* SIGHUP: the user's files now */

/*
 * Whether the API server asks for reviews at this path, as sent and without the query: everybody
 * else is a stranger to whom there is nothing (control/certs/webhookconfig).
 */
bool certs_asks_for_reviews_at(const struct certs *c, const char *path, size_t len);

/*
 * NULL, or why no certificate is served, else why the serving certificate will not be renewed, is
 * not trusted by the APIService or not asked for: for /readyz and people. What hinders answering
 * alone is told by tls_server_has_certificate. Borrowed until the next turn.
 */
const char *certs_trouble(const struct certs *c);

#endif
