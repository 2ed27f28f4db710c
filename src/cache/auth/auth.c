/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/auth/auth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"
#include "cache/auth/auth_parts.h"
#include "scalers/scalerbuild.h"

#define VALUE_BYTES_MAX (1 << 20)

/* ---- Keys ---- */

static void take_key(struct auth_resolve *r, const char *source, const char *parameter, enum keydata_kind kind,
	const char *name, const char *key)
{
	MEM_AUTO char *what = mem_printf("key \"%s\" of %s %s/%s", key, keydata_kind_name(kind), r->namespace_, name);
	struct err err = { 0 };
	const char *value;

	if (auth_key(r->lookup, kind, r->namespace_, name, key, &value, &err) == REFERENCE_FOUND)
		auth_put(r, source, parameter, value, what);
	else
		auth_fail(r, &err, "%s parameter \"%s\"", source, parameter);
}

static void take_keys(struct auth_resolve *r, const char *source, enum keydata_kind kind,
	const struct triggerauth_key *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		take_key(r, source, list[i].parameter, kind, list[i].name, list[i].key);
}

static void from_config_maps(struct auth_resolve *r, const char *source)
{
	take_keys(r, source, KEYDATA_CONFIG_MAP, r->t->config_maps, r->t->config_map_count);
}

static void from_secrets(struct auth_resolve *r, const char *source)
{
	take_keys(r, source, KEYDATA_SECRET, r->t->secrets, r->t->secret_count);
}

/* ---- The environment of the target's container ---- */

#define SCALE_TARGET "the scale target"
#define POD_TEMPLATE "the Pod template"

/*
 * The variables of one container that the authentication names, read together: there may be a
 * thousand, of a container with thousands.
 */
struct container_variables {
	const char *container; /* as written; "": the first */
	struct strmap wanted, env, unresolved;
	bool failed;
	struct err err;
	UT_hash_handle hh;
};

static struct container_variables *variables_find(struct container_variables *all, const struct triggerauth_env *e)
{
	const char *container = e->container ? e->container : "";
	struct container_variables *v;

	HASH_FIND_STR(all, container, v);
	return v;
}

static struct container_variables *variables_gather(const struct triggerauth *t)
{
	struct container_variables *all = NULL, *v;

	for (size_t i = 0; i < t->env_count; i++) {
		v = variables_find(all, &t->env[i]);
		if (!v) {
			v = mem_zalloc(sizeof(*v));
			v->container = t->env[i].container ? t->env[i].container : "";
			HASH_ADD_KEYPTR(hh, all, v->container, strlen(v->container), v);
		}
		strmap_set(&v->wanted, t->env[i].name, "");
	}
	return all;
}

static void variables_done(struct container_variables *all)
{
	struct container_variables *v, *next;

	HASH_ITER (hh, all, v, next) {
		HASH_DEL(all, v);
		strmap_done(&v->wanted);
		strmap_done_secret(&v->env);
		strmap_done(&v->unresolved);
		free(v);
	}
}

static void take_variable(struct auth_resolve *r, const char *source, const struct triggerauth_env *e,
	const struct container_variables *v)
{
	const char *container = *v->container ? v->container : r->target->containers[0].name;
	MEM_AUTO char *what = mem_printf("variable %s of container \"%s\"", e->name, container);
	const char *value = strmap_get(&v->env, e->name), *why = strmap_get(&v->unresolved, e->name);

	if (v->failed)
		auth_fail(r, &v->err, "%s parameter \"%s\"", source, e->parameter);
	else if (value)
		auth_put(r, source, e->parameter, value, what);
	else if (why)
		auth_fail(r, NULL, "%s parameter \"%s\": %s %s", source, e->parameter, what, why);
	else if (r->of->so)
		auth_fail(r, NULL, "%s parameter \"%s\": container \"%s\" of " SCALE_TARGET " %s has no variable %s",
			source, e->parameter, container, r->of->so->spec.target_name, e->name);
	else
		auth_fail(r, NULL, "%s parameter \"%s\": container \"%s\" of " POD_TEMPLATE " has no variable %s",
			source, e->parameter, container, e->name);
}

