/* SPDX-License-Identifier: Apache-2.0 */
#include "control/auth/authkeeper.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fingerprint.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "control/auth/authusers.h"

#define KEDA_FINALIZER    "finalizer.keda.sh"
#define RETRY_FIRST_MS    500
#define RETRY_MOST_MS     60000
#define CONFLICT_RETRY_MS 50

/* One known object. */
struct kept_auth {
	struct authkeeper *keeper;
	char *key; /* "shop/redis", "/redis" */
	char *uid;
	int64_t generation;
	/* wanted status.scaledobjects and status.scaledjobs, by enum scaled_kind; NULL: unknown */
	char *users[SCALED_JOB + 1];
	struct kube_call *call; /* the one write under way */
	struct loop_timer again;
	unsigned failures;
	uint64_t sent, futile; /* fingerprints: of the status being written; of one that was accepted but not stored */
	bool releasing;        /* the write concerns the finalizer */
	bool released;         /* it was removed once; if others add it again, it stays */
	UT_hash_handle hh;
};

struct authkeeper {
	struct cache *cache;
	struct kube *kube;
	struct events *events;
	bool leading;
	struct kept_auth *entries;
	struct loop_timer gather;
};

static bool is_cluster(const char *key)
{
	return *key == '/';
}

static const char *kind_of(const char *key)
{
	return is_cluster(key) ? TRIGGERAUTH_CLUSTER_KIND : TRIGGERAUTH_KIND;
}

/* ---- Writing ---- */

static void keep_auth(void *arg);

static void on_written(void *arg, const json_t *object, const struct err *err)
{
	struct kept_auth *e = arg;
	bool conflict = err && err->kind == ERR_CONFLICT;

	e->call = NULL;
	if (err && err->kind == ERR_MISSING)
		return; /* deleted meanwhile: the watch will show it */
	if (err) {
		if (!conflict)
			log_warn("triggerauthentications", "%s %s: %s; trying again", kind_of(e->key), e->key,
				err->msg);
		loop_timer_set(&e->again,
			loop_backoff_ms(e->failures++, conflict ? CONFLICT_RETRY_MS : RETRY_FIRST_MS, RETRY_MOST_MS));
		return;
	}
	e->failures = 0;
	if (e->releasing)
		e->released = true;
	else
		e->futile = e->sent;
	store_learn_triggerauth(e->keeper->cache->store, is_cluster(e->key),
		json_object_get(object, "spec") ? object : NULL);
	keep_auth(e);
}

static void patch(struct kept_auth *e, const char *subresource, const char *body)
{
	int len = (int)strcspn(e->key, "/");
	MEM_AUTO char *path = mem_printf("/apis/keda.sh/v1alpha1/%s%.*s%s%s%s?fieldManager=kscaled",
		len > 0 ? "namespaces/" : "", len, e->key,
		len > 0 ? "/triggerauthentications" : "clustertriggerauthentications", e->key + len, subresource);
	struct kube_request request = { .verb = KUBE_MERGE_PATCH, .path = path, .body = body, .priority = KUBE_STATUS };

	e->call = kube_call(e->keeper->kube, &request, on_written, e);
}

static bool differs(const struct kept_auth *e, const struct triggerauth *t, enum scaled_kind kind)
{
	const char *is = kind == SCALED_JOB ? t->used_by_scaledjobs : t->used_by_scaledobjects;

	return e->users[kind] && strcmp(is ? is : "", e->users[kind]) != 0;
}

