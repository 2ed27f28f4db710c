/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which Jobs of ScaledJobs are known, and how they are counted, by way of the watch and of answered
 * writes.
 */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../fakes/fakecluster.h"
#include "../../fakes/fakeloop.h"

#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "cache/objects/jobs.h"

#define JOB(namespace_, name) "/apis/batch/v1/namespaces/" namespace_ "/jobs/" name
#define A                     JOB("shop", "drain-a")
#define B                     JOB("shop", "drain-b")
#define C                     JOB("shop", "drain-c")
#define OF(owner)             "{'metadata':{'labels':{'" JOB_OWNER_LABEL "':'" owner "'}},'spec':{}}"
#define COMPLETE              "{'status':{'conditions':[{'type':'Complete','status':'True'}]}}"
#define FAILED                "{'status':{'conditions':[{'type':'Failed','status':'True'}]}}"
#define DRAIN                 "scaledjobs/shop/drain"
#define NEVER                 INT64_MAX

static struct {
	struct kube *kube;
	struct loop *loop;
	struct counters *counters;
	struct jobs *jobs;
	char told[1024];    /* keys, each with a blank; "?" for which are known */
	bool close_on_word; /* the listener closes */
	unsigned warnings;
	char last_line[512];
} t;

static void on_job(void *arg, const char *owner)
{
	assert_ptr_equal(arg, &t);
	if (strlen(t.told) + strlen(owner ? owner : "?") + 2 < sizeof(t.told)) {
		strcat(t.told, owner ? owner : "?");
		strcat(t.told, " ");
	}
	if (t.close_on_word)
		jobs_close(t.jobs);
}

static void keep_line(void *arg, enum log_level level, const char *line)
{
	(void)arg;
	t.warnings += level >= LOG_LEVEL_WARN;
	snprintf(t.last_line, sizeof(t.last_line), "%s", line);
}

static int setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	log_set_sink(keep_line, NULL);
	t.loop = fakeloop_start();
	t.kube = fakecluster_start(t.loop);
	t.counters = counters_new();
	t.jobs = jobs_new(t.kube, t.loop, t.counters);
	jobs_listen(t.jobs, on_job, &t);
	jobs_start(t.jobs, NULL, 0);
	return 0;
}

static int setup_open(void **state)
{
	setup(state);
	jobs_open(t.jobs);
	fakeloop_advance(10);
	t.told[0] = '\0';
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	jobs_free(t.jobs);
	fakeloop_advance(0);
	counters_free(t.counters);
	fakecluster_end();
	fakeloop_end();
	log_set_sink(NULL, NULL);
	return 0;
}

static void told(const char *want)
{
	assert_string_equal(t.told, want);
	t.told[0] = '\0';
}

static bool known(const char *namespace_)
{
	const char *trouble;

	return jobs_known(t.jobs, namespace_, &trouble);
}

static void tally(const char *owner, size_t running, size_t complete, size_t failed)
{
	struct jobs_tally is = jobs_tally(t.jobs, owner);
	size_t count;

	assert_int_equal(is.running, running);
	assert_int_equal(is.complete, complete);
	assert_int_equal(is.failed, failed);
	assert_int_equal(jobs_of(t.jobs, owner, &count) != NULL, running + complete + failed > 0);
	assert_int_equal(count, running + complete + failed);
	assert_int_equal(jobs_running(t.jobs, owner, NEVER), running);
}

/* The one Job of an owner. */
static void tally_gone(int64_t since_ms, size_t running)
{
	assert_int_equal(jobs_tally(t.jobs, DRAIN).running, 0);
	assert_int_equal(jobs_running(t.jobs, DRAIN, since_ms), running);
}

static const struct jobs_seen *only(const char *owner)
{
	size_t count;
	const struct jobs_seen *seen = jobs_of(t.jobs, owner, &count);

	assert_int_equal(count, 1);
	return seen;
}

static json_t *answer_of(const char *path)
{
	return json_deep_copy(fakecluster_get(path));
}

static void learn_as_it_stands(const char *path)
{
	json_t *job = answer_of(path);

	jobs_learn(t.jobs, job);
	json_decref(job);
}

static double gauge(void)
{
	static const char *const labels[] = { "kind", NULL };

	return counters_get(counters_declare(t.counters, COUNTERS_GAUGE, "kscaled_objects", "", labels),
		(const char *const[]){ "Job" });
}

