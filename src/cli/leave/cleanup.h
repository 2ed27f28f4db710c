/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_LEAVE_CLEANUP_H
#define CLI_LEAVE_CLEANUP_H

/* Decisions of `kscaled leave` about an object: whose it is, and how to change it. Pure. */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The merge patch that removes kscaled's and KEDA's finalizers, with the object's resourceVersion.
 * NULL: it has neither. The caller owns it.
 */
json_t *cleanup_without_finalizer(const json_t *object);

/*
 * Whether an APIService, or each webhook of a ValidatingWebhookConfiguration, points to this
 * Service.
 */
bool cleanup_leads_to(const json_t *object, const char *namespace_, const char *service);

/*
 * The ScaledObject that owns a HorizontalPodAutoscaler; borrowed; NULL: none. And whether kscaled,
 * not KEDA, manages the latter.
 */
const char *cleanup_scaledobject_of(const json_t *hpa);
bool cleanup_is_our_hpa(const json_t *hpa);

/*
 * The path of /scale of a ScaledObject's target, and its original replicas in *replicas. NULL: not
 * in the status. The caller owns it.
 */
char *cleanup_original(const json_t *scaledobject, int64_t *replicas);

#endif
