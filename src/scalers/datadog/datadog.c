/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trigger type `datadog`: the newest points of a Datadog query, or a DatadogMetric of the Cluster
 * Agent (doc/keda.md 8.8). Uses scalers/http/httpsource; scalers/datadog/datadogreply reads the
 * answers.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "net/http/httpstatus.h"
#include "net/http/httpurl.h"
#include "scalers/datadog/datadogreply.h"
#include "scalers/http/httpsource.h"
#include "scalers/login/httpauth.h"
#include "scalers/params.h"
#include "scalers/types.h"

/* Enough for a day of points of a few hundred series. */
#define ANSWER_MAX ((size_t)4 << 20)
/* In seconds: about 15 months, Datadog's retention. */
#define REACH_MAX 40000000

struct datadog {
	struct httplogin login; /* url: without query string; of the Cluster Agent complete */
	bool by_agent;
	char *query;         /* NULL for the Cluster Agent */
	unsigned aggregator; /* enum datadogreply_aggregator */
	int64_t age, offset, places_back;
	char *metric, *metric_namespace; /* of the Cluster Agent */
	double fill;                     /* NAN: none */
};

static const struct datadog absent = { .fill = NAN, .aggregator = DATADOGREPLY_ONE };

struct datadog_login {
	char *api_key, *app_key, *site, *ca;
	char *namespace_, *service, *mode, *token;
	int64_t port;
	bool insecure;
};

enum way { OF_DATADOG = 1, OF_AGENT = 2 };

static const char *const aggregators[] = { [DATADOGREPLY_AVERAGE] = "average", [DATADOGREPLY_MAX] = "max", NULL };

#define TYPE      "type"
#define AT(field) offsetof(struct datadog, field)
static const struct param_row rows[] = {
	{ "useClusterAgentProxy", PARAM_BOOL, "m", AT(by_agent),
		.help = "true: ask the Cluster Agent instead of Datadog" },
	{ "targetValue|queryValue", PARAM_TARGET, "m", .help = "target: value per replica" },
	{ "metricUnavailableValue", PARAM_DOUBLE, "m", AT(fill), .help = "value when Datadog has no data point" },
	{ "timeout", PARAM_DURATION, "m", AT(login.timeout_ms), .most = HTTPAUTH_TIMEOUT_MAX_MS,
		.help = "timeout of a request, at most 2m" },
	{ TYPE, PARAM_DROPPED, "m", .why = "trigger.metadata.type is deprecated in favor of trigger.metricType",
		.help = "has no effect" },
	{ "hpaMetricName", PARAM_IGNORED, "m", .help = "has no effect" },

	{ "query", PARAM_TEXT, "m", AT(query), .required = true, .when = OF_DATADOG, .help = "metrics query" },
	{ "queryAggregator", PARAM_CHOICE, "m", AT(aggregator), .when = OF_DATADOG, .words = aggregators,
		.help = "how several series are combined" },
	{ "activationQueryValue", PARAM_ACTIVATION, "m", .when = OF_DATADOG, .help = "active above this value" },
	{ "age", PARAM_INT64, "m", AT(age), .otherwise = "90", .most = REACH_MAX, .when = OF_DATADOG,
		.help = "length of the time window in seconds" },
	{ "timeWindowOffset", PARAM_INT64, "m", AT(offset), .most = REACH_MAX, .when = OF_DATADOG,
		.help = "seconds before now at which the window ends" },
	{ "lastAvailablePointOffset", PARAM_INT64, "m", AT(places_back), .most = INT32_MAX, .when = OF_DATADOG,
		.help = "number of data points to skip before the last" },

	{ "datadogMetricName", PARAM_TEXT, "m", AT(metric), .required = true, .when = OF_AGENT,
		.help = "name of the DatadogMetric" },
	{ "datadogMetricNamespace", PARAM_TEXT, "m", AT(metric_namespace), .required = true, .when = OF_AGENT,
		.help = "namespace of the DatadogMetric" },
	{ "activationTargetValue", PARAM_ACTIVATION, "m", .when = OF_AGENT,
		.help = "Cluster Agent: active above this value" },
};
static const struct param_table table = PARAM_TABLE(rows);

