/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/objects/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/textlist.h"
#include "cache/objects/index.h"
#include "cache/objects/indexer.h"
#include "decide/hpaspec.h"
#include "decide/jobs/jobtemplate.h"

enum kind { KIND_SCALEDOBJECT, KIND_SCALEDJOB, KIND_HPA, KIND_TRIGGERAUTH, KIND_CLUSTERTRIGGERAUTH, KINDS };

#define JOB_KEY_PREFIX "scaledjobs/"

struct store {
	struct indexer *indexers[KINDS];
	struct index hpas;       /* by owning ScaledObject */
	struct index rival_hpas; /* foreign ones, by target */
	struct index claims;     /* ScaledObjects by their claims */
	bool learning;           /* an answer to a write of ours is being taken */
	struct store_events events;
	void *arg;
	bool told_synced;
};

/*
 * Truncates what does not fit, which is not a valid name anyway. Without printf, for speed: each
 * GET makes two.
 */
static char *put_key(const char *const parts[4], char out[STORE_KEY_MAX])
{
	char *at = out, *end = out + STORE_KEY_MAX - 1;

	for (size_t i = 0; i < 4; i++) {
		size_t len = strnlen(parts[i], (size_t)(end - at));

		memcpy(at, parts[i], len);
		at += len;
	}
	*at = '\0';
	return out;
}

char *store_key(const char *namespace_, const char *name, char out[STORE_KEY_MAX])
{
	return put_key((const char *const[]){ "", namespace_, "/", name }, out);
}

char *store_job_key(const char *namespace_, const char *name, char out[STORE_KEY_MAX])
{
	return put_key((const char *const[]){ JOB_KEY_PREFIX, namespace_, "/", name }, out);
}

/* A namespace may be called "scaledjobs": its ScaledObjects' keys have one slash, not two. */
enum scaled_kind store_key_kind(const char *key)
{
	size_t len = strlen(JOB_KEY_PREFIX);

	return strncmp(key, JOB_KEY_PREFIX, len) == 0 && strchr(key + len, '/') ? SCALED_JOB : SCALED_OBJECT;
}

static void notify_listeners(struct store *s, struct object *o, unsigned changes)
{
	if (o && changes && s->events.on_object)
		s->events.on_object(s->arg, o, changes);
}

static void tell_triggerauth(struct store *s, const char *key)
{
	if (s->events.on_triggerauth)
		s->events.on_triggerauth(s->arg, key);
}

/* ---- Meaning of changes, by kind ---- */

/* Kinds that kscaled cannot work without. */
static const enum kind needed[] = { KIND_SCALEDOBJECT, KIND_HPA };
#define NEEDED (sizeof(needed) / sizeof(needed[0]))

static void on_synced(void *arg)
{
	struct store *s = arg;

	if (s->told_synced || !store_synced(s))
		return;
	s->told_synced = true;
	if (s->events.on_synced)
		s->events.on_synced(s->arg);
}

static unsigned meta_changes(const struct meta *a, const struct meta *b)
{
	bool meta = a->deleted_unix_ms != b->deleted_unix_ms || !strmap_equal(&a->labels, &b->labels) ||
		!textlist_equal(a->finalizers, a->finalizer_count, b->finalizers, b->finalizer_count);

	return (strmap_equal(&a->annotations, &b->annotations) ? 0u : OBJECT_ANNOTATIONS) | (meta ? OBJECT_META : 0u);
}

/* Digests of spec and status, to detect relevant changes. */
struct digests {
	uint64_t spec, status;
};

static unsigned object_changes(const struct meta *a, struct digests before, const struct meta *b, struct digests now)
{
	unsigned changes;

	changes = meta_changes(a, b);
	if (before.spec != now.spec || a->generation != b->generation)
		changes |= OBJECT_SPEC;
	if (before.status != now.status)
		changes |= OBJECT_STATUS;
	return changes;
}

static struct digests digests_of(const struct scaled *of)
{
	return of->so ? (struct digests){ of->so->spec_digest, of->so->status_digest }
		      : (struct digests){ of->sj->spec_digest, of->sj->status_digest };
}

