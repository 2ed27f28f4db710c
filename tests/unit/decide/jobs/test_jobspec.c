/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/jobs/jobspec.h"

#include <inttypes.h>

#include "../../crd/given.h"
#include "base/buf.h"
#include "base/dnsname.h"

#define PRINT "f58693991d96ea17" /* of GIVEN_TEMPLATE */
#define OWNER                                                                                                          \
	"{'apiVersion':'keda.sh/"                                                                                      \
	"v1alpha1','kind':'ScaledJob','name':'work','uid':'u-2','controller':true,'blockOwnerDeletion':true}"
#define LABELS                                                                                                         \
	"'app.kubernetes.io/name':'work','app.kubernetes.io/version':'1.2.3','app.kubernetes.io/"                      \
	"part-of':'work','app.kubernetes.io/managed-by':'kscaled','scaledjob.keda.sh/name':'work'"
#define MADE_FROM "'scaledjob.keda.sh/generation':'7','scaledjob.kscaled.io/template':'" PRINT "'"
#define JOB(labels, annotations, spec)                                                                                 \
	"{'apiVersion':'batch/v1','kind':'Job','metadata':{'namespace':'shop','labels':{" labels                       \
	"},'annotations':{" annotations "},'ownerReferences':[" OWNER "]},'spec':" spec "}"
#define SPEC                                                                                                           \
	"{'template':{'metadata':{'labels':{'scaledjob.keda.sh/"                                                       \
	"name':'work'}},'spec':{'restartPolicy':'OnFailure','containers':[{'name':'main','image':'w:1'}]}}}"

static json_t *make(const struct scaledjob *sj)
{
	struct err err = { 0 };
	json_t *made = jobspec_make(sj, "1.2.3", &err);

	if (made == NULL)
		fail_msg("%s", err.msg);
	return made;
}

static void check_made(const char *object, const char *wanted_text)
{
	struct scaledjob *sj = given_scaledjob(object);
	json_t *made = make(sj), *wanted = given_json(wanted_text);

	if (!json_equal(made, wanted))
		fail_msg("%s\n made   %s\n wanted %s", object, json_text(made), json_text(wanted));
	json_decref(made);
	json_decref(wanted);
	scaledjob_free(sj);
}

static void test_golden(void **state)
{
	(void)state;
	check_made(GIVEN_SJ(",'generation':7", GIVEN_TEMPLATE "," GIVEN_TRIGGERS), JOB(LABELS, MADE_FROM, SPEC));
}

static void test_labels(void **state)
{
	(void)state;
	/*
	 * The user's come after ours and may override them, but not the one by which the Job is
	 * found; excluded ones stay away, by their exact text.
	 */
	check_made(GIVEN_SJ(",'generation':7,'labels':{'team':'a','app.kubernetes.io/"
			    "part-of':'shop','secret':'x','spaced':'y','scaledjob.keda.sh/"
			    "name':'other','app.kubernetes.io/version':'9'},"
			    "'annotations':{'scaledjob.keda.sh/job-excluded-labels':'secret, "
			    "spaced,scaledjob.keda.sh/name,tea'}",
			   GIVEN_TEMPLATE),
		JOB("'app.kubernetes.io/name':'work','app.kubernetes.io/version':'9','app.kubernetes.io/"
		    "part-of':'shop','app.kubernetes.io/managed-by':'kscaled','scaledjob.keda.sh/"
		    "name':'work','team':'a','spaced':'y'",
			MADE_FROM
			",'scaledjob.keda.sh/job-excluded-labels':'secret, spaced,scaledjob.keda.sh/name,tea'",
			SPEC));
	/* the list of ScaledObjects has no effect here */
	check_made(GIVEN_SJ(",'generation':7,'labels':{'team':'a'},'annotations':{'scaledobject.keda.sh/"
			    "hpa-excluded-labels':'team'}",
			   GIVEN_TEMPLATE),
		JOB(LABELS ",'team':'a'", MADE_FROM ",'scaledobject.keda.sh/hpa-excluded-labels':'team'", SPEC));
}

