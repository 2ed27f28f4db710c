/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tick of a ScaledJob: decides the number of Jobs to create now, from the answers of its
 * triggers, its Jobs and (if the strategy needs that) which of them are pending.
 *
 * The Pods are read before the triggers, so that a Pod that starts in between leads to too few
 * Jobs, never to one too many; and a Job that ended since the triggers were asked counts as
 * running, as their answers may still include what it processed.
 */
#include "control/jobs/jobloop.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "cache/objects/jobpods.h"
#include "control/jobs/jobmaker.h"
#include "control/jobs/jobparts.h"
#include "control/objects/polling.h"
#include "control/objects/queue.h"
#include "control/objects/recorder.h"
#include "control/objects/status.h"
#include "control/objects/work.h"
#include "decide/jobs/jobconditions.h"
#include "decide/jobs/jobs.h"

struct jobloop_name {
	char *text;
	bool pending;
};

/* ---- The Pods ---- */

static void forget_pods(struct jobloop_part *p)
{
	for (size_t i = 0; i < p->name_count; i++)
		free(p->names[i].text);
	free(p->names);
	p->names = NULL;
	p->name_count = 0;
	err_keep(&p->pods_err, NULL);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct jobloop_name *)a)->text, ((const struct jobloop_name *)b)->text);
}

static struct jobloop_name *name_find(const struct jobloop_part *p, const char *text)
{
	struct jobloop_name key = { (char *)(uintptr_t)text, false };

	return p->name_count > 0 ? bsearch(&key, p->names, p->name_count, sizeof(*p->names), by_text) : NULL;
}

/* Names of the Jobs that run now. */
static void take_names(struct work *work)
{
	struct jobloop_part *p = &work->job->jobloop;
	size_t count;
	const struct jobs_seen *seen = jobs_of(work->control->cache->jobs, work->object->key, &count);

	p->names = mem_array(count + 1, sizeof(*p->names));
	for (size_t i = 0; i < count; i++)
		if (seen[i].job->state == JOB_RUNNING)
			p->names[p->name_count++].text = mem_dup(seen[i].job->meta.name);
	qsort(p->names, p->name_count, sizeof(*p->names), by_text);
}

static void on_pods(void *arg, const char *const *pending, size_t count, const struct err *err)
{
	struct work *work = arg;

	work->job->jobloop.pods = NULL;
	err_keep(&work->job->jobloop.pods_err, err);
	for (size_t i = 0; i < count; i++) {
		struct jobloop_name *name = name_find(&work->job->jobloop, pending[i]);

		if (name)
			name->pending = true;
	}
	polling_prepared(work);
}

static void ask_pods(struct work *work, const struct scaledjob *sj)
{
	struct jobloop_part *p = &work->job->jobloop;
	MEM_AUTO const char **names = mem_array(p->name_count, sizeof(*names));
	struct jobpods_request request = {
		.namespace_ = sj->meta.namespace_,
		.jobs = names,
		.job_count = p->name_count,
		.conditions = (const char *const *)sj->spec.pending_conditions,
		.condition_count = sj->spec.pending_condition_count,
		.deadline_ms = work->control->query_deadline_ms,
	};

	for (size_t i = 0; i < p->name_count; i++)
		names[i] = p->names[i].text;
	p->pods = jobpods_ask(work->control->kube, &request, on_pods, work);
}

bool jobloop_prepare(struct work *work)
{
	const struct scaledjob *sj = work->object->of.sj;

	forget_pods(&work->job->jobloop);
	if (!sj || !jobs_needs_pods(&sj->spec))
		return false;
	take_names(work);
	if (work->job->jobloop.name_count == 0)
		return false;
	ask_pods(work, sj);
	return true;
}

void jobloop_unprepare(struct work *work)
{
	jobpods_cancel(work->job->jobloop.pods);
	work->job->jobloop.pods = NULL;
}

