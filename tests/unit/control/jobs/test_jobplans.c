/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Creates that were decided but not sent yet: however many, they delay no other object, and end
 * with the reason for them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "jobs_fixture.h"

#include "../../fakes/fakecluster.h"
#include "../../fakes/fakesource.h"

#define MINUTE_MS      60000
#define CREATES_MAX    32
#define ENDLESS        "'maxReplicaCount':2147483647,'pollingInterval':3600"
#define OTHER_TEMPLATE "'jobTargetRef':{'template':{'spec':{'containers':[{'name':'main','image':'newer'}]}}}"

static unsigned creates(void)
{
	return fakecluster_calls(KUBE_CREATE, "/jobs?");
}

/* Two billion Jobs are decided, and some are made. */
static void begin(const char *name, const char *spec)
{
	jobs_ready(name, spec);
	fakecluster_answer_lag(20);
	fakesource_answer(name, 1e18);
	fakesource_look(name);
	for (int i = 0; creates() < CREATES_MAX && i < 200; i++)
		world_pass(10);
	assert_true(creates() >= CREATES_MAX);
}

static void delete_it(void)
{
	fakecluster_delete(SCALEDJOB("worker"));
}

/* Also when answers come in the turn in which it is seen to be gone. */
static void it_ends_with_its_object(void **state)
{
	unsigned sent;

	(void)state;
	begin("worker", ENDLESS);
	fakecluster_watch_lag(0);
	fakecluster_just_before(KUBE_CREATE, "/jobs", delete_it);
	world_pass(200);
	assert_null(fakecluster_get(SCALEDJOB("worker")));
	sent = creates();
	world_pass(MINUTE_MS);
	assert_int_equal(creates(), sent);
}

static void it_ends_with_a_pause(void **state)
{
	unsigned sent;

	(void)state;
	begin("worker", ENDLESS);
	fakecluster_change(SCALEDJOB("worker"), "{'metadata':{'annotations':{'autoscaling.keda.sh/paused':'true'}}}");
	world_pass(10);
	sent = creates();
	world_pass(MINUTE_MS);
	assert_int_equal(creates(), sent);
	assert_int_equal(jobs_count("worker"), sent);
}

/*
 * A decision of the earlier spec is not carried out under the new one, not even while old Jobs are
 * being deleted.
 */
static void it_ends_with_another_spec(void **state)
{
	unsigned sent;

	(void)state;
	begin("worker", ENDLESS);
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_DELETE, "/jobs/", FAKECLUSTER_ANY, 403);
	jobs_scaledjob("worker", "'maxReplicaCount':40,'pollingInterval':3600," OTHER_TEMPLATE);
	world_pass(10);
	sent = creates();
	world_pass(MINUTE_MS);
	assert_int_equal(creates(), sent);
}

/* The next decision replaces the earlier one, even if it is empty. */
static void it_ends_when_nothing_can_be_decided(void **state)
{
	unsigned sent;

	(void)state;
	begin("worker", "'maxReplicaCount':2147483647,'pollingInterval':1");
	fakesource_fail("worker", "down");
	world_pass(2000);
	sent = creates();
	world_pass(MINUTE_MS);
	assert_int_equal(creates(), sent);
}

/* As long as none of them is settled, no more are open than can be under way. */
static void nothing_is_sent_while_the_server_is_in_trouble(void **state)
{
	unsigned tried;

	(void)state;
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_CREATE, "/jobs", FAKECLUSTER_ANY, 500);
	jobs_ready("worker", "'maxReplicaCount':2147483647");
	fakesource_answer("worker", 1000);
	fakesource_look("worker");
	world_pass(100);
	tried = creates();
	assert_true(tried <= CREATES_MAX);
	world_pass(10 * MINUTE_MS);
	assert_true(creates() <= tried * 30); /* each of them twice a minute, after its first ones */
	fakecluster_heal();
	world_pass(2 * MINUTE_MS);
	assert_int_equal(jobs_count("worker"), 1000);
}

/* An object that is deleted with all creates under way passes its turn to the others. */
static void a_stopped_one_delays_no_one(void **state)
{
	(void)state;
	jobs_ready("a", "'pollingInterval':3600");
	jobs_ready("b", "'pollingInterval':3600");
	fakecluster_fail(FAKECLUSTER_HANG, KUBE_CREATE, "/jobs", CREATES_MAX, 0);
	fakesource_answer("a", CREATES_MAX);
	fakesource_look("a");
	world_pass(100);
	fakesource_answer("b", 2);
	fakesource_look("b");
	world_pass(100);
	assert_int_equal(creates(), CREATES_MAX);
	fakecluster_delete(SCALEDJOB("a"));
	world_pass(1000);
	assert_int_equal(jobs_count("b"), 2);
	assert_int_equal(creates(), CREATES_MAX + 2);
}

/* But a non-leader has no turn. */
static void a_follower_has_no_turn(void **state)
{
	(void)state;
	begin("a", ENDLESS);
	begin("b", ENDLESS);
	world_pass(1000);
	fakecluster_forget_calls();
	world_lead(false);
	world_pass(MINUTE_MS);
	assert_int_equal(creates(), 0);
	assert_int_equal(fakecluster_writes(), 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		CASE(it_ends_with_its_object),
		CASE(it_ends_with_a_pause),
		CASE(it_ends_with_another_spec),
		CASE(it_ends_when_nothing_can_be_decided),
		CASE(nothing_is_sent_while_the_server_is_in_trouble),
		CASE(a_stopped_one_delays_no_one),
		CASE(a_follower_has_no_turn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
