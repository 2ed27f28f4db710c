/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A ScaledJob from its JSON through all that is made of it: judgement, decisions, conditions, Jobs
 * and what is swept away. Whatever is said of a broken object, it is said by an error; a Job that
 * was made of it is known again as one of this version; numbers stay within their bounds, whatever
 * was written.
 */

#include <string.h>

#include "base/mem.h"
#include "crd/scaled.h"
#include "decide/annotations.h"
#include "decide/jobs/jobconditions.h"
#include "decide/jobs/jobs.h"
#include "decide/jobs/jobspec.h"
#include "decide/validate/validate.h"
#include "fuzz.h"

#define T 1767323045000

static void check_spec(const struct scaledjob *sj)
{
	const struct scaledjob_spec *s = &sj->spec;

	must(s->trigger_count <= SCALEDOBJECT_TRIGGERS_MAX && s->pending_condition_count <= SCALEDJOB_CONDITIONS_MAX);
	must((s->template_text == NULL) == (s->template_print[0] == '\0'));
	must(s->template_text == NULL ||
		(s->template_text[0] == '{' && strlen(s->template_text) <= SCALEDJOB_TEMPLATE_BYTES_MAX));
	must(scaledjob_min(s) >= 0 && scaledjob_max(s) >= 0 && scaledjob_successful_history(s) >= 0 &&
		scaledjob_failed_history(s) >= 0);
	must(s->max_jobs < 0 || scaledjob_min(s) <= s->max_jobs);
}

static void check_view(const struct scaledjob *sj)
{
	struct scaled of = scaled_of_job(sj);
	struct workload *w = scaledjob_workload(sj);

	must(of.kind == SCALED_JOB && of.sj == sj && of.so == NULL && of.trigger_count == sj->spec.trigger_count &&
		of.spec_err == sj->spec_err);
	must((w == NULL) == (sj->spec.template_text == NULL));
	workload_free(w);
}

static void on_fault(void *arg, const struct err *err)
{
	must(err->kind == ERR_INVALID && err->msg[0] != '\0');
	++*(size_t *)arg;
}

/*
 * What is refused at admission is refused by the reconciler, and whatever one of them refuses is
 * among all faults.
 */
static bool check_judgement(const struct scaledjob *sj, struct err *err)
{
	const char *reason = NULL, *warnings[VALIDATE_JOB_WARNINGS_MAX];
	bool admitted = validate_admission(scaled_of_job(sj), &reason, err) == 0, good;
	size_t faults = 0;

	must(admitted == (reason == NULL));
	must(admitted || (err->kind == ERR_INVALID && err->msg[0] != '\0'));
	good = validate_for_reconcile(scaled_of_job(sj), NULL, err) == 0;
	must(admitted || !good);
	must(good || (err->kind == ERR_INVALID && err->msg[0] != '\0'));
	validate_every(scaled_of_job(sj), on_fault, &faults);
	must(good == (faults == 0));
	must(validate_job_warnings(sj, warnings) <= VALIDATE_JOB_WARNINGS_MAX);
	return good;
}

static void check_made(const struct scaledjob *sj)
{
	struct err err = { 0 };
	json_t *made = jobspec_make(sj, "1", &err);
	char name[JOBSPEC_NAME_MAX + 1];
	const struct job *list[1];
	enum jobspec_sweep sweep;
	struct jobtemplate known = { 0 };
	struct job *job;

	must(strlen(jobspec_name(sj, T, name)) <= JOBSPEC_NAME_MAX);
	must(made != NULL || (err.kind == ERR_INVALID && err.msg[0] != '\0'));
	must((made == NULL) == (sj->spec.template_text == NULL));
	if (made == NULL)
		return;
	json_object_set_new(json_object_get(made, "metadata"), "name", json_string(name));
	job = job_decode(made, &err);
	must(job != NULL && strcmp(job->owner, sj->meta.name) == 0 && strcmp(job->owner_uid, sj->meta.uid) == 0 &&
		strcmp(job->template_print, sj->spec.template_print) == 0);
	list[0] = job;
	jobspec_sweep(sj, &known, list, 1, &sweep);
	must(sweep == JOBSPEC_KEEP);
	job_free(job);
	json_decref(made);
}

static void check_decisions(const struct scaledjob *sj, struct scaledobject_status *status)
{
	static const struct err down = { .kind = ERR_TEMPORARY, .msg = "down" };
	const struct jobs_trigger triggers[] = {
		{ .index = 0, .metric_name = "s0-x", .queue = 1e9, .target = 1, .active = true },
		{ .index = 1, .metric_name = "s1-y", .err = &down },
		{ .index = 2, .metric_name = "s2-z", .active = true }
	};
	int64_t min = scaledjob_min(&sj->spec), max = scaledjob_max(&sj->spec);
	char text[200];

	for (int32_t running = 0; running < 300; running += 7)
		for (size_t count = 0; count < 4; count++) {
			struct jobs_facts facts = { .spec = &sj->spec,
				.now_unix_ms = T,
				.triggers = triggers,
				.trigger_count = count,
				.running = running,
				.pending = running / 2,
				.last_active_unix_ms = status->last_active_unix_ms };
			struct jobs_decision d = jobs_decide(&facts);

			must(d.create >= 0);
			must(d.create == 0 || running + d.create <= min + max);
			must(running + d.create >= min);
			jobs_explain(&facts, &d, text, sizeof(text));
			jobconditions_after_tick(sj, &facts, &d, T, status);
		}
}

static void check_conditions(const struct scaledjob *sj)
{
	static const char *const names[] = { "s0-x", "s1-y" };
	struct err err = { 0 };
	struct job_outcome o = { .metric_names = names, .metric_count = 2 };
	struct scaledobject_status wanted = { 0 }, again = { 0 };

	o.err = check_judgement(sj, &err) ? NULL : &err;
	o.paused_known = annotations_read_paused(&sj->meta.annotations, &o.paused, NULL) == 0;
	scaledobject_status_copy(&wanted, &sj->status);
	jobconditions_after_reconcile(sj, &o, T, &wanted);
	scaledobject_status_copy(&again, &wanted);
	jobconditions_after_reconcile(sj, &o, T + 60000, &again);
	must(scaledobject_status_patch(&wanted, &again, true) == NULL);
	check_decisions(sj, &wanted);
	scaledobject_status_done(&wanted);
	scaledobject_status_done(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err;
	json_t *value = json_parse((const char *)data, size, &err);
	struct scaledjob *sj;

	if (value == NULL)
		return 0;
	sj = scaledjob_decode(value, &err);
	must(sj != NULL || (err.kind == ERR_INVALID && err.msg[0] != '\0'));
	json_decref(value);
	if (sj == NULL)
		return 0;
	must(sj->spec_err == NULL || (sj->spec_err->kind != ERR_NONE && sj->spec_err->msg[0] != '\0'));
	check_spec(sj);
	check_view(sj);
	check_made(sj);
	check_conditions(sj);
	scaledjob_free(sj);
	return 0;
}
