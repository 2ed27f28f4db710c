/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "control/object.h"

void announce(struct object *o, const struct scaledobject *so, const char *type, const char *reason, const char *note, ...)
{
	struct events_object about = {
		.api_version = "keda.sh/v1alpha1",
		.kind = "ScaledObject",
		.namespace_ = so->meta.namespace_,
		.name = so->meta.name,
		.uid = so->meta.uid,
		.resource_version = so->meta.resource_version,
	};
	char *text;
	va_list ap;

	va_start(ap, note);
	text = mem_vprintf(note, ap);
	va_end(ap);
	/* KEDA's reconciler passes the message as the action, which the API limits to 128 characters; the reason always fits. */
	events_send(o->control->events, &about, type, reason, reason, text);
	free(text);
}

void announce_fallback(struct object *o, const struct scaledobject *so, bool was)
{
	bool is = status_says(o, "Fallback");

	if (is && !was)
		announce(o, so, "Normal", "ScaledObjectFallbackActivated", "ScaledObject fallback is active");
	if (was && !is)
		announce(o, so, "Normal", "ScaledObjectFallbackDeactivated", "ScaledObject fallback is no longer active");
}

/* Deleted: the loop has stopped and nothing of ours is left. Said once, from the key alone, as the object may be gone already. */
void announce_gone(struct object *o)
{
	MEM_AUTO char *namespace_ = mem_dupn(o->key, strcspn(o->key, "/"));
	struct events_object about = {
		.api_version = "keda.sh/v1alpha1",
		.kind = "ScaledObject",
		.namespace_ = namespace_,
		.name = o->key + strlen(namespace_) + 1,
		.uid = o->uid ? o->uid : "",
		.resource_version = "",
	};

	if (o->said_gone)
		return;
	o->said_gone = true;
	events_send(o->control->events, &about, "Normal", "KEDAScalersStopped", "KEDAScalersStopped", "Stopped scalers watch");
	events_send(o->control->events, &about, "Warning", "ScaledObjectDeleted", "ScaledObjectDeleted", "ScaledObject was deleted");
}
