/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/verdict.h"

#include <math.h>

#include "../crd/given.h"

#define TRIGGERS_MAX 3
#define UNKNOWN      (-1)

static const struct err refused = { .kind = ERR_TEMPORARY, .msg = "connection refused" };

static const char *const metric_names[TRIGGERS_MAX] = { "s0-redis-a", "s1-redis-b", "s2-redis-c" };
static const char *const trigger_names[TRIGGERS_MAX] = { "a", "b", "c" };

/* The input of a case: fields of spec, and for each trigger "value" or "!failures". */
struct given {
	struct scaledobject *so;
	struct formula *formula;
	struct verdict_trigger triggers[TRIGGERS_MAX];
	struct verdict_facts facts;
	struct composite composite;
};

static void parse_triggers(const char *texts, struct given *g)
{
	char *copy = mem_dup(texts), *rest = copy, *piece;

	while ((piece = strsep(&rest, " ")) != NULL) {
		size_t i = g->facts.count++;
		struct verdict_trigger *t = &g->triggers[i];

		*t = (struct verdict_trigger){ .metric_name = metric_names[i],
			.trigger_name = trigger_names[i],
			.metric = { .name = metric_names[i], .target = { 5000, QUANTITY_DECIMAL_SI } } };
		if (*piece == '!') {
			t->failures = atoi(piece + 1);
			t->source_err = &refused;
			t->reading = (struct reading){ 99, true }; /* left over: must not count */
		} else {
			t->reading.value = atof(piece);
			t->reading.active = t->reading.value > 0;
		}
	}
	free(copy);
}

/* ready: pods, replicas: the target's; UNKNOWN each. */
static struct given *given(const char *spec, const char *triggers, int32_t replicas, int32_t ready)
{
	struct given *g = mem_zalloc(sizeof(*g));
	char *text = mem_printf("{'metadata':{'name':'web'},'spec':{" GIVEN_TARGET "," GIVEN_TRIGGERS "%s}}", spec);

	g->so = given_scaledobject(text);
	if (g->so->spec_err)
		fail_msg("%s", g->so->spec_err->msg);
	free(text);
	parse_triggers(triggers, g);
	g->facts.spec = &g->so->spec;
	g->facts.triggers = g->triggers;
	g->facts.replicas_known = replicas != UNKNOWN;
	g->facts.replicas = replicas != UNKNOWN ? replicas : 0;
	g->facts.ready_replicas = ready;
	if (g->so->spec.modifiers != NULL && g->so->spec.modifiers->formula != NULL) {
		struct err err = { 0 };

		g->formula = formula_compile(g->so->spec.modifiers->formula, trigger_names, g->facts.count, &err);
		if (g->formula == NULL)
			fail_msg("%s: %s", g->so->spec.modifiers->formula, err.msg);
		g->facts.formula = g->formula;
	}
	return g;
}

static void given_free(struct given *g)
{
	formula_free(g->formula);
	scaledobject_free(g->so);
	free(g);
}

#define FALLBACK(replicas, behavior)                                                                                   \
	",'fallback':{'failureThreshold':3,'replicas':" #replicas ",'behavior':'" behavior "'}"

/* ---- Fallback of single triggers ---- */

