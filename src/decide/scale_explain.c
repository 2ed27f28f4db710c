/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/scale.h"

#include <string.h>

#include "base/timestamp.h"
#include "decide/annotations.h"
#include "decide/sentence.h"
#include "decide/verdict.h"

#define NAMED_MAX 5 /* triggers named in a sentence; the rest are counted */

/* "12 of 5 (active above 3)"; the target is per replica, or in total (metric type Value). */
static void add_measure(struct sentence *s, double value, const struct metric_spec *metric, double activation)
{
	sentence_add(s, "%.10g", value);
	if (metric->target.milli > 0)
		sentence_add(s, " of %.10g", (double)metric->target.milli / 1000);
	if (activation != 0)
		sentence_add(s, " (active above %.10g)", activation);
}

enum pick { PICK_ACTIVE, PICK_READ, PICK_FALLBACK, PICK_FAILING };

static bool picked(const struct verdict_trigger *t, enum pick pick)
{
	switch (pick) {
	case PICK_FAILING: return t->err;
	case PICK_FALLBACK: return !t->err && t->falling_back;
	case PICK_READ: return !t->err && !t->falling_back;
	case PICK_ACTIVE: return !t->err && !t->falling_back && t->reading.active;
	}
	return false;
}

static bool any(const struct scale_facts *facts, enum pick pick)
{
	for (size_t i = 0; i < facts->trigger_count; i++)
		if (picked(&facts->triggers[i], pick))
			return true;
	return false;
}

/* "s0-redis-jobs falls back to 5 replicas after 4 failures: connection refused" */
static void add_fallback(struct sentence *s, const struct verdict_trigger *t)
{
	if (t->fallback_replicas < 0)
		sentence_add(s, "%s is nil in the formula", t->metric_name);
	else
		sentence_add(s, "%s falls back to %.10g replica%s", t->metric_name, t->fallback_replicas,
			t->fallback_replicas == 1 ? "" : "s");
	sentence_add(s, " after %d failure%s", (int)t->failures, t->failures == 1 ? "" : "s");
	if (t->source_err)
		sentence_add(s, ": %s", t->source_err->msg);
}

static void add_failing(struct sentence *s, const struct verdict_trigger *t)
{
	sentence_add(s, "%s (%s", t->metric_name, t->err->msg);
	if (t->fallback_trouble)
		sentence_add(s, "; no fallback: %s", t->fallback_trouble);
	sentence_add(s, ")");
}

/* "s0-redis-jobs 12 of 5, s1-redis-mail 3 of 5 and 4 more" */
static void add_triggers(struct sentence *s, const struct scale_facts *facts, enum pick pick)
{
	size_t named = 0, more = 0;

	for (size_t i = 0; i < facts->trigger_count; i++) {
		const struct verdict_trigger *t = &facts->triggers[i];

		if (!picked(t, pick))
			continue;
		if (named == NAMED_MAX) {
			more++;
			continue;
		}
		sentence_add(s, "%s", named++ > 0 ? ", " : "");
		if (pick == PICK_FAILING) {
			add_failing(s, t);
		} else if (pick == PICK_FALLBACK) {
			add_fallback(s, t);
		} else {
			sentence_add(s, "%s ", t->metric_name);
			add_measure(s, t->reading.value, &t->metric, t->activation);
		}
	}
	if (more > 0)
		sentence_add(s, " and %zu more", more);
}

static void add_composite(struct sentence *s, const struct scale_facts *facts)
{
	struct metric_spec metric = { 0 };
	double activation = 0;

	verdict_composite_metric(facts->spec, &metric);
	verdict_activation_target(facts->spec, &activation);
	sentence_add(s, VERDICT_COMPOSITE_NAME " ");
	add_measure(s, facts->composite->value, &metric, facts->composite->falling_back ? 0 : activation);
	if (facts->composite->falling_back)
		sentence_add(s, " by fallback");
}

/* ---- Clauses ---- */

static void add_activity(struct sentence *s, const struct scale_facts *facts, const struct scale_decision *d)
{
	if (d->forced)
		sentence_add(s, "annotation " ANNOTATION_FORCE);
	else if (facts->composite && facts->composite->active)
		add_composite(s, facts);
	else if (any(facts, PICK_ACTIVE))
		add_triggers(s, facts, PICK_ACTIVE);
	else if (any(facts, PICK_FALLBACK))
		sentence_add(s, "fallback");
	else
		sentence_add(s, "cpu and memory triggers alone, which always are");
}

