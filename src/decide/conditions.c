/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/conditions.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/textlist.h"
#include "crd/intern.h"
#include "decide/statusparts.h"
#include "decide/verdict.h"

#define READY      STATUSPARTS_READY
#define ACTIVE     STATUSPARTS_ACTIVE
#define FALLBACK   "Fallback"
#define PAUSED     STATUSPARTS_PAUSED
#define HPA_ACTIVE "HPAActive"

static const struct statusparts_words words = {
	.ready = "ScaledObjectReady",
	.ready_message = "ScaledObject is defined correctly and is ready for scaling",
	.ready_paused_message = "ScaledObject is paused",
	.refused = "ScaledObjectCheckFailed",
	.refused_message = "ScaledObject check failed",
	.paused = "ScaledObjectPaused",
	.paused_message = "ScaledObject is paused",
	.unpaused = "ScaledObjectUnpaused",
	.unpaused_message = "pause annotation removed for ScaledObject",
	.lowered = (const char *const[]){ "TriggerError", "PartialTriggerError", "ErrorGettingCurrentReplicas", NULL },
};

/* ---- After a reconcile ---- */

static void say_no_fallback(const struct statusparts *p)
{
	statusparts_say(p, FALLBACK, CONDITION_FALSE, "NoFallbackFound",
		"No fallbacks are active on this scaled object");
}

static void record_target(const struct reconcile_outcome *o, struct scaledobject_status *status)
{
	if (o->kind && o->version && o->resource) {
		const char *group = o->group ? o->group : "";

		/*
		 * The core group has no name, so the text begins with the slash, as KEDA writes it.
		 */
		intern_take(&status->target_kind, mem_printf("%s/%s.%s", group, o->version, o->kind));
		intern_set(&status->gvkr_group, group);
		intern_set(&status->gvkr_version, o->version);
		intern_set(&status->gvkr_kind, o->kind);
		intern_set(&status->gvkr_resource, o->resource);
	}
	if (status->original_replicas == INT32_UNSET && o->replicas != INT32_UNSET)
		status->original_replicas = o->replicas;
	if (o->hpa_name)
		intern_set(&status->hpa_name, o->hpa_name);
}

/* resourceMetricNames has Resource metrics only, not those of one container (doc/keda.md 1.2). */
static void record_metrics(const struct scaledobject *so, const struct reconcile_outcome *o,
	struct scaledobject_status *status)
{
	if (!o->metrics)
		return;
	textlist_done(&status->external_metric_names, &status->external_metric_count);
	textlist_done(&status->resource_metric_names, &status->resource_metric_count);
	intern_set(&status->composite_scaler_name, verdict_has_composite(&so->spec) ? VERDICT_COMPOSITE_NAME : NULL);
	for (size_t i = 0; i < o->metric_count; i++) {
		if (o->metrics[i].kind == METRIC_EXTERNAL)
			textlist_add(&status->external_metric_names, &status->external_metric_count,
				o->metrics[i].name);
		else if (o->metrics[i].kind == METRIC_RESOURCE)
			textlist_add(&status->resource_metric_names, &status->resource_metric_count,
				o->metrics[i].name);
	}
	statusparts_prune(status);
}

/* doc/keda.md 2.1, steps 1 to 3. */
static void record_pause(const struct statusparts *p, const struct annotations *says)
{
	p->status->paused_replicas = says->paused ? says->paused_replicas : INT32_UNSET;
	statusparts_pause(p, says->paused || says->scale_in_paused || says->scale_out_paused);
}

/* doc/keda.md 3.2, HPAActive. */
static void mirror_hpa(const struct statusparts *p, const struct hpa *hpa)
{
	MEM_AUTO char *message = NULL;

	if (!hpa || !*hpa->scaling_active_status)
		return;
	if (strcmp(hpa->scaling_active_status, "True") == 0) {
		statusparts_say(p, HPA_ACTIVE, CONDITION_TRUE, "HPAActive", "HPA is actively scaling");
		return;
	}
	if (strcmp(hpa->scaling_active_reason, "ScalingDisabled") == 0) {
		statusparts_say(p, HPA_ACTIVE, CONDITION_TRUE, "ScalingDisabled", hpa->scaling_active_message);
		return;
	}
	message = mem_printf("HPA is not actively scaling: %s", hpa->scaling_active_message);
	statusparts_say(p, HPA_ACTIVE, CONDITION_FALSE,
		*hpa->scaling_active_reason ? hpa->scaling_active_reason : "HPAMetricsUnavailable", message);
}

void conditions_after_reconcile(const struct scaledobject *so, const struct reconcile_outcome *o, int64_t now_unix_ms,
	struct scaledobject_status *status)
{
	const struct statusparts p = { &words, status, now_unix_ms, so->meta.generation };

