/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_CERTS_H
#define CONTROL_CERTS_H

/*
 * The certificate of the HTTPS endpoint: the user's files, reloaded when they change, or our own CA (10 years) and serving certificate (1 year, renewed when a third of its life is left) kept in
 * Secret `kscaled-certs` of the own namespace, shared by all replicas and swapped in place; and the `caBundle` of the APIService, injected by the leader under conflict retry, never into an APIService
 * that points to somebody else's Service unless told to.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "kube/client.h"
#include "net/tls.h"

struct certs;

#define CERTS_SECRET "kscaled-certs"
#define CERTS_APISERVICE "v1beta1.external.metrics.k8s.io"

struct certs_config {
	const char *namespace_, *service_name;
	const char *cert_file, *key_file; /* both or none */
	bool take_over;                   /* repoint an APIService of somebody else to our Service */
};

struct certs *certs_new(struct kube *kube, struct tls_server *tls, const struct certs_config *config, struct err *err);
void certs_free(struct certs *c);
void certs_set_leading(struct certs *c, bool leading); /* only the leader renews and injects; everybody loads and, when there is no Secret at all, creates */
void certs_reload(struct certs *c);                    /* SIGHUP: the user's files now */
/* NULL, or why no certificate is served / the caBundle is not in place, for /readyz and the log. */
const char *certs_trouble(const struct certs *c);

#endif