static void test_fallback(void **state)
{
	static const struct {
		const char *spec, *trigger;
		int32_t replicas, ready;
		enum metric_target_type type;
		/* expected; trouble NULL and !falling_back: as from the source */
		bool falling_back;
		double value;
		bool active;
		double stands_for;
		const char *trouble;
	} cases[] = {
		/* none, or not yet: failures must exceed the threshold */
		{ "", "!9", 7, 7, METRIC_AVERAGE_VALUE, false, 0, false, 0, NULL },
		{ FALLBACK(6, "static"), "4", 7, 7, METRIC_AVERAGE_VALUE, false, 4, true, 0, NULL },
		{ FALLBACK(6, "static"), "!3", 7, 7, METRIC_AVERAGE_VALUE, false, 0, false, 0, NULL },
		{ FALLBACK(6, "static"), "!4", 7, 7, METRIC_AVERAGE_VALUE, true, 30, true, 6, NULL },
		{ ",'fallback':{'failureThreshold':0,'replicas':6}", "!1", 7, 7, METRIC_AVERAGE_VALUE, true, 30, true,
			6, NULL },
		{ ",'fallback':{'failureThreshold':0,'replicas':6,'behavior':''}", "!1", UNKNOWN, UNKNOWN,
			METRIC_AVERAGE_VALUE, true, 30, true, 6, NULL },
		/* the zero that the user wrote, and none else */
		{ FALLBACK(0, "static"), "!4", 7, 7, METRIC_AVERAGE_VALUE, true, 0, false, 0, NULL },
		{ FALLBACK(0, "currentReplicasIfLower"), "!4", 7, 7, METRIC_AVERAGE_VALUE, true, 0, false, 0, NULL },
		{ FALLBACK(0, "currentReplicasIfHigher"), "!4", 0, 0, METRIC_AVERAGE_VALUE, true, 0, false, 0, NULL },
		{ FALLBACK(6, "currentReplicas"), "!4", 0, 0, METRIC_AVERAGE_VALUE, false, 0, false, 0,
			"the target has no replicas to go by" },
		{ FALLBACK(0, "currentReplicas"), "!4", 0, 0, METRIC_AVERAGE_VALUE, false, 0, false, 0,
			"the target has no replicas to go by" },
		{ FALLBACK(6, "currentReplicasIfLower"), "!4", 0, 0, METRIC_AVERAGE_VALUE, false, 0, false, 0,
			"the target has no replicas to go by" },
		/* by the target's replicas */
		{ FALLBACK(6, "currentReplicas"), "!4", 7, 7, METRIC_AVERAGE_VALUE, true, 35, true, 7, NULL },
		{ FALLBACK(6, "currentReplicasIfHigher"), "!4", 7, 7, METRIC_AVERAGE_VALUE, true, 35, true, 7, NULL },
		{ FALLBACK(6, "currentReplicasIfHigher"), "!4", 5, 5, METRIC_AVERAGE_VALUE, true, 30, true, 6, NULL },
		{ FALLBACK(6, "currentReplicasIfHigher"), "!4", 0, 0, METRIC_AVERAGE_VALUE, true, 30, true, 6, NULL },
		{ FALLBACK(6, "currentReplicasIfLower"), "!4", 7, 7, METRIC_AVERAGE_VALUE, true, 30, true, 6, NULL },
		{ FALLBACK(6, "currentReplicasIfLower"), "!4", 5, 5, METRIC_AVERAGE_VALUE, true, 25, true, 5, NULL },
		{ FALLBACK(6, "currentReplicas"), "!4", UNKNOWN, 7, METRIC_AVERAGE_VALUE, false, 0, false, 0,
			"the replicas of the target cannot be read" },
		{ FALLBACK(6, "currentReplicasIfHigher"), "!4", UNKNOWN, 7, METRIC_AVERAGE_VALUE, false, 0, false, 0,
			"the replicas of the target cannot be read" },
		{ FALLBACK(6, "currentReplicasIfLower"), "!4", UNKNOWN, 7, METRIC_AVERAGE_VALUE, false, 0, false, 0,
			"the replicas of the target cannot be read" },
		/* Value: divided by the ready pods, cut to thousandths */
		{ FALLBACK(6, "static"), "!4", 7, 4, METRIC_VALUE, true, 7.5, true, 6, NULL },
		{ FALLBACK(6, "static"), "!4", 7, 7, METRIC_VALUE, true, 4.285, true, 6, NULL },
		{ FALLBACK(1, "static"), "!4", 7, 1000000, METRIC_VALUE, true, 0.001, true, 1, NULL },
		{ FALLBACK(0, "static"), "!4", 7, 7, METRIC_VALUE, true, 0, false, 0, NULL },
		{ FALLBACK(6, "static"), "!4", 7, 0, METRIC_VALUE, false, 0, false, 0,
			"no pod of the target is ready" },
		{ FALLBACK(6, "static"), "!4", 7, UNKNOWN, METRIC_VALUE, false, 0, false, 0,
			"how many pods of the target are ready is not known" },
		/* unusable fallbacks */
		{ FALLBACK(-1, "static"), "!4", 7, 7, METRIC_AVERAGE_VALUE, false, 0, false, 0,
			"spec.fallback is not valid" },
		{ FALLBACK(6, "scalingModifiers"), "!4", 7, 7, METRIC_AVERAGE_VALUE, false, 0, false, 0,
			"spec.fallback.behavior scalingModifiers needs a formula" },
		{ FALLBACK(6, "Static"), "!4", 7, 7, METRIC_AVERAGE_VALUE, false, 0, false, 0,
			"spec.fallback.behavior is unknown" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct given *g = given(cases[i].spec, cases[i].trigger, cases[i].replicas, cases[i].ready);
		struct verdict_trigger *t = &g->triggers[0];
		bool as_said = !cases[i].falling_back;

		t->metric.target_type = cases[i].type;
		verdict_make(&g->facts, &g->composite);
		if (t->falling_back != cases[i].falling_back ||
			(t->err == NULL) != (cases[i].falling_back || t->source_err == NULL))
			fail_msg("case %zu: falling back %d, error %s", i, t->falling_back,
				t->err != NULL ? t->err->msg : "none");
		if (t->err == NULL &&
			(fabs(t->reading.value - cases[i].value) > 1e-9 || t->reading.active != cases[i].active))
			fail_msg("case %zu: %g, active %d", i, t->reading.value, t->reading.active);
		if (!as_said)
			assert_true(t->fallback_replicas == cases[i].stands_for);
		if ((t->fallback_trouble == NULL) != (cases[i].trouble == NULL) ||
			(t->fallback_trouble != NULL && strcmp(t->fallback_trouble, cases[i].trouble) != 0))
			fail_msg("case %zu: trouble %s", i, t->fallback_trouble != NULL ? t->fallback_trouble : "none");
		assert_false(g->composite.failing || g->composite.active);
		given_free(g);
	}
}

/* Each trigger by itself; twice is as once. */
static void test_several(void **state)
{
	struct given *g = given(FALLBACK(2, "static"), "!3 7 !4", 5, 5);

	(void)state;
	for (int round = 0; round < 2; round++) {
		verdict_make(&g->facts, &g->composite);
		assert_ptr_equal(g->triggers[0].err, &refused);
		assert_null(g->triggers[1].err);
		assert_true(g->triggers[1].reading.value == 7);
		assert_null(g->triggers[2].err);
		assert_ptr_equal(g->triggers[2].source_err, &refused);
		assert_true(g->triggers[2].reading.value == 10);
	}
	given_free(g);
}

/* A value that is not a number never becomes a 0 for the HPA. */
static void test_no_number(void **state)
{
	static const double values[] = { NAN, INFINITY, -INFINITY };

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct given *g = given("", "0", 5, 5);

		g->triggers[0].reading = (struct reading){ values[i], true };
		verdict_make(&g->facts, &g->composite);
		assert_string_equal(g->triggers[0].err->msg, "the source's answer is not a finite number");
		given_free(g);
	}
}

