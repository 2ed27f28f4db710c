/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_AUTH_AUTHKEEPER_H
#define CONTROL_AUTH_AUTHKEEPER_H

/*
 * The controller of TriggerAuthentications and ClusterTriggerAuthentications while this process
 * leads: status.scaledobjects and status.scaledjobs list the ScaledObjects and ScaledJobs that
 * refer to one (updated also when one stops doing so, unlike KEDA), KEDA's finalizer is removed,
 * and Events report creation, change and deletion. A burst of changes is handled once, half a
 * second after the first; then differences are written, one write at a time per object. Never
 * changes a spec.
 *
 * The users of a ClusterTriggerAuthentication are listed as namespace/name, a deliberate difference
 * from KEDA, whose bare names from different namespaces collide.
 */

#include <stdbool.h>

#include "cache/cache.h"
#include "kube/client.h"
#include "kube/events.h"

struct authkeeper;

#define AUTHKEEPER_GATHER_MS 500
#define AUTHKEEPER_LIST_MAX  (32 * 1024) /* bytes of each list; further users are counted: ", and 12 more" */

struct authkeeper *authkeeper_new(struct cache *cache, struct kube *kube, struct events *events);
void authkeeper_free(struct authkeeper *k);
void authkeeper_set_leading(struct authkeeper *k, bool leading);

#endif