/* As many labels, and as many exclusions, as an object has room for. */
static void test_many_labels(void **state)
{
	enum { MANY_LABELS = 20000 };
	struct scaledjob *sj = given_scaledjob(GIVEN_SJ("", GIVEN_TEMPLATE));
	struct buf list = BUF_INIT(1 << 20);
	json_t *made;
	char key[16];

	(void)state;
	for (int i = 0; i < MANY_LABELS; i++) {
		snprintf(key, sizeof(key), "key%05d", i);
		strmap_set(&sj->meta.labels, key, "x");
		buf_printf(&list, "%s%05d,", i % 2 ? "key" : "no", MANY_LABELS - 1 - i);
	}
	strmap_set(&sj->meta.annotations, "scaledjob.keda.sh/job-excluded-labels", buf_text(&list));
	made = make(sj);
	/* every second one, and five of ours */
	assert_int_equal(json_object_size(json_object_get(json_object_get(made, "metadata"), "labels")),
		MANY_LABELS / 2 + 5);
	json_decref(made);
	buf_done(&list);
	scaledjob_free(sj);
}

/* All of the object's, except annotations that claim what the Job was made from. */
static void test_annotations(void **state)
{
	(void)state;
	check_made(GIVEN_SJ(",'generation':7,'annotations':{'a':'b','kubectl.kubernetes.io/"
			    "last-applied-configuration':'{}','scaledjob.keda.sh/generation':'1','scaledjob.kscaled.io/"
			    "template':'x','autoscaling.keda.sh/paused':'false'}",
			   GIVEN_TEMPLATE),
		JOB(LABELS, MADE_FROM ",'a':'b','autoscaling.keda.sh/paused':'false'", SPEC));
}

