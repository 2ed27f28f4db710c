/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deletes the Jobs that decide/jobs/jobspec selects, in rounds: all of a round are deleted, then
 * the object is reconciled again. Finished Jobs are deleted with background propagation. Those of
 * an earlier version are deleted by spec.rollout; if one of them cannot be deleted, the ScaledJob
 * is not Ready. It waits for the deletes, not for the end of the Pods.
 */
#include "control/jobs/jobsweeper.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "control/jobs/jobhistory.h"
#include "control/jobs/jobparts.h"
#include "control/objects/polling.h"
#include "control/objects/queue.h"
#include "control/objects/recorder.h"
#include "control/objects/work.h"
#include "control/objects/write.h"
#include "decide/jobs/jobspec.h"

/* Deletes under way, of all objects: fewer than creates, because they are less urgent. */
#define DELETES_MAX 16

#define ROUND_MAX 1000 /* Jobs of one object */

#define AGAIN_FIRST_MS 1000
#define AGAIN_MAX_MS   60000

struct sweep { /* one delete */
	struct work *work;
	struct kube_call *call;
	char *name, *uid;
	bool rollout;
};

static void serve(struct control *c);

/* ---- The round ---- */

static void round_end(struct work *work)
{
	struct sweep_part *p = &work->job->sweep;

	for (size_t i = 0; i < p->count; i++) {
		if (p->list[i].call)
			work->control->deletes--;
		kube_cancel(p->list[i].call);
		free(p->list[i].name);
		free(p->list[i].uid);
	}
	free(p->list);
	p->list = NULL;
	p->err_name = NULL;
	p->count = p->sent = p->answered = p->rollouts = p->rollouts_answered = 0;
	p->failed = false;
	if (p->queued)
		DL_DELETE2(work->control->sweeping, work, job->sweep.prev, job->sweep.next);
	p->queued = false;
}

static void add_job(struct work *work, const struct job *job, bool rollout)
{
	struct sweep_part *p = &work->job->sweep;

	if (p->count == ROUND_MAX)
		return;
	p->list[p->count++] = (struct sweep){ .work = work,
		.name = mem_dup(job->meta.name),
		.uid = mem_dup(job->meta.uid),
		.rollout = rollout };
	p->rollouts += rollout;
}

/*
 * Jobs of an earlier version come first. Finished Jobs are kept until a look at the triggers ends,
 * because they count in it.
 */
static void round_plan(struct work *work, const struct scaledjob *sj)
{
	struct sweep_part *p = &work->job->sweep;
	size_t count;
	const struct jobs_seen *seen = jobs_of(work->control->cache->jobs, work->object->key, &count);
	MEM_AUTO const struct job **jobs = mem_array(count + 1, sizeof(*jobs));
	MEM_AUTO enum jobspec_sweep *fates = mem_array(count + 1, sizeof(*fates));

	for (size_t i = 0; i < count; i++)
		jobs[i] = seen[i].job;
	jobspec_sweep(sj, work->object->served, jobs, count, fates);
	p->list = mem_array(count < ROUND_MAX ? count + 1 : ROUND_MAX, sizeof(*p->list));
	for (size_t i = 0; i < count; i++)
		if (fates[i] == JOBSPEC_ROLLOUT)
			add_job(work, jobs[i], true);
	p->waits = false;
	for (size_t i = 0; i < count; i++) {
		if (fates[i] == JOBSPEC_HISTORY && polling_busy(work))
			p->waits = true;
		else if (fates[i] == JOBSPEC_HISTORY)
			add_job(work, jobs[i], false);
	}
}

/* ---- One delete ---- */

/*
 * Of several failures the first by name is reported, so that the text does not depend on their
 * order.
 */
static void failed(struct work *work, const struct sweep *s, const struct err *err)
{
	struct sweep_part *p = &work->job->sweep;

	if (!s->rollout) {
		if (!p->failed)
			log_warn(work->subject, "deleting the finished Job %s: %s; trying again", s->name, err->msg);
		p->failed = true;
		return;
	}
	if (p->err && strcmp(p->err_name, s->name) < 0)
		return;
	p->err_name = s->name;
	err_keep(&p->err, err);
	err_wrap(p->err, "Not able to delete job: %s", s->name);
}

static void tell_rollout(struct work *work)
{
	struct sweep_part *p = &work->job->sweep;

	if (p->rollouts == 0 || work->object->gone)
		return;
	if (p->err) {
		recorder_event(work, "Warning", "ScaledJobRolloutCleanupFailed", "%s", p->err->msg);
		return;
	}
	recorder_event(work, "Normal", "ScaledJobRolloutCleanupCompleted",
		"Deleted %zu jobs owned by the previous version of the scaledJob", p->rollouts);
	log_info(work->subject, "deleted %zu Job%s of its previous version", p->rollouts, p->rollouts == 1 ? "" : "s");
}

