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
	targets_fn fn;
	void *arg;
};

static int check_kind(const char *group, const char *version, const char *name, const struct kind *kind,
	struct err *err)
{
	const char *slash = *group ? "/" : "";

	if (!kind->namespaced)
		return err_set(err, ERR_INVALID,
			"kind %s of %s%s%s stands in no namespace, so it cannot be scaled by a ScaledObject", name,
			group, slash, version);
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
	state = kinds_get(t->kinds, group, version, name, &kind, &wrong, err);
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
		kinds_get(t->kinds, group, version, name, &kind, &wrong, NULL) == KIND_PRESENT && kind.namespaced &&
		!kind.scalable;
}

static bool same(const char *stored, const char *text)
{
	return stored && strcmp(stored, text) == 0;
}

/* Others may write a status: what becomes part of a URL is looked at. */
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

/* Names become parts of URLs, so only those that were found to be names go any further. */
static void want(struct targetref *t, const char *key, const struct scaledobject *so)
{
	char group[TARGETREF_TEXT], version[TARGETREF_TEXT], resource[TARGETREF_TEXT];
	struct target_ref ref = { group, version, resource, so->meta.namespace_, so->spec.target_name };

	if (validate_for_reconcile(so, NULL) || targetref_find(t, so, group, version, resource, NULL, NULL))
		targets_release(t->targets, key);
	else
		targets_want(t->targets, key, &ref);
}

/* An annotation may be why the spec cannot be followed. */
static void on_store_change(void *arg, unsigned changes, const char *key)
{
	struct targetref *t = arg;
	const struct scaledobject *so;

	if (changes & STORE_SYNCED)
		targets_open(t->targets);
	if (!(changes & (STORE_SPEC | STORE_ANNOTATIONS | STORE_GONE)))
		return;
	so = store_scaledobject(t->store, key);
	if (so)
		want(t, key, so);
	else
		targets_release(t->targets, key);
}

/* ---- Discovery says something ---- */

static bool is_looked_up(const struct scaledobject *so)
{
	const char *version = so->spec.target_api_version, *kind = scaledobject_target_kind(&so->spec);

	return (version && *version && strcmp(version, "apps/v1") != 0) ||
		(strcmp(kind, "Deployment") != 0 && strcmp(kind, "StatefulSet") != 0);
}

static void want_still(void *arg, const char *key, const struct scaledobject *so)
{
	struct targetref *t = arg;
	char group[TARGETREF_TEXT], version[TARGETREF_TEXT], resource[TARGETREF_TEXT];

	(void)key;
	if (is_looked_up(so) && !validate_for_reconcile(so, NULL))
		targetref_find(t, so, group, version, resource, NULL, NULL);
}

static void want_anew(void *arg, const char *key, const struct scaledobject *so)
{
	struct targetref *t = arg;

	if (!is_looked_up(so))
		return;
	want(t, key, so);
	if (t->fn)
		t->fn(t->arg, key);
}

static void on_kinds(void *arg, bool changed)
{
	struct targetref *t = arg;

	store_each_scaledobject(t->store, changed ? want_anew : want_still, t);
}

void targetref_listen(struct targetref *t, targets_fn fn, void *arg)
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
	store_listen(store, on_store_change, t);
	kinds_listen(kinds, on_kinds, t);
	return t;
}

/* Of its listeners: the store's must not speak any more. */
void targetref_free(struct targetref *t)
{
	if (!t)
		return;
	kinds_listen(t->kinds, NULL, NULL);
	free(t);
}
