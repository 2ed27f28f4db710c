/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_CERTS_WEBHOOKCONFIG_H
#define CONTROL_CERTS_WEBHOOKCONFIG_H

/*
 * ValidatingWebhookConfiguration `kscaled-admission`, by which the API server finds our admission
 * webhook: watched by name. The leader keeps our CA in the caBundle of each of its webhooks that
 * points to our Service, under its resourceVersion. It may be absent (kscaled manifests
 * --no-webhook), and nothing here keeps anybody from scaling: what goes wrong is logged, and tried
 * again.
 */

#include <stdbool.h>

#include "kube/client.h"

struct webhookconfig;

struct webhookconfig_config {
	const char *name;
	const char *namespace_, *service_name; /* our Service */
};

struct webhookconfig *webhookconfig_new(struct kube *kube, const struct webhookconfig_config *config);
void webhookconfig_free(struct webhookconfig *w);

void webhookconfig_set_leading(struct webhookconfig *w, bool leading);
/* what each caBundle shall hold; copied; nothing is written before */
void webhookconfig_set_bundle(struct webhookconfig *w, const char *pem);

#endif
