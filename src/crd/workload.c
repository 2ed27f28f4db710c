/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/workload.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "crd/shape.h"

#define CONTAINERS_MAX     100
#define ENV_FROM_MAX       100
#define SELECTOR_BYTES_MAX (64 * 1024)

/* ---- Replicas ---- */

static void decode_replicas(const struct json_at *spec, struct workload *out)
{
	int32_t replicas = 1;

	if (json_field(spec, "replicas").value == NULL)
		out->says = WORKLOAD_SAYS_NOTHING;
	else if (json_get_int32(spec, "replicas", &replicas, NULL) < 0 || replicas < 0)
		out->says = WORKLOAD_SAYS_ANOTHER_THING;
	else
		out->says = WORKLOAD_SAYS_REPLICAS;
	out->replicas = out->says == WORKLOAD_SAYS_REPLICAS ? replicas : 1;
}

/*
 * The manager that owns spec.replicas. An update takes a field that it changes away from all
 * others, so several managers own it only after server-side applies of the same value.
 */
static void decode_manager(const json_t *metadata, struct workload *out)
{
	const json_t *entries = json_object_get(metadata, "managedFields"), *entry, *latest = NULL;
	int64_t latest_ms = INT64_MIN, time_ms;
	size_t i;

	json_array_foreach(entries, i, entry)
	{
		if (json_object_get(json_object_get(json_object_get(entry, "fieldsV1"), "f:spec"), "f:replicas") ==
			NULL)
			continue;
		if (timestamp_parse(json_str_or_empty(entry, "time"), &time_ms, NULL) < 0)
			time_ms = INT64_MIN;
		if (time_ms < latest_ms)
			continue;
		latest = entry;
		latest_ms = time_ms;
	}
	if (*json_str_or_empty(latest, "manager") == '\0')
		return;
	out->replicas_manager = mem_dup(json_str_or_empty(latest, "manager"));
	out->replicas_by_scale = json_str_is(latest, "subresource", "scale");
}

static void add_requirement(struct buf *out, const json_t *one)
{
	static const struct {
		const char *operator, * before, *after;
	} words[] = {
		{ "In", "", " in (" },
		{ "NotIn", "", " notin (" },
		{ "Exists", "", NULL },
		{ "DoesNotExist", "!", NULL },
	};
	const json_t *values = json_object_get(one, "values"), *value;
	size_t i, word;

	for (word = 0; word < MEM_COUNT(words); word++)
		if (strcmp(words[word].operator, json_str_or_empty(one, "operator")) == 0)
			break;
	if (word == MEM_COUNT(words))
		return;
	buf_printf(out, "%s%s%s", out->len > 0 ? "," : "", words[word].before, json_str_or_empty(one, "key"));
	if (words[word].after == NULL)
		return;
	buf_puts(out, words[word].after);
	json_array_foreach(values, i, value)
		buf_printf(out, "%s%s", i > 0 ? "," : "", json_is_string(value) ? json_string_value(value) : "");
	buf_putc(out, ')');
}

/* A LabelSelector in the form of `?labelSelector=`. The caller owns it; NULL if it is invalid. */
static char *selector_text(const json_t *selector)
{
	const json_t *labels = json_object_get(selector, "matchLabels"),
		     *expressions = json_object_get(selector, "matchExpressions"), *value;
	struct buf out = BUF_INIT(SELECTOR_BYTES_MAX);
	const char *key;
	size_t i;

	json_object_foreach((json_t *)(uintptr_t)labels, key, value) if (json_is_string(value))
		buf_printf(&out, "%s%s=%s", out.len > 0 ? "," : "", key, json_string_value(value));
	json_array_foreach(expressions, i, value) add_requirement(&out, value);
	if (out.len > 0 && !buf_failed(&out))
		return buf_take(&out);
	buf_done(&out);
	return NULL;
}

static void decode_selector(const struct json_at *spec, const struct json_at *status, struct workload *out)
{
	json_get_string(status, "selector", &out->selector, NULL);
	if (out->selector == NULL)
		out->selector = selector_text(json_object_get(spec->value, "selector"));
}

/* ---- Containers ---- */

