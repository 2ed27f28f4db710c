/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/objects/jobs.h"

#include <stdlib.h>
#include <string.h>

#include <utlist.h>

#include "base/fingerprint.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "cache/objects/indexer.h"
#include "cache/objects/store.h"

#define FIRST_ROOM 4

/* How long a deleted Job's finishing time is kept: longer than a survey of triggers takes. */
#define GONE_MS  60000
#define GONE_MAX 10000

/* The Jobs of one ScaledJob. */
struct owner {
	struct jobs_seen *list;
	size_t count, room;
	struct jobs_tally tally;
	int64_t finish_seen_ms; /* of the last Job seen to finish; 0 */
	UT_hash_handle hh;
	char key[];
};

/* A Job that finished recently and was deleted, by ttlSecondsAfterFinished 0 or by someone. */
struct gone {
	struct gone *prev, *next;
	uint64_t owner; /* fingerprint of the key */
	int64_t finished_seen_ms;
};

struct jobs {
	struct kube *kube;
	struct loop *loop;
	struct counters *counters; /* NULL */
	const char *const *namespaces;
	size_t namespace_count;
	jobs_fn fn;
	void *arg;
	struct indexer *indexer; /* NULL: closed */
	struct owner *owners;
	struct gone *gone; /* in order of deletion */
	size_t gone_count;
};

static char *key_of(const struct job *job, char out[STORE_KEY_MAX])
{
	return store_job_key(job->meta.namespace_, job->owner, out);
}

/* Called last: the callback may close. */
static void notify_listener(struct jobs *j, const char *owner)
{
	if (j->fn)
		j->fn(j->arg, owner);
}

/* ---- Jobs by owner ---- */

static struct owner *owner_find(const struct jobs *j, const char *key)
{
	struct owner *o;

	HASH_FIND_STR(j->owners, key, o);
	return o;
}

static struct owner *owner_get(struct jobs *j, const char *key)
{
	struct owner *o = owner_find(j, key);
	size_t len = strlen(key);

	if (o)
		return o;
	o = mem_zalloc(sizeof(*o) + len + 1);
	memcpy(o->key, key, len);
	HASH_ADD(hh, j->owners, key, len, o);
	return o;
}

static void owner_free(struct jobs *j, struct owner *o)
{
	HASH_DEL(j->owners, o);
	free(o->list);
	free(o);
}

static size_t *counted_as(struct owner *o, const struct job *job)
{
	return job->state == JOB_RUNNING     ? &o->tally.running
		: job->state == JOB_COMPLETE ? &o->tally.complete
					     : &o->tally.failed;
}

/* By its place: an owner may have any number of Jobs, and a new list brings all of them. */
static struct jobs_seen *seen_find(const struct owner *o, const struct job *job)
{
	return &o->list[job->place];
}

static void put_seen(struct owner *o, size_t place, struct jobs_seen seen)
{
	o->list[place] = seen;
	((struct job *)(uintptr_t)seen.job)->place = place; /* our own object, const for everyone else */
}

static void seen_add(struct owner *o, struct jobs_seen seen)
{
	if (o->count == o->room) {
		o->room = o->room ? o->room + o->room / 2 : FIRST_ROOM;
		o->list = mem_resize(o->list, o->room, sizeof(*o->list));
	}
	put_seen(o, o->count++, seen);
	++*counted_as(o, seen.job);
	if (seen.finished_seen_ms > o->finish_seen_ms)
		o->finish_seen_ms = seen.finished_seen_ms;
}

static void seen_remove(struct jobs *j, struct owner *o, struct jobs_seen *seen)
{
	--*counted_as(o, seen->job);
	o->count--;
	if (seen < o->list + o->count)
		put_seen(o, (size_t)(seen - o->list), o->list[o->count]);
	if (o->count == 0)
		owner_free(j, o);
}

/* Removes it from the index; returns when it was seen to finish. */
static int64_t take_out(struct jobs *j, const struct job *job)
{
	char key[STORE_KEY_MAX];
	struct owner *o = owner_find(j, key_of(job, key));
	struct jobs_seen *seen = o ? seen_find(o, job) : NULL;
	int64_t finished_seen_ms = seen ? seen->finished_seen_ms : 0;

	if (seen)
		seen_remove(j, o, seen);
	return finished_seen_ms;
}

