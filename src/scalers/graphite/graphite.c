/* SPDX-License-Identifier: Apache-2.0 */
/* Trigger type `graphite`: the last value of a series, by the render API (doc/keda.md 8.7). */
#include "base/buf.h"
#include "base/mem.h"
#include "scalers/graphite/graphitereply.h"
#include "scalers/http/httpsource.h"
#include "scalers/login/httpauth.h"
#include "scalers/params.h"
#include "scalers/types.h"

/* Enough for a point each second for a day. */
#define ANSWER_MAX ((size_t)2 << 20)

struct graphite {
	struct httplogin login;
	char *query, *since;
};

#define AT(field) offsetof(struct graphite, field)
static const struct param_row rows[] = {
	{ "serverAddress", PARAM_TEXT, "m", AT(login.url), .required = true, .help = "URL of the web server" },
	{ "query", PARAM_TEXT, "m", AT(query), .required = true, .help = "Graphite target that yields one series" },
	{ "queryTime", PARAM_TEXT, "m", AT(since), .required = true,
		.help = "start of the time window, such as -5min" },
	{ "threshold", PARAM_TARGET, "m", .otherwise = "100", .help = "target: value per replica" },
	{ "activationThreshold", PARAM_ACTIVATION, "m", .help = "active above this value" },
};
static const struct param_table table = PARAM_TABLE(rows);

static int build(struct scaler_build *b, struct err *err)
{
	struct graphite *q = b->data;
	struct buf url = BUF_INIT(HTTPLOGIN_URL_MAX);

	b->metric_name = mem_dup("graphite");
	if (httpauth_login(b, "serverAddress", HTTPAUTH_BASIC_UNSAID, &q->login, err) ||
		httpauth_cut_url(q->login.url, "serverAddress", "only query and queryTime are sent", err))
		return -1;
	buf_printf(&url, "%s/render?from=", q->login.url);
	buf_put_percent(&url, q->since, "");
	buf_puts(&url, "&target=");
	buf_put_percent(&url, q->query, "");
	buf_puts(&url, "&format=json");
	return httplogin_take_url(&q->login, &url, err);
}

static enum exchange_verdict judge(struct httpsource *ask, const struct webresponse *answer, struct answer *out,
	struct err *err)
{
	(void)ask;
	return httpsource_expect(answer, 200, 200, err) ||
			graphitereply_read(answer->body, answer->len, &out->value, err)
		? EXCHANGE_FAILED
		: EXCHANGE_DONE;
}

static const struct httpsource_type http = { .subject = "query",
	.subject_at = AT(query),
	.max_body = ANSWER_MAX,
	.read = judge };

const struct scaler_type graphite_scaler_type = {
	.name = "graphite",
	.go_name = "graphiteScaler",
	.tables = { &table, &httpauth_table },
	.data_size = sizeof(struct graphite),
	.build = build,
	.asker = &httpsource_asker,
	.http = &http,
};