static void write_users(struct kept_auth *e, const struct triggerauth *t)
{
	struct buf body = BUF_INIT(16 * AUTHKEEPER_LIST_MAX);
	bool first = true;

	buf_puts(&body, "{\"status\":{");
	for (enum scaled_kind kind = SCALED_OBJECT; kind <= SCALED_JOB; kind++) {
		if (!differs(e, t, kind))
			continue;
		buf_printf(&body, "%s\"%s\":", first ? "" : ",", scaled_kind_resource(kind));
		buf_put_json(&body, e->users[kind]);
		first = false;
	}
	buf_puts(&body, "}}");
	e->sent = fingerprint_fast(buf_text(&body), body.len);
	/* The server did not store it last time, and would not now. */
	e->releasing = false;
	if (e->sent != e->futile)
		patch(e, "/status", buf_text(&body));
	buf_done(&body);
}

/* Level-triggered: writes the first thing that differs. */
static void keep_auth(void *arg)
{
	static const char *const drop[] = { KEDA_FINALIZER, NULL };
	struct kept_auth *e = arg;
	const struct triggerauth *t = store_triggerauth_at(e->keeper->cache->store, e->key);
	bool held = t && meta_has_finalizer(&t->meta, KEDA_FINALIZER);

	if (!e->keeper->leading || !t || e->call || loop_timer_pending(&e->again))
		return;
	if (!held)
		e->released = false;
	if (held && !e->released) {
		MEM_AUTO char *body = meta_finalizers_patch(&t->meta, drop, NULL);

		e->releasing = true;
		patch(e, "", body);
		return;
	}
	if (t->meta.deleted_unix_ms)
		return;
	if (differs(e, t, SCALED_OBJECT) || differs(e, t, SCALED_JOB))
		write_users(e, t);
	else if (e->users[SCALED_OBJECT])
		e->futile = 0;
}

/* ---- Gathering ---- */

static void gather_soon(void *arg)
{
	struct authkeeper *k = arg;

	/* Before all objects are listed some users would be missing. */
	if (k->leading && k->entries && store_synced(k->cache->store) && !loop_timer_pending(&k->gather))
		loop_timer_set(&k->gather, AUTHKEEPER_GATHER_MS);
}

/* While ScaledJobs cannot be listed, the stored list of them stays. */
static bool jobs_known_to(const struct kept_auth *e, const char *users)
{
	MEM_AUTO char *namespace_ = mem_dupn(e->key, strcspn(e->key, "/"));
	const struct store *store = e->keeper->cache->store;
	const char *trouble;

	if (*users || e->users[SCALED_JOB])
		return true;
	return is_cluster(e->key) ? store_synced_scaledjobs(store, &trouble)
				  : store_knows(store, SCALED_JOB, namespace_, &trouble);
}

static void take_users(struct kept_auth *e, struct authusers *users)
{
	char *text = authusers_text(users, e->key, AUTHKEEPER_LIST_MAX);

	if (users->kind == SCALED_JOB && !jobs_known_to(e, text)) {
		free(text);
		return;
	}
	free(e->users[users->kind]);
	e->users[users->kind] = text;
}

static void on_gather(void *arg)
{
	struct authkeeper *k = arg;
	struct kept_auth *e, *next;

	for (enum scaled_kind kind = SCALED_OBJECT; kind <= SCALED_JOB; kind++) {
		struct authusers users = { .kind = kind };

		authusers_gather(&users, k->cache->store);
		HASH_ITER (hh, k->entries, e, next)
			take_users(e, &users);
		authusers_done(&users);
	}
	HASH_ITER (hh, k->entries, e, next)
		keep_auth(e);
}

/* ---- Events ---- */

/* verb NULL: it is new */
static void announce(const struct kept_auth *e, const char *what, const char *verb)
{
	const char *kind = kind_of(e->key);
	MEM_AUTO char *namespace_ = mem_dupn(e->key, strcspn(e->key, "/"));
	const char *name = e->key + strlen(namespace_) + 1;
	MEM_AUTO char *reason = mem_printf("%s%s", kind, what);
	MEM_AUTO char *note = verb ? mem_printf("%s %s %s", kind, name, verb) : mem_printf("New %s configured", kind);
	struct events_object about = {
		.api_version = "keda.sh/v1alpha1",
		.kind = kind,
		.namespace_ = namespace_,
		.name = name,
		.uid = e->uid,
		.resource_version = "",
	};

	events_send(e->keeper->events, &about, "Normal", reason, reason, note);
}

