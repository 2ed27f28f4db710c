/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube/keeper on the API server of tests/unit/fakes. The policy here wants spec.colour of one
 * Gadget to be red.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../fakes/fakecluster.h"
#include "../fakes/fakeloop.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "kube/keeper.h"

#define GADGETS "/apis/example.com/v1/gadgets"
#define GADGET  GADGETS "/g"

static struct {
	struct kube *kube;
	struct keeper *keeper;
	char colour[32]; /* the policy's state; "-": absent, "?": unknown */
	unsigned told, changes, created, patched, lines;
	int64_t brake_max_ms;
	bool idle, cannot; /* nothing is lacking; nothing can be made */
	char line[512];
} t;

/* ---- The policy ---- */

static void on_object(void *arg, const json_t *object)
{
	const char *colour = json_str_or_empty(json_object_get(object, "spec"), "colour");

	assert_ptr_equal(arg, &t);
	t.told++;
	snprintf(t.colour, sizeof(t.colour), "%s", object ? colour : "-");
}

static bool lacks(void *arg)
{
	(void)arg;
	assert_string_not_equal(t.colour, "?"); /* no call before the state is known */
	return !t.idle && strcmp(t.colour, "red") != 0;
}

static char *make(void *arg, const char *version, struct err *err)
{
	(void)arg;
	if (t.cannot) {
		err_set(err, ERR_INVALID, "no paint");
		return NULL;
	}
	if (version)
		return mem_printf("{\"metadata\":{\"resourceVersion\":\"%s\"},\"spec\":{\"colour\":\"red\"}}", version);
	return mem_dup("{\"metadata\":{\"name\":\"g\"},\"spec\":{\"colour\":\"red\"}}");
}

static void on_written(void *arg, bool created)
{
	(void)arg;
	t.created += created;
	t.patched += !created;
}

static void on_change(void *arg)
{
	assert_ptr_equal(arg, &t);
	t.changes++;
}

static const struct keeper_policy policy = { on_object, lacks, make, on_written, on_change };
static const struct keeper_policy quiet = { .on_object = on_object,
	.lacks = lacks,
	.make = make,
	.on_written = on_written };

static void start_with(const struct keeper_policy *p)
{
	struct keeper_config config = {
		.collection = GADGETS,
		.name = "g",
		.title = "Gadget g",
		.without = "nothing shines",
		.brake_max_ms = t.brake_max_ms,
	};

	t.keeper = keeper_new(t.kube, &config, p, &t);
	assert_int_equal(t.told + t.changes, 0);
	assert_false(keeper_is_known(t.keeper));
}

static void start(void)
{
	start_with(&policy);
	fakeloop_advance(100);
}

static void on_log(void *arg, enum log_level level, const char *line)
{
	(void)arg;
	if (level != LOG_LEVEL_WARN)
		return;
	t.lines++;
	snprintf(t.line, sizeof(t.line), "%s", line);
}

static int set_up(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	strcpy(t.colour, "?");
	t.kube = fakecluster_start(fakeloop_start());
	log_set_sink(on_log, NULL);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	keeper_free(t.keeper);
	fakeloop_advance(1);
	log_set_sink(NULL, NULL);
	fakecluster_end();
	fakeloop_end();
	return 0;
}

static void gadget(const char *colour)
{
	MEM_AUTO char *text = mem_printf("{'spec':{'colour':'%s'}}", colour);

	fakecluster_apply(GADGET, text);
}

static void expect_colour(const char *colour)
{
	assert_string_equal(fakecluster_text(GADGET, "spec.colour"), colour);
}

/* ---- The object ---- */

static void creates_a_missing_object(void **state)
{
	(void)state;
	start();
	expect_colour("red");
	assert_string_equal(t.colour, "red");
	assert_int_equal(t.told, 2); /* its absence, and the answer; the echo is skipped */
	assert_int_equal(t.created, 1);
	assert_int_equal(fakecluster_writes(), 1);
	assert_true(keeper_is_known(t.keeper));
	assert_null(keeper_trouble(t.keeper));
	fakecluster_delete(GADGET);
	fakeloop_advance(100);
	expect_colour("red");
	assert_int_equal(t.created, 2);
	assert_int_equal(fakecluster_writes(), 2);
}

