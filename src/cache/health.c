/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/health.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/*
 * The count during an outage must not depend on the number of readers: the HPA controller asks
 * every 15 s, and a poll or another reader shortly before or after adds nothing. With room for
 * jitter.
 */
#define PACE_MAX_MS 15000
#define PACE_PART   0.9

struct metric {
	char *name;
	int32_t failures;        /* in a row */
	int64_t completed_at_ms; /* of the newest counted completion; 0: from the stored status */
	bool kept;               /* while health_keep looks through them */
};

/* Exists only for objects with present or past failures; healthy ones cost nothing. */
struct failing {
	struct metric *metrics; /* sorted by name */
	size_t count;
};

struct health {
	struct store *store;
	const struct leadership *leadership;
	health_fn fn;
	void *arg;
};

void health_forget_object(struct object *o)
{
	struct failing *f = o->failing;

	if (!f)
		return;
	for (size_t i = 0; i < f->count; i++)
		free(f->metrics[i].name);
	free(f->metrics);
	free(f);
	o->failing = NULL;
}

/* The position of a metric, or where to insert it. */
static size_t place_of(const struct failing *f, const char *name)
{
	size_t low = 0, high = f->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(f->metrics[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct metric *metric_find(const struct failing *f, const char *name)
{
	size_t at = place_of(f, name);

	return at < f->count && strcmp(f->metrics[at].name, name) == 0 ? &f->metrics[at] : NULL;
}

/* Adds a metric that is not in the list. */
static struct metric *metric_add(struct failing *f, const char *name, int32_t failures)
{
	size_t at = place_of(f, name);
	struct metric *m;

	f->metrics = mem_resize(f->metrics, f->count + 1, sizeof(*f->metrics));
	m = &f->metrics[at];
	memmove(m + 1, m, (f->count++ - at) * sizeof(*m));
	*m = (struct metric){ .name = mem_dup(name), .failures = failures };
	return m;
}

/* ---- The stored status ---- */

static int32_t stored_failures(const struct scaledobject_status *status, const char *metric)
{
	const struct metric_state *h = scaledobject_health(status, metric);

	return h && h->failures > 0 ? h->failures : 0;
}

/* Continues from the status that the previous leader, or we before a restart, stored. */
static void take_over(struct object *o)
{
	const struct scaledobject_status *status = o->of.status;
	struct failing *f = o->failing = mem_zalloc(sizeof(*f));

	for (size_t i = 0; i < status->health_count; i++)
		metric_add(f, status->health[i].metric,
			status->health[i].failures > 0 ? status->health[i].failures : 0);
}

/* ---- Counting ---- */

static int64_t pace_ms(const struct object *o)
{
	int64_t ms = (int64_t)o->of.polling_interval_s * 1000;

	return (int64_t)((double)(ms < PACE_MAX_MS ? ms : PACE_MAX_MS) * PACE_PART);
}

int32_t health_note(struct health *h, struct object *o, const char *metric, bool ok, int64_t completed_at_ms)
{
	/* Only a ScaledObject has a threshold. */
	const struct fallback *f = o->of.so ? o->of.so->spec.fallback : NULL;
	struct metric *m;
	int32_t before, after;

	if (!h->leadership->leading || !completed_at_ms)
		return ok ? 0 : health_failures(h, o, metric);
	if (!o->failing && (o->gone || (ok && !o->of.status->health_count)))
		return 0;
	if (!o->failing)
		take_over(o);
	m = metric_find(o->failing, metric);
	if (!m && ok)
		return 0;
	if (!m)
		m = metric_add(o->failing, metric, 0);
	if (completed_at_ms <= m->completed_at_ms)
		return ok ? 0 : m->failures;
	if (!ok && m->failures > 0 && m->completed_at_ms && completed_at_ms - m->completed_at_ms < pace_ms(o))
		return m->failures;
	before = m->failures;
	after = ok ? 0 : before < INT32_MAX ? before + 1 : before;
	m->failures = after;
	m->completed_at_ms = completed_at_ms;
	if (h->fn && f && (before > f->failure_threshold) != (after > f->failure_threshold))
		h->fn(h->arg, o);
	return after;
}

int32_t health_failures(const struct health *h, const struct object *o, const char *metric)
{
	const struct failing *f = h->leadership->leading ? o->failing : NULL;
	const struct metric *m;

	if (!f)
		return o->gone ? 0 : stored_failures(o->of.status, metric);
	m = metric_find(f, metric);
	return m ? m->failures : 0;
}

/* ---- Forgetting ---- */

void health_keep(struct object *o, const struct metric_spec *metrics, size_t count)
{
	struct failing *f = o->failing;
	size_t kept = 0;

	for (size_t i = 0; f && i < count; i++) {
		struct metric *m = metrics[i].kind == METRIC_EXTERNAL ? metric_find(f, metrics[i].name) : NULL;

		if (m)
			m->kept = true;
	}
	for (size_t i = 0; f && i < f->count; i++) {
		if (f->metrics[i].kept)
			f->metrics[kept++] = f->metrics[i];
		else
			free(f->metrics[i].name);
	}
	if (f)
		f->count = kept;
	for (size_t i = 0; i < kept; i++)
		f->metrics[i].kept = false;
}

static void on_each(void *arg, struct object *o)
{
	(void)arg;
	health_forget_object(o);
}

void health_forget(struct health *h)
{
	store_each_object(h->store, on_each, NULL);
}

void health_listen(struct health *h, health_fn fn, void *arg)
{
	h->fn = fn;
	h->arg = arg;
}

struct health *health_new(struct store *store, const struct leadership *leadership)
{
	struct health *h = mem_zalloc(sizeof(*h));

	h->store = store;
	h->leadership = leadership;
	return h;
}

void health_free(struct health *h)
{
	free(h);
}
