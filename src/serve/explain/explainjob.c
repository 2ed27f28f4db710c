/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/explain/explainjob.h"

#include "decide/directives.h"
#include "serve/explain/explainparts.h"
#include "serve/explain/explaintriggers.h"

struct view { /* all borrowed */
	struct cache *cache;
	const struct object *object;
	const struct scaledjob *sj;
	const struct journal_object *journal; /* NULL */
	bool paused;
};

static void view_make(struct view *v, struct cache *cache, const struct object *o)
{
	const struct scaledjob *sj = o->of.sj;

	*v = (struct view){ .cache = cache, .object = o, .sj = sj };
	v->journal = journal_get(o);
	/* An annotation that cannot be read is in Ready. */
	directives_read_paused(&sj->meta.annotations, &v->paused, NULL);
}

/* ---- An item of the list ---- */

static void write_spec(struct jsonout *j, const struct scaledjob_spec *spec)
{
	int64_t min = scaledjob_min(spec);

	jsonout_int(j, "min", min);
	jsonout_int(j, "max", min + scaledjob_max(spec));
	jsonout_text(j, "strategy", spec->strategy ? spec->strategy : "default");
	jsonout_text(j, "calculation", spec->calculation ? spec->calculation : "max");
}

/* Only who acts watches Jobs. */
static void write_jobs(struct jsonout *j, const struct view *v)
{
	const struct jobs *jobs = v->cache->jobs;
	const char *trouble = NULL;
	struct jobs_tally tally = { 0 };
	bool known;

	if (!v->cache->leadership.leading) {
		jsonout_null(j, "jobs");
		return;
	}
	known = jobs_known(jobs, v->sj->meta.namespace_, &trouble);
	if (known)
		tally = jobs_tally(jobs, v->object->key);
	jsonout_object(j, "jobs");
	explainparts_number(j, "running", known, (int64_t)tally.running);
	explainparts_number(j, "complete", known, (int64_t)tally.complete);
	explainparts_number(j, "failed", known, (int64_t)tally.failed);
	jsonout_bool(j, "known", known);
	jsonout_text(j, "trouble", trouble);
	jsonout_end_object(j);
}

static void write_item(struct jsonout *j, const struct view *v)
{
	const struct conditions *conditions = &v->sj->status.conditions;

	jsonout_text(j, "kind", scaled_kind_name(SCALED_JOB));
	jsonout_text(j, "namespace", v->sj->meta.namespace_);
	jsonout_text(j, "name", v->sj->meta.name);
	write_spec(j, &v->sj->spec);
	jsonout_bool(j, "paused", v->paused);
	explainparts_condition(j, "ready", conditions, "Ready");
	explainparts_condition(j, "active", conditions, "Active");
	jsonout_text(j, "triggersTypes", v->sj->status.triggers_types);
	write_jobs(j, v);
	explainparts_reason(j, conditions, explainparts_decided(v->cache, v->journal), "ScaledJobCheckFailed",
		v->paused ? "paused" : NULL);
}

/* ---- The whole ---- */

static void write_decision(struct jsonout *j, const struct view *v)
{
	const struct journal_object *o = explainparts_decided(v->cache, v->journal);

	if (!o) {
		jsonout_null(j, "decision");
		return;
	}
	jsonout_object(j, "decision");
	jsonout_text(j, "rule", o->decision.rule);
	jsonout_text(j, "text", o->text);
	jsonout_int(j, "create", o->decision.replicas);
	jsonout_bool(j, "active", o->decision.active);
	jsonout_bool(j, "failing", o->decision.failing);
	jsonout_time(j, "decidedAt", o->decided_at_unix_ms);
	jsonout_end_object(j);
}

void explainjob_write(struct jsonout *j, struct cache *cache, struct object *o, bool whole)
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
	explainparts_history(j, &o->of.status->conditions, v.journal, "create");
}
