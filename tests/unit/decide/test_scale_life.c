/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Long random lives of an object: readings, errors, annotations, clock steps, fallbacks, replicas
 * changed by an HPA and people. Invariants are checked after every tick.
 */
#include "decide/scale.h"

#include <math.h>

#include "../crd/given.h"
#include "decide/annotations.h"
#include "decide/verdict.h"

#define T            1700000000000
#define S            1000
#define TRIGGERS_MAX 3
#define LIVES        3000
#define TICKS        120

struct life {
	struct scaledobject_spec spec;
	struct fallback fallback;
	struct scaling_modifiers modifiers;
	struct formula *formula;
	struct annotations says;
	size_t trigger_count, resource_count;
	double values[TRIGGERS_MAX];
	bool down[TRIGGERS_MAX];
	int32_t failures[TRIGGERS_MAX];
	bool replicas_known;
	int32_t replicas, ready;
	int64_t now, created, last_active;
	/* of the newest tick */
	struct verdict_trigger triggers[TRIGGERS_MAX];
	struct composite composite;
	struct scale_facts facts;
	struct scale_decision d;
};

static const struct err down = { .kind = ERR_TEMPORARY, .msg = "down" };
static const char *const names[TRIGGERS_MAX] = { "s0-redis-a", "s1-redis-b", "s2-redis-c" },
			 *const variables[TRIGGERS_MAX] = { "a", "b", "c" };

static uint64_t seed;

static uint64_t random_below(uint64_t limit) /* xorshift: the same numbers in every run */
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % limit;
}

static bool one_in(uint64_t n)
{
	return random_below(n) == 0;
}

/* ---- A life and its events ---- */

static void choose_spec(struct life *l)
{
	static char texts[][24] = { "", "static", "currentReplicas", "currentReplicasIfHigher",
		"currentReplicasIfLower", "scalingModifiers" };
	static char one[] = "a", sum[] = "a + b", target[] = "2.5", activation[] = "3", value[] = "Value";
	struct scaledobject_spec *s = &l->spec;

	s->min_replicas = one_in(3) ? INT32_UNSET : (int32_t)random_below(4);
	s->max_replicas = 10;
	/*
	 * An idle count other than 0 and the HPA's minimum pull at each other for ever (doc/keda.md
	 * 3.2): that has no fixed point.
	 */
	s->idle_replicas = s->min_replicas > 0 && one_in(3) ? 0 : INT32_UNSET;
	s->cooldown_s = one_in(3) ? INT32_UNSET : (int32_t)random_below(600);
	s->initial_cooldown_s = one_in(2) ? INT32_UNSET : (int32_t)random_below(600);
	if (!one_in(3)) {
		l->fallback = (struct fallback){ .failure_threshold = (int32_t)random_below(4),
			.replicas = (int32_t)random_below(8),
			.behavior = texts[random_below(6)] };
		s->fallback = &l->fallback;
	}
	if (one_in(3) && l->trigger_count > 0) {
		l->modifiers.formula = l->trigger_count > 1 ? sum : one;
		l->modifiers.target = target;
		l->modifiers.activation_target = one_in(2) ? activation : NULL;
		l->modifiers.metric_type = one_in(3) ? value : NULL;
		s->modifiers = &l->modifiers;
		l->formula = formula_compile(l->modifiers.formula, variables, l->trigger_count, NULL);
		assert_non_null(l->formula);
	}
}

static void begin(struct life *l)
{
	memset(l, 0, sizeof(*l));
	l->trigger_count = (size_t)random_below(TRIGGERS_MAX + 1);
	l->resource_count = one_in(4) ? 1 + (size_t)random_below(2) : 0;
	l->now = l->created = T;
	l->replicas_known = true;
	l->replicas = l->ready = (int32_t)random_below(6);
	l->says.paused_replicas = INT32_UNSET;
	choose_spec(l);
}

static void annotate(struct life *l)
{
	bool *const flags[] = { &l->says.scale_in_paused, &l->says.scale_out_paused, &l->says.force_active };

	if (one_in(4)) {
		l->says.paused = !l->says.paused;
		l->says.paused_replicas = l->says.paused && one_in(2) ? (int32_t)random_below(6) : INT32_UNSET;
	} else {
		bool *flag = flags[random_below(3)];

		*flag = !*flag;
	}
}