/* Removes the record before the event, so that listeners do not find it. */
static void lose_record(struct store *s, void **beside)
{
	struct object *o = *beside;

	*beside = NULL;
	o->gone = true;
	o->of = (struct scaled){ .kind = o->kind };
	notify_listeners(s, o, OBJECT_GONE);
	object_unref(o);
}

static void on_scaled(struct store *s, const struct scaled *now, const char *prefix, void **beside)
{
	struct object *o = *beside;
	unsigned changes = OBJECT_SPEC;

	/* A recreated object of the same name gets a new record. */
	if (o && (!now || strcmp(o->uid, now->meta->uid) != 0))
		lose_record(s, beside);
	if (!now)
		return;
	o = *beside;
	if (o)
		changes = object_changes(o->of.meta, digests_of(&o->of), now->meta, digests_of(now));
	else
		*beside = o = object_new(now, prefix);
	o->of = *now;
	if (now->sj)
		jobtemplate_see(o->served, now->meta->generation, now->sj->spec.template_print);
	/* Not for our own write: its author continues with the answer. */
	notify_listeners(s, o, s->learning ? changes & ~(unsigned)(OBJECT_STATUS | OBJECT_META) : changes);
}

struct store_claims store_claims_of(const struct scaledobject *so)
{
	char name[254];

	return (struct store_claims){
		.target = index_mark(so->meta.namespace_, scaledobject_target_kind(&so->spec),
			so->spec.target_name ? so->spec.target_name : ""),
		.hpa = index_mark(so->meta.namespace_, "HPA", scaledobject_hpa_name(so, name, sizeof(name))),
	};
}

static void file_claims(struct store *s, const struct scaledobject *so,
	void (*file)(struct index *x, uint64_t mark, const char *key))
{
	struct store_claims claims = store_claims_of(so);
	char key[STORE_KEY_MAX];

	store_key(so->meta.namespace_, so->meta.name, key);
	file(&s->claims, claims.target, key);
	file(&s->claims, claims.hpa, key);
}

static void move_claims(struct store *s, const struct scaledobject *before, const struct scaledobject *now)
{
	if (before && now && before->spec_digest == now->spec_digest)
		return;
	if (before)
		file_claims(s, before, index_remove);
	if (now)
		file_claims(s, now, index_add);
}

static void on_scaledobject(void *arg, const void *before, const void *now, void **beside)
{
	struct scaled is = now ? scaled_of_object(now) : (struct scaled){ .meta = NULL };

	move_claims(arg, before, now);
	on_scaled(arg, now ? &is : NULL, "", beside);
}

static void on_scaledjob(void *arg, const void *before, const void *now, void **beside)
{
	struct scaled is = now ? scaled_of_job(now) : (struct scaled){ .meta = NULL };

	(void)before;
	on_scaled(arg, now ? &is : NULL, JOB_KEY_PREFIX, beside);
}

/*
 * The ScaledObject of an HPA: its controller or, without one, the one it was created for. NULL:
 * none.
 */
static const char *hpa_owner(const struct hpa *hpa)
{
	const struct owner_ref *owner = meta_controller(&hpa->meta);

	if (owner)
		return strcmp(owner->kind, "ScaledObject") == 0 ? owner->name : NULL;
	return strmap_get(&hpa->meta.labels, HPASPEC_NAME_LABEL);
}

static bool same_owners(const struct meta *a, const struct meta *b)
{
	const struct owner_ref *one = meta_controller(a), *other = meta_controller(b);

	return one && other ? strcmp(one->uid, other->uid) == 0 : !one && !other;
}

/* Only the relevant part of the status: its metrics are written every 15 s. */
static bool same_hpa_status(const struct hpa *a, const struct hpa *b)
{
	return a->desired_replicas == b->desired_replicas && a->last_scale_unix_ms == b->last_scale_unix_ms &&
		text_equal(a->scaling_active_status, b->scaling_active_status) &&
		text_equal(a->scaling_active_reason, b->scaling_active_reason) &&
		text_equal(a->scaling_active_message, b->scaling_active_message);
}

