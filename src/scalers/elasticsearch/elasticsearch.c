/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trigger types `elasticsearch` and `opensearch` (doc/keda.md 8.9): a number in the answer to a
 * search, which is given as a query or as the name of a search template. The types send the same
 * requests and differ in the login. scalers/elasticsearch/searchrequest makes the request,
 * searchreply reads the answer.
 *
 * Requests go to the address that answered last. If it does not answer, or is a proxy that reports
 * its server as down (502, 503, 504), the next one is tried.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/http/httpurl.h"
#include "net/loop.h"
#include "scalers/elasticsearch/searchreply.h"
#include "scalers/elasticsearch/searchrequest.h"
#include "scalers/http/httpsource.h"
#include "scalers/params.h"
#include "scalers/types.h"
#include "scalers/values/jsonpath.h"

#define ADDRESSES_MAX  32
#define LEFT_LEAST_MS  20 /* the least time for one address */
#define LOCATION_SHOWN 120

/* login.url is the first address. */
struct search {
	struct httplogin login;
	char *index, *template, *query, *parameters, *location;
	bool null_is_zero;
	char *addresses[ADDRESSES_MAX]; /* without trailing slashes */
	size_t count;
	size_t first;               /* index of the address that answered last */
	char *path, *template_body; /* template_body is NULL for a query */
	struct jsonpath *json;      /* location, compiled */
	const char *credentials;    /* constant: parameters to check when the login fails */
};

#define AT(field) offsetof(struct search, field)
static const struct param_row rows[] = {
	{ "index", PARAM_TEXT, "am", AT(index), .required = true, .help = "indexes to search, separated by ;" },
	{ "searchTemplateName", PARAM_TEXT, "am", AT(template), .help = "name of a stored search template" },
	{ "parameters", PARAM_TEXT, "m", AT(parameters), .help = "parameters of the template: name:value;name:value" },
	{ "query", PARAM_TEXT, "am", AT(query), .help = "search in JSON, instead of a template" },
	{ "valueLocation", PARAM_TEXT, "am", AT(location), .required = true,
		.help = "GJSON path to the number in the answer" },
	{ "ignoreNullValues", PARAM_BOOL, "m", AT(null_is_zero),
		.help = "true: a missing value is 0; false: it is an error" },
	{ "targetValue", PARAM_TARGET, "am", .required = true, .help = "target: value per replica" },
	{ "activationTargetValue", PARAM_ACTIVATION, "m", .help = "active above this value" },
};
static const struct param_table table = PARAM_TABLE(rows);

struct search_login {
	struct param_list addresses;
	char *cloud_id, *api_key;
	char *username, *password, *ca, *cert, *key;
	bool by_certificate, insecure;
};

#define LOGIN_AT(field) offsetof(struct search_login, field)
static const struct param_row login_rows[] = {
	{ "unsafeSsl", PARAM_BOOL, "m", LOGIN_AT(insecure), .help = "true: do not verify the server's certificate" },
	{ "username", PARAM_TEXT, "am", LOGIN_AT(username), .help = "user" },
	{ "password", PARAM_TEXT, "aem", LOGIN_AT(password), .help = "password" },
};
static const struct param_table login_table = PARAM_LOGIN_TABLE(login_rows);

static const struct param_row elasticsearch_rows[] = {
	{ "addresses", PARAM_LIST, "am", LOGIN_AT(addresses), .help = "URLs of the servers" },
	{ "cloudID", PARAM_TEXT, "am", LOGIN_AT(cloud_id), .help = "Elastic Cloud deployment, instead of addresses" },
	{ "apiKey", PARAM_TEXT, "am", LOGIN_AT(api_key), .help = "API key of the deployment" },
};
static const struct param_table elasticsearch_table = PARAM_LOGIN_TABLE(elasticsearch_rows);

static const struct param_row opensearch_rows[] = {
	{ "addresses", PARAM_LIST, "am", LOGIN_AT(addresses), .required = true, .help = "URLs of the servers" },
	{ "enableTLS", PARAM_BOOL, "ma", LOGIN_AT(by_certificate),
		.help = "true: log in by client certificate instead of user and password" },
	{ "caCert", PARAM_TEXT, "am", LOGIN_AT(ca), .help = "CA certificates to verify the server with, PEM" },
	{ "clientCert", PARAM_TEXT, "am", LOGIN_AT(cert), .help = "enableTLS: client certificate, PEM" },
	{ "clientKey", PARAM_TEXT, "am", LOGIN_AT(key), .help = "enableTLS: private key of clientCert, PEM" },
};
static const struct param_table opensearch_table = PARAM_LOGIN_TABLE(opensearch_rows);

static void data_done(void *data)
{
	struct search *q = data;

	for (size_t i = 0; i < q->count; i++)
		free(q->addresses[i]);
	free(q->path);
	free(q->template_body);
	jsonpath_free(q->json);
}

/* ---- Addresses and login ---- */

