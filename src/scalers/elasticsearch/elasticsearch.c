/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/elasticsearch/elasticsearch.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fingerprint.h"
#include "base/mem.h"
#include "net/http/httpurl.h"
#include "net/loop.h"
#include "scalers/elasticsearch/searchreply.h"
#include "scalers/elasticsearch/searchrequest.h"
#include "scalers/httpsource.h"
#include "scalers/params.h"
#include "scalers/values/jsonpath.h"

#define ADDRESSES_MAX  32
#define LEFT_LEAST_MS  20 /* for one address */
#define LOCATION_SHOWN 120

/* The data of a question. Owns its texts. */
struct search_question {
	struct httpsource_login login;
	char *addresses[ADDRESSES_MAX]; /* without a slash at the end */
	size_t count;
	size_t first; /* of them: it answered last */
	char *path, *body, *location;
	struct jsonpath *json; /* location, compiled */
	bool null_is_zero;
	const char *proof; /* constant: what to look at when nobody is let in */
};

/* The parameters as written. Owns its texts. */
struct search_fields {
	struct param_list addresses;
	char *cloud_id, *api_key;
	char *username, *password, *ca, *cert, *key;
	bool by_certificate, insecure;
	char *index, *template, *query, *parameters, *location;
	bool null_is_zero;
	struct quantity target;
	double activation;
};

#define AT(field) offsetof(struct search_fields, field)
static const struct param_row rows[] = {
	{ "index", PARAM_TEXT, "am", AT(index), .required = true, .help = "what is searched; several: a;b" },
	{ "searchTemplateName", PARAM_TEXT, "am", AT(template), .help = "search template" },
	{ "parameters", PARAM_TEXT, "m", AT(parameters), .help = "of the template: name:value;name:value" },
	{ "query", PARAM_TEXT, "am", AT(query), .help = "search, instead of a template: JSON" },
	{ "valueLocation", PARAM_TEXT, "am", AT(location), .required = true,
		.help = "where the number stands in the answer" },
	{ "ignoreNullValues", PARAM_BOOL, "m", AT(null_is_zero), .help = "whether nothing is 0" },
	{ "targetValue", PARAM_TARGET, "am", AT(target), .required = true, .help = "target: as much per replica" },
	{ "activationTargetValue", PARAM_DOUBLE, "m", AT(activation), .help = "active when it is more" },
	{ "unsafeSsl", PARAM_BOOL, "m", AT(insecure), .help = "TLS that verifies nothing" },
	{ "username", PARAM_TEXT, "am", AT(username), .help = "user" },
	{ "password", PARAM_TEXT, "aem", AT(password), .help = "password" },
};
static const struct param_table table = PARAM_TABLE(rows);

static const struct param_row elasticsearch_rows[] = {
	{ "addresses", PARAM_LIST, "am", AT(addresses), .help = "URLs of the servers" },
	{ "cloudID", PARAM_TEXT, "am", AT(cloud_id), .help = "deployment of Elastic Cloud, instead of addresses" },
	{ "apiKey", PARAM_TEXT, "am", AT(api_key), .help = "key for it" },
};
static const struct param_table elasticsearch_table = PARAM_TABLE(elasticsearch_rows);

static const struct param_row opensearch_rows[] = {
	{ "addresses", PARAM_LIST, "am", AT(addresses), .required = true, .help = "URLs of the servers" },
	{ "enableTLS", PARAM_BOOL, "ma", AT(by_certificate),
		.help = "client certificate instead of user and password" },
	{ "caCert", PARAM_TEXT, "am", AT(ca), .help = "authority that signs the server, PEM" },
	{ "clientCert", PARAM_TEXT, "am", AT(cert), .help = "enableTLS: client certificate, PEM" },
	{ "clientKey", PARAM_TEXT, "am", AT(key), .help = "enableTLS: its key, PEM" },
};
static const struct param_table opensearch_table = PARAM_TABLE(opensearch_rows);

static void free_data(void *data)
{
	struct search_question *q = data;

	webaccess_unref(q->login.access);
	for (size_t i = 0; i < q->count; i++)
		free(q->addresses[i]);
	free(q->path);
	free(q->body);
	free(q->location);
	jsonpath_free(q->json);
	free(q);
}

/* ---- Whom to ask, and as whom ---- */