/* ---- Open and closed ---- */

static void nothing_is_watched_until_it_is_opened(void **state)
{
	(void)state;
	fakecluster_apply(A, OF("drain"));
	fakeloop_advance(10);
	assert_int_equal(fakecluster_watches("/jobs/"), 0);
	assert_false(known("shop"));
	tally(DRAIN, 0, 0, 0);
	assert_null(jobs_find(t.jobs, "shop", "drain-a"));
	learn_as_it_stands(A);
	jobs_forget(t.jobs, "shop", "drain-a");
	jobs_close(t.jobs);
	tally(DRAIN, 0, 0, 0);

	jobs_open(t.jobs);
	jobs_open(t.jobs);
	assert_int_equal(fakecluster_watches("/jobs/"), 1);
	assert_false(known("shop"));
	fakeloop_advance(10);
	assert_true(known("shop"));
	told(DRAIN " ? ");
	tally(DRAIN, 1, 0, 0);
	assert_string_equal(jobs_find(t.jobs, "shop", "drain-a")->meta.name, "drain-a");
	assert_true(gauge() == 1);
}

static void opened_again_it_makes_a_fresh_list(void **state)
{
	(void)state;
	fakecluster_apply(A, OF("drain"));
	fakeloop_advance(10);
	jobs_close(t.jobs);
	assert_false(known("shop"));
	tally(DRAIN, 0, 0, 0);
	assert_null(jobs_find(t.jobs, "shop", "drain-a"));
	assert_true(gauge() == 0);
	assert_int_equal(fakecluster_watches("/jobs/"), 0);
	fakecluster_delete(A);
	fakecluster_apply(B, OF("drain"));
	t.told[0] = '\0';
	jobs_open(t.jobs); /* in the same turn */
	assert_false(known("shop"));
	fakeloop_advance(10);
	assert_true(known("shop"));
	told(DRAIN " ? ");
	assert_string_equal(only(DRAIN)->job->meta.name, "drain-b");
}

/* A leader may stop in any callback: an event, the end of a list, a write's answer. */
static void it_may_be_closed_from_inside(void **state)
{
	enum { ADDED, CHANGED, MOVED, DELETED, SWEPT, KNOWN, LEARNED, FORGOTTEN, WAYS };

	(void)state;
	for (int way = 0; way < WAYS; way++) {
		jobs_open(t.jobs);
		fakecluster_apply(A, OF("drain"));
		fakecluster_apply(B, OF("drain"));
		if (way == KNOWN) {
			t.close_on_word = true;
		} else {
			fakeloop_advance(10);
			tally(DRAIN, 2, 0, 0);
			t.close_on_word = true;
		}
		if (way == ADDED)
			fakecluster_apply(C, OF("drain"));
		if (way == CHANGED)
			fakecluster_change(A, COMPLETE);
		if (way == MOVED)
			fakecluster_change(A, OF("other"));
		if (way == DELETED || way == SWEPT)
			fakecluster_delete(A);
		if (way == SWEPT)
			fakecluster_relist("/jobs/");
		if (way == LEARNED) {
			fakecluster_apply(C, OF("drain"));
			learn_as_it_stands(C);
		}
		if (way == FORGOTTEN)
			jobs_forget(t.jobs, "shop", "drain-a");
		fakeloop_advance(10);
		t.close_on_word = false;
		assert_false(known("shop"));
		assert_int_equal(fakecluster_watches("/jobs/"), 0);
		tally(DRAIN, 0, 0, 0);
		if (fakecluster_get(C))
			fakecluster_delete(C);
		if (fakecluster_get(A))
			fakecluster_delete(A);
		fakecluster_delete(B);
	}
}

