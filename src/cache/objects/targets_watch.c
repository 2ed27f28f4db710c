/* SPDX-License-Identifier: Apache-2.0 */
/* One kind in one namespace, or everywhere: the watch for all its targets. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "cache/objects/targets_parts.h"

/* Retry interval of a forbidden watch. */
#define WATCH_AGAIN_FIRST_MS 10000
#define WATCH_AGAIN_MAX_MS   300000

/* The target of this JSON, or NULL: all other objects are dropped here. */
static struct target *target_of(struct target_place *place, const json_t *object)
{
	const json_t *meta = json_object_get(object, "metadata");
	const char *namespace_ = json_string_value(json_object_get(meta, "namespace"));
	const char *name = json_string_value(json_object_get(meta, "name"));
	MEM_AUTO char *key = NULL;
	size_t kind_len = strcspn(place->key, " ");

	if (!name)
		return NULL;
	key = mem_printf("%.*s/%s/%s", (int)kind_len, place->key, namespace_ ? namespace_ : "", name);
	return targets_object_find(place->owner, key);
}

/* The watch is allowed after all. */
static void place_allow(struct target_place *place)
{
	struct target *target, *next;

	if (!place->denied)
		return;
	place->denied = false;
	HASH_ITER (hh, place->owner->targets, target, next)
		if (target->place == place)
			targets_object_scale_stop(target);
}

static void on_list(void *arg)
{
	struct target_place *place = arg;

	place_allow(place);
}

static void on_object(void *arg, const json_t *object)
{
	struct target_place *place = arg;
	struct target *target = target_of(place, object);

	if (!target)
		return;
	targets_object_read_stop(target);
	target->list = place->informer.list;
	targets_object_take(target, object, place->informer.listing);
}

static void on_deleted(void *arg, const json_t *object)
{
	struct target_place *place = arg;
	struct target *target = target_of(place, object);
	const struct workload *newest;

	if (!target)
		return;
	/* A GET may have delivered the recreated object already. */
	newest = target->unsure ? target->unsure : target->workload;
	if (informer_is_old(&place->informer, object, newest ? newest->resource_version : NULL))
		return;
	targets_object_read_stop(target);
	targets_object_scale_stop(target);
	targets_object_missing(target);
}

static void on_synced(void *arg)
{
	struct target_place *place = arg;
	struct target *target, *next;

	HASH_ITER (hh, place->owner->targets, target, next)
		if (target->place == place && target->list != place->informer.list && !target->read)
			targets_object_missing(target);
}

/* Reports the list's error to waiting owners. */
static void tell_unread(struct target_place *place)
{
	struct target *target, *next;

	HASH_ITER (hh, place->owner->targets, target, next)
		if (target->place == place && target->state == TARGET_UNREAD)
			targets_object_tell(target);
}

/* The default role allows writing every /scale, but lists the kinds to watch. */
static void place_deny(struct target_place *place, const struct err *err)
{
	struct target *target, *next;

	if (place->denials == 0)
		log_warn(place->key,
			"may not be watched, so the scale of each target is read every %d s: a role with the verbs "
			"get, list and watch on %s%s%s is missing: %s",
			TARGETS_SCALE_PERIOD_MS / 1000, place->resource, *place->group ? "." : "", place->group,
			err->msg);
	informer_stop(&place->informer);
	loop_timer_set(&place->watch_again,
		loop_backoff_ms(place->denials++, WATCH_AGAIN_FIRST_MS, WATCH_AGAIN_MAX_MS));
	if (place->denied)
		return;
	place->denied = true;
	HASH_ITER (hh, place->owner->targets, target, next)
		if (target->place == place)
			targets_object_poll(target);
}

static void on_trouble(void *arg, const struct err *err)
{
	struct target_place *place = arg;

	/* Not for a rejected token: every request would be refused, and it is renewed. */
	if (informer_is_denied(err) && !place->default_role) {
		place_deny(place, err);
		return;
	}
	if (err && err->kind == ERR_MISSING)
		kinds_doubt(place->owner->kinds, place->group, place->version);
	if (!err)
		place->denials = 0;
	informer_log(&place->informer, err);
	tell_unread(place);
}

void targets_watch_start(void *arg)
{
	struct target_place *place = arg;
	static const struct informer_events events = { on_list, on_object, on_deleted, on_synced, on_trouble, NULL };
	struct informer_config config = { .path = place->path,
		.subject = place->key,
		.grant = place->grant,
		.quiet = true,
		.managed_fields = true };

	informer_start(&place->informer, place->owner->kube, &config, &events, place);
}

struct target_place *targets_watch_get(struct targets *t, const struct target_ref *ref)
{
	const char *namespace_ = t->namespace_count > 0 ? ref->namespace_ : NULL;
	MEM_AUTO char *key = mem_printf("%s/%s/%s%s%s", ref->group, ref->version, ref->resource,
		namespace_ ? " in " : "", namespace_ ? namespace_ : "");
	struct target_place *place;

	HASH_FIND_STR(t->places, key, place);
	if (place)
		return place;
	place = mem_zalloc(sizeof(*place));
	place->owner = t;
	place->key = mem_dup(key);
	place->group = mem_dup(ref->group);
	place->version = mem_dup(ref->version);
	place->resource = mem_dup(ref->resource);
	place->path = targets_object_collection(ref->group, ref->version, ref->resource, namespace_);
	place->grant = mem_printf("kscaled may not scale %s%s%s: apply `kscaled manifests` with it among the "
				  "--scale-kinds",
		ref->resource, *ref->group ? "." : "", ref->group);
	place->native = !*ref->group || strcmp(ref->group, "apps") == 0;
	place->default_role = strcmp(ref->group, "apps") == 0 &&
		(strcmp(ref->resource, "deployments") == 0 || strcmp(ref->resource, "statefulsets") == 0);
	loop_timer_init(&place->watch_again, kube_loop(t->kube), targets_watch_start, place);
	HASH_ADD_KEYPTR(hh, t->places, place->key, strlen(place->key), place);
	if (t->open)
		targets_watch_start(place);
	return place;
}

void targets_watch_free(struct target_place *place)
{
	HASH_DELETE(hh, place->owner->places, place);
	informer_stop(&place->informer);
	loop_timer_done(&place->watch_again);
	free(place->group);
	free(place->version);
	free(place->resource);
	free(place->path);
	free(place->grant);
	free(place->key);
	free(place);
}
