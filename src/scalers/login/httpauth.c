/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/login/httpauth.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "net/http/httpurl.h"
#include "net/identity/azurecloud.h"
#include "net/identity/googlekey.h"
#include "net/identity/oauthclient.h"
#include "scalers/login/awslogin.h"
#include "scalers/login/azurelogin.h"
#include "scalers/login/googlelogin.h"
#include "scalers/params.h"

enum mode { API_KEY = 1, BASIC = 2, TLS = 4, BEARER = 8, CUSTOM = 16, OAUTH = 32 };

static const struct {
	const char *word;
	enum mode mode;
} modes[] = {
	{ "apiKey", API_KEY },
	{ "basic", BASIC },
	{ "tls", TLS },
	{ "bearer", BEARER },
	{ "custom", CUSTOM },
	{ "oauth", OAUTH },
};

/* The parameters read. Owns its texts, most of which are secrets. */
struct httpauth_fields {
	struct param_list modes;
	char *bearer, *username, *password, *header_name, *header_value;
	char *api_key, *key_name;
	unsigned method; /* enum method */
	char *token_url, *client_id, *client_secret, *scopes, *params;
	char *region, *cloud, *resource;
	char *ca, *cert, *key;
	bool insecure;
	int64_t timeout_ms;
};

enum method { HEADER, QUERY };
static const char *const methods[] = { [HEADER] = "header", [QUERY] = "query", NULL };

/* Sources of values ("m", "a") as in doc/keda.md 6.4. */
#define AT(field) offsetof(struct httpauth_fields, field)
static const struct param_row rows[] = {
	{ "authModes|authMode", PARAM_LIST, "ma", AT(modes),
		.help = "login modes: apiKey, basic, tls, bearer, custom, oauth" },
	{ "ca", PARAM_TEXT, "a", AT(ca), .help = "CA certificates to verify the server with, PEM" },
	{ "unsafeSsl", PARAM_BOOL, "m", AT(insecure), .help = "true: do not verify the server's certificate" },
	{ "timeout", PARAM_DURATION, "m", AT(timeout_ms), .most = HTTPAUTH_TIMEOUT_MAX_MS,
		.help = "timeout of a request, at most 2m" },
	{ "bearerToken|token", PARAM_TEXT, "a", AT(bearer), .required = true, .when = BEARER, .help = "bearer: token" },
	{ "username", PARAM_TEXT, "a", AT(username), .required = true, .when = BASIC, .help = "basic: user" },
	{ "password", PARAM_TEXT, "a", AT(password), .when = BASIC, .help = "basic: password" },
	{ "oauthTokenURI", PARAM_TEXT, "a", AT(token_url), .required = true, .when = OAUTH,
		.help = "oauth: URL of the token endpoint" },
	{ "clientID", PARAM_TEXT, "a", AT(client_id), .required = true, .when = OAUTH, .help = "oauth: client ID" },
	{ "clientSecret", PARAM_TEXT, "a", AT(client_secret), .when = OAUTH, .help = "oauth: client secret" },
	{ "scopes|scope", PARAM_TEXT, "a", AT(scopes), .when = OAUTH, .help = "oauth: scopes" },
	{ "endpointParams", PARAM_TEXT, "a", AT(params), .when = OAUTH,
		.help = "oauth: further parameters of the token request" },
	{ "customAuthHeader", PARAM_TEXT, "a", AT(header_name), .required = true, .when = CUSTOM,
		.help = "custom: name of the header" },
	{ "customAuthValue", PARAM_TEXT, "a", AT(header_value), .required = true, .when = CUSTOM,
		.help = "custom: value of the header" },
	{ "cert", PARAM_TEXT, "a", AT(cert), .required = true, .when = TLS, .help = "tls: client certificate, PEM" },
	{ "key", PARAM_TEXT, "a", AT(key), .required = true, .when = TLS, .help = "tls: private key of cert, PEM" },
};
const struct param_table httpauth_table = PARAM_LOGIN_TABLE(rows);