static void each_namespace_is_known_apart(void **state)
{
	static const char *const namespaces[] = { "shop", "bank" };
	const char *trouble;

	(void)state;
	jobs_start(t.jobs, namespaces, 2);
	fakecluster_apply(A, OF("drain"));
	fakecluster_apply(JOB("bank", "drain-a"), OF("drain"));
	fakecluster_apply(JOB("farm", "drain-a"), OF("drain"));
	fakecluster_trouble("/namespaces/bank/jobs/", ERR_TEMPORARY, "away");
	jobs_open(t.jobs);
	fakeloop_advance(10);
	assert_true(known("shop"));
	assert_false(known("farm"));
	assert_false(jobs_known(t.jobs, "bank", &trouble));
	assert_string_equal(trouble, "watching jobs: away");
	tally(DRAIN, 1, 0, 0);
	tally("scaledjobs/bank/drain", 0, 0, 0);
	tally("scaledjobs/farm/drain", 0, 0, 0);
	fakecluster_trouble("/namespaces/bank/jobs/", ERR_TEMPORARY, NULL);
	t.told[0] = '\0';
	fakeloop_advance(10);
	assert_true(known("bank"));
	told("scaledjobs/bank/drain ? ");
}

/* ---- Trouble ---- */

static void an_error_names_the_missing_right(void **state)
{
	static const struct {
		enum err_kind kind;
		const char *message, *trouble;
	} cases[] = {
		{ ERR_DENIED, "jobs.batch is forbidden",
			"watching jobs: grant list and watch on jobs.batch (`kscaled manifests` does without "
			"--no-scaledjobs): jobs.batch is forbidden" },
		{ ERR_TEMPORARY, "connection refused", "watching jobs: connection refused" },
	};
	const char *trouble;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fakecluster_trouble("/jobs/", cases[i].kind, cases[i].message);
		jobs_open(t.jobs);
		assert_false(jobs_known(t.jobs, "shop", &trouble));
		assert_null(trouble);
		t.told[0] = '\0';
		fakeloop_advance(10);
		told("? ");
		assert_false(jobs_known(t.jobs, "shop", &trouble));
		assert_string_equal(trouble, cases[i].trouble);
		assert_int_equal(t.warnings, i + 1);
		fakecluster_trouble("/jobs/", cases[i].kind, NULL);
		fakeloop_advance(10);
		told("? ");
		assert_true(jobs_known(t.jobs, "shop", &trouble));
		assert_null(trouble);
		jobs_close(t.jobs);
	}
}

/* ---- Which Jobs count ---- */

static void the_label_alone_decides_the_owner(void **state)
{
	(void)state;
	fakecluster_apply(A,
		"{'metadata':{'labels':{'" JOB_OWNER_LABEL "':'drain'},'ownerReferences':[{'apiVersion':'batch/"
		"v1','kind':'CronJob','name':'x','uid':'u','controller':true}]},'spec':{}}");
	fakecluster_apply(B,
		"{'metadata':{'ownerReferences':[{'apiVersion':'keda.sh/"
		"v1alpha1','kind':'ScaledJob','name':'drain','uid':'u','controller':true}]},'spec':{}}");
	fakeloop_advance(10);
	tally(DRAIN, 1, 0, 0);
	assert_null(only(DRAIN)->job->owner_uid);
	told(DRAIN " ");
	fakecluster_change(B, OF("drain")); /* by hand */
	fakeloop_advance(10);
	tally(DRAIN, 2, 0, 0);
	told(DRAIN " ");
	fakecluster_change(B, "{'metadata':{'labels':null}}");
	fakeloop_advance(10);
	tally(DRAIN, 1, 0, 0);
	told(DRAIN " ");
	assert_null(jobs_find(t.jobs, "shop", "drain-b"));
}

static void a_job_may_change_hands(void **state)
{
	(void)state;
	fakecluster_apply(A, OF("drain"));
	fakeloop_advance(10);
	t.told[0] = '\0';
	fakecluster_change(A, OF("other"));
	fakeloop_advance(10);
	told(DRAIN " scaledjobs/shop/other ");
	tally(DRAIN, 0, 0, 0);
	tally("scaledjobs/shop/other", 1, 0, 0);
}

static void states_are_distinguished(void **state)
{
	(void)state;
	fakecluster_apply(A, OF("drain"));
	fakecluster_apply(B, OF("drain"));
	fakecluster_apply(C, OF("drain"));
	fakeloop_advance(10);
	fakecluster_change(A, COMPLETE);
	fakecluster_change(B, FAILED);
	fakeloop_advance(10);
	tally(DRAIN, 1, 1, 1);
	fakecluster_delete(C);
	fakeloop_advance(10);
	tally(DRAIN, 0, 1, 1);
	/* A Job deleted while it ran no longer counts, even for earlier askers. */
	assert_int_equal(jobs_running(t.jobs, DRAIN, loop_now_ms(t.loop) - 5), 0);
}