static void round_over(struct work *work)
{
	struct sweep_part *p = &work->job->sweep;

	tell_rollout(work);
	if (p->failed || p->err)
		p->retry_at_ms = loop_now_ms(work->control->cache->loop) +
			loop_backoff_ms(p->failures++, AGAIN_FIRST_MS, AGAIN_MAX_MS);
	else
		p->failures = 0;
	round_end(work);
	queue_mark(work);
}

static void on_deleted(void *arg, const json_t *answer, const struct err *err)
{
	struct sweep *s = arg;
	struct work *work = s->work;
	struct sweep_part *p = &work->job->sweep;
	struct control *c = work->control;
	MEM_AUTO char *namespace_ = work_namespace(work);

	s->call = NULL;
	c->deletes--;
	p->answered++;
	p->rollouts_answered += s->rollout;
	/*
	 * It is deleted, or another one has its name: the watch will show it. A 404 may be a
	 * proxy's.
	 */
	if (err && (err->kind == ERR_MISSING || err->kind == ERR_CONFLICT))
		p->failed = true;
	else if (err)
		failed(work, s, err);
	else if (json_str_is(answer, "kind", "Job") && *json_metadata_text(answer, "deletionTimestamp"))
		jobs_learn(c->cache->jobs, answer); /* it waits for its Pods or for a finalizer */
	else
		jobs_forget(c->cache->jobs, namespace_, s->name);
	/* The rollout does not wait for deletes of the history. */
	if (p->answered == p->count)
		round_over(work);
	else if (s->rollout && p->rollouts_answered == p->rollouts)
		queue_mark(work);
	serve(c);
}

static void send_delete(struct work *work)
{
	struct sweep *s = &work->job->sweep.list[work->job->sweep.sent++];
	const struct scaledjob *sj = work->object->of.sj;
	const char *wanted = sj && s->rollout ? sj->spec.propagation_policy : NULL;
	MEM_AUTO char *namespace_ = work_namespace(work);
	MEM_AUTO char *path = mem_printf("/apis/batch/v1/namespaces/%s/jobs/%s", namespace_, s->name);
	MEM_AUTO char *body = mem_printf("{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"propagationPolicy\":\"%"
					 "s\",\"preconditions\":{\"uid\":\"%s\"}}",
		wanted && strcmp(wanted, "foreground") == 0 ? "Foreground" : "Background", s->uid);
	struct kube_request request = { .verb = KUBE_DELETE, .path = path, .body = body, .priority = KUBE_NORMAL };

	work->control->deletes++;
	s->call = kube_call(work->control->kube, &request, on_deleted, s);
}

/* One of each object in turn. */
static void serve(struct control *c)
{
	while (c->deletes < DELETES_MAX && c->sweeping) {
		struct work *work = c->sweeping;
		struct sweep_part *p = &work->job->sweep;

		DL_DELETE2(c->sweeping, work, job->sweep.prev, job->sweep.next);
		p->queued = p->sent + 1 < p->count;
		if (p->queued)
			DL_APPEND2(c->sweeping, work, job->sweep.prev, job->sweep.next);
		send_delete(work);
	}
}

/* ---- The interface ---- */

enum sweep_state jobsweeper_run(struct work *work, const struct scaledjob *sj, struct err *err)
{
	struct sweep_part *p = &work->job->sweep;
	int64_t wait_ms = p->retry_at_ms - loop_now_ms(work->control->cache->loop);

	if (p->count == 0 && p->failures > 0 && wait_ms > 0) {
		write_again(work, wait_ms);
	} else if (p->count == 0) {
		err_keep(&p->err, NULL);
		round_plan(work, sj);
		if (p->rollouts > 0 && jobhistory_ask(work, sj)) {
			round_end(work);
			return SWEEP_BUSY;
		}
		if (p->rollouts > 0)
			recorder_event(work, "Normal", "ScaledJobRolloutCleanupStarted",
				"Deleting %zu jobs owned by the previous version of the scaledJob", p->rollouts);
		if (p->count > 0) {
			p->queued = true;
			DL_APPEND2(work->control->sweeping, work, job->sweep.prev, job->sweep.next);
			serve(work->control);
		} else {
			round_end(work);
		}
	}
	if (p->rollouts_answered < p->rollouts)
		return SWEEP_BUSY;
	if (p->err)
		*err = *p->err;
	return p->err ? SWEEP_FAILED : SWEEP_DONE;
}

void jobsweeper_stop(struct work *work)
{
	struct sweep_part *p = &work->job->sweep;

	round_end(work);
	jobhistory_stop(work);
	err_keep(&p->err, NULL);
	p->failures = 0;
	p->retry_at_ms = 0;
	p->waits = false;
	/* A slot may have become free: the others are served. */
	if (work->control->leading)
		serve(work->control);
}

void jobsweeper_forgive(struct work *work)
{
	work->job->sweep.retry_at_ms = 0;
}