static void test_template(void **state)
{
	static const struct {
		const char *given, *wanted;
	} cases[] = {
		/* all that the user wrote is there */
		{ "{'parallelism':2,'backoffLimit':0,'ttlSecondsAfterFinished':60,'template':{'metadata':{'labels':{'a'"
		  ":'b'},'annotations':{'c':'d'}},'spec':{'containers':[],'restartPolicy':'Never'}}}",
			"{'parallelism':2,'backoffLimit':0,'ttlSecondsAfterFinished':60,'template':{'metadata':{'"
			"labels':{'a':'b','scaledjob.keda.sh/"
			"name':'work'},'annotations':{'c':'d'}},'spec':{'containers':[],'restartPolicy':'Never'}}}" },
		/* the label is ours */
		{ "{'template':{'metadata':{'labels':{'scaledjob.keda.sh/"
		  "name':'x'}},'spec':{'restartPolicy':'Never'}}}",
			"{'template':{'metadata':{'labels':{'scaledjob.keda.sh/"
			"name':'work'}},'spec':{'restartPolicy':'Never'}}}" },
		/* no restartPolicy in any way */
		{ "{'template':{'metadata':null,'spec':{'restartPolicy':''}}}",
			"{'template':{'metadata':{'labels':{'scaledjob.keda.sh/"
			"name':'work'}},'spec':{'restartPolicy':'OnFailure'}}}" },
		{ "{'template':{'metadata':{'labels':null},'spec':{'restartPolicy':null}}}",
			"{'template':{'metadata':{'labels':{'scaledjob.keda.sh/"
			"name':'work'}},'spec':{'restartPolicy':'OnFailure'}}}" },
		/* one that no Job may have is the API server's to refuse */
		{ "{'template':{'spec':{'restartPolicy':'Always'}}}",
			"{'template':{'metadata':{'labels':{'scaledjob.keda.sh/"
			"name':'work'}},'spec':{'restartPolicy':'Always'}}}" },
		/* and so is nonsense */
		{ "{'template':{'metadata':7,'spec':{'restartPolicy':7}}}",
			"{'template':{'metadata':7,'spec':{'restartPolicy':7}}}" },
		{ "{'template':{'metadata':{'labels':'x'},'spec':[]}}",
			"{'template':{'metadata':{'labels':'x'},'spec':[]}}" },
		{ "{'template':{}}", "{'template':{'metadata':{'labels':{'scaledjob.keda.sh/name':'work'}}}}" },
		{ "{'template':'x'}", "{'template':'x'}" },
		{ "{}", "{}" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = mem_printf(GIVEN_SJ(",'generation':7", "'jobTargetRef':%s"), cases[i].given);
		struct scaledjob *sj = given_scaledjob(text);
		json_t *made = make(sj), *wanted = given_json(cases[i].wanted);

		if (!json_equal(json_object_get(made, "spec"), wanted))
			fail_msg("%s: %s", cases[i].given, json_text(made));
		json_decref(made);
		json_decref(wanted);
		scaledjob_free(sj);
		free(text);
	}
}

static void test_no_template(void **state)
{
	static const struct {
		const char *spec, *message;
	} cases[] = {
		{ GIVEN_TRIGGERS,
			"spec.jobTargetRef: missing: say what each Job looks like, as the spec of a batch/v1 Job "
			"does" },
		{ "'jobTargetRef':null",
			"spec.jobTargetRef: missing: say what each Job looks like, as the spec of a batch/v1 Job "
			"does" },
		{ "'jobTargetRef':[]", "spec.jobTargetRef: must be an object, not an array" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = mem_printf(GIVEN_SJ("", "%s"), cases[i].spec);
		struct scaledjob *sj = given_scaledjob(text);
		struct err err = { 0 };

		assert_null(jobspec_make(sj, "1", &err));
		assert_int_equal(err.kind, ERR_INVALID);
		assert_string_equal(err.msg, cases[i].message);
		assert_null(jobspec_make(sj, "1", NULL));
		scaledjob_free(sj);
		free(text);
	}
}

/* A Job is recognised by what it was made from, whatever else changes in the ScaledJob. */
static void test_there_and_back(void **state)
{
	struct scaledjob *sj = given_scaledjob(GIVEN_SJ(",'generation':7", GIVEN_TEMPLATE "," GIVEN_TRIGGERS)),
			 *later = given_scaledjob(
				 GIVEN_SJ(",'generation':8", GIVEN_TEMPLATE ",'maxReplicaCount':5," GIVEN_TRIGGERS));
	json_t *made = make(sj);
	const struct job *list[1];
	struct job *job;
	enum jobspec_sweep sweep;
	char name[JOBSPEC_NAME_MAX + 1];

	(void)state;
	json_object_set_new(json_object_get(made, "metadata"), "name", json_string(jobspec_name(sj, 5, name)));
	job = job_decode(made, NULL);
	list[0] = job;
	assert_string_equal(job->owner, "work");
	assert_string_equal(job->owner_uid, "u-2");
	assert_true(job->for_generation == 7);
	assert_string_equal(job->template_print, sj->spec.template_print);
	jobspec_sweep(later, &(struct jobtemplate){ 0 }, list, 1, &sweep);
	assert_int_equal(sweep, JOBSPEC_KEEP);
	job_free(job);
	json_decref(made);
	scaledjob_free(sj);
	scaledjob_free(later);
}

/* ---- Names ---- */

#define FIFTY "a2345678901234567890123456789012345678901234567890"

static struct scaledjob *named(const char *name)
{
	char *text = mem_printf("{'metadata':{'name':'%s'},'spec':{" GIVEN_TEMPLATE "}}", name);
	struct scaledjob *sj = given_scaledjob(text);

	free(text);
	return sj;
}

static void test_name(void **state)
{
	static const struct {
		const char *name;
		uint64_t random;
		const char *wanted;
	} cases[] = {
		{ "work", 0, "work-bbbbb" }, { "work", 1, "work-cbbbb" }, { "work", 26, "work-9bbbb" },
		{ "work", 27, "work-bcbbb" }, { "work", 14348906, "work-99999" }, { "a.b", 0, "a.b-bbbbb" },
		{ "x", 14348907, "x-bbbbb" },
		{ FIFTY "1234567", 0, FIFTY "1234567-bbbbb" }, /* 57: the longest that is whole */
		{ FIFTY "12345678", 0, FIFTY "1234567-bbbbb" },
		{ FIFTY "123456-8", 0, FIFTY "123456-bbbbb" }, /* no "--" at the cut, which would be well, and no "-."
								  or ".-", which would not */
		{ FIFTY "123456.8", 0, FIFTY "123456-bbbbb" }, { FIFTY "1234---8901", 0, FIFTY "1234-bbbbb" },
		{ FIFTY "123456\xC3\xA9", 0, FIFTY "123456-bbbbb" }, /* no half character */
	};
	char out[JOBSPEC_NAME_MAX + 1];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scaledjob *sj = named(cases[i].name);

		assert_ptr_equal(jobspec_name(sj, cases[i].random, out), out);
		assert_string_equal(out, cases[i].wanted);
		scaledjob_free(sj);
	}
}

static uint64_t next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/*
 * Any name that Kubernetes accepts, with any number: a valid object name, short enough for a label,
 * with letters or digits at both ends (a label's value), and distinguished by the number.
 */
static void test_name_always_valid(void **state)
{
	uint64_t seed = 88172645463325252;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		static const char letters[] = "ab0-.";
		char name[80], out[JOBSPEC_NAME_MAX + 1], other[JOBSPEC_NAME_MAX + 1];
		size_t len = 1 + (size_t)(next(&seed) % (sizeof(name) - 1));
		uint64_t random = next(&seed);
		struct scaledjob sj = { .meta.name = name };

		for (size_t i = 0; i < len; i++)
			name[i] = letters[next(&seed) % 5];
		name[len] = '\0';
		if (!dnsname_is_subdomain(name, strlen(name)))
			continue;
		jobspec_name(&sj, random, out);
		assert_true(dnsname_is_subdomain(out, strlen(out)));
		assert_in_range(strlen(out), JOBSPEC_SUFFIX + 2, JOBSPEC_NAME_MAX);
		assert_true(strchr("-.", out[0]) == NULL && strchr("-.", out[strlen(out) - 1]) == NULL);
		assert_memory_equal(out, name, strlen(out) - JOBSPEC_SUFFIX - 1);
		assert_string_not_equal(out, jobspec_name(&sj, random + 1, other));
	}
}

