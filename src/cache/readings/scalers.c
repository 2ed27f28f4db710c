/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/readings/scalers.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/fingerprint.h"
#include "base/mem.h"
#include "cache/auth/holders.h"
#include "cache/readings/scalers_parts.h"
#include "decide/validate/validate.h"

#define QUESTIONS_BYTES_MAX (4 << 20)

static void drop_scalers(struct built_scalers *b)
{
	for (size_t i = 0; i < b->count; i++)
		scaler_done(&b->list[i]);
	free(b->list);
	free(b->err);
	formula_free(b->formula);
	*b = (struct built_scalers){ .uses_target = b->uses_target };
}

static void forget_scalers(struct object *o)
{
	if (!o->scalers)
		return;
	drop_scalers(o->scalers);
	free(o->scalers);
	o->scalers = NULL;
}

/* Annotations only need to be valid. */
static bool stands(const struct object *o)
{
	return o->scalers->built && !o->scalers->err && validate_for_reconcile(o->of, NULL, NULL) == 0;
}

/* Equal values from another environment or Secret give equal questions, so readings stay valid. */
static bool concerns(const struct object *o, unsigned changes)
{
	return (changes & (OBJECT_SPEC | OBJECT_NEEDS)) || ((changes & OBJECT_ANNOTATIONS) && !stands(o)) ||
		((changes & OBJECT_TARGET) && o->scalers->uses_target);
}

void scalers_follow(struct object *o, unsigned changes)
{
	if (changes & OBJECT_GONE) {
		holdings_release(o);
		forget_scalers(o);
	} else if (o->scalers && concerns(o, changes)) {
		drop_scalers(o->scalers);
	}
}

/* ---- Asking ---- */

static void build_anew(struct scalers *s, struct object *o)
{
	struct built_scalers *b = o->scalers;
	struct err err = { 0 };
	bool failed;

	drop_scalers(b);
	failed = scalers_build(s, o, &err) != 0;
	if (failed) {
		drop_scalers(b); /* drops the scalers built before the failure */
		err_keep(&b->err, &err);
	}
	b->built = !failed || (err.kind != ERR_TEMPORARY && err.kind != ERR_WAITING);
	if (!failed && s->on_built)
		s->on_built(s->on_built_arg, o);
}

int scalers_get(struct scalers *s, struct object *o, struct built *out, struct err *err)
{
	if (o->gone)
		return err_set(err, ERR_MISSING, "%s %s not found", scaled_kind_word(o->kind), o->path);
	if (!o->scalers)
		o->scalers = mem_zalloc(sizeof(*o->scalers));
	if (!o->scalers->built)
		build_anew(s, o);
	out->of = o->of;
	if (o->scalers->err) {
		if (err)
			*err = *o->scalers->err;
		return -1;
	}
	out->list = o->scalers->list;
	out->count = o->scalers->count;
	out->formula = o->scalers->formula;
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

uint64_t scalers_questions(const struct object *o)
{
	const struct built_scalers *b = o->scalers;
	struct buf keys = BUF_INIT(QUESTIONS_BYTES_MAX);
	uint64_t fingerprint = 0;

	for (size_t i = 0; b && i < b->count; i++)
		if (b->list[i].question)
			buf_printf(&keys, "%s\n", b->list[i].question->key);
	if (keys.len > 0)
		fingerprint = fingerprint_fast(keys.data, keys.len);
	buf_done(&keys);
	return fingerprint;
}

void scalers_on_built(struct scalers *s, scalers_fn fn, void *arg)
{
	s->on_built = fn;
	s->on_built_arg = arg;
}

struct scalers *scalers_new(struct store *store, struct lookups *lookups, struct descriptions *descriptions,
	struct questions *questions)
{
	struct scalers *s = mem_zalloc(sizeof(*s));

	s->store = store;
	s->lookups = lookups;
	s->descriptions = descriptions;
	s->questions = questions;
	return s;
}

void scalers_free(struct scalers *s)
{
	free(s);
}
