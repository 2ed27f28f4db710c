/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/objects/jobpods.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/textlist.h"
#include "decide/jobs/jobs.h"

#define DEADLINE_DEFAULT_MS 10000
/*
 * Pods in memory at once; equal to the names in a list, so that Jobs with one Pod each need one
 * page
 */
#define PAGE            100
#define NAME_MAX_LEN    63    /* of a label's value: a Job with a longer name has no Pods that carry it */
#define PATH_MAX_BYTES  20480 /* 100 names of 63 characters, escaped commas, an escaped continue token */
#define TOKEN_MAX_BYTES 4096
#define JOB_NAME_LABEL  "job-name"
/*
 * Without conditions only Pods that run or ran make their Jobs not pending; other phases are these
 * three only. With conditions each Pod counts, whatever its phase (doc/keda.md 4.3).
 */
#define STARTED_ONLY "&fieldSelector=status.phase%21%3DPending%2Cstatus.phase%21%3DFailed%2Cstatus.phase%21%3DUnknown"

struct name {
	char *text;
	bool started;
};

struct jobpods {
	struct kube *kube;
	char *namespace_;
	struct name *names; /* sorted */
	size_t count;
	char **conditions;
	size_t condition_count;
	int64_t deadline_at_ms;
	jobpods_fn fn;
	void *arg;

	size_t first, end; /* range of names of the current list */
	char *next_page;   /* its continue token, escaped; NULL: from the start */
	bool begun_anew;   /* the list was restarted after an expired continue token */
	struct kube_call *call;
	struct loop_task task;
	struct err *failure; /* owned; NULL */
	bool done;           /* fn was called, or it was cancelled */
};

static void on_page(void *arg, const json_t *list, const struct err *err);

/* ---- The end ---- */

static void jobpods_free(void *arg)
{
	struct jobpods *p = arg;

	for (size_t i = 0; i < p->count; i++)
		free(p->names[i].text);
	free(p->names);
	textlist_done(&p->conditions, &p->condition_count);
	free(p->next_page);
	free(p->namespace_);
	free(p->failure);
	free(p);
}

static void end_request(struct jobpods *p)
{
	p->done = true;
	kube_cancel(p->call);
	p->call = NULL;
	loop_task_cancel(kube_loop(p->kube), &p->task);
	loop_free_later(kube_loop(p->kube), p, jobpods_free);
}

/* The callback may do anything, so it is called last. */
static void finish_request(void *arg)
{
	struct jobpods *p = arg;
	MEM_AUTO const char **pending = mem_array(p->count + 1, sizeof(*pending));
	size_t count = 0;

	for (size_t i = 0; i < p->count; i++)
		if (!p->names[i].started)
			pending[count++] = p->names[i].text;
	end_request(p);
	p->fn(p->arg, p->failure ? NULL : pending, p->failure ? 0 : count, p->failure);
}

static void note_failure(struct jobpods *p, const struct err *err)
{
	bool denied = err->kind == ERR_DENIED && err->http_status != 401;

	err_keep(&p->failure, err);
	err_wrap(p->failure, "listing the Pods of Jobs in namespace %s%s", p->namespace_,
		denied ? ": grant list on pods" : "");
}

static void fail_request(struct jobpods *p, const struct err *err)
{
	note_failure(p, err);
	finish_request(p);
}

/* ---- Asking ---- */

/* "a%2Cb", of at most JOBPODS_NAMES_PER_LIST names from the first one on; false if none is left. */
static bool take_names(struct jobpods *p, struct buf *out)
{
	size_t taken = 0;

	for (p->end = p->first; p->end < p->count && taken < JOBPODS_NAMES_PER_LIST; p->end++) {
		char escaped[3 * NAME_MAX_LEN + 1];

		if (strlen(p->names[p->end].text) > NAME_MAX_LEN ||
			!kube_escape(p->names[p->end].text, escaped, sizeof(escaped)))
			continue;
		buf_printf(out, "%s%s", taken++ ? "%2C" : "", escaped);
	}
	return taken > 0;
}

