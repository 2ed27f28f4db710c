/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/cluster/kubernetesresource.h"

#include <stdlib.h>
#include <string.h>

#include "base/dnsname.h"
#include "base/mem.h"
#include "scalers/cluster/keyvalues.h"
#include "scalers/params.h"
#include "scalers/sources.h"

#define KEY_MAX 253 /* characters of a key */

static const char *const kinds[] = { [KEYDATA_SECRET] = "Secret", [KEYDATA_CONFIG_MAP] = "ConfigMap", NULL };
static const char *const metric_kinds[] = { [KEYDATA_SECRET] = "secret", [KEYDATA_CONFIG_MAP] = "configmap" };

/* The parameters as written. Owns its texts. */
struct resource_key_fields {
	enum keydata_kind kind;
	char *name, *key, *location;
	enum keynumber_format format;
	enum keynumber_type type;
	struct quantity target;
	double activation;
};

#define AT(field) offsetof(struct resource_key_fields, field)
static const struct param_row rows[] = {
	{ "resourceKind", PARAM_CHOICE, "m", AT(kind), .required = true, .words = kinds, .help = "what is read" },
	{ "resourceName", PARAM_TEXT, "m", AT(name), .required = true, .help = "its name, in the object's namespace" },
	{ "key", PARAM_TEXT, "m", AT(key), .required = true, .help = "the key of its data with the number" },
	{ "format", PARAM_CHOICE, "m", AT(format), .otherwise = "number", .words = keynumber_formats,
		.help = "of the key's text" },
	{ "valueLocation", PARAM_TEXT, "m", AT(location), .help = "where the number stands in it: json, yaml" },
	{ "valueType", PARAM_CHOICE, "m", AT(type), .otherwise = "float64", .words = keynumber_types,
		.help = "how the number is written" },
	{ "targetValue", PARAM_TARGET, "m", AT(target), .help = "target: as much per replica" },
	{ "activationTargetValue", PARAM_DOUBLE, "m", AT(activation), .help = "active when it is more" },
};
static const struct param_table table = PARAM_TABLE(rows);

/* ---- Building ---- */

static void free_data(void *data)
{
	struct keyvalues_of *q = data;

	free(q->namespace_);
	free(q->name);
	free(q->key);
	keynumber_done(&q->how);
	free(q);
}

/* As the API server takes keys; others cannot be there. */
static bool is_key(const char *key)
{
	size_t len = strlen(key);

	return len <= KEY_MAX &&
		strspn(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.") == len;
}

static int judge(const struct scaler_params *params, const struct resource_key_fields *f, struct err *err)
{
	if (!dnsname_is_subdomain(f->name, strlen(f->name)))
		return err_set(err, ERR_INVALID,
			"parameter \"resourceName\" value \"%.80s\" cannot be the name of a %s", f->name,
			kinds[f->kind]);
	if (!is_key(f->key))
		return err_set(err, ERR_INVALID,
			"parameter \"key\" value \"%.80s\" cannot be a key: letters, digits, '-', '_' and '.' are "
			"allowed",
			f->key);
	if (f->kind == KEYDATA_SECRET && params->secrets_denied)
		return err_set_about(err, "resourceName", "Secret %s/%s is not read: %s",
			params->namespace_ ? params->namespace_ : "", f->name, params->secrets_denied);
	return 0;
}

static char *make_key(const struct keyvalues_of *q)
{
	return mem_printf("kubernetes-resource %s %s %s %s %s %s %s", q->namespace_, kinds[q->kind], q->name, q->key,
		keynumber_formats[q->how.format], keynumber_types[q->how.type], q->how.location ? q->how.location : "");
}

static void put_question(struct scaler *out, const char *namespace_, struct resource_key_fields *f,
	const struct keynumber *how /* takes */)
{
	struct keyvalues_of *q = mem_zalloc(sizeof(*q));

	*q = (struct keyvalues_of){ f->kind, mem_dup(namespace_), mem_dup(f->name), mem_dup(f->key), *how };
	out->question = question_new(&kubernetesresource_scaler_type, make_key(q),
		mem_printf("%s %s/%s", kinds[f->kind], namespace_, f->name), q);
}

static int build(const struct scaler_params *params, struct scaler *out, char **metric_name, struct err *err)
{
	struct resource_key_fields f = { 0 };
	struct keynumber how = { 0 };
	int rc = params_read(&table, params, &f, err) || judge(params, &f, err) ||
			keynumber_init(&how, f.format, f.type, f.location, err)
		? -1
		: 0;

	out->target = f.target;
	out->activation = f.activation;
	if (rc == 0) {
		*metric_name = params_normalise(mem_printf("%s-%s-%s", metric_kinds[f.kind], f.name, f.key));
		put_question(out, params->namespace_ ? params->namespace_ : "", &f, &how);
	} else {
		keynumber_done(&how);
	}
	params_done(&table, &f);
	return rc;
}

/* ---- Asking ---- */

struct resource_key_ask {
	struct scaler_ask base;
	struct keptanswer_wait *wait;
};

static void on_value(void *arg, double value, const struct err *err)
{
	scaler_ask_end(arg, value, err);
}

static void *ask(struct scaler_sources *sources, struct question *question, int64_t deadline_ms, question_fn fn,
	void *arg)
{
	struct resource_key_ask *asked = scaler_ask_new(sizeof(*asked), question, fn, arg);

	asked->wait = keptanswer_ask(keyvalues_get(sources->keys, question->data), deadline_ms, on_value, asked);
	return asked;
}

static void cancel(void *handle)
{
	struct resource_key_ask *asked = handle;

	keptanswer_cancel(asked->wait);
	scaler_ask_free(asked);
}

/* ---- Watching ---- */

static void *watch(struct scaler_sources *sources, struct question *question, question_look_fn look, void *arg)
{
	return keptanswer_watch(keyvalues_get(sources->keys, question->data), look, arg);
}

const struct scaler_type kubernetesresource_scaler_type = {
	.name = "kubernetes-resource",
	.go_name = "kubernetesResourceScaler",
	.tables = { &table },
	.build = build,
	.ask = ask,
	.cancel = cancel,
	.free_data = free_data,
	.watch = watch,
	.unwatch = keptanswer_unwatch,
	.watch_report = keptanswer_watch_report,
};
