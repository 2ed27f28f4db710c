/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for fallback and scalingModifiers (doc/keda.md 3.3, 3.4, 7.2). */
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "decide/formula/formula.h"
#include "decide/validate/validate.h"
#include "decide/validate/validate_parts.h"
#include "decide/verdict.h"

#define MODIFIERS "spec.advanced.scalingModifiers"

/* ---- Fallback ---- */

static bool has_external_trigger(const struct scaledobject_spec *s)
{
	for (size_t i = 0; i < s->trigger_count; i++)
		if (!validate_is_resource_type(s->triggers[i].type))
			return true;
	return false;
}

int validate_fallback(const struct scaled *of, struct err *err)
{
	static const char *const behaviors[] = { "static", "currentReplicas", "currentReplicasIfHigher",
		"currentReplicasIfLower", "scalingModifiers", NULL };
	const struct fallback *f = of->so->spec.fallback;

	if (!f)
		return 0;
	if (f->failure_threshold < 0)
		return err_set(err, ERR_INVALID, "spec.fallback.failureThreshold: %d is too small: at least 0",
			(int)f->failure_threshold);
	if (f->replicas < 0)
		return err_set(err, ERR_INVALID, "spec.fallback.replicas: %d is too small: at least 0",
			(int)f->replicas);
	if (text_is_given(f->behavior) && !text_is_one_of(f->behavior, behaviors))
		return err_set(err, ERR_INVALID,
			"spec.fallback.behavior: \"%s\" is unknown: static, currentReplicas, currentReplicasIfHigher, "
			"currentReplicasIfLower or scalingModifiers",
			f->behavior);
	return 0;
}

int validate_fallback_effect(const struct scaled *of, struct err *err)
{
	if (of->so->spec.fallback && !of->so->spec.modifiers && !has_external_trigger(&of->so->spec))
		return err_set(err, ERR_INVALID,
			"spec.fallback: it has no effect on cpu and memory, which the HPA controller reads by itself: "
			"add another trigger or remove it");
	return 0;
}

/* ---- ScalingModifiers ---- */

static int check_target(const struct scaledobject_spec *s, struct err *err)
{
	const struct scaling_modifiers *m = s->modifiers;
	struct metric_spec composite;
	double activation;

	if (!text_is_given(m->target))
		return err_set(err, ERR_INVALID, MODIFIERS ".target: missing: a formula needs one");
	if (!verdict_composite_metric(s, &composite))
		return err_set(err, ERR_INVALID, MODIFIERS ".target: \"%s\" is not a number of 0.001 or more",
			m->target);
	if (!verdict_activation_target(s, &activation))
		return err_set(err, ERR_INVALID, MODIFIERS ".activationTarget: \"%s\" is not a number",
			m->activation_target);
	if (text_is_given(m->metric_type) && strcmp(m->metric_type, "AverageValue") != 0 &&
		strcmp(m->metric_type, "Value") != 0)
		return err_set(err, ERR_INVALID,
			MODIFIERS ".metricType: \"%s\" cannot be used for a formula: AverageValue or Value",
			m->metric_type);
	return 0;
}

/* A formula may use the names of external triggers; one without a name cannot be referred to. */
static int check_formula(const struct scaledobject_spec *s, struct err *err)
{
	const char *names[SCALEDOBJECT_TRIGGERS_MAX];
	struct formula *formula;
	size_t count = 0;

	for (size_t i = 0; i < s->trigger_count; i++)
		if (!validate_is_resource_type(s->triggers[i].type))
			names[count++] = s->triggers[i].name ? s->triggers[i].name : "";
	formula = formula_compile(s->modifiers->formula, names, count, err);
	if (!formula)
		return err_wrap(err, MODIFIERS ".formula");
	formula_free(formula);
	return 0;
}

int validate_modifiers(const struct scaled *of, struct err *err)
{
	const struct scaling_modifiers *m = of->so->spec.modifiers;

	if (!m)
		return 0;
	if (!text_is_given(m->formula))
		return err_set(err, ERR_INVALID,
			MODIFIERS ".formula: missing: scalingModifiers do nothing without one");
	if (check_target(&of->so->spec, err) < 0)
		return -1;
	return check_formula(&of->so->spec, err);
}

int validate_modifiers_fallback(const struct scaled *of, struct err *err)
{
	const struct scaledobject_spec *s = &of->so->spec;

	if (!s->fallback || !text_is_given(s->fallback->behavior) ||
		strcmp(s->fallback->behavior, "scalingModifiers") != 0)
		return 0;
	if (s->modifiers && text_is_given(s->modifiers->formula))
		return 0;
	return err_set(err, ERR_INVALID,
		"spec.fallback.behavior: scalingModifiers needs a formula: set " MODIFIERS
		".formula or choose another behavior");
}