/*
 * A Job that is finished when first seen ran between two events (or was labelled by hand later),
 * and its queue may have been read before it removed its items. Not so in the first list, before
 * which no queue was read.
 */
static int64_t finished_when(const struct jobs *j, const struct job *before, int64_t before_ms, const struct job *now)
{
	const char *trouble;

	if (now->state == JOB_RUNNING)
		return 0;
	if (before && before->state != JOB_RUNNING && strcmp(before->meta.uid, now->meta.uid) == 0)
		return before_ms;
	return before || indexer_knows(j->indexer, now->meta.namespace_, &trouble) ? loop_now_ms(j->loop) : 0;
}

/* ---- Recently deleted Jobs ---- */

static void gone_free(struct jobs *j, struct gone *g)
{
	DL_DELETE(j->gone, g);
	j->gone_count--;
	free(g);
}

static void gone_add(struct jobs *j, const char *owner, int64_t finished_seen_ms)
{
	int64_t now_ms = loop_now_ms(j->loop);
	struct gone *g;

	if (!finished_seen_ms || now_ms - finished_seen_ms > GONE_MS)
		return;
	while (j->gone && (j->gone_count >= GONE_MAX || now_ms - j->gone->finished_seen_ms > GONE_MS))
		gone_free(j, j->gone);
	g = mem_zalloc(sizeof(*g));
	g->owner = fingerprint_fast(owner, strlen(owner));
	g->finished_seen_ms = finished_seen_ms;
	DL_APPEND(j->gone, g);
	j->gone_count++;
}

static size_t gone_since(const struct jobs *j, const char *owner, int64_t since_ms)
{
	uint64_t print = j->gone ? fingerprint_fast(owner, strlen(owner)) : 0;
	const struct gone *g;
	size_t count = 0;

	DL_FOREACH (j->gone, g)
		count += g->owner == print && g->finished_seen_ms > since_ms;
	return count;
}

/* ---- The indexer ---- */

static void on_changed(void *arg, const void *before, const void *now, void **beside)
{
	struct jobs *j = arg;
	const struct job *old = before, *new = now;
	bool news = !old || !new || strcmp(old->meta.resource_version, new->meta.resource_version) != 0;
	char old_key[STORE_KEY_MAX] = "", new_key[STORE_KEY_MAX] = "";
	int64_t finished_ms = old ? take_out(j, old) : 0;

	(void)beside;
	if (old)
		key_of(old, old_key);
	if (!new)
		gone_add(j, old_key, finished_ms);
	if (new)
		seen_add(owner_get(j, key_of(new, new_key)),
			(struct jobs_seen){ new, finished_when(j, old, finished_ms, new) });
	if (news && old && strcmp(old_key, new_key) != 0)
		notify_listener(j, old_key);
	if (news && new)
		notify_listener(j, new_key);
}

static void on_known(void *arg, const char *namespace_)
{
	(void)namespace_;
	notify_listener(arg, NULL);
}

/* One allocation instead of seven: there are tens of thousands. */
static struct job *pack(const struct job *job)
{
	const char *const from[] = { job->meta.namespace_, job->meta.name, job->meta.uid, job->meta.resource_version,
		job->owner, job->owner_uid };
	enum { STRINGS = sizeof(from) / sizeof(from[0]) };
	size_t size = sizeof(*job);
	struct job *packed;
	char *to[STRINGS], *end;

	for (size_t i = 0; i < STRINGS; i++)
		size += from[i] ? strlen(from[i]) + 1 : 0;
	packed = mem_alloc(size);
	*packed = *job;
	packed->meta.labels = packed->meta.annotations = (struct strmap){ NULL, 0 };
	packed->meta.finalizers = NULL;
	packed->meta.owners = NULL;
	packed->meta.finalizer_count = packed->meta.owner_count = 0;
	end = (char *)(packed + 1);
	for (size_t i = 0; i < STRINGS; i++) {
		to[i] = from[i] ? end : NULL;
		if (from[i])
			end = stpcpy(end, from[i]) + 1;
	}
	packed->meta.namespace_ = to[0];
	packed->meta.name = to[1];
	packed->meta.uid = to[2];
	packed->meta.resource_version = to[3];
	packed->owner = to[4];
	packed->owner_uid = to[5];
	return packed;
}

