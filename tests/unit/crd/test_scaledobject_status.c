/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/scaledobject.h"

#include "given.h"

#define T 1767323045000 /* 2026-01-02T03:04:05Z */

#define FULL                                                                                                           \
	"{'scaleTargetKind':'apps/"                                                                                    \
	"v1.Deployment','scaleTargetGVKR':{'group':'apps','version':'v1','kind':'Deployment','resource':'deployments'" \
	"},'originalReplicaCount':4,"                                                                                  \
	"'lastActiveTime':'2026-01-02T03:04:05Z','externalMetricNames':['s0-redis-a','s1-redis-b'],'"                  \
	"resourceMetricNames':['cpu'],'compositeScalerName':'composite-metric',"                                       \
	"'conditions':[{'type':'Ready','status':'True','reason':'R','message':'M','lastTransitionTime':'2026-01-"      \
	"02T03:04:05Z','observedGeneration':2}],"                                                                      \
	"'health':{'s0-redis-a':{'numberOfFailures':3,'status':'Failing'},'s1-redis-b':{'numberOfFailures':0,'status'" \
	":'Happy'}},"                                                                                                  \
	"'triggersActivity':{'s0-redis-a':{'isActive':true},'s1-redis-b':{'isActive':false}},'pausedReplicaCount':0,'" \
	"hpaName':'keda-hpa-web','triggersTypes':'redis','authenticationsTypes':''}"

static struct scaledobject *with_status(const char *status)
{
	char *text = mem_printf("{'metadata':{'name':'web'},'spec':{},'status':%s}", status);
	struct scaledobject *so = given_scaledobject(text);

	free(text);
	return so;
}

static void test_round_trip(void **state)
{
	struct scaledobject *so = with_status(FULL);
	struct scaledobject_status copy = { 0 };
	json_t *wanted = given_json(FULL), *encoded = scaledobject_status_encode(&so->status);

	(void)state;
	assert_true(json_equal(encoded, wanted));
	assert_int_equal(so->status.last_active_unix_ms, T);
	assert_int_equal(so->status.paused_replicas, 0);
	assert_true(so->status.health[0].failing != so->status.health[1].failing);
	json_decref(encoded);
	scaledobject_status_copy(&copy, &so->status);
	scaledobject_free(so);
	encoded = scaledobject_status_encode(&copy);
	assert_true(json_equal(encoded, wanted));
	json_decref(encoded);
	json_decref(wanted);
	scaledobject_status_done(&copy);
	encoded = scaledobject_status_encode(&copy);
	assert_int_equal(json_object_size(encoded), 0);
	json_decref(encoded);
}

/* A field that cannot be read is as if it were absent; its neighbours stay. */
static void test_unreadable(void **state)
{
	static const char *const cases[] = { "null", "[]", "'x'", "{}",
		"{'scaleTargetKind':3,'originalReplicaCount':1e10,'lastActiveTime':'x','conditions':[3],'health':[],'"
		"triggersActivity':'x'}",
		"{'scaleTargetGVKR':{'group':'apps','version':'v1','kind':'Deployment'},'externalMetricNames':{},'"
		"resourceMetricNames':[3,null]}",
		"{'conditions':{'type':'Ready'},'externalMetricNames':['a\\u0000b'],'hpaName':'a\\u0000b'}" };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scaledobject *so = with_status(cases[i]);
		json_t *encoded = scaledobject_status_encode(&so->status);

		assert_int_equal(json_object_size(encoded), 0);
		json_decref(encoded);
		scaledobject_free(so);
	}
	{
		struct scaledobject *so = with_status(
			"{'hpaName':'h','originalReplicaCount':'x','triggersActivity':{'a':3,'b':{'isActive':true}},'"
			"health':{'a':[],'b':{'numberOfFailures':'x','status':'Failing'}}}");

		assert_string_equal(so->status.hpa_name, "h");
		assert_int_equal(so->status.original_replicas, INT32_UNSET);
		assert_int_equal(so->status.activity_count, 2);
		assert_int_equal(so->status.health_count, 2);
		scaledobject_free(so);
	}
}

/* ---- The patch ---- */

struct change {
	const char *from, *to, *patch;
	bool stored_times;
};

