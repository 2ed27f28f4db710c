/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/conditions.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "crd/phrase.h"
#include "decide/statusparts.h"
#include "decide/verdict.h"

#define READY      STATUSPARTS_READY
#define ACTIVE     STATUSPARTS_ACTIVE
#define FALLBACK   "Fallback"
#define PAUSED     STATUSPARTS_PAUSED
#define HPA_ACTIVE "HPAActive"

#define REASON_CHECK_FAILED "ScaledObjectCheckFailed"
#define MESSAGE_PAUSED      "ScaledObject is paused"

static void replace_owned(const char **text, char *with)
{
	phrase_free(*text);
	*text = phrase_take(with);
}

/* ---- After a reconcile ---- */

static void say_no_fallback(struct conditions *c, int64_t now_unix_ms, int64_t generation)
{
	conditions_set(c, FALLBACK, CONDITION_FALSE, "NoFallbackFound", "No fallbacks are active on this scaled object",
		now_unix_ms, generation);
}

static void first_sight(struct conditions *c, int64_t now_unix_ms, int64_t generation)
{
	statusparts_first_sight(c, READY, CONDITION_UNKNOWN, now_unix_ms, generation);
	statusparts_first_sight(c, ACTIVE, CONDITION_UNKNOWN, now_unix_ms, generation);
	statusparts_first_sight(c, FALLBACK, CONDITION_UNKNOWN, now_unix_ms, generation);
	statusparts_first_sight(c, PAUSED, CONDITION_FALSE, now_unix_ms, generation);
}

static void record_target(const struct reconcile_outcome *o, struct scaledobject_status *status)
{
	if (o->kind != NULL && o->version != NULL && o->resource != NULL) {
		const char *group = o->group != NULL ? o->group : "";

		/*
		 * The core group has no name, which leaves the slash in front: KEDA's own spelling.
		 */
		replace_owned(&status->target_kind, mem_printf("%s/%s.%s", group, o->version, o->kind));
		phrase_set(&status->gvkr_group, group);
		phrase_set(&status->gvkr_version, o->version);
		phrase_set(&status->gvkr_kind, o->kind);
		phrase_set(&status->gvkr_resource, o->resource);
	}
	if (status->original_replicas == INT32_UNSET && o->replicas != INT32_UNSET)
		status->original_replicas = o->replicas;
	if (o->hpa_name != NULL)
		phrase_set(&status->hpa_name, o->hpa_name);
}

static void free_health(struct scaledobject_status *status)
{
	for (size_t i = 0; i < status->health_count; i++)
		free(status->health[i].metric);
	free(status->health);
	status->health = NULL;
	status->health_count = 0;
}

/* resourceMetricNames has Resource metrics only, not those of one container (keda-core.md 1.2). */
static void record_metrics(const struct scaledobject *so, const struct reconcile_outcome *o,
	struct scaledobject_status *status)
{
	if (o->metrics == NULL)
		return;
	statusparts_free_names(&status->external_metric_names, &status->external_metric_count);
	statusparts_free_names(&status->resource_metric_names, &status->resource_metric_count);
	phrase_set(&status->composite_scaler_name, verdict_has_composite(&so->spec) ? VERDICT_COMPOSITE_NAME : NULL);
	for (size_t i = 0; i < o->metric_count; i++) {
		if (o->metrics[i].kind == METRIC_EXTERNAL)
			statusparts_add_name(&status->external_metric_names, &status->external_metric_count,
				o->metric_count, o->metrics[i].name);
		else if (o->metrics[i].kind == METRIC_RESOURCE)
			statusparts_add_name(&status->resource_metric_names, &status->resource_metric_count,
				o->metric_count, o->metrics[i].name);
	}
	statusparts_prune(status);
}

/*
 * Ready is lowered by the loop for what only a poll can see; while reconcile finds nothing wrong,
 * only a poll can raise it again.
 */