/* ---- Deletion ---- */

#define RUNNING(name, print)                                                                                           \
	"{'metadata':{'name':'" name                                                                                   \
	"','annotations':{'scaledjob.keda.sh/generation':'7','scaledjob.kscaled.io/template':'" print "'}}}"
#define OF_KEDA(name, generation)                                                                                      \
	"{'metadata':{'name':'" name "','annotations':{'scaledjob.keda.sh/generation':'" generation "'}}}"
#define ENDED(name, state, second)                                                                                     \
	"{'metadata':{'name':'" name "'},'status':{'conditions':[{'type':'" state                                      \
	"','status':'True','lastTransitionTime':'2026-01-02T03:04:" second "Z'}]}}"
#define GOING(name, state, second)                                                                                     \
	"{'metadata':{'name':'" name                                                                                   \
	"','deletionTimestamp':'2026-01-02T03:05:00Z'},'status':{'conditions':[{'type':'" state                        \
	"','status':'True','lastTransitionTime':'2026-01-02T03:04:" second "Z'}]}}"

#define JOBS_MAX 8

/* wanted: one letter per Job: k(ept), h(istory), r(olled out) */
static void check_sweep(const char *spec, const char *const *texts, const char *wanted)
{
	char *text = mem_printf(GIVEN_SJ(",'generation':7", "%s"), spec);
	struct scaledjob *sj = given_scaledjob(text);
	struct job *jobs[JOBS_MAX];
	enum jobspec_sweep out[JOBS_MAX];
	size_t count = 0;

	for (; texts[count] != NULL; count++)
		jobs[count] = given_job(texts[count]);
	jobspec_sweep(sj, &(struct jobtemplate){ 0 }, (const struct job *const *)jobs, count, out);
	assert_int_equal(count, strlen(wanted));
	for (size_t i = 0; i < count; i++) {
		if ("khr"[out[i]] != wanted[i])
			fail_msg("%s: %s: %c, not %c", spec, texts[i], "khr"[out[i]], wanted[i]);
		job_free(jobs[i]);
	}
	scaledjob_free(sj);
	free(text);
}

