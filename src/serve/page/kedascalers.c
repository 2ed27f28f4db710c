/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/page/kedascalers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exposition.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/shares.h"
#include "cache/survey.h"
#include "serve/parts.h"

const char *const kedascalers_labels[] = { "namespace", "metric", "scaledObject", "scaler", "triggerIndex", "type",
	NULL };

const char *kedascalers_name(const struct scaler *scaler)
{
	return scaler->trigger_name ? scaler->trigger_name : scaler->type->go_name;
}

/* ---- The newest answers ---- */

struct sample { /* texts are borrowed until the loop turns */
	const char *namespace_, *name, *metric, *scaler;
	enum scaled_kind kind;
	int index;
	struct reading reading;
	bool has_reading;   /* not for cpu and memory triggers of a ScaledObject, which KEDA calls active */
	int64_t latency_ms; /* -1: unknown */
};

/*
 * Names in specs are as long as an object may be: one namespace's must not use up the page. What
 * exceeds its share is left out and logged.
 */
#define SAMPLES_BYTES_MAX (16 << 20)
#define SAMPLES_BYTES_FEW (64 << 10)
#define SAMPLE_BYTES      512 /* of the three lines, without names */

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

static struct sample sample_of(const struct scaled *of, const struct scaler *scaler)
{
	return (struct sample){ of->meta->namespace_, of->meta->name, scaler->metric_name, kedascalers_name(scaler),
		of->kind, scaler->index, { 0, true }, false, -1 };
}

/* The values of fallback, which the HPA gets while the sources fail. */
static void on_fallen_back(void *arg, const struct survey_result *result)
{
	for (size_t i = 0; !result->err && i < result->count; i++) {
		const struct verdict_trigger *t = &result->triggers[i];
		struct sample sample = sample_of(&result->of, result->scalers[i]);

		if (!t->falling_back || t->fallback_replicas < 0)
			continue;
		sample.reading = t->reading;
		sample.has_reading = true;
		add_sample(arg, &sample);
	}
}

static bool has_fallback(const struct object *o)
{
	return o->kind == SCALED_OBJECT && o->of.so->spec.fallback;
}

/* False: its source gave no answer. */
static bool add_scaler(struct samples *all, const struct object *o, const struct scaler *scaler)
{
	struct sample sample = sample_of(&o->of, scaler);
	struct answer answer;

	if (scaler->question) {
		if (readings_peek(all->serve->cache->readings, scaler->question, INT64_MAX, &answer, NULL) !=
			READINGS_ANSWER)
			return false;
		sample.reading = scaler_judge(scaler, &answer);
		sample.has_reading = true;
		sample.latency_ms = answer.answered_at_ms - answer.asked_at_ms;
	} else if (o->kind == SCALED_JOB) {
		return true; /* it is not read, and no Job is created for it */
	}
	add_sample(all, &sample);
	return true;
}

static void on_composite(void *arg, const struct survey_result *result)
{
	struct samples *all = arg;
	const struct composite *c = result->err ? NULL : result->composite;
	struct sample sample = { .metric = VERDICT_COMPOSITE_NAME,
		.scaler = VERDICT_COMPOSITE_NAME,
		.has_reading = true,
		.latency_ms = -1 };

	if (!c || c->failing)
		return;
	sample.namespace_ = result->of.meta->namespace_;
	sample.name = result->of.meta->name;
	sample.reading = (struct reading){ c->value, c->active };
	add_sample(all, &sample);
}

static void on_scaled(void *arg, struct object *o)
{
	struct samples *all = arg;
	struct cache *cache = all->serve->cache;
	struct survey_terms terms = { .metric = VERDICT_COMPOSITE_NAME, .max_age_ms = INT64_MAX };
	struct survey_terms every = { .max_age_ms = INT64_MAX };
	struct built built;
	bool answered = true;

	if (scalers_get(cache->scalers, o, &built, NULL))
		return;
	for (size_t i = 0; i < built.count; i++)
		answered &= add_scaler(all, o, &built.list[i]);
	/*
	 * For all objects at once: a thousand failing scalers must not be searched one by one among
	 * a thousand.
	 */
	if (!answered && has_fallback(o))
		survey_peek(cache, o, &every, on_fallen_back, all);
	if (o->kind == SCALED_OBJECT && verdict_has_composite(&o->of.so->spec))
		survey_peek(cache, o, &terms, on_composite, all);
}

/* ---- Shares ---- */

static size_t bytes_of(const struct sample *s)
{
	return SAMPLE_BYTES + 3 * (strlen(s->namespace_) + strlen(s->name) + strlen(s->metric) + strlen(s->scaler));
}

static size_t left_out(struct samples *all)
{
	struct shares shares = { .total = SAMPLES_BYTES_MAX, .few = SAMPLES_BYTES_FEW };
	MEM_AUTO struct shares_hold *holds = mem_array(all->count + 1, sizeof(*holds));
	size_t kept = 0, before = all->count;

	for (size_t i = 0; i < before; i++)
		if (shares_take(&shares, &holds[kept], all->list[i].namespace_, bytes_of(&all->list[i])))
			all->list[kept++] = all->list[i];
	for (size_t i = 0; i < kept; i++)
		shares_give(&holds[i], holds[i].has);
	all->count = kept;
	return before - kept;
}

static void fit(struct samples *all)
{
	static size_t told;
	size_t bytes = 0, without = 0;

	for (size_t i = 0; i < all->count; i++)
		bytes += bytes_of(&all->list[i]);
	if (bytes > SAMPLES_BYTES_MAX)
		without = left_out(all);
	if (without != told && without > 0)
		log_warn("metrics",
			"the readings of %zu triggers are left out: their namespaces' names are too long for the page",
			without);
	told = without;
}

/* ---- The metrics ---- */

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
	exposition_sample(out, name, kedascalers_labels,
		(const char *const[]){ s->namespace_, s->metric, s->name, s->scaler, index, scaled_kind_word(s->kind) },
		value);
}

void kedascalers_write(const struct serve *s, struct buf *out)
{
	static const struct {
		const char *name, *help;
		bool (*of)(const struct sample *s, double *out);
	} families[] = {
		{ "keda_scaler_metrics_value",
			"The metric's value for the HorizontalPodAutoscaler or the number of Jobs, from the source's "
			"newest answer or from fallback.",
			value_of },
		{ "keda_scaler_active",
			"1 when that answer makes the trigger active; cpu and memory triggers always are.",
			activity_of },
		{ "keda_scaler_metrics_latency_seconds", "How long the source took for its newest answer.",
			latency_of },
	};
	struct samples all = { .serve = s };
	double value;

	store_each_object(s->cache->store, on_scaled, &all);
	fit(&all);
	for (size_t i = 0; i < MEM_COUNT(families); i++) {
		exposition_family(out, families[i].name, "gauge", families[i].help);
		for (size_t j = 0; j < all.count; j++)
			if (families[i].of(&all.list[j], &value))
				write_sample(&all.list[j], families[i].name, value, out);
	}
	free(all.list);
}
