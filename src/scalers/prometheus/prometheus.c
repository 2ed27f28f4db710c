/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trigger type `prometheus` (doc/keda.md 8.6): the single number that an instant query returns,
 * from Prometheus or a server with its API.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "scalers/http/httpsource.h"
#include "scalers/login/awslogin.h"
#include "scalers/login/googlelogin.h"
#include "scalers/login/httpauth.h"
#include "scalers/params.h"
#include "scalers/prometheus/promreply.h"
#include "scalers/types.h"

/*
 * login.url ends where the parameter time belongs ("http://prom:9090/api/v1/query?query=up&"), as
 * AWS signatures need sorted parameters.
 */
struct prometheus {
	struct httplogin login;
	char *query, *namespace_;
	struct strmap parameters, headers;
	bool empty_is_zero;
	char *after; /* parameters after time: "&timeout=2s"; "" */
};

#define AT(field) offsetof(struct prometheus, field)
static const struct param_row rows[] = {
	{ "serverAddress", PARAM_TEXT, "m", AT(login.url), .required = true, .help = "URL of the server" },
	{ "queryParameters", PARAM_MAP, "m", AT(parameters), .help = "further parameters of the request" },
	{ "namespace", PARAM_TEXT, "m", AT(namespace_), .help = "value of the request's parameter namespace" },
	{ "query", PARAM_TEXT, "m", AT(query), .required = true, .help = "PromQL query that yields one number" },
	{ "customHeaders", PARAM_MAP, "m", AT(headers), .help = "further headers of the request" },
	{ "ignoreNullValues", PARAM_BOOL, "m", AT(empty_is_zero), .otherwise = "true",
		.help = "true: an empty result is 0; false: it is an error" },
	{ "threshold", PARAM_TARGET, "m", .required = true, .help = "target: value per replica" },
	{ "activationThreshold", PARAM_ACTIVATION, "m", .help = "active above this value" },
};
static const struct param_table table = PARAM_TABLE(rows);

static void data_done(void *data)
{
	free(((struct prometheus *)data)->after);
}

/* ---- Building ---- */

/* Appends the parameters that sort before "time", or those after it. */
static void put_parameters(struct buf *out, const struct strmap *parameters, bool after)
{
	for (size_t i = 0; i < parameters->count; i++) {
		const struct strmap_pair *p = &parameters->pairs[i];
		int order = strcmp(p->key, "time");

		if (order == 0 || (order > 0) != after)
			continue;
		buf_puts(out, after ? "&" : "");
		buf_put_percent(out, p->key, "");
		buf_putc(out, '=');
		buf_put_percent(out, p->value, "");
		buf_puts(out, after ? "" : "&");
	}
}

/* The trigger's own parameters override queryParameters of the same name. */
static int make_url(struct prometheus *q, struct err *err)
{
	struct buf before = BUF_INIT(HTTPLOGIN_URL_MAX), after = BUF_INIT(HTTPLOGIN_URL_MAX);
	struct strmap all = { 0 };

	strmap_copy(&all, &q->parameters);
	if (q->namespace_)
		strmap_set(&all, "namespace", q->namespace_);
	strmap_set(&all, "query", q->query);
	buf_printf(&before, "%s/api/v1/query?", q->login.url);
	put_parameters(&before, &all, false);
	put_parameters(&after, &all, true);
	before.failed |= buf_failed(&after);
	q->after = buf_take(&after);
	strmap_done_secret(&all);
	return httplogin_take_url(&q->login, &before, err);
}

/* serverAddress may have a path (Mimir's /prometheus, an ingress route) and end with a slash. */
static int build(struct scaler_build *b, struct err *err)
{
	struct prometheus *q = b->data;

	b->metric_name = mem_dup("prometheus");
	return httpauth_login(b, "serverAddress", HTTPAUTH_CLOUD, &q->login, err) ||
			httpauth_cut_url(q->login.url, "serverAddress", "queryParameters takes what belongs there",
				err) ||
			make_url(q, err)
		? -1
		: 0;
}

/* ---- Asking ---- */

static int request(const struct httpsource *ask, struct webrequest *out, struct err *err)
{
	const struct prometheus *q = ask->data;
	int64_t now_ms = timestamp_now_ms();

	(void)err;
	/* KEDA sends whole seconds, which may miss samples of the last second. */
	out->url = mem_printf("%stime=%lld.%03lld%s", q->login.url, (long long)(now_ms / 1000),
		(long long)(now_ms % 1000), q->after);
	strmap_copy(&out->headers, &q->headers);
	return 0;
}

/*
 * KEDA's counter, without its labels for object and trigger: one query serves all triggers with the
 * same question.
 */
static void count_empty(struct counters *counters, bool is_zero)
{
	static const char *const labels[] = { "ignoreNullValues", NULL };

	if (counters)
		counters_add(counters_declare(counters, COUNTERS_COUNTER, "keda_scaler_empty_upstream_responses_total",
				     "Queries with an empty result.", labels),
			(const char *const[]){ is_zero ? "true" : "false" }, 1);
}

static enum exchange_verdict judge(struct httpsource *ask, const struct webresponse *answer, struct answer *out,
	struct err *err)
{
	const struct prometheus *q = ask->data;
	bool empty;
	enum exchange_verdict verdict = promreply_judge(answer, q->empty_is_zero, &empty, &out->value, err);
	if (empty)
		count_empty(ask->base.sources->counters, q->empty_is_zero);
	return verdict;
}

static const struct httpsource_type http = { .subject = "query",
	.subject_at = AT(query),
	.request = request,
	.read = judge };

const struct scaler_type prometheus_scaler_type = {
	.name = "prometheus",
	.go_name = "prometheusScaler",
	.azure_workload = true,
	.tables = { &table, &httpauth_table, &httpauth_cloud_table, &awslogin_table, &googlelogin_table },
	.data_size = sizeof(struct prometheus),
	.build = build,
	.data_done = data_done,
	.asker = &httpsource_asker,
	.http = &http,
};
