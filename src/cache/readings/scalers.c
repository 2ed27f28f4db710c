/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/readings/scalers.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/fingerprint.h"
#include "base/mem.h"
#include "cache/readings/scalers_parts.h"

#define QUESTIONS_BYTES_MAX (4 << 20)

static void drop(struct object_scalers *o)
{
	for (size_t i = 0; i < o->count; i++)
		scaler_done(&o->list[i]);
	free(o->list);
	free(o->err);
	formula_free(o->formula);
	o->formula = NULL;
	o->list = NULL;
	o->err = NULL;
	o->count = 0;
	o->built = false;
}

static void forget(struct scalers *s, struct object_scalers *o)
{
	HASH_DELETE(hh, s->objects, o);
	if (s->last == o)
		s->last = NULL;
	drop(o);
	free(o->key);
	free(o);
}

static struct object_scalers *find(struct scalers *s, const char *key)
{
	struct object_scalers *o;

	if (s->last && strcmp(s->last->key, key) == 0)
		return s->last;
	HASH_FIND_STR(s->objects, key, o);
	if (o)
		s->last = o;
	return o;
}

void scalers_release(struct scalers *s, const char *key)
{
	lookups_release(s->lookups, key);
	descriptions_release(s->descriptions, key);
}

/* Of the annotations only whether they can be read decides what is built. */
static bool stands(const struct object_scalers *o, const struct scaled *of)
{
	return o->built && !o->err && scalers_validate(of, NULL) == 0;
}

static void on_store_change(void *arg, unsigned changes, const char *key)
{
	struct scalers *s = arg;
	struct scaled of;
	struct object_scalers *o;

	if (!(changes & (STORE_SPEC | STORE_ANNOTATIONS | STORE_GONE)))
		return;
	o = find(s, key);
	if (!store_scaled(s->store, key, &of)) {
		scalers_release(s, key);
		if (o)
			forget(s, o);
		return;
	}
	if (o && ((changes & STORE_SPEC) || !stands(o, &of)))
		drop(o);
}

/*
 * The target's environment may have changed: what was built from it is built anew when somebody
 * asks. The same values give the same questions, so readings live on.
 */
static void on_target_change(void *arg, const char *key)
{
	struct scalers *s = arg;
	struct object_scalers *o = find(s, key);

	if (o && o->uses_target)
		drop(o);
}

/*
 * A Secret, a token, a TriggerAuthentication, what an external scaler says of its metrics ...:
 * whoever works with the old scalers, or waits for new ones, is told.
 */
static void on_lookup_change(void *arg, const char *key)
{
	struct scalers *s = arg;
	struct object_scalers *o = find(s, key);

	if (o)
		drop(o);
	for (size_t i = 0; i < s->listener_count; i++)
		s->listeners[i].fn(s->listeners[i].arg, key);
}

/* ---- Asking ---- */

static struct object_scalers *get(struct scalers *s, const char *key)
{
	struct object_scalers *o = find(s, key);

	if (o)
		return o;
	o = mem_zalloc(sizeof(*o));
	o->key = mem_dup(key);
	HASH_ADD_KEYPTR(hh, s->objects, o->key, strlen(o->key), o);
	return o;
}

static void build_anew(struct scalers *s, struct object_scalers *o, const struct scaled *of)
{
	struct err err = { 0 };
	bool failed;

	drop(o);
	failed = scalers_build(s, o, of, &err) != 0;
	if (failed) {
		drop(o); /* what was built before the one that failed */
		err_keep(&o->err, &err);
	}
	o->built = !failed || (err.kind != ERR_TEMPORARY && err.kind != ERR_WAITING);
	if (!failed && s->on_built)
		s->on_built(s->on_built_arg, o->key);
}

int scalers_get(struct scalers *s, const char *key, struct built *out, struct err *err)
{
	struct object_scalers *o;

	if (!store_scaled(s->store, key, &out->of))
		return err_set(err, ERR_MISSING, "%s %s not found", scaled_kind_word(store_key_kind(key)),
			store_key_path(key));
	o = get(s, key);
	if (!o->built)
		build_anew(s, o, &out->of);
	if (o->err) {
		if (err)
			*err = *o->err;
		return -1;
	}
	out->list = o->list;
	out->count = o->count;
	out->formula = o->formula;
	return 0;
}

const struct scaler *scalers_find(const struct built *built, const char *metric, struct err *err)
{
	const struct scaled *of = &built->of;

	for (size_t i = 0; i < built->count; i++)
		if (built->list[i].question && strcasecmp(built->list[i].metric_name, metric) == 0)
			return &built->list[i];
	err_set(err, ERR_MISSING, "%s %s/%s has no metric %s", scaled_kind_word(of->kind), of->meta->namespace_,
		of->meta->name, metric);
	return NULL;
}

uint64_t scalers_questions(struct scalers *s, const char *key)
{
	const struct object_scalers *o = find(s, key);
	struct buf keys = BUF_INIT(QUESTIONS_BYTES_MAX);
	uint64_t fingerprint = 0;

	for (size_t i = 0; o && i < o->count; i++)
		if (o->list[i].question)
			buf_printf(&keys, "%s\n", o->list[i].question->key);
	if (keys.len > 0)
		fingerprint = fingerprint_fast(keys.data, keys.len);
	buf_done(&keys);
	return fingerprint;
}

void scalers_listen(struct scalers *s, scalers_fn fn, void *arg)
{
	if (s->listener_count < SCALERS_LISTENERS_MAX) {
		s->listeners[s->listener_count].fn = fn;
		s->listeners[s->listener_count++].arg = arg;
	}
}

void scalers_on_built(struct scalers *s, scalers_fn fn, void *arg)
{
	s->on_built = fn;
	s->on_built_arg = arg;
}

struct scalers *scalers_new(struct store *store, struct targets *targets, struct lookups *lookups,
	struct descriptions *descriptions, struct readings *readings)
{
	struct scalers *s = mem_zalloc(sizeof(*s));

	s->store = store;
	s->targets = targets;
	s->lookups = lookups;
	s->descriptions = descriptions;
	s->readings = readings;
	lookups_listen(lookups, on_lookup_change, s);
	descriptions_listen(descriptions, on_lookup_change, s);
	store_listen(store, on_store_change, s);
	targets_listen(targets, on_target_change, s);
	return s;
}

void scalers_free(struct scalers *s)
{
	struct object_scalers *o, *next;

	if (!s)
		return;
	HASH_ITER (hh, s->objects, o, next)
		forget(s, o);
	free(s);
}
