/* SPDX-License-Identifier: Apache-2.0 */
#include "net/identity/awssts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "net/http/httpurl.h"
#include "net/identity/awsregion.h"
#include "net/identity/awsxml.h"
#include "net/identity/identity_parts.h"
#include "net/sign/sigv4.h"

#define TEXT_MAX    ((size_t)1 << 18)
#define FORM_TYPE   "application/x-www-form-urlencoded; charset=utf-8"
#define WORDS_SHOWN 300
/* Pause after throttling without Retry-After. */
#define THROTTLED_MS 5000
/* KEDA's value. */
#define SESSION "KEDA"

/* ---- Requests ---- */

/* token NULL: with the keys that sign the request. */
static void ask_for_role(const char *action, const struct awssts_role *role, const char *token, struct webrequest *out)
{
	MEM_AUTO char *place = role->endpoint ? mem_dup(role->endpoint) : awsregion_url("sts", role->region),
		      *url = mem_printf("%s%s", place, text_begins(place + strlen(place) - 1, "/") ? "" : "/");
	const struct identity_field fields[] = { { "Action", action }, { "Version", "2011-06-15" },
		{ "RoleArn", role->arn }, { "RoleSessionName", SESSION }, { "WebIdentityToken", token },
		{ "ExternalId", token ? NULL : role->external_id }, { NULL, NULL } };

	identity_post_form(out, url, fields);
	out->content_type = FORM_TYPE;
}

void awssts_by_token(const struct awssts_role *role, const char *token, struct webrequest *out)
{
	ask_for_role("AssumeRoleWithWebIdentity", role, token, out);
}

int awssts_by_keys(const struct awssts_role *role, const struct credential *keys, int64_t unix_ms,
	struct webrequest *out, struct err *err)
{
	const struct sigv4_key key = { .region = role->region,
		.service = "sts",
		.key_id = keys->key_id,
		.secret = keys->secret };
	char time[SIGV4_TIME_TEXT], *authorization;
	MEM_AUTO char *host = NULL;
	struct httpurl_place place;

	ask_for_role("AssumeRole", role, NULL, out);
	if (httpurl_place(out->url, &place, err))
		return err_wrap(err, "the endpoint of STS");
	host = httpurl_host_header(&place);
	strmap_set(&out->headers, "X-Amz-Date", sigv4_time(unix_ms / 1000, time));
	if (keys->session_token)
		strmap_set(&out->headers, "X-Amz-Security-Token", keys->session_token);
	{
		const struct sigv4_header headers[] = { { "Content-Type", FORM_TYPE }, { "Host", host },
			{ "X-Amz-Date", time }, { "X-Amz-Security-Token", keys->session_token } };
		const char *path = strchr(out->url + strlen(place.scheme) + 3, '/');
		const struct sigv4_request request = { .method = "POST",
			.path = path,
			.headers = headers,
			.header_count = keys->session_token ? 4 : 3,
			.body = out->body,
			.body_len = strlen(out->body) };

		authorization = sigv4_authorization(&request, &key, unix_ms / 1000);
	}
	strmap_set(&out->headers, "Authorization", authorization);
	mem_free_secret(authorization);
	httpurl_place_done(&place);
	return 0;
}

/* ---- Answers ---- */

/* Takes ownership of the texts. */
static int take_keys(char *key_id, char *secret, char *token, const char *end, int64_t unix_ms, struct credential *out,
	struct err *err)
{
	int64_t end_ms = 0;
	bool sendable = key_id && identity_is_token(key_id) && secret && *secret &&
		(!token || !*token || identity_is_token(token));
	bool timely = !end || !*end || (timestamp_parse(end, &end_ms, NULL) == 0 && end_ms > unix_ms);

	*out = (struct credential){ .key_id = key_id, .secret = secret, .life_ms = end_ms ? end_ms - unix_ms : 0 };
	if (token && *token)
		out->session_token = token;
	else
		free(token);
	if (sendable && timely)
		return 0;
	credential_done(out);
	return sendable ? err_set(err, ERR_TEMPORARY, "the keys have expired already: check this machine's clock")
			: err_set(err, ERR_INVALID, "the answer has no usable keys");
}

static bool is_good(const struct webresponse *answer, struct err *err)
{
	MEM_AUTO char *words = NULL;

	if (answer->status >= 200 && answer->status <= 299)
		return true;
	words = answer->status ? awssts_error(answer->body, answer->len) : NULL;
	identity_refused(answer, "no keys", words, err);
	if (answer->status == 429 || (words && awssts_is_throttled(answer->body, answer->len))) {
		err->kind = ERR_TEMPORARY;
		err->retry_after_ms = answer->retry_after_ms ? answer->retry_after_ms : THROTTLED_MS;
	}
	return false;
}

