/* SPDX-License-Identifier: Apache-2.0 */
#include "net/identity/awsown.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "net/identity/awssts.h"
#include "net/identity/identity_parts.h"

#define CONTAINER_URL "http://169.254.170.2"
#define METADATA_URL  "http://169.254.169.254"
#define METADATA_KEYS "/latest/meta-data/iam/security-credentials/"
#define ROLE_NAME_MAX 200

enum { REGION };
enum { START, WEB_IDENTITY, CONTAINER, METADATA_TOKEN, METADATA_ROLE, METADATA_END }; /* stages */

/* ---- The steps ---- */

static enum exchange_verdict from_environment(const struct identity_exchange *x, struct credential *got)
{
	got->key_id = mem_dup(identity_env(x, "AWS_ACCESS_KEY_ID"));
	got->secret = mem_dup(identity_env(x, "AWS_SECRET_ACCESS_KEY"));
	got->session_token = mem_dup(identity_env(x, "AWS_SESSION_TOKEN"));
	return EXCHANGE_DONE;
}

static enum exchange_verdict ask_sts(struct identity_exchange *x, struct webrequest *out, struct err *err)
{
	const struct awssts_role role = { .region = identity_text(x->identity, REGION),
		.endpoint = identity_env(x, "AWS_ENDPOINT_URL_STS"),
		.arn = identity_env(x, "AWS_ROLE_ARN") };
	char *token = identity_file(x, "AWS_WEB_IDENTITY_TOKEN_FILE", err);

	if (!token)
		return EXCHANGE_FAILED;
	x->stage = WEB_IDENTITY;
	awssts_by_token(&role, token, out);
	mem_free_secret(token);
	return EXCHANGE_SEND;
}

static enum exchange_verdict ask_container(struct identity_exchange *x, const char *full, const char *relative,
	struct webrequest *out, struct err *err)
{
	const char *plain = identity_env(x, "AWS_CONTAINER_AUTHORIZATION_TOKEN");
	bool by_file = identity_env(x, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") != NULL;
	char *token = by_file ? identity_file(x, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", err) : mem_dup(plain);

	if (by_file && !token)
		return EXCHANGE_FAILED;
	if (token)
		strmap_set(&out->headers, "Authorization", token);
	mem_free_secret(token);
	x->stage = CONTAINER;
	out->own = true;
	out->url = full ? mem_dup(full) : mem_printf(CONTAINER_URL "%s", relative);
	return EXCHANGE_SEND;
}

static enum exchange_verdict ask_metadata(struct identity_exchange *x, const char *path, struct webrequest *out)
{
	const char *url = identity_env(x, "AWS_EC2_METADATA_SERVICE_ENDPOINT");
	size_t len = strlen(url ? url : METADATA_URL);

	while (url && len > 0 && url[len - 1] == '/')
		len--;
	out->own = true;
	out->url = mem_printf("%.*s%s", (int)len, url ? url : METADATA_URL, path);
	if (x->stage == METADATA_TOKEN) {
		out->method = "PUT";
		strmap_set(&out->headers, "X-aws-ec2-metadata-token-ttl-seconds", "300");
	} else {
		/* "token" or "token\nrole" */
		MEM_AUTO char *token = mem_dupn(x->saved, strcspn(x->saved, "\n"));

		strmap_set(&out->headers, "X-aws-ec2-metadata-token", token);
	}
	return EXCHANGE_SEND;
}

static enum exchange_verdict start(struct identity_exchange *x, struct webrequest *out, struct credential *got,
	struct err *err)
{
	const char *full = identity_env(x, "AWS_CONTAINER_CREDENTIALS_FULL_URI");
	const char *relative = identity_env(x, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
	const char *disabled = identity_env(x, "AWS_EC2_METADATA_DISABLED");

	if (identity_env(x, "AWS_ACCESS_KEY_ID") && identity_env(x, "AWS_SECRET_ACCESS_KEY"))
		return from_environment(x, got);
	if (identity_env(x, "AWS_ROLE_ARN") && identity_env(x, "AWS_WEB_IDENTITY_TOKEN_FILE"))
		return ask_sts(x, out, err);
	if (full || relative)
		return ask_container(x, full, relative, out, err);
	if (!x->environment->metadata || (disabled && strcasecmp(disabled, "true") == 0))
		return err_set(err, ERR_INVALID,
			"kscaled has no AWS identity of its own: its environment has neither AWS_ACCESS_KEY_ID, nor "
			"AWS_WEB_IDENTITY_TOKEN_FILE, nor AWS_CONTAINER_CREDENTIALS_FULL_URI, and the option "
			"cloud-metadata, for the machine's identity, is off");
	x->stage = METADATA_TOKEN;
	return ask_metadata(x, "/latest/api/token", out);
}

static enum exchange_verdict awsown_next(struct identity_exchange *x, struct webrequest *out, struct credential *got,
	struct err *err)
{
	MEM_AUTO char *path = NULL;

	if (x->stage == START)
		return start(x, out, got, err);
	if (x->stage == METADATA_ROLE)
		return ask_metadata(x, METADATA_KEYS, out);
	path = mem_printf(METADATA_KEYS "%s", strchr(x->saved, '\n') + 1);
	return ask_metadata(x, path, out);
}

/* ---- Responses ---- */

static enum exchange_verdict take_line(struct identity_exchange *x, const struct webresponse *answer, struct err *err)
{
	size_t len = strcspn(answer->body ? answer->body : "", "\r\n");
	char *line, *both;

	if (answer->status != 200) {
		identity_refused(answer, answer->status == 404 ? "the machine has no role" : "no keys", NULL, err);
		return err_wrap(err, "the machine's metadata server");
	}
	line = mem_dupn(answer->body, len);
	if (!identity_is_token(line) || (x->stage == METADATA_ROLE && (len > ROLE_NAME_MAX || strpbrk(line, "/?#")))) {
		mem_free_secret(line);
		return err_set(err, ERR_INVALID, "the machine's metadata server: the answer is not a %s",
			x->stage == METADATA_TOKEN ? "token" : "role name");
	}
	both = x->stage == METADATA_TOKEN ? mem_dup(line) : mem_printf("%s\n%s", x->saved, line);
	mem_free_secret(line);
	mem_free_secret(x->saved);
	x->saved = both;
	x->stage++;
	return EXCHANGE_NEXT;
}

static enum exchange_verdict awsown_read(struct identity_exchange *x, const struct webresponse *answer,
	struct credential *got, struct err *err)
{
	int rc;

	if (x->stage == METADATA_TOKEN || x->stage == METADATA_ROLE)
		return take_line(x, answer, err);
	rc = x->stage == WEB_IDENTITY ? awssts_read(answer, x->unix_ms, got, err)
				      : awssts_read_json(answer, x->unix_ms, got, err);
	if (rc)
		err_wrap(err, "%s",
			x->stage == WEB_IDENTITY        ? "AssumeRoleWithWebIdentity"
				: x->stage == CONTAINER ? "the container's credentials"
							: "the machine's metadata server");
	return rc;
}

static const struct identity_kind awsown = { .name = "aws own",
	.label = "kscaled's own AWS identity",
	.early_ms = 300000,
	.next = awsown_next,
	.read = awsown_read };

struct identity *awsown_new(const char *region)
{
	const struct identity_config config = { .kind = &awsown, .texts = { [REGION] = region }, .own = true };

	return identity_new(&config);
}
