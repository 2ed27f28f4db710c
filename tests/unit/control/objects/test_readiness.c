/* SPDX-License-Identifier: Apache-2.0 */
/* Sources that fail now and then, or for changing reasons: Ready, Events and log. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../jobs/jobs_fixture.h"
#include "../world.h"

#include "../../fakes/fakecluster.h"
#include "../../fakes/fakesource.h"

#include "base/log.h"

#define WEB     SCALEDOBJECT("web")
#define POLL_MS 10000
#define WRONG   "Triggers defined in ScaledObject are not working correctly: s0-scripted-"
#define EVERY_S "'pollingInterval':1"
#define TWO_TRIGGERS                                                                                                   \
	"'triggers':[{'type':'scripted','metadata':{'source':'a'}},{'type':'scripted','metadata':{'source':'b'}}]"

static unsigned status_writes(void)
{
	return fakecluster_calls(KUBE_MERGE_PATCH, "/status");
}

static struct {
	const char *part;
	unsigned lines;
} heard;

static void on_line(void *arg, enum log_level level, const char *line)
{
	(void)arg;
	heard.lines += level > LOG_LEVEL_DEBUG && strstr(line, heard.part);
}

/* From now on lines with this in them are counted. */
static void hear(const char *part)
{
	heard.part = part;
	heard.lines = 0;
	log_set_sink(on_line, NULL);
}

/* One poll in five fails, for so many seconds. */
static void flap(const char *source, int seconds)
{
	for (int i = 0; i < seconds; i++) {
		if (i % 5 == 0)
			fakesource_fail(source, "connection refused");
		else
			fakesource_answer(source, 7);
		world_pass(1000);
	}
}

static void a_source_that_fails_now_and_then_changes_no_status(void **state)
{
	(void)state;
	fakesource_answer("web", 7);
	world_ready_object("web", 1, EVERY_S);
	fakecluster_forget_calls();
	hear("scaledobject default/web: ");
	flap("web", 60);
	world_expect("web", "Ready", "True");
	world_expect("web", "Active", "True");
	assert_int_equal(status_writes(), 0);
	assert_int_equal(fakecluster_events_sent("KEDAScalerFailed", "connection refused"), 1);
	assert_true(world_errors_counted("web") >= 10);
	assert_in_range(heard.lines, 2, 8); /* not 24 */
}

static void a_ready_object_stays_ready_until_the_third_poll(void **state)
{
	(void)state;
	fakesource_answer("web", 7);
	world_ready_object("web", 1, EVERY_S);
	fakesource_fail("web", "connection refused");
	world_pass(1500);
	world_expect("web", "Ready", "True");
	assert_int_equal(fakecluster_events_sent("KEDAScalerFailed", "connection refused"), 1); /* at once */
	world_pass(2500);
	world_expect("web", "Ready", "False TriggerError " WRONG "web: source web: connection refused");
	world_expect("web", "Active", "False");
	fakesource_answer("web", 7);
	world_pass(1500);
	world_expect("web", "Ready", "True");
}

/* With rare polls the source is asked once more before the failure is reported. */
static void thirty_seconds_are_enough(void **state)
{
	unsigned asked;

	(void)state;
	world_ready_object("web", 1, "'pollingInterval':600");
	world_pass(600000);
	fakesource_fail("web", "connection refused");
	while (fakecluster_events_sent("KEDAScalerFailed", "") == 0)
		world_pass(1000);
	asked = fakesource_asked("web");
	world_pass(25000);
	world_expect("web", "Ready", "True");
	world_pass(10000);
	world_expect("web", "Ready", "False TriggerError");
	assert_int_equal(fakesource_asked("web"), asked + 1);
	fakesource_answer("web", 0);
	world_pass(600000);
	world_expect("web", "Ready", "True");
}

