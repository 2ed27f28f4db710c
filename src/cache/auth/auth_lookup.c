/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The look-ups of cache/auth/auth.h: restricted Secrets, a trigger's TriggerAuthentication, whether
 * that needs the workload, and the role of the workload's ServiceAccount.
 */
#include <string.h>

#include "cache/auth/auth_parts.h"

bool auth_denies_secrets(const struct auth_lookup *lookup, const char *namespace_, struct err *err)
{
	if (!lookup->restrict_secrets || strcmp(namespace_, lookup->cluster_namespace) == 0)
		return false;
	err_set(err, ERR_DENIED, "--restrict-secret-access allows Secrets of namespace %s only",
		lookup->cluster_namespace);
	return true;
}

static bool is_denied(const struct auth_lookup *lookup, enum keydata_kind kind, const char *namespace_,
	const char *name, struct err *err)
{
	if (kind != KEYDATA_SECRET || !auth_denies_secrets(lookup, namespace_, err))
		return false;
	err_wrap(err, "Secret %s/%s is not read", namespace_, name);
	return true;
}

enum reference_state auth_key(const struct auth_lookup *lookup, enum keydata_kind kind, const char *namespace_,
	const char *name, const char *key, const char **out, struct err *err)
{
	return is_denied(lookup, kind, namespace_, name, err)
		? REFERENCE_DENIED
		: lookup->key(lookup->arg, kind, namespace_, name, key, out, err);
}

enum reference_state auth_all(const struct auth_lookup *lookup, enum keydata_kind kind, const char *namespace_,
	const char *name, const struct strmap **out, struct err *err)
{
	return is_denied(lookup, kind, namespace_, name, err)
		? REFERENCE_DENIED
		: lookup->all(lookup->arg, kind, namespace_, name, out, err);
}

int auth_of(const struct auth_lookup *lookup, const struct scaled *of, const struct trigger *trigger,
	const struct triggerauth **out, struct err *err)
{
	bool named = trigger->auth_kind && *trigger->auth_kind,
	     cluster = named && strcmp(trigger->auth_kind, TRIGGERAUTH_CLUSTER_KIND) == 0;

	*out = NULL;
	if (!trigger->auth_name || !*trigger->auth_name)
		return 0;
	if (named && !cluster && strcmp(trigger->auth_kind, TRIGGERAUTH_KIND) != 0)
		return err_set(err, ERR_INVALID,
			"authenticationRef.kind \"%s\" is unknown: " TRIGGERAUTH_KIND " or " TRIGGERAUTH_CLUSTER_KIND,
			trigger->auth_kind);
	return lookup->triggerauth(lookup->arg, cluster, of->meta->namespace_, trigger->auth_name, out, err) ==
			REFERENCE_FOUND
		? 0
		: -1;
}

size_t auth_parameter_count(const struct auth_lookup *lookup, const struct scaled *of, const struct trigger *trigger)
{
	const struct triggerauth *t;

	return auth_of(lookup, of, trigger, &t, NULL) == 0 && t ? triggerauth_parameter_count(t) : 0;
}

static bool is_of_provider(const struct triggerauth_identity *i, const char *provider)
{
	return i && i->provider && strcmp(i->provider, provider) == 0;
}

static bool is_owned_by_workload(const struct triggerauth_identity *i)
{
	return is_of_provider(i, "aws") && i->identity_owner && strcmp(i->identity_owner, "workload") == 0;
}

bool auth_is_of_workload(const struct triggerauth *t)
{
	return is_of_provider(t->identity, "aws-eks") || is_owned_by_workload(t->identity);
}

bool auth_manager_is_of_workload(const struct triggerauth_manager *m)
{
	return m && is_owned_by_workload(m->identity);
}

#define USUAL_ACCOUNT "default" /* of Pods without serviceAccountName */

enum reference_state auth_workload_role(const struct auth_resolve *r, const char **role, struct err *err)
{
	const char *namespace_ = r->of->meta->namespace_, *account;
	enum reference_state state;

	if (r->target && r->target->no_environment) {
		err_set(err, ERR_INVALID, "%s", r->target->no_environment);
		return REFERENCE_DENIED;
	}
	if (!r->target || r->target->container_count == 0) {
		err_set(err, ERR_INVALID, "the scale target has no Pod template, so no ServiceAccount with a role");
		return REFERENCE_MISSING;
	}
	account = r->target->service_account ? r->target->service_account : USUAL_ACCOUNT;
	state = auth_key(r->lookup, KEYDATA_SERVICE_ACCOUNT, namespace_, account, AUTH_ROLE_ANNOTATION, role, err);
	if (state != REFERENCE_FOUND) {
		err_wrap(err, "the workload's role");
	} else if (!**role) {
		err_set(err, ERR_INVALID, "annotation " AUTH_ROLE_ANNOTATION " of ServiceAccount %s/%s is empty",
			namespace_, account);
		state = REFERENCE_MISSING;
	}
	return state;
}
