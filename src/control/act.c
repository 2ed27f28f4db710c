/* SPDX-License-Identifier: Apache-2.0 */
/* Writes /scale: the only place that changes a workload's replicas while its ScaledObject lives. */
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "control/object.h"

/* Conflicts in a row that are no failure: the HPA controller writes /scale, too. */
#define CONFLICTS_USUAL 3

static void count(struct control *c, const char *result)
{
	counters_add(c->scalings, (const char *const[]){ result }, 1);
}

/* "Deployment default/web", as KEDA's Events name a target. */
static char *target_name(const struct scaledobject *so)
{
	return mem_printf("%s %s/%s", scaledobject_target_kind(&so->spec), so->meta.namespace_, so->spec.target_name);
}

static void announce_done(struct object *o, const struct scaledobject *so)
{
	MEM_AUTO char *target = target_name(so);

	if (o->act.activation)
		announce(o, so, "Normal", "KEDAScaleTargetActivated", "Scaled %s from %d to %d, triggered by %s", target, o->act.from, o->act.to, o->act.cause);
	else if (o->act.to < o->act.from)
		announce(o, so, "Normal", "KEDAScaleTargetDeactivated", "Deactivated %s from %d to %d", target, o->act.from, o->act.to);
	log_info(o->subject, "scaled %s from %d to %d: %s", target, o->act.from, o->act.to, o->act.cause);
}

static void announce_failed(struct object *o, const struct scaledobject *so, const struct err *err)
{
	MEM_AUTO char *target = target_name(so);

	if (o->act.activation)
		announce(o, so, "Warning", "KEDAScaleTargetActivationFailed", "Failed to scale %s from %d to %d: %s", target, o->act.from, o->act.to, err->msg);
	else if (o->act.to < o->act.from)
		announce(o, so, "Warning", "KEDAScaleTargetDeactivationFailed", "Failed to deactivate %s from %d to %d: %s", target, o->act.from, o->act.to, err->msg);
	log_warn(o->subject, "scaling %s from %d to %d: %s", target, o->act.from, o->act.to, err->msg);
}

/* The name may be anything while the object is deleted: nobody says then any more that it is none. */
char *act_scale_path(const struct scaledobject *so)
{
	char group[254], version[254], resource[254], name[254 * 3];

	if (!so->spec.target_name || !*so->spec.target_name || scalers_target_ref(so, group, version, resource, NULL) || !kube_escape(so->spec.target_name, name, sizeof(name)))
		return NULL;
	return mem_printf("/apis/%s/%s/namespaces/%s/%s/%s/scale", group, version, so->meta.namespace_, resource, name);
}

/* After a conflict: the newer replicas and version, then a fresh look; the decision is never forced upon what we have not seen. */
static void on_read_again(void *arg, const json_t *scale, const struct err *err)
{
	struct object *o = arg;

	o->act.call = NULL;
	if (err) {
		log_warn(o->subject, "reading the scale of its target after a conflict: %s", err->msg);
		return; /* the next poll looks again */
	}
	targets_learn_scale(o->control->cache->targets, o->key, scale);
	o->act.look_again(o);
}

static void read_again(struct object *o, const struct scaledobject *so)
{
	MEM_AUTO char *path = act_scale_path(so);
	struct kube_request request = { .verb = KUBE_GET, .path = path, .priority = KUBE_NORMAL };

	if (path)
		o->act.call = kube_call(o->control->kube, &request, on_read_again, o);
}

static void on_scaled(void *arg, const json_t *scale, const struct err *err)
{
	struct object *o = arg;
	struct control *c = o->control;
	const struct scaledobject *so = store_scaledobject(c->cache->store, o->key);

	o->act.call = NULL;
	count(c, err ? err_kind_name(err->kind) : "ok");
	if (!so)
		return;
	/* One that never ends is a failure like others. */
	if (err && err->kind == ERR_CONFLICT && ++o->act.conflicts <= CONFLICTS_USUAL) {
		read_again(o, so);
		return;
	}
	o->act.conflicts = 0;
	if (err) {
		announce_failed(o, so, err);
		return; /* the next poll decides anew */
	}
	targets_learn_scale(c->cache->targets, o->key, scale);
	announce_done(o, so);
}

void act_scale(struct object *o, const struct scaledobject *so, const struct scale_facts *facts, const struct scale_decision *d, void (*look_again)(struct object *o))
{
	const struct workload *w;
	MEM_AUTO char *path = act_scale_path(so);
	MEM_AUTO char *body = NULL;
	struct kube_request request = { .verb = KUBE_MERGE_PATCH, .path = path, .priority = KUBE_NORMAL };
	char text[512];

	if (o->act.call || !path || targets_get(o->control->cache->targets, o->key, &w) != TARGET_PRESENT)
		return;
	o->act.look_again = look_again;
	o->act.from = facts->replicas;
	o->act.to = d->replicas;
	o->act.activation = d->rule == SCALE_RULE_ACTIVATE;
	free(o->act.cause);
	o->act.cause = mem_dup(o->act.activation ? scale_active_names(facts, text, sizeof(text)) : scale_explain(facts, d, text, sizeof(text)));
	body = mem_printf("{\"metadata\":{\"resourceVersion\":\"%s\"},\"spec\":{\"replicas\":%d}}", w->resource_version, d->replicas);
	request.body = body;
	o->act.call = kube_call(o->control->kube, &request, on_scaled, o);
}

void act_stop(struct object *o)
{
	kube_cancel(o->act.call);
	o->act.call = NULL;
	free(o->act.cause);
	o->act.cause = NULL;
}