static bool lowered_by_loop(const struct condition *ready)
{
	static const char *const reasons[] = { "TriggerError", "PartialTriggerError", "ErrorGettingCurrentReplicas" };

	for (size_t i = 0; ready != NULL && i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (strcmp(ready->reason, reasons[i]) == 0)
			return true;
	return false;
}

/* keda-core.md 2.3 rows 1 to 3. */
static void record_pause(const struct directives *says, int64_t now_unix_ms, int64_t generation,
	struct scaledobject_status *status)
{
	struct conditions *c = &status->conditions;
	const struct condition *was = conditions_get(c, PAUSED);

	if (says == NULL)
		return;
	status->paused_replicas = says->paused ? says->paused_replicas : INT32_UNSET;
	if (says->paused || says->scale_in_paused || says->scale_out_paused)
		conditions_set(c, PAUSED, CONDITION_TRUE, "ScaledObjectPaused", MESSAGE_PAUSED, now_unix_ms,
			generation);
	else if (was->status != CONDITION_FALSE)
		conditions_set(c, PAUSED, CONDITION_FALSE, "ScaledObjectUnpaused",
			"pause annotation removed for ScaledObject", now_unix_ms, generation);
}

static void set_up(const struct directives *says, struct scaledobject_status *status, int64_t now_unix_ms,
	int64_t generation)
{
	struct conditions *c = &status->conditions;
	const struct condition *ready = conditions_get(c, READY);
	bool paused = says != NULL && says->paused;

	if (lowered_by_loop(ready) && !paused)
		statusparts_confirm(c, ready, now_unix_ms, generation);
	else
		conditions_set(c, READY, CONDITION_TRUE, "ScaledObjectReady",
			paused ? MESSAGE_PAUSED : "ScaledObject is defined correctly and is ready for scaling",
			now_unix_ms, generation);
}

/* keda-core.md 3.4, last paragraph. */
static void mirror_hpa(const struct hpa *hpa, int64_t now_unix_ms, int64_t generation, struct conditions *c)
{
	char *message;

	if (hpa == NULL || *hpa->scaling_active_status == '\0')
		return;
	if (strcmp(hpa->scaling_active_status, "True") == 0) {
		conditions_set(c, HPA_ACTIVE, CONDITION_TRUE, "HPAActive", "HPA is actively scaling", now_unix_ms,
			generation);
		return;
	}
	if (strcmp(hpa->scaling_active_reason, "ScalingDisabled") == 0) {
		conditions_set(c, HPA_ACTIVE, CONDITION_TRUE, "ScalingDisabled", hpa->scaling_active_message,
			now_unix_ms, generation);
		return;
	}
	message = mem_printf("HPA is not actively scaling: %s", hpa->scaling_active_message);
	conditions_set(c, HPA_ACTIVE, CONDITION_FALSE,
		*hpa->scaling_active_reason != '\0' ? hpa->scaling_active_reason : "HPAMetricsUnavailable", message,
		now_unix_ms, generation);
	free(message);
}

void conditions_after_reconcile(const struct scaledobject *so, const struct reconcile_outcome *o, int64_t now_unix_ms,
	struct scaledobject_status *status)
{
	int64_t generation = so->meta.generation;

	record_target(o, status);
	if (so->spec_err == NULL)
		statusparts_triggers(so->spec.triggers, so->spec.trigger_count, status);
	record_metrics(so, o, status);
	first_sight(&status->conditions, now_unix_ms, generation);
	statusparts_looked_at(&status->conditions, PAUSED, generation);
	statusparts_looked_at(&status->conditions, FALLBACK, generation);
	if (!verdict_fallback_valid(&so->spec)) {
		say_no_fallback(&status->conditions, now_unix_ms, generation);
		free_health(status);
	}
	record_pause(o->directives, now_unix_ms, generation, status);
	if (o->err == NULL) {
		set_up(o->directives, status, now_unix_ms, generation);
		return;
	}
	conditions_set(&status->conditions, READY, CONDITION_FALSE, REASON_CHECK_FAILED, o->err->msg, now_unix_ms,
		generation);
	conditions_set(&status->conditions, ACTIVE, CONDITION_UNKNOWN, "UnknownState", "ScaledObject check failed",
		now_unix_ms, generation);
	mirror_hpa(o->hpa, now_unix_ms, generation, &status->conditions);
}

/* ---- After a tick ---- */

static bool trigger_active(const void *arg, const char *metric)
{
	const struct scale_facts *facts = arg;

	for (size_t i = 0; i < facts->trigger_count; i++) {
		const struct verdict_trigger *t = &facts->triggers[i];

		if (strcmp(t->metric_name, metric) == 0)
			return t->err == NULL && t->reading.active;
	}
	return false;
}

static struct metric_health *health_of(struct scaledobject_status *status, const char *metric)
{
	for (size_t i = 0; i < status->health_count; i++)
		if (strcmp(status->health[i].metric, metric) == 0)
			return &status->health[i];
	return NULL;
}

/* A count that only grows is not written: a threshold or an edge must be crossed. */
static void record_health(const struct verdict_trigger *t, int32_t threshold, struct scaledobject_status *status)
{
	struct metric_health *h = health_of(status, t->metric_name);
	bool failing = t->failures > 0, over = t->failures > threshold;

	if (h == NULL) {
		if (!statusparts_has_metric(status, t->metric_name))
			return;
		status->health = mem_resize(status->health, status->health_count + 1, sizeof(*status->health));
		h = &status->health[status->health_count++];
		*h = (struct metric_health){ .metric = mem_dup(t->metric_name) };
	} else if (h->failing == failing && (h->failing && h->failures > threshold) == over) {
		return;
	}
	h->failing = failing;
	h->failures = failing ? t->failures : 0;
}

/*
 * KEDA's sentence, and behind it which trigger and why; what was told stays as it does in Ready
 * (say_ready).
 */
static void say_fallback(const struct verdict_trigger *t, bool news, int64_t now_unix_ms, int64_t generation,
	struct conditions *c)
{
	static const char sentence[] = "At least one trigger is falling back on this scaled object";
	const struct condition *told = conditions_get(c, FALLBACK);
	MEM_AUTO char *message = NULL;

	if (told && told->status == CONDITION_TRUE && !news)
		message = mem_dup(told->message);
	else if (t->source_err)
		message = mem_printf("%s: %s: %s", sentence, t->metric_name, t->source_err->msg);
	else
		message = mem_dup(sentence);
	conditions_set(c, FALLBACK, CONDITION_TRUE, "FallbackExists", message, now_unix_ms, generation);
}

void conditions_after_count(const struct scaledobject *so, const struct verdict_trigger *triggers, size_t count,
	bool cause_is_news, int64_t now_unix_ms, struct scaledobject_status *status)
{
	struct conditions *c = &status->conditions;
	const struct verdict_trigger *falling_back = NULL;

	if (count == 0 || !verdict_fallback_valid(&so->spec))
		return;
	for (size_t i = 0; i < count; i++) {
		record_health(&triggers[i], so->spec.fallback->failure_threshold, status);
		if (!falling_back && triggers[i].failures > so->spec.fallback->failure_threshold &&
			triggers[i].fallback_trouble == NULL)
			falling_back = &triggers[i];
	}
	if (falling_back)
		say_fallback(falling_back, cause_is_news, now_unix_ms, so->meta.generation, c);
	else
		say_no_fallback(c, now_unix_ms, so->meta.generation);
}

/*
 * KEDA's sentence, and behind it the cause, for whoever looks with kubectl only. What was told of a
 * failure stays while it is the same trigger and the same kind of error: a text that is another at
 * each poll (times, ports, "refused" and then "timed out") would be a write at each poll.
 */
static void say_ready(const struct scale_facts *facts, const struct scale_decision *d, int64_t now_unix_ms,
	int64_t generation, struct conditions *c)
{
	const struct condition *told = conditions_get(c, READY);
	struct scale_failure cause = scale_failure(facts);
	MEM_AUTO char *message = NULL;

	if (!d->failing || !cause.err || !facts->replicas_known)
		message = mem_dup(d->ready_message);
	else if (told && told->status == d->ready && strcmp(told->reason, d->ready_reason) == 0 &&
		!facts->cause_is_news)
		message = mem_dup(told->message);
	else
		message = mem_printf("%s: %s: %s", d->ready_message, cause.metric_name, cause.err->msg);
	conditions_set(c, READY, d->ready, d->ready_reason, message, now_unix_ms, generation);
}

void conditions_after_tick(const struct scaledobject *so, const struct scale_facts *facts,
	const struct scale_decision *d, const struct hpa *hpa, int64_t now_unix_ms, struct scaledobject_status *status)
{
	struct conditions *c = &status->conditions;
	int64_t generation = so->meta.generation;
	/*
	 * What reconcile found wrong stands until reconcile finds it right: a loop that still runs
	 * by an older spec must not hide it, nor flap with it.
	 */
	bool ours = !statusparts_ready_is_false(c, REASON_CHECK_FAILED);
	bool sets_active = ours && d->active_reason != NULL;

	if (d->rule == SCALE_RULE_PAUSED)
		return;
	statusparts_last_active(d->active, sets_active && !statusparts_is_true(c, ACTIVE), d->last_active_unix_ms,
		now_unix_ms, status);
	if (facts->trigger_count > 0)
		statusparts_activity(trigger_active, facts, status);
	conditions_after_count(so, facts->triggers, facts->trigger_count, facts->cause_is_news, now_unix_ms, status);
	if (ours && d->ready_reason != NULL)
		say_ready(facts, d, now_unix_ms, generation, c);
	if (sets_active)
		conditions_set(c, ACTIVE, d->active_status, d->active_reason, d->active_message, now_unix_ms,
			generation);
	if (d->rule != SCALE_RULE_REPLICAS_UNKNOWN)
		mirror_hpa(hpa, now_unix_ms, generation, c);
}