static void take_variables(struct auth_resolve *r, const char *source)
{
	struct container_variables *all = variables_gather(r->t), *v, *next;

	HASH_ITER (hh, all, v, next)
		v->failed = auth_variables(r->lookup, r->of, r->target, v->container, &v->wanted, &v->env,
				    &v->unresolved, &v->err) != 0;
	for (size_t i = 0; i < r->t->env_count; i++)
		take_variable(r, source, &r->t->env[i], variables_find(all, &r->t->env[i]));
	variables_done(all);
}

static void from_env(struct auth_resolve *r, const char *source)
{
	const char *unknown = r->target ? r->target->no_environment : NULL;

	if (!unknown && r->target && r->target->container_count > 0) {
		take_variables(r, source);
		return;
	}
	for (size_t i = 0; i < r->t->env_count; i++) {
		const struct triggerauth_env *e = &r->t->env[i];

		if (unknown)
			auth_fail(r, NULL, "%s parameter \"%s\": %s", source, e->parameter, unknown);
		else
			auth_fail(r, NULL, "%s parameter \"%s\": %s has no containers to take variable %s from", source,
				e->parameter, r->of->so ? SCALE_TARGET : POD_TEMPLATE, e->name);
	}
}

/* ---- FilePath ---- */

static bool is_cluster(const struct triggerauth *t)
{
	return !*t->meta.namespace_;
}

static void from_file(struct auth_resolve *r, const char *source)
{
	const struct strmap *values;
	struct err err = { 0 };

	if (!is_cluster(r->t)) {
		auth_fail(r, NULL, "%s: only a ClusterTriggerAuthentication may read files", source);
		return;
	}
	if (r->lookup->file(r->lookup->arg, r->t->file_path, &values, &err) != REFERENCE_FOUND) {
		auth_fail(r, &err, "%s", source);
		return;
	}
	for (size_t i = 0; i < values->count; i++)
		auth_put(r, source, values->pairs[i].key, values->pairs[i].value, "its value in the file");
}

/* ---- Vault and tokens ---- */

static void from_vault(struct auth_resolve *r, const char *source)
{
	const struct triggerauth_vault *v = r->t->vault;

	if (v && v->kubernetes && (!v->mount || !*v->mount || !v->role || !*v->role)) {
		auth_fail(r, NULL, "%s: authentication kubernetes needs mount and role", source);
		return;
	}
	for (size_t i = 0; v && i < v->secret_count; i++) {
		MEM_AUTO char *what = mem_printf("key \"%s\" of %s", v->secrets[i].key, v->secrets[i].path);
		struct err err = { 0 };
		const char *value;

		if (r->lookup->vault(r->lookup->arg, r->t, i, r->of->meta->namespace_, &value, &err) == REFERENCE_FOUND)
			auth_put(r, source, v->secrets[i].parameter, value, what);
		else
			auth_fail(r, &err, "%s parameter \"%s\"", source, v->secrets[i].parameter);
	}
}

static void from_tokens(struct auth_resolve *r, const char *source)
{
	for (size_t i = 0; i < r->t->token_count; i++) {
		const struct triggerauth_token *t = &r->t->tokens[i];
		struct err err = { 0 };
		const char *value;

		if (r->lookup->token(r->lookup->arg, r->namespace_, t->service_account, &value, &err) ==
			REFERENCE_FOUND)
			auth_put(r, source, t->parameter, value, "the token");
		else
			auth_fail(r, &err, "%s parameter \"%s\"", source, t->parameter);
	}
}

/* ---- Oauth2 ---- */

/* Like Go's url.QueryEscape, which KEDA uses here. */
static void query_escape(struct buf *out, const char *text)
{
	size_t from = out->len;

	buf_put_percent(out, text, " ");
	for (; from < out->len; from++)
		if (out->data[from] == ' ')
			out->data[from] = '+';
}

