/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/scalers.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/fingerprint.h"
#include "base/hash.h"
#include "base/mem.h"
#include "cache/auth.h"
#include "decide/validate.h"
#include "decide/verdict.h"

/* One object's scalers, or why there are none. */
struct object_scalers {
	char *key;
	bool built;           /* list or err is what the object as stored gives */
	bool uses_target;     /* some parameter comes from the target's environment */
	struct err *err;      /* owned; NULL: the list is good */
	struct scaler *list;
	size_t count;
	struct formula *formula; /* NULL without one */
	UT_hash_handle hh;
};

#define LISTENERS_MAX 4
#define QUESTIONS_BYTES_MAX (4 << 20)

struct scalers {
	struct store *store;
	struct targets *targets;
	struct lookups *lookups;
	struct descriptions *descriptions;
	struct { scalers_fn fn; void *arg; } listeners[LISTENERS_MAX];
	size_t listener_count;
	scalers_fn on_built;
	void *on_built_arg;
	struct object_scalers *objects;
	struct object_scalers *last; /* found last: a poll looks several times */
};

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

/* It needs nothing any more. */
static void release(struct scalers *s, const char *key)
{
	lookups_release(s->lookups, key);
	descriptions_release(s->descriptions, key);
}

static void on_store_change(void *arg, enum store_change change, const char *key)
{
	struct scalers *s = arg;
	const struct scaledobject *so;
	struct object_scalers *o;

	if (change != STORE_SCALEDOBJECT)
		return;
	so = store_scaledobject(s->store, key);
	o = find(s, key);
	if (!so) {
		release(s, key);
		if (o)
			forget(s, o);
		return;
	}
	/* Also annotations decide whether an object may scale, and they do not move its generation. */
	if (o)
		drop(o);
}

/* The target's environment may have changed: what was built from it is built anew when somebody asks. The same values give the same questions, so readings live on. */
static void on_target_change(void *arg, const char *key)
{
	struct scalers *s = arg;
	struct object_scalers *o = find(s, key);

	if (o && o->uses_target)
		drop(o);
}

/* A Secret, a token, a TriggerAuthentication, what an external scaler says of its metrics ...: whoever works with the old scalers, or waits for new ones, is told. */
static void on_lookup_change(void *arg, const char *key)
{
	struct scalers *s = arg;
	struct object_scalers *o = find(s, key);

	if (o)
		drop(o);
	for (size_t i = 0; i < s->listener_count; i++)
		s->listeners[i].fn(s->listeners[i].arg, key);
}

/* --- building ----------------------------------------------------------------------------------------------------------------- */

/* What one object's scalers are built from. */
struct material {
	const struct auth_lookup *lookup;
	const struct scaledobject *so;
	const struct workload *target; /* NULL: not needed */
	struct strmap env, unresolved;
};

static int read_target(struct scalers *s, const char *key, struct material *m, struct err *err)
{
	const char *trouble = targets_trouble(s->targets, key);

	switch (targets_get(s->targets, key, &m->target)) {
	case TARGET_UNREAD:
		return err_set(err, trouble ? ERR_TEMPORARY : ERR_WAITING, "the scale target's environment is not read yet%s%s", trouble ? ": " : "", trouble ? trouble : "");
	case TARGET_MISSING:
		return err_set(err, ERR_INVALID, "the scale target %s does not exist, so its environment cannot be read", m->so->spec.target_name);
	case TARGET_PRESENT:
		break;
	}
	return 0;
}

static struct scaler *add(struct object_scalers *o)
{
	o->list = mem_resize(o->list, o->count + 1, sizeof(*o->list));
	return &o->list[o->count++];
}

/* A formula knows a trigger by its name, and that can mean one number only. */
static int check_one_metric(const struct scaledobject *so, const struct scaler *whole, const struct description *d, struct err *err)
{
	if (d->count == 1 || !so->spec.modifiers || !so->spec.modifiers->formula || !*so->spec.modifiers->formula)
		return 0;
	return err_set(err, ERR_INVALID, "%s names %zu metrics (%s, %s, ...): with spec.advanced.scalingModifiers.formula a trigger must have one", whole->question->source, d->count,
		       d->metrics[0].name, d->metrics[1].name);
}

static void narrow(struct object_scalers *o, const struct scaler *whole, const struct description *d)
{
	for (size_t i = 0; i < d->count; i++)
		scaler_narrow(whole, &d->metrics[i], i, add(o));
}