static unsigned hpa_changes(const struct hpa *a, const struct hpa *b)
{
	bool same = strcmp(a->meta.uid, b->meta.uid) == 0 && a->spec_fingerprint == b->spec_fingerprint &&
		same_owners(&a->meta, &b->meta) && !meta_changes(&a->meta, &b->meta);

	return (same ? 0u : OBJECT_HPA) | (same_hpa_status(a, b) ? 0u : OBJECT_HPA_STATUS);
}

static void file_hpa(struct store *s, const struct hpa *hpa, const char *owner,
	void (*file)(struct index *x, uint64_t mark, const char *key))
{
	char key[STORE_KEY_MAX];

	if (owner)
		file(&s->hpas, index_mark(hpa->meta.namespace_, "ScaledObject", owner),
			store_key(hpa->meta.namespace_, hpa->meta.name, key));
}

static void tell_owner(struct store *s, unsigned changes, const struct hpa *hpa, const char *owner)
{
	if (owner)
		notify_listeners(s, store_find(s, SCALED_OBJECT, hpa->meta.namespace_, owner), changes);
}

/*
 * The claim of a foreign HPA's target, as a ScaledObject would have it; 0: none, or the HPA is
 * ours.
 */
static uint64_t rival_claim(const struct hpa *hpa)
{
	struct scaledobject_spec spec = { .target_name = NULL };

	if (!hpa || !hpa->target_name || !*hpa->target_name || hpaspec_is_managed(hpa))
		return 0;
	spec.target_kind = (char *)(uintptr_t)hpa->target_kind;
	return index_mark(hpa->meta.namespace_, scaledobject_target_kind(&spec), hpa->target_name);
}

/* Notifies objects with the same claim. */
static void tell_rivals(struct store *s, uint64_t claim)
{
	struct object *o;

	for (const struct index_entry *at = NULL; (o = store_next_claim(s, claim, &at));)
		notify_listeners(s, o, OBJECT_HPA);
}

static void move_rival(struct store *s, const struct meta *meta, uint64_t old, uint64_t new)
{
	char key[STORE_KEY_MAX];

	if (old == new)
		return;
	store_key(meta->namespace_, meta->name, key);
	if (old) {
		index_remove(&s->rival_hpas, old, key);
		tell_rivals(s, old);
	}
	if (new) {
		index_add(&s->rival_hpas, new, key);
		tell_rivals(s, new);
	}
}

/* Concerns both the previous and the new owner. */
static void on_hpa(void *arg, const void *before, const void *now, void **beside)
{
	struct store *s = arg;
	const char *old = before ? hpa_owner(before) : NULL, *new = now ? hpa_owner(now) : NULL;
	bool moved = !text_equal(old, new);

	(void)beside;
	move_rival(s, now ? now : before, rival_claim(before), rival_claim(now));
	if (moved && before)
		file_hpa(s, before, old, index_remove);
	if (moved && now)
		file_hpa(s, now, new, index_add);
	if (now)
		tell_owner(s, before && !moved ? hpa_changes(before, now) : OBJECT_HPA | OBJECT_HPA_STATUS, now, new);
	if (before && (moved || !now))
		tell_owner(s, OBJECT_HPA, before, old);
}

struct waiting {
	struct store *store;
	const char *namespace_;
};

static void tell_waiting(void *arg, const void *object, void *beside)
{
	const struct waiting *w = arg;
	const struct scaledobject *so = object;

	if (!w->namespace_ || strcmp(w->namespace_, so->meta.namespace_) == 0)
		notify_listeners(w->store, beside, OBJECT_HPA);
}

/* Notifies objects whose HPAs or rivals could not be looked up before. */
static void on_neighbours_known(void *arg, const char *namespace_)
{
	struct store *s = arg;

	indexer_each(s->indexers[KIND_SCALEDOBJECT], tell_waiting, &(struct waiting){ s, namespace_ });
}

