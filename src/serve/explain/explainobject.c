/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/explain/explainobject.h"

#include <string.h>

static void write_target(struct jsonout *j, const struct object *o)
{
	static const char *const
		states[] = { [TARGET_UNREAD] = "unread", [TARGET_MISSING] = "missing", [TARGET_PRESENT] = "present" };
	const struct scaledobject_spec *spec = &o->of.so->spec;
	const struct workload *workload = NULL;
	enum target_state state = targets_get(o, &workload);

	jsonout_object(j, "target");
	jsonout_text(j, "apiVersion",
		spec->target_api_version && *spec->target_api_version ? spec->target_api_version : "apps/v1");
	jsonout_text(j, "kind", scaledobject_target_kind(spec));
	jsonout_text(j, "name", spec->target_name);
	jsonout_text(j, "state", states[state]);
	jsonout_int_known(j, "replicas", workload, workload ? workload->replicas : 0);
	jsonout_int_known(j, "ready", workload && workload->ready_replicas >= 0,
		workload ? workload->ready_replicas : 0);
	jsonout_text(j, "trouble", targets_trouble(o));
	jsonout_end(j);
}

bool explainobject_at_number(const struct annotations *a)
{
	return a->paused && a->paused_replicas != INT32_UNSET;
}

void explainobject_write_spec(struct jsonout *j, const struct object *o, const struct annotations *a)
{
	const struct scaledobject_spec *spec = &o->of.so->spec;

	write_target(j, o);
	jsonout_int(j, "min", scaledobject_min(spec));
	jsonout_int(j, "max", scaledobject_hpa_max(spec));
	jsonout_int_known(j, "idle", spec->idle_replicas != INT32_UNSET, spec->idle_replicas);
	jsonout_bool(j, "paused", a->paused);
	jsonout_object(j, "pausing");
	jsonout_int_known(j, "replicas", explainobject_at_number(a), a->paused_replicas);
	jsonout_bool(j, "scaleIn", a->scale_in_paused);
	jsonout_bool(j, "scaleOut", a->scale_out_paused);
	jsonout_end(j);
	jsonout_bool(j, "forced", a->force_active);
}

static void write_hpa_condition(struct jsonout *j, const char *type, const char *status, const char *reason,
	const char *message)
{
	if (!status || !*status || !reason)
		return;
	jsonout_object(j, NULL);
	jsonout_text(j, "type", type);
	jsonout_text(j, "status", status);
	jsonout_text(j, "reason", reason);
	jsonout_text(j, "message", message);
	jsonout_end(j);
}

void explainobject_write_hpa(struct jsonout *j, const struct cache *cache, const struct scaledobject *so)
{
	const struct hpa *h = store_hpa_named(cache->store, so);

	if (!h) {
		jsonout_null(j, "hpa");
		return;
	}
	jsonout_object(j, "hpa");
	jsonout_text(j, "name", h->meta.name);
	jsonout_int(j, "min", scaledobject_hpa_min(&so->spec));
	jsonout_int(j, "max", scaledobject_hpa_max(&so->spec));
	jsonout_int(j, "current", h->current_replicas);
	jsonout_int(j, "desired", h->desired_replicas);
	jsonout_time(j, "lastScaleTime", h->last_scale_unix_ms);
	jsonout_array(j, "conditions");
	write_hpa_condition(j, "ScalingActive", h->scaling_active_status, h->scaling_active_reason,
		h->scaling_active_message);
	write_hpa_condition(j, "AbleToScale", condition_status_name(h->able_to_scale.status), h->able_to_scale.reason,
		h->able_to_scale.message);
	write_hpa_condition(j, "ScalingLimited", condition_status_name(h->scaling_limited.status),
		h->scaling_limited.reason, h->scaling_limited.message);
	jsonout_end(j);
	jsonout_end(j);
}
