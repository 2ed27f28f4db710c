/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/hpa.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/quantity.h"
#include "base/text.h"

#define NANO_PER_MILLI 1000000

/* ---- Quantities: all texts of a number become the same one ---- */

/*
 * "500m" and "0.5" give "500m"; values finer than a thousandth give "<n>n". The caller owns it;
 * text that is not a quantity is copied.
 */
static char *canonical(const char *text)
{
	struct quantity q;
	int64_t nano;
	char out[QUANTITY_TEXT_MAX];

	if (quantity_parse(text, &q, NULL) != 0)
		return mem_dup(text);
	nano = quantity_nano(text);
	if (nano % NANO_PER_MILLI != 0 && nano > INT64_MIN && nano < INT64_MAX)
		return mem_printf("%lldn", (long long)nano);
	q.format = QUANTITY_DECIMAL_SI;
	return mem_dup(quantity_format(q, out));
}

static char *real_text(double value)
{
	struct buf text = BUF_INIT(40);

	buf_put_real(&text, value);
	return buf_take(&text);
}

/* The text of a quantity, which may be written as a number; NULL if neither. The caller owns it. */
static char *quantity_text(const json_t *value)
{
	if (json_is_string(value))
		return mem_dup(json_string_value(value));
	if (json_is_integer(value))
		return mem_printf("%lld", (long long)json_integer_value(value));
	return json_is_real(value) ? real_text(json_real_value(value)) : NULL;
}

static void set_quantity(json_t *object, const char *key, bool normal)
{
	char *text = quantity_text(json_object_get(object, key)), *canon;

	if (text == NULL)
		return;
	canon = normal ? canonical(text) : mem_dup(text);
	json_object_set_new(object, key, json_string(canon));
	free(canon);
	free(text);
}

/* ---- Shape: what Kubernetes 1.36 knows ---- */

/*
 * The API server may prune other fields, or a later version add them: neither counts as a
 * difference.
 */

static void keep_only(json_t *object, const char *const *list)
{
	const char *key;
	json_t *value;
	void *next;

	json_object_foreach_safe(object, next, key, value) if (!text_is_one_of(key, list)) json_object_del(object, key);
}

typedef bool (*absent_fn)(const char *key, const json_t *value);

/* Removes fields that count as absent, at any depth. */
static void drop_fields(json_t *value, absent_fn absent)
{
	const char *key;
	json_t *child;
	void *next;
	size_t i;

	json_object_foreach_safe(value, next, key, child)
	{
		if (absent(key, child))
			json_object_del(value, key);
		else
			drop_fields(child, absent);
	}
	json_array_foreach(value, i, child) drop_fields(child, absent);
}

static bool is_null(const char *key, const json_t *value)
{
	(void)key;
	return json_is_null(value);
}

/*
 * Not policies: the API server refuses an empty list of them, which must not look like the
 * defaults.
 */
static bool is_empty_list(const char *key, const json_t *value)
{
	return json_is_array(value) && json_array_size(value) == 0 && strcmp(key, "policies") != 0;
}

/* ---- Defaults: k8s.io/kubernetes pkg/apis/autoscaling/v2/defaults.go ---- */

static void default_new(json_t *object, const char *key, json_t *value)
{
	if (json_object_get(object, key) == NULL)
		json_object_set_new(object, key, value);
	else
		json_decref(value);
}

static json_t *policy(const char *type, int value)
{
	return json_pack("{s:s, s:i, s:i}", "type", type, "value", value, "periodSeconds", 15);
}

static void normal_rules(json_t *rules)
{
	static const char *const fields[] = { "policies", "selectPolicy", "stabilizationWindowSeconds", "tolerance",
		NULL };
	static const char *const policy_fields[] = { "periodSeconds", "type", "value", NULL };
	json_t *one;
	size_t i;

	keep_only(rules, fields);
	json_array_foreach(json_object_get(rules, "policies"), i, one) keep_only(one, policy_fields);
	default_new(rules, "selectPolicy", json_string("Max"));
	set_quantity(rules, "tolerance", true);
}

/*
 * Given policies replace all default ones. scaleDown's window has no default in the API; it is an
 * option of the controller.
 */
static void normal_behavior(json_t *behavior)
{
	static const char *const fields[] = { "scaleDown", "scaleUp", NULL };
	json_t *up, *down;

	keep_only(behavior, fields);
	default_new(behavior, "scaleUp", json_object());
	default_new(behavior, "scaleDown", json_object());
	up = json_object_get(behavior, "scaleUp");
	down = json_object_get(behavior, "scaleDown");
	if (json_is_object(up)) {
		default_new(up, "policies", json_pack("[o, o]", policy("Pods", 4), policy("Percent", 100)));
		default_new(up, "stabilizationWindowSeconds", json_integer(0));
		normal_rules(up);
	}
	if (json_is_object(down)) {
		default_new(down, "policies", json_pack("[o]", policy("Percent", 100)));
		normal_rules(down);
	}
}

static void normal_metric(json_t *metric)
{
	static const char *const sources[] = { "external", "object", "pods", "resource", "containerResource", NULL };

	for (const char *const *source = sources; *source != NULL; source++) {
		json_t *target = json_object_get(json_object_get(metric, *source), "target");

		set_quantity(target, "value", true);
		set_quantity(target, "averageValue", true);
	}
}

static void normal_spec(json_t *spec)
{
	static const char *const fields[] = { "behavior", "maxReplicas", "metrics", "minReplicas", "scaleTargetRef",
		NULL };
	json_t *metric;
	size_t i;

	keep_only(spec, fields);
	drop_fields(spec, is_null);
	default_new(spec, "minReplicas", json_integer(1));
	if (json_array_size(json_object_get(spec, "metrics")) == 0)
		json_object_set_new(spec, "metrics",
			json_pack("[{s:s, s:{s:s, s:{s:s, s:i}}}]", "type", "Resource", "resource", "name", "cpu",
				"target", "type", "Utilization", "averageUtilization", 80));
	json_array_foreach(json_object_get(spec, "metrics"), i, metric) normal_metric(metric);
	if (json_is_object(json_object_get(spec, "behavior")))
		normal_behavior(json_object_get(spec, "behavior"));
	drop_fields(spec, is_empty_list);
}

json_t *hpa_spec_normal(const json_t *spec)
{
	json_t *copy = json_is_object(spec) ? json_deep_copy(spec) : json_object();

	if (copy == NULL) /* only if it contains itself */
		copy = json_object();
	normal_spec(copy);
	return copy;
}

uint64_t hpa_spec_fingerprint(const json_t *spec)
{
	json_t *normal = hpa_spec_normal(spec);
	uint64_t digest = json_digest(normal);

	json_decref(normal);
	return digest;
}

char *hpa_behavior_text(const json_t *behavior)
{
	static const char *const directions[] = { "scaleUp", "scaleDown", NULL };
	json_t *copy = json_deep_copy(behavior);
	char *text;

	for (const char *const *direction = directions; *direction != NULL; direction++)
		set_quantity(json_object_get(copy, *direction), "tolerance", false);
	text = json_text(copy);
	json_decref(copy);
	return text;
}