#define LOGIN_AT(field) offsetof(struct datadog_login, field)
static const struct param_row login_rows[] = {
	{ "ca", PARAM_TEXT, "a", LOGIN_AT(ca), .help = "CA certificates to verify the server with, PEM" },

	{ "apiKey", PARAM_TEXT, "a", LOGIN_AT(api_key), .required = true, .when = OF_DATADOG, .help = "API key" },
	{ "appKey", PARAM_TEXT, "a", LOGIN_AT(app_key), .required = true, .when = OF_DATADOG,
		.help = "application key with the timeseries_query permission" },
	{ "datadogSite", PARAM_TEXT, "a", LOGIN_AT(site), .otherwise = "datadoghq.com", .when = OF_DATADOG,
		.help = "site of the account, such as datadoghq.eu" },

	{ "datadogNamespace", PARAM_TEXT, "a", LOGIN_AT(namespace_), .required = true, .when = OF_AGENT,
		.help = "namespace of the Cluster Agent" },
	{ "datadogMetricsService", PARAM_TEXT, "a", LOGIN_AT(service), .required = true, .when = OF_AGENT,
		.help = "Service of the Cluster Agent's metrics server" },
	{ "datadogMetricsServicePort", PARAM_INT64, "a", LOGIN_AT(port), .otherwise = "8443", .least = 1, .most = 65535,
		.when = OF_AGENT, .help = "port of that Service" },
	{ "unsafeSsl", PARAM_BOOL, "a", LOGIN_AT(insecure), .when = OF_AGENT,
		.help = "true: do not verify the server's certificate" },
	{ "authMode", PARAM_TEXT, "a", LOGIN_AT(mode), .when = OF_AGENT, .help = "login to the Cluster Agent: bearer" },
	{ "token", PARAM_TEXT, "a", LOGIN_AT(token), .when = OF_AGENT, .help = "bearer token" },
};
static const struct param_table login_table = PARAM_LOGIN_TABLE(login_rows);

/* ---- Building ---- */

/* KEDA checks `type` without using it. */
static int check_type(const struct scaler_params *params, struct err *err)
{
	const char *type = strmap_get(params->metadata, TYPE);

	if (!type)
		return 0;
	if (params->metric_type && *params->metric_type)
		return err_set_about(err, "type",
			"only one of trigger.metadata.type or trigger.metricType should be defined");
	if (!text_equal_nocase(type, "average") && !text_equal_nocase(type, "global"))
		return err_set_about(err, "type", "type has to be global or average");
	return 0;
}

/* The query must have a scope in braces, on one line. */
static int check_query(const char *query, struct err *err)
{
	for (const char *at = query; (at = strchr(at, '{')) != NULL; at++)
		if (at[strcspn(at, "}\n")] == '}')
			return 0;
	return err_set_about(err, "query", "error in query: malformed Datadog query: missing query scope");
}

/* The site becomes part of a URL: it must be a host name and nothing else. */
static int check_site(const char *site, struct err *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:";
	MEM_AUTO char *url = mem_printf("https://api.%s/", site);
	struct httpurl_place place;

	if (strspn(site, allowed) != strlen(site) || httpurl_place(url, &place, NULL))
		return params_wrong(err, "datadogSite", "must be a site's name, such as datadoghq.eu");
	httpurl_place_done(&place);
	return 0;
}

static int check_login(const struct datadog_login *f, struct err *err)
{
	if (!f->mode)
		return 0;
	if (strcmp(f->mode, "bearer") != 0)
		return err_set_about(err, "authMode", "err incorrect value for authMode is given: it can be bearer");
	return f->token ? 0 : err_set_about(err, "token", "BearerToken is required");
}