static void add_fallbacks(struct sentence *s, const struct scale_facts *facts)
{
	if (!any(facts, PICK_FALLBACK))
		return;
	sentence_add(s, "; ");
	add_triggers(s, facts, PICK_FALLBACK);
}

static void add_troubles(struct sentence *s, const struct scale_facts *facts)
{
	add_fallbacks(s, facts);
	if (any(facts, PICK_FAILING)) {
		sentence_add(s, "; failing: ");
		add_triggers(s, facts, PICK_FAILING);
	} else if (facts->composite && facts->composite->failing) {
		sentence_add(s, "; failing: %s", facts->composite->err.msg);
	} else if (facts->unbuilt) {
		sentence_add(s, "; failing: %s", facts->unbuilt->msg);
	}
}

/* Time of day, with the date unless it is today. UTC. */
static void add_time(struct sentence *s, int64_t unix_ms, int64_t now_unix_ms)
{
	char at[TIMESTAMP_TEXT_MAX], now[TIMESTAMP_TEXT_MAX];

	timestamp_format(unix_ms, at);
	timestamp_format(now_unix_ms, now);
	if (strlen(at) == strlen("2026-01-02T03:04:05Z") && strncmp(at, now, strlen("2026-01-02T")) == 0)
		sentence_add(s, "%.8s", at + strlen("2026-01-02T"));
	else
		sentence_add(s, "%s", at);
}

/* The readings, if none is active. */
static void add_readings(struct sentence *s, const struct scale_facts *facts)
{
	bool read = any(facts, PICK_READ);

	sentence_add(s, "no trigger is active");
	if (facts->composite && !facts->composite->failing) {
		sentence_add(s, " (");
		add_composite(s, facts);
		sentence_add(s, ")");
	} else if (read) {
		sentence_add(s, " (");
		add_triggers(s, facts, PICK_READ);
		sentence_add(s, ")");
	}
}

static void add_quiet(struct sentence *s, const struct scale_facts *facts)
{
	add_readings(s, facts);
	add_fallbacks(s, facts);
}

static bool asked_nobody(const struct scale_facts *facts)
{
	return facts->trigger_count == 0 && facts->resource_count == 0;
}

static void add_nobody(struct sentence *s, const struct scale_facts *facts)
{
	sentence_add(s, "no trigger could be asked");
	if (facts->unbuilt)
		sentence_add(s, ": %s", facts->unbuilt->msg);
}

static void add_below_min(struct sentence *s, const struct scale_facts *facts)
{
	sentence_add(s, "fewer than minReplicaCount, and ");
	if (asked_nobody(facts)) {
		add_nobody(s, facts);
		return;
	}
	add_readings(s, facts);
	add_troubles(s, facts);
}

static void explain_active(struct sentence *s, const struct scale_facts *facts, const struct scale_decision *d)
{
	int32_t max = scaledobject_hpa_max(facts->spec);

	if (d->rule == SCALE_RULE_ACTIVATE)
		sentence_add(s, "scaling from %d to %d: active by ", (int)facts->replicas, (int)d->replicas);
	else if (facts->replicas >= max)
		sentence_add(s, "the HPA scales, at maxReplicaCount %d: active by ", (int)max);
	else
		sentence_add(s, "the HPA scales: active by ");
	add_activity(s, facts, d);
	add_troubles(s, facts);
}

static void explain_hold(struct sentence *s, const struct scale_facts *facts, const struct scale_decision *d)
{
	sentence_add(s, "held at %d: ", (int)d->replicas);
	if (asked_nobody(facts)) {
		add_nobody(s, facts);
		return;
	}
	sentence_add(s, "no trigger is active, but failing: ");
	if (any(facts, PICK_FAILING))
		add_triggers(s, facts, PICK_FAILING);
	else if (facts->composite)
		sentence_add(s, "%s", facts->composite->err.msg);
	add_fallbacks(s, facts);
}

static void explain_deactivate(struct sentence *s, const struct scale_facts *facts, const struct scale_decision *d)
{
	sentence_add(s, "scaling from %d to %d: ", (int)facts->replicas, (int)d->replicas);
	add_readings(s, facts);
	if (d->last_active_unix_ms == 0)
		sentence_add(s, " or ever was");
	else
		sentence_add(s, " and the cooldown of %d s is over", (int)scaledobject_cooldown_s(facts->spec));
	add_fallbacks(s, facts);
}

