/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sources that are secret managers of clouds: with which identity they are asked (KEDA's
 * rules), and for which secrets. kscaled's own identity is allowed here as in triggers.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cache/auth/auth_parts.h"
#include "net/http/httpurl.h"
#include "net/identity/awskeys.h"
#include "net/identity/awsown.h"
#include "net/identity/awsregion.h"
#include "net/identity/awsrole.h"
#include "net/identity/azurecloud.h"
#include "net/identity/entra.h"
#include "net/identity/googlekey.h"
#include "net/identity/googleown.h"
#include "net/secretmanagers/awssecrets.h"
#include "net/secretmanagers/googlesecrets.h"
#include "net/secretmanagers/keyvault.h"
#include "scalers/login/azurelogin.h"

static const char *provider_of(const struct triggerauth_manager *m)
{
	const char *provider = m->identity ? m->identity->provider : NULL;

	return text_is_given(provider) && strcmp(provider, "none") != 0 ? provider : "";
}

/* ---- For all ---- */

/* The URL without trailing slashes; the caller owns it. */
static char *without_slashes(const char *url)
{
	size_t len = strlen(url);

	while (len > 0 && url[len - 1] == '/')
		len--;
	return mem_dupn(url, len);
}

/*
 * A credential from a Secret, trimmed, which the caller wipes. NULL: missing or not read yet; the
 * failure is recorded.
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

/* Takes all secrets of one manager; *asked has what they share. */
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
		if (secretmanager_check(asked->manager, &asked->secret, &err))
			auth_fail(r, &err, "%s parameter \"%s\"", source, s->parameter);
		else if (r->lookup->managed(r->lookup->arg, asked, &value, &err) == REFERENCE_FOUND)
			auth_put(r, source, s->parameter, value, what);
		else
			auth_fail(r, &err, "%s parameter \"%s\"", source, s->parameter);
	}
}

/*
 * Takes the secrets with config->identity, whose reference it takes; NULL: a failure that is
 * recorded already.
 */
static void ask_as(struct auth_resolve *r, const char *source, const struct triggerauth_manager *m,
	struct managervalues_source *asked, struct webaccess_config *config)
{
	struct err err = { 0 };

	if (!config->identity)
		return;
	asked->access = webaccess_new(config, &err);
	if (asked->access)
		take_secrets(r, source, m, asked);
	else
		auth_fail(r, &err, "%s", source);
	identity_unref(config->identity);
	webaccess_unref(asked->access);
}

/* ---- AWS Secrets Manager ---- */

static struct identity *aws_keys(struct auth_resolve *r, const char *source, const struct triggerauth_manager *m)
{
	struct identity *identity = NULL;
	struct err err = { 0 };
	char *key_id, *secret, *session_token = NULL;