static bool is_of(const struct hpa_external *metric, const char *prefix, const struct scaler *whole)
{
	size_t len = strlen(prefix);

	/* One that stood in for the trigger is no metric of its source's. */
	return strncmp(metric->name, prefix, len) == 0 && metric->name[len] && strcmp(metric->name, whole->metric_name) != 0 && metric->target.milli > 0;
}

/* What the HPA has for this trigger, "s2-..."; *d is empty when there is nothing. */
static void recall(const struct scalers *s, const struct scaledobject *so, const struct scaler *whole, struct description *d)
{
	char name[254], key[STORE_KEY_MAX];
	const struct hpa *hpa = store_hpa(s->store, store_key(so->meta.namespace_, scaledobject_hpa_name(so, name, sizeof(name)), key));
	MEM_AUTO char *prefix = mem_printf("s%d-", whole->index);

	for (size_t i = 0; hpa && i < hpa->external_count; i++)
		if (is_of(&hpa->externals[i], prefix, whole))
			description_add(d, hpa->externals[i].name + strlen(prefix), hpa->externals[i].target);
}

/* The source has never said which metrics there are. Takes whole. */
static int stand_in(struct scalers *s, struct object_scalers *o, const struct scaledobject *so, struct scaler *whole, struct err *err)
{
	struct description d = { 0 };
	const char *trouble = NULL;

	if (!store_knows_hpas(s->store, so->meta.namespace_, &trouble) && !trouble) {
		scaler_done(whole);
		return err_set(err, ERR_WAITING, "the HPAs are not read yet");
	}
	recall(s, so, whole, &d);
	if (d.count > 0) {
		narrow(o, whole, &d);
		scaler_done(whole);
	} else {
		*add(o) = *whole;
	}
	description_done(&d);
	return 0;
}

/* Takes whole. */
static int expand(struct scalers *s, struct object_scalers *o, const struct scaledobject *so, struct scaler *whole, struct err *err)
{
	const struct description *d;
	enum reference_state state = descriptions_get(s->descriptions, o->key, whole->question, &d, err);
	int failed = -1;

	if (state == REFERENCE_MISSING)
		return stand_in(s, o, so, whole, err);
	if (state == REFERENCE_FOUND)
		failed = check_one_metric(so, whole, d, err);
	if (state == REFERENCE_FOUND && !failed)
		narrow(o, whole, d);
	scaler_done(whole);
	return failed;
}

static int build_one(struct scalers *s, struct object_scalers *o, const struct material *m, size_t i, const struct strmap *auth, struct err *err)
{
	struct scaler whole;
	const struct trigger *t = &m->so->spec.triggers[i];
	struct scaler_params params = {
		.namespace_ = m->so->meta.namespace_, .object = m->so->meta.name, .type = t->type, .index = (int)i, .name = t->name, .metric_type = t->metric_type, .formula_source = verdict_has_composite(&m->so->spec), .metadata = &t->metadata, .auth = auth, .env = &m->env, .unresolved = &m->unresolved,
	};

	if (scaler_build(&params, &whole, err))
		return -1;
	if (whole.undescribed)
		return expand(s, o, m->so, &whole, err) ? err_wrap(err, "trigger %zu (%s)", i, t->type) : 0;
	*add(o) = whole;
	return 0;
}

/* Every trigger's references are asked for, also behind something that fails: what is not asked for in a round is not watched any more. */
static void build_all(struct scalers *s, struct object_scalers *o, const struct material *m, struct err *worst)
{
	struct err waits = { 0 }; /* for a description: others are asked for at the same time */

	for (size_t i = 0; i < m->so->spec.trigger_count; i++) {
		struct strmap auth = { 0 };
		struct err err = { 0 };

		if (auth_params(m->lookup, m->so, &m->so->spec.triggers[i], m->target, &auth, &err)) {
			err_wrap(&err, "trigger %zu (%s)", i, m->so->spec.triggers[i].type);
			auth_note_failure(worst, &err);
		} else if (worst->kind == ERR_NONE && build_one(s, o, m, i, &auth, &err)) {
			auth_note_failure(err.kind == ERR_WAITING ? &waits : worst, &err);
		}
		strmap_done_secret(&auth);
	}
	if (waits.kind != ERR_NONE)
		auth_note_failure(worst, &waits);
}