static const struct param_row api_key_rows[] = {
	{ "apiKey", PARAM_TEXT, "ma", AT(api_key), .required = true, .when = API_KEY, .help = "apiKey: key" },
	{ "method", PARAM_CHOICE, "ma", AT(method), .when = API_KEY, .words = methods,
		.help = "apiKey: where to send the key" },
	{ "keyParamName", PARAM_TEXT, "ma", AT(key_name), .when = API_KEY,
		.help = "apiKey: name of the header or query parameter" },
};
const struct param_table httpauth_api_key_table = PARAM_LOGIN_TABLE(api_key_rows);

/* AWS and Azure, without authModes; Google's table is googlelogin's. */
static const struct param_row cloud_rows[] = {
	{ "awsRegion", PARAM_TEXT, "ma", AT(region), .help = "Amazon Managed Prometheus: AWS region" },
	{ "cloud", PARAM_TEXT, "m", AT(cloud), .help = "Azure Managed Prometheus: AzurePublicCloud and so on" },
	{ "azureManagedPrometheusResourceURL", PARAM_TEXT, "m", AT(resource),
		.help = "cloud Private: resource to request the token for" },
};
const struct param_table httpauth_cloud_table = PARAM_LOGIN_TABLE(cloud_rows);

/* ---- AuthModes ---- */

/* The value is not quoted: it may be a misplaced secret. */
static int take_modes(const struct param_list *list, unsigned features, unsigned *out, struct err *err)
{
	unsigned who;

	*out = 0;
	for (size_t i = 0; i < list->count; i++) {
		size_t m = 0;

		while (m < MEM_COUNT(modes) && strcmp(modes[m].word, list->items[i]) != 0)
			m++;
		if (m == MEM_COUNT(modes))
			return params_wrong(err, "authModes",
				"must be a list of apiKey, basic, tls, bearer, custom, oauth, "
				"separated by commas: piece %zu is not",
				i + 1);
		*out |= modes[m].mode;
	}
	who = *out & (BEARER | BASIC | OAUTH);
	if ((who & (who - 1)) != 0)
		return params_wrong(err, "authModes", "must contain only one of bearer, basic, oauth");
	if (*out & API_KEY && !(features & HTTPAUTH_API_KEY))
		return params_wrong(err, "authModes",
			": apiKey is not supported by this trigger; custom sends any header "
			"(customAuthHeader, customAuthValue)");
	return 0;
}

void httpauth_join_scopes(char *scopes)
{
	char *to = scopes;

	for (const char *from = scopes; from && *from; from++) {
		bool between = *from == ',' || *from == ' ';

		if (!between && to > scopes && (from[-1] == ',' || from[-1] == ' '))
			*to++ = ' ';
		if (!between)
			*to++ = *from;
	}
	if (to)
		*to = '\0';
}

/* ---- Reading ---- */

static int worse(int a, int b)
{
	return a < 0 || b < 0 ? -1 : a | b;
}

/* For graphite, as in KEDA; an empty name does not count. */
static bool has_username(const struct scaler_params *params)
{
	MEM_AUTO char *username = params_trimmed(params->auth ? strmap_get(params->auth, "username") : NULL);

	return username != NULL;
}

/*
 * With AWS credentials requests are signed, by default for the environment's region: unsigned they
 * would fail for no visible reason. KEDA does so for podIdentity aws.
 */
static int take_region(const struct scaler_params *params, struct httpauth_fields *f, struct err *err)
{
	if (f->region || !awslogin_is_configured(params))
		return 0;
	if (!params->identity) /* the environment is unknown */
		return 1;
	f->region = mem_dup(params->identity->aws_region);
	return f->region
		? 0
		: params_wrong(err, "awsRegion",
			  "is missing: with podIdentity aws, AWS keys, a role or "
			  "identityOwner operator requests are signed for a region, and kscaled's environment has "
			  "no AWS_REGION");
}