static void on_triggerauth(void *arg, const void *before, const void *now, void **beside)
{
	const struct triggerauth *t = now ? now : before;
	char key[STORE_KEY_MAX];

	(void)beside;
	tell_triggerauth(arg, store_key(t->meta.namespace_, t->meta.name, key));
}

static void on_triggerauths_known(void *arg, const char *namespace_)
{
	(void)namespace_;
	tell_triggerauth(arg, NULL);
}

/* ---- The kinds ---- */

static void *decode_scaledobject(const json_t *object, struct err *err)
{
	return scaledobject_decode(object, err);
}

static void free_scaledobject(void *object)
{
	scaledobject_free(object);
}

static void *decode_scaledjob(const json_t *object, struct err *err)
{
	return scaledjob_decode(object, err);
}

static void free_scaledjob(void *object)
{
	scaledjob_free(object);
}

static bool is_of_a_scaledobject(const json_t *metadata)
{
	const json_t *owner;
	size_t i;

	json_array_foreach(json_object_get(metadata, "ownerReferences"), i,
		owner) if (json_str_is(owner, "kind", "ScaledObject")) return true;
	return false;
}

/* Little is kept of foreign HPAs. */
static void *decode_hpa(const json_t *object, struct err *err)
{
	const json_t *metadata = json_object_get(object, "metadata");
	bool ours = json_str_is(json_object_get(metadata, "labels"), HPASPEC_MANAGED_LABEL, "true");

	return ours || is_of_a_scaledobject(metadata) ? hpa_decode(object, err) : hpa_decode_slim(object, err);
}

static void free_hpa(void *object)
{
	hpa_free(object);
}

static void *decode_triggerauth(const json_t *object, struct err *err)
{
	return triggerauth_decode(object, err);
}

static void free_triggerauth(void *object)
{
	triggerauth_free(object);
}

#define KEDA_PATH "/apis/keda.sh/v1alpha1"

static const struct {
	struct indexer_kind kind;
	struct indexer_events events;
} kinds[KINDS] = {
	[KIND_SCALEDOBJECT] = {
		{
			.kind = "ScaledObject",
			.resource = "scaledobjects",
			.group_path = KEDA_PATH,
			.every_read = true,
			.decode = decode_scaledobject,
			.free = free_scaledobject,
		},
		{ on_scaledobject, on_neighbours_known, on_synced },
	},
	[KIND_SCALEDJOB] = {
		{
			.kind = "ScaledJob",
			.resource = "scaledjobs",
			.group_path = KEDA_PATH,
			.key_prefix = JOB_KEY_PREFIX,
			.optional = true,
			.every_read = true,
			.decode = decode_scaledjob,
			.free = free_scaledjob,
		},
		{ on_scaledjob, NULL, on_synced },
	},
	[KIND_HPA] = {
		{
			.kind = "HorizontalPodAutoscaler",
			.resource = "horizontalpodautoscalers",
			.group_path = "/apis/autoscaling/v2",
			.decode = decode_hpa,
			.free = free_hpa,
		},
		{ on_hpa, on_neighbours_known, on_synced },
	},
	[KIND_TRIGGERAUTH] = {
		{
			.kind = TRIGGERAUTH_KIND,
			.resource = "triggerauthentications",
			.group_path = KEDA_PATH,
			.optional = true,
			.decode = decode_triggerauth,
			.free = free_triggerauth,
		},
		{ on_triggerauth, on_triggerauths_known, on_synced },
	},
	[KIND_CLUSTERTRIGGERAUTH] = {
		{
			.kind = TRIGGERAUTH_CLUSTER_KIND,
			.resource = "clustertriggerauthentications",
			.group_path = KEDA_PATH,
			.cluster_wide = true,
			.optional = true,
			.decode = decode_triggerauth,
			.free = free_triggerauth,
		},
		{ on_triggerauth, on_triggerauths_known, on_synced },
	},
};

/* ---- Interface ---- */

