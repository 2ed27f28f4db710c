/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/verdict.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

#define FIELD "spec.advanced.scalingModifiers"

/* ---- Fallback ---- */

enum basis { BASIS_WRITTEN, BASIS_CURRENT, BASIS_HIGHER, BASIS_LOWER, BASIS_FORMULA };

/* doc/keda.md 3.3; an empty one is static. */
static bool read_behavior(const char *behavior, enum basis *out)
{
	static const struct {
		const char *name;
		enum basis basis;
	} behaviors[] = {
		{ "", BASIS_WRITTEN },
		{ "static", BASIS_WRITTEN },
		{ "currentReplicas", BASIS_CURRENT },
		{ "currentReplicasIfHigher", BASIS_HIGHER },
		{ "currentReplicasIfLower", BASIS_LOWER },
		{ "scalingModifiers", BASIS_FORMULA },
	};

	for (size_t i = 0; i < MEM_COUNT(behaviors); i++) {
		if (strcmp(behavior ? behavior : "", behaviors[i].name) == 0) {
			*out = behaviors[i].basis;
			return true;
		}
	}
	return false;
}

/*
 * R of the fallback; returns NULL, or why there is none. R is 0 only if the user wrote 0: a target
 * at 0 keeps its error, which holds it there.
 */
static const char *find_replicas(const struct verdict_facts *facts, enum basis basis, int32_t *out)
{
	int32_t written = facts->spec->fallback->replicas;

	*out = written;
	if (basis == BASIS_WRITTEN || basis == BASIS_FORMULA)
		return NULL;
	if (!facts->replicas_known)
		return "the replicas of the target cannot be read";
	if (basis != BASIS_CURRENT && (basis == BASIS_HIGHER ? facts->replicas <= written : facts->replicas >= written))
		return NULL;
	*out = facts->replicas;
	return facts->replicas > 0 ? NULL : "the target has no replicas to go by";
}

/*
 * The value from which the HPA computes these replicas; returns NULL, or why there is none.
 * Truncated to thousandths, as in KEDA, but never to 0.
 */
static const char *find_value(const struct verdict_facts *facts, const struct metric_spec *metric, int32_t replicas,
	double *out)
{
	double milli = (double)metric->target.milli * replicas;

	if (metric->target_type == METRIC_VALUE) { /* the HPA multiplies it by the number of ready pods */
		if (facts->ready_replicas < 0)
			return "how many pods of the target are ready is not known";
		if (facts->ready_replicas == 0)
			return "no pod of the target is ready";
		milli /= facts->ready_replicas;
	}
	milli = replicas > 0 && milli < 1 ? 1 : trunc(milli);
	*out = milli / 1000;
	return NULL;
}

static const char *fall_back(const struct verdict_facts *facts, struct verdict_trigger *t)
{
	struct metric_spec composite;
	const struct metric_spec *metric = &t->metric;
	enum basis basis;
	int32_t replicas;
	double value;
	const char *trouble;

	if (!verdict_fallback_valid(facts->spec))
		return "spec.fallback is not valid";
	if (!read_behavior(facts->spec->fallback->behavior, &basis))
		return "spec.fallback.behavior is unknown";
	if (basis == BASIS_FORMULA) {
		if (!facts->formula)
			return "spec.fallback.behavior scalingModifiers needs a formula";
		/* The formula gets nil; the number, which no one else may use, is -1 as in KEDA. */
		t->reading = (struct reading){ .value = -1 };
		t->fallback_replicas = -1;
		return NULL;
	}
	if (verdict_has_composite(facts->spec) && verdict_composite_metric(facts->spec, &composite))
		metric = &composite;
	trouble = find_replicas(facts, basis, &replicas);
	if (!trouble)
		trouble = find_value(facts, metric, replicas, &value);
	if (trouble)
		return trouble;
	t->reading = (struct reading){ .value = value, .active = replicas > 0 };
	t->fallback_replicas = replicas;
	return NULL;
}

/* Otherwise it would reach the HPA as 0. */
static const struct err no_number = { .kind = ERR_TEMPORARY, .msg = "the source's answer is not a finite number" };

static void settle_trigger(const struct verdict_facts *facts, struct verdict_trigger *t)
{
	const struct fallback *f = facts->spec ? facts->spec->fallback : NULL;

	if (!t->source_err && !isfinite(t->reading.value))
		t->source_err = &no_number;
	t->err = t->source_err;
	t->falling_back = false;
	t->fallback_trouble = NULL;
	if (!t->err || !f || t->failures <= f->failure_threshold)
		return;
	t->fallback_trouble = fall_back(facts, t);
	if (t->fallback_trouble)
		return;
	t->falling_back = true;
	t->err = NULL;
}

