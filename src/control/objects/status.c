/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one writer of an object's status. What reconcile and the loop want is kept in memory; only a
 * difference to what is stored is written, one patch at a time, and what came up meanwhile goes
 * into the next. So a quiet object costs no writes at all.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fingerprint.h"
#include "base/log.h"
#include "base/mem.h"
#include "control/objects/object.h"

static void on_again(void *arg)
{
	struct object *o = arg;

	loop_timer_done(&o->status.again); /* seldom set, and a timer at rest should cost nothing */
	status_write(o);
}

struct scaledobject_status *status_wanted(struct object *o, const struct scaledobject_status *stored)
{
	if (!o->status.known) {
		scaledobject_status_copy(&o->status.wanted, stored);
		o->status.known = true;
		loop_timer_init(&o->status.again, o->control->cache->loop, on_again, o);
	}
	return &o->status.wanted;
}

bool status_says(const struct object *o, const char *type)
{
	const struct condition *c = o->status.known ? conditions_get(&o->status.wanted.conditions, type) : NULL;

	return c && c->status == CONDITION_TRUE;
}

/*
 * KEDA's own CRD prunes the conditions' times; then they are not compared any more, or every tick
 * would write them again.
 */
static void notice_pruning(struct object *o, const struct scaledobject_status *kept)
{
	const struct condition *stored = conditions_get(&kept->conditions, "Ready"),
			       *wanted = conditions_get(&o->status.wanted.conditions, "Ready");

	if (o->control->times_pruned || !stored || !wanted)
		return;
	/* A condition that KEDA wrote has no time under our CRD either, until it changes. */
	if ((wanted->since_unix_ms && !stored->since_unix_ms) ||
		(wanted->observed_generation && !stored->observed_generation)) {
		o->control->times_pruned = true;
		log_info(scaled_kind_resource(o->kind->of),
			"the installed CRD does not keep lastTransitionTime of conditions; `kscaled manifests` has one "
			"that does");
	}
}

/* Said once until a write succeeds; nothing else of the object can tell it. */
static void note_failure(struct object *o, const struct meta *meta, const struct err *err)
{
	MEM_AUTO char *reason = mem_printf("%sUpdateFailed", scaled_kind_name(o->kind->of));

	if (!o->status.said_failure)
		announce(o, meta, "Warning", reason, "Its status could not be written: %s", err->msg);
	o->status.said_failure = true;
	log_warn(o->subject, "writing its status: %s; trying again", err->msg);
}

static void on_patched(void *arg, const json_t *object, const struct err *err)
{
	struct object *o = arg;
	struct control *c = o->control;
	struct scaled of;

	o->status.call = NULL;
	if ((err && err->kind == ERR_MISSING) || !object_find(o, &of))
		return; /* deleted meanwhile: the watch says so */
	if (err) {
		/*
		 * A conflict is the usual race with whoever edits the object: the watch brings the
		 * newer one.
		 */
		if (err->kind != ERR_CONFLICT)
			note_failure(o, of.meta, err);
		loop_timer_set(&o->status.again,
			loop_backoff_ms(o->status.failures++, err->kind == ERR_CONFLICT ? 50 : 500, 60000));
		return;
	}
	o->status.failures = 0;
	o->status.said_failure = false;
	o->kind->learn(c->cache->store, object);
	if (!object_find(o, &of))
		return;
	o->kind->note(o, &of);
	notice_pruning(o, of.status);
	o->status.futile = o->status.sent;
	status_write(o);
}

void status_write(struct object *o)
{
	struct control *c = o->control;
	struct scaled of;
	MEM_AUTO char *patch = NULL;
	MEM_AUTO char *body = NULL;
	MEM_AUTO char *path = NULL;
	struct kube_request request = { .verb = KUBE_MERGE_PATCH, .priority = KUBE_STATUS };

	if (!o->status.known || o->status.call || !object_find(o, &of))
		return;
	if (o->status.failures > 0 && loop_timer_pending(&o->status.again))
		return; /* backing off */
	loop_timer_done(&o->status.again);
	patch = scaledobject_status_patch(of.status, &o->status.wanted, !c->times_pruned);
	o->status.sent = patch ? fingerprint_fast(patch, strlen(patch)) : 0;
	if (!patch)
		o->status.futile = 0;
	/*
	 * The same change sent twice in a row and still not stored: the server drops it, and would
	 * for ever.
	 */
	if (o->status.sent == o->status.futile)
		return;
	body = mem_printf("{\"metadata\":{\"resourceVersion\":\"%s\"},%s", of.meta->resource_version, patch + 1);
	path = mem_printf("/apis/keda.sh/v1alpha1/namespaces/%s/%s/%s/status?fieldManager=kscaled", of.meta->namespace_,
		scaled_kind_resource(of.kind), of.meta->name);
	request.path = path;
	request.body = body;
	o->status.call = kube_call(c->kube, &request, on_patched, o);
}

void status_write_within(struct object *o, int64_t delay_ms)
{
	if (o->status.known && !o->status.call && !loop_timer_pending(&o->status.again))
		loop_timer_set(&o->status.again, delay_ms);
}

void status_stop(struct object *o)
{
	kube_cancel(o->status.call);
	o->status.call = NULL;
	if (!o->status.known)
		return;
	loop_timer_done(&o->status.again);
	scaledobject_status_done(&o->status.wanted);
	memset(&o->status, 0, sizeof(o->status));
}
