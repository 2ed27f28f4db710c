/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/explain/explaintriggers.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "cache/survey.h"

struct triggers_page {
	struct jsonout *j;
	struct cache *cache;
	struct object *object;
};

static void write_quantity(struct jsonout *j, const char *key, struct quantity q)
{
	char text[QUANTITY_TEXT_MAX];

	jsonout_text(j, key, quantity_format(q, text));
}

static void write_seconds(struct jsonout *j, const char *key, bool known, int64_t ms)
{
	jsonout_double(j, key, known ? (double)ms / 1000 : NAN);
}

static void write_spec(const struct triggers_page *p, const struct scaler *s)
{
	jsonout_int(p->j, "index", s->index);
	jsonout_text(p->j, "type", s->type->name);
	jsonout_text(p->j, "name", s->trigger_name);
	jsonout_text(p->j, "metric", s->metric_name);
	jsonout_text(p->j, "metricType", metric_target_type_name(s->target_type));
	if (s->undescribed)
		jsonout_null(p->j, "target");
	else
		write_quantity(p->j, "target", s->target);
}

/* active NULL: neither is known, and both are written as null, as jsonout writes NAN. */
static void write_value(struct jsonout *j, double value, const bool *active)
{
	jsonout_double(j, "value", active ? value : NAN);
	if (active)
		jsonout_bool(j, "active", *active);
	else
		jsonout_null(j, "active");
}

/* Why a healthy source is not asked at the moment; null if it is. */
static void write_pause(const struct triggers_page *p, const struct scaler *s, const struct answer *answer)
{
	int64_t left_ms = answer->rest_ms - (loop_now_ms(p->cache->loop) - answer->answered_at_ms);
	MEM_AUTO char *text = left_ms <= 0
		? NULL
		: mem_printf("%s asked to be left alone (Retry-After): for another %lld s; its answer stands",
			  s->question->source, (long long)(left_ms + 999) / 1000);

	jsonout_text(p->j, "pause", text);
}

/* judged: the verdict's result; NULL if there is none because another trigger was never read. */
static void write_last(const struct triggers_page *p, const struct scaler *s, const struct verdict_trigger *judged)
{
	struct err err = { 0 };
	struct answer answer = { 0 };
	enum readings_found found = readings_peek(p->cache->readings, s->question, INT64_MAX, &answer, &err);
	struct reading reading = { 0 };
	bool read = found == READINGS_ANSWER, falling_back = judged && judged->falling_back;
	bool stands_in = falling_back && judged->fallback_replicas >= 0;

	jsonout_double(p->j, "activation", s->activation);
	if (read)
		reading = scaler_judge(s, &answer);
	else if (stands_in)
		reading = judged->reading;
	write_value(p->j, reading.value, read || stands_in ? &reading.active : NULL);
	write_seconds(p->j, "ageSeconds", read, loop_now_ms(p->cache->loop) - answer.answered_at_ms);
	write_seconds(p->j, "latencySeconds", read, answer.answered_at_ms - answer.asked_at_ms);
	jsonout_text(p->j, "error", found == READINGS_FAILURE ? err.msg : NULL);
	write_pause(p, s, &answer);
	jsonout_text(p->j, "remark", read ? answer.remark : NULL);
	jsonout_int(p->j, "failures", health_failures(p->cache->health, p->object, s->metric_name));
	if (p->object->kind == SCALED_JOB)
		return; /* it has no fallback */
	jsonout_bool(p->j, "fallingBack", falling_back);
	jsonout_text(p->j, "noFallback", judged ? judged->fallback_trouble : NULL);
}

const char *explaintriggers_push_word(enum watch_state state)
{
	static const char *const words[] = { [WATCH_STARTING] = "starting",
		[WATCH_ON] = "on",
		[WATCH_OFF] = "off",
		[WATCH_FAILING] = "failing" };

	return words[state];
}

/* The state of its push; null if this trigger has none. */
static void write_push(const struct triggers_page *p, const struct scaler *s)
{
	struct watch_report report = { .why = "" };
	enum pushes_state state = pushes_report(s->question, &report);

	if (state == PUSHES_NONE) {
		jsonout_null(p->j, "push");
		return;
	}
	jsonout_object(p->j, "push");
	jsonout_text(p->j, "state", state == PUSHES_UNHELD ? "unwatched" : explaintriggers_push_word(report.state));
	jsonout_text(p->j, "why", report.why);
	jsonout_end(p->j);
}

static const struct verdict_trigger *judged_as(const struct survey_result *result, const struct scaler *s)
{
	for (size_t i = 0; result && i < result->count; i++)
		if (result->scalers[i]->index == s->index &&
			strcmp(result->scalers[i]->metric_name, s->metric_name) == 0)
			return &result->triggers[i];
	return NULL;
}

static void write_trigger(const struct triggers_page *p, const struct scaler *s, const struct survey_result *result)
{
	jsonout_object(p->j, NULL);
	write_spec(p, s);
	if (s->question) {
		write_last(p, s, judged_as(result, s));
		write_push(p, s);
	}
	jsonout_text(p->j, "unknownKeys", s->unknown);
	jsonout_text(p->j, "shortened", s->shortened);
	jsonout_text(p->j, "ignored", s->ignored);
	jsonout_end(p->j);
}

static void write_composite(const struct triggers_page *p, const struct composite *c)
{
	struct jsonout *j = p->j;
	bool known = c && !c->failing;
	struct metric_spec metric;
	double activation;

	jsonout_object(j, "composite");
	jsonout_text(j, "metric", VERDICT_COMPOSITE_NAME);
	if (verdict_composite_metric(&p->object->of.so->spec, &metric)) {
		jsonout_text(j, "metricType", metric_target_type_name(metric.target_type));
		write_quantity(j, "target", metric.target);
	}
	if (verdict_activation_target(&p->object->of.so->spec, &activation))
		jsonout_double(j, "activation", activation);
	write_value(j, known ? c->value : 0, known ? &c->active : NULL);
	jsonout_text(j, "error", c && c->failing ? c->err.msg : NULL);
	jsonout_bool(j, "fallingBack", c && c->falling_back);
	jsonout_end(j);
}

/* result NULL: some trigger was never read, so there is no verdict. */
static void write_all(const struct triggers_page *p, const struct survey_result *result)
{
	struct built built = { 0 };
	struct err err = { 0 };
	bool failed = scalers_get(p->cache->scalers, p->object, &built, &err) != 0;

	jsonout_text(p->j, "trouble", failed ? err.msg : NULL);
	jsonout_array(p->j, "triggers");
	for (size_t i = 0; !failed && i < built.count; i++)
		write_trigger(p, &built.list[i], result);
	jsonout_end(p->j);
	if (p->object->kind == SCALED_JOB)
		return;
	if (verdict_has_composite(&p->object->of.so->spec))
		write_composite(p, result ? result->composite : NULL);
	else
		jsonout_null(p->j, "composite");
}

static void on_survey(void *arg, const struct survey_result *result)
{
	write_all(arg, result->err ? NULL : result);
}

void explaintriggers_write(struct jsonout *j, struct cache *cache, struct object *o)
{
	struct triggers_page p = { j, cache, o };
	struct survey_terms terms = { .max_age_ms = INT64_MAX };

	if (!survey_peek(cache, o, &terms, on_survey, &p))
		write_all(&p, NULL);
}
