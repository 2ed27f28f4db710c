/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_AUTH_LOOKUPS_H
#define CACHE_AUTH_LOOKUPS_H

/*
 * The daemon's look-ups for cache/auth: TriggerAuthentications from the store, Secrets and
 * ConfigMaps from cache/auth/references, files, values of Vault and tokens from the modules that
 * keep them. An object asks in rounds, each whole in one go of the loop (cache/auth/holders); it
 * hears when something that it holds is different.
 * Owns what keeps files, Vault's values and tokens; borrows the rest.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cache/auth/auth.h"
#include "cache/auth/references.h"
#include "cache/objects/store.h"
#include "net/vault/vault.h"

struct lookups;

struct lookups_config { /* copied */
	/* whose Secrets, ConfigMaps and service accounts a ClusterTriggerAuthentication means */
	const char *cluster_namespace;
	bool restrict_secrets;
	const char *file_root;   /* NULL: filePath is denied */
	int64_t token_life_ms;   /* of bound service account tokens */
	const char *vault_token; /* VAULT_TOKEN, for objects without one of their own; NULL */
	/*
	 * addresses "a,b" of the Vaults where a namespaced TriggerAuthentication may have kscaled
	 * log in as itself, as whoever writes one writes the address in it; "*": any, NULL, "":
	 * none. A ClusterTriggerAuthentication may anywhere.
	 */
	const char *vault_trusted;
	/*
	 * The token that kscaled logs in to Vault with: a file, or NULL for one that it asks
	 * for (ServiceAccount kscaled of own_namespace); for this audience and no other, so
	 * that it opens nothing but Vault.
	 */
	const char *own_namespace, *vault_jwt_file, *vault_jwt_audience;
	const char *vault_credential_dir; /* of files that objects name; NULL: none is read */
};

/* All are borrowed and outlive it. */
struct lookups *lookups_new(struct kube *kube, struct store *store, struct references *references,
	struct vault_pool *vault, const struct lookups_config *config);
void lookups_free(struct lookups *l);
/* OBJECT_NEEDS; one; it only takes note, and begins no round */
void lookups_listen(struct lookups *l, object_fn fn, void *arg);
/* As store_events says it. */
void lookups_follow(struct lookups *l, const char *triggerauth);

/* A round of one object. What begin returns is good until end; one round at a time. */
const struct auth_lookup *lookups_begin(struct lookups *l, struct object *owner);
void lookups_end(struct lookups *l);

#endif
