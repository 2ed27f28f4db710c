/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/page/kedametrics.h"

#include <stdlib.h>
#include <string.h>

#include "base/exposition.h"
#include "base/hash.h"
#include "base/mem.h"
#include "decide/annotations.h"
#include "scalers/scaler.h"
#include "serve/machine.h"
#include "serve/page/kedascalers.h"
#include "serve/parts.h"

static const char *const object_labels[] = { "namespace", "scaledObject", NULL },
			 *const job_labels[] = { "namespace", "scaledJob", NULL };

static void on_change(void *arg, struct object *o, unsigned changes)
{
	struct serve *s = arg;
	const char *name;
	char *namespace_;

	if (!(changes & OBJECT_GONE))
		return;
	name = strchr(o->path, '/') + 1;
	namespace_ = mem_dupn(o->path, (size_t)(name - 1 - o->path));
	/* Counters of the other kind with the same name start anew, as after a restart. */
	counters_drop(s->metric_errors, "namespace", namespace_, "scaledObject", name);
	counters_remove(o->kind == SCALED_JOB ? s->job_errors : s->object_errors,
		(const char *const[]){ namespace_, name });
	free(namespace_);
}

void kedametrics_declare(struct serve *s)
{
	struct counters *c = s->cache->counters;

	s->metric_errors = counters_declare(c, COUNTERS_COUNTER, "keda_scaler_detail_errors_total",
		"Failed readings of metrics, by trigger.", kedascalers_labels);
	s->object_errors = counters_declare(c, COUNTERS_COUNTER, "keda_scaled_object_errors_total",
		"Failures of a ScaledObject's triggers.", object_labels);
	s->job_errors = counters_declare(c, COUNTERS_COUNTER, "keda_scaled_job_errors_total",
		"Failures of a ScaledJob's triggers.", job_labels);
	cache_listen(s->cache, &(struct store_events){ .on_object = on_change }, s);
}

/* ---- Paused ---- */

static void on_paused(void *arg, struct object *o)
{
	struct buf *out = arg;
	struct annotations d;

	if (!o->of.so || annotations_read(o->of.so, &d, NULL))
		return; /* the condition Ready reports what is wrong */
	exposition_sample(out, "keda_scaled_object_paused", object_labels,
		(const char *const[]){ o->of.meta->namespace_, o->of.meta->name }, d.paused);
}

static void on_paused_job(void *arg, struct object *o)
{
	struct buf *out = arg;
	bool paused;

	if (!o->of.sj || annotations_read_paused(&o->of.meta->annotations, &paused, NULL))
		return; /* as above */
	exposition_sample(out, "kscaled_scaled_job_paused", job_labels,
		(const char *const[]){ o->of.meta->namespace_, o->of.meta->name }, paused);
}

static void write_paused(const struct serve *s, struct buf *out)
{
	exposition_family(out, "keda_scaled_object_paused", "gauge", "1 while annotations pause the object.");
	store_each_object(s->cache->store, on_paused, out);
	exposition_family(out, "kscaled_scaled_job_paused", "gauge",
		"1 while an annotation pauses the ScaledJob; KEDA has no such metric.");
	store_each_object(s->cache->store, on_paused_job, out);
}

/* ---- Counts ---- */

struct tally {
	const char *name; /* borrowed from the store */
	unsigned long count;
	UT_hash_handle hh;
};

enum counted { /* by namespace; triggers by type */
	COUNTED_OBJECTS,
	COUNTED_JOBS,
	COUNTED_AUTHENTICATIONS,
	COUNTED_CLUSTER_AUTHENTICATIONS,
	COUNTED_TRIGGERS,
	COUNTED
};

static void tally_add(struct tally **all, const char *name)
{
	struct tally *t;

	HASH_FIND_STR(*all, name, t);
	if (!t) {
		t = mem_zalloc(sizeof(*t));
		t->name = name;
		HASH_ADD_KEYPTR(hh, *all, t->name, strlen(t->name), t);
	}
	t->count++;
}

static void on_counted(void *arg, struct object *o)
{
	struct tally **all = arg;
	const struct scaled *of = &o->of;

	tally_add(&all[of->kind == SCALED_JOB ? COUNTED_JOBS : COUNTED_OBJECTS], of->meta->namespace_);
	/*
	 * A trigger of an object whose spec is refused may have no type, or any text as its type.
	 */
	for (size_t i = 0; i < of->trigger_count; i++)
		if (of->triggers[i].type)
			tally_add(&all[COUNTED_TRIGGERS],
				scaler_type_find(of->triggers[i].type) ? of->triggers[i].type : "unknown");
}

static void on_authentication(void *arg, const struct triggerauth *t)
{
	struct tally **all = arg;

	/* KEDA counts objects without a namespace under "default". */
	if (*t->meta.namespace_)
		tally_add(&all[COUNTED_AUTHENTICATIONS], t->meta.namespace_);
	else
		tally_add(&all[COUNTED_CLUSTER_AUTHENTICATIONS], "default");
}

static void tallies_free(struct tally **all)
{
	struct tally *t, *next;

	HASH_ITER (hh, *all, t, next) {
		HASH_DEL(*all, t);
		free(t);
	}
}

static void write_registered(const struct serve *s, struct buf *out)
{
	static const char *const resource_labels[] = { "type", "namespace", NULL },
				 *const trigger_labels[] = { "type", NULL };
	static const char *const resources[] = { [COUNTED_OBJECTS] = "scaled_object",
		[COUNTED_JOBS] = "scaled_job",
		[COUNTED_AUTHENTICATIONS] = "trigger_authentication",
		[COUNTED_CLUSTER_AUTHENTICATIONS] = "cluster_trigger_authentication" };
	struct tally *all[COUNTED] = { NULL };

	store_each_object(s->cache->store, on_counted, all);
	store_each_triggerauth(s->cache->store, on_authentication, all);
	exposition_family(out, "keda_resource_registered_total", "gauge", "Objects known, by type and namespace.");
	for (size_t i = 0; i < MEM_COUNT(resources); i++)
		for (const struct tally *t = all[i]; t; t = t->hh.next)
			exposition_sample(out, "keda_resource_registered_total", resource_labels,
				(const char *const[]){ resources[i], t->name }, (double)t->count);
	exposition_family(out, "keda_trigger_registered_total", "gauge", "Triggers known, by type.");
	for (const struct tally *t = all[COUNTED_TRIGGERS]; t; t = t->hh.next)
		exposition_sample(out, "keda_trigger_registered_total", trigger_labels,
			(const char *const[]){ t->name }, (double)t->count);
	for (size_t i = 0; i < COUNTED; i++)
		tallies_free(&all[i]);
}

static void write_build(const struct serve *s, struct buf *out)
{
	static const char *const labels[] = { "version", "git_commit", "goversion", "goos", "goarch", NULL };

	exposition_family(out, "keda_build_info", "gauge",
		"Build information; the Go labels are kept for KEDA's dashboards.");
	exposition_sample(out, "keda_build_info", labels,
		(const char *const[]){ s->version, "", "", "linux", MACHINE_ARCHITECTURE }, 1);
}

void kedametrics_write(const struct serve *s, struct buf *out)
{
	write_build(s, out);
	write_registered(s, out);
	write_paused(s, out);
	kedascalers_write(s, out);
}
