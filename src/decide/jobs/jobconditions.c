/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/jobs/jobconditions.h"

#include <string.h>

#include "base/mem.h"
#include "base/textlist.h"
#include "decide/statusparts.h"

#define READY  STATUSPARTS_READY
#define ACTIVE STATUSPARTS_ACTIVE
#define PAUSED STATUSPARTS_PAUSED

static const struct statusparts_words words = {
	.ready = "ScaledJobReady",
	.ready_message = "ScaledJob is defined correctly and is ready to scaling",
	.ready_paused_message = "ScaledJob is paused, skipping reconcile loop",
	.refused = "ScaledJobCheckFailed",
	.refused_message = "ScaledJob check failed",
	.paused = "ScaledJobPaused",
	.paused_message = "ScaledJob is paused",
	.unpaused = "ScaledJobUnpaused",
	.unpaused_message = "ScaledJob is unpaused",
	.lowered = (const char *const[]){ "TriggerError", "PartialTriggerError", "ErrorGettingJobs", "ErrorGettingPods",
		"KEDAJobCreateFailed", NULL },
};

/* ---- After a reconcile ---- */

static void record_metrics(const struct job_outcome *o, struct scaledobject_status *status)
{
	if (!o->metric_names)
		return;
	textlist_done(&status->external_metric_names, &status->external_metric_count);
	for (size_t i = 0; i < o->metric_count; i++)
		textlist_add(&status->external_metric_names, &status->external_metric_count, o->metric_names[i]);
	statusparts_prune(status);
}

void jobconditions_after_reconcile(const struct scaledjob *sj, const struct job_outcome *o, int64_t now_unix_ms,
	struct scaledobject_status *status)
{
	const struct statusparts p = { &words, status, now_unix_ms, sj->meta.generation };

	if (!sj->spec_err)
		statusparts_triggers(sj->spec.triggers, sj->spec.trigger_count, status);
	record_metrics(o, status);
	statusparts_first_sight(&p, READY, CONDITION_UNKNOWN);
	statusparts_first_sight(&p, ACTIVE, CONDITION_UNKNOWN);
	statusparts_first_sight(&p, PAUSED, CONDITION_FALSE);
	conditions_observe(&status->conditions, PAUSED, p.generation);
	if (o->paused_known)
		statusparts_pause(&p, o->paused);
	statusparts_reconciled(&p, o->err, o->paused_known && o->paused);
}

/* ---- After a tick ---- */

/* While a passing failure is not yet reported in Ready, the trigger stays as active as it was. */
static bool trigger_active(const void *arg, const char *metric, bool was, size_t *at)
{
	const struct jobs_facts *facts = arg;

	for (size_t i = 0; i < facts->trigger_count; i++, ++*at) {
		const struct jobs_trigger *t = &facts->triggers[*at % facts->trigger_count];

		if (strcmp(t->metric_name, metric) == 0)
			return t->err ? facts->ready_waits && was : t->active;
	}
	return false;
}

/*
 * KEDA's message with the cause appended, for users of kubectl. It is kept while the failure is the
 * same (its text may name another Job each time), and also without a failure: reconcile writes
 * "ready to scaling" and the loop "ready for scaling", both as in KEDA, and would overwrite each
 * other.
 */
static void say_ready(const struct statusparts *p, const struct jobs_facts *facts, const struct jobs_words *says)
{
	char cause[ERR_MSG_MAX];
	MEM_AUTO char *message = jobs_failure(facts, cause, sizeof(cause)) ? mem_printf("%s: %s", says->message, cause)
									   : NULL;

	statusparts_say_once(p, READY, says->status, says->reason, message ? message : says->message,
		!facts->cause_is_news);
}

void jobconditions_after_tick(const struct scaledjob *sj, const struct jobs_facts *facts, const struct jobs_decision *d,
	int64_t now_unix_ms, struct scaledobject_status *status)
{
	const struct statusparts p = { &words, status, now_unix_ms, sj->meta.generation };
	bool ours = !statusparts_is_refused(&p), unknown = facts->ready_waits && !d->active,
	     sets_active = ours && d->active_words && !unknown;

	if (d->rule == JOBS_RULE_PAUSED)
		return;
	if (!unknown)
		statusparts_last_active(&p, d->active, sets_active, d->last_active_unix_ms);
	if (facts->trigger_count > 0)
		statusparts_activity(trigger_active, facts, status);
	if (ours && d->ready_words && !facts->ready_waits)
		say_ready(&p, facts, d->ready_words);
	if (sets_active)
		statusparts_say(&p, ACTIVE, d->active_words->status, d->active_words->reason, d->active_words->message);
}