/* ---- ScalingModifiers ---- */

#define MODIFIERS(fields) ",'advanced':{'scalingModifiers':{" fields "}}"
#define SUM               "'formula':'a + b','target':'2.5'"
#define FIRST_OR_NIL      "'formula':'a ?? nil','target':'2.5'"

static void test_composite(void **state)
{
	static const struct {
		const char *spec, *triggers;
		int32_t replicas, ready;
		bool failing, active, falling_back;
		double value;
		const char *message;
	} cases[] = {
		{ MODIFIERS(SUM), "3 4", 5, 5, false, true, false, 7, NULL },
		{ MODIFIERS(SUM), "0 0", 5, 5, false, false, false, 0, NULL },
		{ MODIFIERS(SUM ",'activationTarget':'7'"), "3 4", 5, 5, false, false, false, 7, NULL },
		{ MODIFIERS(SUM ",'activationTarget':'6.9'"), "3 4", 5, 5, false, true, false, 7, NULL },
		{ MODIFIERS(SUM ",'activationTarget':'-1'"), "0 0", 5, 5, false, true, false, 0, NULL },
		{ MODIFIERS(SUM), "-3 0", 5, 5, false, false, false, -3, NULL },
		/* an error is no value, whether or not it comes to a fallback later */
		{ MODIFIERS(SUM), "3 !9", 5, 5, true, false, false, 0, "s1-redis-b: connection refused" },
		{ MODIFIERS(SUM) FALLBACK(4, "static"), "3 !3", 5, 5, true, false, false, 0,
			"s1-redis-b: connection refused" },
		{ MODIFIERS(SUM) FALLBACK(4, "scalingModifiers"), "!3 3", 5, 5, true, false, false, 0,
			"s0-redis-a: connection refused" },
		/*
		 * one that falls back replaces the whole, with any decimal target and any
		 * activationTarget
		 */
		{ MODIFIERS(SUM) FALLBACK(4, "static"), "3 !4", 5, 5, false, true, true, 10, NULL },
		{ MODIFIERS(SUM ",'activationTarget':'100'") FALLBACK(4, "static"), "3 !4", 5, 5, false, true, true, 10,
			NULL },
		{ MODIFIERS(SUM) FALLBACK(4, "currentReplicas"), "!9 !4", 3, 3, false, true, true, 7.5, NULL },
		{ MODIFIERS(SUM) FALLBACK(4, "static"), "!1 !4", 5, 5, false, true, true, 10, NULL },
		{ MODIFIERS(SUM) FALLBACK(0, "static"), "3 !4", 5, 5, false, false, true, 0, NULL },
		{ MODIFIERS(SUM ",'metricType':'Value'") FALLBACK(4, "static"), "3 !4", 5, 5, false, true, true, 2,
			NULL },
		{ MODIFIERS(SUM ",'metricType':'Value'") FALLBACK(4, "static"), "3 !4", 5, 0, true, false, false, 0,
			"s1-redis-b: connection refused" },
		/* behavior scalingModifiers: the formula gets nil */
		{ MODIFIERS("'formula':'(a ?? 1) + b','target':'2.5'") FALLBACK(4, "scalingModifiers"), "!4 3", 5, 5,
			false, true, false, 4, NULL },
		{ MODIFIERS("'formula':'(a ?? 0) + b','target':'2.5'") FALLBACK(4, "scalingModifiers"), "!4 0", 5, 5,
			false, false, false, 0, NULL },
		{ MODIFIERS(FIRST_OR_NIL) FALLBACK(4, "scalingModifiers"), "!4 3", 5, 5, false, true, true, 10, NULL },
		{ MODIFIERS(FIRST_OR_NIL) FALLBACK(1, "scalingModifiers"), "!4 3", 5, 5, false, true, true, 2.5, NULL },
		{ MODIFIERS(FIRST_OR_NIL) FALLBACK(0, "scalingModifiers"), "!4 3", 5, 5, false, false, true, 0, NULL },
		{ MODIFIERS(FIRST_OR_NIL ",'metricType':'Value'") FALLBACK(4, "scalingModifiers"), "!4 3", 5, 0, true,
			false, false, 0,
			"spec.advanced.scalingModifiers.formula: it gives nil, and fallback cannot be used: no pod of "
			"the target is ready" },
		/* unusable fallbacks */
		{ MODIFIERS("'target':'2.5'"), "3 4", 5, 5, true, false, false, 0,
			"spec.advanced.scalingModifiers.formula: there is none that can be used" },
		{ MODIFIERS(SUM ",'activationTarget':'many'"), "3 4", 5, 5, true, false, false, 0,
			"spec.advanced.scalingModifiers.activationTarget: not a number" },
		{ MODIFIERS("'formula':'a > 5 ? a : (nil ?? nil)','target':'1'"), "3 4", 5, 5, true, false, false, 0,
			"spec.advanced.scalingModifiers.formula: it gives nil, and there is no valid spec.fallback to "
			"use instead" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct given *g = given(cases[i].spec, cases[i].triggers, cases[i].replicas, cases[i].ready);
		struct composite *c = &g->composite;

		verdict_make(&g->facts, c);
		if (c->failing != cases[i].failing || c->active != cases[i].active ||
			c->falling_back != cases[i].falling_back)
			fail_msg("case %zu: failing %d (%s), active %d, falling back %d", i, c->failing, c->err.msg,
				c->active, c->falling_back);
		if (!c->failing && fabs(c->value - cases[i].value) > 1e-9)
			fail_msg("case %zu: %g", i, c->value);
		if (c->failing)
			assert_string_equal(c->err.msg, cases[i].message);
		given_free(g);
	}
}

/* A formula that fails for these values is an error that names the place. */
static void test_formula_error(void **state)
{
	struct given *g = given(MODIFIERS("'formula':'a / b','target':'1'"), "1 0", 5, 5);

	(void)state;
	verdict_make(&g->facts, &g->composite);
	assert_true(g->composite.failing);
	assert_false(g->composite.active);
	assert_has(g->composite.err.msg, "spec.advanced.scalingModifiers.formula: ");
	given_free(g);
}

/* ---- The spec ---- */

static void test_spec(void **state)
{
	static const struct {
		const char *spec;
		bool composite, metric;
		int64_t milli;
		enum metric_target_type type;
		bool valid;
	} cases[] = {
		{ "", false, false, 0, METRIC_AVERAGE_VALUE, false },
		{ FALLBACK(1, "static"), false, false, 0, METRIC_AVERAGE_VALUE, true },
		{ ",'fallback':{'failureThreshold':-1,'replicas':1}", false, false, 0, METRIC_AVERAGE_VALUE, false },
		{ MODIFIERS(SUM) FALLBACK(1, "static"), true, true, 2500, METRIC_AVERAGE_VALUE, true },
		{ MODIFIERS("'formula':'a','target':'5','metricType':'Value'") FALLBACK(1, "static"), true, true, 5000,
			METRIC_VALUE, true },
		{ MODIFIERS("'formula':'a','target':'1e3'"), true, true, 1000000, METRIC_AVERAGE_VALUE, false },
		{ MODIFIERS("'formula':'a'") FALLBACK(1, "static"), true, false, 0, METRIC_AVERAGE_VALUE, false },
		{ MODIFIERS("'formula':'a','target':'0'") FALLBACK(1, "static"), true, false, 0, METRIC_AVERAGE_VALUE,
			false },
		{ MODIFIERS("'formula':'a','target':'-2'") FALLBACK(1, "static"), true, false, 0, METRIC_AVERAGE_VALUE,
			false },
		{ MODIFIERS("'formula':'a','target':'2Gi'") FALLBACK(1, "static"), true, false, 0, METRIC_AVERAGE_VALUE,
			false },
		{ MODIFIERS("'formula':'a','target':' 2'") FALLBACK(1, "static"), true, false, 0, METRIC_AVERAGE_VALUE,
			false },
		{ MODIFIERS("'formula':'a','target':'nan'") FALLBACK(1, "static"), true, false, 0, METRIC_AVERAGE_VALUE,
			false },
		{ MODIFIERS("'formula':'a','target':'inf'") FALLBACK(1, "static"), true, false, 0, METRIC_AVERAGE_VALUE,
			false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = mem_printf("{'metadata':{'name':'web'},'spec':{" GIVEN_TARGET "," GIVEN_TRIGGERS "%s}}",
			cases[i].spec);
		struct scaledobject *so = given_scaledobject(text);
		struct metric_spec metric = { 0 };

		if (verdict_has_composite(&so->spec) != cases[i].composite ||
			verdict_composite_metric(&so->spec, &metric) != cases[i].metric ||
			verdict_fallback_valid(&so->spec) != cases[i].valid)
			fail_msg("case %zu: %s", i, cases[i].spec);
		if (cases[i].metric) {
			assert_string_equal(metric.name, VERDICT_COMPOSITE_NAME);
			assert_int_equal(metric.target.milli, cases[i].milli);
			assert_int_equal(metric.target_type, cases[i].type);
		}
		scaledobject_free(so);
		free(text);
	}
}

/* A ScaledJob: a failure stays an error however often it occurs, and there is no composite. */
static void test_without_a_spec(void **state)
{
	struct given *g = given(FALLBACK(6, "static"), "4 !99", UNKNOWN, UNKNOWN);
	struct composite composite = { .failing = true, .value = 7 };

	(void)state;
	g->facts.spec = NULL;
	verdict_make(&g->facts, &composite);
	assert_null(g->triggers[0].err);
	assert_true(g->triggers[0].reading.value == 4 && g->triggers[0].reading.active);
	assert_ptr_equal(g->triggers[1].err, &refused);
	assert_false(g->triggers[1].falling_back);
	assert_null(g->triggers[1].fallback_trouble);
	assert_false(composite.failing);
	assert_false(verdict_has_composite(NULL));
	given_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fallback),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_no_number),
		cmocka_unit_test(test_composite),
		cmocka_unit_test(test_formula_error),
		cmocka_unit_test(test_spec),
		cmocka_unit_test(test_without_a_spec),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