/* ---- The composite ---- */

static const struct verdict_trigger *first_falling_back(const struct verdict_facts *facts)
{
	for (size_t i = 0; i < facts->count; i++)
		if (facts->triggers[i].falling_back && facts->triggers[i].fallback_replicas >= 0)
			return &facts->triggers[i];
	return NULL;
}

static const struct verdict_trigger *first_failing(const struct verdict_facts *facts)
{
	for (size_t i = 0; i < facts->count; i++)
		if (facts->triggers[i].err)
			return &facts->triggers[i];
	return NULL;
}

static void fail_composite(struct composite *c, enum err_kind kind, const char *what, const char *why)
{
	c->failing = true;
	c->active = false;
	err_set(&c->err, kind, "%s: %s", what, why);
}

/*
 * The formula's result is nil: spec.fallback replaces it (doc/keda.md 3.3, last sentence), active
 * like a trigger's fallback.
 */
static void stand_in(const struct verdict_facts *facts, struct composite *c)
{
	struct metric_spec metric;
	enum basis basis;
	int32_t replicas;
	const char *trouble;

	if (!facts->spec->fallback || !verdict_fallback_valid(facts->spec) ||
		!verdict_composite_metric(facts->spec, &metric) ||
		!read_behavior(facts->spec->fallback->behavior, &basis)) {
		fail_composite(c, ERR_INVALID, FIELD ".formula",
			"it gives nil, and there is no valid spec.fallback to use instead");
		return;
	}
	trouble = find_replicas(facts, basis, &replicas);
	if (!trouble)
		trouble = find_value(facts, &metric, replicas, &c->value);
	if (trouble) {
		fail_composite(c, ERR_TEMPORARY, FIELD ".formula: it gives nil, and fallback cannot be used", trouble);
		return;
	}
	c->falling_back = true;
	c->active = replicas > 0;
}

static void evaluate(const struct verdict_facts *facts, double activation, struct composite *c)
{
	struct formula_value values[SCALEDOBJECT_TRIGGERS_MAX], result = { 0 };

	for (size_t i = 0; i < facts->count; i++)
		values[i] = (struct formula_value){ .nil = facts->triggers[i].falling_back,
			.number = facts->triggers[i].reading.value };
	if (formula_evaluate(facts->formula, values, &result, &c->err) < 0) {
		err_wrap(&c->err, FIELD ".formula");
		c->failing = true;
	} else if (result.nil) {
		stand_in(facts, c);
	} else if (!isfinite(result.number)) {
		fail_composite(c, ERR_INVALID, FIELD ".formula", "the result is not a finite number");
	} else {
		c->value = result.number;
		c->active = result.number > activation;
	}
}

static void compose(const struct verdict_facts *facts, struct composite *c)
{
	const struct verdict_trigger *t;
	double activation;

	if (!verdict_activation_target(facts->spec, &activation)) {
		fail_composite(c, ERR_INVALID, FIELD ".activationTarget", "not a number");
	} else if (!facts->formula || facts->count > SCALEDOBJECT_TRIGGERS_MAX) {
		fail_composite(c, ERR_INVALID, FIELD ".formula", "there is none that can be used");
	} else if ((t = first_falling_back(facts)) != NULL) {
		/*
		 * As in KEDA, the formula is not evaluated. The fallback's replicas decide about
		 * active, not activationTarget, so that they are not scaled in.
		 */
		c->falling_back = true;
		c->value = t->reading.value;
		c->active = t->reading.active;
	} else if ((t = first_failing(facts)) != NULL) {
		c->failing = true;
		c->err = *t->err;
		err_wrap(&c->err, "%s", t->metric_name);
	} else {
		evaluate(facts, activation, c);
	}
}

void verdict_make(const struct verdict_facts *facts, struct composite *composite)
{
	for (size_t i = 0; i < facts->count; i++)
		settle_trigger(facts, &facts->triggers[i]);
	/* Not by memset: this runs for each poll and metric request, and the message is large. */
	composite->failing = composite->active = composite->falling_back = false;
	composite->value = 0;
	err_clear(&composite->err);
	if (verdict_has_composite(facts->spec))
		compose(facts, composite);
}
