/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/httpauth.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "net/http/httpurl.h"

enum mode { API_KEY = 1, BASIC = 2, TLS = 4, BEARER = 8, CUSTOM = 16, OAUTH = 32 };

static const struct {
	const char *word;
	enum mode mode;
} modes[] = {
	{ "apiKey", API_KEY }, { "basic", BASIC }, { "tls", TLS }, { "bearer", BEARER }, { "custom", CUSTOM }, { "oauth", OAUTH },
};
#define MODES (sizeof(modes) / sizeof(modes[0]))

/* What was read. Owns its texts, most of which are secrets. */
struct fields {
	unsigned modes;
	char *bearer, *username, *password, *header_name, *header_value;
	char *query_name, *query_value;
	char *token_url, *client_id, *client_secret, *scopes, *params;
	char *region, *key_id, *secret_key, *session_token;
	char *ca, *cert, *key;
	bool insecure;
};

/* Sources as keda-scalers.md C.5 and A.4 have them. */
static const struct param p_modes = { { "authModes", "authMode" }, { PARAM_METADATA, PARAM_AUTH }, false };
static const struct param p_bearer = { { "bearerToken", "token" }, { PARAM_AUTH }, true };
static const struct param p_username = { { "username" }, { PARAM_AUTH }, true };
static const struct param p_password = { { "password" }, { PARAM_AUTH }, false };
static const struct param p_header = { { "customAuthHeader" }, { PARAM_AUTH }, true };
static const struct param p_header_value = { { "customAuthValue" }, { PARAM_AUTH }, true };
static const struct param p_api_key = { { "apiKey" }, { PARAM_METADATA, PARAM_AUTH }, true };
static const struct param p_method = { { "method" }, { PARAM_METADATA, PARAM_AUTH }, false };
static const struct param p_key_name = { { "keyParamName" }, { PARAM_METADATA, PARAM_AUTH }, false };
static const struct param p_token_url = { { "oauthTokenURI" }, { PARAM_AUTH }, true };
static const struct param p_client_id = { { "clientID" }, { PARAM_AUTH }, true };
static const struct param p_client_secret = { { "clientSecret" }, { PARAM_AUTH }, false };
static const struct param p_scopes = { { "scopes", "scope" }, { PARAM_AUTH }, false };
static const struct param p_params = { { "endpointParams" }, { PARAM_AUTH }, false };
static const struct param p_ca = { { "ca" }, { PARAM_AUTH }, false };
static const struct param p_cert = { { "cert" }, { PARAM_AUTH }, true };
static const struct param p_key = { { "key" }, { PARAM_AUTH }, true };
static const struct param p_unsafe = { { "unsafeSsl" }, { PARAM_METADATA }, false };
static const struct param p_timeout = { { "timeout" }, { PARAM_METADATA }, false };

