/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/conditions.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "crd/phrase.h"
#include "decide/verdict.h"

#define READY "Ready"
#define ACTIVE "Active"
#define FALLBACK "Fallback"
#define PAUSED "Paused"
#define HPA_ACTIVE "HPAActive"

#define REASON_CHECK_FAILED "ScaledObjectCheckFailed"
#define MESSAGE_PAUSED "ScaledObject is paused"
#define TYPES_TEXT_MAX 65536 /* triggersTypes: at most SCALEDOBJECT_TRIGGERS_MAX short words */

static void replace_owned(const char **text, char *with)
{
	phrase_free(*text);
	*text = phrase_take(with);
}

/* ---- After a reconcile ---- */

static void say_no_fallback(struct conditions *c, int64_t now_unix_ms, int64_t generation)
{
	conditions_set(c, FALLBACK, CONDITION_FALSE, "NoFallbackFound", "No fallbacks are active on this scaled object", now_unix_ms, generation);
}

static void first_sight(struct conditions *c, int64_t now_unix_ms, int64_t generation)
{
	if (conditions_get(c, READY) == NULL)
		conditions_set(c, READY, CONDITION_UNKNOWN, "", "", now_unix_ms, generation);
	if (conditions_get(c, ACTIVE) == NULL)
		conditions_set(c, ACTIVE, CONDITION_UNKNOWN, "", "", now_unix_ms, generation);
	if (conditions_get(c, FALLBACK) == NULL)
		conditions_set(c, FALLBACK, CONDITION_UNKNOWN, "", "", now_unix_ms, generation);
	if (conditions_get(c, PAUSED) == NULL)
		conditions_set(c, PAUSED, CONDITION_FALSE, "", "", now_unix_ms, generation);
}

