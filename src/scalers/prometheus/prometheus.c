/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/prometheus/prometheus.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fingerprint.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "net/http/httpurl.h"
#include "scalers/httpauth.h"
#include "scalers/params.h"
#include "scalers/prometheus/promreply.h"
#include "scalers/sources.h"

#define URL_MAX ((size_t)1 << 16)
/* So much of the query is repeated in messages. */
#define QUERY_SHOWN 120

/* What is asked. The URL is in two pieces with the time between them: its parameters are sorted, as a signature wants them. */
struct prometheus_question {
	char *before, *after;    /* "http://prom:9090/api/v1/query?query=up&" and "" or "&timeout=2s" */
	char *query;             /* for messages */
	struct strmap headers;
	struct webaccess *access;
	int64_t timeout_ms;      /* 0: the process's */
	bool empty_is_zero;
};

static const struct param p_server = { { "serverAddress" }, { PARAM_METADATA }, true };
static const struct param p_query = { { "query" }, { PARAM_METADATA }, true };
static const struct param p_threshold = { { "threshold" }, { PARAM_METADATA }, true };
static const struct param p_activation = { { "activationThreshold" }, { PARAM_METADATA }, false };
static const struct param p_namespace = { { "namespace" }, { PARAM_METADATA }, false };
static const struct param p_parameters = { { "queryParameters" }, { PARAM_METADATA }, false };
static const struct param p_headers = { { "customHeaders" }, { PARAM_METADATA }, false };
static const struct param p_ignore = { { "ignoreNullValues" }, { PARAM_METADATA }, false };

static void prometheus_free_data(void *data)
{
	struct prometheus_question *q = data;

	free(q->before);
	free(q->after);
	free(q->query);
	strmap_done_secret(&q->headers);
	webaccess_unref(q->access);
	free(q);
}

/* --- building ------------------------------------------------------------------------------------------------------------------- */

/* The pieces of the query that sort before "time", or those after it. */
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

/* serverAddress may have a path (Mimir's /prometheus, a route of an ingress) and a slash at its end. */
static int make_url(struct prometheus_question *q, char *server, const struct strmap *parameters, struct err *err)
{
	struct buf before = BUF_INIT(URL_MAX), after = BUF_INIT(URL_MAX);
	size_t len = strlen(server);
	bool too_long;

	if (strchr(server, '?'))
		return err_set(err, ERR_INVALID, "parameter \"serverAddress\" must not have a query (?...): queryParameters takes what belongs there");
	while (len > 0 && server[len - 1] == '/')
		server[--len] = '\0';
	buf_printf(&before, "%s/api/v1/query?", server);
	put_parameters(&before, parameters, false);
	put_parameters(&after, parameters, true);
	too_long = buf_failed(&before) || buf_failed(&after);
	q->before = buf_take(&before);
	q->after = buf_take(&after);
	return too_long ? err_set(err, ERR_INVALID, "parameter \"query\" is too long: the URL may have %zu bytes", URL_MAX) : 0;
}

/* What this trigger asks for wins over queryParameters of the same name. */
static int read_parameters(const struct scaler_params *params, struct prometheus_question *q, struct strmap *parameters, struct err *err)
{
	MEM_AUTO char *namespace_ = NULL;

	if (param_map(params, &p_parameters, parameters, err) || param_text(params, &p_namespace, &namespace_, err) || param_text(params, &p_query, &q->query, err))
		return -1;
	if (namespace_)
		strmap_set(parameters, "namespace", namespace_);
	strmap_set(parameters, "query", q->query);
	return 0;
}

static int read_question(const struct scaler_params *params, struct prometheus_question *q, char **source, struct err *err)
{
	struct httpauth auth;
	struct strmap parameters = { 0 };
	char where[256];
	int result = -1;

	q->empty_is_zero = true;
	if (httpauth_read(params, &p_server, HTTPAUTH_CLOUD, &auth, err))
		return -1;
	if (read_parameters(params, q, &parameters, err) == 0 && param_map(params, &p_headers, &q->headers, err) == 0 && param_bool(params, &p_ignore, &q->empty_is_zero, err) == 0)
		result = make_url(q, auth.url, &parameters, err);
	q->access = webaccess_ref(auth.access);
	q->timeout_ms = auth.timeout_ms;
	*source = mem_printf("prometheus %s", httpurl_origin(auth.url, where, sizeof(where)));
	strmap_done(&parameters);
	httpauth_done(&auth);
	return result;
}

static int read_thresholds(const struct scaler_params *params, struct scaler *out, struct err *err)
{
	return param_target(params, &p_threshold, &out->target, err) || param_double(params, &p_activation, &out->activation, err) || param_metric_type(params, &out->target_type, err) ? -1 : 0;
}

