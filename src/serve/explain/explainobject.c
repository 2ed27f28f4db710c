/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/explain/explainobject.h"

#include <stdio.h>

#include "decide/directives.h"
#include "serve/explain/explainparts.h"
#include "serve/explain/explaintriggers.h"

struct view { /* all borrowed */
	struct cache *cache;
	struct object *object;
	const struct scaled *of;
	const struct scaledobject *so;
	const struct hpa *hpa;                /* NULL */
	const struct journal_object *journal; /* NULL */
	struct directives directives;
	const struct workload *workload; /* NULL unless present */
	enum target_state target;
};

static void view_make(struct view *v, struct cache *cache, struct object *o)
{
	const struct scaled *of = &o->of;

	*v = (struct view){ .cache = cache, .object = o, .of = of, .so = of->so };
	v->hpa = store_hpa_named(cache->store, of->so);
	v->journal = journal_get(o);
	v->target = targets_get(o, &v->workload);
	/* An annotation that cannot be read is in Ready. */
	directives_read(of->so, &v->directives, NULL);
}

/* ---- An item of the list ---- */

static void write_target(struct jsonout *j, const struct view *v)
{
	static const char *const
		states[] = { [TARGET_UNREAD] = "unread", [TARGET_MISSING] = "missing", [TARGET_PRESENT] = "present" };
	const struct scaledobject_spec *spec = &v->so->spec;

	jsonout_object(j, "target");
	jsonout_text(j, "apiVersion",
		spec->target_api_version && *spec->target_api_version ? spec->target_api_version : "apps/v1");
	jsonout_text(j, "kind", scaledobject_target_kind(spec));
	jsonout_text(j, "name", spec->target_name);
	jsonout_text(j, "state", states[v->target]);
	explainparts_number(j, "replicas", v->workload, v->workload ? v->workload->replicas : 0);
	explainparts_number(j, "ready", v->workload && v->workload->ready_replicas >= 0,
		v->workload ? v->workload->ready_replicas : 0);
	jsonout_text(j, "trouble", targets_trouble(v->object));
	jsonout_end_object(j);
}

static void write_bounds(struct jsonout *j, const struct view *v)
{
	const struct scaledobject_spec *spec = &v->so->spec;

	jsonout_int(j, "min", scaledobject_min(spec));
	jsonout_int(j, "max", scaledobject_hpa_max(spec));
	explainparts_number(j, "idle", spec->idle_replicas != INT32_UNSET, spec->idle_replicas);
}

static void write_directives(struct jsonout *j, const struct directives *d)
{
	jsonout_bool(j, "paused", d->paused);
	jsonout_object(j, "pausing");
	explainparts_number(j, "replicas", d->paused && d->paused_replicas != INT32_UNSET, d->paused_replicas);
	jsonout_bool(j, "scaleIn", d->scale_in_paused);
	jsonout_bool(j, "scaleOut", d->scale_out_paused);
	jsonout_end_object(j);
	jsonout_bool(j, "forced", d->force_active);
}

static void write_hpa_condition(struct jsonout *j, const char *type, const char *status, const char *reason,
	const char *message)
{
	if (!status || !*status)
		return;
	jsonout_object(j, NULL);
	jsonout_text(j, "type", type);
	jsonout_text(j, "status", status);
	jsonout_text(j, "reason", reason);
	jsonout_text(j, "message", message);
	jsonout_end_object(j);
}

static void write_hpa(struct jsonout *j, const struct view *v)
{
	const struct hpa *h = v->hpa;

	if (!h) {
		jsonout_null(j, "hpa");
		return;
	}
	jsonout_object(j, "hpa");
	jsonout_text(j, "name", h->meta.name);
	jsonout_int(j, "min", scaledobject_hpa_min(&v->so->spec));
	jsonout_int(j, "max", scaledobject_hpa_max(&v->so->spec));
	jsonout_int(j, "current", h->current_replicas);
	jsonout_int(j, "desired", h->desired_replicas);
	jsonout_time(j, "lastScaleTime", h->last_scale_unix_ms);
	jsonout_array(j, "conditions");
	write_hpa_condition(j, "ScalingActive", h->scaling_active_status, h->scaling_active_reason,
		h->scaling_active_message);
	write_hpa_condition(j, "AbleToScale",
		h->able_to_scale.reason ? condition_status_name(h->able_to_scale.status) : NULL,
		h->able_to_scale.reason, h->able_to_scale.message);
	write_hpa_condition(j, "ScalingLimited",
		h->scaling_limited.reason ? condition_status_name(h->scaling_limited.status) : NULL,
		h->scaling_limited.reason, h->scaling_limited.message);
	jsonout_end_array(j);
	jsonout_end_object(j);
}

static void write_reason(struct jsonout *j, const struct view *v)
{
	const struct directives *d = &v->directives;
	char paused[64] = "paused";

	if (d->paused_replicas != INT32_UNSET)
		snprintf(paused, sizeof(paused), "paused at %d replicas", (int)d->paused_replicas);
	explainparts_reason(j, &v->so->status.conditions, explainparts_decided(v->cache, v->journal),
		"ScaledObjectCheckFailed", d->paused ? paused : NULL);
}

static void write_item(struct jsonout *j, const struct view *v)
{
	const struct conditions *conditions = &v->so->status.conditions;

	jsonout_text(j, "kind", scaled_kind_name(SCALED_OBJECT));
	jsonout_text(j, "namespace", v->so->meta.namespace_);
	jsonout_text(j, "name", v->so->meta.name);
	write_target(j, v);
	write_bounds(j, v);
	write_directives(j, &v->directives);
	explainparts_condition(j, "ready", conditions, "Ready");
	explainparts_condition(j, "active", conditions, "Active");
	explainparts_condition(j, "fallback", conditions, "Fallback");
	jsonout_text(j, "triggersTypes", v->so->status.triggers_types);
	write_hpa(j, v);
	write_reason(j, v);
}

/* ---- The whole ---- */

static void write_decision(struct jsonout *j, const struct view *v)
{
	const struct journal_object *o = explainparts_decided(v->cache, v->journal);
	const struct journal_verdict *d = o ? &o->decision : NULL;

	if (!d) {
		jsonout_null(j, "decision");
		return;
	}
	jsonout_object(j, "decision");
	jsonout_text(j, "rule", d->rule);
	jsonout_text(j, "text", o->text);
	jsonout_bool(j, "act", d->act);
	jsonout_int(j, "replicas", d->replicas);
	jsonout_bool(j, "active", d->active);
	jsonout_bool(j, "forced", d->forced);
	jsonout_bool(j, "failing", d->failing);
	jsonout_time(j, "until", d->until_unix_ms);
	jsonout_time(j, "decidedAt", o->decided_at_unix_ms);
	jsonout_end_object(j);
}

void explainobject_write(struct jsonout *j, struct cache *cache, struct object *o, bool whole)
{
	struct view v;

	view_make(&v, cache, o);
	write_item(j, &v);
	if (!whole)
		return;
	jsonout_time(j, "created", o->of.meta->created_unix_ms);
	jsonout_int(j, "generation", o->of.meta->generation);
	explaintriggers_write(j, cache, o);
	write_decision(j, &v);
	explainparts_history(j, &o->of.status->conditions, v.journal, "replicas");
}
