/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/prometheus/prometheus.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fingerprint.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "net/http/httpurl.h"
#include "scalers/http/httpsource.h"
#include "scalers/login/awslogin.h"
#include "scalers/login/googlelogin.h"
#include "scalers/login/httpauth.h"
#include "scalers/params.h"
#include "scalers/prometheus/promreply.h"

#define URL_MAX ((size_t)1 << 16)
/* Bytes of the query shown in messages. */
#define QUERY_SHOWN 120

/*
 * The data of a question. The URL is split around the time parameter, because AWS signatures need
 * sorted parameters.
 */
struct prometheus_question {
	struct httpsource_login login;
	char *before, *after; /* "http://prom:9090/api/v1/query?query=up&" and "" or "&timeout=2s" */
	char *query;          /* for messages */
	struct strmap headers;
	bool empty_is_zero;
};

/* The parameters as written. Owns its texts. */
struct prometheus_fields {
	char *server, *query, *namespace_;
	struct strmap parameters, headers;
	bool empty_is_zero;
	struct quantity target;
	double activation;
};

#define AT(field) offsetof(struct prometheus_fields, field)
static const struct param_row rows[] = {
	{ "serverAddress", PARAM_TEXT, "m", AT(server), .required = true, .help = "URL of the server" },
	{ "queryParameters", PARAM_MAP, "m", AT(parameters), .help = "more parameters of the request" },
	{ "namespace", PARAM_TEXT, "m", AT(namespace_), .help = "the same, for that one" },
	{ "query", PARAM_TEXT, "m", AT(query), .required = true, .help = "PromQL that gives one number" },
	{ "customHeaders", PARAM_MAP, "m", AT(headers), .help = "headers of the request" },
	{ "ignoreNullValues", PARAM_BOOL, "m", AT(empty_is_zero), .otherwise = "true", .help = "whether nothing is 0" },
	{ "threshold", PARAM_TARGET, "m", AT(target), .required = true, .help = "target: as much per replica" },
	{ "activationThreshold", PARAM_DOUBLE, "m", AT(activation), .help = "active when it is more" },
};
static const struct param_table table = PARAM_TABLE(rows);

