/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/kedametrics.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#include "base/mem.h"
#include "cache/survey.h"
#include "decide/directives.h"
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
	counters_remove(s->object_errors, (const char *const[]){ namespace_, name });
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

struct sample { /* texts are borrowed until the loop turns */
	const char *namespace_, *name, *metric, *scaler;
	int index;
	struct reading reading;
	bool has_reading;              /* cpu and memory have none of ours, but KEDA calls them active */
	int64_t latency_ms;            /* -1: unknown */
};

struct samples {
	const struct serve *serve;
	struct sample *list;
	size_t count, alloc;
};

static void add_sample(struct samples *all, const struct sample *sample)
{
	if (all->count == all->alloc) {
		all->alloc = all->alloc ? 2 * all->alloc : 64;
		all->list = mem_resize(all->list, all->alloc, sizeof(*all->list));
	}
	all->list[all->count++] = *sample;
}

static void on_fallen_back(void *arg, const struct survey_result *result)
{
	struct sample *sample = arg;

	for (size_t i = 0; !result->err && i < result->count; i++) {
		const struct scale_trigger *t = &result->triggers[i];

		if (t->falling_back && t->fallback_replicas >= 0 && strcmp(t->metric_name, sample->metric) == 0) {
			sample->reading = t->reading;
			sample->has_reading = true;
		}
	}
}

/* What fallback gives the HPA in the place of a source that fails. */
static bool fallen_back(struct cache *cache, const char *key, struct sample *sample)
{
	struct survey_terms terms = { .metric = sample->metric, .max_age_ms = INT64_MAX };

	return survey_peek(cache, key, &terms, on_fallen_back, sample) && sample->has_reading;
}

static void add_scaler(struct samples *all, const char *key, const struct scaledobject *so, const struct scaler *scaler)
{
	struct sample sample = { so->meta.namespace_, so->meta.name, scaler->metric_name, kedametrics_scaler_label(scaler), scaler->index, { 0, true }, false, -1 };
	struct answer answer;

	if (scaler->question) {
		if (readings_peek(all->serve->cache->readings, scaler->question, INT64_MAX, &answer, NULL) == READINGS_ANSWER) {
			sample.reading = scaler_judge(scaler, &answer);
			sample.has_reading = true;
			sample.latency_ms = answer.answered_at_ms - answer.asked_at_ms;
		} else if (!so->spec.fallback || !fallen_back(all->serve->cache, key, &sample)) {
			return;
		}
	}
	add_sample(all, &sample);
}

static void on_composite(void *arg, const struct survey_result *result)
{
	struct samples *all = arg;
	const struct composite *c = result->err ? NULL : result->composite;
	struct sample sample = { .metric = VERDICT_COMPOSITE_NAME, .scaler = VERDICT_COMPOSITE_NAME, .has_reading = true, .latency_ms = -1 };

	if (!c || c->failing)
		return;
	sample.namespace_ = result->so->meta.namespace_;
	sample.name = result->so->meta.name;
	sample.reading = (struct reading){ c->value, c->active };
	add_sample(all, &sample);
}

static void on_object(void *arg, const char *key, const struct scaledobject *so)
{
	struct samples *all = arg;
	struct cache *cache = all->serve->cache;
	struct survey_terms terms = { .metric = VERDICT_COMPOSITE_NAME, .max_age_ms = INT64_MAX };
	struct built built;

	if (scalers_get(cache->scalers, key, &built, NULL))
		return;
	for (size_t i = 0; i < built.count; i++)
		add_scaler(all, key, so, &built.list[i]);
	if (verdict_has_composite(&so->spec))
		survey_peek(cache, key, &terms, on_composite, all);
}

static bool value_of(const struct sample *s, double *out)
{
	*out = s->reading.value;
	return s->has_reading;
}

static bool activity_of(const struct sample *s, double *out)
{
	*out = s->reading.active;
	return true;
}

static bool latency_of(const struct sample *s, double *out)
{
	*out = (double)s->latency_ms / 1000;
	return s->latency_ms >= 0;
}