static void put_built(struct auth_resolve *r, const char *parameter, struct buf *value)
{
	if (buf_failed(value))
		auth_fail(r, NULL, "oauth2 parameter \"%s\": is longer than %d bytes", parameter, VALUE_BYTES_MAX);
	else if (value->len > 0)
		strmap_set(r->out, parameter, buf_text(value));
	buf_done_secret(value);
}

static void from_oauth2(struct auth_resolve *r, const char *source)
{
	const struct triggerauth_oauth2 *o = r->t->oauth2;
	struct buf scopes = BUF_INIT(VALUE_BYTES_MAX), params = BUF_INIT(VALUE_BYTES_MAX);

	if (!o)
		return;
	if (o->type && *o->type && strcmp(o->type, "clientCredentials") != 0) {
		auth_fail(r, NULL, "%s.type \"%s\" is unknown: only clientCredentials is supported", source, o->type);
		return;
	}
	auth_put(r, source, "oauthTokenURI", o->token_url ? o->token_url : "", "tokenUrl");
	auth_put(r, source, "clientID", o->client_id ? o->client_id : "", "clientId");
	if (o->secret.name)
		take_key(r, source, "clientSecret", KEYDATA_SECRET, o->secret.name, o->secret.key ? o->secret.key : "");
	for (size_t i = 0; i < o->scope_count; i++)
		buf_printf(&scopes, "%s%s", i > 0 ? "," : "", o->scopes[i]);
	put_built(r, "scopes", &scopes);
	for (size_t i = 0; i < o->token_url_params.count; i++) {
		if (i > 0)
			buf_putc(&params, '&');
		query_escape(&params, o->token_url_params.pairs[i].key);
		buf_putc(&params, '=');
		query_escape(&params, o->token_url_params.pairs[i].value);
	}
	put_built(r, "endpointParams", &params);
}

/* ---- The role of the workload's ServiceAccount ---- */

#define ROLE_PARAMETER "awsRoleArn"

static bool is_aws(const char *provider)
{
	return strcmp(provider, "aws") == 0 || strcmp(provider, "aws-eks") == 0;
}

/*
 * The IAM role that EKS gives the target's Pods (annotation eks.amazonaws.com/role-arn). As in KEDA
 * it takes precedence over other sources' role; with aws-eks it may be missing, and the trigger's
 * keys or identityOwner apply. kscaled assumes it like any other role; struct pod_identity says
 * whether it may.
 */
static void take_workload_role(struct auth_resolve *r)
{
	const struct scaler_type *type = r->trigger->type ? scaler_type_find(r->trigger->type) : NULL;
	enum reference_state state;
	struct err err = { 0 };
	const char *role;
	bool may_lack;

	if (!auth_is_of_workload(r->t) || (type && !scaler_reads_identity(type, r->t->identity->provider)))
		return;
	may_lack = strcmp(r->t->identity->provider, "aws-eks") == 0;
	if (r->t->identity->role_arn && *r->t->identity->role_arn && !may_lack) {
		auth_fail(r, NULL, "roleArn can't be set if KEDA isn't identity owner, current value: 'workload'");
		return;
	}
	/* As in KEDA, a Secret's role stays without a Pod template. */
	if (may_lack && r->target && r->target->container_count == 0 && !r->target->no_environment)
		return;
	state = auth_workload_role(r, &role, &err);
	if (state == REFERENCE_FOUND)
		auth_put(r, "podIdentity", ROLE_PARAMETER, role, "the annotation " AUTH_ROLE_ANNOTATION);
	else if (state == REFERENCE_MISSING && may_lack)
		strmap_remove_secret(r->out, ROLE_PARAMETER);
	else
		auth_fail(r, &err, "podIdentity");
}

/* ---- podIdentity ---- */

/*
 * Takes the identity for the trigger's requests; a type that does not read it ignores it with a
 * warning (scalers/scalerbuild.c). may_be_kscaled also applies to triggers that ask for kscaled's
 * own identity otherwise (identityOwner operator).
 */
