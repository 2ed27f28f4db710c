/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_WEBHOOK_H
#define SERVE_WEBHOOK_H

/*
 * The admission webhook: the API server asks before it stores a ScaledObject, ScaledJob or
 * authentication, and cache/admit decides. It runs on every replica, leading or not. Callers send
 * no credentials (the API server's default for webhooks) but know the path. As others may know it,
 * too, body, time and number of requests under way are capped.
 *
 * Objects that are allowed but look wrong get warnings, which kubectl shows to the user; so KEDA's
 * KEDAScalerInfo Events about the same are not sent.
 */

#include "cache/admit.h"
#include "serve/request.h"

struct webhook;

#define WEBHOOK_ANY                "/admission/{secret}" /* for all kinds; in the form of control/certs/reviewpaths.h */
#define WEBHOOK_SCALEDOBJECT       "/validate-keda-sh-v1alpha1-scaledobject"
#define WEBHOOK_SCALEDJOB          "/validate-keda-sh-v1alpha1-scaledjob"
#define WEBHOOK_TRIGGERAUTH        "/validate-keda-sh-v1alpha1-triggerauthentication"
#define WEBHOOK_CLUSTERTRIGGERAUTH "/validate-keda-sh-v1alpha1-clustertriggerauthentication"

#define WEBHOOK_CALLS_MAX                                                                                              \
	64 /* under way; one more is answered 429, and the API server does without us (failurePolicy Ignore) */

struct webhook *webhook_new(struct counters *counters);
void webhook_free(struct webhook *w); /* when no call is under way */

void webhook_handle(struct request *r);

#endif
