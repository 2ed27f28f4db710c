/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_WEBHOOK_H
#define SERVE_WEBHOOK_H

/*
 * The admission webhook: the API server asks before it stores a ScaledObject, ScaledJob or
 * authentication, cache/admit judges. On every replica, leading or not. Callers show no credentials
 * (that is how the API server calls webhooks by default); they know the path. In case that others
 * do, too, what one request costs has caps, in its body, its time and in how many are under way.
 *
 * What is allowed but looks wrong goes back as warnings, which kubectl shows to whoever applies; so
 * KEDA's KEDAScalerInfo Events about the same are not sent.
 */

#include "cache/admit.h"
#include "serve/request.h"

struct webhook;

#define WEBHOOK_ANY                "/admission/{secret}" /* of all kinds; as control/certs/reviewpaths.h makes it */
#define WEBHOOK_SCALEDOBJECT       "/validate-keda-sh-v1alpha1-scaledobject"
#define WEBHOOK_SCALEDJOB          "/validate-keda-sh-v1alpha1-scaledjob"
#define WEBHOOK_TRIGGERAUTH        "/validate-keda-sh-v1alpha1-triggerauthentication"
#define WEBHOOK_CLUSTERTRIGGERAUTH "/validate-keda-sh-v1alpha1-clustertriggerauthentication"

#define WEBHOOK_CALLS_MAX                                                                                              \
	64 /* under way; one more is answered 429, and the API server goes on without us (failurePolicy Ignore) */

struct webhook *webhook_new(struct counters *counters);
void webhook_free(struct webhook *w); /* no call is under way any more */

void webhook_handle(struct request *r);

#endif
