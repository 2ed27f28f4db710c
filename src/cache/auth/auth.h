/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_AUTH_AUTH_H
#define CACHE_AUTH_AUTH_H

/*
 * Resolves the parameters that a trigger gets from its TriggerAuthentication, and the environment
 * of the target's container (for a ScaledJob its own Pod template): sources, their order, and what
 * is refused (doc/keda.md 6). Contains the rules only, no watches and no network: inputs come from
 * a look-up, so that `kscaled check` uses documents it has read and the daemon uses watched objects
 * (cache/auth/lookups). Errors never contain a secret value; results are wiped by their owner.
 */

#include <stdbool.h>

#include "base/err.h"
#include "base/strmap.h"
#include "cache/auth/managervalues.h"
#include "cache/auth/references.h"
#include "crd/scaled.h"
#include "crd/triggerauth.h"
#include "crd/workload.h"
#include "scalers/scaler.h"

/* Which triggers may use kscaled's own cloud identity: option cloud-identity. */
enum auth_cloud {
	AUTH_CLOUD_NONE,
	AUTH_CLOUD_CLUSTER, /* those with a ClusterTriggerAuthentication */
	AUTH_CLOUD_ALL,
};
#define AUTH_CLOUD_WORDS   "none", "cluster", "all"
#define AUTH_CLOUD_INITIAL "cluster"
enum auth_cloud auth_cloud_of(const char *word); /* one of the words */

/*
 * Each returns REFERENCE_FOUND with *out set (borrowed until the end of the turn), or sets *err:
 * what is missing, not read yet, or denied.
 */
struct auth_lookup {
	void *arg;
	enum reference_state (*triggerauth)(void *arg, bool cluster, const char *namespace_, const char *name,
		const struct triggerauth **out, struct err *err);
	enum reference_state (*key)(void *arg, enum keydata_kind kind, const char *namespace_, const char *name,
		const char *key, const char **out, struct err *err);
	enum reference_state (*all)(void *arg, enum keydata_kind kind, const char *namespace_, const char *name,
		const struct strmap **out, struct err *err);
	/* filePath: a JSON object of texts */
	enum reference_state (*file)(void *arg, const char *path, const struct strmap **out, struct err *err);
	enum reference_state (*vault)(void *arg, const struct triggerauth *t, size_t secret,
		const char *namespace_ /* the object's */, const char **out, struct err *err);
	/* a secret manager's value */
	enum reference_state (
		*managed)(void *arg, const struct managervalues_source *source, const char **out, struct err *err);
	enum reference_state (*token)(void *arg, const char *namespace_, const char *service_account, const char **out,
		struct err *err);
	/*
	 * namespace of the Secrets, ConfigMaps and service accounts of a
	 * ClusterTriggerAuthentication
	 */
	const char *cluster_namespace;
	bool restrict_secrets; /* Secrets are read only in cluster_namespace, and denied elsewhere */
	bool no_files;         /* for auth_alone: filePath is denied (option filepath-auth-root-path) */
	enum auth_cloud cloud;
	const char *azure_trusted, *aws_trusted; /* options azure-trusted-hosts, aws-trusted-hosts; NULL */
	const char *vault_trusted;               /* option vault-trusted-addresses; NULL */
	bool vault_token;                        /* VAULT_TOKEN is in kscaled's environment */
	bool vault_files;                        /* option vault-credential-dir is set */
	/*
	 * from kscaled's environment, for secret managers: the default region, and the URL used
	 * instead of a region's; NULL: none
	 */
	const char *aws_region, *aws_secrets_url;
	const char *unknown; /* placeholder for values that `kscaled check` cannot read; NULL */
};

/*
 * Fills *out, which must be empty, with the authParams of one trigger; nothing without
 * authenticationRef. *identity gets the podIdentity, borrowed until the end of the turn. -1:
 * ERR_WAITING while an input has not been read yet, ERR_TEMPORARY with the reason when it cannot be
 * read at the moment, else the error with the path from the trigger: `TriggerAuthentication
 * shop/redis: secretTargetRef parameter "password": Secret shop/redis has no key "pw"`. An empty
 * credential is an error, so that no empty password is sent.
 */
