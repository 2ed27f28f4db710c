/* SPDX-License-Identifier: Apache-2.0 */
#include "net/identity/awsrole.h"

#include <stdlib.h>

#include "base/mem.h"
#include "net/identity/awsown.h"
#include "net/identity/awssts.h"
#include "net/identity/identity_parts.h"

enum { REGION, ARN, EXTERNAL_ID, BY_TOKEN };
enum { START, WEB_IDENTITY, KEYS }; /* stages */

static struct awssts_role role_of(const struct identity_exchange *x)
{
	return (struct awssts_role){ .region = identity_text(x->identity, REGION),
		.endpoint = identity_env(x, "AWS_ENDPOINT_URL_STS"),
		.arn = identity_text(x->identity, ARN),
		.external_id = identity_text(x->identity, EXTERNAL_ID) };
}

/* Kept for the error if AssumeRole fails, too. */
static void keep_failure(struct identity_exchange *x, const struct err *err)
{
	free(x->saved);
	x->saved = mem_dup(err->msg);
	x->stage = KEYS;
}

static enum exchange_verdict awsrole_next(struct identity_exchange *x, struct webrequest *out, struct credential *got,
	struct err *err)
{
	const struct awssts_role role = role_of(x);
	char *token;

	(void)got;
	if (x->stage == START && identity_text(x->identity, BY_TOKEN) &&
		identity_env(x, "AWS_WEB_IDENTITY_TOKEN_FILE")) {
		token = identity_file(x, "AWS_WEB_IDENTITY_TOKEN_FILE", err);
		if (token) {
			x->stage = WEB_IDENTITY;
			awssts_by_token(&role, token, out);
			mem_free_secret(token);
			return EXCHANGE_SEND;
		}
		keep_failure(x, err);
		err_clear(err);
	}
	x->stage = KEYS;
	if (!x->source)
		return EXCHANGE_WAIT;
	return awssts_by_keys(&role, x->source, x->unix_ms, out, err) ? EXCHANGE_FAILED : EXCHANGE_SEND;
}

static enum exchange_verdict awsrole_read(struct identity_exchange *x, const struct webresponse *answer,
	struct credential *got, struct err *err)
{
	if (awssts_read(answer, x->unix_ms, got, err) == 0)
		return EXCHANGE_DONE;
	/* A throttled server gets no second request. */
	if (x->stage == WEB_IDENTITY && !err->retry_after_ms) {
		keep_failure(x, err);
		err_clear(err);
		return EXCHANGE_NEXT;
	}
	err_wrap(err, "%s %.100s", x->stage == WEB_IDENTITY ? "AssumeRoleWithWebIdentity" : "AssumeRole",
		identity_text(x->identity, ARN));
	if (x->saved) {
		struct err second = *err;

		err_set(err, second.kind, "%.250s (and AssumeRoleWithWebIdentity: %.200s)", second.msg, x->saved);
		err->http_status = second.http_status;
		err->retry_after_ms = second.retry_after_ms;
	}
	return EXCHANGE_FAILED;
}

static const struct identity_kind awsrole = { .name = "aws role",
	.label = "AWS role",
	.early_ms = 300000,
	.next = awsrole_next,
	.read = awsrole_read };

struct identity *awsrole_new(const char *region, const char *arn, const char *external_id, bool by_token)
{
	const struct identity_config config = { .kind = &awsrole,
		.texts = { [REGION] = region,
			[ARN] = arn,
			[EXTERNAL_ID] = external_id,
			[BY_TOKEN] = by_token ? "t" : NULL },
		.source = awsown_new(region) };

	return identity_new(&config);
}