static void record_target(const struct reconcile_outcome *o, struct scaledobject_status *status)
{
	if (o->kind != NULL && o->version != NULL && o->resource != NULL) {
		const char *group = o->group != NULL ? o->group : "";

		/* The core group has no name, which leaves the slash in front: KEDA's own spelling. */
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

static void free_names(char ***names, size_t *count)
{
	for (size_t i = 0; i < *count; i++)
		free((*names)[i]);
	free(*names);
	*names = NULL;
	*count = 0;
}

static bool has_name(const struct scaledobject_status *status, const char *name)
{
	for (size_t i = 0; i < status->external_metric_count; i++)
		if (strcmp(status->external_metric_names[i], name) == 0)
			return true;
	return false;
}

/* Entries of metrics that no longer exist go away (keda-core.md 1.2). */
static void prune(struct scaledobject_status *status)
{
	size_t kept = 0;

	for (size_t i = 0; i < status->health_count; i++) {
		if (has_name(status, status->health[i].metric))
			status->health[kept++] = status->health[i];
		else
			free(status->health[i].metric);
	}
	status->health_count = kept;
	kept = 0;
	for (size_t i = 0; i < status->activity_count; i++) {
		if (has_name(status, status->activity[i].metric))
			status->activity[kept++] = status->activity[i];
		else
			free(status->activity[i].metric);
	}
	status->activity_count = kept;
}

static void free_health(struct scaledobject_status *status)
{
	for (size_t i = 0; i < status->health_count; i++)
		free(status->health[i].metric);
	free(status->health);
	status->health = NULL;
	status->health_count = 0;
}

static void add_name(char ***names, size_t *count, size_t room, const char *name)
{
	if (*names == NULL)
		*names = mem_array(room, sizeof(char *));
	(*names)[(*count)++] = mem_dup(name);
}

/* resourceMetricNames has Resource metrics only, not those of one container (keda-core.md 1.2). */
static void record_metrics(const struct scaledobject *so, const struct reconcile_outcome *o, struct scaledobject_status *status)
{
	if (o->metrics == NULL)
		return;
	free_names(&status->external_metric_names, &status->external_metric_count);
	free_names(&status->resource_metric_names, &status->resource_metric_count);
	phrase_set(&status->composite_scaler_name, verdict_has_composite(&so->spec) ? VERDICT_COMPOSITE_NAME : NULL);
	for (size_t i = 0; i < o->metric_count; i++) {
		if (o->metrics[i].kind == METRIC_EXTERNAL)
			add_name(&status->external_metric_names, &status->external_metric_count, o->metric_count, o->metrics[i].name);
		else if (o->metrics[i].kind == METRIC_RESOURCE)
			add_name(&status->resource_metric_names, &status->resource_metric_count, o->metric_count, o->metrics[i].name);
	}
	prune(status);
}

typedef const char *(*trigger_text_fn)(const struct trigger *t);

static const char *type_of(const struct trigger *t)
{
	return t->type;
}

static const char *authentication_of(const struct trigger *t)
{
	return t->auth_name;
}

/* The distinct texts in the order of the triggers, joined by commas; NULL when there are none. The caller owns it. */
static char *distinct(const struct scaledobject_spec *spec, trigger_text_fn text_of)
{
	struct strmap seen = { 0 };
	struct buf out = BUF_INIT(TYPES_TEXT_MAX);

	for (size_t i = 0; i < spec->trigger_count; i++) {
		const char *text = text_of(&spec->triggers[i]);

		if (text == NULL || *text == '\0' || strmap_get(&seen, text) != NULL)
			continue;
		if (out.len > 0)
			buf_putc(&out, ',');
		buf_puts(&out, text);
		strmap_set(&seen, text, "");
	}
	strmap_done(&seen);
	if (out.len == 0) {
		buf_done(&out);
		return NULL;
	}
	return buf_take(&out);
}

static void record_triggers(const struct scaledobject *so, struct scaledobject_status *status)
{
	if (so->spec_err != NULL)
		return;
	replace_owned(&status->triggers_types, distinct(&so->spec, type_of));
	replace_owned(&status->authentications_types, distinct(&so->spec, authentication_of));
}

/* Ready is lowered by the loop for what only a poll can see; while reconcile finds nothing wrong, only a poll can raise it again. */
static bool lowered_by_loop(const struct condition *ready)
{
	static const char *const reasons[] = { "TriggerError", "PartialTriggerError", "ErrorGettingCurrentReplicas" };

	for (size_t i = 0; ready != NULL && i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (strcmp(ready->reason, reasons[i]) == 0)
			return true;
	return false;
}

static bool failed_check(const struct conditions *c)
{
	const struct condition *ready = conditions_get(c, READY);

	return ready != NULL && ready->status == CONDITION_FALSE && strcmp(ready->reason, REASON_CHECK_FAILED) == 0;
}

/* Sets a condition to what it is already, so that its generation moves on. The copies are needed: set may free what get lent. */
static void confirm(struct conditions *c, const struct condition *was, int64_t now_unix_ms, int64_t generation)
{
	char *type = mem_dup(was->type), *reason = mem_dup(was->reason), *message = mem_dup(was->message);

	conditions_set(c, type, was->status, reason, message, now_unix_ms, generation);
	free(type);
	free(reason);
	free(message);
}

/* keda-core.md 2.3 rows 1 to 3. */
static void record_pause(const struct directives *says, int64_t now_unix_ms, int64_t generation, struct scaledobject_status *status)
{
	struct conditions *c = &status->conditions;
	const struct condition *was = conditions_get(c, PAUSED);

	if (says == NULL)
		return;
	status->paused_replicas = says->paused ? says->paused_replicas : INT32_UNSET;
	if (says->paused || says->scale_in_paused || says->scale_out_paused)
		conditions_set(c, PAUSED, CONDITION_TRUE, "ScaledObjectPaused", MESSAGE_PAUSED, now_unix_ms, generation);
	else if (was->status != CONDITION_FALSE)
		conditions_set(c, PAUSED, CONDITION_FALSE, "ScaledObjectUnpaused", "pause annotation removed for ScaledObject", now_unix_ms, generation);
}

static void set_up(const struct directives *says, struct scaledobject_status *status, int64_t now_unix_ms, int64_t generation)
{
	struct conditions *c = &status->conditions;
	const struct condition *ready = conditions_get(c, READY);
	bool paused = says != NULL && says->paused;

	if (lowered_by_loop(ready) && !paused)
		confirm(c, ready, now_unix_ms, generation);
	else
		conditions_set(c, READY, CONDITION_TRUE, "ScaledObjectReady", paused ? MESSAGE_PAUSED : "ScaledObject is defined correctly and is ready for scaling", now_unix_ms, generation);
}

/* What this reconcile has found still to be so. */
static void looked_at(struct conditions *c, const char *type, int64_t generation)
{
	for (size_t i = 0; i < c->count; i++)
		if (strcmp(c->list[i].type, type) == 0)
			c->list[i].observed_generation = generation;
}

/* keda-core.md 3.4, last paragraph. */
static void mirror_hpa(const struct hpa *hpa, int64_t now_unix_ms, int64_t generation, struct conditions *c)
{
	char *message;

	if (hpa == NULL || *hpa->scaling_active_status == '\0')
		return;
	if (strcmp(hpa->scaling_active_status, "True") == 0) {
		conditions_set(c, HPA_ACTIVE, CONDITION_TRUE, "HPAActive", "HPA is actively scaling", now_unix_ms, generation);
		return;
	}
	if (strcmp(hpa->scaling_active_reason, "ScalingDisabled") == 0) {
		conditions_set(c, HPA_ACTIVE, CONDITION_TRUE, "ScalingDisabled", hpa->scaling_active_message, now_unix_ms, generation);
		return;
	}
	message = mem_printf("HPA is not actively scaling: %s", hpa->scaling_active_message);
	conditions_set(c, HPA_ACTIVE, CONDITION_FALSE, *hpa->scaling_active_reason != '\0' ? hpa->scaling_active_reason : "HPAMetricsUnavailable", message, now_unix_ms, generation);
	free(message);
}

void conditions_after_reconcile(const struct scaledobject *so, const struct reconcile_outcome *o, int64_t now_unix_ms, struct scaledobject_status *status)
{
	int64_t generation = so->meta.generation;

	record_target(o, status);
	record_triggers(so, status);
	record_metrics(so, o, status);
	first_sight(&status->conditions, now_unix_ms, generation);
	looked_at(&status->conditions, PAUSED, generation);
	looked_at(&status->conditions, FALLBACK, generation);
	if (!verdict_fallback_valid(&so->spec)) {
		say_no_fallback(&status->conditions, now_unix_ms, generation);
		free_health(status);
	}
	record_pause(o->directives, now_unix_ms, generation, status);
	if (o->err == NULL) {
		set_up(o->directives, status, now_unix_ms, generation);
		return;
	}
	conditions_set(&status->conditions, READY, CONDITION_FALSE, REASON_CHECK_FAILED, o->err->msg, now_unix_ms, generation);
	conditions_set(&status->conditions, ACTIVE, CONDITION_UNKNOWN, "UnknownState", "ScaledObject check failed", now_unix_ms, generation);
	mirror_hpa(o->hpa, now_unix_ms, generation, &status->conditions);
}

/* ---- After a tick ---- */

static bool trigger_active(const struct scale_facts *facts, const char *metric)
{
	for (size_t i = 0; i < facts->trigger_count; i++) {
		const struct scale_trigger *t = &facts->triggers[i];

		if (strcmp(t->metric_name, metric) == 0)
			return t->err == NULL && t->reading.active;
	}
	return false;
}

static bool activity_is_of_all_metrics(const struct scaledobject_status *status)
{
	if (status->activity_count != status->external_metric_count)
		return false;
	for (size_t i = 0; i < status->activity_count; i++)
		if (strcmp(status->activity[i].metric, status->external_metric_names[i]) != 0)
			return false;
	return true;
}

static void list_activity(struct scaledobject_status *status)
{
	struct metric_activity *list;

	list = mem_array(status->external_metric_count, sizeof(*list));
	for (size_t i = 0; i < status->external_metric_count; i++)
		list[i].metric = mem_dup(status->external_metric_names[i]);
	for (size_t i = 0; i < status->activity_count; i++)
		free(status->activity[i].metric);
	free(status->activity);
	status->activity = list;
	status->activity_count = status->external_metric_count;
}

static void record_activity(const struct scale_facts *facts, struct scaledobject_status *status)
{
	if (facts->trigger_count == 0)
		return;
	if (!activity_is_of_all_metrics(status))
		list_activity(status);
	for (size_t i = 0; i < status->activity_count; i++)
		status->activity[i].active = trigger_active(facts, status->activity[i].metric);
}

/*
 * KEDA writes it at every active poll; we write it on the edges. Becoming active stamps now. What was counted in memory while active is stamped with the first
 * poll that finds no activity; then it does not move, so there is nothing more to write. `edge`: Active is about to become True.
 */
static void record_last_active(const struct scale_decision *d, bool edge, int64_t now_unix_ms, struct scaledobject_status *status)
{
	if (d->active && (edge || status->last_active_unix_ms == 0))
		status->last_active_unix_ms = now_unix_ms;
	if (!d->active && d->last_active_unix_ms > status->last_active_unix_ms)
		status->last_active_unix_ms = d->last_active_unix_ms;
}

static bool is_true(const struct condition *c)
{
	return c != NULL && c->status == CONDITION_TRUE;
}

static struct metric_health *health_of(struct scaledobject_status *status, const char *metric)
{
	for (size_t i = 0; i < status->health_count; i++)
		if (strcmp(status->health[i].metric, metric) == 0)
			return &status->health[i];
	return NULL;
}

/* A count that only grows is not written: a threshold or an edge must be crossed. */
static void record_health(const struct scale_trigger *t, int32_t threshold, struct scaledobject_status *status)
{
	struct metric_health *h = health_of(status, t->metric_name);
	bool failing = t->failures > 0, over = t->failures > threshold;

	if (h == NULL) {
		if (!has_name(status, t->metric_name))
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

void conditions_after_count(const struct scaledobject *so, const struct scale_trigger *triggers, size_t count, int64_t now_unix_ms, struct scaledobject_status *status)
{
	struct conditions *c = &status->conditions;
	bool falling_back = false;

	if (count == 0 || !verdict_fallback_valid(&so->spec))
		return;
	for (size_t i = 0; i < count; i++) {
		record_health(&triggers[i], so->spec.fallback->failure_threshold, status);
		falling_back = falling_back || (triggers[i].failures > so->spec.fallback->failure_threshold && triggers[i].fallback_trouble == NULL);
	}
	if (falling_back)
		conditions_set(c, FALLBACK, CONDITION_TRUE, "FallbackExists", "At least one trigger is falling back on this scaled object", now_unix_ms, so->meta.generation);
	else
		say_no_fallback(c, now_unix_ms, so->meta.generation);
}

/*
 * KEDA's sentence, and behind it the cause, for whoever looks with kubectl only. What was told of a failure stays while it is the same trigger and the same kind of error: a text that is another at each poll (times, ports, "refused"
 * and then "timed out") would be a write at each poll.
 */
static void say_ready(const struct scale_facts *facts, const struct scale_decision *d, int64_t now_unix_ms, int64_t generation, struct conditions *c)
{
	const struct condition *told = conditions_get(c, READY);
	struct scale_failure cause = scale_failure(facts);
	MEM_AUTO char *message = NULL;

	if (!d->failing || !cause.err || !facts->replicas_known)
		message = mem_dup(d->ready_message);
	else if (told && told->status == d->ready && strcmp(told->reason, d->ready_reason) == 0 && !facts->cause_is_news)
		message = mem_dup(told->message);
	else
		message = mem_printf("%s: %s: %s", d->ready_message, cause.metric_name, cause.err->msg);
	conditions_set(c, READY, d->ready, d->ready_reason, message, now_unix_ms, generation);
}

void conditions_after_tick(const struct scaledobject *so, const struct scale_facts *facts, const struct scale_decision *d, const struct hpa *hpa, int64_t now_unix_ms, struct scaledobject_status *status)
{
	struct conditions *c = &status->conditions;
	int64_t generation = so->meta.generation;
	/* What reconcile found wrong stands until reconcile finds it right: a loop that still runs by an older spec must not hide it, nor flap with it. */
	bool ours = !failed_check(c);
	bool sets_active = ours && d->active_reason != NULL;

	if (d->rule == SCALE_RULE_PAUSED)
		return;
	record_last_active(d, sets_active && !is_true(conditions_get(c, ACTIVE)), now_unix_ms, status);
	record_activity(facts, status);
	conditions_after_count(so, facts->triggers, facts->trigger_count, now_unix_ms, status);
	if (ours && d->ready_reason != NULL)
		say_ready(facts, d, now_unix_ms, generation, c);
	if (sets_active)
		conditions_set(c, ACTIVE, d->active_status, d->active_reason, d->active_message, now_unix_ms, generation);
	if (d->rule != SCALE_RULE_REPLICAS_UNKNOWN)
		mirror_hpa(hpa, now_unix_ms, generation, c);
}
