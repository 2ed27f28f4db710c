/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/objects/kinds.h"

#include <stdlib.h>
#include <string.h>

#include "base/fingerprint.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/shares.h"

#define AGAIN_FIRST_MS 500
#define AGAIN_MAX_MS   30000
#define REFRESH_MS     300000
#define DOUBTS         6    /* refreshes after a doubt: a deleted kind may be listed for a few seconds longer */
#define RESOURCES_MAX  2000 /* of one group and version */

/* One group and version: all of its resources, as the last answer had them. */
struct kind_entry {
	struct kinds *owner;
	char *key; /* "argoproj.io/v1alpha1"; "v1" for the core group */
	struct resource *resources;
	size_t count;
	bool known;                            /* answered, possibly with "no such group" */
	char *trouble;                         /* error of the last request; NULL */
	uint64_t print;                        /* hash of the answer, to detect changes */
	struct shares_hold share;              /* while it is missing */
	bool asked;                            /* requested since the last refresh */
	bool in_vain;                          /* requested for a missing kind, or one without /scale */
	unsigned failures, doubts, vain_looks; /* failures: in a row; doubts: refreshes still to come */
	struct kube_call *call;
	struct loop_timer again;
	UT_hash_handle hh;
};

struct resource {
	char *kind, *name;
	bool namespaced, scalable;
};

struct kinds {
	struct kube *kube;
	struct kind_entry *entries;
	struct shares missing;
	kinds_fn fn;
	void *arg;
};

static const struct {
	const char *kind;
	struct kind is;
} apps_v1[] = {
	{ "Deployment", { "deployments", true, true } },
	{ "StatefulSet", { "statefulsets", true, true } },
};

/* ---- One answer ---- */

static void resources_done(struct kind_entry *e)
{
	for (size_t i = 0; i < e->count; i++) {
		free(e->resources[i].kind);
		free(e->resources[i].name);
	}
	free(e->resources);
	e->resources = NULL;
	e->count = 0;
}

/* It becomes part of URLs. */
static bool is_resource_name(const char *name)
{
	size_t len = strlen(name);

	return len > 0 && len < sizeof(((struct kind *)NULL)->resource) &&
		strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == len;
}

static struct resource *resource_named(struct kind_entry *e, const char *name, size_t len)
{
	for (size_t i = 0; i < e->count; i++)
		if (strncmp(e->resources[i].name, name, len) == 0 && e->resources[i].name[len] == '\0')
			return &e->resources[i];
	return NULL;
}

static void take_resource(struct kind_entry *e, const json_t *one)
{
	const char *name = json_str_or_empty(one, "name"), *kind = json_str_or_empty(one, "kind");

	if (strchr(name, '/') || !is_resource_name(name) || !*kind || e->count >= RESOURCES_MAX)
		return;
	e->resources[e->count++] = (struct resource){ mem_dup(kind), mem_dup(name),
		json_is_true(json_object_get(one, "namespaced")), false };
}

static void take_scale(struct kind_entry *e, const json_t *one)
{
	const char *name = json_str_or_empty(one, "name"), *slash = strchr(name, '/');
	struct resource *r = slash && strcmp(slash, "/scale") == 0 ? resource_named(e, name, (size_t)(slash - name))
								   : NULL;

	if (r)
		r->scalable = true;
}

static uint64_t print_of(const struct kind_entry *e)
{
	uint64_t print = e->known;

	for (size_t i = 0; i < e->count; i++)
		print = print * 31 + fingerprint_fast(e->resources[i].kind, strlen(e->resources[i].kind)) +
			7 * fingerprint_fast(e->resources[i].name, strlen(e->resources[i].name)) +
			(e->resources[i].namespaced ? 3 : 0) + (e->resources[i].scalable ? 5 : 0);
	return print;
}

