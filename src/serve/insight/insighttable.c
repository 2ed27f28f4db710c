/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/insight/insighttable.h"

#include "base/mem.h"
#include "serve/explain/explain.h"
#include "serve/explain/explainjob.h"

/* ---- Cells, in the order of the columns ---- */

static const char *paused_word(const struct annotations *a)
{
	if (a->paused || (a->scale_in_paused && a->scale_out_paused))
		return "True";
	return a->scale_in_paused ? "ScaleIn" : a->scale_out_paused ? "ScaleOut" : "False";
}

static void put_object(struct jsonout *j, const struct cache *cache, const struct object *o,
	const struct explain_brief *brief)
{
	const struct scaledobject_spec *spec = &o->of.so->spec;
	const struct hpa *hpa = store_hpa_named(cache->store, o->of.so);
	const struct workload *workload = NULL;
	MEM_AUTO char *target = mem_printf("%s/%s", scaledobject_target_kind(spec), spec->target_name);

	targets_get(o, &workload);
	jsonout_text(j, NULL, o->of.meta->name);
	jsonout_text(j, NULL, target);
	jsonout_int(j, NULL, scaledobject_min(spec));
	jsonout_int(j, NULL, scaledobject_hpa_max(spec));
	jsonout_int_known(j, NULL, workload, workload ? workload->replicas : 0);
	jsonout_int_known(j, NULL, hpa, hpa ? hpa->desired_replicas : 0);
	jsonout_text(j, NULL, brief->ready);
	jsonout_text(j, NULL, brief->active);
	jsonout_text(j, NULL, paused_word(&brief->annotations));
	jsonout_text(j, NULL, brief->fallback);
	jsonout_text(j, NULL, o->of.status->triggers_types);
	jsonout_text(j, NULL, hpa ? hpa->meta.name : NULL);
	jsonout_text(j, NULL, brief->rule);
	jsonout_text(j, NULL, brief->reason);
}

static void put_job(struct jsonout *j, const struct cache *cache, const struct object *o,
	const struct explain_brief *brief)
{
	const struct scaledjob_spec *spec = &o->of.sj->spec;
	int64_t min = scaledjob_min(spec);
	struct jobs_tally tally;
	const char *trouble;
	bool known = explainjob_tally(cache, o, &tally, &trouble);

	jsonout_text(j, NULL, o->of.meta->name);
	jsonout_int(j, NULL, min);
	jsonout_int(j, NULL, min + scaledjob_max(spec));
	jsonout_int_known(j, NULL, known, (int64_t)tally.running);
	jsonout_text(j, NULL, brief->ready);
	jsonout_text(j, NULL, brief->active);
	jsonout_text(j, NULL, paused_word(&brief->annotations));
	jsonout_text(j, NULL, spec->strategy ? spec->strategy : "default");
	jsonout_int_known(j, NULL, known, (int64_t)tally.complete);
	jsonout_int_known(j, NULL, known, (int64_t)tally.failed);
	jsonout_text(j, NULL, o->of.status->triggers_types);
	jsonout_text(j, NULL, brief->rule);
	jsonout_text(j, NULL, brief->reason);
}

/* ---- The columns ---- */

#define TEXT   "string", ""
#define NUMBER "integer", "int32"

static const struct table_column {
	const char *name, *type, *format;
	int priority;
	const char *description;
} object_columns[] = {
	{ "Name", "string", "name", 0, "Name of the ScaledObject." },
	{ "Target", TEXT, 0, "Kind and name of what it scales." },
	{ "Min", NUMBER, 0, "Minimum of replicas; not while idle with idleReplicaCount." },
	{ "Max", NUMBER, 0, "Maximum of replicas." },
	{ "Current", NUMBER, 0, "Present replicas of the target." },
	{ "Desired", NUMBER, 0, "Replicas that the HorizontalPodAutoscaler wants." },
	{ "Ready", TEXT, 0, "Status of the condition Ready." },
	{ "Active", TEXT, 0, "Status of the condition Active." },
	{ "Paused", TEXT, 0, "True, ScaleIn, ScaleOut or False, by annotations." },
	{ "Fallback", TEXT, 1, "Status of the condition Fallback." },
	{ "Triggers", TEXT, 1, "Types of its triggers." },
	{ "HPA", TEXT, 1, "Name of its HorizontalPodAutoscaler." },
	{ "Rule", TEXT, 1, "Name of the rule that the newest decision followed." },
	{ "Reason", TEXT, 0, "Why the replicas are what they are, or what is wrong." },
	{ 0 },
}, job_columns[] = {
	{ "Name", "string", "name", 0, "Name of the ScaledJob." },
	{ "Min", NUMBER, 0, "Minimum of running Jobs." },
	{ "Max", NUMBER, 0, "Maximum of running Jobs." },
	{ "Running", NUMBER, 0, "Jobs that run." },
	{ "Ready", TEXT, 0, "Status of the condition Ready." },
	{ "Active", TEXT, 0, "Status of the condition Active." },
	{ "Paused", TEXT, 0, "True or False, by annotation." },
	{ "Strategy", TEXT, 1, "The scaling strategy." },
	{ "Complete", NUMBER, 1, "Finished Jobs that succeeded." },
	{ "Failed", NUMBER, 1, "Finished Jobs that failed." },
	{ "Triggers", TEXT, 1, "Types of its triggers." },
	{ "Rule", TEXT, 1, "Name of the rule that the newest decision followed." },
	{ "Reason", TEXT, 0, "Why so many Jobs were created, or what is wrong." },
	{ 0 },
};

void insighttable_columns(struct jsonout *j, enum scaled_kind kind)
{
	jsonout_array(j, "columnDefinitions");
	for (const struct table_column *c = kind == SCALED_JOB ? job_columns : object_columns; c->name; c++) {
		jsonout_object(j, NULL);
		jsonout_text(j, "name", c->name);
		jsonout_text(j, "type", c->type);
		jsonout_text(j, "format", c->format);
		jsonout_text(j, "description", c->description);
		jsonout_int(j, "priority", c->priority);
		jsonout_end(j);
	}
	jsonout_end(j);
}

void insighttable_cells(struct jsonout *j, const struct cache *cache, const struct object *o)
{
	struct explain_brief brief;

	explain_brief(cache, o, &brief);
	jsonout_array(j, "cells");
	if (o->kind == SCALED_JOB)
		put_job(j, cache, o, &brief);
	else
		put_object(j, cache, o, &brief);
	jsonout_end(j);
}
