/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/jobs/jobs.h"

#include "../../crd/given.h"

#define READY     "{'type':'Ready','status':'True'}"
#define SCHEDULED "{'type':'PodScheduled','status':'True'}"

static void test_started(void **state)
{
	static const char *const ready[] = { "Ready" }, *const both[] = { "Ready", "PodScheduled" };
	static const struct {
		const char *status;
		const char *const *conditions;
		size_t count;
		bool started;
	} cases[] = {
		/* by phase */
		{ "{'phase':'Pending'}", NULL, 0, false },
		{ "{'phase':'Running'}", NULL, 0, true },
		{ "{'phase':'Succeeded'}", NULL, 0, true },
		{ "{'phase':'Failed'}", NULL, 0, false },
		{ "{'phase':'Unknown'}", NULL, 0, false },
		{ "{'phase':'running'}", NULL, 0, false },
		/* conditions that are not configured */
		{ "{'phase':'Pending','conditions':[" READY "," SCHEDULED "]}", NULL, 0, false },
		/* by conditions, whatever the phase */
		{ "{'phase':'Pending','conditions':[" READY "]}", ready, 1, true },
		{ "{'phase':'Running'}", ready, 1, false },
		{ "{'phase':'Running','conditions':[{'type':'Ready','status':'False'}]}", ready, 1, false },
		{ "{'phase':'Running','conditions':[{'type':'Ready','status':'Unknown'}]}", ready, 1, false },
		{ "{'conditions':[{'type':'Ready'}]}", ready, 1, false },
		/* each of them */
		{ "{'conditions':[" READY "]}", both, 2, false },
		{ "{'conditions':[" SCHEDULED "]}", both, 2, false },
		{ "{'conditions':[" SCHEDULED "," READY "]}", both, 2, true },
		{ "{'conditions':[" READY ",{'type':'PodScheduled','status':'False'}]}", both, 2, false },
		/* an unreadable Pod has not started */
		{ "null", NULL, 0, false },
		{ "{}", NULL, 0, false },
		{ "{'phase':7}", NULL, 0, false },
		{ "'Running'", NULL, 0, false },
		{ "{'conditions':{'type':'Ready','status':'True'}}", ready, 1, false },
		{ "{'conditions':['Ready',null,[],{'type':1,'status':'True'},{'type':'Ready','status':true}]}", ready,
			1, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = mem_printf("{'metadata':{'name':'p'},'status':%s}", cases[i].status);
		json_t *pod = given_json(text);

		if (jobs_pod_started(pod, cases[i].conditions, cases[i].count) != cases[i].started)
			fail_msg("%s", cases[i].status);
		json_decref(pod);
		free(text);
	}
}

static void test_no_pod(void **state)
{
	json_t *list = given_json("[]"), *empty = given_json("{}");

	(void)state;
	assert_false(jobs_pod_started(NULL, NULL, 0));
	assert_false(jobs_pod_started(list, NULL, 0));
	assert_false(jobs_pod_started(empty, NULL, 0));
	json_decref(list);
	json_decref(empty);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_started),
		cmocka_unit_test(test_no_pod),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