static void ask_page(struct jobpods *p)
{
	struct buf names = BUF_INIT(PATH_MAX_BYTES), path = BUF_INIT(PATH_MAX_BYTES);
	struct kube_request request = { .verb = KUBE_LIST,
		.deadline_ms = p->deadline_at_ms - loop_now_ms(kube_loop(p->kube)),
		.priority = KUBE_NORMAL };
	struct err late;

	if (!take_names(p, &names)) {
		loop_task_queue(kube_loop(p->kube), &p->task);
	} else if (request.deadline_ms <= 0) {
		err_set(&late, ERR_TEMPORARY, "timed out");
		note_failure(p, &late);
		loop_task_queue(kube_loop(p->kube), &p->task);
	} else {
		buf_printf(&path,
			"/api/v1/namespaces/%s/pods?limit=%d&labelSelector=" JOB_NAME_LABEL "%%20in%%20%%28%s%%29%s",
			p->namespace_, PAGE, buf_text(&names), p->condition_count ? "" : STARTED_ONLY);
		if (p->next_page)
			buf_printf(&path, "&continue=%s", p->next_page);
		request.path = buf_text(&path);
		p->call = kube_call(p->kube, &request, on_page, p);
	}
	buf_done(&names);
	buf_done(&path);
}

/* ---- Answers ---- */

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

static void look_at(struct jobpods *p, const json_t *pod)
{
	const json_t *labels = json_metadata(pod, "labels");
	const char *text = json_string_value(json_object_get(labels, JOB_NAME_LABEL));
	struct name key = { (char *)(uintptr_t)text, false };
	struct name *name = text ? bsearch(&key, p->names, p->count, sizeof(*p->names), by_text) : NULL;

	if (name && !name->started)
		name->started = jobs_pod_started(pod, (const char *const *)p->conditions, p->condition_count);
}

/* Whether the rest of the list is irrelevant: one Job may have thousands of Pods. */
static bool all_started(const struct jobpods *p)
{
	for (size_t i = p->first; i < p->end; i++)
		if (!p->names[i].started && strlen(p->names[i].text) <= NAME_MAX_LEN)
			return false;
	return true;
}

static void set_next_page(struct jobpods *p, const char *token)
{
	free(p->next_page);
	p->next_page = *token ? buf_percent(token) : NULL;
}

static void next_list(struct jobpods *p)
{
	p->first = p->end;
	p->begun_anew = false;
	set_next_page(p, "");
}

static void take_page(struct jobpods *p, const json_t *list)
{
	const json_t *items = json_object_get(list, "items"), *pod;
	const char *token = json_metadata_text(list, "continue");
	struct err err;
	size_t i;

	if (!json_is_object(list) || (items && !json_is_array(items) && !json_is_null(items)) ||
		strlen(token) > TOKEN_MAX_BYTES) {
		err_set(&err, ERR_TEMPORARY, "the answer is not a list");
		fail_request(p, &err);
		return;
	}
	json_array_foreach(items, i, pod) look_at(p, pod);
	if (*token && !all_started(p))
		set_next_page(p, token);
	else
		next_list(p);
	ask_page(p);
}

static void on_page(void *arg, const json_t *list, const struct err *err)
{
	struct jobpods *p = arg;

	p->call = NULL;
	/* the results so far stay valid: a Pod that has started stays started */
	if (err && err->kind == ERR_GONE && p->next_page && !p->begun_anew) {
		p->begun_anew = true;
		set_next_page(p, "");
		ask_page(p);
	} else if (err) {
		fail_request(p, err);
	} else {
		take_page(p, list);
	}
}

struct jobpods *jobpods_ask(struct kube *kube, const struct jobpods_request *request, jobpods_fn fn, void *arg)
{
	struct jobpods *p = mem_zalloc(sizeof(*p));

	p->kube = kube;
	p->namespace_ = mem_dup(request->namespace_);
	p->names = mem_array(request->job_count + 1, sizeof(*p->names));
	p->count = request->job_count;
	for (size_t i = 0; i < p->count; i++)
		p->names[i].text = mem_dup(request->jobs[i]);
	qsort(p->names, p->count, sizeof(*p->names), by_text);
	p->conditions = textlist_copy((char *const *)(uintptr_t)request->conditions, request->condition_count);
	p->condition_count = request->condition_count;
	p->deadline_at_ms = loop_now_ms(kube_loop(kube)) +
		(request->deadline_ms > 0 ? request->deadline_ms : DEADLINE_DEFAULT_MS);
	p->fn = fn;
	p->arg = arg;
	loop_task_init(&p->task, finish_request, p);
	ask_page(p);
	return p;
}

void jobpods_cancel(struct jobpods *p)
{
	if (p && !p->done)
		end_request(p);
}
