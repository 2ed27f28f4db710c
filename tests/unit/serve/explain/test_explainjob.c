/* SPDX-License-Identifier: Apache-2.0 */
/* The explanation of ScaledJobs, alone and together with a ScaledObject. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "explained.h"

#define TEMPLATE "'jobTargetRef':{'template':{'spec':{'containers':[{'name':'c','image':'i'}]}}}"
#define NAMED(name, meta, spec, status)                                                                                \
	"{'metadata':{'namespace':'shop','name':'" name                                                                \
	"','generation':3,'creationTimestamp':'2026-01-02T03:04:05Z'" meta "},'spec':{" TEMPLATE                       \
	",'triggers':[{'type':'redis','metadata':{}}]" spec "},'status':{" status "}}"
#define DRAIN(meta, spec, status) NAMED("drain", meta, spec, status)

static json_t *explained(void)
{
	return ask_explanation(JOBS "/drain");
}

static void lead(void)
{
	room.cache->cache.leadership.leading = true;
	strcpy(room.cache->cache.leadership.holder, "pod-1");
}

static void the_whole(void **state)
{
	char text[] = "creates 3 Jobs: 10 waiting", before[] = "creates no Job", who[] = "kscaled",
	     why[] = "10 waiting";
	struct journal_decision decisions[] = { { 1767323000000, "inactive", 0, before },
		{ 1767323050000, "create", 3, text } };
	struct journal_change changes[] = { { 1767323001000, 0, 2, who, why }, { 1767323050000, 2, 5, who, why } };
	struct journal_object journal = {
		.decided = true,
		.decided_at_unix_ms = 1767323050000,
		.text = text,
		.decision = { .rule = "create", .act = true, .replicas = 3, .active = true },
		.decisions = decisions,
		.decision_count = 2,
		.changes = changes,
		.change_count = 2,
	};
	struct scaledjob *sj = given_job(DRAIN("",
		",'minReplicaCount':2,'maxReplicaCount':10,'scalingStrategy':{'strategy':'accurate','"
		"multipleScalersCalculation':'sum'}",
		"'conditions':[" CONDITION("Ready", "True", "ScaledJobReady", "fine") "," CONDITION("Active", "True",
			"ScalerActive", "busy") "],'triggersTypes':'redis'"));
	json_t *o;

	(void)state;
	lead();
	room.cache->job_journal = &journal;
	room.cache->tally = (struct jobs_tally){ .running = 5, .complete = 7, .failed = 1 };
	room.cache->memory = FAKE_ANSWER;
	room.cache->value = 10;
	o = explained();
	expect_text(o, "leader.holder", "pod-1");
	expect_text(o, "kind", "ScaledJob");
	expect_text(o, "namespace", "shop");
	expect_text(o, "name", "drain");
	expect_int(o, "min", 2);
	expect_int(o, "max", 10);
	expect_text(o, "strategy", "accurate");
	expect_text(o, "calculation", "sum");
	assert_true(json_is_false(at(o, "paused")));
	expect_text(o, "ready", "True");
	expect_text(o, "active", "True");
	expect_text(o, "triggersTypes", "redis");
	expect_int(o, "jobs.running", 5);
	expect_int(o, "jobs.complete", 7);
	expect_int(o, "jobs.failed", 1);
	assert_true(json_is_true(at(o, "jobs.known")));
	assert_true(has(o, "jobs.trouble") && !at(o, "jobs.trouble"));
	expect_text(o, "rule", "create");
	expect_text(o, "reason", "creates 3 Jobs: 10 waiting");
	expect_text(o, "created", "2026-01-02T03:04:05.000Z");
	expect_int(o, "generation", 3);
	assert_true(has(o, "trouble") && !at(o, "trouble"));
	expect_text(o, "triggers.0.metric", "s0-redis-jobs");
	expect_text(o, "triggers.0.target", "5");
	assert_true(json_number_value(at(o, "triggers.0.value")) == 10);
	assert_true(json_is_true(at(o, "triggers.0.active")));
	expect_text(o, "triggers.0.push.state", "off");
	expect_text(o, "decision.rule", "create");
	expect_text(o, "decision.text", "creates 3 Jobs: 10 waiting");
	expect_int(o, "decision.create", 3);
	assert_true(json_is_true(at(o, "decision.active")));
	assert_true(json_is_false(at(o, "decision.failing")));
	expect_text(o, "decision.decidedAt", "2026-01-02T03:04:10.000Z");
	expect_text(o, "conditions.0.message", "fine");
	expect_int(o, "changes.0.from", 2);
	expect_int(o, "changes.0.to", 5);
	expect_text(o, "changes.1.who", "kscaled");
	expect_text(o, "changes.1.why", "10 waiting");
	expect_text(o, "decisions.0.rule", "create");
	expect_int(o, "decisions.0.create", 3);
	expect_text(o, "decisions.1.text", "creates no Job");
	assert_int_equal(room.cache->asked, 0); /* no source */
	json_decref(o);
	scaledjob_free(sj);
}