	record_target(o, status);
	if (!so->spec_err)
		statusparts_triggers(so->spec.triggers, so->spec.trigger_count, status);
	record_metrics(so, o, status);
	statusparts_first_sight(&p, READY, CONDITION_UNKNOWN);
	statusparts_first_sight(&p, ACTIVE, CONDITION_UNKNOWN);
	statusparts_first_sight(&p, FALLBACK, CONDITION_UNKNOWN);
	statusparts_first_sight(&p, PAUSED, CONDITION_FALSE);
	conditions_observe(&status->conditions, PAUSED, p.generation);
	conditions_observe(&status->conditions, FALLBACK, p.generation);
	/* Nothing is asked any more. */
	if (o->no_hpa || (o->annotations && o->annotations->paused))
		say_no_fallback(&p);
	if (!verdict_fallback_valid(&so->spec)) {
		say_no_fallback(&p);
		scaledobject_free_states(&status->health, &status->health_count);
	}
	if (o->annotations)
		record_pause(&p, o->annotations);
	statusparts_reconciled(&p, o->err, o->annotations && o->annotations->paused);
	if (o->no_hpa)
		conditions_remove(&status->conditions, HPA_ACTIVE);
	else if (o->err)
		mirror_hpa(&p, o->hpa);
}

/* ---- After a tick ---- */

/* While a passing failure is not yet reported in Ready, the trigger stays as active as it was. */
static bool trigger_active(const void *arg, const char *metric, bool was, size_t *at)
{
	const struct scale_facts *facts = arg;

	for (size_t i = 0; i < facts->trigger_count; i++, ++*at) {
		const struct verdict_trigger *t = &facts->triggers[*at % facts->trigger_count];

		if (strcmp(t->metric_name, metric) == 0)
			return t->err ? facts->ready_waits && was : t->reading.active;
	}
	return false;
}

/* Changed only when failing begins or ends, or the count passes the threshold. */
static void record_health(const struct verdict_trigger *t, int32_t threshold, struct scaledobject_status *status,
	size_t *at)
{
	struct metric_state *h = scaledobject_health(status, t->metric_name);
	bool failing = t->failures > 0, over = t->failures > threshold;

	if (!h) {
		if (!statusparts_has_metric(status, t->metric_name, at))
			return;
		h = scaledobject_add_health(status, t->metric_name);
	} else if (h->failing == failing && (h->failing && h->failures > threshold) == over) {
		return;
	}
	h->failing = failing;
	h->failures = failing ? t->failures : 0;
}

/* KEDA's message with the trigger and its error appended; kept like Ready's (say_ready). */
static void say_fallback(const struct statusparts *p, const struct verdict_trigger *t, bool news)
{
	static const char sentence[] = "At least one trigger is falling back on this scaled object";
	MEM_AUTO char *message = t->source_err ? mem_printf("%s: %s: %s", sentence, t->metric_name, t->source_err->msg)
					       : NULL;

	statusparts_say_once(p, FALLBACK, CONDITION_TRUE, "FallbackExists", message ? message : sentence, !news);
}

static void record_counts(const struct statusparts *p, const struct scaledobject_spec *spec,
	const struct verdict_trigger *triggers, size_t count, bool cause_is_news)
{
	const struct verdict_trigger *falling_back = NULL;
	size_t at = 0;

	if (count == 0 || !verdict_fallback_valid(spec))
		return;
	for (size_t i = 0; i < count; i++) {
		record_health(&triggers[i], spec->fallback->failure_threshold, p->status, &at);
		if (!falling_back && triggers[i].failures > spec->fallback->failure_threshold &&
			!triggers[i].fallback_trouble)
			falling_back = &triggers[i];
	}
	if (falling_back)
		say_fallback(p, falling_back, cause_is_news);
	else
		say_no_fallback(p);
}

/*
 * KEDA's message with the cause appended, for users of kubectl. It is kept while the cause is the
 * same.
 */
static void say_ready(const struct statusparts *p, const struct scale_facts *facts, const struct scale_decision *d)
{
	struct scale_failure cause = scale_failure(facts);
	MEM_AUTO char *message = d->failing && cause.err && facts->replicas_known
		? mem_printf("%s: %s: %s", d->ready_message, cause.metric_name, cause.err->msg)
		: NULL;

	statusparts_say_once(p, READY, d->ready, d->ready_reason, message ? message : d->ready_message,
		message && !facts->cause_is_news);
}

void conditions_after_tick(const struct scaledobject *so, const struct scale_facts *facts,
	const struct scale_decision *d, const struct hpa *hpa, int64_t now_unix_ms, struct scaledobject_status *status)
{
	const struct statusparts p = { &words, status, now_unix_ms, so->meta.generation };
	bool ours = !statusparts_is_refused(&p), unknown = facts->ready_waits && !d->active,
	     sets_active = ours && d->active_reason && !unknown;

	if (d->rule == SCALE_RULE_PAUSED)
		return;
	if (!unknown)
		statusparts_last_active(&p, d->active, sets_active, d->last_active_unix_ms);
	if (facts->trigger_count > 0)
		statusparts_activity(trigger_active, facts, status);
	record_counts(&p, &so->spec, facts->triggers, facts->trigger_count, facts->cause_is_news);
	if (ours && d->ready_reason && !facts->ready_waits)
		say_ready(&p, facts, d);
	if (sets_active)
		statusparts_say(&p, ACTIVE, d->active_status, d->active_reason, d->active_message);
	if (d->rule != SCALE_RULE_REPLICAS_UNKNOWN)
		mirror_hpa(&p, hpa);
}
