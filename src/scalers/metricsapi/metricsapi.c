/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/metricsapi/metricsapi.h"

#include <stdlib.h>
#include <string.h>

#include "base/fingerprint.h"
#include "base/mem.h"
#include "net/http/httpurl.h"
#include "scalers/metricsapi/metricsapi_parts.h"
#include "scalers/params.h"

static const char *const formats[] = { [METRICSAPI_JSON] = "json",
	[METRICSAPI_XML] = "xml",
	[METRICSAPI_YAML] = "yaml",
	[METRICSAPI_PROMETHEUS] = "prometheus",
	NULL };
static const char *const aggregations[] = { [METRICSAPI_AVERAGE] = "average",
	[METRICSAPI_SUM] = "sum",
	[METRICSAPI_MAX] = "max",
	[METRICSAPI_MIN] = "min",
	NULL };

/* The parameters as written. Owns its texts. */
struct metricsapi_fields {
	char *url, *location;
	enum metricsapi_format format;
	double activation;
	bool aggregates;
	enum metricsapi_aggregation aggregation;
};

#define AT(field) offsetof(struct metricsapi_fields, field)
static const struct param_row rows[] = {
	{ "url", PARAM_TEXT, "m", AT(url), .required = true, .help = "what is fetched" },
	{ "format", PARAM_CHOICE, "m", AT(format), .otherwise = "json", .words = formats, .help = "of the answer" },
	{ "valueLocation", PARAM_TEXT, "m", AT(location), .required = true, .help = "where the number stands in it" },
	{ "aggregateFromKubeServiceEndpoints", PARAM_BOOL, "m", AT(aggregates),
		.help = "each Pod of the Service is asked" },
	{ "aggregationType", PARAM_CHOICE, "m", AT(aggregation), .otherwise = "average", .words = aggregations,
		.help = "what is made of their numbers" },
	{ "targetValue", PARAM_TARGET, "m", .help = "target: as much per replica" },
	{ "activationTargetValue", PARAM_DOUBLE, "m", AT(activation), .help = "active when it is more" },
};
static const struct param_table table = PARAM_TABLE(rows);

static void free_data(void *data)
{
	struct metricsapi_question *q = data;

	httpauth_done(&q->auth);
	free(q->location);
	jsonpath_free(q->json);
	dotpath_done(&q->path);
	promselector_free(q->selector);
	serviceurls_done(&q->service);
	free(q);
}

/* ---- Building ---- */

static int compile_location(struct metricsapi_question *q, struct err *err)
{
	switch (q->format) {
	case METRICSAPI_JSON: q->json = jsonpath_compile(q->location, err); return q->json ? 0 : -1;
	case METRICSAPI_PROMETHEUS: q->selector = promselector_compile(q->location, err); return q->selector ? 0 : -1;
	case METRICSAPI_YAML: return dotpath_read(q->location, &q->path, err);
	case METRICSAPI_XML: return dotpath_read(q->location, &q->path, err) || xmlvalue_check(&q->path, err) ? -1 : 0;
	}
	return -1;
}

static int compile(struct metricsapi_question *q, struct err *err)
{
	if (compile_location(q, err))
		return err_wrap(err, "parameter \"valueLocation\" value \"%.*s\", for format %s",
			METRICSAPI_LOCATION_SHOWN, q->location, formats[q->format]);
	if (q->aggregates && serviceurls_read(q->auth.url, &q->service, err))
		return err_wrap(err, "parameter \"url\"");
	return 0;
}

/* 1: some values are unknown, and q is incomplete. */
static int read_question(const struct scaler_params *params, struct metricsapi_fields *f, struct metricsapi_question *q,
	struct err *err)
{
	int rc = httpauth_read(params, "url", f->url, HTTPAUTH_API_KEY, &q->auth, err);

	q->format = f->format;
	q->location = f->location;
	q->aggregates = f->aggregates;
	q->aggregation = f->aggregation;
	f->location = NULL;
	return rc >= 0 && compile(q, err) ? -1 : rc;
}

/* Users put tokens into URLs: only the origin is in the key as text, the rest as a fingerprint. */
static char *make_key(const struct metricsapi_question *q, const char *origin)
{
	const char *const texts[] = { q->auth.url, q->location };
	char print[FINGERPRINT_TEXT];

	return mem_printf("metrics-api %s %s %s %s %s %lld", origin, fingerprint_of(texts, 2, print),
		formats[q->format], q->aggregates ? aggregations[q->aggregation] : "one", webaccess_key(q->auth.access),
		(long long)q->auth.timeout_ms);
}

static void put_question(struct scaler *out, struct metricsapi_question *q /* takes */)
{
	char origin[256];

	httpurl_origin(q->auth.url, origin, sizeof(origin));
	out->question = question_new(&metricsapi_scaler_type, make_key(q, origin), mem_printf("metrics-api %s", origin),
		q);
	out->question->timeout_ms = q->auth.timeout_ms ? q->auth.timeout_ms : QUESTION_TIMEOUT_HTTP;
}

static int build(const struct scaler_params *params, struct scaler *out, char **metric_name, struct err *err)
{
	struct metricsapi_question *q = mem_zalloc(sizeof(*q));
	struct metricsapi_fields f = { 0 };
	int rc = params_read(&table, params, &f, err) ? -1 : read_question(params, &f, q, err);

	out->activation = f.activation;
	params_done(&table, &f);
	/* Quotes, braces, # and = are kept: they are escaped in paths of the metrics API. */
	if (rc >= 0)
		*metric_name = params_normalise(mem_printf("metric-api-%s", q->location));
	if (rc == 0)
		put_question(out, q);
	else
		free_data(q);
	return rc;
}

const struct scaler_type metricsapi_scaler_type = {
	.name = "metrics-api",
	.go_name = "metricsAPIScaler",
	.tables = { &table, &httpauth_table, &httpauth_api_key_table },
	.build_whole = build,
	.ask = metricsapi_ask,
	.cancel = metricsapi_cancel,
	.free_data = free_data,
};
