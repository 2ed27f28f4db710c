/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/jobs/jobconditions.h"

#include <string.h>

#include "base/mem.h"
#include "decide/statusparts.h"

#define READY  STATUSPARTS_READY
#define ACTIVE STATUSPARTS_ACTIVE
#define PAUSED STATUSPARTS_PAUSED

#define REASON_CHECK_FAILED "ScaledJobCheckFailed"

/* ---- After a reconcile ---- */

static void first_sight(struct conditions *c, int64_t now_unix_ms, int64_t generation)
{
	statusparts_first_sight(c, READY, CONDITION_UNKNOWN, now_unix_ms, generation);
	statusparts_first_sight(c, ACTIVE, CONDITION_UNKNOWN, now_unix_ms, generation);
	statusparts_first_sight(c, PAUSED, CONDITION_FALSE, now_unix_ms, generation);
}

static void record_metrics(const struct job_outcome *o, struct scaledobject_status *status)
{
	if (o->metric_names == NULL)
		return;
	statusparts_free_names(&status->external_metric_names, &status->external_metric_count);
	for (size_t i = 0; i < o->metric_count; i++)
		statusparts_add_name(&status->external_metric_names, &status->external_metric_count, o->metric_count,
			o->metric_names[i]);
	statusparts_prune(status);
}

static void record_pause(const struct job_outcome *o, int64_t now_unix_ms, int64_t generation, struct conditions *c)
{
	if (!o->paused_known)
		return;
	if (o->paused)
		conditions_set(c, PAUSED, CONDITION_TRUE, "ScaledJobPaused", "ScaledJob is paused", now_unix_ms,
			generation);
	else if (conditions_get(c, PAUSED)->status != CONDITION_FALSE)
		conditions_set(c, PAUSED, CONDITION_FALSE, "ScaledJobUnpaused", "ScaledJob is unpaused", now_unix_ms,
			generation);
}

/*
 * Ready is lowered by the loop for what only a poll can see; while reconcile finds nothing wrong,
 * only a poll can raise it again.
 */
static bool lowered_by_loop(const struct condition *ready)
{
	static const char *const reasons[] = { "TriggerError", "PartialTriggerError", "ErrorGettingJobs",
		"ErrorGettingPods", "KEDAJobCreateFailed" };

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (strcmp(ready->reason, reasons[i]) == 0)
			return true;
	return false;
}

static void set_up(bool paused, int64_t now_unix_ms, int64_t generation, struct conditions *c)
{
	const struct condition *ready = conditions_get(c, READY);

	if (lowered_by_loop(ready) && !paused)
		statusparts_confirm(c, ready, now_unix_ms, generation);
	else
		conditions_set(c, READY, CONDITION_TRUE, "ScaledJobReady",
			paused ? "ScaledJob is paused, skipping reconcile loop"
			       : "ScaledJob is defined correctly and is ready to scaling",
			now_unix_ms, generation);
}

void jobconditions_after_reconcile(const struct scaledjob *sj, const struct job_outcome *o, int64_t now_unix_ms,
	struct scaledobject_status *status)
{
	struct conditions *c = &status->conditions;
	int64_t generation = sj->meta.generation;

	if (sj->spec_err == NULL)
		statusparts_triggers(sj->spec.triggers, sj->spec.trigger_count, status);
	record_metrics(o, status);
	first_sight(c, now_unix_ms, generation);
	statusparts_looked_at(c, PAUSED, generation);
	record_pause(o, now_unix_ms, generation, c);
	if (o->err == NULL) {
		set_up(o->paused_known && o->paused, now_unix_ms, generation, c);
		return;
	}
	conditions_set(c, READY, CONDITION_FALSE, REASON_CHECK_FAILED, o->err->msg, now_unix_ms, generation);
	conditions_set(c, ACTIVE, CONDITION_UNKNOWN, "UnknownState", "ScaledJob check failed", now_unix_ms, generation);
}

/* ---- After a tick ---- */

static bool trigger_active(const void *arg, const char *metric)
{
	const struct jobs_facts *facts = arg;

	for (size_t i = 0; i < facts->trigger_count; i++) {
		const struct jobs_trigger *t = &facts->triggers[i];

		if (strcmp(t->metric_name, metric) == 0)
			return t->err == NULL && t->active;
	}
	return false;
}

/*
 * KEDA's sentence, and behind it the cause, for whoever looks with kubectl only. What was told of a
 * failure stays while it is the same failure: a text that is another at each poll (times, ports,
 * the name of the Job that was refused) would be a write at each poll. Reconcile says "ready to
 * scaling" where the loop says "ready for scaling", both as KEDA does: that, too, stays as it was
 * told, or the two would write in turn.
 */
static void say_ready(const struct jobs_facts *facts, const struct jobs_decision *d, int64_t now_unix_ms,
	int64_t generation, struct conditions *c)
{
	const struct condition *told = conditions_get(c, READY);
	bool same = told != NULL && told->status == d->ready && strcmp(told->reason, d->ready_reason) == 0;
	MEM_AUTO char *message = NULL;
	char cause[ERR_MSG_MAX];

	if (same && !facts->cause_is_news)
		message = mem_dup(told->message);
	else if (jobs_failure(facts, cause, sizeof(cause)))
		message = mem_printf("%s: %s", d->ready_message, cause);
	else
		message = mem_dup(d->ready_message);
	conditions_set(c, READY, d->ready, d->ready_reason, message, now_unix_ms, generation);
}

void jobconditions_after_tick(const struct scaledjob *sj, const struct jobs_facts *facts, const struct jobs_decision *d,
	int64_t now_unix_ms, struct scaledobject_status *status)
{
	struct conditions *c = &status->conditions;
	int64_t generation = sj->meta.generation;
	/*
	 * What reconcile found wrong stands until reconcile finds it right: a loop that still runs
	 * by an older spec must not hide it, nor flap with it.
	 */
	bool ours = !statusparts_ready_is_false(c, REASON_CHECK_FAILED);
	bool sets_active = ours && d->active_reason != NULL;

	if (d->rule == JOBS_RULE_PAUSED)
		return;
	statusparts_last_active(d->active, sets_active && !statusparts_is_true(c, ACTIVE), d->last_active_unix_ms,
		now_unix_ms, status);
	if (facts->trigger_count > 0)
		statusparts_activity(trigger_active, facts, status);
	if (ours && d->ready_reason != NULL)
		say_ready(facts, d, now_unix_ms, generation, c);
	if (sets_active)
		conditions_set(c, ACTIVE, d->active_status, d->active_reason, d->active_message, now_unix_ms,
			generation);
}