static void test_history(void **state)
{
	static const char *const complete[] = { ENDED("a", "Complete", "03"), ENDED("b", "Complete", "01"),
		ENDED("c", "Complete", "02"), ENDED("d", "Failed", "00"), RUNNING("e", PRINT), NULL };
	static const char *const failed[] = { ENDED("a", "Failed", "03"), ENDED("b", "Failed", "01"),
		ENDED("c", "Failed", "02"), ENDED("d", "Complete", "00"), NULL };
	static const char *const equal[] = { ENDED("c", "Complete", "01"), ENDED("a", "Complete", "01"),
		ENDED("b", "Complete", "01"), NULL };
	static const char *const going[] = { ENDED("a", "Complete", "03"), GOING("b", "Complete", "01"),
		ENDED("c", "Complete", "02"), GOING("d", "Complete", "04"), NULL };
	static const struct {
		const char *spec;
		const char *const *jobs;
		const char *wanted;
	} cases[] = {
		{ GIVEN_TEMPLATE, complete, "kkkkk" },
		{ GIVEN_TEMPLATE ",'successfulJobsHistoryLimit':3", complete, "kkkkk" },
		{ GIVEN_TEMPLATE ",'successfulJobsHistoryLimit':2", complete, "khkkk" },
		{ GIVEN_TEMPLATE ",'successfulJobsHistoryLimit':1", complete, "khhkk" },
		{ GIVEN_TEMPLATE ",'successfulJobsHistoryLimit':0", complete, "hhhkk" },
		{ GIVEN_TEMPLATE ",'successfulJobsHistoryLimit':0,'failedJobsHistoryLimit':0", complete, "hhhhk" },
		{ GIVEN_TEMPLATE ",'failedJobsHistoryLimit':1", failed, "khhk" },
		{ GIVEN_TEMPLATE ",'successfulJobsHistoryLimit':1,'failedJobsHistoryLimit':2", failed, "khkk" },
		{ GIVEN_TEMPLATE ",'successfulJobsHistoryLimit':1", equal, "khh" },
		{ GIVEN_TEMPLATE ",'successfulJobsHistoryLimit':2", equal, "khk" },
		/* a Job being deleted takes no place of those that stay */
		{ GIVEN_TEMPLATE ",'successfulJobsHistoryLimit':2", going, "kkkk" },
		{ GIVEN_TEMPLATE ",'successfulJobsHistoryLimit':1", going, "kkhk" },
		{ GIVEN_TEMPLATE ",'successfulJobsHistoryLimit':0", going, "hkhk" },
		/* a limit that is refused deletes nothing */
		{ GIVEN_TEMPLATE ",'successfulJobsHistoryLimit':-1", complete, "kkkkk" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_sweep(cases[i].spec, cases[i].jobs, cases[i].wanted);
}

static void test_rollout(void **state)
{
	static const char *const jobs[] = {
		RUNNING("same", PRINT),
		RUNNING("other", "0000000000000000"),
		OF_KEDA("now", "7"),
		OF_KEDA("before", "6"),
		"{'metadata':{'name':'silent'}}",
		ENDED("ended", "Complete", "01"),
		ENDED("failed", "Failed", "01"),
		"{'metadata':{'name':'going','deletionTimestamp':'2026-01-02T03:05:00Z'}}",
		NULL,
	};
	static const struct {
		const char *spec, *wanted;
	} cases[] = {
		{ GIVEN_TEMPLATE, "krkrkkkk" },
		{ GIVEN_TEMPLATE ",'rollout':{'strategy':'immediate'}", "krkrkkkk" },
		{ GIVEN_TEMPLATE ",'rollout':{'strategy':''}", "krkrkkkk" },
		{ GIVEN_TEMPLATE ",'rollout':{'strategy':'Gradual'}", "krkrkkkk" },
		{ GIVEN_TEMPLATE ",'rollout':{'strategy':'gradual'}", "kkkkkkkk" },
		{ GIVEN_TEMPLATE ",'rolloutStrategy':'gradual'", "kkkkkkkk" },
		/* the old field wins */
		{ GIVEN_TEMPLATE ",'rolloutStrategy':'gradual','rollout':{'strategy':'immediate'}", "kkkkkkkk" },
		{ GIVEN_TEMPLATE ",'rolloutStrategy':'immediate','rollout':{'strategy':'gradual'}", "krkrkkkk" },
		{ GIVEN_TEMPLATE ",'successfulJobsHistoryLimit':0", "krkrkhkk" },
		/* another template, and none that can be read */
		{ "'jobTargetRef':{}", "rrkrkkkk" },
		{ "'jobTargetRef':[]", "kkkkkkkk" },
		{ "'maxReplicaCount':3", "kkkkkkkk" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_sweep(cases[i].spec, jobs, cases[i].wanted);
}

/* ---- The same jobTargetRef, served otherwise ---- */

#define GIVEN_OTHER "0123456789abcdef"

/* A running Job made in that generation, with that fingerprint. */
static struct job *made_in(const char *generation, const char *print, const char *owner_uid)
{
	char *text =
		mem_printf("{'metadata':{'name':'a','annotations':{'scaledjob.keda.sh/generation':'%s',"
			   "'scaledjob.kscaled.io/template':'%s'},'ownerReferences':[{'apiVersion':'keda.sh/v1alpha1',"
			   "'kind':'ScaledJob','name':'work','uid':'%s','controller':true}]}}",
			generation, print, owner_uid);
	struct job *job = given_job(text);

	free(text);
	return job;
}

/* Whether a Job is rolled out by the object in that generation, with that jobTargetRef. */
static bool goes(int64_t generation, const char *template, struct jobtemplate *known, struct job *job)
{
	char *text = mem_printf(GIVEN_SJ(",'generation':%d", "%s"), (int)generation, template);
	struct scaledjob *sj = given_scaledjob(text);
	enum jobspec_sweep out;

	jobtemplate_see(known, generation, sj->spec.template_print);
	jobspec_sweep(sj, known, (const struct job *const[]){ job }, 1, &out);
	scaledjob_free(sj);
	free(text);
	return out == JOBSPEC_ROLLOUT;
}

/*
 * Another CRD fills in, and prunes, other fields: no new generation, and no Job is outdated by it.
 */
static void test_another_crd(void **state)
{
	struct jobtemplate known = { 0 };
	struct job *job = made_in("7", PRINT, "u-2");

	(void)state;
	assert_false(goes(7, GIVEN_TEMPLATE, &known, job));
	assert_false(goes(7, "'jobTargetRef':{'backoffLimit':6}", &known, job));
	assert_false(goes(7, "'jobTargetRef':{'backoffLimit':6,'completions':1}", &known, job));
	assert_false(goes(7, "'jobTargetRef':{}", &known, job));
	/* nor by later writes, as long as jobTargetRef is unchanged */
	assert_false(goes(8, "'jobTargetRef':{}", &known, job));
	assert_false(goes(9, "'jobTargetRef':{'backoffLimit':6}", &known, job));
	assert_false(goes(9, GIVEN_TEMPLATE, &known, job));
	/* which it is no more */
	assert_true(goes(10, "'jobTargetRef':{'backoffLimit':7}", &known, job));
	assert_true(goes(10, "'jobTargetRef':{'backoffLimit':7,'completions':1}", &known, job));
	assert_true(goes(11, "'jobTargetRef':{'backoffLimit':6}", &known, job));
	/* and is again */
	assert_false(goes(12, GIVEN_TEMPLATE, &known, job));
	job_free(job);
}

/* A new leader learns it from the Jobs: those of this generation are of this jobTargetRef. */
static void test_another_crd_before_the_start(void **state)
{
	struct jobtemplate known = { 0 };
	struct job *job = made_in("7", GIVEN_OTHER, "u-2"), *earlier = made_in("6", GIVEN_OTHER, "u-2"),
		   *foreign = made_in("7", GIVEN_OTHER, "u-1");

	(void)state;
	assert_true(goes(7, GIVEN_TEMPLATE, &known, foreign)); /* of an object that had the name before */
	assert_true(goes(7, GIVEN_TEMPLATE, &known, earlier));
	assert_false(goes(7, GIVEN_TEMPLATE, &known, job));
	assert_false(goes(7, GIVEN_TEMPLATE, &known, earlier));
	assert_false(goes(8, GIVEN_TEMPLATE, &known, job));
	job_free(job);
	job_free(earlier);
	job_free(foreign);
}

/*
 * First seen with a change of something else: it is another one until it is known to be the same.
 */
static void test_another_crd_and_a_change(void **state)
{
	struct jobtemplate known = { 0 };
	struct job *job = made_in("7", PRINT, "u-2"), *earlier = made_in("5", GIVEN_OTHER, "u-2"),
		   *first = made_in("3", GIVEN_OTHER, "u-2"), *of_keda = made_in("6", "", "u-2");

	(void)state;
	assert_false(goes(7, GIVEN_TEMPLATE, &known, job));
	assert_true(goes(7, GIVEN_TEMPLATE, &known, of_keda));
	jobtemplate_reaches(&known, 5);
	assert_false(goes(7, GIVEN_TEMPLATE, &known, of_keda));
	assert_false(goes(7, GIVEN_TEMPLATE, &known, earlier));
	assert_true(goes(8, "'jobTargetRef':{'backoffLimit':6}", &known, job));
	assert_true(goes(8, "'jobTargetRef':{'backoffLimit':6}", &known, earlier));
	jobtemplate_reaches(&known, 7);
	assert_false(goes(8, "'jobTargetRef':{'backoffLimit':6}", &known, job));
	assert_false(goes(8, "'jobTargetRef':{'backoffLimit':6}", &known, earlier));
	assert_false(goes(8, "'jobTargetRef':{'backoffLimit':6}", &known, first)); /* by its fingerprint */
	assert_false(goes(9, GIVEN_TEMPLATE, &known, job));
	assert_true(goes(10, "'jobTargetRef':{'backoffLimit':7}", &known, job));
	assert_true(goes(10, "'jobTargetRef':{'backoffLimit':7}", &known, first));
	job_free(job);
	job_free(earlier);
	job_free(first);
	job_free(of_keda);
}

/* The memory is bounded; the present fingerprints stay. */
static void test_many_crds(void **state)
{
	struct jobtemplate known = { 0 };
	char print[17];

	(void)state;
	for (int i = 0; i < 100; i++) {
		snprintf(print, sizeof(print), "%016d", i);
		jobtemplate_see(&known, 7, print);
		jobtemplate_see(&known, 7, PRINT);
		jobtemplate_see(&known, 7, "");
		assert_true(jobtemplate_knows(&known, print) && jobtemplate_knows(&known, PRINT));
	}
	assert_int_equal(known.now.count, JOBTEMPLATE_PRINTS);
	assert_false(jobtemplate_knows(&known, "") || jobtemplate_knows(&known, "0000000000000092"));
	assert_true(jobtemplate_knows(&known, "0000000000000093"));
}

static void test_nothing_to_sweep(void **state)
{
	struct scaledjob *sj = given_scaledjob(GIVEN_SJ("", GIVEN_TEMPLATE));

	(void)state;
	jobspec_sweep(sj, &(struct jobtemplate){ 0 }, NULL, 0, NULL);
	scaledjob_free(sj);
}

#define MANY 60

static bool finished_before(const struct job *a, const struct job *b)
{
	return a->finished_unix_ms != b->finished_unix_ms ? a->finished_unix_ms < b->finished_unix_ms
							  : strcmp(a->meta.name, b->meta.name) < 0;
}

/*
 * Of each state just so many are left as the limit lets, none of them finished before one that
 * goes; and only Jobs that run are rolled out.
 */
static void check_properties(const struct scaledjob *sj, const struct job *const *jobs, const enum jobspec_sweep *out,
	size_t count)
{
	int32_t left[3] = { 0 }, had[3] = { 0 };

	for (size_t i = 0; i < count; i++) {
		if (jobs[i]->meta.deleted_unix_ms != 0) {
			assert_int_equal(out[i], JOBSPEC_KEEP);
			continue;
		}
		had[jobs[i]->state]++;
		left[jobs[i]->state] += out[i] == JOBSPEC_KEEP;
		assert_true(out[i] != JOBSPEC_ROLLOUT || jobs[i]->state == JOB_RUNNING);
		assert_true(out[i] != JOBSPEC_HISTORY || jobs[i]->state != JOB_RUNNING);
		for (size_t k = 0; out[i] == JOBSPEC_HISTORY && k < count; k++)
			assert_true(out[k] != JOBSPEC_KEEP || jobs[k]->meta.deleted_unix_ms != 0 ||
				jobs[k]->state != jobs[i]->state || finished_before(jobs[i], jobs[k]));
	}
	assert_int_equal(left[JOB_COMPLETE],
		had[JOB_COMPLETE] < sj->spec.successful_history ? had[JOB_COMPLETE] : sj->spec.successful_history);
	assert_int_equal(left[JOB_FAILED],
		had[JOB_FAILED] < sj->spec.failed_history ? had[JOB_FAILED] : sj->spec.failed_history);
}

static void test_sweep_always(void **state)
{
	uint64_t seed = 362436069;
	struct job jobs[MANY];
	const struct job *list[MANY];
	char names[MANY][24];
	enum jobspec_sweep out[MANY];

	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct scaledjob sj = { .meta.generation = 3,
			.spec = { .template_print = "abc",
				.successful_history = (int32_t)(next(&seed) % 30),
				.failed_history = (int32_t)(next(&seed) % 30) } };
		size_t count = (size_t)(next(&seed) % (MANY + 1));

		for (size_t i = 0; i < count; i++) {
			snprintf(names[i], sizeof(names[i]), "%" PRIu64, next(&seed));
			jobs[i] = (struct job){ .meta = { .name = names[i], .deleted_unix_ms = next(&seed) % 5 == 0 },
				.state = next(&seed) % 3,
				.for_generation = 3,
				.template_print = { "ab"[next(&seed) % 2], 'b', 'c' } };
			jobs[i].finished_unix_ms = jobs[i].state != JOB_RUNNING ? (int64_t)(next(&seed) % 10) : 0;
			list[i] = &jobs[i];
		}
		jobspec_sweep(&sj, &(struct jobtemplate){ 0 }, list, count, out);
		check_properties(&sj, list, out, count);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_many_labels),
		cmocka_unit_test(test_annotations),
		cmocka_unit_test(test_template),
		cmocka_unit_test(test_no_template),
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_name),
		cmocka_unit_test(test_name_always_valid),
		cmocka_unit_test(test_history),
		cmocka_unit_test(test_rollout),
		cmocka_unit_test(test_another_crd),
		cmocka_unit_test(test_another_crd_before_the_start),
		cmocka_unit_test(test_another_crd_and_a_change),
		cmocka_unit_test(test_many_crds),
		cmocka_unit_test(test_nothing_to_sweep),
		cmocka_unit_test(test_sweep_always),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
