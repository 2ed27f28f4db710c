/* SPDX-License-Identifier: Apache-2.0 */
#include "net/identity/googlekey.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "net/http/httpurl.h"
#include "net/identity/identity_parts.h"
#include "net/identity/oauthreply.h"
#include "net/sign/jwt.h"

#define TOKEN_URL   "https://oauth2.googleapis.com/token"
#define GRANT       "urn:ietf:params:oauth:grant-type:jwt-bearer"
#define UNIVERSE    "googleapis.com"
#define PROJECT_MAX 100
/* Google's maximum life; the server's clock may be behind ours. */
#define LIFE_S   3600
#define BEHIND_S 10

enum { EMAIL, KEY_ID, PRIVATE_KEY, TOKEN_URI, PROJECT, SCOPE };

/* ---- A key ---- */

void googlekey_done(struct googlekey *k)
{
	char *const texts[] = { k->email, k->key_id, k->private_key, k->client_id, k->client_secret, k->refresh_token,
		k->token_url, k->project };

	for (size_t i = 0; i < MEM_COUNT(texts); i++)
		mem_free_secret(texts[i]);
	*k = (struct googlekey){ 0 };
}

bool googlekey_is_project(const char *text)
{
	size_t len = strlen(text);

	return len > 0 && len <= PROJECT_MAX && strchr("abcdefghijklmnopqrstuvwxyz0123456789", *text) &&
		strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-.:") == len;
}

/* A required field. */
static int take(const json_t *value, const char *name, char **out, struct err *err)
{
	const char *text = json_str_or_empty(value, name);

	if (!*text)
		return err_set(err, ERR_INVALID, "the key has no %s", name);
	*out = mem_dup(text);
	return 0;
}

static int take_account(const json_t *value, struct googlekey *out, struct err *err)
{
	const char *key_id = json_str_or_empty(value, "private_key_id");

	if (take(value, "client_email", &out->email, err) || take(value, "private_key", &out->private_key, err))
		return -1;
	out->key_id = *key_id ? mem_dup(key_id) : NULL;
	return jwt_check_key(out->private_key, err);
}

static int take_user(const json_t *value, struct googlekey *out, struct err *err)
{
	return take(value, "client_id", &out->client_id, err) ||
			take(value, "client_secret", &out->client_secret, err) ||
			take(value, "refresh_token", &out->refresh_token, err)
		? -1
		: 0;
}

static int check_url(const char *url, struct err *err)
{
	struct httpurl_place place;

	if (httpurl_place(url, &place, err))
		return err_wrap(err, "the key's token_uri");
	httpurl_place_done(&place);
	return 0;
}

/* The fields of all types: token_uri, project_id, universe_domain. */
static int take_common(const json_t *value, struct googlekey *out, struct err *err)
{
	const char *url = json_str_or_empty(value, "token_uri"), *project = json_str_or_empty(value, "project_id"),
		   *universe = json_str_or_empty(value, "universe_domain");

	if (*universe && strcmp(universe, UNIVERSE) != 0)
		return err_set(err, ERR_INVALID,
			"the key's universe_domain is not " UNIVERSE ": others are not supported");
	if (*project && !googlekey_is_project(project))
		return err_set(err, ERR_INVALID,
			"the key's project_id is invalid: a project has lower-case letters, digits, . : and -");
	out->token_url = mem_dup(*url ? url : TOKEN_URL);
	out->project = *project ? mem_dup(project) : NULL;
	return check_url(out->token_url, err);
}

/* The error for an unsupported or unknown type. */
static int refuse_type(const char *type, bool users, struct err *err)
{
	static const char *const known[] = { "authorized_user", "external_account", "external_account_authorized_user",
		"impersonated_service_account", "gdch_service_account", NULL };
	const char *wanted = users ? "service_account, authorized_user and external_account are supported"
				   : "it must be service_account";

	if (!text_is_one_of(type, known))
		return err_set(err, ERR_INVALID, "the key's type is not known: %s", wanted);
	return err_set(err, ERR_INVALID, "the key's type is %s, which is not supported: %s", type, wanted);
}

