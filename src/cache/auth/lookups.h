/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_AUTH_LOOKUPS_H
#define CACHE_AUTH_LOOKUPS_H

/*
 * The daemon's look-ups for cache/auth: TriggerAuthentications from the store, Secrets and
 * ConfigMaps from cache/auth/references, and files, tokens, and values of Vault and secret managers
 * from their modules. An object looks up in rounds, each within one turn of the loop
 * (cache/auth/holders), and is notified when something it holds changes. Owns the modules of files,
 * values and tokens; borrows the rest.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cache/auth/auth.h"
#include "cache/auth/references.h"
#include "cache/objects/store.h"
#include "net/vault/vault.h"
#include "net/web/webtoken.h"

struct lookups;

struct lookups_config { /* its texts are borrowed and outlive the look-ups */
	/*
	 * namespace of the Secrets, ConfigMaps and service accounts of a
	 * ClusterTriggerAuthentication
	 */
	const char *cluster_namespace;
	bool restrict_secrets;
	enum auth_cloud cloud;
	const char *azure_trusted, *aws_trusted; /* as in struct auth_lookup */
	const char *file_root;                   /* NULL: filePath is denied */
	int64_t token_life_ms;                   /* of bound service account tokens */
	const char *vault_token;                 /* VAULT_TOKEN, for objects without one of their own; NULL */
	/*
	 * addresses "a,b" of the Vaults where a namespaced TriggerAuthentication may use kscaled's
	 * own login, as its author chooses the address; "*": any; NULL, "": none. A
	 * ClusterTriggerAuthentication may use any.
	 */
	const char *vault_trusted;
	/*
	 * The token of kscaled's own login to Vault: a file, or NULL to request one (ServiceAccount
	 * kscaled of own_namespace). Only for this audience, so that it is of no use elsewhere.
	 */
	const char *own_namespace, *vault_jwt_file, *vault_jwt_audience;
	const char *vault_credential_dir; /* folder of the files that objects may name; NULL: none */
	/* borrowed, outlive it; for secret managers */
	struct webclient *web;
	struct webtoken_store *tokens;
	int64_t metered_ms;                       /* minimum time between two reads of a secret that sources refuse */
	const char *aws_region, *aws_secrets_url; /* as in struct auth_lookup; NULL, "": none */
};

/* All are borrowed and outlive it. */
struct lookups *lookups_new(struct kube *kube, struct store *store, struct references *references,
	struct vault_pool *vault, const struct lookups_config *config);
void lookups_free(struct lookups *l);
/* one listener, called with OBJECT_NEEDS; it only queues work and begins no round */
void lookups_listen(struct lookups *l, object_fn fn, void *arg);
/*
 * A source has refused the credentials of an object: reads again soon what may have been rotated.
 */
void lookups_reread(struct lookups *l, const struct object *o);
/* Handles on_triggerauth of struct store_events. */
void lookups_follow(struct lookups *l, const char *triggerauth);

/* For auth_alone; lives as long as the look-ups. */
const struct auth_lookup *lookups_rules(const struct lookups *l);

/* One object's round. The look-up that begin returns is valid until end; one round at a time. */
const struct auth_lookup *lookups_begin(struct lookups *l, struct object *owner);
void lookups_end(struct lookups *l);

#endif