int auth_params(const struct auth_lookup *lookup, const struct scaled *of, const struct trigger *trigger,
	const struct workload *target /* NULL: has no containers */, struct strmap *out, struct pod_identity *identity,
	struct err *err);

/*
 * The identity of a trigger without podIdentity: whether the options let it use kscaled's own, and
 * the hosts that may see that.
 */
struct pod_identity auth_identity(const struct auth_lookup *lookup, const struct trigger *trigger);

/*
 * The number of parameters that auth_params would look for; 0 without authenticationRef, or while
 * its object is unknown. Several triggers may share an authentication: an object's limit is the sum
 * over different ones.
 */
size_t auth_parameter_count(const struct auth_lookup *lookup, const struct scaled *of, const struct trigger *trigger);

/*
 * Validates an authentication alone, without what it refers to: 0, or -1 with the error that
 * auth_params would give each trigger, or that it may not use kscaled's own identity. Reads only
 * the rules of `rules` (identities, Secrets, files, region, vault_...); looks nothing up.
 */
int auth_alone(const struct auth_lookup *rules, const struct triggerauth *t, struct err *err);

/*
 * Whether the rules allow an authentication's login to Vault, before any request: a namespaced one
 * may use kscaled's own login at trusted addresses only, as its author chooses the address.
 */
enum reference_state auth_vault_login(const struct auth_lookup *rules, const struct triggerauth *t, struct err *err);
/* Whether it has a login of its own. */
bool auth_vault_has_credential(const struct triggerauth_vault *v);
/* Whether credential.serviceAccount is absent, or KEDA's default: kscaled's own login. */
bool auth_vault_is_default_file(const struct triggerauth_vault *v);

/* For look-ups without a network: the value of secret managers and tokens is AUTH_UNKNOWN. */
#define AUTH_UNKNOWN "kscaled-unknown"
enum reference_state auth_unknown_managed(void *arg, const struct managervalues_source *source, const char **out,
	struct err *err);
enum reference_state auth_unknown_token(void *arg, const char *namespace_, const char *service_account,
	const char **out, struct err *err);

/*
 * Resolves the variables that the `...FromEnv` of all triggers name, from the container of
 * envSourceContainerName: values into *env, unreadable ones with the reason into *unresolved (both
 * empty before). Only named variables and those their $(VAR) refer to are looked up. target NULL:
 * no containers, so no variables. -1: ERR_WAITING or ERR_TEMPORARY while an input has not been read
 * yet, ERR_INVALID when the container does not exist.
 */
int auth_environment(const struct auth_lookup *lookup, const struct scaled *of, const struct workload *target,
	struct strmap *env, struct strmap *unresolved, struct err *err);

/*
 * Why a target has no environment: it has no containers, as of a kind without a Pod template. NULL:
 * it has some, or is unknown. The caller owns the text.
 */
char *auth_no_containers(const struct scaled *of, const struct workload *target);

/*
 * Whether the Secrets of a namespace may not be read; *err (ERR_DENIED) says why. For triggers
 * whose source is a Secret; cache/auth uses it itself.
 */
bool auth_denies_secrets(const struct auth_lookup *lookup, const char *namespace_, struct err *err);

/*
 * Collects the variable names in the `...FromEnv` of all triggers as keys of *out, with empty
 * values. For `kscaled check`, which substitutes an environment it cannot read.
 */
void auth_variable_names(const struct scaled *of, struct strmap *out);

/*
 * Whether the target must be known: a trigger names a variable, an `env` source may be needed, the
 * identity is that of its ServiceAccount, or envSourceContainerName is set.
 */
bool auth_needs_target(const struct auth_lookup *lookup, const struct scaled *of);

/*
 * Keeps in *worst (initially ERR_NONE) the error to report among several: the first that needs a
 * correction, else the first temporary one, else the first waiting one.
 */
void auth_note_failure(struct err *worst, const struct err *err);

#endif
