/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/scale.h"

#include "../crd/given.h"
#include "scale_letters.h"

struct told {
	const char *triggers;
	int32_t min, replicas;
	int64_t last_active;
	const char *text;
	const char *says;
	char composite;
	size_t resources;
	const char *cause; /* of the Event, when activated */
};

/* NOW is 2023-11-14T22:30:00Z. */
static const struct told sentences[] = {
	{ "iA", NONE, 0, 0, "scaling from 0 to 1: active by s1-redis-b 12 of 5", .cause = "triggered by s1-redis-b" },
	{ "AA", NONE, 4, 0, "the HPA scales: active by s0-redis-a 12 of 5, s1-redis-b 12 of 5", .cause = NULL },
	{ "A", NONE, 9, 0, "the HPA scales, at maxReplicaCount 9: active by s0-redis-a 12 of 5", .cause = NULL },
	{ "AE", NONE, 4, 0,
		"the HPA scales: active by s0-redis-a 12 of 5; failing: s1-redis-b (connecting to 10.0.0.7:6379: timed "
		"out)",
		.cause = NULL },
	{ "iE", NONE, 4, 0,
		"held at 4: no trigger is active, but failing: s1-redis-b (connecting to 10.0.0.7:6379: timed out)",
		.cause = NULL },
	{ "", NONE, 4, 0, "held at 4: no trigger could be asked", .cause = NULL },
	{ "i", NONE, 4, NOW, "cooling down until 22:35:00: no trigger is active (s0-redis-a 0 of 5)", .cause = NULL },
	{ "i", NONE, 4, 0,
		"in the initial cooldown until 2023-11-15T00:13:20Z: no trigger is active (s0-redis-a 0 of 5)",
		.cause = NULL },
	{ "i", NONE, 4, T,
		"scaling from 4 to 0: no trigger is active (s0-redis-a 0 of 5) and the cooldown of 300 s is over",
		.cause = NULL },
	{ "i", 2, 1, T, "scaling from 1 to 2: fewer than minReplicaCount, and no trigger is active (s0-redis-a 0 of 5)",
		.cause = "triggered by " },
	{ "iE", 2, 0, T,
		"scaling from 0 to 2: fewer than minReplicaCount, and no trigger is active (s0-redis-a 0 of 5); "
		"failing: s1-redis-b (connecting to 10.0.0.7:6379: timed out)",
		.cause = NULL },
	{ "", 2, 0, T, "scaling from 0 to 2: fewer than minReplicaCount, and no trigger could be asked",
		.cause = NULL },
	{ "i", NONE, 0, T, "at rest with 0: no trigger is active (s0-redis-a 0 of 5)", .cause = NULL },
	{ "i", NONE, -1, T, "the replicas of the target cannot be read", .cause = NULL },
	{ "AAAAAAA", NONE, 4, 0,
		"the HPA scales: active by s0-redis-a 12 of 5, s1-redis-b 12 of 5, s2-redis-c 12 of 5, s3-redis-d 12 "
		"of 5, s4-redis-e 12 of 5 and 2 more",
		.cause = NULL },
	/* annotations */
	{ "A", NONE, 4, T, "paused by annotation autoscaling.keda.sh/paused", "P", .cause = NULL },
	{ "A", NONE, 5, T, "paused at 5 replicas by annotation autoscaling.keda.sh/paused-replicas", "P5",
		.cause = NULL },
	{ "A", NONE, 1, T, "paused at 1 replica by annotation autoscaling.keda.sh/paused-replicas", "P1",
		.cause = NULL },
	{ "A", NONE, 3, T, "scaling from 3 to 5: paused at these by annotation autoscaling.keda.sh/paused-replicas",
		"P5", .cause = "" },
	{ "i", NONE, 4, T,
		"held at 4 by annotation autoscaling.keda.sh/paused-scale-in: no trigger is active (s0-redis-a 0 of 5)",
		"I", .cause = NULL },
	{ "A", NONE, 0, T, "held at 0 by annotation autoscaling.keda.sh/paused-scale-out: active by s0-redis-a 12 of 5",
		"O", .cause = NULL },
	{ "i", 2, 1, T,
		"held at 1 by annotation autoscaling.keda.sh/paused-scale-out: fewer than minReplicaCount, and no "
		"trigger is active (s0-redis-a 0 of 5)",
		"O", .cause = NULL },
	{ "i", NONE, 0, T, "scaling from 0 to 1: active by annotation autoscaling.keda.sh/force-activation", "f",
		.cause = "caused by forced activation annotation" },
	{ "A", NONE, 0, T, "scaling from 0 to 1: active by annotation autoscaling.keda.sh/force-activation", "f",
		.cause = "caused by forced activation annotation" },
	{ "E", NONE, 4, T,
		"the HPA scales: active by annotation autoscaling.keda.sh/force-activation; failing: s0-redis-a "
		"(connecting to 10.0.0.7:6379: timed out)",
		"f", .cause = NULL },
	/* fallback */
	{ "F", NONE, 4, T,
		"the HPA scales: active by fallback; s0-redis-a falls back to 5 replicas after 4 failures: connecting "
		"to 10.0.0.7:6379: timed out",
		.cause = NULL },
	{ "F", NONE, 0, T,
		"scaling from 0 to 1: active by fallback; s0-redis-a falls back to 5 replicas after 4 failures: "
		"connecting to 10.0.0.7:6379: timed out",
		.cause = "triggered by s0-redis-a" },
	{ "AF", NONE, 4, T,
		"the HPA scales: active by s0-redis-a 12 of 5; s1-redis-b falls back to 5 replicas after 4 failures: "
		"connecting to 10.0.0.7:6379: timed out",
		.cause = NULL },
	{ "Z", NONE, 4, T,
		"scaling from 4 to 0: no trigger is active and the cooldown of 300 s is over; s0-redis-a falls back to "
		"0 replicas after 4 failures: connecting to 10.0.0.7:6379: timed out",
		.cause = NULL },
	{ "iZ", NONE, 0, T,
		"at rest with 0: no trigger is active (s0-redis-a 0 of 5); s1-redis-b falls back to 0 replicas after 4 "
		"failures: connecting to 10.0.0.7:6379: timed out",
		.cause = NULL },
	/* composite */
	{ "ii", NONE, 0, T, "scaling from 0 to 1: active by composite-metric 12 of 2.5 (active above 3)", NULL, 'A',
		.cause = "triggered by composite-metric" },
	{ "AA", NONE, 0, T, "at rest with 0: no trigger is active (composite-metric 0 of 2.5 (active above 3))", NULL,
		'i', .cause = NULL },
	{ "AA", NONE, 4, T,
		"held at 4: no trigger is active, but failing: spec.advanced.scalingModifiers.formula: it does not "
		"work",
		NULL, 'E', .cause = NULL },
	{ "AA", NONE, 4, T,
		"the HPA scales: active by annotation autoscaling.keda.sh/force-activation; failing: "
		"spec.advanced.scalingModifiers.formula: it does not work",
		"f", 'E', .cause = NULL },
	{ "iF", NONE, 4, T,
		"the HPA scales: active by composite-metric 25 of 2.5 by fallback; s1-redis-b falls back to 5 replicas "
		"after 4 failures: connecting to 10.0.0.7:6379: timed out",
		NULL, 'F', .cause = NULL },
	/* cpu and memory */
	{ "", NONE, 4, T, "the HPA scales: active by cpu and memory triggers alone, which always are", NULL, '\0', 2,
		.cause = NULL },
	{ "", NONE, 0, T, "scaling from 0 to 1: active by cpu and memory triggers alone, which always are", NULL, '\0',
		1, "triggered by cpu and memory triggers alone, which are always active" },
};

