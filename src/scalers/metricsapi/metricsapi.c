/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trigger type `metrics-api` (doc/keda.md 8.10): a number in an HTTP answer, from one URL or from
 * each pod behind a Service.
 *
 * With several pods an error never lowers the value: sum, average and max fail when one pod fails
 * (KEDA uses the other pods), because that pod may be the one with the load. Only min uses the
 * others, as it can then only be too high.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "scalers/http/httpsource.h"
#include "scalers/login/httpauth.h"
#include "scalers/metricsapi/metricsapi_parts.h"
#include "scalers/params.h"
#include "scalers/types.h"

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

#define AT(field) offsetof(struct metricsapi_question, field)
static const struct param_row rows[] = {
	{ "url", PARAM_TEXT, "m", AT(login.url), .required = true, .help = "URL to fetch" },
	{ "format", PARAM_CHOICE, "m", AT(format), .otherwise = "json", .words = formats,
		.help = "format of the answer" },
	{ "valueLocation", PARAM_TEXT, "m", AT(location), .required = true,
		.help = "path to the number in the answer" },
	{ "aggregateFromKubeServiceEndpoints", PARAM_BOOL, "m", AT(aggregates),
		.help = "true: ask each Pod of the Service" },
	{ "aggregationType", PARAM_CHOICE, "m", AT(aggregation), .otherwise = "average", .words = aggregations,
		.help = "how the Pods' numbers are combined" },
	{ "targetValue", PARAM_TARGET, "m", .help = "target: value per replica" },
	{ "activationTargetValue", PARAM_ACTIVATION, "m", .help = "active above this value" },
};
static const struct param_table table = PARAM_TABLE(rows);

static void data_done(void *data)
{
	struct metricsapi_question *q = data;

	jsonpath_free(q->json);
	dotpath_done(&q->path);
	promselector_free(q->selector);
	serviceurls_done(&q->service);
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
	if (q->aggregates && serviceurls_read(q->login.url, &q->service, err))
		return params_wrap(err, "url");
	return 0;
}

static int build(struct scaler_build *b, struct err *err)
{
	struct metricsapi_question *q = b->data;

	/* Quotes, braces, # and = are kept: they are escaped in paths of the metrics API. */
	b->metric_name = mem_printf("metric-api-%s", q->location);
	if (!q->aggregates)
		q->aggregation = METRICSAPI_AVERAGE;
	return httpauth_login(b, "url", HTTPAUTH_API_KEY, &q->login, err) || compile(q, err) ? -1 : 0;
}

/* metricsapi_asker sends the requests itself. */
static const struct httpsource_type http = { .steps_max = 1 };

const struct scaler_type metricsapi_scaler_type = {
	.name = "metrics-api",
	.go_name = "metricsAPIScaler",
	.tables = { &table, &httpauth_table, &httpauth_api_key_table },
	.data_size = sizeof(struct metricsapi_question),
	.build = build,
	.data_done = data_done,
	.asker = &metricsapi_asker,
	.http = &http,
};