static const struct change changes[] = {
	{ FULL, FULL, NULL, true },
	{ "{}", "{}", NULL, true },
	{ "{}", "{'hpaName':'h','originalReplicaCount':0}", "{'status':{'hpaName':'h','originalReplicaCount':0}}",
		true },
	{ "{'hpaName':'h','originalReplicaCount':1}", "{'originalReplicaCount':1}", "{'status':{'hpaName':null}}",
		true },
	{ "{'lastActiveTime':'2026-01-02T03:04:05.9Z'}", "{'lastActiveTime':'2026-01-02T03:04:05Z'}", NULL, true },
	{ "{'lastActiveTime':'2026-01-02T03:04:05Z'}", "{'lastActiveTime':'2026-01-02T03:04:06Z'}",
		"{'status':{'lastActiveTime':'2026-01-02T03:04:06Z'}}", true },
	/* maps entry by entry, lists as a whole */
	{ "{'triggersActivity':{'a':{'isActive':true},'b':{'isActive':false}}}",
		"{'triggersActivity':{'a':{'isActive':false},'c':{'isActive':false}}}",
		"{'status':{'triggersActivity':{'a':{'isActive':false},'b':null,'c':{'isActive':false}}}}", true },
	{ "{'triggersActivity':{'a':{'isActive':true}}}", "{}", "{'status':{'triggersActivity':null}}", true },
	{ "{'externalMetricNames':['a','b']}", "{'externalMetricNames':['b','a']}",
		"{'status':{'externalMetricNames':['b','a']}}", true },
	{ "{'health':{'a':{'numberOfFailures':1,'status':'Failing'}}}",
		"{'health':{'a':{'numberOfFailures':0,'status':'Happy'}}}",
		"{'status':{'health':{'a':{'numberOfFailures':0,'status':'Happy'}}}}", true },
	/* an empty string that is stored is not the same as nothing */
	{ "{'authenticationsTypes':''}", "{}", "{'status':{'authenticationsTypes':null}}", true },
	/* conditions: the whole list, or nothing */
	{ "{'conditions':[{'type':'Ready','status':'True'},{'type':'Active','status':'True'}]}",
		"{'conditions':[{'type':'Ready','status':'True'},{'type':'Active','status':'False'}]}",
		"{'status':{'conditions':[{'type':'Ready','status':'True'},{'type':'Active','status':'False'}]}}",
		true },
	{ "{'conditions':[{'type':'Ready','status':'True'}]}",
		"{'conditions':[{'type':'Ready','status':'True','lastTransitionTime':'2026-01-02T03:04:05Z','"
		"observedGeneration':1}]}",
		"{'status':{'conditions':[{'type':'Ready','status':'True','lastTransitionTime':'2026-01-02T03:04:05Z','"
		"observedGeneration':1}]}}",
		true },
	/* where the schema drops the times, they are no reason to write, */
	{ "{'conditions':[{'type':'Ready','status':'True'}]}",
		"{'conditions':[{'type':'Ready','status':'True','lastTransitionTime':'2026-01-02T03:04:05Z','"
		"observedGeneration':1}]}",
		NULL, false },
	/* but they go along when there is one, */
	{ "{'conditions':[{'type':'Ready','status':'True'}]}",
		"{'conditions':[{'type':'Ready','status':'False','lastTransitionTime':'2026-01-02T03:04:05Z'}]}",
		"{'status':{'conditions':[{'type':'Ready','status':'False','lastTransitionTime':'2026-01-02T03:04:05Z'}"
		"]}}",
		false },
	/* and are not written together with another change. */
	{ "{'conditions':[{'type':'Ready','status':'True'}]}",
		"{'hpaName':'h','conditions':[{'type':'Ready','status':'True','observedGeneration':1}]}",
		"{'status':{'hpaName':'h'}}", false },
};

/* RFC 7396 implemented literally, to check that the patch works. */
static json_t *merge(json_t *target, const json_t *patch)
{
	const char *key;
	json_t *value;

	if (!json_is_object(patch))
		return json_deep_copy(patch);
	target = json_is_object(target) ? json_deep_copy(target) : json_object();
	json_object_foreach((json_t *)(uintptr_t)patch, key, value)
	{
		if (json_is_null(value))
			json_object_del(target, key);
		else
			json_object_set_new(target, key, merge(json_object_get(target, key), value));
	}
	return target;
}

static void check_applies(const struct scaledobject_status *from, const struct scaledobject_status *to,
	const char *patch)
{
	json_t *before = scaledobject_status_encode(from), *after = scaledobject_status_encode(to),
	       *parsed = json_parse(patch, strlen(patch), NULL), *got;

	got = merge(before, json_object_get(parsed, "status"));
	assert_true(json_equal(got, after));
	json_decref(before);
	json_decref(after);
	json_decref(parsed);
	json_decref(got);
}

static void check_change(const struct change *c)
{
	struct scaledobject *from = with_status(c->from), *to = with_status(c->to);
	char *patch = scaledobject_status_patch(&from->status, &to->status, c->stored_times);

	if (c->patch == NULL) {
		if (patch != NULL)
			fail_msg("%s -> %s: %s", c->from, c->to, patch);
	} else {
		json_t *wanted = given_json(c->patch), *got;

		if (patch == NULL)
			fail_msg("%s -> %s: no patch", c->from, c->to);
		got = json_parse(patch, strlen(patch), NULL);
		if (!json_equal(got, wanted))
			fail_msg("%s -> %s: %s", c->from, c->to, patch);
		if (c->stored_times)
			check_applies(&from->status, &to->status, patch);
		json_decref(got);
		json_decref(wanted);
	}
	free(patch);
	scaledobject_free(from);
	scaledobject_free(to);
}

static void test_patch(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		check_change(&changes[i]);
}

/*
 * The version that it is written under is put before it by control/objects/status.c
 * (control/test_status.c).
 */
static void test_patch_text(void **state)
{
	struct scaledobject *from = with_status("{}"), *to = with_status("{'hpaName':'h'}");
	char *patch = scaledobject_status_patch(&from->status, &to->status, true);

	(void)state;
	assert_string_equal(patch, "{\"status\":{\"hpaName\":\"h\"}}");
	free(patch);
	assert_null(scaledobject_status_patch(&from->status, &from->status, true));
	scaledobject_free(from);
	scaledobject_free(to);
}

/* Every field, from nothing to all and back. */
static void test_patch_all(void **state)
{
	struct scaledobject *none = with_status("{}"), *all = with_status(FULL);
	char *there = scaledobject_status_patch(&none->status, &all->status, true),
	     *back = scaledobject_status_patch(&all->status, &none->status, true);

	(void)state;
	check_applies(&none->status, &all->status, there);
	check_applies(&all->status, &none->status, back);
	free(there);
	free(back);
	scaledobject_free(none);
	scaledobject_free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_patch),
		cmocka_unit_test(test_patch_text),
		cmocka_unit_test(test_patch_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