static void corrects_an_existing_object(void **state)
{
	(void)state;
	fakecluster_apply(GADGET, "{'spec':{'colour':'blue','size':3}}");
	start();
	expect_colour("red");
	assert_int_equal(fakecluster_number(GADGET, "spec.size"), 3);
	assert_int_equal(t.patched, 1);
	assert_int_equal(t.created, 0);
	/* The desired state is left alone. */
	fakecluster_change(GADGET, "{'metadata':{'labels':{'a':'b'}}}");
	fakeloop_advance(120000);
	assert_int_equal(fakecluster_writes(), 1);
}

static void a_new_wish_is_written(void **state)
{
	(void)state;
	t.idle = true;
	gadget("blue");
	start();
	assert_int_equal(fakecluster_writes(), 0);
	t.idle = false;
	keeper_look(t.keeper);
	keeper_look(t.keeper);
	fakeloop_advance(100);
	expect_colour("red");
	assert_int_equal(fakecluster_writes(), 1);
}

static void on_change_is_optional(void **state)
{
	(void)state;
	start_with(&quiet);
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_CREATE, GADGETS, 1, 500);
	fakeloop_advance(5000);
	expect_colour("red");
}

/* ---- Other writers ---- */

static void someone_else_creates_it(void)
{
	gadget("green");
}

static void a_faster_writer_is_read_first(void **state)
{
	(void)state;
	fakecluster_just_before(KUBE_CREATE, GADGETS, someone_else_creates_it);
	start();
	expect_colour("red");
	assert_int_equal(t.created, 0);
	assert_int_equal(t.patched, 1);
	assert_int_equal(t.lines, 0);
	assert_null(keeper_trouble(t.keeper));
}

static void the_answer_comes_before_older_events(void **state)
{
	(void)state;
	gadget("red");
	start();
	fakecluster_watch_lag(500);
	gadget("blue");
	fakeloop_advance(600); /* seen, and written over */
	expect_colour("red");
	assert_string_equal(t.colour, "red");
	t.told = 0;
	fakecluster_hold_watches(true);
	gadget("red"); /* the watch shows it late */
	fakecluster_change(GADGET, "{'spec':{'colour':'blue'}}");
	fakecluster_hold_watches(false);
	fakeloop_advance(3000);
	assert_string_equal(t.colour, "red");
	expect_colour("red");
	assert_null(keeper_trouble(t.keeper));
}

/* At most two seconds, if the policy says so. */
static void a_brake_may_be_short(void **state)
{
	(void)state;
	t.brake_max_ms = 2000;
	gadget("red");
	start();
	fakecluster_forget_calls();
	for (int i = 0; i < 600; i++) {
		gadget("blue");
		fakeloop_advance(100);
	}
	assert_in_range(fakecluster_writes(), 25, 65);
}

static void it_may_go_while_it_is_written(void **state)
{
	(void)state;
	gadget("red");
	start();
	t.idle = true;
	gadget("blue");
	fakeloop_advance(100);
	t.idle = false;
	fakecluster_answer_lag(1000);
	keeper_look(t.keeper);
	fakeloop_advance(500); /* written; its answer is on the way */
	t.idle = true;
	expect_colour("red");
	fakecluster_delete(GADGET);
	fakeloop_advance(100);
	assert_string_equal(t.colour, "-");
	fakeloop_advance(2000); /* the answer describes an earlier state */
	assert_string_equal(t.colour, "-");
	t.idle = false;
	keeper_look(t.keeper);
	fakeloop_advance(5000);
	expect_colour("red");
}

/* A tool that restores its own state is undone, but not at its pace. */
static void a_quarrel_is_not_fought_at_full_speed(void **state)
{
	(void)state;
	gadget("red");
	start();
	gadget("blue");
	fakeloop_advance(100);
	expect_colour("red");
	gadget("blue"); /* the first time is an accident */
	fakeloop_advance(100);
	expect_colour("red");
	fakecluster_forget_calls();
	for (int i = 0; i < 6000; i++) {
		gadget("blue");
		fakeloop_advance(100);
	}
	assert_in_range(fakecluster_writes(), 8, 25);
	/* Another thing is wanted: at once. */
	gadget("blue");
	fakeloop_advance(10);
	keeper_hurry(t.keeper);
	fakeloop_advance(10);
	expect_colour("red");
	/* A recreated object is not a revert. */
	fakecluster_delete(GADGET);
	fakeloop_advance(10);
	expect_colour("red");
	/* After a quiet while it is another matter. */
	fakeloop_advance(120000);
	gadget("blue");
	fakeloop_advance(10);
	expect_colour("red");
}

