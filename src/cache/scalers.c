/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/scalers.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "base/mem.h"
#include "decide/validate.h"

/* One object's scalers, or why there are none. */
struct object_scalers {
	char *key;
	bool built;           /* list or err is what the object as stored gives */
	bool uses_env;        /* some parameter comes from the target's environment */
	struct err *err;      /* owned; NULL: the list is good */
	struct scaler *list;
	size_t count;
	UT_hash_handle hh;
};

struct scalers {
	struct store *store;
	struct targets *targets;
	struct object_scalers *objects;
};

static const char *const target_kinds[][2] = {
	{ "Deployment", "deployments" },
	{ "StatefulSet", "statefulsets" },
};

int scalers_target_ref(const struct scaledobject *so, char *group, char *version, char *resource, struct err *err)
{
	const char *kind = scaledobject_target_kind(&so->spec);

	if (scaledobject_target_gv(&so->spec, group, version, 254, err))
		return -1;
	for (size_t i = 0; i < sizeof(target_kinds) / sizeof(target_kinds[0]); i++) {
		if (strcmp(group, "apps") == 0 && strcmp(kind, target_kinds[i][0]) == 0) {
			strcpy(resource, target_kinds[i][1]);
			return 0;
		}
	}
	return err_set(err, ERR_INVALID, "spec.scaleTargetRef: kind %s of %s/%s is not supported by this version of kscaled: use a Deployment or StatefulSet of apps/v1", kind, group, version);
}

static void drop(struct object_scalers *o)
{
	for (size_t i = 0; i < o->count; i++)
		scaler_done(&o->list[i]);
	free(o->list);
	free(o->err);
	o->list = NULL;
	o->err = NULL;
	o->count = 0;
	o->built = false;
}

static void forget(struct scalers *s, struct object_scalers *o)
{
	HASH_DELETE(hh, s->objects, o);
	drop(o);
	free(o->key);
	free(o);
}

static struct object_scalers *find(struct scalers *s, const char *key)
{
	struct object_scalers *o;

	HASH_FIND_STR(s->objects, key, o);
	return o;
}

/* The target is wanted on every replica: a standby answers metric requests too. */
static void want_target(struct scalers *s, const char *key, const struct scaledobject *so)
{
	char group[254], version[254], resource[254];
	struct target_ref ref = { group, version, resource, so->meta.namespace_, so->spec.target_name };

	/* Names become parts of URLs, so only those that were found to be names go any further. */
	if (validate_for_reconcile(so, NULL) || scalers_target_ref(so, group, version, resource, NULL))
		targets_release(s->targets, key);
	else
		targets_want(s->targets, key, &ref);
}

static void on_store_change(void *arg, enum store_change change, const char *key)
{
	struct scalers *s = arg;
	const struct scaledobject *so;
	struct object_scalers *o;

	if (change == STORE_SYNCED)
		targets_open(s->targets);
	if (change != STORE_SCALEDOBJECT)
		return;
	so = store_scaledobject(s->store, key);
	o = find(s, key);
	if (!so) {
		targets_release(s->targets, key);
		if (o)
			forget(s, o);
		return;
	}
	want_target(s, key, so);
	/* Also annotations decide whether an object may scale, and they do not move its generation. */
	if (o)
		drop(o);
}

/* The target's environment may have changed: what was built from it is built anew when somebody asks. The same values give the same questions, so readings live on. */
static void on_target_change(void *arg, const char *key)
{
	struct scalers *s = arg;
	struct object_scalers *o = find(s, key);

	if (o && o->uses_env)
		drop(o);
}

static bool trigger_uses_env(const struct trigger *t)
{
	for (size_t i = 0; i < t->metadata.count; i++) {
		const char *key = t->metadata.pairs[i].key;
		size_t len = strlen(key);

		if (len > 7 && strcmp(key + len - 7, "FromEnv") == 0 && *t->metadata.pairs[i].value)
			return true;
	}
	return false;
}

static bool spec_uses_env(const struct scaledobject_spec *spec)
{
	for (size_t i = 0; i < spec->trigger_count; i++)
		if (trigger_uses_env(&spec->triggers[i]))
			return true;
	return false;
}

static int read_environment(struct scalers *s, const char *key, const struct scaledobject *so, struct strmap *env, struct strmap *unresolved, struct err *err)
{
	const struct workload *w;
	const char *trouble = targets_trouble(s->targets, key);

	switch (targets_get(s->targets, key, &w)) {
	case TARGET_UNREAD:
		return err_set(err, ERR_TEMPORARY, "the scale target's environment is not read yet%s%s", trouble ? ": " : "", trouble ? trouble : "");
	case TARGET_MISSING:
		return err_set(err, ERR_INVALID, "the scale target %s does not exist, so its environment cannot be read", so->spec.target_name);
	case TARGET_PRESENT:
		break;
	}
	return workload_environment(w, so->spec.env_source_container, env, unresolved, err);
}

static int build_all(struct object_scalers *o, const struct scaledobject *so, const struct strmap *env, const struct strmap *unresolved, struct err *err)
{
	o->list = mem_array(so->spec.trigger_count, sizeof(*o->list));
	for (size_t i = 0; i < so->spec.trigger_count; i++) {
		const struct trigger *t = &so->spec.triggers[i];
		struct scaler_params params = { .type = t->type, .index = (int)i, .name = t->name, .metric_type = t->metric_type, .metadata = &t->metadata, .env = env, .unresolved = unresolved };

		if (scaler_build(&params, &o->list[i], err))
			return -1;
		o->count = i + 1;
	}
	return 0;
}

/* Fails with what stays true until the object or its target changes, and so may be remembered, or with ERR_TEMPORARY. */
static int build(struct scalers *s, struct object_scalers *o, const struct scaledobject *so, struct err *err)
{
	struct strmap env = { 0 }, unresolved = { 0 };
	int failed;

	o->uses_env = spec_uses_env(&so->spec);
	if (validate_for_reconcile(so, err))
		return -1;
	failed = o->uses_env && read_environment(s, o->key, so, &env, &unresolved, err);
	if (!failed)
		failed = build_all(o, so, &env, &unresolved, err);
	strmap_done_secret(&env);
	strmap_done(&unresolved);
	return failed ? -1 : 0;
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
		o->err = mem_alloc(sizeof(err));
		*o->err = err;
	}
	o->built = !failed || err.kind != ERR_TEMPORARY;
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
	out->list = o->list;
	out->count = o->count;
	return 0;
}

int scalers_find(struct scalers *s, const char *key, const char *metric, const struct scaler **out, struct err *err)
{
	struct built built;

	if (scalers_get(s, key, &built, err))
		return -1;
	for (size_t i = 0; i < built.count; i++) {
		if (strcasecmp(built.list[i].metric_name, metric) == 0) {
			*out = &built.list[i];
			return 0;
		}
	}
	return err_set(err, ERR_MISSING, "scaledobject %s has no metric %s", key, metric);
}

struct scalers *scalers_new(struct store *store, struct targets *targets)
{
	struct scalers *s = mem_zalloc(sizeof(*s));

	s->store = store;
	s->targets = targets;
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
