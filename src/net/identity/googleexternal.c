/* SPDX-License-Identifier: Apache-2.0 */
#include "net/identity/googleexternal.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "net/http/httpurl.h"
#include "net/identity/googlekey.h"
#include "net/identity/identity_parts.h"

#define TYPE        "external_account"
#define TOKEN_URL   "https://sts.googleapis.com/v1/token"
#define UNIVERSE    "googleapis.com"
#define GRANT       "urn:ietf:params:oauth:grant-type:token-exchange"
#define WANTED      "urn:ietf:params:oauth:token-type:access_token"
#define HEADERS_MAX 32
/* Google's default, minimum and maximum. */
#define ACCOUNT_FOR_S       3600
#define ACCOUNT_FOR_LEAST_S 600
#define ACCOUNT_FOR_MOST_S  43200
#define LIFE_MOST_MS        (ACCOUNT_FOR_MOST_S * INT64_C(1000))

void googleexternal_done(struct googleexternal *g)
{
	char *const texts[] = { g->audience, g->token_type, g->token_url, g->account_url, g->file, g->url, g->member };

	for (size_t i = 0; i < MEM_COUNT(texts); i++)
		mem_free_secret(texts[i]);
	strmap_done_secret(&g->headers);
	*g = (struct googleexternal){ 0 };
}

/* ---- The file ---- */

static json_t *parse(const char *text)
{
	size_t len = strlen(text);

	return len <= GOOGLEKEY_TEXT_MAX ? json_parse_foreign(text, len, NULL) : NULL;
}

bool googleexternal_is(const char *text)
{
	json_t *value = parse(text);
	bool is = json_str_is(value, "type", TYPE);

	json_decref(value);
	return is;
}

char *googleexternal_file(const char *text)
{
	struct googleexternal g = { 0 };
	char *file = NULL;

	if (googleexternal_is(text) && googleexternal_read(text, &g, NULL) == 0)
		file = mem_dup(g.file);
	googleexternal_done(&g);
	return file;
}

static int refuse(const json_t *value, struct err *err)
{
	static const char *const no_service[] = { "client_id", "client_secret", "workforce_pool_user_project" };
	const json_t *source = json_object_get(value, "credential_source");
	const char *universe = json_str_or_empty(value, "universe_domain");

	if (*universe && strcmp(universe, UNIVERSE) != 0)
		return err_set(err, ERR_INVALID, "its universe_domain is not " UNIVERSE ": others are not supported");
	for (size_t i = 0; i < MEM_COUNT(no_service); i++)
		if (*json_str_or_empty(value, no_service[i]))
			return err_set(err, ERR_INVALID,
				"it has a %s: workforce pools are not supported, use a workload identity pool",
				no_service[i]);
	if (json_object_get(source, "environment_id"))
		return err_set(err, ERR_INVALID,
			"its credential_source is AWS's environment, which is not supported: give a file or a url");
	if (json_object_get(source, "executable"))
		return err_set(err, ERR_INVALID,
			"its credential_source is an executable, which kscaled does not run: give a file or a url");
	if (json_object_get(source, "certificate"))
		return err_set(err, ERR_INVALID,
			"its credential_source is a certificate, which is not supported: give a file or a url");
	return 0;
}

/* https_only: a token is sent there. */
static int check_url(const char *url, const char *name, bool https_only, struct err *err)
{
	struct httpurl_place place;
	bool good;

	if (httpurl_place(url, &place, err))
		return err_wrap(err, "its %s", name);
	good = !https_only || strcmp(place.scheme, "https") == 0;
	httpurl_place_done(&place);
	return good ? 0 : err_set(err, ERR_INVALID, "its %s is not an https URL", name);
}

static int take_headers(const json_t *source, struct strmap *out, struct err *err)
{
	json_t *headers = json_object_get(source, "headers"), *value;
	const char *name;

	if (json_object_size(headers) > HEADERS_MAX)
		return err_set(err, ERR_INVALID, "its credential_source has more than %d headers", HEADERS_MAX);
	json_object_foreach(headers, name, value)
	{
		const char *text = json_string_value(value);

		if (!text || !*name || !identity_is_token(name) || strchr(name, ':') || strpbrk(text, "\r\n"))
			return err_set(err, ERR_INVALID,
				"a header of its credential_source is invalid: it needs a name, and a value of one "
				"line");
		strmap_set(out, name, text);
	}
	return 0;
}

static int take_format(const json_t *source, struct googleexternal *out, struct err *err)
{
	const json_t *format = json_object_get(source, "format");
	const char *type = json_str_or_empty(format, "type"),
		   *member = json_str_or_empty(format, "subject_token_field_name");

	if (!*type || strcmp(type, "text") == 0)
		return 0;
	if (strcmp(type, "json") != 0)
		return err_set(err, ERR_INVALID, "the format of its credential_source is neither text nor json");
	if (!*member)
		return err_set(err, ERR_INVALID, "the format of its credential_source has no subject_token_field_name");
	out->member = mem_dup(member);
	return 0;
}

static int take_source(const json_t *value, struct googleexternal *out, struct err *err)
{
	const json_t *source = json_object_get(value, "credential_source");
	const char *file = json_str_or_empty(source, "file"), *url = json_str_or_empty(source, "url");

	if (*file && *file != '/')
		return err_set(err, ERR_INVALID, "the file of its credential_source is not an absolute path");
	if (!*file && !*url)
		return err_set(err, ERR_INVALID, "its credential_source has neither a file nor a url");
	if (*file)
		out->file = mem_dup(file);
	else if (check_url(url, "credential_source url", false, err) || take_headers(source, &out->headers, err))
		return -1;
	else
		out->url = mem_dup(url);
	return take_format(source, out, err);
}