static void happen(struct life *l)
{
	l->now += (int64_t)random_below(120) * S + (int64_t)random_below(S);
	if (one_in(40))
		l->now += one_in(2) ? 3600 * S : -3600 * S; /* the clock is set */
	for (size_t i = 0; i < l->trigger_count; i++) {
		if (one_in(4))
			l->values[i] = one_in(2) ? 0 : (double)random_below(60);
		if (one_in(5))
			l->down[i] = !l->down[i];
	}
	if (one_in(10))
		annotate(l);
	if (one_in(20))
		l->replicas = (int32_t)random_below(12); /* kubectl scale */
	l->replicas_known = !one_in(15);
	l->ready = one_in(4) ? (int32_t)random_below((uint64_t)l->replicas + 1) : l->replicas;
}

/*
 * What the HPA controller would do with these values; it waits while the target is at 0, and does
 * not lower on errors.
 */
static void hpa(struct life *l)
{
	int32_t min = scaledobject_hpa_min(&l->spec), max = scaledobject_hpa_max(&l->spec), wanted = min;
	bool failing = false;

	if (l->says.paused || l->replicas == 0)
		return;
	if (l->spec.modifiers != NULL) {
		if (l->composite.failing)
			failing = true;
		else
			wanted = (int32_t)ceil(
				l->composite.value / 2.5 * (l->spec.modifiers->metric_type != NULL ? l->ready : 1) -
				1e-6);
	} else {
		for (size_t i = 0; i < l->trigger_count; i++) {
			int32_t one = (int32_t)ceil(l->triggers[i].reading.value / 5);

			failing = failing || l->triggers[i].err != NULL;
			if (l->triggers[i].err == NULL && one > wanted)
				wanted = one;
		}
	}
	wanted = wanted < min ? min : wanted > max ? max : wanted;
	if ((wanted < l->replicas && (failing || l->says.scale_in_paused)) ||
		(wanted > l->replicas && l->says.scale_out_paused))
		return;
	l->replicas = wanted;
}

static void look(struct life *l)
{
	struct verdict_facts facts = { .spec = &l->spec,
		.formula = l->formula,
		.triggers = l->triggers,
		.count = l->trigger_count,
		.replicas_known = l->replicas_known,
		.replicas = l->replicas,
		.ready_replicas = l->ready };

	for (size_t i = 0; i < l->trigger_count; i++)
		l->triggers[i] = (struct verdict_trigger){
			.metric_name = names[i],
			.trigger_name = variables[i],
			.metric = { .name = names[i], .target = { 5000, QUANTITY_DECIMAL_SI } },
			.failures = l->failures[i],
			.source_err = l->down[i] ? &down : NULL,
			.reading = { .value = l->down[i] ? 0 : l->values[i],
				.active = !l->down[i] && l->values[i] > 0 },
		};
	verdict_make(&facts, &l->composite);
	l->facts = (struct scale_facts){
		.spec = &l->spec,
		.created_unix_ms = l->created,
		.now_unix_ms = l->now,
		.annotations = &l->says,
		.triggers = l->triggers,
		.trigger_count = l->trigger_count,
		.resource_count = l->resource_count,
		.composite = l->spec.modifiers != NULL ? &l->composite : NULL,
		.replicas_known = l->replicas_known,
		.replicas = l->replicas,
		.last_active_unix_ms = l->last_active,
	};
	l->d = scale_decide(&l->facts);
}

static void count_failures(struct life *l)
{
	for (size_t i = 0; i < l->trigger_count; i++)
		l->failures[i] = l->down[i] ? l->failures[i] + 1 : 0;
}

/* ---- Invariants ---- */

static bool any_down(const struct life *l)
{
	for (size_t i = 0; i < l->trigger_count; i++)
		if (l->down[i])
			return true;
	return false;
}

/*
 * The user wrote it: by fallback.replicas: 0, or by a formula that had to work without the failing
 * triggers (behavior scalingModifiers) and gave a number.
 */
static bool zero_was_written(const struct life *l)
{
	if (l->spec.fallback == NULL)
		return false;
	if (l->spec.modifiers != NULL && strcmp(l->spec.fallback->behavior, "scalingModifiers") == 0 &&
		!l->composite.falling_back)
		return !l->composite.failing;
	return l->spec.fallback->replicas == 0;
}

