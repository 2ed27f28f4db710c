/* SPDX-License-Identifier: Apache-2.0 */
/* Writes /scale: the only place that changes a workload's replicas while its ScaledObject lives. */
#include "control/objects/act.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "control/objects/polling.h"
#include "control/objects/recorder.h"
#include "control/objects/work.h"
#include "decide/scale.h"

/* Conflicts in a row that are not a failure: the HPA controller writes /scale, too. */
#define CONFLICTS_USUAL 3

char *act_target_name(const struct scaledobject *so)
{
	return mem_printf("%s %s/%s", scaledobject_target_kind(&so->spec), so->meta.namespace_, so->spec.target_name);
}

static void tell_scaled(struct work *work, const struct scaledobject *so)
{
	MEM_AUTO char *target = act_target_name(so);

	if (work->act.activation)
		recorder_event(work, "Normal", "KEDAScaleTargetActivated", "Scaled %s from %d to %d, %s", target,
			work->act.from, work->act.to, work->act.cause);
	else if (work->act.to < work->act.from)
		recorder_event(work, "Normal", "KEDAScaleTargetDeactivated", "Deactivated %s from %d to %d", target,
			work->act.from, work->act.to);
	journal_scaled(work->object, timestamp_now_ms(), work->act.from, work->act.to, work->act.why);
	log_info(work->subject, "scaled %s: %s", target, work->act.why);
}

static void tell_failed(struct work *work, const struct scaledobject *so, const struct err *err)
{
	MEM_AUTO char *target = act_target_name(so);

	if (work->act.activation)
		recorder_event(work, "Warning", "KEDAScaleTargetActivationFailed",
			"Failed to scale %s from %d to %d: %s", target, work->act.from, work->act.to, err->msg);
	else if (work->act.to < work->act.from)
		recorder_event(work, "Warning", "KEDAScaleTargetDeactivationFailed",
			"Failed to deactivate %s from %d to %d: %s", target, work->act.from, work->act.to, err->msg);
	log_warn(work->subject, "scaling %s from %d to %d: %s", target, work->act.from, work->act.to, err->msg);
}

/*
 * Turns any text into a path segment: the spec of a deleted object is not validated, and others can
 * write a status.
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

char *act_scale_path(const struct work *work, const struct scaledobject *so)
{
	char group[TARGETREF_TEXT], version[TARGETREF_TEXT], resource[TARGETREF_TEXT];

	if (targetref_find(work->control->cache->targetref, so, group, version, resource, NULL, NULL))
		return NULL;
	return act_scale_path_of(group, version, resource, so->meta.namespace_, so->spec.target_name);
}

/* The spec has another target now: the answer is obsolete. */
static bool other_target(const struct work *work, const struct scaledobject *so)
{
	MEM_AUTO char *path = act_scale_path(work, so);

	return !path || strcmp(path, work->act.path) != 0;
}

/*
 * After a conflict: the newer replicas and version, then a new look. A decision never overwrites
 * replicas that it was not based on.
 */
static void on_read_again(void *arg, const json_t *scale, const struct err *err)
{
	struct work *work = arg;
	const struct scaledobject *so = work->object->of.so;

	work->act.call = NULL;
	if (!so || other_target(work, so))
		return;
	if (err) {
		log_warn(work->subject, "reading the scale of its target after a conflict: %s", err->msg);
		return; /* the next poll looks again */
	}
	targets_learn_scale(work->object, scale);
	polling_look(work);
}

static void on_scaled(void *arg, const json_t *scale, const struct err *err)
{
	struct work *work = arg;
	const struct scaledobject *so = work->object->of.so;
	struct kube_request read_again = { .verb = KUBE_GET, .path = work->act.path, .priority = KUBE_NORMAL };

	work->act.call = NULL;
	counters_add(work->control->scalings, (const char *const[]){ err ? err_kind_name(err->kind) : "ok" }, 1);
	if (!so || other_target(work, so))
		return;
	/* Beyond that it is a failure like others. */
	if (err && err->kind == ERR_CONFLICT && ++work->act.conflicts <= CONFLICTS_USUAL) {
		work->act.call = kube_call(work->control->kube, &read_again, on_read_again, work);
		return;
	}
	work->act.conflicts = 0;
	if (err) {
		tell_failed(work, so, err);
		return; /* the next poll decides again */
	}
	targets_learn_scale(work->object, scale);
	tell_scaled(work, so);
	/* For example, work came while the target was scaled to zero: no other event follows. */
	if (work->act.missed)
		polling_look(work);
}

void act_scale(struct work *work, const struct scaledobject *so, const struct scale_facts *facts,
	const struct scale_decision *d, const char *why)
{
	const struct workload *w;
	MEM_AUTO char *path = act_scale_path(work, so);
	MEM_AUTO char *body = NULL;
	struct kube_request request = { .verb = KUBE_MERGE_PATCH, .path = path, .priority = KUBE_SCALE };
	char text[512];

	work->act.missed = work->act.call != NULL;
	if (work->act.call || !path || targets_get(work->object, &w) != TARGET_PRESENT)
		return;
	work->act.from = facts->replicas;
	work->act.to = d->replicas;
	work->act.activation = d->rule == SCALE_RULE_ACTIVATE;
	free(work->act.cause);
	work->act.cause = mem_dup(scale_cause(facts, d, text, sizeof(text)));
	free(work->act.why);
	work->act.why = mem_dup(why);
	free(work->act.path);
	work->act.path = mem_dup(path);
	body = mem_printf("{\"metadata\":{\"resourceVersion\":\"%s\"},\"spec\":{\"replicas\":%d}}", w->resource_version,
		d->replicas);
	request.body = body;
	work->act.call = kube_call(work->control->kube, &request, on_scaled, work);
}

void act_stop(struct work *work)
{
	kube_cancel(work->act.call);
	work->act.call = NULL;
	mem_free_ptr(&work->act.cause);
	mem_free_ptr(&work->act.why);
	mem_free_ptr(&work->act.path);
}