static void prometheus_free_data(void *data)
{
	struct prometheus_question *q = data;

	free(q->before);
	free(q->after);
	free(q->query);
	strmap_done_secret(&q->headers);
	webaccess_unref(q->login.access);
	free(q);
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

/* serverAddress may have a path (Mimir's /prometheus, an ingress route) and end with a slash. */
static int make_url(struct prometheus_question *q, struct httpauth *auth, const struct strmap *parameters,
	struct err *err)
{
	struct buf before = BUF_INIT(URL_MAX), after = BUF_INIT(URL_MAX);
	bool too_long;

	if (httpauth_cut_url(auth, "serverAddress", "queryParameters takes what belongs there", err))
		return -1;
	buf_printf(&before, "%s/api/v1/query?", auth->url);
	put_parameters(&before, parameters, false);
	put_parameters(&after, parameters, true);
	too_long = buf_failed(&before) || buf_failed(&after);
	q->before = buf_take(&before);
	q->after = buf_take(&after);
	return too_long
		? err_set(err, ERR_INVALID, "parameter \"query\" is too long: the URL may have %zu bytes", URL_MAX)
		: 0;
}

/* Without the time. Headers only as a fingerprint, as they may contain tokens. */
static char *make_key(const struct prometheus_question *q)
{
	const char **texts = mem_array(2 * q->headers.count + 1, sizeof(*texts));
	char headers[FINGERPRINT_TEXT] = "-", *key;

	for (size_t i = 0; i < q->headers.count; i++) {
		texts[2 * i] = q->headers.pairs[i].key;
		texts[2 * i + 1] = q->headers.pairs[i].value;
	}
	if (q->headers.count > 0)
		fingerprint_of(texts, 2 * q->headers.count, headers);
	key = mem_printf("prometheus %s%s %s %s %lld %s", q->before, q->after, webaccess_key(q->login.access), headers,
		(long long)q->login.timeout_ms, q->empty_is_zero ? "zero" : "error");
	free(texts);
	return key;
}

/* The trigger's own parameters override queryParameters of the same name. */
static struct prometheus_question *make_question(struct prometheus_fields *f, struct httpauth *auth, struct err *err)
{
	struct prometheus_question *q = mem_zalloc(sizeof(*q));

	if (f->namespace_)
		strmap_set(&f->parameters, "namespace", f->namespace_);
	strmap_set(&f->parameters, "query", f->query);
	*q = (struct prometheus_question){ .login = { webaccess_ref(auth->access), auth->timeout_ms },
		.query = f->query,
		.headers = f->headers,
		.empty_is_zero = f->empty_is_zero };
	f->query = NULL;
	f->headers = (struct strmap){ 0 };
	if (make_url(q, auth, &f->parameters, err) == 0)
		return q;
	prometheus_free_data(q);
	return NULL;
}

static int prometheus_build(const struct scaler_params *params, struct scaler *out, char **metric_name, struct err *err)
{
	struct prometheus_fields f = { 0 };
	struct httpauth auth = { 0 };
	struct prometheus_question *q = NULL;
	char where[256];
	int rc = params_read(&table, params, &f, err)
		? -1
		: httpauth_read(params, "serverAddress", f.server, HTTPAUTH_CLOUD, &auth, err);

	if (rc == 0) {
		q = make_question(&f, &auth, err);
		rc = q ? 0 : -1;
	}
	if (q) {
		out->question = question_new(&prometheus_scaler_type, make_key(q),
			mem_printf("prometheus %s", httpurl_origin(auth.url, where, sizeof(where))), q);
		out->question->timeout_ms = q->login.timeout_ms ? q->login.timeout_ms : QUESTION_TIMEOUT_HTTP;
	}
	out->target = f.target;
	out->activation = f.activation;
	*metric_name = mem_dup("prometheus");
	httpauth_done(&auth);
	params_done(&table, &f);
	return rc;
}

/* ---- Asking ---- */

static int prometheus_request(const struct httpsource *ask, struct webrequest *out, struct err *err)
{
	const struct prometheus_question *q = ask->base.question->data;
	int64_t now_ms = timestamp_now_ms();

	(void)err;
	/* KEDA sends whole seconds, which may exclude what was scraped within the last second. */
	out->url = mem_printf("%stime=%lld.%03lld%s", q->before, (long long)(now_ms / 1000), (long long)(now_ms % 1000),
		q->after);
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
				     "Queries that were answered with nothing.", labels),
			(const char *const[]){ is_zero ? "true" : "false" }, 1);
}

static enum httpsource_verdict prometheus_read(struct httpsource *ask, const struct webresponse *answer,
	struct answer *out, struct err *err)
{
	const struct prometheus_question *q = ask->base.question->data;
	enum promreply reply = promreply_read(answer->status, answer->content_type, answer->body, answer->len,
		&out->value, err);

	if (reply == PROMREPLY_EMPTY) {
		out->value = 0;
		count_empty(ask->sources->counters, q->empty_is_zero);
	}
	if (reply == PROMREPLY_VALUE || (reply == PROMREPLY_EMPTY && q->empty_is_zero))
		return HTTPSOURCE_ANSWERED;
	if (reply == PROMREPLY_EMPTY)
		err_wrap(err, "ignoreNullValues is false");
	err_wrap(err, "query %.*s%s", QUERY_SHOWN, q->query, strlen(q->query) > QUERY_SHOWN ? "..." : "");
	return HTTPSOURCE_FAILED;
}

static const struct httpsource_type prometheus_http = { .request = prometheus_request, .read = prometheus_read };

const struct scaler_type prometheus_scaler_type = {
	.name = "prometheus",
	.go_name = "prometheusScaler",
	.azure_workload = true,
	.tables = { &table, &httpauth_table, &httpauth_cloud_table, &awslogin_table, &googlelogin_table },
	.build = prometheus_build,
	.ask = httpsource_ask,
	.cancel = httpsource_cancel,
	.http = &prometheus_http,
	.free_data = prometheus_free_data,
};
