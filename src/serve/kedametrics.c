/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/kedametrics.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#include "base/mem.h"
#include "serve/exposition.h"
#include "serve/machine.h"
#include "serve/parts.h"

static const char *const scaler_labels[] = { "namespace", "metric", "scaledObject", "scaler", "triggerIndex", "type", NULL };
static const char *const object_labels[] = { "namespace", "scaledObject", NULL };

const char *kedametrics_scaler_label(const struct scaler *scaler)
{
	return scaler->trigger_name ? scaler->trigger_name : scaler->type->go_name;
}

static void on_store(void *arg, enum store_change change, const char *key)
{
	struct serve *s = arg;
	const char *name;
	char *namespace_;

	if (change != STORE_SCALEDOBJECT || store_scaledobject(s->cache->store, key))
		return;
	name = strchr(key, '/') + 1;
	namespace_ = mem_dupn(key, (size_t)(name - 1 - key));
	counters_drop(s->metric_errors, "namespace", namespace_, "scaledObject", name);
	counters_drop(s->object_errors, "namespace", namespace_, "scaledObject", name);
	free(namespace_);
}

void kedametrics_declare(struct serve *s)
{
	struct counters *c = s->cache->counters;

	s->metric_errors = counters_declare(c, COUNTERS_COUNTER, "keda_scaler_detail_errors_total", "Metric reads that a source failed, by trigger.", scaler_labels);
	s->object_errors = counters_declare(c, COUNTERS_COUNTER, "keda_scaled_object_errors_total", "Failures of a ScaledObject's triggers.", object_labels);
	store_listen(s->cache->store, on_store, s);
}

/* --- values: what the HPA is given, of the newest answers ----------------------------------------------------------------------------------------- */

struct sample {
	const char *namespace_, *name; /* borrowed from the store */
	const struct scaler *scaler;   /* borrowed until the loop turns */
	struct reading reading;
	struct answer answer;
};

struct samples {
	const struct serve *serve;
	struct sample *list;
	size_t count, alloc;
};

static void add_sample(struct samples *all, const struct scaledobject *so, const struct scaler *scaler)
{
	struct sample sample = { .namespace_ = so->meta.namespace_, .name = so->meta.name, .scaler = scaler };

	if (readings_peek(all->serve->cache->readings, scaler->question, INT64_MAX, &sample.answer, NULL) != READINGS_ANSWER)
		return;
	sample.reading = scaler_judge(scaler, sample.answer.value);
	if (all->count == all->alloc) {
		all->alloc = all->alloc ? 2 * all->alloc : 64;
		all->list = mem_resize(all->list, all->alloc, sizeof(*all->list));
	}
	all->list[all->count++] = sample;
}

static void on_object(void *arg, const char *key, const struct scaledobject *so)
{
	struct samples *all = arg;
	struct built built;

	if (scalers_get(all->serve->cache->scalers, key, &built, NULL))
		return;
	for (size_t i = 0; i < built.count; i++)
		add_sample(all, so, &built.list[i]);
}

static double value_of(const struct sample *s)
{
	return s->reading.value;
}

static double activity_of(const struct sample *s)
{
	return s->reading.active;
}

static double latency_of(const struct sample *s)
{
	return (double)(s->answer.answered_at_ms - s->answer.asked_at_ms) / 1000;
}

static void write_sample(const struct sample *s, const char *name, double value, struct buf *out)
{
	char index[12];

	snprintf(index, sizeof(index), "%d", s->scaler->index);
	exposition_sample(out, name, scaler_labels, (const char *const[]){ s->namespace_, s->scaler->metric_name, s->name, kedametrics_scaler_label(s->scaler), index, "scaledobject" }, value);
}

static void write_scalers(const struct serve *s, struct buf *out)
{
	static const struct {
		const char *name, *help;
		double (*of)(const struct sample *s);
	} families[] = {
		{ "keda_scaler_metrics_value", "The value for the HorizontalPodAutoscaler of the source's newest answer.", value_of },
		{ "keda_scaler_active", "1 when that answer makes the trigger active.", activity_of },
		{ "keda_scaler_metrics_latency_seconds", "How long the source took for it.", latency_of },
	};
	struct samples all = { .serve = s };

	store_each_scaledobject(s->cache->store, on_object, &all);
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		exposition_family(out, families[i].name, "gauge", families[i].help);
		for (size_t j = 0; j < all.count; j++)
			write_sample(&all.list[j], families[i].name, families[i].of(&all.list[j]), out);
	}
	free(all.list);
}

/* --- how many of what --------------------------------------------------------------------------------------------------------------------------------- */

struct tally {
	const char *name; /* borrowed from the store */
	unsigned long count;
	UT_hash_handle hh;
};

struct tallies {
	struct tally *namespaces, *triggers;
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

static void on_counted(void *arg, const char *key, const struct scaledobject *so)
{
	struct tallies *all = arg;

	(void)key;
	tally_add(&all->namespaces, so->meta.namespace_);
	/* An object that is refused may lack what every other has. */
	for (size_t i = 0; i < so->spec.trigger_count; i++)
		if (so->spec.triggers[i].type)
			tally_add(&all->triggers, so->spec.triggers[i].type);
}

static void tallies_free(struct tally **all)
{
	struct tally *t, *next;

	HASH_ITER(hh, *all, t, next) {
		HASH_DEL(*all, t);
		free(t);
	}
}

static void write_registered(const struct serve *s, struct buf *out)
{
	static const char *const resource_labels[] = { "type", "namespace", NULL };
	static const char *const trigger_labels[] = { "type", NULL };
	struct tallies all = { NULL, NULL };

	store_each_scaledobject(s->cache->store, on_counted, &all);
	exposition_family(out, "keda_resource_registered_total", "gauge", "Objects known, by type and namespace.");
	for (struct tally *t = all.namespaces; t; t = t->hh.next)
		exposition_sample(out, "keda_resource_registered_total", resource_labels, (const char *const[]){ "scaled_object", t->name }, (double)t->count);
	exposition_family(out, "keda_trigger_registered_total", "gauge", "Triggers known, by type.");
	for (struct tally *t = all.triggers; t; t = t->hh.next)
		exposition_sample(out, "keda_trigger_registered_total", trigger_labels, (const char *const[]){ t->name }, (double)t->count);
	tallies_free(&all.namespaces);
	tallies_free(&all.triggers);
}

static void write_build(const struct serve *s, struct buf *out)
{
	static const char *const labels[] = { "version", "git_commit", "goversion", "goos", "goarch", NULL };

	exposition_family(out, "keda_build_info", "gauge", "What this is; the labels that speak of Go are kept for KEDA's dashboards.");
	exposition_sample(out, "keda_build_info", labels, (const char *const[]){ s->version, "", "", "linux", MACHINE_ARCHITECTURE }, 1);
}

void kedametrics_write(const struct serve *s, struct buf *out)
{
	write_build(s, out);
	write_registered(s, out);
	write_scalers(s, out);
}
