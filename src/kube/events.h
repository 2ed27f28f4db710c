/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBE_EVENTS_H
#define KUBE_EVENTS_H

/*
 * Sends Events (events.k8s.io/v1) about objects. A repeat of the same (object, type, reason,
 * action, note) updates the series of the first Event, at most every 30 minutes. Past Events are
 * remembered for an hour, up to a cap. Sending is best effort, in the background; waiting Events
 * are capped, the oldest are dropped and counted.
 */

#include <stdbool.h>

#include "base/counters.h"
#include "kube/client.h"

struct events;

struct events_object { /* borrowed for the call */
	const char *api_version, *kind, *namespace_, *name, *uid, *resource_version;
};

/*
 * controller: reportingController ("keda-operator" as KEDA's dashboards expect it); instance: this
 * process' identity. Copied.
 */
struct events *events_new(struct kube *k, const char *controller, const char *instance, struct counters *counters);
void events_free(struct events *e);

/* type "Normal" or "Warning"; note is cut to 1,024 bytes, action to 128 (limits of the API). */
void events_send(struct events *e, const struct events_object *about, const char *type, const char *reason,
	const char *action, const char *note);
/* while not leading nothing is sent, and waiting Events are dropped */
void events_hold(struct events *e, bool hold);

#endif