	if (!m->key_id.name || !m->secret.name) { /* KEDA's text */
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

/* Ignores roleArn, as KEDA does. */
static struct identity *aws_workload(struct auth_resolve *r, const char *source, const char *region)
{
	MEM_AUTO char *copy = NULL;
	struct err err = { 0 };
	const char *role;

	if (auth_workload_role(r, &role, &err) != REFERENCE_FOUND) {
		auth_fail(r, &err, "%s.podIdentity", source);
		return NULL;
	}
	copy = mem_dup(role);
	return awsrole_new(region, text_trim(copy, " \t\r\n"), NULL, true);
}

/* One reference; NULL: the failure is recorded. */
static struct identity *aws_identity(struct auth_resolve *r, const char *source, const struct triggerauth_manager *m,
	const char *region)
{
	const struct triggerauth_identity *i = m->identity;
	const char *provider = provider_of(m);

	if (!*provider)
		return aws_keys(r, source, m);
	if (strcmp(provider, "aws") != 0) {
		auth_fail(r, NULL, "%s: pod identity provider %s not supported: only aws is", source, provider);
		return NULL;
	}
	if (!auth_may_use_own_identity(r, source))
		return NULL;
	if (auth_manager_is_of_workload(m))
		return aws_workload(r, source, region);
	return text_is_given(i->role_arn) ? awsrole_new(region, i->role_arn, i->external_id, true) : awsown_new(region);
}

void auth_from_aws(struct auth_resolve *r, const char *source)
{
	const struct triggerauth_manager *m = r->t->aws_secret_manager;
	const char *region = m && text_is_given(m->region) ? m->region : r->lookup->aws_region;
	MEM_AUTO char *url = NULL;
	struct webaccess_config config = { .region = region, .service = AWSSECRETS_SERVICE };
	struct managervalues_source asked = { .manager = &awssecrets };
	struct err err = { 0 };

	if (!m)
		return;
	if (!region) {
		auth_fail(r, NULL, "%s.region: missing, and kscaled's environment has no AWS_REGION", source);
		return;
	}
	if (awsregion_check(region, &err)) {
		auth_fail(r, &err, "%s.region", source);
		return;
	}
	config.identity = aws_identity(r, source, m, region);
	url = r->lookup->aws_secrets_url ? without_slashes(r->lookup->aws_secrets_url)
					 : awsregion_url(AWSSECRETS_SERVICE, region);
	asked.secret.endpoint = url;
	ask_as(r, source, m, &asked, &config);
}

/* ---- Azure Key Vault ---- */

#define HTTPS "https://"

/* A vault, and the authority and scope of its tokens. Owns its texts. */
struct azure_vault {
	struct httpurl_place vault;
	char *host;      /* the vault's, with the port */
	char *authority; /* NULL: the environment's, or the public one */
	char *scope;
};

static void azure_vault_done(struct azure_vault *p)
{
	httpurl_place_done(&p->vault);
	free(p->host);
	free(p->authority);
	free(p->scope);
}

/* Vaults and authorities get tokens and secrets, so only over TLS. */
static int check_url(const char *url, struct httpurl_place *place, struct err *err)
{
	if (httpurl_place(url, place, err))
		return -1;
	if (strcmp(place->scheme, "https") == 0 && !strpbrk(url, "?#@"))
		return 0;
	httpurl_place_done(place);
	*place = (struct httpurl_place){ 0 };
	return err_set(err, ERR_INVALID, "must be an https URL without user and query");
}

/* The given cloud, else the one of the vault's host name. */
static int find_cloud(const struct triggerauth_manager *m, struct azure_vault *p, struct err *err)
{
	struct httpurl_place authority = { 0 };
	MEM_AUTO char *vaults = NULL, *resource = NULL;
	const char *microsofts;

	if (!text_is_given(m->cloud))
		vaults = mem_dup(azurecloud_vault_suffix(p->vault.host));
	else if (azurecloud_suffix(m->cloud, AZURECLOUD_KEY_VAULT, "keyVaultResourceURL", m->resource, &vaults, err))
		return err_wrap(err, "cloud.type");
	microsofts = azurecloud_authority(vaults);
	resource = without_slashes(vaults);
	p->scope = mem_printf("%s%s/.default", strstr(resource, "://") ? "" : HTTPS, resource);
	if (!microsofts && !text_is_given(m->authority))
		return err_set(err, ERR_INVALID,
			"cloud: activeDirectoryEndpoint must be provided for Private cloud type");
	if (!microsofts && check_url(m->authority, &authority, err))
		return err_wrap(err, "cloud.activeDirectoryEndpoint");
	httpurl_place_done(&authority);
	p->authority = mem_dup(microsofts ? microsofts : m->authority);
	return 0;
}

static struct identity *azure_by_secret(struct auth_resolve *r, const char *source, const struct triggerauth_manager *m,
	const struct azure_vault *p)
{
	const struct entra_config config = { .authority = p->authority,
		.tenant = m->tenant_id,
		.client_id = m->client_id,
		.scope = p->scope };
	struct identity *identity;
	struct err err = { 0 };
	char *secret;

	if (!text_is_given(m->client_id) || !text_is_given(m->tenant_id) || !m->secret.name) { /* KEDA's text */
		auth_fail(r, NULL,
			"%s: clientID, tenantID and clientSecret are expected when not using a pod identity provider: "
			"give "
			"credentials",
			source);
		return NULL;
	}
	secret = take_credential(r, source, "clientSecret", &m->secret);
	if (!secret)
		return NULL;
	identity = entra_app_new(&config, secret, &err);
	if (!identity)
		auth_fail(r, &err, "%s", source);
	mem_free_secret(secret);
	return identity;
}

/* One reference; NULL: the failure is recorded. kscaled's own token has its own authority. */
static struct identity *azure_identity(struct auth_resolve *r, const char *source, const struct triggerauth_manager *m,
	const struct azure_vault *p)
{
	const struct triggerauth_identity *i = m->identity;
	const char *provider = provider_of(m);
	struct pod_identity pod = { .provider = provider, .azure_trusted = r->identity->azure_trusted };
	struct identity *identity;
	struct err err = { 0 };

	if (!*provider)
		return azure_by_secret(r, source, m, p);
	if (strcmp(provider, "azure-workload") != 0) { /* KEDA's text */
		auth_fail(r, NULL, "%s: key vault does not support pod identity provider - %s", source, provider);
		return NULL;
	}
	if (!auth_may_use_own_identity(r, source))
		return NULL;
	pod.identity_id = i->identity_id;
	pod.identity_tenant_id = i->identity_tenant_id;
	pod.identity_authority_host = i->identity_authority_host;
	identity = azurelogin_new(&pod, p->scope,
		&(struct disclosure){ .service = AZURECLOUD_KEY_VAULT, .host = p->host }, &err);
	if (!identity)
		auth_fail(r, &err, "%s", source);
	return identity;
}

void auth_from_azure(struct auth_resolve *r, const char *source)
{
	const struct triggerauth_manager *m = r->t->azure_key_vault;
	struct managervalues_source asked = { .manager = &keyvault };
	struct webaccess_config config = { 0 };
	struct azure_vault p = { 0 };
	MEM_AUTO char *url = NULL;
	struct err err = { 0 };

	if (!m)
		return;
	url = without_slashes(m->vault_uri);
	asked.secret.endpoint = url;
	if (check_url(url, &p.vault, &err)) {
		auth_fail(r, &err, "%s.vaultUri", source);
	} else if (find_cloud(m, &p, &err)) {
		auth_fail(r, &err, "%s", source);
	} else {
		p.host = httpurl_host_header(&p.vault);
		config.identity = azure_identity(r, source, m, &p);
		ask_as(r, source, m, &asked, &config);
	}
	azure_vault_done(&p);
}

/* ---- Google Secret Manager ---- */

/* KEDA's texts. *project: the key's, borrowed from the identity. */
static struct identity *google_by_key(struct auth_resolve *r, const char *source, const struct triggerauth_manager *m,
	const char **project)
{
	struct identity *identity;
	struct err err = { 0 };
	bool is_unknown;
	char *key;

	if (!m->secret.name) {
		auth_fail(r, NULL,
			"%s: clientSecret is expected when not using a pod identity provider: give "
			"credentials.clientSecret",
			source);
		return NULL;
	}
	key = take_credential(r, source, "clientSecret", &m->secret);
	if (!key)
		return NULL;
	/* a key that `kscaled check` cannot read counts as valid */
	is_unknown = r->lookup->unknown && strcmp(key, r->lookup->unknown) == 0;
	identity = is_unknown ? googleown_new(GOOGLEKEY_CLOUD_PLATFORM)
			      : googlekey_new(key, GOOGLEKEY_CLOUD_PLATFORM, &err);
	mem_free_secret(key);
	*project = identity && !is_unknown ? googlekey_project(identity) : NULL;
	if (identity && !is_unknown && !*project) {
		err_set(&err, ERR_INVALID, "project_id field is missing in the json credentials");
		identity_unref(identity);
		identity = NULL;
	}
	if (!identity)
		auth_fail(r, &err, "%s.credentials.clientSecret", source);
	return identity;
}

/* One reference; NULL: the failure is recorded. */
static struct identity *google_identity(struct auth_resolve *r, const char *source, const struct triggerauth_manager *m,
	const char **project)
{
	const char *provider = provider_of(m);

	if (!*provider)
		return google_by_key(r, source, m, project);
	if (strcmp(provider, "gcp") == 0)
		return auth_may_use_own_identity(r, source) ? googleown_new(GOOGLEKEY_CLOUD_PLATFORM) : NULL;
	auth_fail(r, NULL, "%s: gcp secret manager does not support pod identity provider - %s", source, provider);
	return NULL;
}

void auth_from_google(struct auth_resolve *r, const char *source)
{
	const struct triggerauth_manager *m = r->t->gcp_secret_manager;
	struct managervalues_source asked = { .manager = &googlesecrets, .secret.endpoint = GOOGLESECRETS_URL };
	struct webaccess_config config = { 0 };

	if (!m)
		return;
	config.identity = google_identity(r, source, m, &asked.secret.project);
	ask_as(r, source, m, &asked, &config);
}
