/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A paused object: its HPA is deleted, and its target is kept at the paused replicas while the
 * annotation exists. If others scale the target it is set back, with a back-off, so that two
 * writers do not fight at full speed.
 */
#include "control/objects/pause.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "control/objects/act.h"
#include "control/objects/hpakeeper.h"
#include "control/objects/recorder.h"
#include "control/objects/scaleloop.h"
#include "control/objects/status.h"
#include "control/objects/work.h"
#include "control/objects/write.h"
#include "decide/scale.h"

#define HPA_STEP   "failed to delete HPA for paused ScaledObject"
#define SCALE_STEP "failed to scale target to paused replica count"

#define WRITE_FIRST_MS 1000
#define WRITE_MAX_MS   30000
/* After this long without a write the back-off begins anew. */
#define QUIET_MS 60000

/* ---- The replicas ---- */

static void on_scaled(struct work *work, const json_t *scale)
{
	const struct scaledobject *so = work->object->of.so;
	MEM_AUTO char *target = so ? act_target_name(so) : NULL;

	if (!so)
		return;
	targets_learn_scale(work->object, scale);
	journal_scaled(work->object, timestamp_now_ms(), work->pause.from, work->pause.to, work->pause.why);
	if (work->pause.writes == 1)
		log_info(work->subject, "is paused; scaled %s from %d to %d", target, work->pause.from, work->pause.to);
	if (work->pause.writes != 2)
		return;
	log_warn(work->subject, "is paused at %d replicas, but somebody scales %s; it is set back each time",
		work->pause.to, target);
	recorder_event(work, "Warning", "ScaledObjectPaused",
		"ScaledObject is paused at %d replicas, but somebody scales %s; it is set back each time",
		work->pause.to, target);
}

/* A failed write does not count for this back-off; write.c has its own. */
static bool on_not_scaled(struct work *work, const struct err *err)
{
	(void)err;
	if (work->pause.writes > 0)
		work->pause.writes--;
	work->pause.write_at_ms = loop_now_ms(work->control->cache->loop);
	return false;
}

/* True before the next write is allowed; the timer then leads to a reconcile. */
static bool too_early(struct work *work)
{
	struct pause_part *p = &work->pause;
	int64_t now_ms = loop_now_ms(work->control->cache->loop), pause_ms;

	if (now_ms < p->write_at_ms) {
		write_again(work, p->write_at_ms - now_ms);
		return true;
	}
	if (now_ms > p->write_at_ms + QUIET_MS)
		p->writes = 0;
	pause_ms = loop_backoff_ms(p->writes++, WRITE_FIRST_MS, WRITE_MAX_MS);
	p->write_at_ms = now_ms + (pause_ms > WRITE_FIRST_MS ? pause_ms : WRITE_FIRST_MS);
	return false;
}

static enum pause_state keep_at(struct work *work, const struct scaledobject *so, const struct workload *w,
	int32_t replicas)
{
	MEM_AUTO char *path = act_scale_path(work, so);
	MEM_AUTO char *body = NULL;
	struct kube_request request = { .verb = KUBE_MERGE_PATCH, .path = path, .priority = KUBE_SCALE };
	struct scaledobject_status *wanted = status_wanted(work, &so->status);

	if (!path)
		return PAUSE_DONE;
	/* Only the pause is reported, unless the last write failed. */
	if (too_early(work))
		return !work->write.err ? PAUSE_DONE : PAUSE_BUSY;
	/*
	 * For an object that was created paused, the original replicas are noted before we change
	 * them.
	 */
	if (wanted->original_replicas == INT32_UNSET)
		wanted->original_replicas = w->replicas;
	work->pause.from = w->replicas;
	work->pause.to = replicas;
	body = mem_printf("{\"metadata\":{\"resourceVersion\":\"%s\"},\"spec\":{\"replicas\":%d}}", w->resource_version,
		replicas);
	request.body = body;
	write_start(work, &request, SCALE_STEP, on_scaled, on_not_scaled);
	return PAUSE_BUSY;
}

/* The decision of the loop, with its text, also for the journal. */
static struct scale_decision decide(struct work *work, const struct scaledobject *so,
	const struct annotations *annotations)
{
	int64_t now_unix_ms = timestamp_now_ms();
	const struct workload *w;
	char text[512];
	struct scale_facts facts = {
		.spec = &so->spec,
		.created_unix_ms = work_created_unix_ms(work, now_unix_ms),
		.now_unix_ms = now_unix_ms,
		.annotations = annotations,
		.last_active_unix_ms = work->loop.last_active_unix_ms,
	};
	struct scale_decision d;

	facts.replicas_known = targets_get(work->object, &w) == TARGET_PRESENT;
	facts.replicas = facts.replicas_known ? w->replicas : 0;
	d = scale_decide(&facts);
	free(work->pause.why);
	work->pause.why = mem_dup(scale_explain(&facts, &d, text, sizeof(text)));
	scaleloop_note(work, &facts, &d, scale_mark(&facts, &d), text);
	return d;
}

/* ---- Both ---- */

enum pause_state pause_run(struct work *work, const struct scaledobject *so, const struct annotations *annotations,
	const struct err *target_err, struct err *err)
{
	const char *trouble;
	const struct workload *w;
	struct scale_decision d;

	if (!store_knows_hpas(work->control->cache->store, so->meta.namespace_, &trouble)) {
		if (!trouble)
			return PAUSE_BUSY;
		err_set(err, ERR_TEMPORARY, HPA_STEP ": %s", trouble);
		return PAUSE_FAILED;
	}
	if (hpakeeper_remove(work, so, HPA_STEP))
		return PAUSE_BUSY;
	if (target_err && annotations->paused_replicas != INT32_UNSET) {
		*err = *target_err;
		err_wrap(err, SCALE_STEP);
		return PAUSE_FAILED;
	}
	d = decide(work, so, annotations);
	if (!d.act || targets_get(work->object, &w) != TARGET_PRESENT)
		return PAUSE_DONE;
	return keep_at(work, so, w, d.replicas);
}

void pause_forget(struct work *work)
{
	free(work->pause.why);
	memset(&work->pause, 0, sizeof(work->pause));
}
