/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/job.h"

#include "given.h"

#define T 1767323045000 /* 2026-01-02T03:04:05Z */
#define OWNER(kind, version, controller)                                                                               \
	"{'apiVersion':'" version "','kind':'" kind "','name':'work','uid':'u-2','controller':" controller "}"

static void test_of_ours(void **state)
{
	struct job *job = given_job("{'metadata':{'name':'work-abcde','namespace':'shop','uid':'u-9','resourceVersion':"
				    "'77','generation':1,'creationTimestamp':'2026-01-02T03:04:05Z',"
				    "'labels':{'scaledjob.keda.sh/"
				    "name':'work','team':'a'},'finalizers':['x'],'annotations':{'scaledjob.keda.sh/"
				    "generation':'12','scaledjob.kscaled.io/template':'0123456789abcdef','a':'b'},"
				    "'ownerReferences':[" OWNER("ReplicaSet", "apps/v1", "false") "," OWNER("ScaledJob",
					    "keda.sh/v1alpha1", "true") "]},'spec':{},'status':{'active':1}}");

	(void)state;
	assert_string_equal(job->meta.namespace_, "shop");
	assert_string_equal(job->meta.name, "work-abcde");
	assert_string_equal(job->meta.uid, "u-9");
	assert_string_equal(job->meta.resource_version, "77");
	assert_true(job->meta.created_unix_ms == T);
	assert_true(job->meta.deleted_unix_ms == 0);
	/* small */
	assert_int_equal(job->meta.labels.count + job->meta.annotations.count + job->meta.finalizer_count +
			job->meta.owner_count,
		0);
	assert_string_equal(job->owner, "work");
	assert_string_equal(job->owner_uid, "u-2");
	assert_true(job->for_generation == 12);
	assert_string_equal(job->template_print, "0123456789abcdef");
	assert_int_equal(job->state, JOB_RUNNING);
	assert_true(job->finished_unix_ms == 0);
	job_free(job);
	job_free(NULL);
}

static void test_bare(void **state)
{
	struct job *job = given_job("{'metadata':{'name':'other','deletionTimestamp':'2026-01-02T03:04:05Z'}}");

	(void)state;
	assert_string_equal(job->owner, "");
	assert_null(job->owner_uid);
	assert_true(job->for_generation == -1);
	assert_string_equal(job->template_print, "");
	assert_int_equal(job->state, JOB_RUNNING);
	assert_true(job->meta.deleted_unix_ms == T);
	job_free(job);
}