static void write_sample(const struct sample *s, const char *name, double value, struct buf *out)
{
	char index[12];

	snprintf(index, sizeof(index), "%d", s->index);
	exposition_sample(out, name, scaler_labels, (const char *const[]){ s->namespace_, s->metric, s->name, s->scaler, index, "scaledobject" }, value);
}

static void write_scalers(const struct serve *s, struct buf *out)
{
	static const struct {
		const char *name, *help;
		bool (*of)(const struct sample *s, double *out);
	} families[] = {
		{ "keda_scaler_metrics_value", "The value for the HorizontalPodAutoscaler, of the source's newest answer or of fallback.", value_of },
		{ "keda_scaler_active", "1 when that answer makes the trigger active; cpu and memory triggers always are.", activity_of },
		{ "keda_scaler_metrics_latency_seconds", "How long the source took for it.", latency_of },
	};
	struct samples all = { .serve = s };
	double value;

	store_each_scaledobject(s->cache->store, on_object, &all);
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		exposition_family(out, families[i].name, "gauge", families[i].help);
		for (size_t j = 0; j < all.count; j++)
			if (families[i].of(&all.list[j], &value))
				write_sample(&all.list[j], families[i].name, value, out);
	}
	free(all.list);
}

/* --- paused ------------------------------------------------------------------------------------------------------------------------------------------- */

static void on_paused(void *arg, const char *key, const struct scaledobject *so)
{
	struct buf *out = arg;
	struct directives d;

	(void)key;
	if (directives_read(so, &d, NULL))
		return; /* what it means to say is in Ready */
	exposition_sample(out, "keda_scaled_object_paused", object_labels, (const char *const[]){ so->meta.namespace_, so->meta.name }, d.paused);
}

static void write_paused(const struct serve *s, struct buf *out)
{
	exposition_family(out, "keda_scaled_object_paused", "gauge", "1 while annotations pause the object.");
	store_each_scaledobject(s->cache->store, on_paused, out);
}

/* --- how many of what --------------------------------------------------------------------------------------------------------------------------------- */

struct tally {
	const char *name; /* borrowed from the store */
	unsigned long count;
	UT_hash_handle hh;
};

struct tallies {
	struct tally *namespaces, *triggers, *authentications, *cluster_authentications;
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

static void on_authentication(void *arg, const char *key, const struct triggerauth *t)
{
	struct tallies *all = arg;

	(void)key;
	/* KEDA counts what stands in no namespace under "default". */
	if (*t->meta.namespace_)
		tally_add(&all->authentications, t->meta.namespace_);
	else
		tally_add(&all->cluster_authentications, "default");
}

static void tallies_free(struct tally **all)
{
	struct tally *t, *next;

	HASH_ITER(hh, *all, t, next) {
		HASH_DEL(*all, t);
		free(t);
	}
}

static void write_resources(const struct tally *all, const char *type, struct buf *out)
{
	static const char *const labels[] = { "type", "namespace", NULL };

	for (const struct tally *t = all; t; t = t->hh.next)
		exposition_sample(out, "keda_resource_registered_total", labels, (const char *const[]){ type, t->name }, (double)t->count);
}

static void write_registered(const struct serve *s, struct buf *out)
{
	static const char *const trigger_labels[] = { "type", NULL };
	struct tallies all = { .namespaces = NULL };

	store_each_scaledobject(s->cache->store, on_counted, &all);
	store_each_triggerauth(s->cache->store, on_authentication, &all);
	exposition_family(out, "keda_resource_registered_total", "gauge", "Objects known, by type and namespace.");
	write_resources(all.namespaces, "scaled_object", out);
	write_resources(all.authentications, "trigger_authentication", out);
	write_resources(all.cluster_authentications, "cluster_trigger_authentication", out);
	exposition_family(out, "keda_trigger_registered_total", "gauge", "Triggers known, by type.");
	for (struct tally *t = all.triggers; t; t = t->hh.next)
		exposition_sample(out, "keda_trigger_registered_total", trigger_labels, (const char *const[]){ t->name }, (double)t->count);
	tallies_free(&all.namespaces);
	tallies_free(&all.triggers);
	tallies_free(&all.authentications);
	tallies_free(&all.cluster_authentications);
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
	write_paused(s, out);
	write_scalers(s, out);
}