static void entry_stop(struct kept_auth *e)
{
	kube_cancel(e->call);
	e->call = NULL;
	loop_timer_cancel(&e->again);
	e->failures = 0;
	e->futile = 0;
	e->released = false;
}

static void entry_free(struct kept_auth *e)
{
	entry_stop(e);
	loop_timer_done(&e->again);
	HASH_DELETE(hh, e->keeper->entries, e);
	free(e->users[SCALED_OBJECT]);
	free(e->users[SCALED_JOB]);
	free(e->uid);
	free(e->key);
	free(e);
}

static struct kept_auth *entry_new(struct authkeeper *k, const char *key, const struct triggerauth *t)
{
	struct kept_auth *e = mem_zalloc(sizeof(*e));

	e->keeper = k;
	e->key = mem_dup(key);
	e->uid = mem_dup(t->meta.uid);
	e->generation = t->meta.generation;
	loop_timer_init(&e->again, k->cache->loop, keep_auth, e);
	HASH_ADD_KEYPTR(hh, k->entries, e->key, strlen(e->key), e);
	return e;
}

static void on_authentication(struct authkeeper *k, const char *key)
{
	const struct triggerauth *t = store_triggerauth_at(k->cache->store, key);
	const char *trouble;
	struct kept_auth *e;

	HASH_FIND_STR(k->entries, key, e);
	if (e && t && strcmp(e->uid, t->meta.uid) != 0) {
		/*
		 * Deleted and recreated. The answer to a write may show that: the entry must live
		 * on.
		 */
		announce(e, "Deleted", "was deleted");
		entry_stop(e);
		free(e->uid);
		e->uid = mem_dup(t->meta.uid);
		e->generation = t->meta.generation;
		announce(e, "Added", NULL);
	} else if (e && t) {
		if (e->generation != t->meta.generation)
			announce(e, "Updated", "is updated");
		e->generation = t->meta.generation;
	} else if (t) {
		e = entry_new(k, key, t);
		/* Objects of the first list are not news. */
		if (store_knows_triggerauths(k->cache->store, is_cluster(key), t->meta.namespace_, &trouble))
			announce(e, "Added", NULL);
	} else if (e) {
		announce(e, "Deleted", "was deleted");
		entry_free(e);
	}
}

static void on_triggerauth(void *arg, const char *key)
{
	if (key)
		on_authentication(arg, key);
	gather_soon(arg);
}

static void on_object(void *arg, struct object *o, unsigned changes)
{
	(void)o;
	if (changes & (OBJECT_SPEC | OBJECT_GONE))
		gather_soon(arg);
}

/* ---- Life ---- */

void authkeeper_set_leading(struct authkeeper *k, bool leading)
{
	struct kept_auth *e, *next;

	if (k->leading == leading)
		return;
	k->leading = leading;
	if (!leading) {
		loop_timer_cancel(&k->gather);
		HASH_ITER (hh, k->entries, e, next)
			entry_stop(e);
	}
	gather_soon(k);
}

struct authkeeper *authkeeper_new(struct cache *cache, struct kube *kube, struct events *events)
{
	static const struct store_events heard = { on_object, on_triggerauth, gather_soon };
	struct authkeeper *k = mem_zalloc(sizeof(*k));

	k->cache = cache;
	k->kube = kube;
	k->events = events;
	loop_timer_init(&k->gather, cache->loop, on_gather, k);
	cache_listen(cache, &heard, k);
	return k;
}

void authkeeper_free(struct authkeeper *k)
{
	struct kept_auth *e, *next;

	if (!k)
		return;
	HASH_ITER (hh, k->entries, e, next)
		entry_free(e);
	loop_timer_done(&k->gather);
	free(k);
}
