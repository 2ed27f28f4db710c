/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/objects/targets.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/dnsname.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/textlist.h"
#include "cache/objects/targets_parts.h"
#include "kube/version.h"

#define OPEN_LATE_MS 1000

static struct target *target_get(struct targets *t, const struct target_ref *ref)
{
	MEM_AUTO char *key = mem_printf("%s/%s/%s/%s/%s", ref->group, ref->version, ref->resource, ref->namespace_,
		ref->name);
	struct target *target = targets_object_find(t, key);

	if (target)
		return target;
	target = mem_zalloc(sizeof(*target));
	target->place = targets_watch_get(t, ref);
	target->place->wanted++;
	target->key = mem_dup(key);
	target->namespace_ = mem_dup(ref->namespace_);
	target->name = target->key + strlen(target->key) - strlen(ref->name);
	HASH_ADD_KEYPTR(hh, t->targets, target->key, strlen(target->key), target);
	/* A running first list may have passed this object. */
	if (target->place->denied)
		targets_object_poll(target);
	else if (target->place->informer.synced || target->place->informer.listing)
		targets_object_read(target);
	return target;
}

static void return_pods(struct target *target);

static void target_free(struct target *target)
{
	struct target_place *place = target->place;

	HASH_DELETE(hh, place->owner->targets, target);
	return_pods(target);
	targets_object_read_stop(target);
	targets_object_scale_stop(target);
	workload_free(target->workload);
	free(target->trouble);
	free(target->key);
	free(target->namespace_);
	free(target);
	if (--place->wanted == 0)
		targets_watch_free(place);
}

static void drop_unused(struct target *target)
{
	if (!target->owners && !target->borrowers)
		target_free(target);
}

/* ---- The Pod template of a Deployment ---- */

static void return_pods(struct target *target)
{
	struct target *pods = target->pods;

	if (!pods)
		return;
	target->pods = NULL;
	LL_DELETE2(pods->borrowers, target, next_borrower);
	drop_unused(pods);
}

/*
 * One step only: a Deployment refers to no other. The name becomes part of a path, so it is
 * checked.
 */
static void borrow_pods(struct target *target)
{
	const char *name = target->workload->template_deployment;
	const struct target_ref ref = { "apps", "v1", "deployments", target->namespace_, name };
	struct target *pods = NULL;

	if (name && dnsname_is_subdomain(name, strlen(name)))
		pods = target_get(target->place->owner, &ref);
	if (pods == target->pods || pods == target)
		return;
	return_pods(target);
	target->pods = pods;
	if (pods)
		LL_PREPEND2(pods->borrowers, target, next_borrower);
}

void targets_release(struct object *o)
{
	struct target *target = o->target;

	if (!target)
		return;
	LL_DELETE2(target->owners, o, next_of_target);
	o->target = NULL;
	drop_unused(target);
}

void targets_want(struct targets *t, struct object *o, const struct target_ref *ref)
{
	struct target *target = target_get(t, ref);

	if (o->target == target)
		return;
	targets_release(o);
	o->target = target;
	LL_PREPEND2(target->owners, o, next_of_target);
}

enum target_state targets_get(const struct object *o, const struct workload **out)
{
	*out = o->target ? o->target->workload : NULL;
	return o->target ? o->target->state : TARGET_UNREAD;
}

static const char *trouble_of(const struct target *target)
{
	return target->trouble ? target->trouble : informer_trouble(&target->place->informer);
}

const char *targets_trouble(const struct object *o)
{
	return o->target ? trouble_of(o->target) : NULL;
}

enum target_state targets_get_pods(const struct object *o, const struct workload **out, const char **trouble)
{
	const struct target *target = o->target;

	if (target && target->state == TARGET_PRESENT && target->pods)
		target = target->pods;
	*out = target ? target->workload : NULL;
	*trouble = target ? trouble_of(target) : NULL;
	return target ? target->state : TARGET_UNREAD;
}

bool targets_reads(const struct object *o)
{
	return o->target && o->target->state == TARGET_UNREAD && !targets_trouble(o);
}

void targets_learn_scale(const struct object *o, const json_t *scale)
{
	struct target *target = o->target;
	struct workload *workload = target ? target->workload : NULL;
	const json_t *metadata = json_object_get(scale, "metadata");
	const char *uid = json_str_or_empty(metadata, "uid");
	const char *version = json_string_value(json_object_get(metadata, "resourceVersion"));
	const json_t *replicas = json_object_get(json_object_get(scale, "spec"), "replicas");

	/* A recreated target of the same name has replicas of its own. */
	if (!workload || (*uid && strcmp(uid, workload->uid) != 0))
		return;
	if (!version || version_compare(version, workload->resource_version) <= 0)
		return;
	if (target->unsure && strcmp(target->unsure->uid, workload->uid) == 0 &&
		version_compare(version, target->unsure->resource_version) >= 0) {
		workload_free(workload);
		workload = target->workload = target->unsure;
		target->unsure = NULL;
	}
	/* A Scale omits replicas when they are 0. */
	workload->replicas = (int32_t)json_integer_value(replicas);
	free(workload->resource_version);
	workload->resource_version = mem_dup(version);
	target->shape = targets_object_shape(workload);
}

void targets_open(struct targets *t)
{
	struct target_place *place, *next;

	loop_timer_cancel(&t->open_late);
	if (t->open)
		return;
	t->open = true;
	HASH_ITER (hh, t->places, place, next)
		targets_watch_start(place);
}

static void on_open_late(void *arg)
{
	targets_open(arg);
}

struct targets *targets_new(struct kube *kube, struct kinds *kinds)
{
	struct targets *t = mem_zalloc(sizeof(*t));

	t->kube = kube;
	t->on_present = borrow_pods;
	t->kinds = kinds;
	loop_timer_init(&t->open_late, kube_loop(kube), on_open_late, t);
	return t;
}

void targets_start(struct targets *t, const char *const *namespaces, size_t count)
{
	t->namespaces = textlist_copy((char *const *)(uintptr_t)namespaces, count);
	t->namespace_count = count;
	loop_timer_set(&t->open_late, OPEN_LATE_MS);
}

void targets_free(struct targets *t)
{
	struct target *target, *next;
	struct object *o;

	if (!t)
		return;
	/* So that no target is freed before its turn. */
	HASH_ITER (hh, t->targets, target, next)
		target->pods = target->borrowers = NULL;
	HASH_ITER (hh, t->targets, target, next) {
		LL_FOREACH2(target->owners, o, next_of_target)
		o->target = NULL;
		target_free(target);
	}
	loop_timer_done(&t->open_late);
	textlist_done(&t->namespaces, &t->namespace_count);
	free(t);
}

void targets_listen(struct targets *t, object_fn fn, void *arg)
{
	t->fn = fn;
	t->arg = arg;
}
