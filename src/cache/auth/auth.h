/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_AUTH_AUTH_H
#define CACHE_AUTH_AUTH_H

/*
 * The parameters that a trigger gets from its TriggerAuthentication, and the environment of the
 * target's container (a ScaledJob's target is its own Pod template): where they come from, in which
 * order, what is refused (keda-core.md 6, design 6). The rules are here and know no watch and no
 * network: all they need they ask of a look-up, so that `kscaled check` gives them the documents it
 * read and the daemon gives them what it watches (cache/auth/lookups). No secret value is ever in
 * an error; what is handed out is wiped by whoever owns it.
 */

#include <stdbool.h>

#include "base/err.h"
#include "base/strmap.h"
#include "cache/auth/references.h"
#include "crd/scaled.h"
#include "crd/triggerauth.h"
#include "crd/workload.h"

/*
 * Each answer is REFERENCE_FOUND with *out set (borrowed until the loop turns), or *err says why
 * not: what is missing and where, what is waited for, what is denied.
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
	enum reference_state (*token)(void *arg, const char *namespace_, const char *service_account, const char **out,
		struct err *err);
	/* whose Secrets, ConfigMaps and service accounts a ClusterTriggerAuthentication means */
	const char *cluster_namespace;
	bool restrict_secrets; /* Secrets are read in cluster_namespace only; elsewhere they are denied */
};

/*
 * Into *out (empty before): the authParams of one trigger; nothing without authenticationRef. -1:
 * ERR_WAITING while something is not read yet, ERR_TEMPORARY with the reason when it cannot be at
 * the moment, else what is wrong, with the path from the trigger: `TriggerAuthentication
 * shop/redis: secretTargetRef parameter "password": Secret shop/redis has no key "pw"`. An empty
 * value is an error, too: never an empty password. Cloud sources and identities are refused by
 * name.
 */
int auth_params(const struct auth_lookup *lookup, const struct scaled *of, const struct trigger *trigger,
	const struct workload *target /* NULL: has no containers */, struct strmap *out, struct err *err);

/*
 * The variables that the `...FromEnv` of all triggers name, from the container that
 * envSourceContainerName says: values into *env, those that are there but cannot be had into
 * *unresolved with the reason (both empty before). Only what is named is looked up, and what $(VAR)
 * in it refers to. target NULL: it has no containers, and so no variables. -1: ERR_WAITING or
 * ERR_TEMPORARY while something is not read yet, ERR_INVALID when the container does not exist.
 */
int auth_environment(const struct auth_lookup *lookup, const struct scaled *of, const struct workload *target,
	struct strmap *env, struct strmap *unresolved, struct err *err);

/*
 * The names that the `...FromEnv` of all triggers name become keys of *out, with empty values. For
 * `kscaled check`, which must make up an environment that it cannot read.
 */
void auth_variable_names(const struct scaled *of, struct strmap *out);

/*
 * Whether any trigger names a variable, an `env` source may be needed, or envSourceContainerName is
 * written: then the target must be known.
 */
bool auth_needs_target(const struct auth_lookup *lookup, const struct scaled *of);

/*
 * Keeps in *worst (ERR_NONE at first) what is to be told of several failures: the first that
 * somebody has to mend, else the first that may pass by itself, else the first that is waited for.
 */
void auth_note_failure(struct err *worst, const struct err *err);

#endif