static void fields_done(struct fields *f)
{
	char *texts[] = {
		f->bearer, f->username, f->password, f->header_name, f->header_value, f->query_name, f->query_value, f->token_url, f->client_id, f->client_secret, f->scopes, f->params,
		f->region, f->key_id, f->secret_key, f->session_token, f->ca, f->cert, f->key,
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		mem_free_secret(texts[i]);
}

/* --- which modes --------------------------------------------------------------------------------------------------------------- */

static int take_mode(const char *word, unsigned *out)
{
	for (size_t i = 0; i < MODES; i++) {
		if (strcmp(modes[i].word, word) == 0) {
			*out |= modes[i].mode;
			return 0;
		}
	}
	return -1;
}

/* The value is not shown: what stands in the authentication may be a secret in the wrong place. */
static int read_modes(const struct scaler_params *params, unsigned *out, struct err *err)
{
	struct param_list list;
	unsigned who;
	int result = 0;

	*out = 0;
	if (param_list(params, &p_modes, ',', &list, err))
		return -1;
	for (size_t i = 0; i < list.count && result == 0; i++)
		if (take_mode(list.items[i], out) < 0)
			result = err_set(err, ERR_INVALID, "parameter \"authModes\" must be a list of apiKey, basic, tls, bearer, custom, oauth, separated by commas: piece %zu is none of them", i + 1);
	param_list_done(&list);
	who = *out & (BEARER | BASIC | OAUTH);
	if (result == 0 && (who & (who - 1)) != 0)
		result = err_set(err, ERR_INVALID, "parameter \"authModes\" must contain only one of bearer, basic, oauth");
	return result;
}

/* --- one function per mode ------------------------------------------------------------------------------------------------------- */

static int read_bearer(const struct scaler_params *params, struct fields *f, struct err *err)
{
	return param_text(params, &p_bearer, &f->bearer, err);
}

static int read_basic(const struct scaler_params *params, struct fields *f, struct err *err)
{
	return param_text(params, &p_username, &f->username, err) || param_text(params, &p_password, &f->password, err) ? -1 : 0;
}

static int read_custom(const struct scaler_params *params, struct fields *f, struct err *err)
{
	return param_text(params, &p_header, &f->header_name, err) || param_text(params, &p_header_value, &f->header_value, err) ? -1 : 0;
}

static int read_tls(const struct scaler_params *params, struct fields *f, struct err *err)
{
	return param_text(params, &p_cert, &f->cert, err) || param_text(params, &p_key, &f->key, err) ? -1 : 0;
}

/* A list with commas here, with one blank each in the request (RFC 6749, 3.3). In place. */
static void join_scopes(char *scopes)
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

static int read_oauth(const struct scaler_params *params, struct fields *f, struct err *err)
{
	if (param_text(params, &p_token_url, &f->token_url, err) || param_text(params, &p_client_id, &f->client_id, err) || param_text(params, &p_client_secret, &f->client_secret, err) ||
	    param_text(params, &p_scopes, &f->scopes, err) || param_text(params, &p_params, &f->params, err))
		return -1;
	join_scopes(f->scopes);
	return 0;
}

static int read_api_key(const struct scaler_params *params, struct fields *f, struct err *err)
{
	static const char *const methods[] = { "header", "query", NULL };
	char *name = NULL, *value = NULL;
	size_t method = 0;

	if (param_text(params, &p_api_key, &value, err) || param_choice(params, &p_method, methods, &method, err) || param_text(params, &p_key_name, &name, err)) {
		mem_free_secret(value);
		return -1;
	}
	if (method == 1) {
		f->query_name = name ? name : mem_dup("api_key");
		f->query_value = value;
		return 0;
	}
	if (f->header_name) {
		free(name);
		mem_free_secret(value);
		return err_set(err, ERR_INVALID, "parameter \"authModes\": apiKey in a header and custom cannot go together; custom alone sends any header");
	}
	f->header_name = name ? name : mem_dup("X-API-KEY");
	f->header_value = value;
	return 0;
}

static const struct {
	enum mode mode;
	int (*read)(const struct scaler_params *params, struct fields *f, struct err *err);
} readers[] = {
	{ BEARER, read_bearer }, { BASIC, read_basic }, { OAUTH, read_oauth }, { CUSTOM, read_custom }, { TLS, read_tls }, { API_KEY, read_api_key },
};

/* --- AWS, Google: without authModes --------------------------------------------------------------------------------------------- */

static const struct param p_region = { { "awsRegion" }, { PARAM_METADATA, PARAM_AUTH }, false };
static const struct param p_owner = { { "identityOwner" }, { PARAM_METADATA }, false };
static const struct param p_role = { { "awsRoleArn" }, { PARAM_AUTH }, false };
static const struct param p_key_id = { { "awsAccessKeyID", "awsAccessKeyId" }, { PARAM_AUTH, PARAM_METADATA, PARAM_ENV }, false };
static const struct param p_secret_key = { { "awsSecretAccessKey" }, { PARAM_AUTH, PARAM_ENV }, false };
static const struct param p_session = { { "awsSessionToken" }, { PARAM_AUTH }, false };

#define STATIC_KEYS "give awsAccessKeyID and awsSecretAccessKey by a TriggerAuthentication"

static int refuse_roles(const struct scaler_params *params, const char *region, struct err *err)
{
	static const char *const owners[] = { "pod", "operator", NULL };
	MEM_AUTO char *role = NULL;
	size_t owner = 0;

	if (param_choice(params, &p_owner, owners, &owner, err) || param_text(params, &p_role, &role, err))
		return -1;
	if (owner == 1)
		return err_set(err, ERR_INVALID, "parameter \"identityOwner\" value \"operator\": kscaled has no AWS identity of its own; " STATIC_KEYS);
	if (region && role)
		return err_set(err, ERR_INVALID, "parameter \"awsRoleArn\": AWS roles are not supported; " STATIC_KEYS);
	return 0;
}

static int read_aws(const struct scaler_params *params, struct fields *f, struct err *err)
{
	if (param_text(params, &p_region, &f->region, err) || refuse_roles(params, f->region, err) || param_text(params, &p_key_id, &f->key_id, err) ||
	    param_text(params, &p_secret_key, &f->secret_key, err) || param_text(params, &p_session, &f->session_token, err))
		return -1;
	if (!f->region) { /* as in KEDA: keys alone are somebody else's */
		mem_free_secret(f->key_id);
		f->key_id = NULL;
		return 0;
	}
	if (!f->key_id || !f->secret_key)
		return err_set(err, ERR_INVALID, "parameter \"awsRegion\" is given, but not %s: " STATIC_KEYS, f->key_id ? "awsSecretAccessKey" : "awsAccessKeyID");
	return 0;
}

static int refuse_google(const struct scaler_params *params, struct err *err)
{
	static const struct param named[] = {
		{ { "GoogleApplicationCredentials" }, { PARAM_AUTH }, false },
		{ { "credentialsFromEnv" }, { PARAM_METADATA }, false },
		{ { "credentialsFromEnvFile" }, { PARAM_METADATA }, false },
	};

	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		char *text = NULL;

		if (param_text(params, &named[i], &text, err))
			return -1;
		if (text) {
			mem_free_secret(text);
			return err_set(err, ERR_INVALID, "parameter \"%s\": Google credentials are not supported; put a proxy with them before the server, or use authModes", named[i].names[0]);
		}
	}
	return 0;
}

