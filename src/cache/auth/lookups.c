/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/auth/lookups.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cache/auth/authfiles.h"
#include "cache/auth/holders.h"
#include "cache/auth/managervalues.h"
#include "cache/auth/satokens.h"
#include "cache/auth/vaultvalues.h"

#define OWN_SERVICE_ACCOUNT "kscaled" /* as in `kscaled manifests` */

/* A referenced TriggerAuthentication, existing or not, as its owners know it. */
struct referred {
	struct held held; /* key as the store's: "shop/redis", "/redis" */
	bool present;
	int64_t generation; /* changes of status do not matter here */
	char *uid;          /* NULL */
};

struct lookups {
	struct store *store;
	struct references *references;
	struct secretvalues *secrets;
	struct satokens *tokens;
	struct authfiles *files;
	struct holders triggerauths;
	struct auth_lookup lookup;
	struct lookups_config config; /* what it has of Vault is NULL for "" */
	struct object *owner;         /* of the current round; NULL */
};

/* ---- Changes ---- */

/* Updates what its owners see; true when it differs. */
static bool update(struct referred *r, const struct triggerauth *t)
{
	const char *uid = t ? t->meta.uid : "";
	bool changed = r->present != (t != NULL) ||
		(t && (r->generation != t->meta.generation || !r->uid || strcmp(r->uid, uid) != 0));

	r->present = t != NULL;
	r->generation = t ? t->meta.generation : 0;
	if (changed) {
		free(r->uid);
		r->uid = mem_dup(uid);
	}
	return changed;
}

void lookups_reread(struct lookups *l, const struct object *o)
{
	secretvalues_reread(l->secrets, o);
}

void lookups_follow(struct lookups *l, const char *triggerauth)
{
	struct held *held, *next;

	if (triggerauth) {
		MEM_AUTO char *namespace_ = mem_dupn(triggerauth, strcspn(triggerauth, "/"));

		held = holders_find(&l->triggerauths, triggerauth);
		if (held &&
			update((struct referred *)held,
				store_triggerauth(l->store, !*namespace_, namespace_,
					triggerauth + strlen(namespace_) + 1)))
			holders_notify(held);
		return;
	}
	/* Those not read yet may turn out not to exist. */
	HASH_ITER (hh, l->triggerauths.things, held, next)
		if (!((struct referred *)held)->present)
			holders_notify(held);
}

static void on_unheld(void *arg, struct held *held)
{
	struct referred *r = (struct referred *)held;

	(void)arg;
	free(r->uid);
	free(r);
}

/* ---- Look-ups ---- */

static enum reference_state find_triggerauth(void *arg, bool cluster, const char *namespace_, const char *name,
	const struct triggerauth **out, struct err *err)
{
	struct lookups *l = arg;
	MEM_AUTO char *shown = cluster ? mem_printf(TRIGGERAUTH_CLUSTER_KIND " %s", name)
				       : mem_printf(TRIGGERAUTH_KIND " %s/%s", namespace_, name);
	MEM_AUTO char *key = mem_printf("%s/%s", cluster ? "" : namespace_, name);
	struct referred *r = (struct referred *)holders_find(&l->triggerauths, key);
	const char *trouble;

	*out = store_triggerauth(l->store, cluster, namespace_, name);
	if (!r) {
		r = mem_zalloc(sizeof(*r));
		holders_add(&l->triggerauths, &r->held, key);
	}
	update(r, *out);
	holdings_take(l->owner, &r->held);
	if (*out)
		return REFERENCE_FOUND;
	if (store_knows_triggerauths(l->store, cluster, namespace_, &trouble)) {
		err_set(err, ERR_MISSING, "%s does not exist", shown);
		return REFERENCE_MISSING;
	}
	err_set(err, trouble ? ERR_TEMPORARY : ERR_WAITING, "%s is not read yet%s%s", shown, trouble ? ": " : "",
		trouble ? trouble : "");
	return REFERENCE_UNREAD;
}

static enum reference_state find_key(void *arg, enum keydata_kind kind, const char *namespace_, const char *name,
	const char *key, const char **out, struct err *err)
{
	struct lookups *l = arg;

	return references_key(l->references, l->owner, kind, namespace_, name, key, out, err);
}

static enum reference_state find_all(void *arg, enum keydata_kind kind, const char *namespace_, const char *name,
	const struct strmap **out, struct err *err)
{
	struct lookups *l = arg;

	return references_all(l->references, l->owner, kind, namespace_, name, out, err);
}

static enum reference_state find_file(void *arg, const char *path, const struct strmap **out, struct err *err)
{
	struct lookups *l = arg;

	return authfiles_get(l->files, l->owner, path, out, err);
}

static enum reference_state find_token(void *arg, const char *namespace_, const char *service_account, const char **out,
	struct err *err)
{
	struct lookups *l = arg;

	return satokens_get(l->tokens, l->owner, namespace_, service_account, NULL, out, err);
}

static enum reference_state find_managed(void *arg, const struct managervalues_source *source, const char **out,
	struct err *err)
{
	struct lookups *l = arg;

	return managervalues_get(l->secrets, l->owner, source, out, err);
}

/* ---- Vault ---- */

