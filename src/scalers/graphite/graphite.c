/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/graphite/graphite.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "net/http/httpurl.h"
#include "scalers/graphite/graphitereply.h"
#include "scalers/http/httpsource.h"
#include "scalers/login/httpauth.h"
#include "scalers/params.h"

#define URL_MAX ((size_t)1 << 16)
/* A point each second for a day, and more than as many values may be. */
#define ANSWER_MAX ((size_t)2 << 20)
/* Bytes of the query shown in messages. */
#define QUERY_SHOWN 120

/* The data of a question. Owns its texts. */
struct graphite_question {
	struct httpsource_login login;
	char *url, *query; /* query: for messages */
};

/* The parameters as written. Owns its texts. */
struct graphite_fields {
	char *server, *query, *since;
	struct quantity target;
	double activation;
};

#define AT(field) offsetof(struct graphite_fields, field)
static const struct param_row rows[] = {
	{ "serverAddress", PARAM_TEXT, "m", AT(server), .required = true, .help = "URL of the web server" },
	{ "query", PARAM_TEXT, "m", AT(query), .required = true, .help = "target that gives one series" },
	{ "queryTime", PARAM_TEXT, "m", AT(since), .required = true, .help = "how far back a value is looked for" },
	{ "threshold", PARAM_TARGET, "m", AT(target), .otherwise = "100", .help = "target: as much per replica" },
	{ "activationThreshold", PARAM_DOUBLE, "m", AT(activation), .help = "active when it is more" },
};
static const struct param_table table = PARAM_TABLE(rows);

static void graphite_free_data(void *data)
{
	struct graphite_question *q = data;

	webaccess_unref(q->login.access);
	free(q->url);
	free(q->query);
	free(q);
}

/* ---- Building ---- */

static int make_url(struct graphite_question *q, struct httpauth *auth, const char *since, struct err *err)
{
	struct buf url = BUF_INIT(URL_MAX);
	bool too_long;

	if (httpauth_cut_url(auth, "serverAddress", "only query and queryTime are sent", err))
		return -1;
	buf_printf(&url, "%s/render?from=", auth->url);
	buf_put_percent(&url, since, "");
	buf_puts(&url, "&target=");
	buf_put_percent(&url, q->query, "");
	buf_puts(&url, "&format=json");
	too_long = buf_failed(&url);
	q->url = buf_take(&url);
	return too_long
		? err_set(err, ERR_INVALID, "parameter \"query\" is too long: the URL may have %zu bytes", URL_MAX)
		: 0;
}

static struct graphite_question *make_question(struct graphite_fields *f, struct httpauth *auth, struct err *err)
{
	struct graphite_question *q = mem_zalloc(sizeof(*q));

	q->login = (struct httpsource_login){ webaccess_ref(auth->access), auth->timeout_ms };
	q->query = f->query;
	f->query = NULL;
	if (make_url(q, auth, f->since, err) == 0)
		return q;
	graphite_free_data(q);
	return NULL;
}

static int graphite_build(const struct scaler_params *params, struct scaler *out, char **metric_name, struct err *err)
{
	struct graphite_fields f = { 0 };
	struct httpauth auth = { 0 };
	struct graphite_question *q = NULL;
	char where[256];
	int rc = params_read(&table, params, &f, err)
		? -1
		: httpauth_read(params, "serverAddress", f.server, HTTPAUTH_BASIC_UNSAID, &auth, err);

	if (rc == 0) {
		q = make_question(&f, &auth, err);
		rc = q ? 0 : -1;
	}
	if (q) {
		out->question = question_new(&graphite_scaler_type,
			mem_printf("graphite %s %s %lld", q->url, webaccess_key(q->login.access),
				(long long)q->login.timeout_ms),
			mem_printf("graphite %s", httpurl_origin(auth.url, where, sizeof(where))), q);
		out->question->timeout_ms = q->login.timeout_ms ? q->login.timeout_ms : QUESTION_TIMEOUT_HTTP;
	}
	out->target = f.target;
	out->activation = f.activation;
	*metric_name = mem_dup("graphite");
	httpauth_done(&auth);
	params_done(&table, &f);
	return rc;
}

/* ---- Asking ---- */

static int graphite_request(const struct httpsource *ask, struct webrequest *out, struct err *err)
{
	const struct graphite_question *q = ask->base.question->data;

	(void)err;
	out->url = mem_dup(q->url);
	out->max_body = ANSWER_MAX;
	return 0;
}

static enum httpsource_verdict graphite_read(struct httpsource *ask, const struct webresponse *answer,
	struct answer *out, struct err *err)
{
	const struct graphite_question *q = ask->base.question->data;

	if (httpsource_expect(answer, 200, 200, err) == 0 &&
		graphitereply_read(answer->body, answer->len, &out->value, err) == 0)
		return HTTPSOURCE_ANSWERED;
	err_wrap(err, "query %.*s%s", QUERY_SHOWN, q->query, strlen(q->query) > QUERY_SHOWN ? "..." : "");
	return HTTPSOURCE_FAILED;
}

static const struct httpsource_type graphite_http = { .request = graphite_request, .read = graphite_read };

const struct scaler_type graphite_scaler_type = {
	.name = "graphite",
	.go_name = "graphiteScaler",
	.tables = { &table, &httpauth_table },
	.build = graphite_build,
	.ask = httpsource_ask,
	.cancel = httpsource_cancel,
	.http = &graphite_http,
	.free_data = graphite_free_data,
};