static int read_fields(const struct scaler_params *params, unsigned features, struct httpauth_fields *f,
	unsigned *wanted, struct err *err)
{
	int rc = params_read(&httpauth_table, params, f, err);

	if (rc < 0 || take_modes(&f->modes, features, wanted, err))
		return -1;
	if (!*wanted && features & HTTPAUTH_BASIC_UNSAID && has_username(params))
		*wanted = BASIC;
	if (*wanted) {
		rc = worse(rc, params_read_when(&httpauth_table, params, *wanted, f, err));
		if (rc >= 0)
			rc = worse(rc, params_read_when(&httpauth_api_key_table, params, *wanted, f, err));
		if (rc == 0 && f->method == HEADER && *wanted & API_KEY && *wanted & CUSTOM)
			return params_wrong(err, "authModes",
				": apiKey in a header and custom cannot be combined; custom "
				"alone sends any header");
		return rc;
	}
	if (rc == 1 && f->modes.count == 0) /* the modes may be among the unknown values */
		return 1;
	if (features & HTTPAUTH_CLOUD)
		rc = worse(rc, params_read(&httpauth_cloud_table, params, f, err));
	return rc == 0 && features & HTTPAUTH_CLOUD ? take_region(params, f, err) : rc;
}

/* The URL's user counts if nothing else sets credentials. */
static int read_url(const char *name, const char *text, unsigned wanted, struct httpauth_fields *f, char **url,
	struct err *err)
{
	char *user = NULL, *password = NULL;

	if (httpurl_split_user(text, url, &user, &password, err) < 0)
		return params_wrap(err, name);
	if (user && !(wanted & (BEARER | BASIC | OAUTH)) && !f->region) {
		f->username = user;
		f->password = password;
		return 0;
	}
	free(user);
	mem_free_secret(password);
	return 0;
}

/* *out NULL: no Azure identity. */
static int make_azure(const struct scaler_params *params, const struct httpauth_fields *f, const char *url,
	struct identity **out, struct err *err)
{
	const struct pod_identity *pod = params->identity;
	struct disclosure to = { .service = AZURECLOUD_PROMETHEUS, .own_ca = f->ca, .insecure = f->insecure };
	MEM_AUTO char *scope = NULL, *host = NULL;
	int rc = azurelogin_is_workload_or_none(pod, err);

	if (rc <= 0)
		return rc;
	if (azurecloud_prometheus_scope(f->cloud, f->resource, &scope, err))
		return -1;
	host = disclosure_take_url(&to, url, err);
	if (!host)
		return -1;
	*out = azurelogin_new(pod, scope, &to, err);
	return *out ? 0 : params_wrap(err, "serverAddress");
}

static int check_own(const struct httpauth_fields *f, const char *url, struct err *err)
{
	struct disclosure to = { .cloud = DISCLOSURE_GOOGLE, .own_ca = f->ca, .insecure = f->insecure };
	MEM_AUTO char *host = disclosure_take_url(&to, url, err);

	if (!host || disclosure_check(&to, err))
		return params_wrap(err, "serverAddress");
	return 0;
}

/* *out NULL: no Google credentials, as in KEDA. */
static int make_google(const struct scaler_params *params, const struct httpauth_fields *f, const char *url,
	struct identity **out, struct err *err)
{
	struct googlelogin login;
	int rc = googlelogin_read(params, GOOGLEKEY_MONITORING_READ, &login, err);

	if (rc == 0 && login.own)
		rc = check_own(f, url, err);
	if (rc == 0)
		*out = identity_ref(login.identity);
	googlelogin_done(&login);
	return rc;
}

/*
 * The identity whose credential is fetched; *out NULL: none. 0, -1, or 1 when some values are
 * unknown.
 */