/* Takes an APIResourceList; NULL: no such group and version. True if it has changed. */
static bool take_list(struct kind_entry *e, const json_t *list)
{
	const json_t *all = json_object_get(list, "resources"), *one;
	size_t i, room = json_array_size(all) < RESOURCES_MAX ? json_array_size(all) : RESOURCES_MAX;
	uint64_t before = e->print;

	resources_done(e);
	e->known = true;
	e->resources = room > 0 ? mem_array(room, sizeof(*e->resources)) : NULL;
	json_array_foreach(all, i, one) take_resource(e, one);
	json_array_foreach(all, i, one) take_scale(e, one);
	if (e->count > 0)
		shares_give(&e->share, 1);
	e->print = print_of(e);
	return e->print != before;
}

/* ---- Discovery requests ---- */

static void entry_free(struct kind_entry *e)
{
	HASH_DELETE(hh, e->owner->entries, e);
	kube_cancel(e->call);
	loop_timer_done(&e->again);
	shares_give(&e->share, 1);
	resources_done(e);
	free(e->trouble);
	free(e->key);
	free(e);
}

static void set_trouble(struct kind_entry *e, char *trouble)
{
	free(e->trouble);
	e->trouble = trouble;
}

static void notify_listener(struct kind_entry *e, bool changed)
{
	struct kinds *k = e->owner;

	e->asked = e->in_vain = false;
	if (k->fn)
		k->fn(k->arg, changed);
}

/* A needed kind may be missing and appear at any moment. */
static int64_t pause_ms(struct kind_entry *e)
{
	if (e->trouble)
		return loop_backoff_ms(e->failures++, AGAIN_FIRST_MS, AGAIN_MAX_MS);
	e->failures = 0;
	if (e->doubts > 0)
		return loop_backoff_ms(DOUBTS - e->doubts--, AGAIN_FIRST_MS, AGAIN_MAX_MS);
	if (e->in_vain)
		return loop_backoff_ms(e->vain_looks++, AGAIN_FIRST_MS, AGAIN_MAX_MS);
	e->vain_looks = 0;
	return REFRESH_MS;
}

/* A failure keeps the known state; only an answer changes it. */
static void on_answer(void *arg, const json_t *object, const struct err *err)
{
	struct kind_entry *e = arg;
	bool failed = err ? err->kind != ERR_MISSING : !json_is_array(json_object_get(object, "resources"));
	bool changed;

	e->call = NULL;
	if (failed) {
		changed = !e->known && !e->trouble;
		if (!e->trouble)
			log_warn("discovery", "%s: %s", e->key,
				err ? err->msg : "the answer is not a list of resources");
		set_trouble(e,
			mem_printf("discovery of %s: %s", e->key,
				err ? err->msg : "the answer is not a list of resources"));
	} else {
		set_trouble(e, NULL);
		changed = take_list(e, err ? NULL : object);
	}
	notify_listener(e, changed);
	loop_timer_set(&e->again, pause_ms(e));
}

static void request_list(void *arg)
{
	struct kind_entry *e = arg;
	MEM_AUTO char *path = mem_printf("/%s/%s", strchr(e->key, '/') ? "apis" : "api", e->key);
	struct kube_request request = { .verb = KUBE_GET, .path = path, .priority = KUBE_NORMAL };

	if (e->call)
		return;
	loop_timer_cancel(&e->again);
	e->call = kube_call(e->owner->kube, &request, on_answer, e);
}

static void on_again(void *arg)
{
	struct kind_entry *e = arg;

	if (e->asked)
		request_list(e);
	else
		entry_free(e);
}

static struct kind_entry *entry_find(struct kinds *k, const char *group, const char *version)
{
	MEM_AUTO char *key = mem_printf("%s%s%s", group, *group ? "/" : "", version);
	struct kind_entry *e;

	HASH_FIND_STR(k->entries, key, e);
	return e;
}

/* NULL: the namespace requests too many missing ones. */
static struct kind_entry *entry_make(struct kinds *k, const char *namespace_, const char *group, const char *version)
{
	struct shares_hold share = { 0 };
	struct kind_entry *e;

