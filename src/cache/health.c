/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/health.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

struct metric {
	char *name;
	int32_t failures;        /* in a row */
	int64_t completed_at_ms; /* of the newest completion that was counted; 0: taken over */
};

/* Only of objects that have, or had, something failing: what is well costs nothing. */
struct object {
	char *key, *uid;
	struct metric *metrics;
	size_t count;
	UT_hash_handle hh;
};

struct health {
	struct store *store;
	const struct leadership *leadership;
	struct object *objects;
	health_fn fn;
	void *arg;
};

static void object_free(struct health *h, struct object *o)
{
	HASH_DELETE(hh, h->objects, o);
	for (size_t i = 0; i < o->count; i++)
		free(o->metrics[i].name);
	free(o->metrics);
	free(o->uid);
	free(o->key);
	free(o);
}

static struct object *object_find(const struct health *h, const char *key)
{
	struct object *o;

	HASH_FIND_STR(h->objects, key, o);
	return o;
}

static struct metric *metric_find(const struct object *o, const char *name)
{
	for (size_t i = 0; i < o->count; i++)
		if (strcmp(o->metrics[i].name, name) == 0)
			return &o->metrics[i];
	return NULL;
}

static struct metric *metric_add(struct object *o, const char *name, int32_t failures)
{
	o->metrics = mem_resize(o->metrics, o->count + 1, sizeof(*o->metrics));
	o->metrics[o->count] = (struct metric){ .name = mem_dup(name), .failures = failures };
	return &o->metrics[o->count++];
}

/* ---- As it is stored ---- */

static int32_t stored_failures(const struct scaledobject_status *status, const char *metric)
{
	for (size_t i = 0; i < status->health_count; i++)
		if (strcmp(status->health[i].metric, metric) == 0)
			return status->health[i].failures > 0 ? status->health[i].failures : 0;
	return 0;
}

/* Where the leader before us, or we before a restart, left off. */
static struct object *take_over(struct health *h, const char *key, const struct scaled *of)
{
	struct object *o = mem_zalloc(sizeof(*o));
	const struct scaledobject_status *status = of->status;

	o->key = mem_dup(key);
	o->uid = mem_dup(of->meta->uid);
	for (size_t i = 0; i < status->health_count; i++)
		if (!metric_find(o, status->health[i].metric))
			metric_add(o, status->health[i].metric, stored_failures(status, status->health[i].metric));
	HASH_ADD_KEYPTR(hh, h->objects, o->key, strlen(o->key), o);
	return o;
}

/* ---- Counting ---- */

/* Only a ScaledObject has a threshold. */
static void tell_if_passed(struct health *h, const struct scaledobject *so, const char *key, int32_t before,
	int32_t after)
{
	const struct fallback *f = so ? so->spec.fallback : NULL;

	if (h->fn && f && (before > f->failure_threshold) != (after > f->failure_threshold))
		h->fn(h->arg, key);
}

static int32_t count(struct health *h, struct object *o, const char *name, bool ok, int64_t completed_at_ms)
{
	struct metric *m = metric_find(o, name);
	int32_t before, after;

	if (!m && ok)
		return 0;
	if (!m)
		m = metric_add(o, name, 0);
	if (completed_at_ms <= m->completed_at_ms)
		return ok ? 0 : m->failures;
	before = m->failures;
	after = ok ? 0 : before < INT32_MAX ? before + 1 : before;
	m->failures = after;
	m->completed_at_ms = completed_at_ms;
	tell_if_passed(h, store_scaledobject(h->store, o->key), o->key, before, after);
	return after;
}

int32_t health_note(struct health *h, const char *key, const char *metric, bool ok, int64_t completed_at_ms)
{
	struct object *o;
	struct scaled of;

	if (!h->leadership->leading || !completed_at_ms)
		return ok ? 0 : health_failures(h, key, metric);
	o = object_find(h, key);
	if (!o) {
		if (!store_scaled(h->store, key, &of) || (ok && !of.status->health_count))
			return 0;
		o = take_over(h, key, &of);
	}
	return count(h, o, metric, ok, completed_at_ms);
}

int32_t health_failures(const struct health *h, const char *key, const char *metric)
{
	const struct object *o = h->leadership->leading ? object_find(h, key) : NULL;
	const struct metric *m;
	struct scaled of;

	if (!o)
		return store_scaled(h->store, key, &of) ? stored_failures(of.status, metric) : 0;
	m = metric_find(o, metric);
	return m ? m->failures : 0;
}

/* ---- Forgetting ---- */

static bool is_metric(const struct metric_spec *metrics, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (metrics[i].kind == METRIC_EXTERNAL && strcmp(metrics[i].name, name) == 0)
			return true;
	return false;
}

void health_keep(struct health *h, const char *key, const struct metric_spec *metrics, size_t count)
{
	struct object *o = object_find(h, key);
	size_t kept = 0;

	for (size_t i = 0; o && i < o->count; i++) {
		if (is_metric(metrics, count, o->metrics[i].name))
			o->metrics[kept++] = o->metrics[i];
		else
			free(o->metrics[i].name);
	}
	if (o)
		o->count = kept;
}

void health_forget(struct health *h)
{
	struct object *o, *next;

	HASH_ITER (hh, h->objects, o, next)
		object_free(h, o);
}

static void on_store_change(void *arg, unsigned changes, const char *key)
{
	struct health *h = arg;
	struct object *o = changes & (STORE_SPEC | STORE_GONE) ? object_find(h, key) : NULL;
	struct scaled of;

	if (o && (!store_scaled(h->store, key, &of) || strcmp(of.meta->uid, o->uid) != 0))
		object_free(h, o);
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
	store_listen(store, on_store_change, h);
	return h;
}

void health_free(struct health *h)
{
	if (!h)
		return;
	health_forget(h);
	free(h);
}
