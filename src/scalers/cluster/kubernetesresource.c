/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trigger type `kubernetes-resource` (doc/keda.md 8.18): a number in a key of a ConfigMap or Secret
 * of the object's namespace. The object is watched (scalers/cluster/keyvalues.h), so a changed
 * number triggers a poll. Secrets are read only if the installation allows it (struct
 * scaler_params, secrets_denied).
 */
#include <stdlib.h>
#include <string.h>

#include "base/dnsname.h"
#include "base/mem.h"
#include "scalers/cluster/keyvalues.h"
#include "scalers/params.h"
#include "scalers/sources.h"
#include "scalers/types.h"

#define KEY_MAX 253 /* characters of a key */

static const char *const kinds[] = { [KEYDATA_SECRET] = "Secret", [KEYDATA_CONFIG_MAP] = "ConfigMap", NULL };
static const char *const metric_kinds[] = { [KEYDATA_SECRET] = "secret", [KEYDATA_CONFIG_MAP] = "configmap" };

struct resource_key {
	struct keyvalues_of of; /* of.how is made of format, type and location */
	char *location;
};

#define AT(field) offsetof(struct resource_key, field)
static const struct param_row rows[] = {
	{ "resourceKind", PARAM_CHOICE, "m", AT(of.kind), .required = true, .words = kinds,
		.help = "kind of the object" },
	{ "resourceName", PARAM_TEXT, "m", AT(of.name), .required = true,
		.help = "name of the object, in the trigger's namespace" },
	{ "key", PARAM_TEXT, "m", AT(of.key), .required = true,
		.help = "key of the object's data that holds the number" },
	{ "format", PARAM_CHOICE, "m", AT(of.how.format), .otherwise = "number", .words = keynumber_formats,
		.help = "format of the key's value" },
	{ "valueLocation", PARAM_TEXT, "m", AT(location),
		.help = "path to the number in the value, for json and yaml" },
	{ "valueType", PARAM_CHOICE, "m", AT(of.how.type), .otherwise = "float64", .words = keynumber_types,
		.help = "notation of the number" },
	{ "targetValue", PARAM_TARGET, "m", .help = "target: value per replica" },
	{ "activationTargetValue", PARAM_ACTIVATION, "m", .help = "active above this value" },
};
static const struct param_table table = PARAM_TABLE(rows);

/* ---- Building ---- */

static void data_done(void *data)
{
	struct resource_key *q = data;

	free(q->of.namespace_);
	keynumber_done(&q->of.how);
}

/* The API server's rule for keys. */
static bool is_key(const char *key)
{
	size_t len = strlen(key);

	return len <= KEY_MAX &&
		strspn(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.") == len;
}

static int judge(const struct scaler_params *params, const struct keyvalues_of *f, struct err *err)
{
	if (!dnsname_is_subdomain(f->name, strlen(f->name)))
		return params_wrong(err, "resourceName", "value \"%.80s\" cannot be the name of a %s", f->name,
			kinds[f->kind]);
	if (!is_key(f->key))
		return params_wrong(err, "key",
			"value \"%.80s\" cannot be a key: letters, digits, '-', '_' and '.' are "
			"allowed",
			f->key);
	if (f->kind == KEYDATA_SECRET && params->secrets_denied)
		return err_set_about(err, "resourceName", "Secret %s/%s is not read: %s",
			params->namespace_ ? params->namespace_ : "", f->name, params->secrets_denied);
	return 0;
}

static int build(struct scaler_build *b, struct err *err)
{
	struct resource_key *q = b->data;
	struct keyvalues_of *of = &q->of;

	if (judge(b->params, of, err) || keynumber_init(&of->how, of->how.format, of->how.type, q->location, err))
		return -1;
	of->namespace_ = mem_dup(b->params->namespace_ ? b->params->namespace_ : "");
	params_add_key(b, of->namespace_);
	b->source = mem_printf("%s %s/%s", kinds[of->kind], of->namespace_, of->name);
	b->metric_name = mem_printf("%s-%s-%s", metric_kinds[of->kind], of->name, of->key);
	return 0;
}

/* ---- Asking ---- */

static void on_value(void *arg, double value, const struct err *err)
{
	scaler_ask_end(arg, value, err);
}

static void ask(void *handle)
{
	struct scaler_ask *a = handle;

	a->call = liveanswer_ask(keyvalues_get(a->sources->keys, a->question->data), a->deadline_ms, on_value, a);
}

static const struct scaler_asker asker = { .ask = ask, .cancel = liveanswer_cancel };

/* ---- Watching ---- */

static void *watch(struct scaler_sources *sources, struct question *question, question_look_fn look, void *arg)
{
	return liveanswer_watch(keyvalues_get(sources->keys, question->data), look, arg);
}

const struct scaler_type kubernetesresource_scaler_type = {
	.name = "kubernetes-resource",
	.go_name = "kubernetesResourceScaler",
	.tables = { &table },
	.data_size = sizeof(struct resource_key),
	.build = build,
	.data_done = data_done,
	.asker = &asker,
	.watch = watch,
	.unwatch = liveanswer_unwatch,
	.watch_report = liveanswer_watch_report,
};
