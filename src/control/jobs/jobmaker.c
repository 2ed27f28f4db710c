/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Creates every Job once, and counts it from the moment it is sent. The states of a Job:
 *
 *   SENT ------ created -------------------------> it is in cache/objects/jobs
 *               the name is taken ---------------> DUE, to be looked up: a connection that broke
 *               may have sent it twice
 *               refused -------------------------> settled; the rest of the burst is dropped
 *               any other outcome ---------------> UNSURE (after an answer without the Job: to be
 *               looked up)
 *   UNSURE ---- after a back-off ----------------> DUE
 *   DUE ------- at its turn ---------------------> AGAIN: the same name is sent again; LOOKING if
 *   nothing may be created any more
 *   AGAIN ----- created -------------------------> it is in cache/objects/jobs
 *               the name is taken, or refused ---> DUE, to be looked up: the first one may be there
 *               any other outcome ---------------> UNSURE
 *   LOOKING --- it is this ScaledJob's ----------> it is in cache/objects/jobs
 *               it belongs to something else ----> SENT, under another name
 *               it does not exist ---------------> settled
 *               any other outcome ---------------> UNSURE
 *
 * UNSURE and DUE also end when the watch shows the Job. When the object is deleted or we stop
 * leading, all are dropped: the next leader lists the Jobs.
 */
#include "control/jobs/jobmaker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/buf.h"
#include "base/fingerprint.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "control/jobs/jobparts.h"
#include "control/objects/polling.h"
#include "control/objects/queue.h"
#include "control/objects/recorder.h"
#include "control/objects/work.h"
#include "decide/jobs/jobspec.h"

/*
 * Creates under way, of all objects: enough for 3,000 Jobs a second of an API server that answers
 * in 10 ms, and few enough for its flow control, which grants a client some dozens of requests.
 */
#define CREATES_MAX 32

/* Bytes of their bodies, each a copy of a template of up to 1 MiB; 32 usual ones have 200 KiB. */
#define CREATES_BYTES_MAX (2 << 20)

/* Jobs of one object that are sent and not settled; bounds those without an answer, too. */
#define OPEN_MAX CREATES_MAX

#define AGAIN_FIRST_MS 500
#define AGAIN_MAX_MS   30000

/*
 * A newly started API server denies everything until it has read the roles: for this many tries
 * (some two minutes with the back-off) "denied" does not tell whether a Job exists.
 */
#define DENIALS_MAX 10

/* After this many server errors in a row for one Job they are reported: a webhook may be down. */
#define TROUBLES_USUAL 3

/*
 * Names tried for one Job: with 14 million suffixes, more collisions in a row have another cause.
 */
#define NAMES_MAX 5

enum making_state { MAKING_SENT, MAKING_UNSURE, MAKING_DUE, MAKING_AGAIN, MAKING_LOOKING };

static const char *const state_names[] = { "sent", "unsure", "due", "sent again", "looked up" };

struct making {
	struct work *work;
	struct making *prev, *next;
	enum making_state state;
	bool unsure; /* an answer was lost: the Job may exist */
	bool seen;   /* cache/objects/jobs has shown it */
	bool look;   /* to be looked up, not sent again */
	unsigned failures, names;
	int64_t generation;  /* of the ScaledJob when the Job was sent */
	unsigned refusals;   /* maker_part.refusals at that time */
	struct err *refusal; /* of a second create; owned; NULL */
	struct kube_call *call;
	size_t bytes; /* of its body */
	struct loop_timer again;
	char name[JOBSPEC_NAME_MAX + 1];
};

static void serve(struct control *c);

static void __attribute__((format(printf, 3, 4))) move(struct making *m, enum making_state to, const char *fmt, ...)
{
	va_list ap;
	char *why;

	va_start(ap, fmt);
	why = mem_vprintf(fmt, ap);
	va_end(ap);
	log_debug(m->work->subject, "Job %s: %s -> %s: %s", m->name, state_names[m->state], state_names[to], why);
	m->state = to;
	free(why);
}