static void another_spec_was_never_ready(void **state)
{
	(void)state;
	world_ready_object("web", 1, "");
	fakesource_fail("other", "no such host");
	world_scaledobject("web", "'triggers':[{'type':'scripted','metadata':{'source':'other'}}]");
	world_pass(1000);
	world_expect("web", "Ready", "False TriggerError " WRONG "other: source other: no such host");
}

/* After a restart the stored status is used. */
static void a_new_process_knows_that_it_was_ready(void **state)
{
	(void)state;
	world_ready_object("web", 1, "");
	fakesource_fail("web", "connection refused");
	world_restart();
	world_pass(5000);
	world_expect("web", "Ready", "True");
	world_pass(3 * POLL_MS);
	world_expect("web", "Ready", "False TriggerError");
	world_restart();
	world_pass(5000);
	world_expect("web", "Ready", "False TriggerError");
}

static void the_cause_is_the_one_that_is(void **state)
{
	(void)state;
	world_ready_object("web", 1, EVERY_S);
	fakesource_fail("web", "HTTP status 503");
	world_pass(5000);
	world_expect("web", "Ready", "False TriggerError " WRONG "web: source web: HTTP status 503");
	hear("HTTP status 429");
	fakesource_fail("web", "HTTP status 429");
	world_pass(20000);
	world_expect("web", "Ready", "False TriggerError " WRONG "web: source web: HTTP status 503");
	world_pass(15000);
	world_expect("web", "Ready", "False TriggerError " WRONG "web: source web: HTTP status 429");
	assert_int_equal(heard.lines, 1);
	/* Two that take turns are a write in 30 s. */
	fakecluster_forget_calls();
	for (int i = 0; i < 300; i++) {
		fakesource_fail("web", i % 2 ? "connection refused" : "HTTP status 429");
		world_pass(1000);
	}
	assert_in_range(status_writes(), 1, 10);
}

static void a_second_trigger_that_begins_to_fail_is_logged(void **state)
{
	(void)state;
	world_ready_object("web", 1, EVERY_S "," TWO_TRIGGERS);
	fakesource_fail("a", "connection refused");
	world_pass(3000);
	hear("trigger 1 (scripted): source b: no such host");
	fakesource_fail("b", "no such host");
	world_pass(2000);
	assert_int_equal(heard.lines, 1);
	world_pass(60000);
	assert_int_equal(heard.lines, 1);
	hear("all triggers can be read again");
	fakesource_answer("a", 0);
	world_pass(3000);
	assert_int_equal(heard.lines, 0);
	fakesource_answer("b", 0);
	world_pass(3000);
	assert_int_equal(heard.lines, 1);
}

static void of_a_scaledjob_too(void **state)
{
	(void)state;
	jobs_ready("worker", EVERY_S);
	world_pass(2000);
	fakecluster_forget_calls();
	for (int i = 0; i < 60; i++) {
		if (i % 5 == 0)
			fakesource_fail("worker", "connection refused");
		else
			fakesource_answer("worker", 0);
		world_pass(1000);
	}
	jobs_expect("worker", "Ready", "True");
	assert_int_equal(status_writes(), 0);
	assert_int_equal(fakecluster_events_sent("KEDAScalerFailed", "connection refused"), 1);
	fakesource_fail("worker", "HTTP status 503");
	world_pass(5000);
	jobs_expect("worker", "Ready", "False TriggerError");
	fakesource_fail("worker", "HTTP status 429");
	world_pass(35000);
	jobs_expect("worker", "Ready",
		"False TriggerError Triggers defined in ScaledJob are not working correctly: s0-scripted-worker: "
		"source worker: HTTP status 429");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		CASE(a_source_that_fails_now_and_then_changes_no_status),
		CASE(a_ready_object_stays_ready_until_the_third_poll),
		CASE(thirty_seconds_are_enough),
		CASE(another_spec_was_never_ready),
		CASE(a_new_process_knows_that_it_was_ready),
		CASE(the_cause_is_the_one_that_is),
		CASE(a_second_trigger_that_begins_to_fail_is_logged),
		CASE(of_a_scaledjob_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