static int add_address(struct search *q, const char *text, struct err *err)
{
	char *clean = NULL, *user = NULL, *password = NULL;
	int rc = q->count == ADDRESSES_MAX ? err_set(err, ERR_INVALID, "more than %d addresses", ADDRESSES_MAX)
					   : httpurl_split_user(text, &clean, &user, &password, err);

	if (rc == 0 && user)
		rc = err_set(err, ERR_INVALID,
			"must not contain user and password: use the parameters username and password");
	else if (rc == 0 && strchr(clean, '?'))
		rc = err_set(err, ERR_INVALID, "must not have a query (?...): the path of a search is added");
	free(user);
	mem_free_secret(password);
	if (rc) {
		free(clean);
		return -1;
	}
	httpurl_cut_slashes(clean);
	q->addresses[q->count++] = clean;
	return 0;
}

static int add_addresses(struct search *q, const struct param_list *list, struct err *err)
{
	for (size_t i = 0; i < list->count; i++)
		if (*list->items[i] && add_address(q, list->items[i], err))
			return err_wrap(err, "parameter \"addresses\", piece %zu", i + 1);
	return 0;
}

static int log_in(struct search *q, const struct webaccess_config *config, const char *credentials, struct err *err)
{
	q->credentials = credentials;
	return httplogin_log_in(&q->login, config, err);
}

static int log_in_with_password(struct search *q, const struct search_login *f, struct err *err)
{
	const struct webaccess_config config = { .username = f->username,
		.password = f->password,
		.ca_pem = f->ca,
		.insecure = f->insecure };

	return log_in(q, &config, "username and password", err);
}

static int log_in_with_key(struct search *q, const struct search_login *f, struct err *err)
{
	char *value = mem_printf("ApiKey %s", f->api_key);
	const struct webaccess_config config = { .header_name = "Authorization",
		.header_value = value,
		.password = f->api_key,
		.insecure = f->insecure };
	int rc = log_in(q, &config, "apiKey", err);

	mem_free_secret(value);
	return rc ? params_wrap(err, "apiKey") : 0;
}

static int reach_elasticsearch(struct search *q, const struct search_login *f, struct err *err)
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
		return params_wrong(err, "addresses", "has no address");
	if (!cloud)
		return log_in_with_password(q, f, err);
	if (searchrequest_cloud(f->cloud_id, &url, err))
		return -1;
	if (add_address(q, url, err))
		return params_wrap(err, "cloudID");
	return log_in_with_key(q, f, err);
}

static int reach_opensearch(struct search *q, const struct search_login *f, struct err *err)
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
		return params_wrong(err, "addresses", "has no address");
	return f->by_certificate ? log_in(q, &config, "clientCert and clientKey", err)
				 : log_in_with_password(q, f, err);
}

/* ---- The search ---- */

/* The differences between the two types. */
struct search_kind {
	const struct param_table *login_table;
	int (*reach)(struct search *q, const struct search_login *f, struct err *err);
	bool empty_parameters; /* a template's parameters may be empty */
	bool strict_query;     /* query must be strict JSON; Elasticsearch allows comments */
};

static int check_query(const struct search_kind *kind, const struct search *q, struct err *err)
{
	json_t *query;

	if (!q->template && !q->query)
		return err_set_about(err, "query", "either searchTemplateName or query must be provided");
	if (q->template && q->query)
		return err_set_about(err, "searchTemplateName", "cannot provide both searchTemplateName and query");
	if (q->query && strlen(q->query) > SEARCHREQUEST_BODY_MAX)
		return params_wrong(err, "query", "has more than %zu bytes", SEARCHREQUEST_BODY_MAX);
	if (!q->query || !kind->strict_query)
		return 0;
	query = json_loadb(q->query, strlen(q->query), JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, NULL);
	json_decref(query);
	return query ? 0 : params_wrong(err, "query", ": invalid query JSON");
}

/* Skips unknown fields, which come from an authentication that was not read. */
static int compile_known(const struct search_kind *kind, struct search *q, const struct search_login *f,
	struct err *err)
{
	int rc = add_addresses(q, &f->addresses, err);

	if (rc == 0 && q->location) {
		q->json = jsonpath_compile(q->location, err);
		rc = q->json ? 0
			     : err_wrap(err, "parameter \"valueLocation\" value \"%.*s\"", LOCATION_SHOWN, q->location);
	}
	if (rc == 0 && q->index)
		rc = searchrequest_path(q->index, q->template != NULL, &q->path, err);
	if (rc == 0 && q->template)
		rc = searchrequest_template(q->template, q->parameters, kind->empty_parameters, &q->template_body, err);
	return rc;
}

static int build_search(const struct search_kind *kind, struct scaler_build *b, struct err *err)
{
	struct search_login *f = params_login(b, sizeof(*f));
	bool known = !params_is_unknown(&table, b->params, AT(template));
	struct search *q = b->data;

	if (params_read_rows(b, &login_table, 0, f, err) || params_read_rows(b, kind->login_table, 0, f, err))
		return -1;
	if (known && !params_is_unknown(&table, b->params, AT(query)) && check_query(kind, q, err))
		return -1;
	if (compile_known(kind, q, f, err) || (!b->open && kind->reach(q, f, err)))
		return -1;
	if (known)
		b->metric_name = q->template ? mem_printf("%s-%s", b->params->type, q->template)
					     : mem_printf("%s-query", b->params->type);
	q->login.url = mem_dup(q->count > 0 ? q->addresses[0] : NULL);
	for (size_t i = 1; i < q->count; i++)
		params_add_key(b, q->addresses[i]);
	return 0;
}