struct store *store_new(struct kube *kube, struct counters *counters)
{
	struct store *s = mem_zalloc(sizeof(*s));

	for (int kind = 0; kind < KINDS; kind++)
		s->indexers[kind] = indexer_new(kube, &kinds[kind].kind, counters, &kinds[kind].events, s);
	return s;
}

void store_clear(struct store *s)
{
	indexer_clear(s->indexers[KIND_SCALEDOBJECT]);
	indexer_clear(s->indexers[KIND_SCALEDJOB]);
}

void store_free(struct store *s)
{
	if (!s)
		return;
	s->events = (struct store_events){ NULL, NULL, NULL };
	store_clear(s);
	for (int kind = 0; kind < KINDS; kind++)
		indexer_free(s->indexers[kind]);
	index_done(&s->hpas);
	index_done(&s->rival_hpas);
	index_done(&s->claims);
	free(s);
}

void store_start(struct store *s, const char *const *namespaces, size_t count)
{
	for (int kind = 0; kind < KINDS; kind++)
		indexer_start(s->indexers[kind], namespaces, count);
}

bool store_watches(const struct store *s, const char *namespace_)
{
	return indexer_watches(s->indexers[KIND_SCALEDOBJECT], namespace_);
}

bool store_synced(const struct store *s)
{
	for (size_t i = 0; i < NEEDED; i++)
		if (!indexer_synced(s->indexers[needed[i]]))
			return false;
	return true;
}

const char *store_trouble(const struct store *s)
{
	const char *trouble = NULL;

	for (size_t i = 0; i < NEEDED && !trouble; i++)
		trouble = indexer_trouble(s->indexers[needed[i]]);
	return trouble;
}

void store_listen(struct store *s, const struct store_events *events, void *arg)
{
	s->events = *events;
	s->arg = arg;
}

/* ---- ScaledObjects and ScaledJobs ---- */

static struct indexer *indexer_of(const struct store *s, enum scaled_kind kind)
{
	return s->indexers[kind == SCALED_JOB ? KIND_SCALEDJOB : KIND_SCALEDOBJECT];
}

struct object *store_object(const struct store *s, const char *key)
{
	return indexer_beside(indexer_of(s, store_key_kind(key)), key);
}

struct object *store_find(const struct store *s, enum scaled_kind kind, const char *namespace_, const char *name)
{
	char key[STORE_KEY_MAX];

	return indexer_beside(indexer_of(s, kind),
		kind == SCALED_JOB ? store_job_key(namespace_, name, key) : store_key(namespace_, name, key));
}

struct each_object {
	void (*fn)(void *arg, struct object *o);
	void *arg;
};

static void on_each_object(void *arg, const void *stored, void *beside)
{
	const struct each_object *each = arg;

	(void)stored;
	each->fn(each->arg, beside);
}

void store_each_object(const struct store *s, void (*fn)(void *arg, struct object *o), void *arg)
{
	struct each_object each = { fn, arg };

	indexer_each(indexer_of(s, SCALED_OBJECT), on_each_object, &each);
	indexer_each(indexer_of(s, SCALED_JOB), on_each_object, &each);
}

size_t store_count(const struct store *s, enum scaled_kind kind)
{
	return indexer_count(indexer_of(s, kind));
}

struct object *store_next_claim(const struct store *s, uint64_t claim, const struct index_entry **at)
{
	const char *key;
	struct object *o = NULL;

	while (!o && (key = index_next(&s->claims, claim, at)))
		o = store_object(s, key);
	return o;
}

bool store_knows(const struct store *s, enum scaled_kind kind, const char *namespace_, const char **trouble)
{
	return indexer_knows(indexer_of(s, kind), namespace_, trouble);
}

bool store_synced_scaledjobs(const struct store *s, const char **trouble)
{
	*trouble = indexer_trouble(s->indexers[KIND_SCALEDJOB]);
	return indexer_synced(s->indexers[KIND_SCALEDJOB]);
}