static void test_state(void **state)
{
	static const struct {
		const char *status;
		enum job_state state;
		int64_t finished;
	} cases[] = {
		{ "{}", JOB_RUNNING, 0 },
		{ "null", JOB_RUNNING, 0 },
		{ "[]", JOB_RUNNING, 0 },
		{ "{'conditions':{}}", JOB_RUNNING, 0 },
		{ "{'conditions':[null,3,'Complete',{}]}", JOB_RUNNING, 0 },
		{ "{'completionTime':'2026-01-02T03:04:05Z'}", JOB_RUNNING, 0 },
		{ "{'conditions':[{'type':'Complete','status':'True','lastTransitionTime':'2026-01-02T03:04:06Z'}],'"
		  "completionTime':'2026-01-02T03:04:05Z'}",
			JOB_COMPLETE, T },
		{ "{'conditions':[{'type':'Complete','status':'True','lastTransitionTime':'2026-01-02T03:04:06Z'}]}",
			JOB_COMPLETE, T + 1000 },
		{ "{'conditions':[{'type':'Complete','status':'True','lastTransitionTime':'2026-01-02T03:04:06Z'}],'"
		  "completionTime':'soon'}",
			JOB_COMPLETE, T + 1000 },
		{ "{'conditions':[{'type':'Complete','status':'True'}]}", JOB_COMPLETE, 0 },
		{ "{'conditions':[{'type':'Failed','status':'True','lastTransitionTime':'2026-01-02T03:04:07Z'}]}",
			JOB_FAILED, T + 2000 },
		{ "{'conditions':[{'type':'Failed','status':'True','lastTransitionTime':9}]}", JOB_FAILED, 0 },
		{ "{'conditions':[{'type':'Complete','status':'False'},{'type':'Failed','status':'Unknown'}]}",
			JOB_RUNNING, 0 },
		{ "{'conditions':[{'type':'Suspended','status':'True'},{'type':'FailureTarget','status':'True'},{'type'"
		  ":'SuccessCriteriaMet','status':'True'}]}",
			JOB_RUNNING, 0 },
		{ "{'conditions':[{'type':'FailureTarget','status':'True','lastTransitionTime':'2026-01-02T03:04:05Z'},"
		  "{'type':'Failed','status':'True','lastTransitionTime':'2026-01-02T03:04:07Z'}]}",
			JOB_FAILED, T + 2000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = mem_printf("{'metadata':{'name':'j'},'status':%s}", cases[i].status);
		struct job *job = given_job(text);

		if (job->state != cases[i].state || job->finished_unix_ms != cases[i].finished)
			fail_msg("%s: %d, %lld", cases[i].status, job->state, (long long)job->finished_unix_ms);
		job_free(job);
		free(text);
	}
}

static void test_generation(void **state)
{
	static const struct {
		const char *text;
		int64_t wanted;
	} cases[] = {
		{ "'7'", 7 },
		{ "'0'", 0 },
		{ "'999999999999999999'", 999999999999999999 },
		{ "'9999999999999999999999'", -1 },
		{ "''", -1 },
		{ "'-3'", -1 },
		{ "'7 '", -1 },
		{ "' 7'", -1 },
		{ "'+7'", -1 },
		{ "'x'", -1 },
		{ "7", -1 },
		{ "null", -1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = mem_printf("{'metadata':{'name':'j','annotations':{'scaledjob.keda.sh/generation':%s}}}",
			cases[i].text);
		struct job *job = given_job(text);

		if (job->for_generation != cases[i].wanted)
			fail_msg("%s: %lld", cases[i].text, (long long)job->for_generation);
		assert_string_equal(job->template_print, ""); /* as KEDA's Jobs */
		job_free(job);
		free(text);
	}
}

/* A fingerprint that is not ours counts as absent. */
static void test_template_print(void **state)
{
	static const struct {
		const char *text, *wanted;
	} cases[] = { { "'0123456789abcdef'", "0123456789abcdef" }, { "'x'", "x" }, { "'0123456789abcdef0'", "" },
		{ "''", "" }, { "5", "" } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = mem_printf("{'metadata':{'name':'j','annotations':{'scaledjob.kscaled.io/template':%s}}}",
			cases[i].text);
		struct job *job = given_job(text);

		assert_string_equal(job->template_print, cases[i].wanted);
		job_free(job);
		free(text);
	}
}

static void test_owner(void **state)
{
	static const struct {
		const char *owners, *wanted;
	} cases[] = {
		{ OWNER("ScaledJob", "keda.sh/v1alpha1", "true"), "u-2" },
		{ OWNER("ScaledJob", "keda.sh/v1", "true"), "u-2" },
		{ OWNER("ScaledJob", "keda.sh/v1alpha1", "false"), NULL },
		{ OWNER("ScaledJob", "keda.shop/v1", "true"), NULL },
		{ OWNER("ScaledObject", "keda.sh/v1alpha1", "true"), NULL },
		{ OWNER("CronJob", "batch/v1", "true"), NULL },
		{ OWNER("CronJob", "batch/v1", "true") "," OWNER("ScaledJob", "keda.sh/v1alpha1", "false"), NULL },
		{ "null,[],3," OWNER("ScaledJob", "keda.sh/v1alpha1", "true"), "u-2" },
		{ "{'controller':true,'kind':'ScaledJob','apiVersion':'keda.sh/v1alpha1'}", "" },
		{ "{'controller':true}", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = mem_printf("{'metadata':{'name':'j','ownerReferences':[%s]}}", cases[i].owners);
		struct job *job = given_job(text);

		if (cases[i].wanted == NULL)
			assert_null(job->owner_uid);
		else
			assert_string_equal(job->owner_uid, cases[i].wanted);
		job_free(job);
		free(text);
	}
}

static void test_not_a_job(void **state)
{
	static const struct {
		const char *object, *message;
	} cases[] = {
		{ "[]", "not a Kubernetes object" },
		{ "{}", "metadata.name: missing" },
		{ "{'metadata':3}", "metadata: must be an object, not a number" },
		{ "{'metadata':{'name':7}}", "metadata.name: must be a string, not a number" },
		{ "{'metadata':{'name':'j','creationTimestamp':'now'}}", "metadata.creationTimestamp: " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *value = given_json(cases[i].object);
		struct err err = { 0 };

		assert_null(job_decode(value, &err));
		assert_int_equal(err.kind, ERR_INVALID);
		assert_has(err.msg, cases[i].message);
		json_decref(value);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of_ours),
		cmocka_unit_test(test_bare),
		cmocka_unit_test(test_state),
		cmocka_unit_test(test_generation),
		cmocka_unit_test(test_template_print),
		cmocka_unit_test(test_owner),
		cmocka_unit_test(test_not_a_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
