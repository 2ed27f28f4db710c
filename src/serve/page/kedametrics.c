/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/page/kedametrics.h"

#include <stdlib.h>
#include <string.h>

#include "base/exposition.h"
#include "base/hash.h"
#include "base/mem.h"
#include "decide/annotations.h"
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
	/* One of the other kind that has the same name begins anew, as after a restart. */
	counters_drop(s->metric_errors, "namespace", namespace_, "scaledObject", name);
	counters_remove(o->kind == SCALED_JOB ? s->job_errors : s->object_errors,
		(const char *const[]){ namespace_, name });
	free(namespace_);
}

void kedametrics_declare(struct serve *s)
{
	struct counters *c = s->cache->counters;

	s->metric_errors = counters_declare(c, COUNTERS_COUNTER, "keda_scaler_detail_errors_total",
		"Metric reads that a source failed, by trigger.", kedascalers_labels);
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
		return; /* what it means to say is in Ready */
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

/* ---- How many of what ---- */

struct tally {
	const char *name; /* borrowed from the store */
	unsigned long count;
	UT_hash_handle hh;
};

struct tallies { /* by namespace; triggers by type */
	struct tally *objects, *jobs, *triggers, *authentications, *cluster_authentications;
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
	struct tallies *all = arg;
	const struct scaled *of = &o->of;

	tally_add(of->kind == SCALED_JOB ? &all->jobs : &all->objects, of->meta->namespace_);
	/* An object that is refused may lack what every other has. */
	for (size_t i = 0; i < of->trigger_count; i++)
		if (of->triggers[i].type)
			tally_add(&all->triggers, of->triggers[i].type);
}

static void on_authentication(void *arg, const struct triggerauth *t)
{
	struct tallies *all = arg;

	/* KEDA counts what stands in no namespace under "default". */
	if (*t->meta.namespace_)
		tally_add(&all->authentications, t->meta.namespace_);
	else
		tally_add(&all->cluster_authentications, "default");
}

static void tallies_free(struct tally **all)
{
	struct tally *t, *next;

	HASH_ITER (hh, *all, t, next) {
		HASH_DEL(*all, t);
		free(t);
	}
}

static void write_resources(const struct tally *all, const char *type, struct buf *out)
{
	static const char *const labels[] = { "type", "namespace", NULL };

	for (const struct tally *t = all; t; t = t->hh.next)
		exposition_sample(out, "keda_resource_registered_total", labels, (const char *const[]){ type, t->name },
			(double)t->count);
}

static void write_registered(const struct serve *s, struct buf *out)
{
	static const char *const trigger_labels[] = { "type", NULL };
	struct tallies all = { .objects = NULL };

	store_each_object(s->cache->store, on_counted, &all);
	store_each_triggerauth(s->cache->store, on_authentication, &all);
	exposition_family(out, "keda_resource_registered_total", "gauge", "Objects known, by type and namespace.");
	write_resources(all.objects, "scaled_object", out);
	write_resources(all.jobs, "scaled_job", out);
	write_resources(all.authentications, "trigger_authentication", out);
	write_resources(all.cluster_authentications, "cluster_trigger_authentication", out);
	exposition_family(out, "keda_trigger_registered_total", "gauge", "Triggers known, by type.");
	for (struct tally *t = all.triggers; t; t = t->hh.next)
		exposition_sample(out, "keda_trigger_registered_total", trigger_labels,
			(const char *const[]){ t->name }, (double)t->count);
	tallies_free(&all.objects);
	tallies_free(&all.jobs);
	tallies_free(&all.triggers);
	tallies_free(&all.authentications);
	tallies_free(&all.cluster_authentications);
}

static void write_build(const struct serve *s, struct buf *out)
{
	static const char *const labels[] = { "version", "git_commit", "goversion", "goos", "goarch", NULL };

	exposition_family(out, "keda_build_info", "gauge",
		"What this is; the labels that speak of Go are kept for KEDA's dashboards.");
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