/* A Job that was created after the Pods were read counts as pending. */
static size_t count_pending(const struct work *work)
{
	size_t count, pending = jobmaker_unseen(work);
	const struct jobs_seen *seen = jobs_of(work->control->cache->jobs, work->object->key, &count);

	for (size_t i = 0; i < count; i++) {
		const struct jobloop_name *name = seen[i].job->state == JOB_RUNNING
			? name_find(&work->job->jobloop, seen[i].job->meta.name)
			: NULL;

		pending += seen[i].job->state == JOB_RUNNING && (!name || name->pending);
	}
	return pending;
}

/* ---- The facts ---- */

/* The caller frees it. */
static struct jobs_trigger *triggers_of(const struct survey_result *r)
{
	struct jobs_trigger *list = mem_array(r->count + 1, sizeof(*list));

	for (size_t i = 0; i < r->count; i++) {
		const struct scaler *s = r->scalers[i];

		list[i] = (struct jobs_trigger){
			.index = s->index,
			.metric_name = r->triggers[i].metric_name,
			.queue = r->triggers[i].reading.value,
			.active = r->triggers[i].reading.active,
			.err = r->triggers[i].err,
		};
		if (!s->undescribed && s->target_type == METRIC_AVERAGE_VALUE)
			list[i].target = (double)s->target.milli / 1000;
	}
	return list;
}

static int32_t number(size_t count)
{
	return count < INT32_MAX ? (int32_t)count : INT32_MAX;
}

static void count_jobs(const struct work *work, int64_t asked_at_ms, struct jobs_facts *facts)
{
	const struct cache *cache = work->control->cache;
	int64_t since_ms = asked_at_ms ? asked_at_ms : loop_now_ms(cache->loop);

	facts->running = number(jobs_running(cache->jobs, work->object->key, since_ms) + jobmaker_unseen(work));
	facts->pending = jobs_needs_pods(facts->spec) ? number(count_pending(work)) : 0;
}

/* ---- The decision ---- */

/* triggers: as many as in facts */
static void note(struct work *work, const struct verdict_trigger *triggers, const struct jobs_facts *facts,
	const struct jobs_decision *d, char *text, size_t size)
{
	uint64_t mark = jobs_mark(facts, d);
	struct journal_facts seen = { .now_unix_ms = facts->now_unix_ms,
		.triggers = triggers,
		.trigger_count = facts->trigger_count };
	struct journal_verdict verdict = { .rule = jobs_rule_name(d->rule),
		.act = d->create > 0,
		.replicas = d->create,
		.active = d->active,
		.failing = d->failing };
	bool stands = journal_stands(work->object, mark, facts->now_unix_ms);

	*text = '\0';
	if (!stands || d->create > 0)
		jobs_explain(facts, d, text, size);
	if (stands)
		return;
	log_debug(work->subject, "%s", text);
	journal_decided(work->object, mark, &seen, &verdict, text);
}

static void say_status(struct work *work, const struct scaledjob *sj, const struct jobs_facts *facts,
	const struct jobs_decision *d)
{
	struct scaledobject_status *wanted = status_wanted(work, &sj->status);
	bool was_active = work_says(work, "Active"), active;

	jobconditions_after_tick(sj, facts, d, facts->now_unix_ms, wanted);
	active = work_says(work, "Active");
	if (active != was_active)
		recorder_event(work, "Normal", active ? "ScaledJobActive" : "ScaledJobInactive", "%s",
			d->active_words  ? d->active_words->message
				: active ? "ScaledJob is active"
					 : "ScaledJob is inactive");
	status_write(work);
}

/* An earlier refusal of Jobs is forgotten when no Job is to be created or open. */
static struct jobs_decision judge_facts(struct work *work, struct jobs_facts *facts)
{
	struct jobs_decision d = jobs_decide(facts);

	if (!facts->create_trouble || d.create > 0 || jobmaker_unseen(work) > 0 || facts->jobs_err || facts->pods_err)
		return d;
	jobmaker_forgive(work);
	facts->create_trouble = NULL;
	return jobs_decide(facts);
}

/*
 * If the triggers cannot be built (for example, a Secret is missing), none was asked, and only the
 * Jobs of minReplicaCount are created. reconcile reports the error.
 */
