/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/scaledobject_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "crd/hpa.h"
#include "crd/optional.h"
#include "crd/shape.h"

#define BEHAVIOR_BYTES_MAX (64 * 1024)

static int decode_target(const struct json_at *spec, struct scaledobject_spec *out, struct err *err)
{
	struct json_at at = json_field(spec, "scaleTargetRef");

	if (shape_object(&at, err) < 0 || json_get_string(&at, "apiVersion", &out->target_api_version, err) < 0 ||
		json_get_string(&at, "kind", &out->target_kind, err) < 0 ||
		json_get_string(&at, "name", &out->target_name, err) < 0 ||
		json_get_string(&at, "envSourceContainerName", &out->env_source_container, err) < 0)
		return -1;
	return 0;
}

static int decode_numbers(const struct json_at *spec, struct scaledobject_spec *out, struct err *err)
{
	const struct optional_field fields[] = {
		{ "pollingInterval", &out->polling_interval_s },
		{ "cooldownPeriod", &out->cooldown_s },
		{ "initialCooldownPeriod", &out->initial_cooldown_s },
		{ "idleReplicaCount", &out->idle_replicas },
		{ "minReplicaCount", &out->min_replicas },
		{ "maxReplicaCount", &out->max_replicas },
	};

	return optional_int32s(spec, fields, MEM_COUNT(fields), err);
}

static int decode_restore(const struct json_at *spec, struct scaledobject_spec *out, struct err *err)
{
	struct json_at at = json_field(spec, "advanced");

	if (shape_object(&at, err) < 0)
		return -1;
	return json_get_bool(&at, "restoreToOriginalReplicaCount", &out->restore_to_original, err);
}

static int decode_behavior(const struct json_at *config, struct scaledobject_spec *out, struct err *err)
{
	struct json_at at = json_field(config, "behavior");

	if (at.value == NULL)
		return 0;
	if (shape_object(&at, err) < 0)
		return -1;
	out->hpa_behavior = hpa_behavior_text(at.value);
	if (strlen(out->hpa_behavior) <= BEHAVIOR_BYTES_MAX)
		return 0;
	mem_free_ptr(&out->hpa_behavior);
	return shape_wrong(&at, err, "too long: at most %d bytes", BEHAVIOR_BYTES_MAX);
}

static int decode_hpa_config(const struct json_at *spec, struct scaledobject_spec *out, struct err *err)
{
	struct json_at advanced = json_field(spec, "advanced"), at;

	at = json_field(&advanced, "horizontalPodAutoscalerConfig"); /* decode_restore reports a wrong `advanced` */
	if (shape_object(&at, err) < 0 || json_get_string(&at, "name", &out->hpa_name, err) < 0)
		return -1;
	return at.value != NULL ? decode_behavior(&at, out, err) : 0;
}

static void modifiers_free(struct scaling_modifiers *m)
{
	if (m == NULL)
		return;
	free(m->formula);
	free(m->target);
	free(m->activation_target);
	free(m->metric_type);
	free(m);
}

static int decode_modifiers(const struct json_at *spec, struct scaledobject_spec *out, struct err *err)
{
	struct json_at advanced = json_field(spec, "advanced"), at;
	struct scaling_modifiers *m;
	bool wrong;

	at = json_field(&advanced, "scalingModifiers");
	if (at.value == NULL)
		return 0;
	if (shape_object(&at, err) < 0)
		return -1;
	m = mem_zalloc(sizeof(*m));
	wrong = json_get_string(&at, "formula", &m->formula, err) < 0 ||
		json_get_string(&at, "target", &m->target, err) < 0 ||
		json_get_string(&at, "activationTarget", &m->activation_target, err) < 0 ||
		json_get_string(&at, "metricType", &m->metric_type, err) < 0;
	if (text_is_given(m->formula) || text_is_given(m->target) || text_is_given(m->activation_target) ||
		text_is_given(m->metric_type))
		out->modifiers = m;
	else
		modifiers_free(m);
	return wrong ? -1 : 0;
}

static int decode_fallback(const struct json_at *spec, struct scaledobject_spec *out, struct err *err)
{
	struct json_at at = json_field(spec, "fallback");
	struct fallback *f;

	if (at.value == NULL)
		return 0;
	if (shape_object(&at, err) < 0)
		return -1;
	f = out->fallback = mem_zalloc(sizeof(*f));
	f->failure_threshold = f->replicas = INT32_UNSET;
	if (optional_int32(&at, "failureThreshold", &f->failure_threshold, err) < 0 ||
		optional_int32(&at, "replicas", &f->replicas, err) < 0 ||
		json_get_string(&at, "behavior", &f->behavior, err) < 0)
		return -1;
	if (f->failure_threshold == INT32_UNSET)
		return shape_missing(&at, "failureThreshold", err);
	if (f->replicas == INT32_UNSET)
		return shape_missing(&at, "replicas", err);
	return 0;
}

/* ---- The whole ---- */

static int decode_triggers(const struct json_at *spec, struct scaledobject_spec *out, struct err *err)
{
	return trigger_decode_list(spec, &out->triggers, &out->trigger_count, err);
}

typedef int (*decode_fn)(const struct json_at *spec, struct scaledobject_spec *out, struct err *err);

void scaledobject_spec_decode(const struct json_at *at, struct scaledobject_spec *out, struct err *err)
{
	static const decode_fn parts[] = { decode_target, decode_numbers, decode_restore, decode_hpa_config,
		decode_modifiers, decode_fallback, decode_triggers };
	int rc = 0;

	memset(out, 0, sizeof(*out));
	out->polling_interval_s = out->cooldown_s = out->initial_cooldown_s = INT32_UNSET;
	out->idle_replicas = out->min_replicas = out->max_replicas = INT32_UNSET;
	if (shape_required_object(at, err) < 0)
		return;
	for (size_t i = 0; i < MEM_COUNT(parts); i++)
		if (parts[i](at, out, rc == 0 ? err : NULL) < 0)
			rc = -1;
}

void scaledobject_spec_done(struct scaledobject_spec *s)
{
	free(s->target_api_version);
	free(s->target_kind);
	free(s->target_name);
	free(s->env_source_container);
	free(s->hpa_name);
	free(s->hpa_behavior);
	modifiers_free(s->modifiers);
	if (s->fallback != NULL)
		free(s->fallback->behavior);
	free(s->fallback);
	trigger_free_list(s->triggers, s->trigger_count);
	memset(s, 0, sizeof(*s));
}
