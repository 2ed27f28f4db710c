/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Validates an authentication without a trigger: resolves it for a made-up one, with a look-up that
 * finds everything, with unknown values.
 */
#include <string.h>

#include "cache/auth/auth_parts.h"
#include "cache/auth/authfiles.h"

struct alone {
	const struct auth_lookup *rules;
	const struct triggerauth *t;
};

static enum reference_state find_it(void *arg, bool cluster, const char *namespace_, const char *name,
	const struct triggerauth **out, struct err *err)
{
	const struct alone *a = arg;

	(void)cluster;
	(void)namespace_;
	(void)name;
	(void)err;
	*out = a->t;
	return REFERENCE_FOUND;
}

static enum reference_state find_key(void *arg, enum keydata_kind kind, const char *namespace_, const char *name,
	const char *key, const char **out, struct err *err)
{
	(void)arg;
	(void)kind;
	(void)namespace_;
	(void)name;
	(void)key;
	(void)err;
	*out = AUTH_UNKNOWN;
	return REFERENCE_FOUND;
}

static enum reference_state find_file(void *arg, const char *path, const struct strmap **out, struct err *err)
{
	static const struct strmap nothing;

	(void)path;
	if (((const struct alone *)arg)->rules->no_files) {
		err_set(err, ERR_DENIED, AUTHFILES_NONE);
		return REFERENCE_DENIED;
	}
	*out = &nothing;
	return REFERENCE_FOUND;
}

static enum reference_state find_vault(void *arg, const struct triggerauth *t, size_t secret, const char *namespace_,
	const char **out, struct err *err)
{
	(void)secret;
	(void)namespace_;
	*out = AUTH_UNKNOWN;
	return auth_vault_login(((const struct alone *)arg)->rules, t, err);
}

enum reference_state auth_unknown_managed(void *arg, const struct managervalues_source *source, const char **out,
	struct err *err)
{
	(void)arg;
	(void)source;
	(void)err;
	*out = AUTH_UNKNOWN;
	return REFERENCE_FOUND;
}

enum reference_state auth_unknown_token(void *arg, const char *namespace_, const char *service_account,
	const char **out, struct err *err)
{
	(void)arg;
	(void)namespace_;
	(void)service_account;
	(void)err;
	*out = AUTH_UNKNOWN;
	return REFERENCE_FOUND;
}

static struct auth_lookup lookup_of(struct alone *a)
{
	struct auth_lookup lookup = *a->rules;

	lookup.arg = a;
	lookup.triggerauth = find_it;
	lookup.key = find_key;
	lookup.all = NULL; /* only variables need it, and there are none */
	lookup.file = find_file;
	lookup.vault = find_vault;
	lookup.managed = auth_unknown_managed;
	lookup.token = auth_unknown_token;
	lookup.unknown = AUTH_UNKNOWN;
	return lookup;
}

/* Trigger types decide whether they use that identity; all that do refuse it alike. */
static int judge_identity(const struct auth_lookup *lookup, const struct scaled *of, const struct triggerauth *t,
	struct pod_identity *identity, struct err *err)
{
	struct auth_resolve r = { .lookup = lookup, .of = of, .t = t, .identity = identity };

	if (!identity->provider || auth_may_use_own_identity(&r, ""))
		return 0;
	return err_set(err, r.err.kind, "%s %s%s%s: %s",
		*t->meta.namespace_ ? TRIGGERAUTH_KIND : TRIGGERAUTH_CLUSTER_KIND, t->meta.namespace_,
		*t->meta.namespace_ ? "/" : "", t->meta.name, r.err.msg);
}

int auth_alone(const struct auth_lookup *rules, const struct triggerauth *t, struct err *err)
{
	char type[] = "any", name[] = "", somewhere[] = "default", cluster[] = TRIGGERAUTH_CLUSTER_KIND;
	char *namespace_ = *t->meta.namespace_ ? t->meta.namespace_ : somewhere;
	struct trigger trigger = { .type = type,
		.auth_name = t->meta.name,
		.auth_kind = *t->meta.namespace_ ? NULL : cluster };
	const struct scaledobject so = { .meta = { .namespace_ = namespace_, .name = name },
		.spec = { .target_name = name, .triggers = &trigger, .trigger_count = 1 } };
	/* Variables depend on the workload and are left out; a ServiceAccount always exists. */
	struct triggerauth judged = *t;
	struct workload_container container = { .name = name };
	const struct workload target = { .containers = &container, .container_count = 1 };
	struct alone a = { rules, &judged };
	const struct auth_lookup lookup = lookup_of(&a);
	const struct scaled of = scaled_of_object(&so);
	struct strmap params = { 0 };
	struct pod_identity identity;
	int rc;

	judged.env_count = 0;
	rc = auth_params(&lookup, &of, &trigger, &target, &params, &identity, err);
	strmap_done_secret(&params);
	return rc == 0 ? judge_identity(&lookup, &of, t, &identity, err) : rc;
}
