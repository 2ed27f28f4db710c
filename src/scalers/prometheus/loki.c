/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/prometheus/loki.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fingerprint.h"
#include "base/mem.h"
#include "net/http/httpurl.h"
#include "scalers/http/httpsource.h"
#include "scalers/login/httpauth.h"
#include "scalers/params.h"
#include "scalers/prometheus/promreply.h"

#define URL_MAX ((size_t)1 << 16)
/* Bytes of the query shown in messages. */
#define QUERY_SHOWN 120

/* The data of a question. Owns its texts. */
struct loki_question {
	struct httpsource_login login;
	char *url, *query, *tenant; /* query: for messages; tenant: NULL for none */
	bool empty_is_zero;
};

/* The parameters as written. Owns its texts. */
struct loki_fields {
	char *server, *query, *tenant;
	bool empty_is_zero;
	struct quantity target;
	double activation;
};

#define AT(field) offsetof(struct loki_fields, field)
static const struct param_row rows[] = {
	{ "serverAddress", PARAM_TEXT, "m", AT(server), .required = true, .help = "URL of the server" },
	{ "query", PARAM_TEXT, "m", AT(query), .required = true, .help = "LogQL that gives one number" },
	{ "tenantName", PARAM_TEXT, "m", AT(tenant), .help = "tenant: sent as X-Scope-OrgID" },
	{ "ignoreNullValues", PARAM_BOOL, "m", AT(empty_is_zero), .otherwise = "true", .help = "whether nothing is 0" },
	{ "threshold", PARAM_TARGET, "m", AT(target), .required = true, .help = "target: as much per replica" },
	{ "activationThreshold", PARAM_DOUBLE, "m", AT(activation), .help = "active when it is more" },
};
static const struct param_table table = PARAM_TABLE(rows);

static void loki_free_data(void *data)
{
	struct loki_question *q = data;

	webaccess_unref(q->login.access);
	free(q->url);
	free(q->query);
	free(q->tenant);
	free(q);
}

/* ---- Building ---- */

/*
 * What is missing of the path behind the URL, as KEDA looks at it: nothing where the URL ends in
 * all of it, the rest where the URL's path is its beginning, else all of it.
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

static int make_url(struct loki_question *q, struct httpauth *auth, struct err *err)
{
	struct buf url = BUF_INIT(URL_MAX);
	bool too_long;

	if (httpauth_cut_url(auth, "serverAddress", "only the query of the trigger is sent", err))
		return -1;
	buf_printf(&url, "%s%s?query=", auth->url, rest_of_path(auth->url));
	buf_put_percent(&url, q->query, "");
	too_long = buf_failed(&url);
	q->url = buf_take(&url);
	return too_long
		? err_set(err, ERR_INVALID, "parameter \"query\" is too long: the URL may have %zu bytes", URL_MAX)
		: 0;
}

static struct loki_question *make_question(struct loki_fields *f, struct httpauth *auth, struct err *err)
{
	struct loki_question *q = mem_zalloc(sizeof(*q));

	*q = (struct loki_question){ .login = { webaccess_ref(auth->access), auth->timeout_ms },
		.query = f->query,
		.tenant = f->tenant,
		.empty_is_zero = f->empty_is_zero };
	f->query = f->tenant = NULL;
	if (make_url(q, auth, err) == 0)
		return q;
	loki_free_data(q);
	return NULL;
}

/* The tenant as a fingerprint, as headers are. */
static char *make_key(const struct loki_question *q)
{
	const char *const texts[] = { q->tenant ? q->tenant : "" };
	char tenant[FINGERPRINT_TEXT];

	return mem_printf("loki %s %s %s %lld %s", q->url, webaccess_key(q->login.access),
		fingerprint_of(texts, 1, tenant), (long long)q->login.timeout_ms, q->empty_is_zero ? "zero" : "error");
}

static int loki_build(const struct scaler_params *params, struct scaler *out, char **metric_name, struct err *err)
{
	struct loki_fields f = { 0 };
	struct httpauth auth = { 0 };
	struct loki_question *q = NULL;
	char where[256];
	int rc = params_read(&table, params, &f, err) ? -1
						      : httpauth_read(params, "serverAddress", f.server, 0, &auth, err);

	if (rc == 0) {
		q = make_question(&f, &auth, err);
		rc = q ? 0 : -1;
	}
	if (q) {
		out->question = question_new(&loki_scaler_type, make_key(q),
			mem_printf("loki %s", httpurl_origin(auth.url, where, sizeof(where))), q);
		out->question->timeout_ms = q->login.timeout_ms ? q->login.timeout_ms : QUESTION_TIMEOUT_HTTP;
	}
	out->target = f.target;
	out->activation = f.activation;
	*metric_name = mem_dup("loki");
	httpauth_done(&auth);
	params_done(&table, &f);
	return rc;
}

/* ---- Asking ---- */

static int loki_request(const struct httpsource *ask, struct webrequest *out, struct err *err)
{
	const struct loki_question *q = ask->base.question->data;

	(void)err;
	out->url = mem_dup(q->url);
	if (q->tenant)
		strmap_set(&out->headers, "X-Scope-OrgID", q->tenant);
	return 0;
}

/* What is wrong with a query Loki says in plain words. */
static enum httpsource_verdict loki_read(struct httpsource *ask, const struct webresponse *answer, struct answer *out,
	struct err *err)
{
	const struct loki_question *q = ask->base.question->data;
	enum promreply reply = httpsource_expect(answer, 200, 299, err)
		? PROMREPLY_FAILED
		: promreply_read(answer->status, answer->content_type, answer->body, answer->len, &out->value, err);

	if (reply == PROMREPLY_VALUE)
		return HTTPSOURCE_ANSWERED;
	out->value = 0;
	if (reply == PROMREPLY_EMPTY && q->empty_is_zero)
		return HTTPSOURCE_ANSWERED;
	if (reply == PROMREPLY_EMPTY)
		err_wrap(err, "ignoreNullValues is false");
	err_wrap(err, "query %.*s%s", QUERY_SHOWN, q->query, strlen(q->query) > QUERY_SHOWN ? "..." : "");
	return HTTPSOURCE_FAILED;
}

static const struct httpsource_type loki_http = { .request = loki_request, .read = loki_read };

const struct scaler_type loki_scaler_type = {
	.name = "loki",
	.go_name = "lokiScaler",
	.tables = { &table, &httpauth_table },
	.build = loki_build,
	.ask = httpsource_ask,
	.cancel = httpsource_cancel,
	.http = &loki_http,
	.free_data = loki_free_data,
};
