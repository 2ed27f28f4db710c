/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_LEAVE_CLEANUP_H
#define CLI_LEAVE_CLEANUP_H

/*
 * What `kscaled leave` decides about an object that it has read: whose it is, and what is left of
 * it. Pure.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The merge patch that takes our finalizer, and KEDA's, away, under the object's version. NULL: it
 * has neither. The caller owns it.
 */
json_t *cleanup_without_finalizer(const json_t *object);

/*
 * Whether an APIService, or each webhook of a ValidatingWebhookConfiguration, leads to this
 * Service.
 */
bool cleanup_leads_to(const json_t *object, const char *namespace_, const char *service);

/*
 * The ScaledObject that controls a HorizontalPodAutoscaler; borrowed; NULL: none. And whether
 * kscaled, not KEDA, looks after it.
 */
const char *cleanup_scaledobject_of(const json_t *hpa);
bool cleanup_is_our_hpa(const json_t *hpa);

/*
 * The path of a ScaledObject's target's /scale, and in *replicas what it had before. NULL: its
 * status does not say. The caller owns it.
 */
char *cleanup_original(const json_t *scaledobject, int64_t *replicas);

#endif
