/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/objects/targetref.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "decide/validate/validate.h"

struct targetref {
	struct store *store;
	struct targets *targets;
	struct kinds *kinds;
	object_fn fn;
	void *arg;
};

static int check_kind(const char *group, const char *version, const char *name, const struct kind *kind,
	struct err *err)
{
	const char *slash = *group ? "/" : "";

	if (!kind->namespaced)
		return err_set(err, ERR_INVALID,
			"kind %s of %s%s%s is not namespaced, so a ScaledObject cannot scale it", name, group, slash,
			version);
	if (!kind->scalable)
		return err_set(err, ERR_INVALID, "kind %s of %s%s%s has no scale subresource", name, group, slash,
			version);
	return 0;
}

int targetref_find(struct targetref *t, const struct scaledobject *so, char *group, char *version, char *resource,
	bool *waits, struct err *err)
{
	const char *name = scaledobject_target_kind(&so->spec);
	struct kind kind;
	bool wrong = true;
	enum kind_state state;

	*resource = '\0';
	if (waits)
		*waits = false;
	if (scaledobject_target_gv(&so->spec, group, version, TARGETREF_TEXT, err))
		return -1;
	state = kinds_get(t->kinds, so->meta.namespace_, group, version, name, &kind, &wrong, err);
	if (waits)
		*waits = state == KIND_UNREAD && !wrong;
	if (state != KIND_PRESENT || check_kind(group, version, name, &kind, err))
		return -1;
	snprintf(resource, TARGETREF_TEXT, "%s", kind.resource);
	return 0;
}

bool targetref_unscalable(struct targetref *t, const struct scaledobject *so)
{
	const char *name = scaledobject_target_kind(&so->spec);
	char group[TARGETREF_TEXT], version[TARGETREF_TEXT];
	struct kind kind;
	bool wrong;

	return !scaledobject_target_gv(&so->spec, group, version, TARGETREF_TEXT, NULL) &&
		kinds_get(t->kinds, so->meta.namespace_, group, version, name, &kind, &wrong, NULL) == KIND_PRESENT &&
		kind.namespaced && !kind.scalable;
}

static bool same(const char *stored, const char *text)
{
	return stored && strcmp(stored, text) == 0;
}

/* Others may write the status, so parts of a URL are checked. */
int targetref_stored(const struct scaledobject *so, char *group, char *version, char *resource)
{
	const struct scaledobject_status *s = &so->status;
	const char *name = s->gvkr_resource ? s->gvkr_resource : "";
	size_t len = strlen(name);

	*resource = '\0';
	if (scaledobject_target_gv(&so->spec, group, version, TARGETREF_TEXT, NULL))
		return -1;
	if (!same(s->gvkr_group, group) || !same(s->gvkr_version, version) ||
		!same(s->gvkr_kind, scaledobject_target_kind(&so->spec)))
		return -1;
	if (len == 0 || len >= TARGETREF_TEXT || strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != len)
		return -1;
	memcpy(resource, name, len + 1);
	return 0;
}

/* Names become parts of URLs, so only valid ones are passed on. */
static void want(struct targetref *t, struct object *o)
{
	const struct scaledobject *so = o->of.so;
	char group[TARGETREF_TEXT], version[TARGETREF_TEXT], resource[TARGETREF_TEXT];
	struct target_ref ref = { group, version, resource, so->meta.namespace_, so->spec.target_name };

	if (validate_for_reconcile(scaled_of_object(so), NULL, NULL) ||
		targetref_find(t, so, group, version, resource, NULL, NULL))
		targets_release(o);
	else
		targets_want(t->targets, o, &ref);
}

/* An invalid annotation also makes the object unusable. */
void targetref_follow(struct targetref *t, struct object *o, unsigned changes)
{
	if (o->of.so && (changes & (OBJECT_SPEC | OBJECT_ANNOTATIONS)))
		want(t, o);
}

/* ---- Results of discovery ---- */

static bool is_looked_up(const struct scaledobject *so)
{
	const char *version = so->spec.target_api_version, *kind = scaledobject_target_kind(&so->spec);

	return (version && *version && strcmp(version, "apps/v1") != 0) ||
		(strcmp(kind, "Deployment") != 0 && strcmp(kind, "StatefulSet") != 0);
}

static void want_still(void *arg, struct object *o)
{
	char group[TARGETREF_TEXT], version[TARGETREF_TEXT], resource[TARGETREF_TEXT];

	if (o->of.so && is_looked_up(o->of.so) && !validate_for_reconcile(scaled_of_object(o->of.so), NULL, NULL))
		targetref_find(arg, o->of.so, group, version, resource, NULL, NULL);
}

static void want_anew(void *arg, struct object *o)
{
	struct targetref *t = arg;

	if (!o->of.so || !is_looked_up(o->of.so))
		return;
	want(t, o);
	if (t->fn)
		t->fn(t->arg, o, OBJECT_TARGET);
}

static void on_kinds(void *arg, bool changed)
{
	struct targetref *t = arg;

	store_each_object(t->store, changed ? want_anew : want_still, t);
}

void targetref_listen(struct targetref *t, object_fn fn, void *arg)
{
	t->fn = fn;
	t->arg = arg;
}

struct targetref *targetref_new(struct store *store, struct targets *targets, struct kinds *kinds)
{
	struct targetref *t = mem_zalloc(sizeof(*t));

	t->store = store;
	t->targets = targets;
	t->kinds = kinds;
	kinds_listen(kinds, on_kinds, t);
	return t;
}

void targetref_free(struct targetref *t)
{
	if (!t)
		return;
	kinds_listen(t->kinds, NULL, NULL);
	free(t);
}