/* ---- When they finished ---- */

static void a_job_finished_since_counts_as_running(void **state)
{
	int64_t first_ms, second_ms;

	(void)state;
	fakecluster_apply(A, OF("drain"));
	fakecluster_apply(B, OF("drain"));
	fakecluster_apply(C, OF("drain"));
	fakeloop_advance(10);
	fakecluster_change(A, COMPLETE);
	fakeloop_advance(100);
	first_ms = loop_now_ms(t.loop) - 98; /* the watch lags by 2 */
	fakecluster_change(B, FAILED);
	learn_as_it_stands(B);
	second_ms = loop_now_ms(t.loop);
	fakeloop_advance(100);
	/* later events change nothing */
	fakecluster_change(B, "{'metadata':{'annotations':{'a':'b'}}}");
	fakeloop_advance(100);
	tally(DRAIN, 1, 1, 1);
	assert_int_equal(jobs_running(t.jobs, DRAIN, first_ms - 1), 3);
	assert_int_equal(jobs_running(t.jobs, DRAIN, first_ms), 2);
	assert_int_equal(jobs_running(t.jobs, DRAIN, second_ms - 1), 2);
	assert_int_equal(jobs_running(t.jobs, DRAIN, second_ms), 1);
	assert_int_equal(jobs_running(t.jobs, "scaledjobs/shop/none", 0), 0);
}

/*
 * Those of the first list had finished before anybody looked at a queue; one that comes later,
 * finished, ran in between.
 */
/*
 * With a ttlSecondsAfterFinished of 0, say. One that is deleted while it runs did not do its work.
 */
static void a_deleted_finished_job_counts_until_then(void **state)
{
	int64_t before_ms;

	(void)state;
	fakecluster_apply(A, OF("drain"));
	fakecluster_apply(B, OF("drain"));
	fakecluster_apply(C, OF("other"));
	fakeloop_advance(100);
	before_ms = loop_now_ms(t.loop);
	fakeloop_advance(10);
	fakecluster_change(A, COMPLETE);
	fakecluster_change(C, COMPLETE);
	fakeloop_advance(10);
	fakecluster_delete(A);
	fakecluster_delete(B);
	fakeloop_advance(10);
	tally_gone(before_ms, 1);
	tally_gone(loop_now_ms(t.loop), 0);
	jobs_close(t.jobs);
	tally_gone(before_ms, 0);
}

/* Even if no other part of the program can read its content. */
static void an_odd_one_goes_as_it_came(void **state)
{
	(void)state;
	fakecluster_apply(A,
		"{'metadata':{'labels':{'" JOB_OWNER_LABEL
		"':'drain','n':5},'annotations':[],'ownerReferences':{},'finalizers':'x'},'spec':7,'status':{'"
		"conditions':['Complete',{'type':{},'status':true}]}}");
	fakeloop_advance(10);
	tally(DRAIN, 1, 0, 0);
	fakecluster_change(A, "{'metadata':{'finalizers':null}}");
	fakecluster_delete(A);
	fakeloop_advance(10);
	tally(DRAIN, 0, 0, 0);
}

static void when_one_finished_that_was_not_seen_to_run(void **state)
{
	int64_t before_ms;

	(void)state;
	fakecluster_apply(A, OF("drain"));
	fakecluster_change(A, COMPLETE);
	jobs_open(t.jobs);
	fakeloop_advance(10);
	assert_int_equal(only(DRAIN)->finished_seen_ms, 0);
	assert_int_equal(jobs_running(t.jobs, DRAIN, 0), 0);
	fakecluster_relist("/jobs/");
	fakeloop_advance(10);
	assert_int_equal(only(DRAIN)->finished_seen_ms, 0);

	before_ms = loop_now_ms(t.loop);
	fakecluster_hold_watches(true);
	fakecluster_apply(B, OF("drain"));
	fakecluster_change(B, COMPLETE);
	fakecluster_relist("/jobs/");
	fakeloop_advance(10);
	fakecluster_hold_watches(false);
	tally(DRAIN, 0, 2, 0);
	assert_int_equal(jobs_running(t.jobs, DRAIN, before_ms), 1);
	assert_int_equal(jobs_running(t.jobs, DRAIN, before_ms + 10), 0);
}