static void explain_paused(struct sentence *s, const struct scale_facts *facts, const struct scale_decision *d)
{
	const struct annotations *says = facts->annotations;

	if (!says || says->paused_replicas == INT32_UNSET)
		sentence_add(s, "paused by annotation " ANNOTATION_PAUSED);
	else if (d->act)
		sentence_add(s, "scaling from %d to %d: paused at these by annotation " ANNOTATION_PAUSED_REPLICAS,
			(int)facts->replicas, (int)d->replicas);
	else
		sentence_add(s, "paused at %d replica%s by annotation " ANNOTATION_PAUSED_REPLICAS,
			(int)says->paused_replicas, says->paused_replicas == 1 ? "" : "s");
}

static void explain_scale_out_paused(struct sentence *s, const struct scale_facts *facts,
	const struct scale_decision *d)
{
	sentence_add(s, "held at %d by annotation " ANNOTATION_PAUSED_OUT ": ", (int)d->replicas);
	if (d->active) {
		sentence_add(s, "active by ");
		add_activity(s, facts, d);
		add_troubles(s, facts);
	} else {
		add_below_min(s, facts);
	}
}

char *scale_explain(const struct scale_facts *facts, const struct scale_decision *d, char *out, size_t size)
{
	struct sentence s = sentence_in(out, size);

	switch (d->rule) {
	case SCALE_RULE_REPLICAS_UNKNOWN: sentence_add(&s, "the replicas of the target cannot be read"); break;
	case SCALE_RULE_ACTIVATE:
	case SCALE_RULE_ACTIVE:
	case SCALE_RULE_FALLBACK:
	case SCALE_RULE_ACTIVE_PARTIAL: explain_active(&s, facts, d); break;
	case SCALE_RULE_ERROR_HOLD: explain_hold(&s, facts, d); break;
	case SCALE_RULE_COOLDOWN:
	case SCALE_RULE_INITIAL_COOLDOWN:
		sentence_add(&s,
			d->rule == SCALE_RULE_COOLDOWN ? "cooling down until " : "in the initial cooldown until ");
		add_time(&s, d->until_unix_ms, facts->now_unix_ms);
		sentence_add(&s, ": ");
		add_quiet(&s, facts);
		break;
	case SCALE_RULE_DEACTIVATE: explain_deactivate(&s, facts, d); break;
	case SCALE_RULE_BELOW_MIN:
		sentence_add(&s, "scaling from %d to %d: ", (int)facts->replicas, (int)d->replicas);
		add_below_min(&s, facts);
		break;
	case SCALE_RULE_INACTIVE:
		sentence_add(&s, "at rest with %d: ", (int)d->replicas);
		add_quiet(&s, facts);
		break;
	case SCALE_RULE_PAUSED: explain_paused(&s, facts, d); break;
	case SCALE_RULE_SCALE_IN_PAUSED:
		sentence_add(&s, "held at %d by annotation " ANNOTATION_PAUSED_IN ": ", (int)d->replicas);
		add_quiet(&s, facts);
		break;
	case SCALE_RULE_SCALE_OUT_PAUSED: explain_scale_out_paused(&s, facts, d); break;
	}
	return out;
}

/* ---- For the Event ---- */

static void add_active_names(struct sentence *s, const struct scale_facts *facts)
{
	const char *separator = "";

	if (facts->composite) {
		sentence_add(s, "%s", facts->composite->active ? VERDICT_COMPOSITE_NAME : "");
		return;
	}
	for (size_t i = 0; i < facts->trigger_count; i++) {
		const struct verdict_trigger *t = &facts->triggers[i];

		if (t->err || !t->reading.active)
			continue;
		sentence_add(s, "%s%s", separator, t->metric_name);
		separator = ";";
	}
}

char *scale_cause(const struct scale_facts *facts, const struct scale_decision *d, char *out, size_t size)
{
	struct sentence s = sentence_in(out, size);

	if (d->forced) {
		sentence_add(&s, "caused by forced activation annotation");
	} else if (facts->trigger_count == 0) {
		sentence_add(&s, "triggered by cpu and memory triggers alone, which are always active");
	} else {
		sentence_add(&s, "triggered by ");
		add_active_names(&s, facts);
	}
	return out;
}