static int add_address(struct search_question *q, const char *text, struct err *err)
{
	char *clean = NULL, *user = NULL, *password = NULL;
	int rc = q->count == ADDRESSES_MAX ? err_set(err, ERR_INVALID, "more than %d addresses", ADDRESSES_MAX)
					   : httpurl_split_user(text, &clean, &user, &password, err);

	if (rc == 0 && user)
		rc = err_set(err, ERR_INVALID, "must be without user and password, which are parameters of their own");
	else if (rc == 0 && strchr(clean, '?'))
		rc = err_set(err, ERR_INVALID, "must not have a query (?...): the path of a search is added");
	free(user);
	mem_free_secret(password);
	if (rc) {
		free(clean);
		return -1;
	}
	for (size_t len = strlen(clean); len > 0 && clean[len - 1] == '/'; len--)
		clean[len - 1] = '\0';
	q->addresses[q->count++] = clean;
	return 0;
}

static int add_addresses(struct search_question *q, const struct param_list *list, struct err *err)
{
	for (size_t i = 0; i < list->count; i++)
		if (*list->items[i] && add_address(q, list->items[i], err))
			return err_wrap(err, "parameter \"addresses\", piece %zu", i + 1);
	return 0;
}

static int log_in(struct search_question *q, const struct webaccess_config *config, const char *proof, struct err *err)
{
	q->proof = proof;
	q->login.access = webaccess_new(config, err);
	return q->login.access ? 0 : -1;
}

static int log_in_with_password(struct search_question *q, const struct search_fields *f, struct err *err)
{
	const struct webaccess_config config = { .username = f->username,
		.password = f->password,
		.ca_pem = f->ca,
		.insecure = f->insecure };

	return log_in(q, &config, "username and password", err);
}

static int log_in_with_key(struct search_question *q, const struct search_fields *f, struct err *err)
{
	char *value = mem_printf("ApiKey %s", f->api_key);
	const struct webaccess_config config = { .header_name = "Authorization",
		.header_value = value,
		.password = f->api_key,
		.insecure = f->insecure };
	int rc = log_in(q, &config, "apiKey", err);

	mem_free_secret(value);
	return rc ? err_wrap(err, "parameter \"apiKey\"") : 0;
}

static int reach_elasticsearch(struct search_question *q, const struct search_fields *f, struct err *err)
{
	MEM_AUTO char *url = NULL;
	bool cloud = f->cloud_id || f->api_key, servers = f->addresses.count > 0;

	if (cloud && (servers || f->username || f->password))
		return err_set_about(err, "cloudID", "can't provide both cloud config and endpoint addresses");
	if (!cloud && !servers && !f->username && !f->password)
		return err_set_about(err, "addresses", "must provide either cloud config or endpoint addresses");
	if (cloud && (!f->cloud_id || !f->api_key))
		return err_set_about(err, f->cloud_id ? "apiKey" : "cloudID",
			"both cloudID and apiKey must be provided when cloudID or apiKey is used");
	if (!cloud && (!f->username || !f->password))
		return err_set_about(err, f->username ? "password" : "username",
			"both username and password must be provided when addresses is used");
	if (!cloud && q->count == 0)
		return err_set(err, ERR_INVALID, "parameter \"addresses\" has no address");
	if (!cloud)
		return log_in_with_password(q, f, err);
	if (searchrequest_cloud(f->cloud_id, &url, err))
		return -1;
	if (add_address(q, url, err))
		return err_wrap(err, "parameter \"cloudID\"");
	return log_in_with_key(q, f, err);
}

static int reach_opensearch(struct search_question *q, const struct search_fields *f, struct err *err)
{
	const struct webaccess_config config = { .ca_pem = f->ca,
		.cert_pem = f->cert,
		.key_pem = f->key,
		.insecure = f->insecure };

	if (f->by_certificate && (!f->cert || !f->key))
		return err_set_about(err, f->cert ? "clientKey" : "clientCert",
			"both clientCert and clientKey must be provided when enableTLS is true");
	if (!f->by_certificate && (!f->username || !f->password))
		return err_set_about(err, f->username ? "password" : "username",
			"both username and password must be provided for basic auth");
	if (q->count == 0)
		return err_set(err, ERR_INVALID, "parameter \"addresses\" has no address");
	return f->by_certificate ? log_in(q, &config, "clientCert and clientKey", err)
				 : log_in_with_password(q, f, err);
}

/* ---- What to ask ---- */

/* How the two types differ. */
struct search_kind {
	const struct scaler_type *type;
	const struct param_table *login;
	int (*reach)(struct search_question *q, const struct search_fields *f, struct err *err);
	bool empty_parameters; /* of a template are taken */
	bool strict_query;     /* must be JSON; Elasticsearch takes comments in it, too */
};