static int make_identity(const struct scaler_params *params, const struct httpauth_fields *f, bool cloud,
	const char *url, struct identity **out, struct err *err)
{
	const struct oauthclient_config oauth = { .token_url = f->token_url,
		.client_id = f->client_id,
		.client_secret = f->client_secret,
		.scopes = f->scopes,
		.params = f->params,
		.trust = { .ca_pem = f->ca, .cert_pem = f->cert, .key_pem = f->key, .insecure = f->insecure } };

	*out = NULL;
	if (f->region)
		return awslogin_read(params, f->region, out, err);
	if (cloud) {
		int rc = make_azure(params, f, url, out, err);

		return rc || *out ? rc : make_google(params, f, url, out, err);
	}
	if (!f->token_url)
		return 0;
	*out = oauthclient_new(&oauth, err);
	return *out ? 0 : -1;
}

static struct webaccess *make_access(const struct httpauth_fields *f, unsigned wanted, struct identity *identity,
	struct err *err)
{
	const char *api_name = f->key_name ? f->key_name : f->method == QUERY ? "api_key" : "X-API-KEY";
	bool by_header = wanted & API_KEY && f->method == HEADER, by_query = wanted & API_KEY && f->method == QUERY;
	struct webaccess_config config = {
		.bearer = f->bearer,
		.username = identity ? NULL : f->username, /* a token uses Authorization, too */
		.password = f->password,
		.header_name = by_header ? api_name : f->header_name,
		.header_value = by_header ? f->api_key : f->header_value,
		.query_name = by_query ? api_name : NULL,
		.query_value = by_query ? f->api_key : NULL,
		.identity = identity,
		.region = f->region,
		.service = f->region ? "aps" : NULL,
		.ca_pem = f->ca,
		.cert_pem = f->cert,
		.key_pem = f->key,
		.insecure = f->insecure,
	};

	return webaccess_new(&config, err);
}

/* KEDA's text: it would be unclear which of both counts. */
static int check_pod(const struct pod_identity *pod, struct err *err)
{
	if (!pod || !pod->provider || !*pod->provider || strcmp(pod->provider, "none") == 0)
		return 0;
	return err_set(err, ERR_INVALID,
		"pod identity cannot be enabled with other auth types: take authModes out, or podIdentity %s of the "
		"authentication",
		pod->provider);
}

int httpauth_read(const struct scaler_params *params, const char *name, const char *url, unsigned features,
	struct httpauth *out, struct err *err)
{
	struct httpauth_fields f = { 0 };
	struct identity *identity = NULL;
	unsigned wanted = 0;
	int rc = read_fields(params, features, &f, &wanted, err);

	*out = (struct httpauth){ 0 };
	if (rc >= 0 &&
		(read_url(name, url, wanted, &f, &out->url, err) ||
			(features & HTTPAUTH_CLOUD && wanted && check_pod(params->identity, err))))
		rc = -1;
	httpauth_join_scopes(f.scopes);
	if (rc == 0)
		rc = make_identity(params, &f, features & HTTPAUTH_CLOUD && !wanted, out->url, &identity, err);
	if (rc == 0) {
		out->timeout_ms = f.timeout_ms;
		out->access = make_access(&f, wanted, identity, err);
		rc = out->access ? 0 : -1;
	}
	identity_unref(identity);
	if (rc < 0)
		httpauth_done(out);
	params_done(&httpauth_table, &f);
	params_done(&httpauth_api_key_table, &f);
	params_done(&httpauth_cloud_table, &f);
	return rc;
}

int httpauth_login(struct scaler_build *b, const char *name, unsigned features, struct httplogin *login,
	struct err *err)
{
	struct httpauth auth;
	int rc = httpauth_read(b->params, name, login->url, features, &auth, err);

	if (rc < 0)
		return -1;
	b->open |= rc == 1;
	mem_free_secret(login->url);
	*login = (struct httplogin){ auth.url, auth.access, auth.timeout_ms };
	return 0;
}

int httpauth_cut_url(char *url, const char *name, const char *instead, struct err *err)
{
	if (strchr(url, '?'))
		return err_set(err, ERR_INVALID, "parameter \"%s\" must not have a query (?...): %s", name, instead);
	httpurl_cut_slashes(url);
	return 0;
}

void httpauth_done(struct httpauth *a)
{
	mem_free_ptr(&a->url);
	webaccess_unref(a->access);
	a->access = NULL;
}