/* Logs in as kscaled, with a token that is valid only for Vault. */
static enum reference_state login_as_itself(struct lookups *l, struct vaultvalues_source *source, char **whose,
	struct err *err)
{
	source->jwt_audience = l->config.vault_jwt_audience;
	if (l->config.vault_jwt_file) {
		source->jwt_file = l->config.vault_jwt_file;
		return REFERENCE_FOUND;
	}
	*whose = mem_printf("%s/" OWN_SERVICE_ACCOUNT, l->config.own_namespace);
	source->jwt_of = *whose;
	return satokens_get(l->tokens, l->owner, l->config.own_namespace, OWN_SERVICE_ACCOUNT,
		l->config.vault_jwt_audience, &source->login.jwt, err);
}

/* `whose` keeps the name of the service account for the source. */
static enum reference_state login_by_jwt(struct lookups *l, const struct triggerauth_vault *v, const char *namespace_,
	struct vaultvalues_source *source, char **whose, struct err *err)
{
	source->login.mount = v->mount;
	source->login.role = v->role;
	if (auth_vault_has_credential(v)) {
		*whose = mem_printf("%s/%s", namespace_, v->service_account_name);
		source->jwt_of = *whose;
		return satokens_get(l->tokens, l->owner, namespace_, v->service_account_name, NULL, &source->login.jwt,
			err);
	}
	if (auth_vault_is_default_file(v))
		return login_as_itself(l, source, whose, err);
	source->jwt_file = v->service_account_file;
	source->jwt_root = l->config.vault_credential_dir;
	return REFERENCE_FOUND;
}

static enum reference_state find_vault(void *arg, const struct triggerauth *t, size_t index, const char *namespace_,
	const char **out, struct err *err)
{
	static const enum vault_engine engines[] = {
		[VAULT_TYPE_ANY] = VAULT_ENGINE_ANY,
		[VAULT_TYPE_SECRET_V2] = VAULT_ENGINE_KV2,
		[VAULT_TYPE_SECRET] = VAULT_ENGINE_KV1,
		[VAULT_TYPE_PKI] = VAULT_ENGINE_PKI,
	};
	struct lookups *l = arg;
	const struct triggerauth_vault *v = t->vault;
	const struct triggerauth_vault_secret *s = &v->secrets[index];
	struct vaultvalues_source source = {
		.server = { v->address, v->namespace_, namespace_ },
		.secret = { engines[s->type], s->path, s->common_name, s->alt_names, s->ip_sans, s->uri_sans,
			s->other_sans, s->ttl, s->format },
		.key = s->key,
	};
	MEM_AUTO char *whose = NULL;
	enum reference_state state = auth_vault_login(&l->lookup, t, err);

	if (state == REFERENCE_FOUND && v->kubernetes)
		state = login_by_jwt(l, v, namespace_, &source, &whose, err);
	else
		source.login.token = auth_vault_has_credential(v) ? v->token : l->config.vault_token;
	return state == REFERENCE_FOUND ? vaultvalues_get(l->secrets, l->owner, &source, out, err) : state;
}

/* ---- Rounds ---- */

const struct auth_lookup *lookups_rules(const struct lookups *l)
{
	return &l->lookup;
}

const struct auth_lookup *lookups_begin(struct lookups *l, struct object *owner)
{
	l->owner = owner;
	holdings_begin(owner);
	return &l->lookup;
}

void lookups_end(struct lookups *l)
{
	holdings_end(l->owner);
	l->owner = NULL;
}

/* ---- Life ---- */

struct lookups *lookups_new(struct kube *kube, struct store *store, struct references *references,
	struct vault_pool *vault, const struct lookups_config *config)
{
	struct lookups *l = mem_zalloc(sizeof(*l));

	l->config = *config;
	l->store = store;
	l->references = references;
	l->secrets = secretvalues_new(&(
		struct secretvalues_config){ kube_loop(kube), vault, config->web, config->tokens, config->metered_ms });
	l->tokens = satokens_new(kube, config->token_life_ms);
	l->files = authfiles_new(kube_loop(kube), config->file_root);
	l->config.vault_token = text_given(config->vault_token);
	l->config.vault_jwt_file = text_given(config->vault_jwt_file);
	l->config.vault_jwt_audience = text_given(config->vault_jwt_audience);
	l->config.vault_credential_dir = text_given(config->vault_credential_dir);
	l->lookup = (struct auth_lookup){
		.arg = l,
		.triggerauth = find_triggerauth,
		.key = find_key,
		.all = find_all,
		.file = find_file,
		.vault = find_vault,
		.managed = find_managed,
		.token = find_token,
		.cluster_namespace = config->cluster_namespace,
		.restrict_secrets = config->restrict_secrets,
		.no_files = !config->file_root || !*config->file_root,
		.cloud = config->cloud,
		.azure_trusted = text_given(config->azure_trusted),
		.aws_trusted = text_given(config->aws_trusted),
		.vault_trusted = text_given(config->vault_trusted),
		.vault_token = l->config.vault_token != NULL,
		.vault_files = l->config.vault_credential_dir != NULL,
		.aws_region = text_given(config->aws_region),
		.aws_secrets_url = text_given(config->aws_secrets_url),
	};
	holders_init(&l->triggerauths, on_unheld, l);
	return l;
}

void lookups_free(struct lookups *l)
{
	if (!l)
		return;
	holders_done(&l->triggerauths);
	secretvalues_free(l->secrets);
	satokens_free(l->tokens);
	authfiles_free(l->files);
	free(l);
}

void lookups_listen(struct lookups *l, object_fn fn, void *arg)
{
	holders_listen(&l->triggerauths, fn, arg);
	references_listen(l->references, fn, arg);
	secretvalues_listen(l->secrets, fn, arg);
	satokens_listen(l->tokens, fn, arg);
	authfiles_listen(l->files, fn, arg);
}
