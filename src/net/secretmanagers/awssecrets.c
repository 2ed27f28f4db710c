/* SPDX-License-Identifier: Apache-2.0 */
#include "net/secretmanagers/awssecrets.h"

#include <jansson.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "net/http/httpstatus.h"
#include "net/identity/awssts.h"

#define PERMISSION "secretsmanager:GetSecretValue"

/* A stage moves from version to version. */
static bool awssecrets_is_pinned(const struct secretmanager_secret *s)
{
	return text_is_given(s->version);
}

/* ---- The request ---- */

/* -1: not UTF-8. */
static int put(json_t *body, const char *key, const char *value)
{
	return text_is_given(value) ? json_object_set_new(body, key, json_string(value)) : 0;
}

static int awssecrets_request(const struct secretmanager_secret *s, struct webrequest *out, struct err *err)
{
	json_t *body = json_object();
	bool good = put(body, "SecretId", s->name) == 0 && put(body, "VersionId", s->version) == 0 &&
		put(body, "VersionStage", s->stage) == 0;

	if (good) {
		out->url = mem_printf("%s/", s->endpoint);
		out->body = json_text(body);
		out->content_type = "application/x-amz-json-1.1";
		strmap_set(&out->headers, "X-Amz-Target", "secretsmanager.GetSecretValue");
	}
	json_decref(body);
	return good ? 0 : err_set(err, ERR_INVALID, "its name, version or stage is not UTF-8");
}

/* ---- The response ---- */

/* AWS uses status 400 where others use 403, 404 and 429. */
static enum err_kind kind_of(int status, const char *words)
{
	static const char *const missing[] = { "ResourceNotFoundException", NULL },
				 *const denied[] = { "AccessDenied", "UnrecognizedClientException", "InvalidSignature",
					 "IncompleteSignature", "MissingAuthenticationToken", "ExpiredToken",
					 "InvalidClientTokenId", "SignatureDoesNotMatch", "OptInRequired", NULL },
				 *const temporary[] = { "Throttling", "TooManyRequests", "LimitExceeded",
					 "InternalService", "ServiceUnavailable", "RequestExpired", NULL };

	if (status != 400 || !words)
		return httpstatus_kind(status);
	return text_begins_with_one_of(words, missing)      ? ERR_MISSING
		: text_begins_with_one_of(words, denied)    ? ERR_DENIED
		: text_begins_with_one_of(words, temporary) ? ERR_TEMPORARY
							    : ERR_INVALID;
}

static int awssecrets_refused(const struct webresponse *answer, struct err *err)
{
	MEM_AUTO char *words = awssts_error(answer->body, answer->len);
	enum err_kind kind = kind_of(answer->status, words);

	err_set(err, kind, "HTTP status %d%s%s%s", answer->status, words ? ", " : "", words ? words : "",
		kind == ERR_DENIED ? "; missing permission: " PERMISSION : "");
	err->http_status = answer->status;
	return -1;
}

static int awssecrets_take(const json_t *answer, char **value, struct err *err)
{
	const json_t *text = json_object_get(answer, "SecretString");

	if (!text && json_object_get(answer, "SecretBinary"))
		return err_set(err, ERR_INVALID, "its value is binary (SecretBinary): store it as text (SecretString)");
	*value = secretmanager_text(text, "its value (SecretString)", err);
	return *value ? 0 : -1;
}

/* KEDA's error texts. */
static int awssecrets_member(const json_t *whole, const char *member, char **out, struct err *err)
{
	const json_t *found = json_object_get(whole, member);
	int rc = 0;

	if (!json_is_object(whole))
		rc = err_set(err, ERR_INVALID, "secretKey \"%.200s\": the secret's value is not a JSON object", member);
	else if (!found)
		rc = err_set(err, ERR_MISSING, "secretKey \"%.200s\": SecretKey Not Found", member);
	else if (!json_is_string(found))
		rc = err_set(err, ERR_INVALID, "secretKey \"%.200s\": SecretKey value is not a string", member);
	else if (!(*out = secretmanager_text(found, "it", err)))
		rc = err_wrap(err, "secretKey \"%.200s\"", member);
	return rc;
}

const struct secretmanager awssecrets = { .label = "AWS Secrets Manager",
	.is_pinned = awssecrets_is_pinned,
	.request = awssecrets_request,
	.take = awssecrets_take,
	.refused = awssecrets_refused,
	.member = awssecrets_member };