/* Deleted and recreated under its name while the watch was away. */
static void a_namesake_finishes_by_itself(void **state)
{
	int64_t first_ms;

	(void)state;
	fakecluster_apply(A, OF("drain"));
	fakeloop_advance(10);
	fakecluster_change(A, COMPLETE);
	fakeloop_advance(10);
	first_ms = only(DRAIN)->finished_seen_ms;
	assert_true(first_ms > 0);
	fakecluster_hold_watches(true);
	fakecluster_delete(A);
	fakecluster_apply(A, OF("drain"));
	fakecluster_change(A, COMPLETE);
	fakeloop_advance(50);
	fakecluster_relist("/jobs/");
	fakeloop_advance(10);
	fakecluster_hold_watches(false);
	assert_true(only(DRAIN)->finished_seen_ms >= first_ms + 50);
}

/* ---- Answers and the watch ---- */

static void an_answer_is_ahead_of_the_watch(void **state)
{
	(void)state;
	fakecluster_hold_watches(true);
	fakecluster_apply(A, OF("drain"));
	learn_as_it_stands(A);
	told(DRAIN " ");
	tally(DRAIN, 1, 0, 0);
	fakecluster_hold_watches(false);
	fakeloop_advance(10);
	told(""); /* the same once more */
	tally(DRAIN, 1, 0, 0);
	jobs_forget(t.jobs, "shop", "drain-a");
	told(DRAIN " ");
	tally(DRAIN, 0, 0, 0);
	jobs_forget(t.jobs, "shop", "drain-a");
	told("");
}

static void an_answer_without_our_label_is_ignored(void **state)
{
	json_t *job;

	(void)state;
	fakecluster_apply(A, OF("drain"));
	fakeloop_advance(10);
	job = answer_of(A);
	json_object_del(json_object_get(job, "metadata"), "labels");
	jobs_learn(t.jobs, job);
	tally(DRAIN, 0, 0, 0);
	assert_null(jobs_find(t.jobs, "shop", "drain-a"));
	json_object_set_new(json_object_get(job, "metadata"), "name", json_string("other"));
	jobs_learn(t.jobs, job);
	assert_null(jobs_find(t.jobs, "shop", "other"));
	jobs_learn(t.jobs, NULL);
	json_decref(job);
}

/*
 * The list under way may be from before the Job's creation, and from before its deletion: in both
 * cases the answer, or its absence from the list, is right.
 */
static void a_list_of_an_older_moment_loses_no_job_and_raises_no_ghost(void **state)
{
	json_t *gone;

	(void)state;
	fakecluster_apply(A, OF("drain"));
	fakecluster_apply(B, OF("drain"));
	fakeloop_advance(10);
	gone = answer_of(A);
	fakecluster_page(1, 5);
	fakecluster_delete(A);
	fakecluster_apply(JOB("shop", "drain-d"), OF("drain"));
	fakecluster_relist("/jobs/");
	fakeloop_advance(2); /* its first page came */
	fakecluster_hold_watches(true);
	fakecluster_apply(C, OF("drain"));
	learn_as_it_stands(C);
	jobs_learn(t.jobs, gone); /* late, and older than the list */
	fakeloop_advance(100);
	assert_non_null(jobs_find(t.jobs, "shop", "drain-c"));
	assert_null(jobs_find(t.jobs, "shop", "drain-a"));
	tally(DRAIN, 3, 0, 0);
	jobs_learn(t.jobs, gone); /* nor at the end of the list */
	tally(DRAIN, 3, 0, 0);
	/* The watch continues from the list, and reports the end of Jobs created after it. */
	fakecluster_delete(C);
	fakecluster_hold_watches(false);
	fakeloop_advance(10);
	tally(DRAIN, 2, 0, 0);
	json_decref(gone);
}

