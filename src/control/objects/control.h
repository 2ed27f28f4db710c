/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_OBJECTS_CONTROL_H
#define CONTROL_OBJECTS_CONTROL_H

/*
 * The acting half: for each ScaledObject a reconciler (HPA, status, finalizer) and a scale loop
 * (poll, decide, write /scale). Acts only while this process leads; what it has under way when it
 * stops leading is abandoned. Listens to cache; serve never sees it.
 */

#include <stdbool.h>

#include "cache/cache.h"
#include "kube/client.h"
#include "kube/events.h"

struct control;

struct control_config {
	int64_t query_deadline_ms; /* how long one poll waits for its sources */
	int64_t wake_interval_ms;  /* from one look at an object to the next that a source asks for */
	const char *version;       /* app.kubernetes.io/version on HPAs */
};

struct control *control_new(struct cache *cache, struct kube *kube, struct events *events,
	const struct control_config *config);
void control_free(struct control *c);

/* Starts or stops acting. Starting takes up every object known; stopping ends the loops at once. */
void control_set_leading(struct control *c, bool leading);

#endif