/* No errors here: unreadable entries are left out or become WORKLOAD_ENV_OTHER. */

static void decode_key_ref(const struct json_at *value_from, const char *key, enum workload_env_source source,
	struct workload_env *out)
{
	struct json_at ref = json_field(value_from, key);

	if (!json_is_object(ref.value))
		return;
	out->source = source;
	json_get_string(&ref, "name", &out->ref_name, NULL);
	json_get_string(&ref, "key", &out->ref_key, NULL);
	json_get_bool(&ref, "optional", &out->optional, NULL);
}

static void decode_env(const struct json_at *at, struct workload_env *out)
{
	struct json_at value_from = json_field(at, "valueFrom");

	out->name = mem_dup("");
	out->value = mem_dup("");
	out->ref_name = mem_dup("");
	out->ref_key = mem_dup("");
	json_get_string(at, "name", &out->name, NULL);
	if (json_get_string(at, "value", &out->value, NULL) < 0) {
		out->source = WORKLOAD_ENV_OTHER;
	} else if (*out->value != '\0' || !json_is_object(value_from.value)) {
		out->source = WORKLOAD_ENV_VALUE;
	} else {
		out->source = WORKLOAD_ENV_OTHER;
		decode_key_ref(&value_from, "secretKeyRef", WORKLOAD_ENV_SECRET_KEY, out);
		decode_key_ref(&value_from, "configMapKeyRef", WORKLOAD_ENV_CONFIGMAP_KEY, out);
	}
}

static void decode_env_from(const struct json_at *at, struct workload_env_from *out)
{
	struct json_at ref = json_field(at, "secretRef");

	out->kind = KEYDATA_SECRET;
	if (!json_is_object(ref.value)) {
		out->kind = KEYDATA_CONFIG_MAP;
		ref = json_field(at, "configMapRef");
	}
	out->name = mem_dup("");
	out->prefix = mem_dup("");
	json_get_string(at, "prefix", &out->prefix, NULL);
	json_get_string(&ref, "name", &out->name, NULL);
	json_get_bool(&ref, "optional", &out->optional, NULL);
}

static void decode_container(const struct json_at *at, struct workload_container *out)
{
	struct json_at env = json_field(at, "env"), env_from = json_field(at, "envFrom");
	size_t count;

	out->name = mem_dup("");
	json_get_string(at, "name", &out->name, NULL);
	if (json_is_array(env.value)) {
		count = json_array_size(env.value);
		out->env_left_out = count > WORKLOAD_ENV_MAX ? count - WORKLOAD_ENV_MAX : 0;
		count -= out->env_left_out;
		out->env = count > 0 ? mem_array(count, sizeof(*out->env)) : NULL;
		for (size_t i = 0; i < count; i++) {
			struct json_at element = json_element(&env, i);

			if (json_is_object(element.value))
				decode_env(&element, &out->env[out->env_count++]);
		}
	}
	if (shape_array(&env_from, ENV_FROM_MAX, &count, NULL) < 0 || count == 0)
		return;
	out->env_from = mem_array(count, sizeof(*out->env_from));
	for (size_t i = 0; i < count; i++) {
		struct json_at element = json_element(&env_from, i);

		if (json_is_object(element.value))
			decode_env_from(&element, &out->env_from[out->env_from_count++]);
	}
}

static void decode_pods(const struct json_at *spec, struct workload *out)
{
	struct json_at template = json_field(spec, "template"), pod = json_field(&template, "spec"),
		       list = json_field(&pod, "containers");
	size_t count;

	if (*json_str_or_empty(pod.value, "serviceAccountName") != '\0')
		json_get_string(&pod, "serviceAccountName", &out->service_account, NULL);
	if (shape_array(&list, CONTAINERS_MAX, &count, NULL) < 0 || count == 0)
		return;
	out->containers = mem_array(count, sizeof(*out->containers));
	for (size_t i = 0; i < count; i++) {
		struct json_at element = json_element(&list, i);

		if (json_is_object(element.value))
			decode_container(&element, &out->containers[out->container_count++]);
	}
}

