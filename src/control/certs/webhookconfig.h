/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_CERTS_WEBHOOKCONFIG_H
#define CONTROL_CERTS_WEBHOOKCONFIG_H

/*
 * ValidatingWebhookConfiguration `kscaled-admission`, which tells the API server where our
 * admission webhook is: watched by name, by every replica. In each of its webhooks that points to
 * our Service the leader keeps our CA in caBundle, and the same secret path (reviewpaths.h) in all
 * of them, under its resourceVersion. The path is stored nowhere else: all replicas read it there,
 * and answer at every path that the configuration names, whoever wrote it. So a path written by an
 * administrator is answered, too, and so are the plain paths where we may not write.
 *
 * It may be absent (kscaled manifests --no-webhook), and its failures stop no scaling: they are
 * logged and retried. control/certs asks here whether a new CA is trusted before it serves a
 * certificate of it.
 */

#include <stdbool.h>
#include <stdint.h>

#include "kube/client.h"

struct webhookconfig;

struct webhookconfig_config { /* copied; its texts outlive the webhookconfig */
	const char *name;
	const char *namespace_, *service_name; /* our Service */
	bool own_ca;                           /* false: its caBundles are the user's */
};

/* on_change: the result of a function below may have changed. */
struct webhookconfig *webhookconfig_new(struct kube *kube, const struct webhookconfig_config *config,
	void (*on_change)(void *arg), void *arg);
void webhookconfig_free(struct webhookconfig *w);

void webhookconfig_set_leading(struct webhookconfig *w, bool leading);
/* wanted caBundle; copied; nothing is written before */
void webhookconfig_set_bundle(struct webhookconfig *w, const char *pem);

/*
 * Whether the API server may ask at this path (as sent, without the query): the configuration names
 * it, or did a moment ago. None before it was read; if we may not read it, the plain paths.
 */
bool webhookconfig_asks_at(const struct webhookconfig *w, const char *path, size_t len);

bool webhookconfig_is_known(const struct webhookconfig *w); /* it was read, or we may not read it */
/* whether the caBundle of each of our webhooks contains that CA; true if there is none */
bool webhookconfig_trusts(const struct webhookconfig *w, const char *ca_pem);
int64_t webhookconfig_since_ms(const struct webhookconfig *w); /* loop clock: when a webhook was last seen to change */

#endif