/* --- all together ---------------------------------------------------------------------------------------------------------------- */

/* Keys of the metadata that belong to modes which are off are no spelling mistakes. */
static void know_all(const struct scaler_params *params, unsigned features)
{
	static const char *const api_key[] = { "apiKey", "method", "keyParamName" };
	static const char *const cloud[] = { "awsRegion", "identityOwner", "awsAccessKeyID", "awsAccessKeyIDFromEnv", "awsAccessKeyId", "awsAccessKeyIdFromEnv", "awsSecretAccessKeyFromEnv", "credentialsFromEnv", "credentialsFromEnvFile",
					     "cloud", "azureManagedPrometheusResourceURL" };

	for (size_t i = 0; features & HTTPAUTH_API_KEY && i < sizeof(api_key) / sizeof(api_key[0]); i++)
		param_known(params, api_key[i]);
	for (size_t i = 0; features & HTTPAUTH_CLOUD && i < sizeof(cloud) / sizeof(cloud[0]); i++)
		param_known(params, cloud[i]);
}

static int read_fields(const struct scaler_params *params, unsigned features, struct fields *f, struct err *err)
{
	know_all(params, features);
	if (read_modes(params, &f->modes, err) || param_text(params, &p_ca, &f->ca, err) || param_bool(params, &p_unsafe, &f->insecure, err))
		return -1;
	if (f->modes & API_KEY && !(features & HTTPAUTH_API_KEY))
		return err_set(err, ERR_INVALID, "parameter \"authModes\": apiKey is not sent by this trigger; custom sends any header (customAuthHeader, customAuthValue)");
	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++)
		if (f->modes & readers[i].mode && readers[i].read(params, f, err))
			return -1;
	if (!f->modes && features & HTTPAUTH_CLOUD)
		return read_aws(params, f, err) || refuse_google(params, err) ? -1 : 0;
	return 0;
}

static int read_url(const struct scaler_params *params, const struct param *p, struct fields *f, char **url, struct err *err)
{
	char *text = NULL, *user = NULL, *password = NULL;
	bool named = f->modes & (BEARER | BASIC | OAUTH) || f->key_id;
	int result;

	if (param_text(params, p, &text, err))
		return -1;
	result = httpurl_split_user(text, url, &user, &password, err);
	mem_free_secret(text);
	if (result < 0)
		return err_wrap(err, "parameter \"%s\"", p->names[0]);
	if (user && !named) {
		f->username = user;
		f->password = password;
		return 0;
	}
	free(user);
	mem_free_secret(password);
	return 0;
}

static struct webaccess *make_access(const struct fields *f, struct err *err)
{
	struct webaccess_config config = {
		.bearer = f->bearer,
		.username = f->username,
		.password = f->password,
		.header_name = f->header_name,
		.header_value = f->header_value,
		.query_name = f->query_name,
		.query_value = f->query_value,
		.oauth = { .token_url = f->token_url, .client_id = f->client_id, .client_secret = f->client_secret, .scopes = f->scopes, .params = f->params },
		.ca_pem = f->ca,
		.cert_pem = f->cert,
		.key_pem = f->key,
		.insecure = f->insecure,
	};

	if (f->key_id) {
		config.aws.region = f->region;
		config.aws.service = "aps";
		config.aws.key_id = f->key_id;
		config.aws.secret_key = f->secret_key;
		config.aws.session_token = f->session_token;
	}
	return webaccess_new(&config, err);
}

int httpauth_read(const struct scaler_params *params, const struct param *url, unsigned features, struct httpauth *out, struct err *err)
{
	struct fields f = { 0 };
	int result = -1;

	memset(out, 0, sizeof(*out));
	if (read_fields(params, features, &f, err) == 0 && read_url(params, url, &f, &out->url, err) == 0 && param_duration(params, &p_timeout, &out->timeout_ms, err) == 0)
		out->access = make_access(&f, err);
	if (out->access)
		result = 0;
	else
		httpauth_done(out);
	fields_done(&f);
	return result;
}

void httpauth_done(struct httpauth *a)
{
	mem_free_ptr(&a->url);
	webaccess_unref(a->access);
	a->access = NULL;
}