static void call_over(struct making *m)
{
	struct control *c = m->work->control;

	m->call = NULL;
	c->creates--;
	c->create_bytes -= m->bytes;
	m->bytes = 0;
}

/* It is settled. */
static void end_making(struct making *m, const char *what)
{
	struct kube_call *call = m->call;

	log_debug(m->work->subject, "Job %s: %s -> %s", m->name, state_names[m->state], what);
	DL_DELETE(m->work->job->maker.making, m);
	if (call)
		call_over(m);
	kube_cancel(call);
	loop_timer_done(&m->again);
	err_keep(&m->refusal, NULL);
	free(m);
}

/* ---- The turns ---- */

static void queue(struct work *work)
{
	if (work->job->maker.queued)
		return;
	work->job->maker.queued = true;
	DL_APPEND2(work->control->making, work, job->maker.prev, job->maker.next);
}

static void unqueue(struct work *work)
{
	if (!work->job->maker.queued)
		return;
	work->job->maker.queued = false;
	DL_DELETE2(work->control->making, work, job->maker.prev, job->maker.next);
}

static bool any_sent(const struct work *work)
{
	const struct making *m;

	DL_FOREACH (work->job->maker.making, m)
		if (m->state == MAKING_SENT)
			return true;
	return false;
}

/* ---- The burst: Events and log ---- */

static void forget_burst(struct maker_part *p)
{
	p->made = 0;
	p->refusal = ERR_NONE;
	free(p->why);
	p->why = NULL;
}

static void report_created(struct work *work)
{
	struct maker_part *p = &work->job->maker;

	if (p->made > 0 && !work->object->gone) {
		recorder_event(work, "Normal", "KEDAJobsCreated", "Created %d jobs", p->made);
		journal_scaled(work->object, timestamp_now_ms(), p->from, p->from + p->made, p->why ? p->why : "");
		log_info(work->subject, "%s (%d created)", p->why ? p->why : "", p->made);
	}
	p->from += p->made;
	p->made = 0;
}

/* When everything that was decided has been sent, and answered or in doubt. */
static void tell_when_over(struct work *work)
{
	if (work->job->maker.planned == 0 && !any_sent(work))
		report_created(work);
}

static void count_job(struct work *work, struct counters_family *family)
{
	MEM_AUTO char *namespace_ = work_namespace(work);

	counters_add(family, (const char *const[]){ namespace_, work_name(work) }, 1);
}

/* Length of the common beginning of its Jobs' names. */
static int stem_len(const struct making *m)
{
	size_t len = strlen(m->name);

	return (int)(len > JOBSPEC_SUFFIX ? len - JOBSPEC_SUFFIX : len);
}

/*
 * The API server's message without the random part of the name, so that the same cause gives the
 * same text; the caller owns it.
 */
static char *cause_of(const struct making *m, const struct err *err)
{
	struct buf text = BUF_INIT(ERR_MSG_MAX);
	const char *from = err->msg, *at;

	for (; (at = strstr(from, m->name)); from = at + strlen(m->name))
		buf_printf(&text, "%.*s%.*s", (int)(at - from), from, stem_len(m), m->name);
	buf_puts(&text, from);
	return buf_take(&text);
}

/*
 * An Event once per burst and kind of refusal, without the random part of the name (unlike KEDA's),
 * so that a repetition is the same Event; logged when the text is new. Ready reports it at the next
 * look, which creates nothing.
 */
static void tell_refusal(struct making *m, const struct err *err)
{
	struct work *work = m->work;
	struct maker_part *p = &work->job->maker;
	MEM_AUTO char *cause = cause_of(m, err);
	bool news = !p->trouble || strcmp(p->trouble, cause) != 0;

	if (p->refusal != err->kind && !work->object->gone) {
		p->refusal = err->kind;
		recorder_event(work, "Warning", "KEDAJobCreateFailed", "Failed to create job %.*s: %s", stem_len(m),
			m->name, cause);
		if (news)
			log_warn(work->subject, "creating Jobs: %s; each poll tries again", cause);
	}
	if (!news)
		return;
	free(p->trouble);
	p->trouble = mem_dup(cause);
	polling_wake(work);
}

