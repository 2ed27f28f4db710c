/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_CERTS_WEBHOOKCONFIG_H
#define CONTROL_CERTS_WEBHOOKCONFIG_H

/*
 * ValidatingWebhookConfiguration `kscaled-admission`, by which the API server finds our admission
 * webhook: watched by name, by every replica. The leader keeps our CA in the caBundle of each of
 * its webhooks that points to our Service, and a path that nobody can guess (reviewpaths.h), one
 * for all, under its resourceVersion. The path is kept nowhere else: whoever may read it there
 * reads it there, and all replicas answer where the API server was told to ask, whoever told it. So
 * one that an administrator wrote is answered too; where we may not write, the plain paths are.
 *
 * It may be absent (kscaled manifests --no-webhook), and nothing here keeps anybody from scaling:
 * what goes wrong is logged, and tried again. Whether a new CA is trusted here is for control/certs
 * to ask before it serves by it.
 */

#include <stdbool.h>
#include <stdint.h>

#include "kube/client.h"

struct webhookconfig;

struct webhookconfig_config {
	const char *name;
	const char *namespace_, *service_name; /* our Service */
	bool own_ca;                           /* or its caBundles are the user's business */
};

/* on_change: something below may be another now. */
struct webhookconfig *webhookconfig_new(struct kube *kube, const struct webhookconfig_config *config,
	void (*on_change)(void *arg), void *arg);
void webhookconfig_free(struct webhookconfig *w);

void webhookconfig_set_leading(struct webhookconfig *w, bool leading);
/* what each caBundle shall hold; copied; nothing is written before */
void webhookconfig_set_bundle(struct webhookconfig *w, const char *pem);

/*
 * Whether the API server may ask at this path (as sent, without the query): it is named there, or
 * was a moment ago. Before it was looked at at none; who may not look has the plain ones.
 */
bool webhookconfig_asks_at(const struct webhookconfig *w, const char *path, size_t len);

bool webhookconfig_is_known(const struct webhookconfig *w); /* it was looked at, or we may not look */
/* the caBundle of each webhook of ours holds that CA; true, too, when there is none */
bool webhookconfig_trusts(const struct webhookconfig *w, const char *ca_pem);
int64_t webhookconfig_since_ms(const struct webhookconfig *w); /* loop clock: when a webhook was last seen to change */

#endif
