/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The secret managers of clouds among the sources: as whom they are asked, which is KEDA's rule for
 * each, and for what. Who may use kscaled's own identity there is who may use it in a trigger.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cache/auth/auth_parts.h"
#include "net/identity/awskeys.h"
#include "net/identity/awsown.h"
#include "net/identity/awsplace.h"
#include "net/identity/awsrole.h"
#include "net/secretmanagers/awssecrets.h"

static bool given(const char *text)
{
	return text && *text;
}

static const char *provider_of(const struct triggerauth_manager *m)
{
	const char *provider = m->identity ? m->identity->provider : NULL;

	return given(provider) && strcmp(provider, "none") != 0 ? provider : "";
}

/* ---- What all have in common ---- */

/* A URL without slashes at its end; the caller owns it. */
static char *place_of(const char *url)
{
	size_t len = strlen(url);

	while (len > 0 && url[len - 1] == '/')
		len--;
	return mem_dupn(url, len);
}

/*
 * A credential from a Secret, without blanks at its ends, which the caller wipes. NULL: it is not
 * there yet, or not at all, which is noted.
 */
static char *take_credential(struct auth_resolve *r, const char *source, const char *field,
	const struct triggerauth_ref *ref)
{
	struct err err = { 0 };
	const char *value;
	char *copy, *text;

	if (auth_key(r->lookup, KEYDATA_SECRET, r->namespace_, ref->name, ref->key, &value, &err) != REFERENCE_FOUND) {
		auth_fail(r, &err, "%s.credentials.%s", source, field);
		return NULL;
	}
	copy = mem_dup(value);
	text = mem_dup(text_trim(copy, " \t\r\n"));
	mem_free_secret(copy);
	if (*text)
		return text;
	auth_fail(r, NULL, "%s.credentials.%s: key \"%s\" of Secret %s/%s is empty", source, field, ref->key,
		r->namespace_, ref->name);
	mem_free_secret(text);
	return NULL;
}

/* Whether the trigger may use kscaled's own identity. */
static bool may_be_kscaled(struct auth_resolve *r, const char *source)
{
	if (r->identity->may_be_kscaled)
		return true;
	auth_fail(r, NULL,
		"%s.podIdentity asks for kscaled's own identity at the cloud, which a ClusterTriggerAuthentication may "
		"use, or, where kscaled runs with cloud-identity all, any: give credentials instead",
		source);
	return false;
}

/* All secrets of one manager, with what is the same for all. */
static void take_secrets(struct auth_resolve *r, const char *source, const struct triggerauth_manager *m,
	struct managervalues_source *asked)
{
	asked->namespace_ = r->of->meta->namespace_;
	for (size_t i = 0; i < m->secret_count; i++) {
		const struct triggerauth_managed *s = &m->secrets[i];
		MEM_AUTO char *what = mem_printf("secret \"%s\"", s->name);
		struct err err = { 0 };
		const char *value;

		asked->secret.name = s->name;
		asked->secret.version = s->version;
		asked->secret.stage = s->stage;
		asked->member = s->member;
		if (r->lookup->managed(r->lookup->arg, asked, &value, &err) == REFERENCE_FOUND)
			auth_put(r, source, s->parameter, value, what);
		else
			auth_fail(r, &err, "%s parameter \"%s\"", source, s->parameter);
	}
}

/* ---- AWS Secrets Manager ---- */

static struct identity *aws_keys(struct auth_resolve *r, const char *source, const struct triggerauth_manager *m)
{
	struct identity *identity = NULL;
	struct err err = { 0 };
	char *key_id, *secret, *session_token = NULL;

	if (!m->key_id.name || !m->secret.name) { /* KEDA's words */
		auth_fail(r, NULL,
			"%s: AccessKeyID and AccessSecretKey are expected when not using a pod identity provider: give "
			"credentials.accessKey and credentials.accessSecretKey",
			source);
		return NULL;
	}
	key_id = take_credential(r, source, "accessKey", &m->key_id);
	secret = take_credential(r, source, "accessSecretKey", &m->secret);
	if (m->session_token.name)
		session_token = take_credential(r, source, "accessToken", &m->session_token);
	if (key_id && secret && (session_token || !m->session_token.name)) {
		identity = awskeys_new(key_id, secret, session_token, &err);
		if (!identity)
			auth_fail(r, &err, "%s.credentials", source);
	}
	mem_free_secret(key_id);
	mem_free_secret(secret);
	mem_free_secret(session_token);
	return identity;
}

/* One reference; NULL: what is wrong is noted. */
static struct identity *aws_identity(struct auth_resolve *r, const char *source, const struct triggerauth_manager *m,
	const char *region)
{
	const struct triggerauth_identity *i = m->identity;
	const char *provider = provider_of(m);

	if (!*provider)
		return aws_keys(r, source, m);
	if (strcmp(provider, "aws") != 0) {
		auth_fail(r, NULL, "%s: pod identity provider %s not supported: aws is the one there is", source,
			provider);
		return NULL;
	}
	if (given(i->identity_owner) && strcmp(i->identity_owner, "workload") == 0) {
		auth_fail(r, NULL,
			"%s.podIdentity identityOwner workload is not supported by this version of kscaled: say the "
			"role "
			"that the ServiceAccount's annotation has as podIdentity roleArn",
			source);
		return NULL;
	}
	if (!may_be_kscaled(r, source))
		return NULL;
	return given(i->role_arn) ? awsrole_new(region, i->role_arn, i->external_id, true) : awsown_new(region);
}

void auth_from_aws(struct auth_resolve *r, const char *source)
{
	const struct triggerauth_manager *m = r->t->aws_secret_manager;
	const char *region = m && given(m->region) ? m->region : r->lookup->aws_region;
	MEM_AUTO char *place = NULL;
	struct webaccess_config config = { .region = region, .service = AWSSECRETS_SERVICE };
	struct managervalues_source asked = { .manager = &awssecrets };
	struct err err = { 0 };

	if (!m)
		return;
	if (!region) {
		auth_fail(r, NULL, "%s.region: missing, and kscaled's environment has no AWS_REGION", source);
		return;
	}
	if (awsplace_check_region(region, &err)) {
		auth_fail(r, &err, "%s.region", source);
		return;
	}
	config.identity = aws_identity(r, source, m, region);
	if (!config.identity)
		return;
	place = r->lookup->aws_secrets_url ? place_of(r->lookup->aws_secrets_url)
					   : awsplace_url(AWSSECRETS_SERVICE, region);
	asked.secret.place = place;
	asked.access = webaccess_new(&config, &err);
	if (asked.access)
		take_secrets(r, source, m, &asked);
	else
		auth_fail(r, &err, "%s", source);
	identity_unref(config.identity);
	webaccess_unref(asked.access);
}
