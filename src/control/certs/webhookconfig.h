/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_CERTS_WEBHOOKCONFIG_H
#define CONTROL_CERTS_WEBHOOKCONFIG_H

/*
 * ValidatingWebhookConfiguration `kscaled-admission`, which tells the API server where our
 * admission webhook is: watched by name, by every replica. In each of its webhooks that points to
 * our Service the leader keeps our CA in caBundle, and one secret path (reviewpaths.h) in all of
 * them, under its resourceVersion. The path is stored nowhere else: all replicas read it there, and
 * answer at every path that the configuration names, whoever wrote it. So a path that an
 * administrator wrote is answered too, and where we may not write, the plain paths are.
 *
 * It may be absent (kscaled manifests --no-webhook), and its failures stop no scaling: they are
 * logged and retried. control/certs asks whether a new CA is trusted here before it serves a
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
/* what each caBundle is to hold; copied; nothing is written before */
void webhookconfig_set_bundle(struct webhookconfig *w, const char *pem);

/*
 * Whether the API server may ask at this path (as sent, without the query): the configuration names
 * it, or did a moment ago. Before it was read: at none; when we may not read it: at the plain ones.
 */
bool webhookconfig_asks_at(const struct webhookconfig *w, const char *path, size_t len);

bool webhookconfig_is_known(const struct webhookconfig *w); /* it was read, or we may not read it */
/* the caBundle of each webhook of ours holds that CA; true, too, when there is none */
bool webhookconfig_trusts(const struct webhookconfig *w, const char *ca_pem);
int64_t webhookconfig_since_ms(const struct webhookconfig *w); /* loop clock: when a webhook was last seen to change */

#endif