/* Over the triggers that are asked, by their names; a trigger without one cannot be meant. */
static int build_formula(struct object_scalers *o, const struct scaledobject *so, struct err *err)
{
	const char *text = so->spec.modifiers ? so->spec.modifiers->formula : NULL;
	const char **names;
	size_t count = 0;

	if (!text || !*text)
		return 0;
	names = mem_array(o->count + 1, sizeof(*names));
	for (size_t i = 0; i < o->count; i++)
		if (o->list[i].question)
			names[count++] = o->list[i].trigger_name ? o->list[i].trigger_name : "";
	o->formula = formula_compile(text, names, count, err);
	free(names);
	return o->formula ? 0 : err_wrap(err, "spec.advanced.scalingModifiers.formula");
}

static void build_round(struct scalers *s, struct object_scalers *o, struct material *m, struct err *worst)
{
	struct err err = { 0 };

	o->uses_target = auth_needs_target(m->lookup, m->so);
	if (o->uses_target && read_target(s, o->key, m, worst))
		return;
	if (o->uses_target && auth_environment(m->lookup, m->so, m->target, &m->env, &m->unresolved, &err))
		auth_note_failure(worst, &err);
	build_all(s, o, m, worst);
	if (worst->kind == ERR_NONE)
		build_formula(o, m->so, worst);
}

/* Fails with what stays true until the object, its target or what it refers to changes, and so may be remembered, or with ERR_WAITING or ERR_TEMPORARY. */
static int build(struct scalers *s, struct object_scalers *o, const struct scaledobject *so, struct err *err)
{
	struct material m = { .so = so };
	struct err worst = { 0 };

	if (validate_for_reconcile(so, err)) {
		release(s, o->key);
		return -1;
	}
	m.lookup = lookups_begin(s->lookups, o->key);
	descriptions_begin(s->descriptions, o->key);
	build_round(s, o, &m, &worst);
	descriptions_end(s->descriptions, o->key);
	lookups_end(s->lookups, o->key);
	strmap_done_secret(&m.env);
	strmap_done(&m.unresolved);
	if (worst.kind == ERR_NONE)
		return 0;
	/* What is missing is this object's fault to mend, as a wrong parameter is: ERR_MISSING would say that there is no such object. */
	if (worst.kind == ERR_MISSING)
		worst.kind = ERR_INVALID;
	*err = worst;
	return -1;
}

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

static void build_anew(struct scalers *s, struct object_scalers *o, const struct scaledobject *so)
{
	struct err err = { 0 };
	bool failed;

	drop(o);
	failed = build(s, o, so, &err) != 0;
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
	const struct scaledobject *so = store_scaledobject(s->store, key);
	struct object_scalers *o;

	if (!so)
		return err_set(err, ERR_MISSING, "scaledobject %s not found", key);
	o = get(s, key);
	if (!o->built)
		build_anew(s, o, so);
	if (o->err) {
		if (err)
			*err = *o->err;
		return -1;
	}
	out->so = so;
	out->list = o->list;
	out->count = o->count;
	out->formula = o->formula;
	return 0;
}

int scalers_find(struct scalers *s, const char *key, const char *metric, const struct scaler **out, struct err *err)
{
	struct built built;

	if (scalers_get(s, key, &built, err))
		return -1;
	for (size_t i = 0; i < built.count; i++) {
		if (built.list[i].question && strcasecmp(built.list[i].metric_name, metric) == 0) {
			*out = &built.list[i];
			return 0;
		}
	}
	return err_set(err, ERR_MISSING, "scaledobject %s has no metric %s", key, metric);
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
	if (s->listener_count < LISTENERS_MAX) {
		s->listeners[s->listener_count].fn = fn;
		s->listeners[s->listener_count++].arg = arg;
	}
}

void scalers_on_built(struct scalers *s, scalers_fn fn, void *arg)
{
	s->on_built = fn;
	s->on_built_arg = arg;
}

struct scalers *scalers_new(struct store *store, struct targets *targets, struct lookups *lookups, struct descriptions *descriptions)
{
	struct scalers *s = mem_zalloc(sizeof(*s));

	s->store = store;
	s->targets = targets;
	s->lookups = lookups;
	s->descriptions = descriptions;
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
	HASH_ITER(hh, s->objects, o, next)
		forget(s, o);
	free(s);
}
