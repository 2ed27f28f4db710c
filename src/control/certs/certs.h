/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_CERTS_CERTS_H
#define CONTROL_CERTS_CERTS_H

/*
 * The certificate of the HTTPS endpoint: from the user's files, reloaded when they change, or by
 * our own CA. Our CA (10 years, confined to the names of our Service) and serving certificate (1
 * year, renewed when a third of its life is left) are kept in Secret `kscaled-certs` of our
 * namespace, which all replicas share; a certificate of a new CA is served once the API server
 * trusts that.
 *
 * Also the `caBundle` of the APIServices, which the leader writes, except to an APIService of
 * another Service unless take_over; and that of our ValidatingWebhookConfiguration, with the path
 * of reviews (control/certs/webhookconfig). The APIService of the metrics decides whether we may
 * lead and are healthy; that of the insight API may be missing.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "kube/client.h"
#include "net/tls/tls.h"

struct certs;

#define CERTS_SECRET     "kscaled-certs"
#define CERTS_APISERVICE "v1beta1.external.metrics.k8s.io"
#define CERTS_INSIGHT    "v1.insight.kscaled.io" /* the optional one */
#define CERTS_WEBHOOKS   "kscaled-admission"

struct certs_config { /* copied; its texts outlive the certs */
	const char *namespace_, *service_name;
	int service_port;                    /* of that Service, written only by a take-over; 0: 443 */
	const char *cert_file, *key_file;    /* both or neither; with them the caBundles are the user's, too */
	bool webhook;                        /* there is a ValidatingWebhookConfiguration to maintain */
	bool recreate;                       /* see certs_release */
	bool take_over;                      /* repoint an APIService of another Service to ours */
	int64_t serving_valid_s, ca_valid_s; /* 0: 365 days, 10 years */

	/*
	 * Optional: the Service that the APIService points to
	 * ("keda/keda-operator-metrics-apiserver"), if that is not ours and not to be taken over;
	 * otherwise NULL: we may lead. Called when the APIService was read (or may not be read),
	 * then on each change; never before certs_new returned. `who` is borrowed for the call.
	 */
	void (*on_foreign)(void *arg, const char *who);
	void *on_foreign_arg;
};

/*
 * Borrows kube and tls. Fails only because of the user's files: ERR_INVALID or ERR_MISSING naming
 * the file.
 */
struct certs *certs_new(struct kube *kube, struct tls_server *tls, const struct certs_config *config, struct err *err);
void certs_free(struct certs *c);
/*
 * only the leader renews and writes caBundles; every replica loads the Secret, and creates it if
 * missing
 */
void certs_set_leading(struct certs *c, bool leading);
void certs_reload(struct certs *c); /* SIGHUP: reads the user's files now */

/*
 * This process ends: with `recreate` the leader deletes both APIServices (apiservice_release), and
 * writes neither from now on. False: nothing to release, and no callback; otherwise done is called
 * once, within deadline_ms.
 */
bool certs_release(struct certs *c, int64_t deadline_ms, void (*done)(void *arg), void *arg);

/* When the served certificate ends, in ms since 1970; 0: none is served yet. */
int64_t certs_until_unix_ms(const struct certs *c);

/*
 * Whether the API server asks for reviews at this path, as sent and without the query
 * (control/certs/webhookconfig); at other paths there is no webhook.
 */
bool certs_asks_for_reviews_at(const struct certs *c, const char *path, size_t len);

/*
 * Why no certificate is served, or why it will not be renewed, or why the APIService does not trust
 * it or does not point to us; the log has it, too. NULL: none of these. Whether requests can be
 * answered at all: tls_server_has_certificate. Borrowed until the next turn. For tests.
 */
const char *certs_trouble(const struct certs *c);

#endif
