/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/insight/insighttable.h"

#include "base/mem.h"
#include "serve/explain/explain.h"
#include "serve/explain/explainjob.h"

/* What the cells of one row are taken from. */
struct table_row {
	const struct object *o;
	struct explain_brief brief;
	struct jobs_tally tally;       /* of a ScaledJob, if known */
	const struct workload *target; /* of a ScaledObject; NULL: not known */
	const struct hpa *hpa;         /* the same */
	bool tally_known;
};

/* ---- Cells of both ---- */

static void put_name(struct jsonout *j, const struct table_row *r)
{
	jsonout_text(j, NULL, r->o->of.meta->name);
}

static void put_ready(struct jsonout *j, const struct table_row *r)
{
	jsonout_text(j, NULL, r->brief.ready);
}

static void put_active(struct jsonout *j, const struct table_row *r)
{
	jsonout_text(j, NULL, r->brief.active);
}

static void put_paused(struct jsonout *j, const struct table_row *r)
{
	const struct annotations *a = &r->brief.annotations;
	bool all = a->paused || (a->scale_in_paused && a->scale_out_paused);

	jsonout_text(j, NULL,
		all                           ? "True"
			: a->scale_in_paused  ? "ScaleIn"
			: a->scale_out_paused ? "ScaleOut"
					      : "False");
}

static void put_triggers(struct jsonout *j, const struct table_row *r)
{
	jsonout_text(j, NULL, r->o->of.status->triggers_types);
}

static void put_rule(struct jsonout *j, const struct table_row *r)
{
	jsonout_text(j, NULL, r->brief.rule);
}

static void put_reason(struct jsonout *j, const struct table_row *r)
{
	jsonout_text(j, NULL, r->brief.reason);
}

/* ---- Of a ScaledObject ---- */

static void put_target(struct jsonout *j, const struct table_row *r)
{
	const struct scaledobject_spec *spec = &r->o->of.so->spec;
	MEM_AUTO char *text = mem_printf("%s/%s", scaledobject_target_kind(spec), spec->target_name);

	jsonout_text(j, NULL, text);
}

static void put_min(struct jsonout *j, const struct table_row *r)
{
	jsonout_int(j, NULL, scaledobject_min(&r->o->of.so->spec));
}

static void put_max(struct jsonout *j, const struct table_row *r)
{
	jsonout_int(j, NULL, scaledobject_hpa_max(&r->o->of.so->spec));
}

static void put_current(struct jsonout *j, const struct table_row *r)
{
	jsonout_int_known(j, NULL, r->target, r->target ? r->target->replicas : 0);
}

static void put_desired(struct jsonout *j, const struct table_row *r)
{
	jsonout_int_known(j, NULL, r->hpa, r->hpa ? r->hpa->desired_replicas : 0);
}

static void put_fallback(struct jsonout *j, const struct table_row *r)
{
	jsonout_text(j, NULL, r->brief.fallback);
}

static void put_hpa(struct jsonout *j, const struct table_row *r)
{
	jsonout_text(j, NULL, r->hpa ? r->hpa->meta.name : NULL);
}

/* ---- Of a ScaledJob ---- */

static void put_job_min(struct jsonout *j, const struct table_row *r)
{
	jsonout_int(j, NULL, scaledjob_min(&r->o->of.sj->spec));
}

static void put_job_max(struct jsonout *j, const struct table_row *r)
{
	const struct scaledjob_spec *spec = &r->o->of.sj->spec;

	jsonout_int(j, NULL, (int64_t)scaledjob_min(spec) + scaledjob_max(spec));
}

static void put_running(struct jsonout *j, const struct table_row *r)
{
	jsonout_int_known(j, NULL, r->tally_known, (int64_t)r->tally.running);
}

static void put_strategy(struct jsonout *j, const struct table_row *r)
{
	const char *strategy = r->o->of.sj->spec.strategy;

	jsonout_text(j, NULL, strategy ? strategy : "default");
}

static void put_complete(struct jsonout *j, const struct table_row *r)
{
	jsonout_int_known(j, NULL, r->tally_known, (int64_t)r->tally.complete);
}

static void put_failed(struct jsonout *j, const struct table_row *r)
{
	jsonout_int_known(j, NULL, r->tally_known, (int64_t)r->tally.failed);
}