static void decide(struct work *work, const struct scaledjob *sj, const struct survey_result *r)
{
	struct jobloop_part *p = &work->job->jobloop;
	bool asked = !r->err;
	MEM_AUTO struct jobs_trigger *triggers = triggers_of(r);
	MEM_AUTO char *refusal = mem_dup(work->job->maker.trouble);
	struct err jobs_err = { 0 };
	struct jobs_facts facts = {
		.spec = &sj->spec,
		.now_unix_ms = timestamp_now_ms(),
		.triggers = triggers,
		.trigger_count = r->count,
		.pods_err = asked ? p->pods_err : NULL,
		.last_active_unix_ms = work->loop.last_active_unix_ms,
		.create_trouble = refusal,
	};
	struct jobs_decision d;
	const char *trouble;
	char text[512];
	struct readiness_look look;
	struct readiness_says ready;

	if (!jobs_known(work->control->cache->jobs, sj->meta.namespace_, &trouble)) {
		err_set(&jobs_err, trouble ? ERR_TEMPORARY : ERR_WAITING, "%s",
			trouble ? trouble : "the Jobs are not read yet");
		facts.jobs_err = &jobs_err;
	}
	count_jobs(work, r->asked_at_ms, &facts);
	facts.answered = asked && !refusal && r->asked_at_ms && r->asked_at_ms == p->answered_ms;
	d = judge_facts(work, &facts);
	if (d.rule == JOBS_RULE_CREATE || d.rule == JOBS_RULE_AT_MAX)
		p->answered_ms = r->asked_at_ms;
	if (asked) {
		look = jobs_ready_look(&facts, &d);
		ready = polling_judge(work, &look);
		facts.ready_waits = ready.waits;
		facts.cause_is_news = ready.news;
		polling_note_active(work, d.last_active_unix_ms);
	}
	note(work, r->triggers, &facts, &d, text, sizeof(text));
	if (asked)
		polling_tell(work, r);
	/*
	 * After a refusal only a due poll creates Jobs again, not every message of a source.
	 * Earlier decisions on the same answers are carried out.
	 */
	if (d.rule != JOBS_RULE_ENOUGH || !jobs_is_answered(&facts))
		jobmaker_create(work, facts.create_trouble && !work->loop.timed ? 0 : d.create, facts.running, text);
	if (asked) {
		say_status(work, sj, &facts, &d);
		recorder_push(work);
	}
}

void jobloop_decide(struct work *work, const struct survey_result *result)
{
	const struct scaledjob *sj = work->object->of.sj;
	bool paused, held = !sj || annotations_read_paused(&sj->meta.annotations, &paused, NULL) || paused;

	/* reconcile handles errors of the object and pauses. */
	if (held || result->err)
		queue_mark(work);
	if (held || (result->err && !scaledjob_min(&sj->spec)))
		jobmaker_drop(work);
	else
		decide(work, sj, result);
	forget_pods(&work->job->jobloop);
	if (work->job->sweep.waits)
		queue_mark(work);
}

void jobloop_paused(struct work *work, const struct scaledjob *sj)
{
	struct jobs_facts facts = { .spec = &sj->spec,
		.now_unix_ms = timestamp_now_ms(),
		.paused = true,
		.last_active_unix_ms = work->loop.last_active_unix_ms };
	struct jobs_decision d;
	char text[512];

	count_jobs(work, 0, &facts);
	d = jobs_decide(&facts);
	note(work, NULL, &facts, &d, text, sizeof(text));
}

/* ---- Its Jobs ---- */

void jobloop_note(struct work *work)
{
	struct jobs_tally tally = jobs_tally(work->control->cache->jobs, work->object->key);
	size_t finished = tally.complete + tally.failed;

	jobmaker_look(work);
	/* There may be more finished Jobs now than the limits allow. */
	if (finished > work->job->jobloop.finished)
		queue_mark(work);
	work->job->jobloop.finished = finished;
}

void jobloop_stop(struct work *work)
{
	jobloop_unprepare(work);
	forget_pods(&work->job->jobloop);
	work->job->jobloop.finished = 0;
}
