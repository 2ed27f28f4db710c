/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a ScaledJob had another jobTargetRef before its newest generation. After a change of the
 * CRD the API server serves the same jobTargetRef differently, so the previous generation must be
 * compared as the present CRD serves it: the API server lists the state at a resourceVersion as
 * long as etcd keeps it (five minutes by default). So the object is followed back, version by
 * version, until its jobTargetRef differs.
 *
 *   an earlier generation, the same -----> its Jobs are current (decide/jobs/jobtemplate); go on to
 *   the version before it
 *   an earlier generation, another one --> known
 *   the same generation (a status) ------> go on to the version before it
 *   nothing, or it cannot be listed -----> known: treated as another jobTargetRef
 *
 * A later leader, when etcd has forgotten the old versions, uses the status: a leader that has
 * reconciled this generation has left no Job that is outdated in it.
 */
#include "control/jobs/jobhistory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "control/jobs/jobparts.h"
#include "control/objects/queue.h"
#include "control/objects/work.h"
#include "control/objects/write.h"
#include "decide/jobs/jobtemplate.h"

#define STEPS_MAX 16
#define TRIES_MAX 5

#define AGAIN_FIRST_MS 500
#define AGAIN_MAX_MS   10000

static void step_back(struct work *work, uint64_t from);

static void conclude(struct work *work, const char *why)
{
	struct history_part *h = &work->job->history;

	log_debug(work->subject, "the Jobs of generation %" PRId64 " and later are of the present jobTargetRef: %s",
		work->object->served->now.since, why);
	work->object->served->judged = h->generation;
	h->steps = h->failures = 0;
	h->retry_at_ms = 0;
	queue_mark(work);
}

static uint64_t version_of(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	return digits > 0 && digits < 20 && text[digits] == '\0' ? strtoull(text, NULL, 10) : 0;
}

/* The object as it was; NULL: another object, or none at that version. The caller owns it. */
static struct scaledjob *decode(const struct work *work, const json_t *list)
{
	const json_t *item = json_array_get(json_object_get(list, "items"), 0);
	struct scaledjob *then = item ? scaledjob_decode(item, NULL) : NULL;

	if (!then ||
		(strcmp(then->meta.uid, work->object->uid) == 0 &&
			version_of(then->meta.resource_version) <= work->job->history.version))
		return then;
	scaledjob_free(then);
	return NULL;
}

static void compare(struct work *work, const struct scaledjob *now, const struct scaledjob *then)
{
	bool earlier = then->meta.generation < now->meta.generation;

	if (earlier && strcmp(then->spec.template_print, now->spec.template_print) != 0) {
		conclude(work, "the previous one had another");
		return;
	}
	if (earlier)
		jobtemplate_reaches(work->object->served, then->meta.generation);
	step_back(work, version_of(then->meta.resource_version));
}

static void on_list(void *arg, const json_t *list, const struct err *err)
{
	struct work *work = arg;
	struct history_part *h = &work->job->history;
	const struct scaledjob *now = work->object->of.sj;
	struct scaledjob *then;

	h->call = NULL;
	if (!now || now->meta.generation != h->generation) {
		queue_mark(work);
		return;
	}
	if (err && err->kind == ERR_TEMPORARY && ++h->failures < TRIES_MAX) {
		h->retry_at_ms = loop_now_ms(work->control->cache->loop) +
			loop_backoff_ms(h->failures - 1, AGAIN_FIRST_MS, AGAIN_MAX_MS);
		queue_mark(work);
		return;
	}
	then = err ? NULL : decode(work, list);
	if (then)
		compare(work, now, then);
	else
		conclude(work, err ? err->msg : "it did not exist before");
	scaledjob_free(then);
}

/* Goes to the version just before this one. */
static void step_back(struct work *work, uint64_t from)
{
	struct history_part *h = &work->job->history;
	const struct meta *meta = work->object->of.meta;
	MEM_AUTO char *path = NULL;
	struct kube_request request = { .verb = KUBE_LIST, .priority = KUBE_NORMAL };

	if (from <= 1 || h->steps++ == STEPS_MAX) {
		conclude(work, "the search ends here");
		return;
	}
	h->version = from - 1;
	path = mem_printf("/apis/keda.sh/v1alpha1/namespaces/%s/scaledjobs?fieldSelector=metadata.name%%3D%s"
			  "&resourceVersion=%" PRIu64 "&resourceVersionMatch=Exact",
		meta->namespace_, meta->name, h->version);
	request.path = path;
	h->call = kube_call(work->control->kube, &request, on_list, work);
}

/* If a leader has reconciled this generation, all remaining Jobs are current in it. */
static bool was_reconciled(const struct scaledjob *sj)
{
	const struct condition *ready = conditions_get(&sj->status.conditions, "Ready"),
			       *paused = conditions_get(&sj->status.conditions, "Paused");

	return ready && ready->status == CONDITION_TRUE && ready->observed_generation == sj->meta.generation &&
		!(paused && paused->status == CONDITION_TRUE);
}

bool jobhistory_ask(struct work *work, const struct scaledjob *sj)
{
	struct jobtemplate *served = work->object->served;
	struct history_part *h = &work->job->history;
	int64_t wait_ms = h->retry_at_ms - loop_now_ms(work->control->cache->loop);

	if (served->judged == sj->meta.generation)
		return false;
	if (h->generation != sj->meta.generation)
		jobhistory_stop(work);
	h->generation = sj->meta.generation;
	if (h->call)
		return true;
	if (served->judged == 0 && served->before.count == 0 && was_reconciled(sj)) {
		jobtemplate_reaches(served, 0);
		conclude(work, "an earlier leader left them");
	} else if (h->retry_at_ms && wait_ms > 0) {
		write_again(work, wait_ms);
	} else {
		h->retry_at_ms = 0;
		h->steps = 0;
		step_back(work, version_of(sj->meta.resource_version));
	}
	return true;
}

void jobhistory_stop(struct work *work)
{
	kube_cancel(work->job->history.call);
	work->job->history = (struct history_part){ .call = NULL };
}