/* All four become part of a URL without escaping: they must be Kubernetes names. */
static int check_metric(const struct datadog *q, const struct datadog_login *f, struct err *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789.-";
	const char *const texts[] = { q->metric_namespace, q->metric, f->namespace_, f->service };
	const char *const names[] = { "datadogMetricNamespace", "datadogMetricName", "datadogNamespace",
		"datadogMetricsService" };

	for (size_t i = 0; i < MEM_COUNT(texts); i++)
		if (texts[i] && strspn(texts[i], allowed) != strlen(texts[i]))
			return err_set(err, ERR_INVALID, "parameter \"%s\" must be a Kubernetes name", names[i]);
	return 0;
}

static int read_rest(struct scaler_build *b, struct datadog *q, struct datadog_login *f, struct err *err)
{
	unsigned way = q->by_agent ? OF_AGENT : OF_DATADOG;

	return check_type(b->params, err) || params_read_rows(b, &login_table, 0, f, err) ||
			params_read_rows(b, &login_table, way, f, err) || params_read_rows(b, &table, way, q, err) ||
			(q->query && check_query(q->query, err)) || (f->site && check_site(f->site, err)) ||
			check_metric(q, f, err) || (!b->open && check_login(f, err))
		? -1
		: 0;
}

/* The app key is sent in a header, too: stored as the password, it is wiped and redacted. */
static int make_access(struct datadog *q, const struct datadog_login *f, struct err *err)
{
	struct webaccess_config config = { .ca_pem = f->ca };

	if (q->by_agent) {
		config.bearer = f->mode ? f->token : NULL;
		config.insecure = f->insecure;
	} else {
		config.header_name = "DD-API-KEY";
		config.header_value = f->api_key;
		config.password = f->app_key;
	}
	return httplogin_log_in(&q->login, &config, err);
}

static int check_length(const char *text, struct err *err)
{
	struct buf query = BUF_INIT(HTTPLOGIN_URL_MAX / 2);
	bool too_long;

	buf_put_percent(&query, text ? text : "", "");
	too_long = buf_failed(&query);
	buf_done(&query);
	return too_long ? params_wrong(err, "query", "is too long: the URL may have %zu bytes", HTTPLOGIN_URL_MAX) : 0;
}

static int log_in(struct datadog *q, const struct datadog_login *f, struct err *err)
{
	if (check_length(q->query, err))
		return -1;
	if (f->app_key && strpbrk(f->app_key, "\r\n"))
		return params_wrong(err, "appKey", "holds a line break");
	if (make_access(q, f, err))
		return -1;
	if (q->by_agent)
		q->login.url = mem_printf("https://%s.%s:%lld/apis/external.metrics.k8s.io/v1beta1/namespaces/%s/"
					  "datadogmetric@%s:%s",
			f->service, f->namespace_, (long long)f->port, q->metric_namespace, q->metric_namespace,
			q->metric);
	else
		q->login.url = mem_printf("https://api.%s/api/v1/query", f->site);
	return 0;
}

/* For the Cluster Agent, its own name of the metric, without index. NULL: unknown. */
static char *name_of(const struct datadog *q)
{
	if (!q->by_agent)
		return q->query ? mem_printf("datadog-%.*s", (int)strcspn(q->query, "{"), q->query) : NULL;
	return q->metric && q->metric_namespace ? mem_printf("datadogmetric@%s:%s", q->metric_namespace, q->metric)
						: NULL;
}

static int build(struct scaler_build *b, struct err *err)
{
	struct datadog *q = b->data;
	struct datadog_login *f = params_login(b, sizeof(*f));
	int rc = read_rest(b, q, f, err) || (!b->open && log_in(q, f, err)) ? -1 : 0;

	b->scaler->whole_name = q->by_agent;
	b->metric_name = name_of(q);
	return rc;
}

/* ---- Asking ---- */

/* In the order of X_RATELIMIT. */
enum { LIMIT, PERIOD, RESET };
#define X_RATELIMIT "X-RateLimit-Limit X-RateLimit-Period X-RateLimit-Reset"