static int check_query(const struct search_kind *kind, const struct search_fields *f, struct err *err)
{
	json_t *query;

	if (!f->template && !f->query)
		return err_set_about(err, "query", "either searchTemplateName or query must be provided");
	if (f->template && f->query)
		return err_set_about(err, "searchTemplateName", "cannot provide both searchTemplateName and query");
	if (f->query && strlen(f->query) > SEARCHREQUEST_BODY_MAX)
		return err_set(err, ERR_INVALID, "parameter \"query\" has more than %zu bytes", SEARCHREQUEST_BODY_MAX);
	if (!f->query || !kind->strict_query)
		return 0;
	query = json_loadb(f->query, strlen(f->query), JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, NULL);
	json_decref(query);
	return query ? 0 : err_set(err, ERR_INVALID, "parameter \"query\": invalid query JSON");
}

/* Known fields alone are looked at: others may come from an authentication that was not read. */
static int compile_known(const struct search_kind *kind, struct search_question *q, struct search_fields *f,
	struct err *err)
{
	int rc = add_addresses(q, &f->addresses, err);

	if (rc == 0 && f->location) {
		q->json = jsonpath_compile(f->location, err);
		rc = q->json ? 0
			     : err_wrap(err, "parameter \"valueLocation\" value \"%.*s\"", LOCATION_SHOWN, f->location);
	}
	if (rc == 0 && f->index)
		rc = searchrequest_path(f->index, f->template != NULL, &q->path, err);
	if (rc == 0 && f->template) {
		rc = searchrequest_template(f->template, f->parameters, kind->empty_parameters, &q->body, err);
	} else if (rc == 0) {
		q->body = f->query;
		f->query = NULL;
	}
	q->location = f->location;
	f->location = NULL;
	q->null_is_zero = f->null_is_zero;
	return rc;
}

/* 1: some values are unknown, and q is incomplete. */
static int read_question(const struct search_kind *kind, const struct scaler_params *params, struct search_fields *f,
	struct search_question *q, struct err *err)
{
	int rc = params_read(&table, params, f, err), login_rc = rc < 0 ? -1 : params_read(kind->login, params, f, err);

	if (login_rc < 0)
		return -1;
	if (!params_is_unknown(&table, params, AT(template)) && !params_is_unknown(&table, params, AT(query)) &&
		check_query(kind, f, err))
		return -1;
	if (compile_known(kind, q, f, err))
		return -1;
	if (rc || login_rc)
		return 1;
	return kind->reach(q, f, err);
}

/* Addresses may come from an authentication: they are not shown here. */
static char *make_key(const struct search_kind *kind, const struct search_question *q)
{
	const char *texts[ADDRESSES_MAX + 3];
	char print[FINGERPRINT_TEXT];
	size_t count = 0;

	texts[count++] = q->path;
	texts[count++] = q->body;
	texts[count++] = q->location;
	for (size_t i = 0; i < q->count; i++)
		texts[count++] = q->addresses[i];
	return mem_printf("%s %s %s %s", kind->type->name, fingerprint_of(texts, count, print),
		webaccess_key(q->login.access), q->null_is_zero ? "zero" : "error");
}

static int build(const struct search_kind *kind, const struct scaler_params *params, struct scaler *out,
	char **metric_name, struct err *err)
{
	struct search_question *q = mem_zalloc(sizeof(*q));
	struct search_fields f = { 0 };
	int rc = read_question(kind, params, &f, q, err);
	char where[256];

	out->target = f.target;
	out->activation = f.activation;
	if (rc >= 0 && !params_is_unknown(&table, params, AT(template)))
		*metric_name = f.template ? params_normalise(mem_printf("%s-%s", kind->type->name, f.template))
					  : mem_printf("%s-query", kind->type->name);
	if (rc == 0) {
		out->question = question_new(kind->type, make_key(kind, q),
			mem_printf("%s %s", kind->type->name, httpurl_origin(q->addresses[0], where, sizeof(where))),
			q);
		out->question->timeout_ms = QUESTION_TIMEOUT_HTTP;
	} else {
		free_data(q);
	}
	params_done(&table, &f);
	params_done(kind->login, &f);
	return rc;
}

static int elasticsearch_build(const struct scaler_params *params, struct scaler *out, char **metric_name,
	struct err *err)
{
	static const struct search_kind kind = { &elasticsearch_scaler_type, &elasticsearch_table, reach_elasticsearch,
		.empty_parameters = true };

	return build(&kind, params, out, metric_name, err);
}

