/* SPDX-License-Identifier: Apache-2.0 */
/* One target: its state and how it was read, by the watch of its kind, a GET, or /scale. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fingerprint.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "cache/objects/targets_parts.h"
#include "kube/version.h"

#define SHAPE_BYTES_MAX (4 << 20)

static void add_env(struct buf *b, const struct workload_container *c)
{
	buf_printf(b, "%s\n", c->name);
	for (size_t i = 0; i < c->env_count; i++)
		buf_printf(b, "%s=%d %s %s %s %d\n", c->env[i].name, (int)c->env[i].source,
			c->env[i].value ? c->env[i].value : "", c->env[i].ref_name ? c->env[i].ref_name : "",
			c->env[i].ref_key ? c->env[i].ref_key : "", c->env[i].optional);
	for (size_t i = 0; i < c->env_from_count; i++)
		buf_printf(b, "from %d %s %s %d\n", (int)c->env_from[i].kind, c->env_from[i].name,
			c->env_from[i].prefix ? c->env_from[i].prefix : "", c->env_from[i].optional);
}

uint64_t targets_object_shape(const struct workload *w)
{
	struct buf b = BUF_INIT(SHAPE_BYTES_MAX);
	uint64_t shape;

	buf_printf(&b, "%s %d %s %s %s\n", w->uid, w->replicas, w->no_environment ? w->no_environment : "",
		w->service_account ? w->service_account : "", w->template_deployment ? w->template_deployment : "");
	for (size_t i = 0; i < w->container_count; i++)
		add_env(&b, &w->containers[i]);
	shape = fingerprint_fast(buf_text(&b), b.len);
	buf_done_secret(&b);
	return shape;
}

#define READ_FAILURES_TOLD 3 /* consecutive; fewer are not reported */

struct target *targets_object_find(struct targets *t, const char *key)
{
	struct target *target;

	HASH_FIND_STR(t->targets, key, target);
	return target;
}

char *targets_object_collection(const char *group, const char *version, const char *resource, const char *namespace_)
{
	MEM_AUTO char *root = *group ? mem_printf("/apis/%s/%s", group, version) : mem_printf("/api/%s", version);

	return namespace_ ? mem_printf("%s/namespaces/%s/%s", root, namespace_, resource)
			  : mem_printf("%s/%s", root, resource);
}

/* ---- Notifying ---- */

static void tell_owners(const struct target *target)
{
	const struct targets *t = target->place->owner;

	for (struct object *o = target->owners; o && t->fn; o = o->next_of_target)
		t->fn(t->arg, o, OBJECT_TARGET);
}

void targets_object_tell(struct target *target)
{
	tell_owners(target);
	for (const struct target *b = target->borrowers; b; b = b->next_borrower)
		tell_owners(b);
}

static void drop_unsure(struct target *target)
{
	workload_free(target->unsure);
	target->unsure = NULL;
}

void targets_object_missing(struct target *target)
{
	bool changed = target->state != TARGET_MISSING;

	drop_unsure(target);
	workload_free(target->workload);
	target->workload = NULL;
	target->state = TARGET_MISSING;
	if (changed)
		targets_object_tell(target);
}

/* Takes w. */
static void set_present(struct target *target, struct workload *w)
{
	uint64_t shape = targets_object_shape(w);
	bool changed = target->state != TARGET_PRESENT || target->shape != shape;

	workload_free(target->workload);
	target->workload = w;
	target->shape = shape;
	target->state = TARGET_PRESENT;
	target->place->owner->on_present(target);
	if (changed)
		targets_object_tell(target);
}

static void set_trouble(struct target *target, char *trouble)
{
	free(target->trouble);
	target->trouble = trouble;
}

/* The watch is newer than a GET that started before it. */
void targets_object_read_stop(struct target *target)
{
	refetch_free(target->read);
	target->read = NULL;
	set_trouble(target, NULL);
}

/* Reports the error to waiting owners when it lasts. */
static void reading_failed(struct target *target, bool scale, const struct err *err, unsigned failures)
{
	if (failures == 1 || failures == READ_FAILURES_TOLD)
		log_warn(target->key, "%scannot be read: %s", scale ? "its scale " : "", err->msg);
	if (err->kind == ERR_TEMPORARY && failures < READ_FAILURES_TOLD)
		return;
	set_trouble(target,
		mem_printf("reading %s%s: %s%s%s", scale ? "the scale of " : "", target->key,
			informer_is_denied(err) ? target->place->grant : "", informer_is_denied(err) ? ": " : "",
			err->msg));
	if (target->state == TARGET_UNREAD)
		targets_object_tell(target);
}

/* ---- Replicas that only /scale has ---- */

void targets_object_scale_stop(struct target *target)
{
	refetch_free(target->scale);
	target->scale = NULL;
	drop_unsure(target);
}