/* ---- The columns ---- */

#define TEXT   "string", ""
#define NUMBER "integer", "int32"

static const struct table_column {
	const char *name, *type, *format;
	int priority;
	const char *description;
	void (*put)(struct jsonout *j, const struct table_row *r);
} object_columns[] = {
	{ "Name", "string", "name", 0, "Name of the ScaledObject.", put_name },
	{ "Target", TEXT, 0, "Kind and name of what it scales.", put_target },
	{ "Min", NUMBER, 0, "Least replicas while a trigger is active or there is no idle number.", put_min },
	{ "Max", NUMBER, 0, "Most replicas.", put_max },
	{ "Current", NUMBER, 0, "Replicas that the target has.", put_current },
	{ "Desired", NUMBER, 0, "Replicas that the HorizontalPodAutoscaler wants.", put_desired },
	{ "Ready", TEXT, 0, "Status of the condition Ready.", put_ready },
	{ "Active", TEXT, 0, "Status of the condition Active.", put_active },
	{ "Paused", TEXT, 0, "True, ScaleIn, ScaleOut or False, by annotations.", put_paused },
	{ "Fallback", TEXT, 1, "Status of the condition Fallback.", put_fallback },
	{ "Triggers", TEXT, 1, "Types of its triggers.", put_triggers },
	{ "HPA", TEXT, 1, "Name of its HorizontalPodAutoscaler.", put_hpa },
	{ "Rule", TEXT, 1, "Name of the rule that the newest decision followed.", put_rule },
	{ "Reason", TEXT, 0, "Why the replicas are what they are, or what is wrong.", put_reason },
	{ 0 },
}, job_columns[] = {
	{ "Name", "string", "name", 0, "Name of the ScaledJob.", put_name },
	{ "Min", NUMBER, 0, "Jobs that run always.", put_job_min },
	{ "Max", NUMBER, 0, "Most Jobs that run.", put_job_max },
	{ "Running", NUMBER, 0, "Jobs that run.", put_running },
	{ "Ready", TEXT, 0, "Status of the condition Ready.", put_ready },
	{ "Active", TEXT, 0, "Status of the condition Active.", put_active },
	{ "Paused", TEXT, 0, "True or False, by annotation.", put_paused },
	{ "Strategy", TEXT, 1, "The scaling strategy.", put_strategy },
	{ "Complete", NUMBER, 1, "Jobs that are kept and succeeded.", put_complete },
	{ "Failed", NUMBER, 1, "Jobs that are kept and failed.", put_failed },
	{ "Triggers", TEXT, 1, "Types of its triggers.", put_triggers },
	{ "Rule", TEXT, 1, "Name of the rule that the newest decision followed.", put_rule },
	{ "Reason", TEXT, 0, "Why so many Jobs were created, or what is wrong.", put_reason },
	{ 0 },
};

static const struct table_column *columns_of(enum scaled_kind kind)
{
	return kind == SCALED_JOB ? job_columns : object_columns;
}

void insighttable_columns(struct jsonout *j, enum scaled_kind kind)
{
	jsonout_array(j, "columnDefinitions");
	for (const struct table_column *c = columns_of(kind); c->name; c++) {
		jsonout_object(j, NULL);
		jsonout_text(j, "name", c->name);
		jsonout_text(j, "type", c->type);
		jsonout_text(j, "format", c->format);
		jsonout_text(j, "description", c->description);
		jsonout_int(j, "priority", c->priority);
		jsonout_end_object(j);
	}
	jsonout_end_array(j);
}

void insighttable_cells(struct jsonout *j, const struct cache *cache, const struct object *o)
{
	struct table_row row = { .o = o };
	const char *trouble;

	explain_brief(cache, o, &row.brief);
	if (o->kind == SCALED_JOB) {
		row.tally_known = explainjob_tally(cache, o, &row.tally, &trouble);
	} else {
		row.hpa = store_hpa_named(cache->store, o->of.so);
		targets_get(o, &row.target);
	}
	jsonout_array(j, "cells");
	for (const struct table_column *c = columns_of(o->kind); c->name; c++)
		c->put(j, &row);
	jsonout_end_array(j);
}