static void test_explain(void **state)
{
	uint64_t marks[sizeof(sentences) / sizeof(sentences[0])];
	struct scaling_modifiers modifiers = { .formula = (char[]){ "a" },
		.target = (char[]){ "2.5" },
		.activation_target = (char[]){ "3" } };

	(void)state;
	for (size_t i = 0; i < sizeof(sentences) / sizeof(sentences[0]); i++) {
		const struct told *t = &sentences[i];
		struct scale_row r = { .min = t->min, .idle = NONE, .cooldown_s = NONE, .initial_s = 7200 };
		struct scaledobject_spec spec = row_spec(&r);
		struct verdict_trigger triggers[TRIGGERS_MAX];
		struct annotations says = lettered_annotations(t->says);
		struct composite composite = lettered_composite(t->composite != '\0' ? t->composite : 'i');
		struct scale_facts facts = {
			.spec = &spec,
			.created_unix_ms = T,
			.now_unix_ms = NOW,
			.triggers = triggers,
			.trigger_count = lettered_triggers(t->triggers, triggers),
			.annotations = &says,
			.composite = t->composite != '\0' ? &composite : NULL,
			.resource_count = t->resources,
			.replicas_known = t->replicas >= 0,
			.replicas = t->replicas,
			.last_active_unix_ms = t->last_active,
		};
		struct scale_decision d;
		char text[512];

		spec.max_replicas = 9;
		spec.modifiers = t->composite != '\0' ? &modifiers : NULL;
		d = scale_decide(&facts);
		assert_ptr_equal(scale_explain(&facts, &d, text, sizeof(text)), text);
		assert_string_equal(text, t->text);
		if (d.act && d.rule == SCALE_RULE_ACTIVATE)
			assert_string_equal(scale_cause(&facts, &d, text, sizeof(text)), t->cause);
		marks[i] = scale_mark(&facts, &d);
		assert_true(scale_mark(&facts, &d) == marks[i]);
		for (size_t j = 0; j < i; j++)
			assert_true(strcmp(sentences[j].text, t->text) == 0 || marks[j] != marks[i]);
	}
}

