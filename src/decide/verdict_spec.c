/* SPDX-License-Identifier: Apache-2.0 */
/* What the spec alone says about fallback and scalingModifiers. */
#include "decide/verdict.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool verdict_read_number(const char *text, double *out)
{
	char *end;

	if (!text || !*text || isspace((unsigned char)*text))
		return false;
	*out = strtod(text, &end);
	return !*end && isfinite(*out);
}

bool verdict_has_composite(const struct scaledobject_spec *spec)
{
	const struct scaling_modifiers *m = spec ? spec->modifiers : NULL;

	return m && (m->formula || m->target);
}

bool verdict_composite_metric(const struct scaledobject_spec *spec, struct metric_spec *out)
{
	const struct scaling_modifiers *m = spec->modifiers;
	double target;

	if (!m || !verdict_read_number(m->target, &target))
		return false;
	*out = (struct metric_spec){
		.kind = METRIC_EXTERNAL,
		.name = VERDICT_COMPOSITE_NAME,
		.target_type = m->metric_type && strcmp(m->metric_type, "Value") == 0 ? METRIC_VALUE
										      : METRIC_AVERAGE_VALUE,
		.target = quantity_from_double(target),
	};
	return out->target.milli > 0;
}

bool verdict_activation_target(const struct scaledobject_spec *spec, double *out)
{
	const char *text = spec->modifiers ? spec->modifiers->activation_target : NULL;

	*out = 0;
	return !text || !*text || verdict_read_number(text, out);
}

bool verdict_fallback_valid(const struct scaledobject_spec *spec)
{
	const struct fallback *f = spec->fallback;
	struct metric_spec composite;

	return f && f->failure_threshold >= 0 && f->replicas >= 0 &&
		(!verdict_has_composite(spec) || verdict_composite_metric(spec, &composite));
}