static void *decode(const json_t *object, struct err *err)
{
	struct job *job = job_decode(object, err), *packed = job ? pack(job) : NULL;

	job_free(job);
	return packed;
}

/* Selected by the label only, whoever set it, as in KEDA. */
static const struct indexer_kind kind = {
	.kind = "Job",
	.resource = "jobs",
	.group_path = "/apis/batch/v1",
	.label_selector = JOB_OWNER_LABEL,
	.label = JOB_OWNER_LABEL,
	.grant = "grant list and watch on jobs.batch (`kscaled manifests` does without --no-scaledjobs)",
	.optional = true,
	.every_read = true,
	.decode = decode,
	.free = free,
};

/* ---- Interface ---- */

struct jobs *jobs_new(struct kube *kube, struct loop *loop, struct counters *counters)
{
	struct jobs *j = mem_zalloc(sizeof(*j));

	j->kube = kube;
	j->loop = loop;
	j->counters = counters;
	return j;
}

void jobs_free(struct jobs *j)
{
	if (!j)
		return;
	jobs_close(j);
	free(j);
}

void jobs_start(struct jobs *j, const char *const *namespaces, size_t count)
{
	j->namespaces = namespaces;
	j->namespace_count = count;
}

void jobs_listen(struct jobs *j, jobs_fn fn, void *arg)
{
	j->fn = fn;
	j->arg = arg;
}

void jobs_open(struct jobs *j)
{
	static const struct indexer_events events = { on_changed, on_known, NULL };

	if (j->indexer)
		return;
	j->indexer = indexer_new(j->kube, &kind, j->counters, &events, j);
	indexer_start(j->indexer, j->namespaces, j->namespace_count);
}

void jobs_close(struct jobs *j)
{
	struct owner *o, *next;

	indexer_free(j->indexer);
	j->indexer = NULL;
	HASH_ITER (hh, j->owners, o, next)
		owner_free(j, o);
	while (j->gone)
		gone_free(j, j->gone);
}

bool jobs_known(const struct jobs *j, const char *namespace_, const char **trouble)
{
	*trouble = NULL;
	return j->indexer && indexer_knows(j->indexer, namespace_, trouble);
}

/* ---- Questions ---- */

const struct jobs_seen *jobs_of(const struct jobs *j, const char *owner, size_t *count)
{
	const struct owner *o = owner_find(j, owner);

	*count = o ? o->count : 0;
	return o ? o->list : NULL;
}

const struct job *jobs_find(const struct jobs *j, const char *namespace_, const char *name)
{
	char key[STORE_KEY_MAX];

	return j->indexer ? indexer_get(j->indexer, store_key(namespace_, name, key)) : NULL;
}

size_t jobs_running(const struct jobs *j, const char *owner, int64_t since_ms)
{
	const struct owner *o = owner_find(j, owner);
	size_t running = gone_since(j, owner, since_ms) + (o ? o->tally.running : 0);

	if (!o || o->finish_seen_ms <= since_ms)
		return running;
	for (size_t i = 0; i < o->count; i++)
		running += o->list[i].finished_seen_ms > since_ms;
	return running;
}

struct jobs_tally jobs_tally(const struct jobs *j, const char *owner)
{
	const struct owner *o = owner_find(j, owner);

	return o ? o->tally : (struct jobs_tally){ 0, 0, 0 };
}

/* ---- Answers to writes ---- */

/*
 * A Job without the label, removed by an admission plugin, is ignored: no watch would report its
 * deletion.
 */
void jobs_learn(struct jobs *j, const json_t *job)
{
	const json_t *meta = json_object_get(job, "metadata");

	if (!j->indexer)
		return;
	if (json_object_get(json_object_get(meta, "labels"), JOB_OWNER_LABEL))
		indexer_learn(j->indexer, job);
	else
		jobs_forget(j, json_str_or_empty(meta, "namespace"), json_str_or_empty(meta, "name"));
}

void jobs_forget(struct jobs *j, const char *namespace_, const char *name)
{
	char key[STORE_KEY_MAX];

	if (j->indexer)
		indexer_forget(j->indexer, store_key(namespace_, name, key));
}