static int build_elasticsearch(struct scaler_build *b, struct err *err)
{
	static const struct search_kind kind = { &elasticsearch_table, reach_elasticsearch, .empty_parameters = true };

	return build_search(&kind, b, err);
}

static int build_opensearch(struct scaler_build *b, struct err *err)
{
	static const struct search_kind kind = { &opensearch_table, reach_opensearch, .strict_query = true };

	return build_search(&kind, b, err);
}

/* ---- Asking ---- */

/* The note is a size_t: the number of addresses that have failed. */
static const char *address_of(const struct httpsource *ask)
{
	const struct search *q = ask->data;
	const size_t *failed = ask->state;

	return q->addresses[(q->first + *failed) % q->count];
}

/* Each remaining address gets an equal share of the remaining time. */
static int request(const struct httpsource *ask, struct webrequest *out, struct err *err)
{
	const struct search *q = ask->data;
	const size_t *failed = ask->state;
	int64_t left_ms;

	if (q->count > 1) {
		left_ms = ask->base.deadline_ms - loop_now_ms(ask->base.sources->loop);
		out->timeout_ms = left_ms / (int64_t)(q->count - *failed);
		if (out->timeout_ms < LEFT_LEAST_MS)
			return err_set(err, ERR_TEMPORARY, "no address answered, and no time is left for another");
	}
	out->url = mem_printf("%s%s", address_of(ask), q->path);
	out->body = mem_dup(q->template ? q->template_body : q->query);
	out->content_type = "application/json";
	return 0;
}

/* The next address, if there is one. */
static enum exchange_verdict next_address(struct httpsource *ask)
{
	const struct search *q = ask->data;
	size_t *failed = ask->state;

	if (*failed + 1 >= q->count)
		return EXCHANGE_FAILED;
	++*failed;
	return EXCHANGE_NEXT;
}

static enum exchange_verdict lost(struct httpsource *ask, const struct err *err)
{
	return err->kind == ERR_TEMPORARY ? next_address(ask) : EXCHANGE_FAILED;
}

static int judge_status(const struct httpsource *ask, const struct webresponse *answer, struct err *err)
{
	const struct search *q = ask->data;
	const char *name = ask->base.question->type->name;
	char words[SEARCHREPLY_WORDS];

	if (httpsource_expect(answer, 200, 299, err) == 0)
		return 0;
	if (answer->status == 401)
		err_set(err, ERR_DENIED, "%s authentication failed (HTTP 401): check %s", name, q->credentials);
	else if (answer->status == 403)
		err_set(err, ERR_DENIED, "%s authorization failed (HTTP 403): user has insufficient permissions", name);
	else if (*searchreply_words(answer->body, answer->len, words))
		err_set(err, err->kind, "HTTP status %d: %s", answer->status, words);
	if (err->kind != ERR_NONE)
		err->http_status = answer->status;
	return -1;
}

static enum exchange_verdict judge(struct httpsource *ask, const struct webresponse *answer, struct answer *out,
	struct err *err)
{
	struct search *q = ask->data;
	const struct searchreply_rule rule = { q->json, q->null_is_zero };
	const size_t *failed = ask->state;
	bool away = answer->status == 502 || answer->status == 503 || answer->status == 504;
	char where[256];

	if (away && next_address(ask) == EXCHANGE_NEXT)
		return EXCHANGE_NEXT;
	if (judge_status(ask, answer, err) == 0 &&
		searchreply_read(&rule, answer->body, answer->len, &out->value, err) == 0) {
		q->first = (q->first + *failed) % q->count;
		return EXCHANGE_DONE;
	}
	if (q->count > 1)
		err_wrap(err, "%s", httpurl_origin(address_of(ask), where, sizeof(where)));
	return EXCHANGE_FAILED;
}

static const struct httpsource_type http = { .state_size = sizeof(size_t),
	.request = request,
	.read = judge,
	.lost = lost };

const struct scaler_type elasticsearch_scaler_type = {
	.name = "elasticsearch",
	.go_name = "elasticsearchScaler",
	.tables = { &table, &login_table, &elasticsearch_table },
	.data_size = sizeof(struct search),
	.build = build_elasticsearch,
	.data_done = data_done,
	.asker = &httpsource_asker,
	.http = &http,
};

const struct scaler_type opensearch_scaler_type = {
	.name = "opensearch",
	.go_name = "opensearchScaler",
	.tables = { &table, &login_table, &opensearch_table },
	.data_size = sizeof(struct search),
	.build = build_opensearch,
	.data_done = data_done,
	.asker = &httpsource_asker,
	.http = &http,
};
