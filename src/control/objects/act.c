/* SPDX-License-Identifier: Apache-2.0 */
/* Writes /scale: the only place that changes a workload's replicas while its ScaledObject lives. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "control/objects/object.h"

/* Conflicts in a row that are no failure: the HPA controller writes /scale, too. */
#define CONFLICTS_USUAL 3

static void count(struct control *c, const char *result)
{
	counters_add(c->scalings, (const char *const[]){ result }, 1);
}

char *act_target_name(const struct scaledobject *so)
{
	return mem_printf("%s %s/%s", scaledobject_target_kind(&so->spec), so->meta.namespace_, so->spec.target_name);
}

static void announce_done(struct object *o, const struct scaledobject *so)
{
	MEM_AUTO char *target = act_target_name(so);

	if (o->act.activation)
		announce(o, &so->meta, "Normal", "KEDAScaleTargetActivated", "Scaled %s from %d to %d, %s", target,
			o->act.from, o->act.to, o->act.cause);
	else if (o->act.to < o->act.from)
		announce(o, &so->meta, "Normal", "KEDAScaleTargetDeactivated", "Deactivated %s from %d to %d", target,
			o->act.from, o->act.to);
	journal_scaled(o->control->cache->journal, o->key, timestamp_now_ms(), o->act.from, o->act.to, o->act.why);
	log_info(o->subject, "scaled %s: %s", target, o->act.why);
}

static void announce_failed(struct object *o, const struct scaledobject *so, const struct err *err)
{
	MEM_AUTO char *target = act_target_name(so);

	if (o->act.activation)
		announce(o, &so->meta, "Warning", "KEDAScaleTargetActivationFailed",
			"Failed to scale %s from %d to %d: %s", target, o->act.from, o->act.to, err->msg);
	else if (o->act.to < o->act.from)
		announce(o, &so->meta, "Warning", "KEDAScaleTargetDeactivationFailed",
			"Failed to deactivate %s from %d to %d: %s", target, o->act.from, o->act.to, err->msg);
	log_warn(o->subject, "scaling %s from %d to %d: %s", target, o->act.from, o->act.to, err->msg);
}

/*
 * One part of a path, which may be anything: nobody says of a deleted object any more that its name
 * is none, and a status can be written by others.
 */
static bool segment(const char *text, char out[254 * 3])
{
	return text && *text && strcmp(text, ".") != 0 && strcmp(text, "..") != 0 && kube_escape(text, out, 254 * 3);
}

char *act_scale_path_of(const char *group, const char *version, const char *resource, const char *namespace_,
	const char *name)
{
	char part[4][254 * 3];
	bool core = !*group;

	if (!segment(core ? "core" : group, part[0]) || !segment(version, part[1]) || !segment(resource, part[2]) ||
		!segment(name, part[3]))
		return NULL;
	return mem_printf("/%s%s/%s/namespaces/%s/%s/%s/scale", core ? "api" : "apis/", core ? "" : part[0], part[1],
		namespace_, part[2], part[3]);
}

char *act_scale_path(const struct object *o, const struct scaledobject *so)
{
	char group[TARGETREF_TEXT], version[TARGETREF_TEXT], resource[TARGETREF_TEXT];

	if (targetref_find(o->control->cache->targetref, so, group, version, resource, NULL, NULL))
		return NULL;
	return act_scale_path_of(group, version, resource, so->meta.namespace_, so->spec.target_name);
}

/* Another target was named meanwhile: what is answered is not about it. */
static bool other_target(const struct object *o, const struct scaledobject *so)
{
	MEM_AUTO char *path = act_scale_path(o, so);

	return !path || strcmp(path, o->act.path) != 0;
}

/*
 * After a conflict: the newer replicas and version, then a fresh look; the decision is never forced
 * upon what we have not seen.
 */
static void on_read_again(void *arg, const json_t *scale, const struct err *err)
{
	struct object *o = arg;
	const struct scaledobject *so = store_scaledobject(o->control->cache->store, o->key);

	o->act.call = NULL;
	if (!so || other_target(o, so))
		return;
	if (err) {
		log_warn(o->subject, "reading the scale of its target after a conflict: %s", err->msg);
		return; /* the next poll looks again */
	}
	targets_learn_scale(o->control->cache->targets, o->key, scale);
	o->act.look_again(o);
}

static void read_again(struct object *o)
{
	struct kube_request request = { .verb = KUBE_GET, .path = o->act.path, .priority = KUBE_NORMAL };

	o->act.call = kube_call(o->control->kube, &request, on_read_again, o);
}

static void on_scaled(void *arg, const json_t *scale, const struct err *err)
{
	struct object *o = arg;
	struct control *c = o->control;
	const struct scaledobject *so = store_scaledobject(c->cache->store, o->key);

	o->act.call = NULL;
	count(c, err ? err_kind_name(err->kind) : "ok");
	if (!so || other_target(o, so))
		return;
	/* One that never ends is a failure like others. */
	if (err && err->kind == ERR_CONFLICT && ++o->act.conflicts <= CONFLICTS_USUAL) {
		read_again(o);
		return;
	}
	o->act.conflicts = 0;
	if (err) {
		announce_failed(o, so, err);
		return; /* the next poll decides anew */
	}
	targets_learn_scale(c->cache->targets, o->key, scale);
	announce_done(o, so);
	/*
	 * Work came while the target was being scaled to zero, say: nobody wakes us for that again.
	 */
	if (o->act.missed)
		o->act.look_again(o);
}

void act_scale(struct object *o, const struct scaledobject *so, const struct scale_facts *facts,
	const struct scale_decision *d, const char *why, void (*look_again)(struct object *o))
{
	const struct workload *w;
	MEM_AUTO char *path = act_scale_path(o, so);
	MEM_AUTO char *body = NULL;
	struct kube_request request = { .verb = KUBE_MERGE_PATCH, .path = path, .priority = KUBE_SCALE };
	char text[512];

	o->act.missed = o->act.call != NULL;
	if (o->act.call || !path || targets_get(o->control->cache->targets, o->key, &w) != TARGET_PRESENT)
		return;
	o->act.look_again = look_again;
	o->act.from = facts->replicas;
	o->act.to = d->replicas;
	o->act.activation = d->rule == SCALE_RULE_ACTIVATE;
	free(o->act.cause);
	o->act.cause = mem_dup(scale_cause(facts, d, text, sizeof(text)));
	free(o->act.why);
	o->act.why = mem_dup(why);
	free(o->act.path);
	o->act.path = mem_dup(path);
	body = mem_printf("{\"metadata\":{\"resourceVersion\":\"%s\"},\"spec\":{\"replicas\":%d}}", w->resource_version,
		d->replicas);
	request.body = body;
	o->act.call = kube_call(o->control->kube, &request, on_scaled, o);
}

void act_stop(struct object *o)
{
	kube_cancel(o->act.call);
	o->act.call = NULL;
	free(o->act.cause);
	free(o->act.why);
	free(o->act.path);
	o->act.cause = o->act.why = o->act.path = NULL;
}