/* Each fact in the sentence changes the mark, time alone does not. */
static void test_mark(void **state)
{
	struct scaledobject_spec spec = { .min_replicas = NONE,
		.idle_replicas = NONE,
		.cooldown_s = NONE,
		.initial_cooldown_s = NONE,
		.max_replicas = NONE };
	struct err other = { .kind = ERR_TEMPORARY, .msg = "refused" };
	struct verdict_trigger triggers[TRIGGERS_MAX];
	struct composite composite = lettered_composite('A');
	struct annotations says = { .paused_replicas = INT32_UNSET };
	struct scale_facts facts = { .spec = &spec,
		.now_unix_ms = NOW,
		.annotations = &says,
		.triggers = triggers,
		.trigger_count = lettered_triggers("AE", triggers),
		.composite = &composite,
		.replicas_known = true,
		.replicas = 1 };
	struct scale_decision d = scale_decide(&facts), later;
	uint64_t mark = scale_mark(&facts, &d);

	(void)state;
	facts.now_unix_ms += 5000;
	later = scale_decide(&facts);
	assert_true(later.last_active_unix_ms != d.last_active_unix_ms);
	assert_true(scale_mark(&facts, &later) == mark);
#define MOVES(lvalue, value)                                                                                           \
	do {                                                                                                           \
		__typeof__(lvalue) was = (lvalue);                                                                     \
		(lvalue) = (value);                                                                                    \
		assert_true(scale_mark(&facts, &d) != mark);                                                           \
		(lvalue) = was;                                                                                        \
		assert_true(scale_mark(&facts, &d) == mark);                                                           \
	} while (0)
	MOVES(d.rule, SCALE_RULE_INACTIVE);
	MOVES(d.act, !d.act);
	MOVES(d.replicas, d.replicas + 1);
	MOVES(d.active, !d.active);
	MOVES(d.forced, !d.forced);
	MOVES(d.failing, !d.failing);
	MOVES(d.last_active_unix_ms, 0);
	MOVES(d.until_unix_ms, NOW + 1);
	MOVES(d.trigger, d.trigger + 1);
	MOVES(spec.max_replicas, 7);
	MOVES(spec.cooldown_s, 7);
	MOVES(says.paused_replicas, 7);
	MOVES(facts.replicas, 7);
	MOVES(facts.resource_count, 1);
	MOVES(facts.trigger_count, 1);
	MOVES(facts.unbuilt, &other);
	MOVES(facts.composite, NULL);
	MOVES(composite.value, 7);
	MOVES(composite.active, !composite.active);
	MOVES(composite.failing, !composite.failing);
	MOVES(composite.falling_back, !composite.falling_back);
	MOVES(triggers[0].metric_name, "s0-redis-other");
	MOVES(triggers[0].reading.value, 7);
	MOVES(triggers[0].reading.active, false);
	MOVES(triggers[0].metric.target.milli, 7);
	MOVES(triggers[0].activation, 7);
	MOVES(triggers[0].failures, 7);
	MOVES(triggers[0].falling_back, true);
	MOVES(triggers[0].fallback_replicas, 7);
	MOVES(triggers[1].err, &other);
	MOVES(triggers[0].source_err, &other);
	MOVES(triggers[1].fallback_trouble, "no pod of the target is ready");
#undef MOVES
	d.until_unix_ms = NOW + 1;
	mark = scale_mark(&facts, &d);
	facts.now_unix_ms += 24 * 3600 * 1000;
	assert_true(scale_mark(&facts, &d) != mark); /* the time includes its day */
}