static int opensearch_build(const struct scaler_params *params, struct scaler *out, char **metric_name, struct err *err)
{
	static const struct search_kind kind = { &opensearch_scaler_type, &opensearch_table, reach_opensearch,
		.strict_query = true };

	return build(&kind, params, out, metric_name, err);
}

/* ---- Asking ---- */

/* The note is a size_t: how many addresses have failed. */
static const char *address_of(const struct httpsource *ask)
{
	const struct search_question *q = ask->base.question->data;
	const size_t *failed = ask->note;

	return q->addresses[(q->first + *failed) % q->count];
}

/* What is left of the time is shared out among the addresses that are left. */
static int request(const struct httpsource *ask, struct httpsource_request *out, struct err *err)
{
	const struct search_question *q = ask->base.question->data;
	const size_t *failed = ask->note;
	int64_t left_ms;

	if (q->count > 1) {
		left_ms = ask->deadline_ms - loop_now_ms(ask->sources->loop);
		out->timeout_ms = left_ms / (int64_t)(q->count - *failed);
		if (out->timeout_ms < LEFT_LEAST_MS)
			return err_set(err, ERR_TEMPORARY, "no address answered, and no time is left for another");
	}
	out->url = mem_printf("%s%s", address_of(ask), q->path);
	out->body = mem_dup(q->body);
	out->content_type = "application/json";
	return 0;
}

/* The next address, if there is one. */
static enum httpsource_verdict next_address(struct httpsource *ask)
{
	const struct search_question *q = ask->base.question->data;
	size_t *failed = ask->note;

	if (*failed + 1 >= q->count)
		return HTTPSOURCE_FAILED;
	++*failed;
	return HTTPSOURCE_NEXT;
}

static enum httpsource_verdict lost(struct httpsource *ask, const struct err *err)
{
	return err->kind == ERR_TEMPORARY ? next_address(ask) : HTTPSOURCE_FAILED;
}

static int judge_status(const struct httpsource *ask, const struct webget_answer *answer, struct err *err)
{
	const struct search_question *q = ask->base.question->data;
	const char *name = ask->base.question->type->name;
	char words[SEARCHREPLY_WORDS];

	if (httpsource_expect(answer, 200, 299, err) == 0)
		return 0;
	if (answer->status == 401)
		err_set(err, ERR_DENIED, "%s authentication failed (HTTP 401): check %s", name, q->proof);
	else if (answer->status == 403)
		err_set(err, ERR_DENIED, "%s authorization failed (HTTP 403): user has insufficient permissions", name);
	else if (*searchreply_words(answer->body, answer->len, words))
		err_set(err, err->kind, "HTTP status %d: %s", answer->status, words);
	if (err->kind != ERR_NONE)
		err->http_status = answer->status;
	return -1;
}

static enum httpsource_verdict judge(struct httpsource *ask, const struct webget_answer *answer, struct answer *out,
	struct err *err)
{
	struct search_question *q = ask->base.question->data;
	const struct searchreply_rule rule = { q->json, q->null_is_zero };
	const size_t *failed = ask->note;
	bool away = answer->status == 502 || answer->status == 503 || answer->status == 504;
	char where[256];

	if (away && next_address(ask) == HTTPSOURCE_NEXT)
		return HTTPSOURCE_NEXT;
	if (judge_status(ask, answer, err) == 0 &&
		searchreply_read(&rule, answer->body, answer->len, &out->value, err) == 0) {
		q->first = (q->first + *failed) % q->count;
		return HTTPSOURCE_ANSWERED;
	}
	if (q->count > 1)
		err_wrap(err, "%s", httpurl_origin(address_of(ask), where, sizeof(where)));
	return HTTPSOURCE_FAILED;
}

static const struct httpsource_type http = { .note_size = sizeof(size_t),
	.request = request,
	.read = judge,
	.lost = lost };

const struct scaler_type elasticsearch_scaler_type = {
	.name = "elasticsearch",
	.go_name = "elasticsearchScaler",
	.tables = { &table, &elasticsearch_table },
	.build = elasticsearch_build,
	.ask = httpsource_ask,
	.cancel = httpsource_cancel,
	.http = &http,
	.free_data = free_data,
};

const struct scaler_type opensearch_scaler_type = {
	.name = "opensearch",
	.go_name = "opensearchScaler",
	.tables = { &table, &opensearch_table },
	.build = opensearch_build,
	.ask = httpsource_ask,
	.cancel = httpsource_cancel,
	.http = &http,
	.free_data = free_data,
};