int awssts_read(const struct webresponse *answer, int64_t unix_ms, struct credential *out, struct err *err)
{
#define BY_TOKEN "AssumeRoleWithWebIdentityResponse/AssumeRoleWithWebIdentityResult/Credentials/"
#define BY_KEYS  "AssumeRoleResponse/AssumeRoleResult/Credentials/"
	static const char *const by_token[] = { BY_TOKEN "AccessKeyId", BY_TOKEN "SecretAccessKey",
		BY_TOKEN "SessionToken", BY_TOKEN "Expiration" };
	static const char *const by_keys[] = { BY_KEYS "AccessKeyId", BY_KEYS "SecretAccessKey", BY_KEYS "SessionToken",
		BY_KEYS "Expiration" };
	char *texts[4] = { NULL };
	MEM_AUTO char *end = NULL;

	if (!is_good(answer, err) || awsxml_read(answer->body, answer->len, by_token, 4, texts, err))
		return -1;
	if (!texts[0]) {
		for (size_t i = 0; i < MEM_COUNT(texts); i++)
			mem_free_secret(texts[i]);
		if (awsxml_read(answer->body, answer->len, by_keys, 4, texts, err))
			return -1;
	}
	end = texts[3];
	return take_keys(texts[0], texts[1], texts[2], end, unix_ms, out, err);
}

static char *member(const json_t *value, const char *name)
{
	const char *text = json_string_value(json_object_get(value, name));

	return text && strlen(text) <= TEXT_MAX ? mem_dup(text) : NULL;
}

int awssts_read_json(const struct webresponse *answer, int64_t unix_ms, struct credential *out, struct err *err)
{
	json_t *value;
	int rc;

	if (!is_good(answer, err))
		return -1;
	value = json_parse_foreign(answer->body, answer->len, NULL);
	rc = take_keys(member(value, "AccessKeyId"), member(value, "SecretAccessKey"), member(value, "Token"),
		json_str_or_empty(value, "Expiration"), unix_ms, out, err);
	json_decref(value);
	return rc;
}

/* ---- Errors ---- */

static void take_json(const json_t *value, char **code, char **message)
{
	const char *type = json_str_or_empty(value, "__type"), *hash = strchr(type, '#');

	type = hash ? hash + 1 : type;
	*code = mem_dup(*type ? type : json_str_or_empty(value, "code"));
	*message = member(value, "message");
	if (!*message)
		*message = member(value, "Message");
}

/* The caller owns both; NULL: absent. */
static void read_error(const char *body, size_t len, char **code, char **message)
{
	/* Pairs of code and message: services differ. */
	static const char *const paths[] = { "ErrorResponse/Error/Code", "ErrorResponse/Error/Message",
		"ErrorResponse/Errors/Error/Code", "ErrorResponse/Errors/Error/Message", "Response/Errors/Error/Code",
		"Response/Errors/Error/Message" };
	char *texts[MEM_COUNT(paths)] = { NULL };
	json_t *value = json_parse_foreign(body, len, NULL);

	*code = *message = NULL;
	if (value) {
		take_json(value, code, message);
		json_decref(value);
		return;
	}
	if (awsxml_read(body, len, paths, MEM_COUNT(paths), texts, NULL))
		return;
	for (size_t i = 0; i < MEM_COUNT(paths); i += 2) {
		bool takes = texts[i] && !*code;

		if (takes) {
			*code = texts[i];
			*message = texts[i + 1];
		} else {
			free(texts[i]);
			free(texts[i + 1]);
		}
	}
}

char *awssts_error(const char *body, size_t len)
{
	MEM_AUTO char *code = NULL, *message = NULL;
	char *words;

	read_error(body, len, &code, &message);
	if ((!code || !*code) && (!message || !*message))
		return NULL;
	words = mem_printf("%s%s%s", code ? code : "", code && *code && message && *message ? ": " : "",
		message ? message : "");
	/* SignatureDoesNotMatch goes on with what was signed, including the session token */
	words[strcspn(words, "\r\n")] = '\0';
	len = strlen(words);
	return text_line(words, len, words, (len < WORDS_SHOWN ? len : WORDS_SHOWN) + 1);
}

static bool has_code(const char *body, size_t len, const char *const *codes)
{
	MEM_AUTO char *code = NULL, *message = NULL;

	read_error(body, len, &code, &message);
	return code && text_is_one_of(code, codes);
}

/* Services differ in the code. */
bool awssts_is_throttled(const char *body, size_t len)
{
	static const char *const codes[] = { "Throttling", "ThrottlingException", "ThrottledException",
		"RequestThrottled", "RequestThrottledException", "TooManyRequestsException", "TooManyRequests",
		"RequestLimitExceeded", "BandwidthLimitExceeded", "LimitExceededException", "LimitExceeded",
		"ProvisionedThroughputExceededException", "PriorRequestNotComplete", "SlowDown", "OverLimit",
		"EC2ThrottledException", "KMSThrottlingException", "KmsThrottled", NULL };

	return has_code(body, len, codes);
}

bool awssts_is_expired(const char *body, size_t len)
{
	static const char *const codes[] = { "ExpiredToken", "ExpiredTokenException", "RequestExpired",
		"InvalidClientTokenId", "UnrecognizedClientException", "InvalidAccessKeyId", NULL };

	return has_code(body, len, codes);
}