/* Members of a ScaledObject only are absent, so that they are not taken for unknown. */
static void members_it_lacks_are_left_out(void **state)
{
	static const char *const absent[] = { "target", "idle", "pausing", "forced", "fallback", "hpa", "composite",
		"decision.replicas", "decision.forced", "decision.until", "triggers.0.fallingBack",
		"triggers.0.noFallback", "decisions.0.replicas" };
	char text[] = "creates no Job";
	struct journal_decision decisions[] = { { 1767323000000, "inactive", 0, text } };
	struct journal_object journal = { .decided = true,
		.decided_at_unix_ms = 1767323050000,
		.text = text,
		.decision = { .rule = "inactive" },
		.decisions = decisions,
		.decision_count = 1 };
	struct scaledjob *sj = given_job(DRAIN("", "", ""));
	json_t *o;

	(void)state;
	lead();
	room.cache->job_journal = &journal;
	o = explained();
	assert_true(has(o, "decision.create") && has(o, "triggers.0.failures") && has(o, "decisions.0.create"));
	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
		if (has(o, absent[i]))
			fail_msg("%s", absent[i]);
	json_decref(o);
	scaledjob_free(sj);
}

static void numbers_and_words_have_their_defaults(void **state)
{
	static const struct {
		const char *spec;
		int min, max;
		const char *strategy, *calculation;
	} cases[] = {
		{ "", 0, 100, "default", "max" },
		{ ",'minReplicaCount':5", 5, 105, "default", "max" },
		{ ",'minReplicaCount':5,'maxReplicaCount':8", 5, 8, "default", "max" },
		/* KEDA's clamps: the minimum is 8, and 8 beyond it */
		{ ",'minReplicaCount':9,'maxReplicaCount':8", 8, 16, "default", "max" },
		{ ",'maxReplicaCount':0", 0, 0, "default", "max" },
		{ ",'scalingStrategy':{'strategy':'eager'}", 0, 100, "eager", "max" },
		{ ",'scalingStrategy':{'strategy':'','multipleScalersCalculation':'avg'}", 0, 100, "default", "avg" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		MEM_AUTO char *text = mem_printf("{'metadata':{'namespace':'shop','name':'drain'},'spec':{" TEMPLATE
						 ",'triggers':[]%s}}",
			cases[i].spec);
		struct scaledjob *sj = given_job(text);
		json_t *o = explained();

		expect_int(o, "min", cases[i].min);
		expect_int(o, "max", cases[i].max);
		expect_text(o, "strategy", cases[i].strategy);
		expect_text(o, "calculation", cases[i].calculation);
		assert_true(has(o, "ready") && !at(o, "ready"));
		assert_true(has(o, "reason") && !at(o, "reason"));
		json_decref(o);
		scaledjob_free(sj);
	}
}

/* It watches no Jobs, and its decisions as a leader are history. */
static void a_standby_explains_what_it_knows(void **state)
{
	char text[] = "creates 3 Jobs: 10 waiting";
	struct journal_decision decisions[] = { { 1767323050000, "create", 3, text } };
	struct journal_object journal = { .decided = true,
		.decision = { .rule = "create", .replicas = 3 },
		.text = text,
		.decisions = decisions,
		.decision_count = 1 };
	struct scaledjob *sj = given_job(DRAIN("", "",
		"'conditions':[" CONDITION("Ready", "True", "ScaledJobReady", "fine") "," CONDITION("Active", "False",
			"ScalerNotActive", "nothing to do") "]"));
	json_t *o;

	(void)state;
	strcpy(room.cache->cache.leadership.holder, "pod-1");
	strcpy(room.cache->cache.leadership.why_not, "pod-1 holds the Lease");
	room.cache->job_journal = &journal;
	room.cache->memory = FAKE_ANSWER;
	room.cache->value = 4;
	o = explained();
	expect_text(o, "leader.whyNot", "pod-1 holds the Lease");
	assert_true(has(o, "jobs") && !at(o, "jobs"));
	assert_int_equal(room.cache->jobs_looked_at, 0);
	assert_true(has(o, "rule") && !at(o, "rule"));
	assert_true(has(o, "decision") && !at(o, "decision"));
	expect_text(o, "reason", "nothing to do");
	expect_text(o, "decisions.0.rule", "create");
	assert_true(json_number_value(at(o, "triggers.0.value")) == 4);
	json_decref(o);
	o = room_body(ask(JOBS));
	assert_true(has(o, "items.0.summary.jobs") && !at(o, "items.0.summary.jobs"));
	json_decref(o);
	scaledjob_free(sj);
}

static void jobs_that_are_not_known_are_not_none(void **state)
{
	struct scaledjob *sj = given_job(DRAIN("", "", ""));
	json_t *o;

	(void)state;
	lead();
	room.cache->jobs_unknown = true;
	o = explained();
	assert_true(has(o, "jobs.running") && !at(o, "jobs.running"));
	assert_true(has(o, "jobs.complete") && !at(o, "jobs.complete"));
	assert_true(has(o, "jobs.failed") && !at(o, "jobs.failed"));
	assert_true(json_is_false(at(o, "jobs.known")));
	assert_null(at(o, "jobs.trouble"));
	json_decref(o);
	room.cache->jobs_trouble = "jobs.batch is forbidden";
	o = explained();
	expect_text(o, "jobs.trouble", "jobs.batch is forbidden");
	json_decref(o);
	scaledjob_free(sj);
}

static void errors_go_first(void **state)
{
	static const struct {
		const char *meta, *ready, *reason;
		bool decided, paused;
	} cases[] = {
		{ "", CONDITION("Ready", "False", "ScaledJobCheckFailed", "listName is missing"), "listName is missing",
			true, false },
		{ "", CONDITION("Ready", "False", "ScaledObjectCheckFailed", "not its word"), "creates no Job", true,
			false },
		/* the sentence mentions it, too */
		{ "", CONDITION("Ready", "False", "KEDAJobCreateFailed", "quota"), "creates no Job", true, false },
		{ "", CONDITION("Ready", "False", "KEDAJobCreateFailed", "quota"), "quota", false, false },
		{ "", CONDITION("Ready", "True", "ScaledJobReady", "fine"), NULL, false, false },
		{ ",'annotations':{'autoscaling.keda.sh/paused':'true'}",
			CONDITION("Ready", "True", "ScaledJobReady", "fine"), "paused", false, true },
		{ ",'annotations':{'autoscaling.keda.sh/paused':'true'}",
			CONDITION("Ready", "False", "ScaledJobCheckFailed", "listName is missing"),
			"listName is missing", false, true },
		{ ",'annotations':{'autoscaling.keda.sh/paused':'false'}",
			CONDITION("Ready", "Unknown", "Unknown", "first sight"), "first sight", false, false },
		{ ",'annotations':{'autoscaling.keda.sh/paused':'perhaps'}",
			CONDITION("Ready", "False", "ScaledJobCheckFailed", "perhaps is neither"), "perhaps is neither",
			false, false },
		/* for ScaledObjects only */
		{ ",'annotations':{'autoscaling.keda.sh/paused-replicas':'3'}",
			CONDITION("Ready", "True", "ScaledJobReady", "fine"), NULL, false, false },
	};
	char text[] = "creates no Job";
	struct journal_object journal = { .decided = true,
		.decided_at_unix_ms = 1767323050000,
		.text = text,
		.decision = { .rule = "inactive" } };

	(void)state;
	lead();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		MEM_AUTO char *given_text =
			mem_printf("{'metadata':{'namespace':'shop','name':'drain'%s},'spec':{" TEMPLATE
				   ",'triggers':[]},'status':{'conditions':[%s]}}",
				cases[i].meta, cases[i].ready);
		struct scaledjob *sj = given_job(given_text);
		json_t *o;

		room.cache->job_journal = cases[i].decided ? &journal : NULL;
		o = explained();
		if (cases[i].reason)
			expect_text(o, "reason", cases[i].reason);
		else
			assert_null(at(o, "reason"));
		assert_int_equal(json_is_true(at(o, "paused")), cases[i].paused);
		json_decref(o);
		scaledjob_free(sj);
	}
}

static void triggers_that_fail_or_cannot_be_built(void **state)
{
	struct scaledjob *sj = given_job(DRAIN("", "", ""));
	json_t *o;

	(void)state;
	room.cache->memory = FAKE_FAILURE;
	room.cache->failures = 4;
	o = explained();
	expect_text(o, "triggers.0.error", "redis 192.0.2.1:6379: connection refused");
	expect_int(o, "triggers.0.failures", 4);
	assert_null(at(o, "triggers.0.value"));
	json_decref(o);
	room.cache->build_error = ERR_INVALID;
	o = explained();
	expect_text(o, "trouble", "trigger 0 (redis): listName is missing");
	assert_int_equal(json_array_size(at(o, "triggers")), 0);
	json_decref(o);
	scaledjob_free(sj);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, room_set_up, room_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_whole),
		TEST(members_it_lacks_are_left_out),
		TEST(numbers_and_words_have_their_defaults),
		TEST(a_standby_explains_what_it_knows),
		TEST(jobs_that_are_not_known_are_not_none),
		TEST(errors_go_first),
		TEST(triggers_that_fail_or_cannot_be_built),
	};

	return cmocka_run_group_tests_name("serve/explain/explainjob", tests, NULL, NULL);
}