/* Without the time. Headers only as a fingerprint: people put tokens there. */
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
	key = mem_printf("prometheus %s%s %s %s %lld %s", q->before, q->after, webaccess_key(q->access), headers, (long long)q->timeout_ms, q->empty_is_zero ? "zero" : "error");
	free(texts);
	return key;
}

static int prometheus_build(const struct scaler_params *params, struct scaler *out, char **metric_name, struct err *err)
{
	struct prometheus_question *q = mem_zalloc(sizeof(*q));
	char *source = NULL;

	if (read_question(params, q, &source, err) < 0 || read_thresholds(params, out, err) < 0) {
		free(source);
		prometheus_free_data(q);
		return -1;
	}
	out->question = question_new(&prometheus_scaler_type, make_key(q), source, q);
	out->question->timeout_ms = q->timeout_ms ? q->timeout_ms : QUESTION_TIMEOUT_HTTP;
	*metric_name = mem_dup("prometheus");
	return 0;
}

/* --- asking --------------------------------------------------------------------------------------------------------------------- */

struct prometheus_ask {
	struct webget_call *call;
	struct scaler_sources *sources;
	struct question *question;
	question_fn fn;
	void *arg;
};

static void ask_free(struct prometheus_ask *ask)
{
	question_unref(ask->question);
	free(ask);
}

/* KEDA's counter, of whose labels only this is the question's: one query answers all triggers that ask the same. */
static void count_empty(struct scaler_sources *sources, bool ignored)
{
	static const char *const labels[] = { "ignoreNullValues", NULL };

	if (sources->counters)
		counters_add(counters_declare(sources->counters, COUNTERS_COUNTER, "keda_scaler_empty_upstream_responses_total", "Queries that were answered with nothing.", labels), (const char *const[]){ ignored ? "true" : "false" }, 1);
}

static bool understand(struct prometheus_ask *ask, const struct webget_answer *answer, double *value, struct err *err)
{
	const struct prometheus_question *q = ask->question->data;
	enum promreply reply = promreply_read(answer->status, answer->content_type, answer->body, answer->len, value, err);

	if (reply == PROMREPLY_EMPTY) {
		count_empty(ask->sources, q->empty_is_zero);
		*value = 0;
	}
	if (reply == PROMREPLY_VALUE || (reply == PROMREPLY_EMPTY && q->empty_is_zero))
		return true;
	if (reply == PROMREPLY_EMPTY)
		err_wrap(err, "ignoreNullValues is false");
	err_wrap(err, "%s: query %.*s%s", ask->question->source, QUERY_SHOWN, q->query, strlen(q->query) > QUERY_SHOWN ? "..." : "");
	return false;
}

static void on_answer(void *arg, const struct webget_answer *answer, const struct err *transport)
{
	struct prometheus_ask *ask = arg;
	struct answer given = { .value = 0 };
	struct err err = { 0 };
	bool good = false;

	if (answer)
		good = understand(ask, answer, &given.value, &err);
	else
		err = *transport;
	if (!answer)
		err_wrap(&err, "prometheus");
	ask->fn(ask->arg, good ? &given : NULL, good ? NULL : &err);
	ask_free(ask);
}

static void *prometheus_ask(struct scaler_sources *sources, struct question *question, int64_t deadline_ms, question_fn fn, void *arg)
{
	const struct prometheus_question *q = question->data;
	struct prometheus_ask *ask = mem_zalloc(sizeof(*ask));
	struct buf url = BUF_INIT(2 * URL_MAX + 64);
	struct webget_request request = { .headers = &q->headers, .access = q->access, .timeout_ms = q->timeout_ms, .deadline_ms = deadline_ms, .asker = question->type->name };
	int64_t now_ms = timestamp_now_ms();

	/* KEDA's whole seconds would be up to one behind what was scraped just now. */
	buf_printf(&url, "%stime=%lld.%03lld%s", q->before, (long long)(now_ms / 1000), (long long)(now_ms % 1000), q->after);
	request.url = buf_text(&url);
	ask->sources = sources;
	ask->question = question_ref(question);
	ask->fn = fn;
	ask->arg = arg;
	ask->call = webget_start(sources->web, &request, on_answer, ask);
	buf_done(&url);
	return ask;
}

static void prometheus_cancel(void *handle)
{
	struct prometheus_ask *ask = handle;

	webget_cancel(ask->call);
	ask_free(ask);
}

const struct scaler_type prometheus_scaler_type = {
	.name = "prometheus",
	.go_name = "prometheusScaler",
	.build = prometheus_build,
	.ask = prometheus_ask,
	.cancel = prometheus_cancel,
	.free_data = prometheus_free_data,
};
