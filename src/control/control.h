/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_CONTROL_H
#define CONTROL_CONTROL_H

/*
 * The controller: for each ScaledObject a reconciler (HPA, status, finalizer) and a scale loop
 * (poll, decide, write /scale); for each ScaledJob the same with Jobs. Acts only while this process
 * leads; what is under way is cancelled when it stops leading. Listens to cache; serve never uses
 * it.
 */

#include <stdbool.h>

#include "cache/cache.h"
#include "kube/client.h"
#include "kube/events.h"

struct control;

struct control_config {
	int64_t query_deadline_ms; /* of the queries of one poll */
	int64_t wake_interval_ms;  /* least time between two looks at an object that sources ask for */
	const char *version;       /* app.kubernetes.io/version on HPAs and Jobs; outlives */
};

/* Borrows cache, kube and events. Does nothing until it leads. */
struct control *control_new(struct cache *cache, struct kube *kube, struct events *events,
	const struct control_config *config);
void control_free(struct control *c);

/* Starting reconciles every known object; stopping ends all loops at once. */
void control_set_leading(struct control *c, bool leading);

#endif
