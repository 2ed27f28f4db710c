/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trigger type `loki`: the number that an instant query of Loki returns. Its answers have
 * Prometheus' format (doc/keda.md 8.6).
 */
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "scalers/http/httpsource.h"
#include "scalers/login/httpauth.h"
#include "scalers/params.h"
#include "scalers/prometheus/promreply.h"
#include "scalers/types.h"

struct loki {
	struct httplogin login;
	char *query, *tenant;
	bool empty_is_zero;
};

#define AT(field) offsetof(struct loki, field)
static const struct param_row rows[] = {
	{ "serverAddress", PARAM_TEXT, "m", AT(login.url), .required = true, .help = "URL of the server" },
	{ "query", PARAM_TEXT, "m", AT(query), .required = true, .help = "LogQL query that yields one number" },
	{ "tenantName", PARAM_TEXT, "m", AT(tenant), .help = "tenant, sent as X-Scope-OrgID" },
	{ "ignoreNullValues", PARAM_BOOL, "m", AT(empty_is_zero), .otherwise = "true",
		.help = "true: an empty result is 0; false: it is an error" },
	{ "threshold", PARAM_TARGET, "m", .required = true, .help = "target: value per replica" },
	{ "activationThreshold", PARAM_ACTIVATION, "m", .help = "active above this value" },
};
static const struct param_table table = PARAM_TABLE(rows);

/*
 * The part of the API's path to append to the URL, as in KEDA: nothing if the URL ends with the
 * path, the rest if the URL's path is a prefix of it, else all of it.
 */
static const char *rest_of_path(const char *url)
{
	static const char wanted[] = "/loki/api/v1/query";
	const char *host = strstr(url, "://"), *path = host ? host + 3 + strcspn(host + 3, "/") : "";
	size_t len = strlen(path), whole = strlen(wanted);

	if (len >= whole && strcmp(path + len - whole, wanted) == 0)
		return "";
	return strncmp(wanted, path, len) == 0 && wanted[len] == '/' ? wanted + len : wanted;
}

static int build(struct scaler_build *b, struct err *err)
{
	struct loki *q = b->data;
	struct buf url = BUF_INIT(HTTPLOGIN_URL_MAX);

	b->metric_name = mem_dup("loki");
	if (httpauth_login(b, "serverAddress", 0, &q->login, err) ||
		httpauth_cut_url(q->login.url, "serverAddress", "only the query of the trigger is sent", err))
		return -1;
	buf_printf(&url, "%s%s?query=", q->login.url, rest_of_path(q->login.url));
	buf_put_percent(&url, q->query, "");
	return httplogin_take_url(&q->login, &url, err);
}

static int request(const struct httpsource *ask, struct webrequest *out, struct err *err)
{
	const struct loki *q = ask->data;

	(void)err;
	out->url = mem_dup(q->login.url);
	if (q->tenant)
		strmap_set(&out->headers, "X-Scope-OrgID", q->tenant);
	return 0;
}

/* Loki reports errors in a query as plain text. */
static enum exchange_verdict judge(struct httpsource *ask, const struct webresponse *answer, struct answer *out,
	struct err *err)
{
	const struct loki *q = ask->data;
	bool empty;

	return httpsource_expect(answer, 200, 299, err)
		? EXCHANGE_FAILED
		: promreply_judge(answer, q->empty_is_zero, &empty, &out->value, err);
}

static const struct httpsource_type http = { .subject = "query",
	.subject_at = AT(query),
	.request = request,
	.read = judge };

const struct scaler_type loki_scaler_type = {
	.name = "loki",
	.go_name = "lokiScaler",
	.tables = { &table, &httpauth_table },
	.data_size = sizeof(struct loki),
	.build = build,
	.asker = &httpsource_asker,
	.http = &http,
};