static int take_all(const json_t *value, bool users, struct googlekey *out, struct err *err)
{
	const char *type = json_str_or_empty(value, "type");
	bool account = strcmp(type, "service_account") == 0;

	if (!json_is_object(value))
		return err_set(err, ERR_INVALID, "the key is not a JSON object");
	if (!account && !(users && strcmp(type, "authorized_user") == 0))
		return refuse_type(type, users, err);
	if (account ? take_account(value, out, err) : take_user(value, out, err))
		return -1;
	return take_common(value, out, err);
}

int googlekey_read(const char *text, bool users, struct googlekey *out, struct err *err)
{
	size_t len = strlen(text);
	json_t *value = len <= GOOGLEKEY_TEXT_MAX ? json_parse_foreign(text, len, NULL) : NULL;
	int rc = take_all(value, users, out, err);

	json_decref(value);
	if (rc)
		googlekey_done(out);
	return rc;
}

/* ---- The exchange ---- */

/* A JWT as in RFC 7523. */
static char *assertion(const struct googlekey *k, const char *scope, int64_t unix_s, struct err *err)
{
	json_t *header = k->key_id ? json_pack("{ss}", "kid", k->key_id) : NULL;
	json_t *claims = json_pack("{ss ss ss sI sI}", "iss", k->email, "scope", scope, "aud", k->token_url, "iat",
		(json_int_t)(unix_s - BEHIND_S), "exp", (json_int_t)(unix_s - BEHIND_S + LIFE_S));
	char *token = jwt_sign(JWT_RS256, header, claims, k->private_key, err);

	json_decref(header);
	json_decref(claims);
	return token;
}

int googlekey_ask(const struct googlekey *k, const char *scope, int64_t unix_ms, struct webrequest *out,
	struct err *err)
{
	char *token = k->refresh_token ? NULL : assertion(k, scope, unix_ms / 1000, err);
	const struct identity_field fields[] = { { "grant_type", token ? GRANT : "refresh_token" },
		{ "client_id", k->client_id }, { "client_secret", k->client_secret },
		{ "refresh_token", k->refresh_token }, { "assertion", token }, { NULL, NULL } };

	if (!token && !k->refresh_token)
		return -1;
	identity_post_form(out, k->token_url, fields);
	mem_free_secret(token);
	return 0;
}

/* ---- The identity ---- */

/* A borrowed text for a struct googlekey that is only read. */
static char *borrowed(const struct identity *i, size_t which)
{
	return (char *)(uintptr_t)identity_text(i, which);
}

static enum exchange_verdict googlekey_next(struct identity_exchange *x, struct webrequest *out, struct credential *got,
	struct err *err)
{
	const struct identity *i = x->identity;
	const struct googlekey k = { .email = borrowed(i, EMAIL),
		.key_id = borrowed(i, KEY_ID),
		.private_key = borrowed(i, PRIVATE_KEY),
		.token_url = borrowed(i, TOKEN_URI) };

	(void)got;
	return googlekey_ask(&k, identity_text(i, SCOPE), x->unix_ms, out, err) ? EXCHANGE_FAILED : EXCHANGE_SEND;
}

static enum exchange_verdict googlekey_answered(struct identity_exchange *x, const struct webresponse *answer,
	struct credential *got, struct err *err)
{
	if (oauthreply_read(answer, got, err))
		return EXCHANGE_FAILED;
	got->project = mem_dup(identity_text(x->identity, PROJECT));
	return EXCHANGE_DONE;
}

static const struct identity_kind googlekey = { .name = "google key",
	.label = "Google token",
	.next = googlekey_next,
	.read = googlekey_answered };

const char *googlekey_project(const struct identity *i)
{
	return identity_is_of(i, &googlekey) ? identity_text(i, PROJECT) : NULL;
}

struct identity *googlekey_new(const char *text, const char *scope, struct err *err)
{
	struct googlekey k = { 0 };
	struct identity_config config = { .kind = &googlekey };
	struct identity *i;

	if (googlekey_read(text, false, &k, err))
		return NULL;
	config.texts[EMAIL] = k.email;
	config.texts[KEY_ID] = k.key_id;
	config.texts[PRIVATE_KEY] = k.private_key;
	config.texts[TOKEN_URI] = k.token_url;
	config.texts[PROJECT] = k.project;
	config.texts[SCOPE] = scope;
	i = identity_new(&config);
	googlekey_done(&k);
	return i;
}
