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

/* Which triggers may use kscaled's own identity at a cloud: option cloud-identity. */
enum auth_cloud {
	AUTH_CLOUD_NONE,
	AUTH_CLOUD_CLUSTER, /* those that refer to a ClusterTriggerAuthentication */
	AUTH_CLOUD_ALL,
};
#define AUTH_CLOUD_WORDS   "none", "cluster", "all"
#define AUTH_CLOUD_INITIAL "cluster"
enum auth_cloud auth_cloud_of(const char *word); /* one of the words */

/*
 * Each returns REFERENCE_FOUND with *out set (borrowed until the end of the turn), or sets *err:
 * what is missing and where, what is waited for, what is denied.
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
	/* what a secret manager has */
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
	bool no_files;         /* of auth_alone: filePath is denied (option filepath-auth-root-path) */
	enum auth_cloud cloud;
	const char *azure_trusted, *aws_trusted; /* options azure-trusted-hosts, aws-trusted-hosts; NULL */
	const char *vault_trusted;               /* option vault-trusted-addresses; NULL */
	bool vault_token;                        /* VAULT_TOKEN is in kscaled's environment */
	bool vault_files;                        /* option vault-credential-dir is set */
	/*
	 * of kscaled's environment, for secret managers: the region, where none is said, and the
	 * URL that is asked instead of a region's; NULL: none
	 */
	const char *aws_region, *aws_secrets_url;
	const char *unknown; /* what stands for values that were not read, in `kscaled check`; NULL */
};

/*
 * Fills *out (empty before) with the authParams of one trigger; nothing without authenticationRef.
 * *identity is what podIdentity says, borrowed until the end of the turn.
 * -1: ERR_WAITING while an input has not been read yet, ERR_TEMPORARY with the reason when it
 * cannot be read at the moment, else the error with the path from the trigger:
 * `TriggerAuthentication shop/redis: secretTargetRef parameter "password": Secret shop/redis has no
 * key "pw"`. An empty value is an error, so that no empty password is sent. Some
 * identities at clouds are refused by name.
 */
int auth_params(const struct auth_lookup *lookup, const struct scaled *of, const struct trigger *trigger,
	const struct workload *target /* NULL: has no containers */, struct strmap *out, struct pod_identity *identity,
	struct err *err);

/*
 * What the options let a trigger be whose authentication says no podIdentity: whether it may use
 * kscaled's own identity, and whom that may be shown.
 */
struct pod_identity auth_identity(const struct auth_lookup *lookup, const struct trigger *trigger);

/*
 * How many parameters auth_params would look for: 0 without authenticationRef, and while what it
 * names is not known. Several triggers may name the same authentication: the limit of an object is
 * the sum over different ones.
 */
size_t auth_parameter_count(const struct auth_lookup *lookup, const struct scaled *of, const struct trigger *trigger);

/*
 * Judges an authentication by itself, whatever it refers to: 0, or -1 with what auth_params will
 * tell each trigger that refers to it, or that the identity it names is not given away here. Of
 * rules only what decides counts (which identities, whose Secrets, files, the region, vault_...);
 * nothing is looked up.
 */
int auth_alone(const struct auth_lookup *rules, const struct triggerauth *t, struct err *err);

/*
 * Whether an authentication with hashiCorpVault may log in to Vault as it says, by the rules alone
 * and before anybody is asked: a namespaced one may use kscaled's own login at trusted addresses
 * only, as its author chooses the address.
 */
enum reference_state auth_vault_login(const struct auth_lookup *rules, const struct triggerauth *t, struct err *err);
/* Whether it has a login of its own. */
bool auth_vault_has_credential(const struct triggerauth_vault *v);
/* Whether credential.serviceAccount is absent, or KEDA's default: kscaled's own login. */
bool auth_vault_is_usual_file(const struct triggerauth_vault *v);

/* For look-ups that ask nobody: what managers and the API server would say is AUTH_UNKNOWN. */
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
 * Whether the Secrets of a namespace may not be read; then *err (ERR_DENIED) says why. For triggers
 * that read a Secret as their source; what this room reads itself is judged by the same function.
 */
bool auth_denies_secrets(const struct auth_lookup *lookup, const char *namespace_, struct err *err);

/*
 * Collects the variable names in the `...FromEnv` of all triggers as keys of *out, with empty
 * values. For `kscaled check`, which substitutes an environment it cannot read.
 */
void auth_variable_names(const struct scaled *of, struct strmap *out);

/*
 * Whether the target must be known: a trigger names a variable, an `env` source may be needed, the
 * identity is its ServiceAccount's, or envSourceContainerName is set.
 */
bool auth_needs_target(const struct auth_lookup *lookup, const struct scaled *of);

/*
 * Keeps in *worst (ERR_NONE at first) the error to report among several: the first that needs a
 * correction, else the first temporary one, else the first waiting one.
 */
void auth_note_failure(struct err *worst, const struct err *err);

#endif