/* ---- Transitions ---- */

void jobmaker_forgive(struct work *work)
{
	free(work->job->maker.trouble);
	work->job->maker.trouble = NULL;
}

static void made(struct making *m, const json_t *job)
{
	struct work *work = m->work;
	struct maker_part *p = &work->job->maker;

	p->made++;
	/*
	 * Success of a Job that was sent before another was refused does not show that Jobs are
	 * allowed now.
	 */
	if (m->refusals == p->refusals)
		jobmaker_forgive(work);
	/* It may be of an earlier version by now, which the rollout did not see. */
	if (!work->object->gone && work->object->of.meta->generation != m->generation)
		queue_mark(work);
	count_job(work, work->control->jobs_created);
	/* Not if the watch has shown it, as it may be deleted already. */
	if (job && !m->seen)
		jobs_learn(work->control->cache->jobs, job);
	end_making(m, "created");
}

static void refused(struct making *m, const struct err *err)
{
	struct work *work = m->work;

	count_job(work, work->control->job_failures);
	/* The others would be refused, too. The next due poll decides again. */
	work->job->maker.planned = 0;
	work->job->maker.refusals++;
	tell_refusal(m, err);
	end_making(m, "refused");
}

static void on_again(void *arg)
{
	struct making *m = arg;

	move(m, MAKING_DUE, "the back-off is over");
	queue(m->work);
	serve(m->work->control);
}

static void unsure(struct making *m, const struct err *err)
{
	const struct making *other;
	bool told = false;

	if (m->seen) {
		made(m, NULL);
		return;
	}
	DL_FOREACH (m->work->job->maker.making, other)
		told = told || other->unsure;
	if (!told)
		log_warn(m->work->subject, "creating Job %s: %s; it counts as running until its state is known",
			m->name, err->msg);
	m->unsure = true;
	if (m->failures >= TROUBLES_USUAL && err->http_status)
		tell_refusal(m, err);
	move(m, MAKING_UNSURE, "%s", err->msg);
	loop_timer_set(&m->again, loop_backoff_ms(m->failures++, AGAIN_FIRST_MS, AGAIN_MAX_MS));
}

static void send_create(struct making *m, enum making_state state, const char *why);

/*
 * A name that none of our Jobs has: among a thousand Jobs two suffixes collide in one of thirty
 * cases, and the new Job would be mistaken for the other.
 */
static void take_name(struct making *m, const struct scaledjob *sj)
{
	struct work *work = m->work;
	const struct making *other;
	char name[JOBSPEC_NAME_MAX + 1];
	bool taken;

	do {
		jobspec_name(sj, fingerprint_random(), name);
		taken = jobs_find(work->control->cache->jobs, sj->meta.namespace_, name) != NULL;
		DL_FOREACH (work->job->maker.making, other)
			taken = taken || strcmp(other->name, name) == 0;
	} while (taken);
	memcpy(m->name, name, sizeof(name));
}

static void rename_it(struct making *m, const struct err *err)
{
	if (!m->work->loop.running || m->work->object->gone) {
		end_making(m, "there is none");
		return;
	}
	if (++m->names >= NAMES_MAX) {
		refused(m, err);
		return;
	}
	m->unsure = m->look = m->seen = false;
	err_keep(&m->refusal, NULL);
	take_name(m, m->work->object->of.sj);
	send_create(m, MAKING_SENT, "under another name");
}

static void answered(struct work *work)
{
	tell_when_over(work);
	if (work->job->maker.planned > 0)
		queue(work);
	serve(work->control);
}

/* A proxy in between may send an answer that is not about the Job. */
static const struct err odd = { .kind = ERR_TEMPORARY, .msg = "the answer is not the Job" };