static int take_account(const json_t *value, struct googleexternal *out, struct err *err)
{
	const char *url = json_str_or_empty(value, "service_account_impersonation_url");
	const json_t *life = json_object_get(json_object_get(value, "service_account_impersonation"),
		"token_lifetime_seconds");

	out->account_for_s = life ? json_integer_value(life) : ACCOUNT_FOR_S;
	if (!*url)
		return 0;
	if (out->account_for_s < ACCOUNT_FOR_LEAST_S || out->account_for_s > ACCOUNT_FOR_MOST_S)
		return err_set(err, ERR_INVALID, "its token_lifetime_seconds is not from %d to %d", ACCOUNT_FOR_LEAST_S,
			ACCOUNT_FOR_MOST_S);
	out->account_url = mem_dup(url);
	return check_url(url, "service_account_impersonation_url", true, err);
}

static int take_all(const json_t *value, struct googleexternal *out, struct err *err)
{
	const char *audience = json_str_or_empty(value, "audience"),
		   *token_type = json_str_or_empty(value, "subject_token_type"),
		   *token_url = json_str_or_empty(value, "token_url");

	if (refuse(value, err))
		return -1;
	if (!*audience || !*token_type)
		return err_set(err, ERR_INVALID, "it has no %s", *audience ? "subject_token_type" : "audience");
	out->audience = mem_dup(audience);
	out->token_type = mem_dup(token_type);
	out->token_url = mem_dup(*token_url ? token_url : TOKEN_URL);
	return check_url(out->token_url, "token_url", true, err) || take_source(value, out, err) ||
			take_account(value, out, err)
		? -1
		: 0;
}

int googleexternal_read(const char *text, struct googleexternal *out, struct err *err)
{
	json_t *value = parse(text);
	int rc = take_all(value, out, err);

	json_decref(value);
	if (rc)
		googleexternal_done(out);
	return rc;
}

/* ---- The steps ---- */

char *googleexternal_subject(const struct googleexternal *g, const char *content, size_t len, struct err *err)
{
	json_t *value = g->member ? json_parse_foreign(content, len, NULL) : NULL;
	char *whole = mem_dupn(g->member ? json_str_or_empty(value, g->member) : content,
		g->member ? json_string_length(json_object_get(value, g->member)) : len);
	char *token = mem_dup(text_trim(whole, " \t\r\n"));

	mem_free_secret(whole);
	json_decref(value);
	if (identity_is_token(token))
		return token;
	mem_free_secret(token);
	err_set(err, ERR_INVALID,
		g->member ? "no token in the JSON member that subject_token_field_name names" : "no token");
	return NULL;
}

void googleexternal_ask_source(const struct googleexternal *g, struct webrequest *out)
{
	out->own = true;
	out->url = mem_dup(g->url);
	for (size_t i = 0; i < g->headers.count; i++)
		strmap_set(&out->headers, g->headers.pairs[i].key, g->headers.pairs[i].value);
}

void googleexternal_ask_sts(const struct googleexternal *g, const char *subject, const char *scope,
	struct webrequest *out)
{
	const struct identity_field fields[] = { { "audience", g->audience }, { "grant_type", GRANT },
		{ "requested_token_type", WANTED }, { "scope", g->account_url ? GOOGLEKEY_CLOUD_PLATFORM : scope },
		{ "subject_token", subject }, { "subject_token_type", g->token_type }, { NULL, NULL } };

	identity_post_form(out, g->token_url, fields);
}

void googleexternal_ask_account(const struct googleexternal *g, const char *token, const char *scope,
	struct webrequest *out)
{
	char *line = mem_printf("Bearer %s", token), *life = mem_printf("%llds", (long long)g->account_for_s);
	json_t *body = json_pack("{ss s[s]}", "lifetime", life, "scope", scope);

	strmap_set(&out->headers, "Authorization", line);
	out->url = mem_dup(g->account_url);
	out->body = json_text(body);
	out->content_type = "application/json";
	json_decref(body);
	mem_free_secret(line);
	free(life);
}

/* "PERMISSION_DENIED"; the message may repeat what was sent. */
static const char *code_of(const json_t *answer)
{
	const char *code = json_str_or_empty(json_object_get(answer, "error"), "status");
	size_t len = strlen(code);

	return len <= 40 && strspn(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == len ? code : NULL;
}

int googleexternal_read_account(const struct webresponse *answer, int64_t unix_ms, struct credential *out,
	struct err *err)
{
	json_t *value = answer->status ? json_parse_foreign(answer->body, answer->len, NULL) : NULL;
	const char *token = json_str_or_empty(value, "accessToken");
	int64_t end_ms = 0;
	bool ends = timestamp_parse(json_str_or_empty(value, "expireTime"), &end_ms, NULL) == 0;
	int rc = -1;

	if (answer->status < 200 || answer->status > 299) {
		identity_refused(answer, "no token", code_of(value), err);
	} else if (!identity_is_token(token)) {
		err_set(err, ERR_INVALID, "no token: the answer has no valid accessToken");
	} else if (ends && end_ms <= unix_ms) {
		err_set(err, ERR_INVALID, "no token: it has expired already: check this machine's clock");
	} else {
		out->token = mem_dup(token);
		out->life_ms = !ends ? 0 : end_ms - unix_ms < LIFE_MOST_MS ? end_ms - unix_ms : LIFE_MOST_MS;
		rc = 0;
	}
	json_decref(value);
	return rc;
}