/* References to other kinds are not followed. */
static void decode_reference(const struct json_at *spec, struct workload *out)
{
	struct json_at ref = json_field(spec, "workloadRef");
	const char *version = json_str_or_empty(ref.value, "apiVersion");

	if (out->container_count > 0 || !text_begins(version, "apps/") ||
		!json_str_is(ref.value, "kind", "Deployment") || !*json_str_or_empty(ref.value, "name"))
		return;
	json_get_string(&ref, "name", &out->template_deployment, NULL);
}

static void container_done(struct workload_container *c)
{
	free(c->name);
	for (size_t i = 0; i < c->env_count; i++) {
		free(c->env[i].name);
		free(c->env[i].value);
		free(c->env[i].ref_name);
		free(c->env[i].ref_key);
	}
	free(c->env);
	for (size_t i = 0; i < c->env_from_count; i++) {
		free(c->env_from[i].name);
		free(c->env_from[i].prefix);
	}
	free(c->env_from);
}

/* ---- The whole ---- */

static int decode_identity(const struct json_at *metadata, struct workload *out, struct err *err)
{
	const struct json_text texts[] = { { "namespace", &out->namespace_ }, { "name", &out->name },
		{ "uid", &out->uid } };
	const struct json_text version = { "resourceVersion", &out->resource_version };

	if (shape_object(metadata, err) < 0 || json_get_texts(metadata, texts, MEM_COUNT(texts), err) < 0 ||
		json_get_texts(metadata, &version, 1, err) < 0)
		return -1;
	json_get_int64(metadata, "generation", &out->generation, NULL);
	return *out->name ? 0 : shape_missing(metadata, "name", err);
}

struct workload *workload_decode(const json_t *object, struct err *err)
{
	struct workload *w = mem_zalloc(sizeof(*w));
	struct json_at root = json_root(object), metadata, spec, status;

	if (!json_is_object(object)) {
		err_set(err, ERR_INVALID, "not a Kubernetes object");
		workload_free(w);
		return NULL;
	}
	metadata = json_field(&root, "metadata");
	spec = json_field(&root, "spec");
	status = json_field(&root, "status");
	if (decode_identity(&metadata, w, err) < 0) {
		workload_free(w);
		return NULL;
	}
	decode_replicas(&spec, w);
	w->ready_replicas = -1;
	json_get_int32(&status, "replicas", &w->status_replicas, NULL);
	json_get_int32(&status, "readyReplicas", &w->ready_replicas, NULL);
	decode_manager(metadata.value, w);
	decode_selector(&spec, &status, w);
	decode_pods(&spec, w);
	decode_reference(&spec, w);
	return w;
}

/* A Scale omits replicas when they are 0. */
struct workload *workload_decode_scale(const json_t *scale, struct err *err)
{
	struct workload *w = workload_decode(scale, err);

	if (w == NULL)
		return NULL;
	if (w->says == WORKLOAD_SAYS_ANOTHER_THING) {
		err_set(err, ERR_INVALID, "spec.replicas: must be from 0 to %d", INT32_MAX);
		workload_free(w);
		return NULL;
	}
	if (w->says == WORKLOAD_SAYS_NOTHING)
		w->replicas = 0;
	return w;
}

struct workload *workload_decode_template(const struct meta *meta, const json_t *spec)
{
	struct workload *w = mem_zalloc(sizeof(*w));
	struct json_at root = json_root(spec);

	w->namespace_ = mem_printf("%s%c%s%c%s", meta->namespace_, '\0', meta->name, '\0', meta->uid);
	w->name = w->namespace_ + strlen(w->namespace_) + 1;
	w->uid = w->name + strlen(w->name) + 1;
	w->resource_version = mem_dup(meta->resource_version);
	w->generation = meta->generation;
	w->ready_replicas = -1;
	decode_pods(&root, w);
	return w;
}

void workload_free(struct workload *w)
{
	if (w == NULL)
		return;
	free(w->namespace_);
	free(w->resource_version);
	free(w->replicas_manager);
	free(w->selector);
	free(w->no_environment);
	free(w->template_deployment);
	free(w->service_account);
	for (size_t i = 0; i < w->container_count; i++)
		container_done(&w->containers[i]);
	free(w->containers);
	free(w);
}