static void take_identity(struct auth_resolve *r)
{
	const struct triggerauth_identity *i = r->t->identity;
	const char *provider = i && i->provider ? i->provider : "";

	if (!*provider || strcmp(provider, "none") == 0)
		return;
	*r->identity = (struct pod_identity){ .provider = provider,
		.identity_id = i->identity_id,
		.identity_tenant_id = i->identity_tenant_id,
		.identity_authority_host = i->identity_authority_host,
		.role_arn = i->role_arn,
		.external_id = i->external_id,
		.aws_region = r->lookup->aws_region,
		.may_be_kscaled = r->identity->may_be_kscaled,
		.azure_trusted = r->identity->azure_trusted,
		.aws_trusted = r->identity->aws_trusted };
	if (!is_aws(provider) && strcmp(provider, "gcp") != 0 && strcmp(provider, "azure-workload") != 0)
		auth_fail(r, NULL, "podIdentity provider \"%s\" is unknown", provider);
}

/* ---- The order ---- */

/*
 * KEDA's order of evaluation: later sources overwrite earlier ones (doc/keda.md 6.3). Each returns
 * at once when it is not configured.
 */
static const struct {
	const char *name; /* the field */
	void (*take)(struct auth_resolve *r, const char *name);
} sources[] = {
	{ "configMapTargetRef", from_config_maps },
	{ "secretTargetRef", from_secrets },
	{ "hashiCorpVault", from_vault },
	{ "azureKeyVault", auth_from_azure },
	{ "gcpSecretManager", auth_from_google },
	{ "awsSecretManager", auth_from_aws },
	{ "boundServiceAccountToken", from_tokens },
	{ "oauth2", from_oauth2 },
};

static void take_all(struct auth_resolve *r)
{
	take_identity(r);
	/* A file replaces the parameters of all other sources. */
	if (r->t->file_path && *r->t->file_path) {
		from_file(r, "filePath");
	} else {
		from_env(r, "env");
		for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
			sources[i].take(r, sources[i].name);
	}
	take_workload_role(r);
}

enum auth_cloud auth_cloud_of(const char *word)
{
	return strcmp(word, "all") == 0        ? AUTH_CLOUD_ALL
		: strcmp(word, "cluster") == 0 ? AUTH_CLOUD_CLUSTER
					       : AUTH_CLOUD_NONE;
}

struct pod_identity auth_identity(const struct auth_lookup *lookup, const struct trigger *trigger)
{
	bool cluster = trigger->auth_name && trigger->auth_kind &&
		strcmp(trigger->auth_kind, TRIGGERAUTH_CLUSTER_KIND) == 0;

	return (struct pod_identity){ .aws_region = lookup->aws_region,
		.may_be_kscaled = lookup->cloud == AUTH_CLOUD_ALL || (lookup->cloud == AUTH_CLOUD_CLUSTER && cluster),
		.azure_trusted = lookup->azure_trusted,
		.aws_trusted = lookup->aws_trusted };
}

int auth_params(const struct auth_lookup *lookup, const struct scaled *of, const struct trigger *trigger,
	const struct workload *target, struct strmap *out, struct pod_identity *identity, struct err *err)
{
	struct auth_resolve r = { .lookup = lookup,
		.of = of,
		.trigger = trigger,
		.target = target,
		.out = out,
		.identity = identity };

	*identity = auth_identity(lookup, trigger);
	if (auth_of(lookup, of, trigger, &r.t, err))
		return -1;
	if (!r.t)
		return 0;
	r.namespace_ = is_cluster(r.t) ? lookup->cluster_namespace : of->meta->namespace_;
	if (r.t->spec_err)
		auth_note_failure(&r.err, r.t->spec_err);
	else
		take_all(&r);
	if (r.err.kind == ERR_NONE)
		return 0;
	strmap_done_secret(out);
	if (is_cluster(r.t))
		err_wrap(&r.err, TRIGGERAUTH_CLUSTER_KIND " %s", r.t->meta.name);
	else
		err_wrap(&r.err, TRIGGERAUTH_KIND " %s/%s", r.t->meta.namespace_, r.t->meta.name);
	if (err)
		*err = r.err;
	return -1;
}