/* /scale is the only information about a kind that may not be watched. Takes w. */
static void take_scale_alone(struct target *target, struct workload *w)
{
	const struct target_place *place = target->place;

	if (target->workload && strcmp(target->workload->uid, w->uid) == 0 &&
		version_compare(w->resource_version, target->workload->resource_version) < 0) {
		workload_free(w);
		return;
	}
	w->no_environment = mem_printf("the environment of the scale target cannot be read: kscaled needs a role with "
				       "the verbs get, list and watch on %s%s%s",
		place->resource, *place->group ? "." : "", place->group);
	set_present(target, w);
}

/* Takes w. */
static void make_sure(struct target *target, struct workload *w)
{
	struct workload *sure = target->unsure;
	int compared = sure ? version_compare(w->resource_version, sure->resource_version) : 0;

	if (sure && (compared >= 0 || !refetch_under_way(target->scale))) {
		target->unsure = NULL;
		sure->replicas = w->replicas;
		if (compared > 0 && *w->resource_version) {
			free(sure->resource_version);
			sure->resource_version = mem_dup(w->resource_version);
		}
		set_present(target, sure);
	}
	workload_free(w);
}

static void on_scale(void *arg, const json_t *scale, const struct err *err, unsigned failures)
{
	struct target *target = arg;
	struct target_place *place = target->place;
	struct err wrong = { 0 };
	struct workload *w = err ? NULL : workload_decode_scale(scale, &wrong);

	if (err && err->kind == ERR_MISSING && place->denied) {
		set_trouble(target, NULL);
		targets_object_missing(target);
		return;
	}
	if (!w) {
		if (err && err->kind == ERR_MISSING)
			kinds_doubt(place->owner->kinds, place->group, place->version);
		reading_failed(target, true, err ? err : &wrong, err ? failures : 1);
		return;
	}
	set_trouble(target, NULL);
	if (place->denied)
		take_scale_alone(target, w);
	else
		make_sure(target, w);
}

static struct refetch *refetch_of(struct target *target, const char *subresource, refetch_fn fn)
{
	const struct target_place *place = target->place;
	MEM_AUTO char *collection = targets_object_collection(place->group, place->version, place->resource,
		target->namespace_);
	MEM_AUTO char *path = mem_printf("%s/%s%s", collection, target->name, subresource);

	return refetch_new(place->owner->kube, path, fn, target);
}

static struct refetch *scale_of(struct target *target)
{
	if (!target->scale)
		target->scale = refetch_of(target, "/scale", on_scale);
	return target->scale;
}

/*
 * The replicas are in a part of the spec that only the API server knows; they are unchanged while
 * the spec is. Takes w.
 */
static void take_unsure(struct target *target, struct workload *w)
{
	const struct workload *known = target->unsure ? NULL : target->workload;

	if (known && w->generation > 0 && known->generation == w->generation && strcmp(known->uid, w->uid) == 0) {
		w->replicas = known->replicas;
		set_present(target, w);
		return;
	}
	drop_unsure(target);
	target->unsure = w;
	refetch_now(scale_of(target));
}

void targets_object_poll(struct target *target)
{
	targets_object_read_stop(target);
	drop_unsure(target);
	refetch_every(scale_of(target), TARGETS_SCALE_PERIOD_MS);
}

/* ---- New states ---- */

void targets_object_take(struct target *target, const json_t *object, bool authoritative)
{
	struct err err = { 0 };
	struct workload *w = workload_decode(object, &err);
	const struct workload *newest;

	if (!w) {
		set_trouble(target, mem_printf("reading %s: %s", target->key, err.msg));
		log_error(target->key, "cannot be read: %s", err.msg);
		targets_object_tell(target);
		return;
	}
	newest = target->unsure ? target->unsure : target->workload;
	if (!authoritative && newest && version_compare(w->resource_version, newest->resource_version) <= 0) {
		workload_free(w);
		return;
	}
	if (w->ready_replicas < 0 && target->place->native)
		w->ready_replicas = 0;
	/* For other kinds only the API server knows which part of the object /scale is about. */
	if (!target->place->native || w->says == WORKLOAD_SAYS_ANOTHER_THING) {
		take_unsure(target, w);
		return;
	}
	targets_object_scale_stop(target);
	set_present(target, w);
}

/* ---- A target that was named after its kind's list ---- */

/* Retried forever; owners get the reason when the failure lasts. */
static void on_read(void *arg, const json_t *object, const struct err *err, unsigned failures)
{
	struct target *target = arg;

	if (failures > 0) {
		reading_failed(target, false, err, failures);
		return;
	}
	targets_object_read_stop(target);
	/* The running list may have passed it already. */
	target->list = target->place->informer.list;
	if (err)
		targets_object_missing(target);
	else
		targets_object_take(target, object, false);
}

void targets_object_read(struct target *target)
{
	target->read = refetch_of(target, "", on_read);
	refetch_now(target->read);
}
