/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/explain/explain.h"

#include <stdio.h>
#include <string.h>

#include "serve/explain/explainjob.h"
#include "serve/explain/explaintriggers.h"

static void write_leader(struct jsonout *j, const struct leadership *l)
{
	jsonout_object(j, "leader");
	jsonout_bool(j, "leading", l->leading);
	jsonout_text(j, "holder", *l->holder ? l->holder : NULL);
	jsonout_text(j, "whyNot", l->leading || !*l->why_not ? NULL : l->why_not);
	jsonout_end(j);
}

/* ---- What only a ScaledObject has ---- */

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

/* Whether it is paused at a number of replicas. */
static bool is_at_number(const struct annotations *a)
{
	return a->paused && a->paused_replicas != INT32_UNSET;
}

/* The members target to forced. */
static void write_spec(struct jsonout *j, const struct object *o, const struct annotations *a)
{
	const struct scaledobject_spec *spec = &o->of.so->spec;

	write_target(j, o);
	jsonout_int(j, "min", scaledobject_min(spec));
	jsonout_int(j, "max", scaledobject_hpa_max(spec));
	jsonout_int_known(j, "idle", spec->idle_replicas != INT32_UNSET, spec->idle_replicas);
	jsonout_bool(j, "paused", a->paused);
	jsonout_object(j, "pausing");
	jsonout_int_known(j, "replicas", is_at_number(a), a->paused_replicas);
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

static void write_hpa(struct jsonout *j, const struct cache *cache, const struct scaledobject *so)
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

/* ---- The summary ---- */

static const char *status_of(const struct conditions *all, const char *type)
{
	const struct condition *c = conditions_get(all, type);

	return c ? condition_status_name(c->status) : NULL;
}

/* On a standby the newest decision is old, and only listed in decisions. */
static const struct journal_object *decided_of(const struct cache *cache, const struct object *o)
{
	const struct journal_object *journal = journal_get(o);

	return cache->leadership.leading && journal && journal->decided ? journal : NULL;
}

static const char *find_reason(const struct conditions *all, const struct journal_object *decided, const char *refusal,
	const char *paused)
{
	const struct condition *ready = conditions_get(all, "Ready"), *active = conditions_get(all, "Active");

	if (ready && ready->status == CONDITION_FALSE && strcmp(ready->reason, refusal) == 0)
		return ready->message;
	if (decided && decided->text)
		return decided->text;
	if (*paused)
		return paused;
	if (ready && ready->status != CONDITION_TRUE)
		return ready->message;
	return active ? active->message : NULL;
}

/* The condition Ready reports an unreadable annotation. */
static void read_paused(const struct object *o, struct explain_brief *b)
{
	if (o->kind == SCALED_JOB)
		annotations_read_paused(&o->of.meta->annotations, &b->annotations.paused, NULL);
	else
		annotations_read(o->of.so, &b->annotations, NULL);
	if (b->annotations.paused && is_at_number(&b->annotations))
		snprintf(b->paused, sizeof(b->paused), "paused at %d replicas", (int)b->annotations.paused_replicas);
	else if (b->annotations.paused)
		strcpy(b->paused, "paused");
}

void explain_brief(const struct cache *cache, const struct object *o, struct explain_brief *out)
{
	const struct conditions *conditions = &o->of.status->conditions;
	const struct journal_object *decided = decided_of(cache, o);
	bool job = o->kind == SCALED_JOB;
	const char *reason;

	*out = (struct explain_brief){ .ready = status_of(conditions, "Ready"),
		.active = status_of(conditions, "Active"),
		.fallback = job ? NULL : status_of(conditions, "Fallback"),
		.annotations.paused_replicas = INT32_UNSET,
		.rule = decided && decided->text ? decided->decision.rule : NULL };
	read_paused(o, out);
	reason = find_reason(conditions, decided, job ? "ScaledJobCheckFailed" : "ScaledObjectCheckFailed",
		out->paused);
	out->reason = reason && *reason ? reason : NULL;
}

/* ---- Lists ---- */

static void write_conditions(struct jsonout *j, const struct conditions *all)
{
	jsonout_array(j, "conditions");
	for (size_t i = 0; i < all->count; i++) {
		const struct condition *c = &all->list->items[i];

		jsonout_object(j, NULL);
		jsonout_text(j, "type", c->type);
		jsonout_text(j, "status", condition_status_name(c->status));
		jsonout_text(j, "reason", c->reason);
		jsonout_text(j, "message", c->message);
		jsonout_time(j, "lastTransitionTime", c->since_unix_ms);
		jsonout_end(j);
	}
	jsonout_end(j);
}

static void write_changes(struct jsonout *j, const struct journal_object *o)
{
	jsonout_array(j, "changes");
	for (size_t i = o ? o->change_count : 0; i > 0; i--) {
		const struct journal_change *c = &o->changes[i - 1];

		jsonout_object(j, NULL);
		jsonout_time(j, "at", c->at_unix_ms);
		jsonout_int(j, "from", c->from);
		jsonout_int(j, "to", c->to);
		jsonout_text(j, "who", c->who);
		jsonout_text(j, "why", c->why);
		jsonout_end(j);
	}
	jsonout_end(j);
}

static void write_decisions(struct jsonout *j, const struct journal_object *o, const char *number)
{
	jsonout_array(j, "decisions");
	for (size_t i = o ? o->decision_count : 0; i > 0; i--) {
		const struct journal_decision *d = &o->decisions[i - 1];

		jsonout_object(j, NULL);
		jsonout_time(j, "at", d->at_unix_ms);
		jsonout_text(j, "rule", d->rule);
		jsonout_int(j, number, d->replicas);
		jsonout_text(j, "text", d->text);
		jsonout_end(j);
	}
	jsonout_end(j);
}

/* ---- Summary and explanation ---- */

void explain_write_summary(struct jsonout *j, const struct cache *cache, const struct object *o)
{
	bool job = o->kind == SCALED_JOB;
	struct explain_brief brief;

	explain_brief(cache, o, &brief);
	jsonout_text(j, "kind", scaled_kind_name(o->kind));
	jsonout_text(j, "namespace", o->of.meta->namespace_);
	jsonout_text(j, "name", o->of.meta->name);
	if (job)
		explainjob_write_spec(j, o->of.sj, brief.annotations.paused);
	else
		write_spec(j, o, &brief.annotations);
	jsonout_text(j, "ready", brief.ready);
	jsonout_text(j, "active", brief.active);
	if (!job)
		jsonout_text(j, "fallback", brief.fallback);
	jsonout_text(j, "triggersTypes", o->of.status->triggers_types);
	if (job)
		explainjob_write_jobs(j, cache, o);
	else
		write_hpa(j, cache, o->of.so);
	jsonout_text(j, "rule", brief.rule);
	jsonout_text(j, "reason", brief.reason);
}

static void write_decision(struct jsonout *j, const struct journal_object *o, bool job)
{
	const struct journal_verdict *d = &o->decision;

	jsonout_object(j, "decision");
	jsonout_text(j, "rule", d->rule);
	jsonout_text(j, "text", o->text);
	if (!job)
		jsonout_bool(j, "act", d->act);
	jsonout_int(j, job ? "create" : "replicas", d->replicas);
	jsonout_bool(j, "active", d->active);
	if (!job)
		jsonout_bool(j, "forced", d->forced);
	jsonout_bool(j, "failing", d->failing);
	if (!job)
		jsonout_time(j, "until", d->until_unix_ms);
	jsonout_time(j, "decidedAt", o->decided_at_unix_ms);
	jsonout_end(j);
}

void explain_write(struct jsonout *j, struct cache *cache, struct object *o)
{
	const struct journal_object *journal = journal_get(o), *decided = decided_of(cache, o);
	bool job = o->kind == SCALED_JOB;

	write_leader(j, &cache->leadership);
	explain_write_summary(j, cache, o);
	jsonout_time(j, "created", o->of.meta->created_unix_ms);
	jsonout_int(j, "generation", o->of.meta->generation);
	explaintriggers_write(j, cache, o);
	if (decided)
		write_decision(j, decided, job);
	else
		jsonout_null(j, "decision");
	write_conditions(j, &o->of.status->conditions);
	write_changes(j, journal);
	write_decisions(j, journal, job ? "create" : "replicas");
}