/* The answer came before the first page of a list that was asked for earlier. */
static void a_list_that_was_asked_for_before_loses_no_job(void **state)
{
	json_t *job;

	(void)state;
	fakecluster_apply(A, OF("drain"));
	fakecluster_apply(B, OF("drain"));
	fakeloop_advance(10);
	fakecluster_hold_watches(true);
	fakecluster_apply(C, OF("drain"));
	job = answer_of(C);
	fakecluster_delete(C); /* so that the list, which the fake reads when it answers, is one of before */
	json_object_set_new(json_object_get(job, "metadata"), "resourceVersion", json_string("100000"));
	jobs_learn(t.jobs, job);
	fakecluster_relist("/jobs/");
	fakeloop_advance(10);
	assert_non_null(jobs_find(t.jobs, "shop", "drain-c"));
	/* Once is enough: a Job that the watch never shows does not exist. */
	fakecluster_restored(200000);
	fakecluster_apply(JOB("shop", "drain-d"), OF("drain"));
	fakecluster_relist("/jobs/");
	fakeloop_advance(10);
	assert_null(jobs_find(t.jobs, "shop", "drain-c"));
	fakecluster_hold_watches(false);
	json_decref(job);
}

/* Lists bring known Jobs again, in other memory. */
static void a_repeated_read_is_not_reported(void **state)
{
	(void)state;
	fakecluster_apply(A, OF("drain"));
	fakecluster_apply(B, OF("drain"));
	fakecluster_change(B, COMPLETE);
	fakeloop_advance(10);
	t.told[0] = '\0';
	fakecluster_relist("/jobs/");
	fakeloop_advance(10);
	told("");
	tally(DRAIN, 1, 1, 0);
	for (size_t i = 0, count = 2; i < count; i++) {
		const struct jobs_seen *seen = jobs_of(t.jobs, DRAIN, &count);

		assert_ptr_equal(seen[i].job, jobs_find(t.jobs, "shop", seen[i].job->meta.name));
		assert_string_equal(seen[i].job->owner, "drain");
	}
}

/* ---- Many ---- */

#define NAMES  60
#define OWNERS 3

static void check_counts(void)
{
	for (int o = 0; o < OWNERS; o++) {
		struct jobs_tally want = { 0, 0, 0 };
		char key[64], owner[16];
		size_t count;

		snprintf(owner, sizeof(owner), "o%d", o);
		snprintf(key, sizeof(key), "scaledjobs/shop/o%d", o);
		for (int n = 0; n < NAMES; n++) {
			char path[128];

			snprintf(path, sizeof(path), JOB("shop", "j%d"), n);
			if (!fakecluster_get(path) ||
				strcmp(json_str_or_empty(fakecluster_at(path, "metadata.labels"), JOB_OWNER_LABEL),
					owner) != 0)
				continue;
			if (strcmp(fakecluster_text(path, "status.conditions.0.type"), "Complete") == 0)
				want.complete++;
			else if (strcmp(fakecluster_text(path, "status.conditions.0.type"), "Failed") == 0)
				want.failed++;
			else
				want.running++;
		}
		tally(key, want.running, want.complete, want.failed);
		for (size_t i = 0; i < (jobs_of(t.jobs, key, &count), count); i++) {
			assert_string_equal(jobs_of(t.jobs, key, &count)[i].job->owner, owner);
			assert_int_equal(jobs_of(t.jobs, key, &count)[i].job->place, i);
		}
	}
}

/* Whatever happens in whatever order, the count is right. */
static void counts_are_those_of_the_cluster(void **state)
{
	unsigned seed = 7;

	(void)state;
	for (int step = 0; step < 3000; step++) {
		char path[128], text[128];
		unsigned what = (unsigned)rand_r(&seed) % 8;

		snprintf(path, sizeof(path), JOB("shop", "j%u"), (unsigned)rand_r(&seed) % NAMES);
		snprintf(text, sizeof(text), "{'metadata':{'labels':{'" JOB_OWNER_LABEL "':'o%u'}},'spec':{}}",
			(unsigned)rand_r(&seed) % OWNERS);
		if (!fakecluster_get(path))
			fakecluster_apply(path, text);
		else if (what < 2)
			fakecluster_delete(path);
		else if (what == 2)
			fakecluster_change(path, text);
		else if (what < 5)
			fakecluster_change(path, what == 3 ? COMPLETE : FAILED);
		if (what == 5 && fakecluster_get(path))
			learn_as_it_stands(path);
		if (what == 6 && step % 10 == 0)
			fakecluster_relist("/jobs/");
		if (what == 7) {
			fakeloop_advance(10);
			check_counts();
		}
	}
	fakeloop_advance(10);
	check_counts();
}