static int request(const struct httpsource *ask, struct webrequest *out, struct err *err)
{
	const struct datadog *q = ask->data;
	int64_t to_s = timestamp_now_ms() / 1000 - q->offset;
	struct buf url = BUF_INIT(HTTPLOGIN_URL_MAX);

	(void)err;
	buf_puts(&url, q->login.url);
	if (q->query) {
		buf_printf(&url, "?from=%lld&to=%lld&query=", (long long)(to_s - q->age), (long long)to_s);
		buf_put_percent(&url, q->query, "");
		strmap_set(&out->headers, "DD-APPLICATION-KEY", webaccess_config(q->login.access)->password);
		out->wanted_header = X_RATELIMIT;
	}
	strmap_set(&out->headers, "Accept", "application/json");
	out->url = buf_take(&url);
	return 0;
}

/* The header's number of seconds; 0: missing or invalid. */
static int64_t seconds_of(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	return digits > 0 && digits < 10 && text[digits] == '\0' ? strtol(text, NULL, 10) : 0;
}

static const char *or_unknown(const char *text)
{
	return seconds_of(text) > 0 ? text : "?";
}

/* The limit applies to the organization, so all requests with these keys pause. */
static void limited(const struct httpsource *ask, const struct webresponse *answer, struct err *err)
{
	int64_t reset_s = seconds_of(answer->wanted[RESET]);

	if (reset_s > 0)
		httpsource_pause(ask, reset_s * 1000);
	err_set(err, ERR_TEMPORARY,
		"your Datadog account reached the %s queries per %s seconds rate limit, next limit reset will happen "
		"in %s seconds",
		or_unknown(answer->wanted[LIMIT]), or_unknown(answer->wanted[PERIOD]),
		or_unknown(answer->wanted[RESET]));
}

/* Answers with metricUnavailableValue; false: it is not set. */
static bool filled(const struct datadog *q, struct answer *out)
{
	if (isnan(q->fill))
		return false;
	out->value = q->fill;
	return true;
}

static enum exchange_verdict refused(struct httpsource *ask, const struct webresponse *answer, struct answer *out,
	struct err *err)
{
	const struct datadog *q = ask->data;
	json_t *value = json_parse_foreign(answer->body, answer->len, NULL);
	char words[DATADOGREPLY_WORDS];

	datadogreply_words(value, words);
	if (answer->status == 422 && value && filled(q, out)) {
		json_decref(value);
		return EXCHANGE_DONE;
	}
	if (q->query && answer->status == 429)
		limited(ask, answer, err);
	else if (*words)
		err_set(err, httpstatus_kind(answer->status), "HTTP status %d: %s", answer->status, words);
	else
		httpsource_expect(answer, 200, 200, err);
	if (q->query && (answer->status == 401 || answer->status == 403))
		err_wrap(err,
			"unauthorized to connect to Datadog. Check that your Datadog API and App keys are correct and "
			"that your App key has the correct permissions, and datadogSite");
	err->http_status = answer->status;
	json_decref(value);
	return EXCHANGE_FAILED;
}

static enum exchange_verdict judge(struct httpsource *ask, const struct webresponse *answer, struct answer *out,
	struct err *err)
{
	const struct datadog *q = ask->data;
	enum datadogreply reply = DATADOGREPLY_FAILED;
	json_t *value;

	if (answer->status != 200)
		return refused(ask, answer, out, err);
	value = httpsource_json(answer, err);
	if (value && q->query)
		reply = datadogreply_series(value, q->aggregator, q->places_back, &out->value, err);
	else if (value && datadogreply_metric(value, &out->value, err) == 0)
		reply = DATADOGREPLY_VALUE;
	json_decref(value);
	if (reply == DATADOGREPLY_VALUE || (reply == DATADOGREPLY_NONE && filled(q, out)))
		return EXCHANGE_DONE;
	return EXCHANGE_FAILED;
}

static const struct httpsource_type http = { .max_body = ANSWER_MAX, .request = request, .read = judge };

const struct scaler_type datadog_scaler_type = {
	.name = "datadog",
	.go_name = "datadogScaler",
	.tables = { &table, &login_table },
	.metered = true,
	.data_size = sizeof(struct datadog),
	.absent = &absent,
	.build = build,
	.asker = &httpsource_asker,
	.http = &http,
};
