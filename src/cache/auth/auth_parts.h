/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_AUTH_AUTH_PARTS_H
#define CACHE_AUTH_AUTH_PARTS_H

/*
 * Shared by the files of cache/auth/auth.h: auth.c reads parameters from the sources,
 * auth_managers.c from secret managers, auth_environment.c from the target's container; all read
 * through auth_lookup.c. auth_vault.c decides which logins to Vault are allowed, and auth_alone.c
 * validates without reading.
 */

#include "cache/auth/auth.h"

/* ---- auth_resolve.c ---- */

/* One TriggerAuthentication being resolved for one trigger. */
struct auth_resolve {
	const struct auth_lookup *lookup;
	const struct scaled *of;
	const struct trigger *trigger;
	const struct workload *target;
	const struct triggerauth *t;
	const char *namespace_; /* of its Secrets, ConfigMaps and service accounts */
	struct strmap *out;
	struct pod_identity *identity;
	struct err err; /* the worst so far; ERR_NONE */
};

/* Records a failure with the error `cause`; cause NULL: the text is the whole error. */
void auth_fail(struct auth_resolve *r, const struct err *cause, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Sets a parameter. what: describes the value, for messages. An empty password, token, key or
 * secret is an error; any other empty value counts as not given, as in KEDA.
 */
void auth_put(struct auth_resolve *r, const char *source, const char *parameter, const char *value, const char *what);

/*
 * Whether kscaled's own identity may be used; records the failure otherwise: `source.podIdentity
 * asks for ...`, without a source `podIdentity ...`.
 */
bool auth_may_use_own_identity(struct auth_resolve *r, const char *source);

/* ---- auth_managers.c ---- */

/* Sources, as in auth.c; name: of the field. */
void auth_from_azure(struct auth_resolve *r, const char *name);
void auth_from_google(struct auth_resolve *r, const char *name);
void auth_from_aws(struct auth_resolve *r, const char *name);

/* ---- auth_lookup.c ---- */

/* The look-up's key and all, but denied for Secrets that may not be read. */
enum reference_state auth_key(const struct auth_lookup *lookup, enum keydata_kind kind, const char *namespace_,
	const char *name, const char *key, const char **out, struct err *err);
enum reference_state auth_all(const struct auth_lookup *lookup, enum keydata_kind kind, const char *namespace_,
	const char *name, const struct strmap **out, struct err *err);

/*
 * The TriggerAuthentication of a trigger; *out NULL and 0 when it has none, -1 when it cannot be
 * read.
 */
int auth_of(const struct auth_lookup *lookup, const struct scaled *of, const struct trigger *trigger,
	const struct triggerauth **out, struct err *err);

/* Whether its podIdentity is the role of the workload's ServiceAccount. */
bool auth_is_of_workload(const struct triggerauth *t);
/* The same for awsSecretManager's podIdentity. */
bool auth_manager_is_of_workload(const struct triggerauth_manager *m);

#define AUTH_ROLE_ANNOTATION "eks.amazonaws.com/role-arn"

/*
 * The IAM role that EKS gives the scale target's Pods (annotation eks.amazonaws.com/role-arn of
 * their ServiceAccount). REFERENCE_FOUND with *role (borrowed until the end of the turn);
 * REFERENCE_MISSING: no Pod template, ServiceAccount or annotation.
 */
enum reference_state auth_workload_role(const struct auth_resolve *r, const char **role, struct err *err);

/* ---- auth_environment.c ---- */

/* crd/workload's environment with Secrets and ConfigMaps of the object's namespace. */
int auth_variables(const struct auth_lookup *lookup, const struct scaled *of, const struct workload *target,
	const char *container, const struct strmap *wanted, struct strmap *env, struct strmap *unresolved,
	struct err *err);

#endif
