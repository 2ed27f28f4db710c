/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/triggerauth.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/textlist.h"
#include "crd/shape.h"

/* ---- Lists and fields ---- */

struct text_field {
	const char *key;
	char **out;
	bool required; /* present and not empty */
};

static int decode_texts(const struct json_at *at, const struct text_field *fields, size_t count, struct err *err)
{
	if (shape_required_object(at, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		struct json_at field = json_field(at, fields[i].key);

		if (json_get_string(at, fields[i].key, fields[i].out, err) < 0)
			return -1;
		if (fields[i].required && *fields[i].out == NULL)
			return shape_missing(at, fields[i].key, err);
		if (fields[i].required && **fields[i].out == '\0')
			return json_wrong(&field, err, "must not be empty");
	}
	return 0;
}

#define TEXTS(at, fields, err) decode_texts(at, fields, MEM_COUNT(fields), err)

typedef int (*entry_fn)(const struct json_at *at, void *entry, struct err *err);

/*
 * Decodes a list of objects into an array of full length, zero from the first wrong entry on, so
 * that it can be freed like any other.
 */
static int decode_list(const struct json_at *parent, const char *key, size_t entry_size, entry_fn fn, void *entries,
	size_t *count, struct err *err)
{
	struct json_at list = json_field(parent, key);
	char *array;

	if (shape_array(&list, TRIGGERAUTH_ENTRIES_MAX, count, err) < 0)
		return -1;
	if (*count == 0)
		return 0;
	array = mem_array(*count, entry_size);
	memcpy(entries, &array, sizeof(array));
	for (size_t i = 0; i < *count; i++) {
		struct json_at entry = json_element(&list, i);

		if (fn(&entry, array + i * entry_size, err) < 0)
			return -1;
	}
	return 0;
}

/* The index of the field's text among the names, or `absent`; -1 with *err for any other text. */
static int decode_choice(const struct json_at *at, const char *key, const char *const *names, int absent,
	struct err *err)
{
	struct json_at field = json_field(at, key);
	char *text = NULL;
	int found = -1;

	if (json_get_string(at, key, &text, err) < 0)
		return -1;
	if (text == NULL)
		return absent;
	for (int i = 0; names[i] != NULL; i++)
		if (strcmp(names[i], text) == 0)
			found = i;
	if (found < 0)
		shape_wrong(&field, err, "\"%.100s\" is not supported", text);
	free(text);
	return found;
}

/* ---- The plain sources ---- */

static int decode_key(const struct json_at *at, void *entry, struct err *err)
{
	struct triggerauth_key *k = entry;
	const struct text_field fields[] = { { "parameter", &k->parameter, true }, { "name", &k->name, true },
		{ "key", &k->key, true } };

	return TEXTS(at, fields, err);
}

static int decode_variable(const struct json_at *at, void *entry, struct err *err)
{
	struct triggerauth_env *e = entry;
	const struct text_field fields[] = { { "parameter", &e->parameter, true }, { "name", &e->name, true },
		{ "containerName", &e->container, false } };

	if (TEXTS(at, fields, err) < 0)
		return -1;
	if (e->container != NULL && *e->container == '\0') /* as in KEDA: the first container */
		mem_free_ptr(&e->container);
	return 0;
}

static int decode_token(const struct json_at *at, void *entry, struct err *err)
{
	struct triggerauth_token *t = entry;
	const struct text_field fields[] = { { "parameter", &t->parameter, true },
		{ "serviceAccountName", &t->service_account, true } };

	return TEXTS(at, fields, err);
}

/* Of the object, or of one manager. */
static int decode_pod_identity(const struct json_at *parent, struct triggerauth_identity **out, struct err *err)
{
	struct json_at at = json_field(parent, "podIdentity");
	struct triggerauth_identity *i;

	if (at.value == NULL)
		return 0;
	if (shape_object(&at, err) < 0)
		return -1;
	i = *out = mem_zalloc(sizeof(*i));
	const struct text_field fields[] = {
		{ "provider", &i->provider, true },
		{ "identityId", &i->identity_id, false },
		{ "identityTenantId", &i->identity_tenant_id, false },
		{ "identityAuthorityHost", &i->identity_authority_host, false },
		{ "roleArn", &i->role_arn, false },
		{ "externalID", &i->external_id, false },
		{ "identityOwner", &i->identity_owner, false },
	};
	return TEXTS(&at, fields, err);
}

static int decode_identity(const struct json_at *spec, struct triggerauth *out, struct err *err)
{
	return decode_pod_identity(spec, &out->identity, err);
}

static int decode_secrets(const struct json_at *spec, struct triggerauth *out, struct err *err)
{
	return decode_list(spec, "secretTargetRef", sizeof(*out->secrets), decode_key, &out->secrets,
		&out->secret_count, err);
}

static int decode_config_maps(const struct json_at *spec, struct triggerauth *out, struct err *err)
{
	return decode_list(spec, "configMapTargetRef", sizeof(*out->config_maps), decode_key, &out->config_maps,
		&out->config_map_count, err);
}

static int decode_env(const struct json_at *spec, struct triggerauth *out, struct err *err)
{
	return decode_list(spec, "env", sizeof(*out->env), decode_variable, &out->env, &out->env_count, err);
}

static int decode_tokens(const struct json_at *spec, struct triggerauth *out, struct err *err)
{
	return decode_list(spec, "boundServiceAccountToken", sizeof(*out->tokens), decode_token, &out->tokens,
		&out->token_count, err);
}

static int decode_file(const struct json_at *spec, struct triggerauth *out, struct err *err)
{
	if (json_get_string(spec, "filePath", &out->file_path, err) < 0)
		return -1;
	if (out->file_path != NULL && *out->file_path == '\0') /* absent, as in KEDA */
		mem_free_ptr(&out->file_path);
	return 0;
}

/* ---- Vault ---- */

static int decode_pki(const struct json_at *secret, struct triggerauth_vault_secret *out, struct err *err)
{
	struct json_at at = json_field(secret, "pkiData");
	const struct text_field fields[] = {
		{ "commonName", &out->common_name, false },
		{ "altNames", &out->alt_names, false },
		{ "ipSans", &out->ip_sans, false },
		{ "uriSans", &out->uri_sans, false },
		{ "otherSans", &out->other_sans, false },
		{ "ttl", &out->ttl, false },
		{ "format", &out->format, false },
	};

	return at.value != NULL ? TEXTS(&at, fields, err) : 0;
}

static int decode_vault_secret(const struct json_at *at, void *entry, struct err *err)
{
	static const char *const types[] = { [VAULT_TYPE_ANY] = "",
		[VAULT_TYPE_SECRET_V2] = "secretV2",
		[VAULT_TYPE_SECRET] = "secret",
		[VAULT_TYPE_PKI] = "pki",
		NULL };
	struct triggerauth_vault_secret *s = entry;
	const struct text_field fields[] = { { "parameter", &s->parameter, true }, { "path", &s->path, true },
		{ "key", &s->key, true } };
	int type;

	if (TEXTS(at, fields, err) < 0)
		return -1;
	type = decode_choice(at, "type", types, VAULT_TYPE_ANY, err);
	if (type < 0)
		return -1;
	s->type = (enum triggerauth_vault_type)type;
	return decode_pki(at, s, err);
}

static int decode_credential(const struct json_at *vault, struct triggerauth_vault *out, struct err *err)
{
	struct json_at at = json_field(vault, "credential");
	const struct text_field fields[] = {
		{ "token", &out->token, false },
		{ "serviceAccount", &out->service_account_file, false },
		{ "serviceAccountName", &out->service_account_name, false },
	};

	return at.value != NULL ? TEXTS(&at, fields, err) : 0;
}

static int decode_vault(const struct json_at *spec, struct triggerauth *out, struct err *err)
{
	static const char *const logins[] = { "token", "kubernetes", NULL };
	struct json_at at = json_field(spec, "hashiCorpVault");
	struct triggerauth_vault *v;
	int login;

	if (at.value == NULL)
		return 0;
	if (shape_object(&at, err) < 0)
		return -1;
	v = out->vault = mem_zalloc(sizeof(*v));
	const struct text_field fields[] = { { "address", &v->address, true }, { "namespace", &v->namespace_, false },
		{ "role", &v->role, false }, { "mount", &v->mount, false } };
	if (TEXTS(&at, fields, err) < 0)
		return -1;
	if (json_field(&at, "authentication").value == NULL)
		return shape_missing(&at, "authentication", err);
	login = decode_choice(&at, "authentication", logins, 0, err);
	if (login < 0)
		return -1;
	v->kubernetes = login == 1;
	if (decode_credential(&at, v, err) < 0 ||
		decode_list(&at, "secrets", sizeof(*v->secrets), decode_vault_secret, &v->secrets, &v->secret_count,
			err) < 0)
		return -1;
	return v->secret_count > 0 ? 0 : shape_missing(&at, "secrets", err);
}

static void vault_free(struct triggerauth_vault *v)
{
	if (v == NULL)
		return;
	free(v->address);
	free(v->namespace_);
	free(v->role);
	free(v->mount);
	mem_free_secret(v->token);
	free(v->service_account_file);
	free(v->service_account_name);
	for (size_t i = 0; i < v->secret_count; i++) {
		struct triggerauth_vault_secret *s = &v->secrets[i];
		char *const texts[] = { s->parameter, s->path, s->key, s->common_name, s->alt_names, s->ip_sans,
			s->uri_sans, s->other_sans, s->ttl, s->format };

		for (size_t k = 0; k < MEM_COUNT(texts); k++)
			free(texts[k]);
	}
	free(v->secrets);
	free(v);
}

/* ---- Values of Secrets, and secret managers of clouds ---- */

/* {"valueFrom": {"secretKeyRef": {"name", "key"}}} */
static int decode_ref(const struct json_at *parent, const char *key, struct triggerauth_ref *out, struct err *err)
{
	struct json_at at = json_field(parent, key), value, ref;
	const struct text_field fields[] = { { "name", &out->name, true }, { "key", &out->key, true } };

	if (at.value == NULL)
		return 0;
	if (shape_object(&at, err) < 0)
		return -1;
	value = json_field(&at, "valueFrom");
	if (shape_object(&value, err) < 0)
		return -1;
	ref = json_field(&value, "secretKeyRef");
	return TEXTS(&ref, fields, err);
}

static int decode_azure_secret(const struct json_at *at, void *entry, struct err *err)
{
	struct triggerauth_managed *s = entry;
	const struct text_field fields[] = { { "parameter", &s->parameter, true }, { "name", &s->name, true },
		{ "version", &s->version, false } };

	return TEXTS(at, fields, err);
}

static int decode_gcp_secret(const struct json_at *at, void *entry, struct err *err)
{
	struct triggerauth_managed *s = entry;
	const struct text_field fields[] = { { "parameter", &s->parameter, true }, { "id", &s->name, true },
		{ "version", &s->version, false } };

	return TEXTS(at, fields, err);
}

static int decode_aws_secret(const struct json_at *at, void *entry, struct err *err)
{
	struct triggerauth_managed *s = entry;
	const struct text_field fields[] = { { "parameter", &s->parameter, true }, { "name", &s->name, true },
		{ "versionId", &s->version, false }, { "versionStage", &s->stage, false },
		{ "secretKey", &s->member, false } };

	return TEXTS(at, fields, err);
}

/* Common to all: credentials (each has some of these fields), podIdentity, secrets. */
static int decode_manager(const struct json_at *at, entry_fn fn, struct triggerauth_manager **out, struct err *err)
{
	struct json_at credentials = json_field(at, "credentials");
	struct triggerauth_manager *m;

	if (at->value == NULL)
		return 0;
	if (shape_object(at, err) < 0 || shape_object(&credentials, err) < 0)
		return -1;
	m = *out = mem_zalloc(sizeof(*m));
	if (decode_ref(&credentials, "accessKey", &m->key_id, err) < 0 ||
		decode_ref(&credentials, "accessSecretKey", &m->secret, err) < 0 ||
		decode_ref(&credentials, "accessToken", &m->session_token, err) < 0 ||
		decode_ref(&credentials, "clientSecret", &m->secret, err) < 0 ||
		json_get_string(&credentials, "clientId", &m->client_id, err) < 0 ||
		json_get_string(&credentials, "tenantId", &m->tenant_id, err) < 0 ||
		decode_pod_identity(at, &m->identity, err) < 0 ||
		decode_list(at, "secrets", sizeof(*m->secrets), fn, &m->secrets, &m->secret_count, err) < 0)
		return -1;
	return m->secret_count > 0 ? 0 : shape_missing(at, "secrets", err);
}

static int decode_azure(const struct json_at *spec, struct triggerauth *out, struct err *err)
{
	struct json_at at = json_field(spec, "azureKeyVault"), cloud = json_field(&at, "cloud");
	struct triggerauth_manager *m;

	if (decode_manager(&at, decode_azure_secret, &out->azure_key_vault, err) < 0)
		return -1;
	m = out->azure_key_vault;
	if (m == NULL)
		return 0;
	const struct text_field fields[] = { { "vaultUri", &m->vault_uri, true } };
	const struct text_field of_cloud[] = { { "type", &m->cloud, true },
		{ "keyVaultResourceURL", &m->resource, false }, { "activeDirectoryEndpoint", &m->authority, false } };
	if (TEXTS(&at, fields, err) < 0)
		return -1;
	return cloud.value != NULL ? TEXTS(&cloud, of_cloud, err) : 0;
}

static int decode_gcp(const struct json_at *spec, struct triggerauth *out, struct err *err)
{
	struct json_at at = json_field(spec, "gcpSecretManager");

	return decode_manager(&at, decode_gcp_secret, &out->gcp_secret_manager, err);
}

static int decode_aws(const struct json_at *spec, struct triggerauth *out, struct err *err)
{
	struct json_at at = json_field(spec, "awsSecretManager");

	if (decode_manager(&at, decode_aws_secret, &out->aws_secret_manager, err) < 0)
		return -1;
	return out->aws_secret_manager ? json_get_string(&at, "region", &out->aws_secret_manager->region, err) : 0;
}

/* ---- OAuth2 ---- */

static int decode_scope(const struct json_at *at, void *entry, struct err *err)
{
	const char *text = json_string_value(at->value);
	char **scope = entry;

	if (text == NULL)
		return json_wrong(at, err, "must be a string");
	if (strlen(text) != json_string_length(at->value))
		return json_wrong(at, err, "must not contain a NUL character");
	*scope = mem_dup(text);
	return 0;
}

static int decode_oauth2(const struct json_at *spec, struct triggerauth *out, struct err *err)
{
	static const char *const types[] = { "clientCredentials", NULL };
	struct json_at at = json_field(spec, "oauth2"), params;
	struct triggerauth_oauth2 *o;

	if (at.value == NULL)
		return 0;
	if (shape_object(&at, err) < 0)
		return -1;
	o = out->oauth2 = mem_zalloc(sizeof(*o));
	const struct text_field fields[] = { { "type", &o->type, false }, { "clientId", &o->client_id, true },
		{ "tokenUrl", &o->token_url, true } };
	if (TEXTS(&at, fields, err) < 0 || decode_choice(&at, "type", types, 0, err) < 0 ||
		decode_ref(&at, "clientSecret", &o->secret, err) < 0 ||
		decode_list(&at, "scopes", sizeof(*o->scopes), decode_scope, &o->scopes, &o->scope_count, err) < 0)
		return -1;
	params = json_field(&at, "tokenUrlParams");
	if (json_object_size(params.value) > TRIGGERAUTH_ENTRIES_MAX)
		return json_wrong(&params, err, "too many keys");
	return json_get_strmap(&at, "tokenUrlParams", &o->token_url_params, err);
}

static void ref_done(struct triggerauth_ref *ref)
{
	free(ref->name);
	free(ref->key);
}

static void oauth2_free(struct triggerauth_oauth2 *o)
{
	if (o == NULL)
		return;
	free(o->type);
	free(o->client_id);
	free(o->token_url);
	ref_done(&o->secret);
	textlist_done(&o->scopes, &o->scope_count);
	strmap_done_secret(&o->token_url_params); /* may contain credentials */
	free(o);
}

/* ---- The whole ---- */

typedef int (*part_fn)(const struct json_at *spec, struct triggerauth *out, struct err *err);

/* All parts are decoded even when one is wrong; the first error is reported. */
static int decode_spec(const struct json_at *at, struct triggerauth *out, struct err *err)
{
	static const part_fn parts[] = {
		decode_identity,
		decode_secrets,
		decode_config_maps,
		decode_env,
		decode_file,
		decode_vault,
		decode_azure,
		decode_gcp,
		decode_aws,
		decode_tokens,
		decode_oauth2,
	};
	int rc = 0;

	if (shape_required_object(at, err) < 0)
		return -1;
	for (size_t i = 0; i < MEM_COUNT(parts); i++)
		if (parts[i](at, out, rc == 0 ? err : NULL) < 0)
			rc = -1;
	return rc;
}

struct triggerauth *triggerauth_decode(const json_t *object, struct err *err)
{
	struct triggerauth *t = mem_zalloc(sizeof(*t));
	struct json_at root = json_root(object), spec, status;
	struct err spec_err;

	if (meta_decode(object, &t->meta, err) < 0) {
		free(t);
		return NULL;
	}
	spec = json_field(&root, "spec");
	status = json_field(&root, "status");
	if (decode_spec(&spec, t, &spec_err) < 0)
		err_keep(&t->spec_err, &spec_err);
	/* kscaled's own status: an unreadable field counts as absent. */
	json_get_string(&status, "scaledobjects", &t->used_by_scaledobjects, NULL);
	json_get_string(&status, "scaledjobs", &t->used_by_scaledjobs, NULL);
	return t;
}

/* Frees an array of structs that have only owned texts (char *) as members. */
static void free_texts(void *structs, size_t count, size_t size)
{
	char **texts = structs;

	for (size_t i = 0; i < count * size / sizeof(char *); i++)
		free(texts[i]);
	free(structs);
}

static void manager_free(struct triggerauth_manager *m)
{
	if (m == NULL)
		return;
	free_texts(m->identity, m->identity != NULL, sizeof(*m->identity));
	ref_done(&m->key_id);
	ref_done(&m->secret);
	ref_done(&m->session_token);
	free(m->region);
	free(m->vault_uri);
	free(m->client_id);
	free(m->tenant_id);
	free(m->cloud);
	free(m->resource);
	free(m->authority);
	free_texts(m->secrets, m->secret_count, sizeof(*m->secrets));
	free(m);
}

void triggerauth_free(struct triggerauth *t)
{
	if (t == NULL)
		return;
	meta_done(&t->meta);
	free_texts(t->identity, t->identity != NULL, sizeof(*t->identity));
	free_texts(t->secrets, t->secret_count, sizeof(*t->secrets));
	free_texts(t->config_maps, t->config_map_count, sizeof(*t->config_maps));
	free_texts(t->env, t->env_count, sizeof(*t->env));
	free(t->file_path);
	vault_free(t->vault);
	manager_free(t->azure_key_vault);
	manager_free(t->gcp_secret_manager);
	manager_free(t->aws_secret_manager);
	free_texts(t->tokens, t->token_count, sizeof(*t->tokens));
	oauth2_free(t->oauth2);
	free(t->used_by_scaledobjects);
	free(t->used_by_scaledjobs);
	free(t->spec_err);
	free(t);
}

size_t triggerauth_parameter_count(const struct triggerauth *t)
{
	const struct triggerauth_manager *const managers[] = { t->azure_key_vault, t->gcp_secret_manager,
		t->aws_secret_manager };
	size_t count = t->secret_count + t->config_map_count + t->env_count + t->token_count;

	if (t->vault != NULL)
		count += t->vault->secret_count;
	for (size_t i = 0; i < MEM_COUNT(managers); i++)
		if (managers[i] != NULL)
			count += managers[i]->secret_count;
	return count;
}