/*
 * A sanitizer's allocator does not report memory in use. gcc shows it by a macro, clang by a
 * feature.
 */
#if defined(__SANITIZE_ADDRESS__)
#define SAYS_WHAT_IS_USED 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SAYS_WHAT_IS_USED 0
#endif
#endif
#ifndef SAYS_WHAT_IS_USED
#define SAYS_WHAT_IS_USED 1
#endif

#if SAYS_WHAT_IS_USED
/* A Job as in a cluster: the kept part must not grow with its content. */
static json_t *big_job(int i)
{
	MEM_AUTO char *name = mem_printf("order-processor-%05d", i),
		      *uid = mem_printf("7c9e6679-7425-40de-944b-%012d", i), *version = mem_printf("%d", 48210000 + i);

	return json_pack("{s:{s:s, s:s, s:s, s:s, s:s, s:{s:s, s:s, s:s, s:s}, s:{s:s, s:s}, s:[{s:s, s:s, s:s, s:s, "
			 "s:b}]}, s:{s:i, s:{s:{s:[{s:s, s:s}]}}}, s:{s:i}}",
		"metadata", "namespace", "order-processing", "name", name, "uid", uid, "resourceVersion", version,
		"creationTimestamp", "2026-01-01T00:00:00Z", "labels", JOB_OWNER_LABEL, "order-processor",
		"app.kubernetes.io/name", "order-processor", "app.kubernetes.io/part-of", "order-processor",
		"app.kubernetes.io/managed-by", "kscaled", "annotations", JOB_GENERATION_ANNOTATION, "3",
		JOB_TEMPLATE_ANNOTATION, "0123456789abcdef", "ownerReferences", "apiVersion", "keda.sh/v1alpha1",
		"kind", "ScaledJob", "name", "order-processor", "uid", "1b4e28ba-2fa1-11d2-883f-0016d3cca427",
		"controller", 1, "spec", "parallelism", 1, "template", "spec", "containers", "name", "worker", "image",
		"registry.example/order-processor:1.2.3", "status", "active", 1);
}

#define MANY 2000

/* 200 ScaledJobs with 10 Jobs each must fit into memory. */
static void two_thousand_jobs_cost_at_most_a_mebibyte(void **state)
{
	size_t before;

	(void)state;
	before = mallinfo2().uordblks;
	for (int i = 0; i < MANY; i++) {
		json_t *job = big_job(i);

		assert_non_null(job);
		jobs_learn(t.jobs, job);
		json_decref(job);
	}
	tally("scaledjobs/order-processing/order-processor", MANY, 0, 0);
	print_message("%zu bytes per Job\n", (mallinfo2().uordblks - before) / MANY);
	assert_in_range(mallinfo2().uordblks - before, MANY * 100, 1024 * 1024);
}
#endif

int main(void)
{
#define CASE(name)        cmocka_unit_test_setup_teardown(name, setup_open, teardown)
#define CLOSED_CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CLOSED_CASE(nothing_is_watched_until_it_is_opened),
		CASE(opened_again_it_makes_a_fresh_list),
		CLOSED_CASE(it_may_be_closed_from_inside),
		CLOSED_CASE(each_namespace_is_known_apart),
		CLOSED_CASE(an_error_names_the_missing_right),
		CASE(the_label_alone_decides_the_owner),
		CASE(a_job_may_change_hands),
		CASE(states_are_distinguished),
		CASE(a_job_finished_since_counts_as_running),
		CASE(a_deleted_finished_job_counts_until_then),
		CASE(an_odd_one_goes_as_it_came),
		CLOSED_CASE(when_one_finished_that_was_not_seen_to_run),
		CASE(a_namesake_finishes_by_itself),
		CASE(an_answer_is_ahead_of_the_watch),
		CASE(an_answer_without_our_label_is_ignored),
		CASE(a_list_of_an_older_moment_loses_no_job_and_raises_no_ghost),
		CASE(a_list_that_was_asked_for_before_loses_no_job),
		CASE(a_repeated_read_is_not_reported),
		CASE(counts_are_those_of_the_cluster),
#if SAYS_WHAT_IS_USED
		CASE(two_thousand_jobs_cost_at_most_a_mebibyte),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
