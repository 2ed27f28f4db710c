/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_AUTH_AUTH_PARTS_H
#define CACHE_AUTH_AUTH_PARTS_H

/*
 * Shared by the three files of cache/auth/auth.h: auth.c reads parameters from the sources,
 * auth_environment.c from the target's container; both read through auth_lookup.c.
 */

#include "cache/auth/auth.h"

/* ---- auth_lookup.c ---- */

/* The look-up's key and all, restricted to permitted Secrets. */
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

/* ---- auth_environment.c ---- */

/* crd/workload's environment with Secrets and ConfigMaps of the object's namespace. */
int auth_variables(const struct auth_lookup *lookup, const struct scaled *of, const struct workload *target,
	const char *container, const struct strmap *wanted, struct strmap *env, struct strmap *unresolved,
	struct err *err);

#endif