/* ---- Failures ---- */

static void a_failing_write_is_reported_once_and_retried_later(void **state)
{
	(void)state;
	gadget("blue");
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_MERGE_PATCH, GADGET, FAKECLUSTER_ANY, 403);
	start();
	for (int i = 0; i < 600; i++) {
		gadget("blue");
		fakeloop_advance(1000);
	}
	assert_in_range(fakecluster_calls(KUBE_MERGE_PATCH, GADGET), 8, 20);
	assert_int_equal(t.lines, 1);
	assert_non_null(strstr(t.line, "Gadget g: writing Gadget g: "));
	assert_non_null(strstr(t.line, ": nothing shines"));
	assert_non_null(strstr(keeper_trouble(t.keeper), "writing Gadget g: "));
	t.changes = 0;
	fakecluster_heal();
	fakeloop_advance(70000);
	expect_colour("red");
	assert_null(keeper_trouble(t.keeper));
	assert_true(t.changes > 0);
}

static void an_obsolete_error_is_dropped(void **state)
{
	(void)state;
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_CREATE, GADGETS, FAKECLUSTER_ANY, 500);
	start();
	assert_non_null(keeper_trouble(t.keeper));
	t.idle = true;
	keeper_look(t.keeper);
	assert_null(keeper_trouble(t.keeper));
	fakecluster_forget_calls();
	fakeloop_advance(120000);
	assert_int_equal(fakecluster_writes(), 0);
}

static void a_failed_make_is_retried(void **state)
{
	(void)state;
	t.cannot = true;
	start();
	fakeloop_advance(60000);
	assert_int_equal(fakecluster_writes(), 0);
	assert_string_equal(keeper_trouble(t.keeper), "writing Gadget g: no paint");
	assert_int_equal(t.lines, 1);
	t.cannot = false;
	fakeloop_advance(70000);
	expect_colour("red");
}

static void an_empty_answer_leaves_it_to_the_watch(void **state)
{
	(void)state;
	fakecluster_watch_lag(50);
	fakecluster_fail(FAKECLUSTER_EMPTY, KUBE_CREATE, GADGETS, 1, 0);
	start();
	fakeloop_advance(200);
	assert_string_equal(t.colour, "red");
	assert_null(keeper_trouble(t.keeper));
}

static void without_the_right_to_read_nothing_is_written(void **state)
{
	(void)state;
	fakecluster_trouble("gadgets", ERR_TEMPORARY, "away");
	start();
	assert_false(keeper_is_known(t.keeper));
	assert_string_equal(keeper_trouble(t.keeper), "Gadget g cannot be watched: away");
	fakecluster_trouble("gadgets", ERR_DENIED, "forbidden");
	fakecluster_relist("gadgets");
	fakeloop_advance(60000);
	assert_int_equal(fakecluster_writes(), 0);
	assert_int_equal(t.told, 0);
	fakecluster_trouble("gadgets", ERR_NONE, NULL);
	fakeloop_advance(5000);
	expect_colour("red");
	assert_null(keeper_trouble(t.keeper));
}

static void a_denied_state_counts_as_known(void **state)
{
	(void)state;
	fakecluster_trouble("gadgets", ERR_DENIED, "forbidden");
	start();
	assert_true(keeper_is_known(t.keeper));
	assert_string_equal(t.colour, "?");
	assert_true(t.changes > 0);
}

static void ends_in_the_midst(void **state)
{
	(void)state;
	fakecluster_answer_lag(1000);
	start();
	keeper_free(t.keeper); /* a call under way */
	t.keeper = NULL;
	fakeloop_advance(5000);
	assert_int_equal(fakecluster_watches("gadgets"), 0);
	keeper_free(NULL);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(creates_a_missing_object),
		T(corrects_an_existing_object),
		T(a_new_wish_is_written),
		T(on_change_is_optional),
		T(a_faster_writer_is_read_first),
		T(the_answer_comes_before_older_events),
		T(a_brake_may_be_short),
		T(it_may_go_while_it_is_written),
		T(a_quarrel_is_not_fought_at_full_speed),
		T(a_failing_write_is_reported_once_and_retried_later),
		T(an_obsolete_error_is_dropped),
		T(a_failed_make_is_retried),
		T(an_empty_answer_leaves_it_to_the_watch),
		T(without_the_right_to_read_nothing_is_written),
		T(a_denied_state_counts_as_known),
		T(ends_in_the_midst),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