bool store_has(const struct store *s, const struct objecttext *text)
{
	static const enum kind written[] = { KIND_SCALEDOBJECT, KIND_SCALEDJOB, KIND_HPA };

	for (size_t i = 0; i < MEM_COUNT(written); i++)
		if (indexer_has(s->indexers[written[i]], text))
			return true;
	return false;
}

void store_learn(struct store *s, enum scaled_kind kind, const json_t *object)
{
	s->learning = true;
	indexer_learn(indexer_of(s, kind), object);
	s->learning = false;
}

/* ---- HPAs ---- */

const struct hpa *store_hpa(const struct store *s, const char *key)
{
	const struct hpa *hpa = indexer_get(s->indexers[KIND_HPA], key);

	return hpa && !hpa->slim ? hpa : NULL;
}

const struct hpa *store_hpa_named(const struct store *s, const struct scaledobject *so)
{
	char name[254], key[STORE_KEY_MAX];

	return store_hpa(s, store_key(so->meta.namespace_, scaledobject_hpa_name(so, name, sizeof(name)), key));
}

const struct hpa *store_next_rival_hpa(const struct store *s, uint64_t claim, const struct index_entry **at)
{
	const char *key = index_next(&s->rival_hpas, claim, at);

	return key ? indexer_get(s->indexers[KIND_HPA], key) : NULL;
}

bool store_knows_hpas(const struct store *s, const char *namespace_, const char **trouble)
{
	return indexer_knows(s->indexers[KIND_HPA], namespace_, trouble);
}

const struct hpa *store_hpa_of(const struct store *s, const struct scaledobject *so, const char *except)
{
	uint64_t mark = index_mark(so->meta.namespace_, "ScaledObject", so->meta.name);
	const struct index_entry *at = NULL;
	const char *key;

	while ((key = index_next(&s->hpas, mark, &at))) {
		const struct hpa *hpa = store_hpa(s, key);

		if (hpa && !hpa->meta.deleted_unix_ms && strcmp(hpa->meta.name, except) != 0 && hpaspec_is_of(hpa, so))
			return hpa;
	}
	return NULL;
}

void store_learn_hpa(struct store *s, const json_t *object)
{
	indexer_learn(s->indexers[KIND_HPA], object);
}

void store_forget_hpa(struct store *s, const char *key)
{
	indexer_forget(s->indexers[KIND_HPA], key);
}

/* ---- TriggerAuthentications ---- */

static struct indexer *triggerauths(const struct store *s, bool cluster)
{
	return s->indexers[cluster ? KIND_CLUSTERTRIGGERAUTH : KIND_TRIGGERAUTH];
}

const struct triggerauth *store_triggerauth_at(const struct store *s, const char *key)
{
	return indexer_get(triggerauths(s, *key == '/'), key);
}

const struct triggerauth *store_triggerauth(const struct store *s, bool cluster, const char *namespace_,
	const char *name)
{
	char key[STORE_KEY_MAX];

	return store_triggerauth_at(s, store_key(cluster ? "" : namespace_, name, key));
}

bool store_knows_triggerauths(const struct store *s, bool cluster, const char *namespace_, const char **trouble)
{
	return indexer_knows(triggerauths(s, cluster), cluster ? "" : namespace_, trouble);
}

struct each_triggerauth {
	void (*fn)(void *arg, const struct triggerauth *t);
	void *arg;
};

static void on_each_triggerauth(void *arg, const void *object, void *beside)
{
	const struct each_triggerauth *each = arg;

	(void)beside;
	each->fn(each->arg, object);
}

void store_each_triggerauth(const struct store *s, void (*fn)(void *arg, const struct triggerauth *t), void *arg)
{
	struct each_triggerauth each = { fn, arg };

	indexer_each(triggerauths(s, false), on_each_triggerauth, &each);
	indexer_each(triggerauths(s, true), on_each_triggerauth, &each);
}

void store_learn_triggerauth(struct store *s, bool cluster, const json_t *object)
{
	indexer_learn(triggerauths(s, cluster), object);
}