/* The reason why no trigger is asked is part of the decision's text. */
static void test_explain_unbuilt(void **state)
{
	struct scaledobject_spec spec = { .min_replicas = 2,
		.idle_replicas = NONE,
		.cooldown_s = NONE,
		.initial_cooldown_s = NONE,
		.max_replicas = NONE };
	struct err err = { .kind = ERR_INVALID, .msg = "trigger 0 (redis): Secret shop/pw does not exist" };
	struct annotations says = { .paused_replicas = INT32_UNSET };
	struct scale_facts facts = { .spec = &spec,
		.now_unix_ms = NOW,
		.annotations = &says,
		.unbuilt = &err,
		.replicas_known = true };
	static const struct {
		int32_t replicas;
		bool forced;
		const char *text;
	} cases[] = {
		{ 0, false,
			"scaling from 0 to 2: fewer than minReplicaCount, and no trigger could be asked: trigger 0 "
			"(redis): Secret shop/pw does not exist" },
		{ 2, false, "held at 2: no trigger could be asked: trigger 0 (redis): Secret shop/pw does not exist" },
		{ 2, true,
			"the HPA scales: active by annotation autoscaling.keda.sh/force-activation; failing: trigger 0 "
			"(redis): Secret shop/pw does not exist" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scale_decision d;
		char text[512];

		facts.replicas = cases[i].replicas;
		says.force_active = cases[i].forced;
		d = scale_decide(&facts);
		assert_string_equal(scale_explain(&facts, &d, text, sizeof(text)), cases[i].text);
	}
}

/* A trigger's own activation, why it has no fallback, and nil in a formula. */
static void test_explain_details(void **state)
{
	struct scaledobject_spec spec = { .min_replicas = NONE,
		.idle_replicas = NONE,
		.cooldown_s = NONE,
		.initial_cooldown_s = NONE,
		.max_replicas = NONE };
	struct verdict_trigger triggers[TRIGGERS_MAX];
	struct composite composite = lettered_composite('A');
	struct scale_facts facts = { .spec = &spec,
		.now_unix_ms = NOW,
		.triggers = triggers,
		.trigger_count = lettered_triggers("iE", triggers),
		.replicas_known = true,
		.replicas = 1 };
	struct scale_decision d;
	char text[512];

	(void)state;
	triggers[0].activation = 2.5;
	triggers[1].fallback_trouble = "no pod of the target is ready";
	d = scale_decide(&facts);
	assert_string_equal(scale_explain(&facts, &d, text, sizeof(text)),
		"held at 1: no trigger is active, but failing: s1-redis-b (connecting to 10.0.0.7:6379: timed out; no "
		"fallback: no pod of the target is ready)");
	facts.trigger_count = 1;
	facts.replicas = 0;
	d = scale_decide(&facts);
	assert_string_equal(scale_explain(&facts, &d, text, sizeof(text)),
		"at rest with 0: no trigger is active (s0-redis-a 0 of 5 (active above 2.5))");
	facts.trigger_count = lettered_triggers("F", triggers);
	triggers[0].fallback_replicas = -1;
	facts.composite = &composite;
	facts.replicas = 3;
	d = scale_decide(&facts);
	assert_string_equal(scale_explain(&facts, &d, text, sizeof(text)),
		"the HPA scales: active by composite-metric 12; s0-redis-a is nil in the formula after 4 failures: "
		"connecting to 10.0.0.7:6379: timed out");
}

/* However little room there is, the text ends with a whole character. */
static void test_explain_cut(void **state)
{
	struct scaledobject_spec spec = { .min_replicas = NONE,
		.idle_replicas = NONE,
		.cooldown_s = NONE,
		.initial_cooldown_s = NONE };
	struct verdict_trigger trigger = { .metric_name = "s0-\xC3\xA4\xE2\x82\xAC\xF0\x9F\x90\x98",
		.reading = { 1, true } };
	struct scale_facts facts = { .spec = &spec,
		.now_unix_ms = NOW,
		.triggers = &trigger,
		.trigger_count = 1,
		.replicas_known = true,
		.replicas = 1 };
	struct scale_decision d = scale_decide(&facts);
	char whole[100], text[100];

	(void)state;
	scale_explain(&facts, &d, whole, sizeof(whole));
	for (size_t size = 1; size <= strlen(whole) + 1; size++) {
		size_t len;

		memset(text, 'x', sizeof(text));
		scale_explain(&facts, &d, text, size);
		len = strlen(text);
		assert_true(len < size && len + 4 > size - 1);
		assert_memory_equal(text, whole, len);
		assert_false(((unsigned char)whole[len] & 0xC0) == 0x80);
	}
	assert_string_equal(text, whole);
}

static void test_active_names(void **state)
{
	struct verdict_trigger triggers[TRIGGERS_MAX];
	struct scale_facts facts = { .triggers = triggers, .trigger_count = lettered_triggers("AiEA", triggers) };
	struct scale_decision d = { .active = true };
	char text[64];

	(void)state;
	assert_string_equal(scale_cause(&facts, &d, text, sizeof(text)), "triggered by s0-redis-a;s3-redis-d");
	assert_string_equal(scale_cause(&facts, &d, text, 26), "triggered by s0-redis-a;s");
	facts.trigger_count = lettered_triggers("iE", triggers);
	assert_string_equal(scale_cause(&facts, &d, text, sizeof(text)), "triggered by ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_explain),
		cmocka_unit_test(test_explain_unbuilt),
		cmocka_unit_test(test_explain_details),
		cmocka_unit_test(test_mark),
		cmocka_unit_test(test_explain_cut),
		cmocka_unit_test(test_active_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