static bool is_about(const struct making *m, const json_t *job)
{
	return json_str_is(json_object_get(job, "metadata"), "name", m->name);
}

static void on_created(void *arg, const json_t *job, const struct err *err)
{
	struct making *m = arg;
	struct work *work = m->work;

	call_over(m);
	if (!err && is_about(m, job)) {
		made(m, job);
	} else if (!err || err->kind == ERR_TEMPORARY) {
		m->look = m->look || !err;
		unsure(m, err ? err : &odd);
	} else if (err->kind == ERR_CONFLICT || m->unsure) {
		err_keep(&m->refusal, err->kind == ERR_CONFLICT ? NULL : err);
		if (m->seen) {
			made(m, NULL);
		} else {
			m->look = true;
			move(m, MAKING_DUE, "%s", err->msg);
			queue(work);
		}
	} else {
		refused(m, err);
	}
	answered(work);
}

/* Whether this ScaledJob controls the Job, not a former one of the same name. */
static bool is_ours(const struct work *work, const json_t *job)
{
	return json_str_is(meta_controller_in(job), "uid", work->object->uid);
}

static void on_looked_up(void *arg, const json_t *job, const struct err *err)
{
	static const struct err taken = { .kind = ERR_CONFLICT, .msg = "another object has the name" };
	struct making *m = arg;
	struct work *work = m->work;

	call_over(m);
	if (!err && !is_about(m, job))
		unsure(m, &odd);
	else if (!err && is_ours(work, job))
		made(m, job);
	else if (!err)
		rename_it(m, &taken);
	else if (err->kind == ERR_TEMPORARY || (err->kind == ERR_DENIED && m->failures < DENIALS_MAX))
		unsure(m, err);
	else if (err->kind != ERR_MISSING)
		end_making(m, "it cannot be looked up; the watch will show it"); /* no retry helps */
	/* A conflict about something else (a quota) did not create one, either. */
	else if (m->refusal)
		refused(m, m->refusal);
	/* The first create succeeded: the second one found its Job, which has ended since. */
	else if (m->unsure)
		end_making(m, "there is none any more");
	else
		rename_it(m, err);
	answered(work);
}

/* ---- Sending ---- */

static void call(struct making *m, const struct kube_request *request, kube_fn fn)
{
	m->bytes = request->body ? strlen(request->body) : 0;
	m->work->control->creates++;
	m->work->control->create_bytes += m->bytes;
	m->call = kube_call(m->work->control->kube, request, fn, m);
}

static void send_create(struct making *m, enum making_state state, const char *why)
{
	struct work *work = m->work;
	const struct scaled *of = &work->object->of;
	MEM_AUTO char *namespace_ = work_namespace(work);
	MEM_AUTO char *path = mem_printf("/apis/batch/v1/namespaces/%s/jobs?fieldManager=kscaled", namespace_);
	MEM_AUTO char *body = NULL;
	struct kube_request request = { .verb = KUBE_CREATE, .path = path, .priority = KUBE_SCALE };
	struct err err = { 0 };
	json_t *job = NULL;

	move(m, state, "%s", why);
	m->refusals = work->job->maker.refusals;
	/* The body is made only now, so that thousands of waiting Jobs take no memory. */
	if (!work->object->gone) {
		m->generation = of->meta->generation;
		job = jobspec_make(of->sj, work->control->version, &err);
	} else {
		err_set(&err, ERR_MISSING, "the ScaledJob is gone");
	}
	if (!job) { /* one sent before may exist; the watch will show it */
		refused(m, &err);
		return;
	}
	json_object_set_new(json_object_get(job, "metadata"), "name", json_string(m->name));
	request.body = body = json_text(job);
	json_decref(job);
	call(m, &request, on_created);
}

static void look_up(struct making *m)
{
	MEM_AUTO char *namespace_ = work_namespace(m->work);
	MEM_AUTO char *path = mem_printf("/apis/batch/v1/namespaces/%s/jobs/%s", namespace_, m->name);
	struct kube_request request = { .verb = KUBE_GET, .path = path, .priority = KUBE_SCALE };

	move(m, MAKING_LOOKING, "whether it is there");
	call(m, &request, on_looked_up);
}