	if (!shares_take(&k->missing, &share, namespace_ ? namespace_ : "", 1))
		return NULL;
	e = mem_zalloc(sizeof(*e));
	e->share = share;
	e->owner = k;
	e->key = mem_printf("%s%s%s", group, *group ? "/" : "", version);
	loop_timer_init(&e->again, kube_loop(k->kube), on_again, e);
	HASH_ADD_KEYPTR(hh, k->entries, e->key, strlen(e->key), e);
	request_list(e);
	return e;
}

/* ---- Asking ---- */

static bool is_apps_v1(const char *group, const char *version, const char *kind, struct kind *out)
{
	for (size_t i = 0; i < sizeof(apps_v1) / sizeof(apps_v1[0]); i++) {
		if (strcmp(group, "apps") != 0 || strcmp(version, "v1") != 0 || strcmp(kind, apps_v1[i].kind) != 0)
			continue;
		if (out)
			*out = apps_v1[i].is;
		return true;
	}
	return false;
}

static enum kind_state unread(const struct kind_entry *e, bool *wrong, struct err *err)
{
	*wrong = !e || e->trouble;
	if (!e)
		err_set(err, ERR_TEMPORARY,
			"this namespace refers to too many API groups and versions that do not exist");
	else
		err_set(err, ERR_TEMPORARY, "%s", e->trouble ? e->trouble : "its kind is being looked up");
	return KIND_UNREAD;
}

/* Missing kinds are requested sooner than known ones are refreshed. */
static void ask_in_vain(struct kind_entry *e)
{
	if (!e->in_vain && loop_timer_pending(&e->again))
		loop_timer_set(&e->again, AGAIN_FIRST_MS);
	e->in_vain = true;
}

static const struct resource *resource_of(const struct kind_entry *e, const char *kind)
{
	for (size_t i = 0; i < e->count; i++)
		if (strcmp(e->resources[i].kind, kind) == 0)
			return &e->resources[i];
	return NULL;
}

enum kind_state kinds_get(struct kinds *k, const char *namespace_, const char *group, const char *version,
	const char *kind, struct kind *out, bool *wrong, struct err *err)
{
	const struct resource *r;
	struct kind_entry *e;

	*wrong = false;
	if (is_apps_v1(group, version, kind, out))
		return KIND_PRESENT;
	e = entry_find(k, group, version);
	if (!e)
		e = entry_make(k, namespace_, group, version);
	if (e)
		e->asked = true;
	if (!e || !e->known)
		return unread(e, wrong, err);
	r = resource_of(e, kind);
	if (!r || !r->scalable || !r->namespaced)
		ask_in_vain(e);
	if (!r) {
		if (e->count >= RESOURCES_MAX)
			err_set(err, ERR_MISSING,
				"no kind %s among the first %d resources of %s; more are not looked at", kind,
				RESOURCES_MAX, e->key);
		else
			err_set(err, ERR_MISSING, "no kind %s in %s: is its CRD installed?", kind, e->key);
		return KIND_MISSING;
	}
	if (out) {
		strcpy(out->resource, r->name);
		out->namespaced = r->namespaced;
		out->scalable = r->scalable;
	}
	return KIND_PRESENT;
}

void kinds_doubt(struct kinds *k, const char *group, const char *version)
{
	struct kind_entry *e = entry_find(k, group, version);

	if (!e)
		return;
	e->doubts = DOUBTS;
	request_list(e);
}

void kinds_listen(struct kinds *k, kinds_fn fn, void *arg)
{
	k->fn = fn;
	k->arg = arg;
}

struct kinds *kinds_new(struct kube *kube)
{
	struct kinds *k = mem_zalloc(sizeof(*k));

	k->kube = kube;
	k->missing = (struct shares){ .total = KINDS_MAX, .few = KINDS_FEW };
	return k;
}

void kinds_free(struct kinds *k)
{
	struct kind_entry *e, *next;

	if (!k)
		return;
	HASH_ITER (hh, k->entries, e, next)
		entry_free(e);
	free(k);
}