static void check_direction(const struct life *l, int32_t to)
{
	const struct scale_decision *d = &l->d;

	if (l->says.paused) {
		assert_int_equal(d->rule, SCALE_RULE_PAUSED);
		if (d->act)
			assert_int_equal(to, l->says.paused_replicas);
		return;
	}
	if (l->says.scale_in_paused)
		assert_true(to >= l->replicas);
	if (l->says.scale_out_paused)
		assert_true(to <= l->replicas);
	if (d->failing)
		assert_true(to >= l->replicas);
	if (any_down(l) && to < l->replicas)
		assert_true(zero_was_written(l));
	if (d->active)
		assert_true(to >= l->replicas);
	if (d->active && l->replicas_known && !l->says.scale_out_paused) {
		assert_true(to >= 1);
		assert_true(to >= (d->act || l->spec.idle_replicas != INT32_UNSET ? scaledobject_min(&l->spec) : 0));
	}
}

/* A look at the moment that is named acts, one a moment earlier does not. */
static void check_until(const struct life *l)
{
	struct scale_facts facts = l->facts;
	int32_t cooldown_s = scaledobject_cooldown_s(&l->spec);

	assert_int_equal(l->d.until_unix_ms != 0,
		l->d.rule == SCALE_RULE_COOLDOWN || l->d.rule == SCALE_RULE_INITIAL_COOLDOWN);
	if (l->d.until_unix_ms == 0)
		return;
	assert_true(l->d.until_unix_ms > l->now);
	if (l->d.rule == SCALE_RULE_COOLDOWN)
		assert_true(l->d.until_unix_ms <= l->now + (int64_t)cooldown_s * S + 1);
	facts.last_active_unix_ms = l->d.last_active_unix_ms;
	facts.now_unix_ms = l->d.until_unix_ms - 1;
	assert_false(scale_decide(&facts).act);
	facts.now_unix_ms = l->d.until_unix_ms;
	assert_int_equal(scale_decide(&facts).rule, SCALE_RULE_DEACTIVATE);
}

static void check_tick(const struct life *l)
{
	const struct scale_decision *d = &l->d;
	char text[512];

	assert_true(d->replicas >= 0);
	if (d->act)
		assert_true(l->replicas_known && d->replicas != l->replicas);
	else
		assert_int_equal(d->replicas, l->replicas);
	check_direction(l, d->replicas);
	check_until(l);
	if (!l->says.paused)
		assert_true(d->last_active_unix_ms <= l->now);
	assert_true(strlen(scale_explain(&l->facts, d, text, sizeof(text))) > 0);
}

static void tick(struct life *l)
{
	look(l);
	check_tick(l);
	l->last_active = l->d.last_active_unix_ms;
	l->replicas = l->d.replicas;
}

/* With nothing new happening, it comes to rest. */
static void check_settles(struct life l)
{
	int32_t at = 0;

	l.replicas_known = true;
	for (int i = 0; i < 40; i++) {
		l.now += 86400 * (int64_t)S;
		l.ready = l.replicas;
		count_failures(&l);
		tick(&l);
		if (i >= 20)
			assert_false(l.d.act);
		hpa(&l);
		if (i == 20)
			at = l.replicas;
		if (i > 20)
			assert_int_equal(l.replicas, at);
	}
}

static void test_lives(void **state)
{
	bool seen[SCALE_RULE_SCALE_OUT_PAUSED + 1] = { false };
	size_t fallen_to_zero = 0;

	(void)state;
	seed = 88172645463325252u;
	for (int life = 0; life < LIVES; life++) {
		struct life l;

		begin(&l);
		for (int i = 0; i < TICKS; i++) {
			int32_t before;

			happen(&l);
			count_failures(&l);
			before = l.replicas;
			tick(&l);
			seen[l.d.rule] = true;
			fallen_to_zero += any_down(&l) && l.replicas < before;
			if (one_in(2))
				hpa(&l);
			if (i % 40 == 39)
				check_settles(l);
		}
		formula_free(l.formula);
	}
	for (size_t rule = 0; rule < sizeof(seen) / sizeof(seen[0]); rule++)
		if (!seen[rule])
			fail_msg("the lives never came to %s", scale_rule_name((enum scale_rule)rule));
	assert_true(fallen_to_zero > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