/* After a refusal only one Job is tried; the others wait for its answer. */
static bool may_send_planned(const struct work *work)
{
	const struct making *m;
	size_t open;

	DL_COUNT(work->job->maker.making, m, open);
	return work->job->maker.planned > 0 && open < OPEN_MAX && !(work->job->maker.trouble && any_sent(work));
}

/* Sends one request; false: there is none to send now. */
static bool take_turn(struct work *work)
{
	struct making *m;

	DL_FOREACH (work->job->maker.making, m) {
		if (m->state != MAKING_DUE)
			continue;
		if (m->look || !work->loop.running)
			look_up(m);
		else
			send_create(m, MAKING_AGAIN, "under the same name");
		return true;
	}
	if (!may_send_planned(work))
		return false;
	if (work->object->gone) {
		work->job->maker.planned = 0; /* it was deleted */
		return true;
	}
	work->job->maker.planned--;
	m = mem_zalloc(sizeof(*m));
	m->work = work;
	loop_timer_init(&m->again, work->control->cache->loop, on_again, m);
	take_name(m, work->object->of.sj);
	DL_APPEND(work->job->maker.making, m);
	send_create(m, MAKING_SENT, "decided");
	return true;
}

/* One of each object in turn, so that a big burst does not delay other objects. */
static void serve(struct control *c)
{
	while (c->creates < CREATES_MAX && c->create_bytes < CREATES_BYTES_MAX && c->making) {
		struct work *work = c->making;

		unqueue(work);
		if (take_turn(work))
			queue(work);
	}
}

/* ---- The interface ---- */

void jobmaker_create(struct work *work, int32_t count, int32_t running, const char *why)
{
	struct maker_part *p = &work->job->maker;

	p->planned = 0;
	tell_when_over(work);
	if (count <= 0)
		return;
	report_created(work); /* of an earlier burst, whose last Jobs are under way */
	forget_burst(p);
	p->planned = count;
	p->from = running;
	p->why = mem_dup(why);
	queue(work);
	serve(work->control);
}

size_t jobmaker_unseen(const struct work *work)
{
	MEM_AUTO char *namespace_ = work_namespace(work);
	const struct making *m;
	size_t unseen = 0;

	DL_FOREACH (work->job->maker.making, m)
		unseen += !m->seen && !jobs_find(work->control->cache->jobs, namespace_, m->name);
	return unseen;
}

void jobmaker_look(struct work *work)
{
	MEM_AUTO char *namespace_ = work->job->maker.making ? work_namespace(work) : NULL;
	struct making *m, *next;
	bool settled = false;

	DL_FOREACH_SAFE (work->job->maker.making, m, next) {
		const struct job *job = jobs_find(work->control->cache->jobs, namespace_, m->name);

		if (!job || !job->owner_uid || strcmp(job->owner_uid, work->object->uid) != 0)
			continue;
		m->seen = true;
		if (m->state != MAKING_UNSURE && m->state != MAKING_DUE)
			continue;
		made(m, NULL);
		settled = true;
	}
	if (settled)
		answered(work);
}

void jobmaker_drop(struct work *work)
{
	work->job->maker.planned = 0;
	tell_when_over(work);
}

void jobmaker_hold(struct work *work)
{
	struct making *m;

	DL_FOREACH (work->job->maker.making, m)
		m->look = m->look || m->state != MAKING_SENT;
	jobmaker_drop(work);
}

void jobmaker_stop(struct work *work)
{
	struct making *m, *next;

	report_created(work);
	unqueue(work);
	work->job->maker.planned = 0;
	DL_FOREACH_SAFE (work->job->maker.making, m, next)
		end_making(m, "dropped");
	forget_burst(&work->job->maker);
	jobmaker_forgive(work);
	/* A slot may have become free: the others are served. */
	if (work->control->leading)
		serve(work->control);
}
