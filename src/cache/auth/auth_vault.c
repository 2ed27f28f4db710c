/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether an authentication's login to Vault is allowed. */
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "cache/auth/auth_parts.h"

/* KEDA's default token file. Here it means kscaled's own login, and the file is not read. */
#define KEDA_TOKEN_FILE "/var/run/secrets/kubernetes.io/serviceaccount/token"

bool auth_vault_has_credential(const struct triggerauth_vault *v)
{
	return text_is_given(v->kubernetes ? v->service_account_name : v->token);
}

bool auth_vault_is_default_file(const struct triggerauth_vault *v)
{
	return !text_is_given(v->service_account_file) || strcmp(v->service_account_file, KEDA_TOKEN_FILE) == 0;
}

/* Trims blanks and trailing slashes. */
static const char *bare_address(const char *text, size_t *len)
{
	while (*len > 0 && strchr(" \t", *text)) {
		text++;
		(*len)--;
	}
	while (*len > 0 && strchr(" \t/", text[*len - 1]))
		(*len)--;
	return text;
}

/*
 * Whether the object may use kscaled's own login at that address. Authors of
 * ClusterTriggerAuthentications are trusted; the author of a namespaced one may operate the server
 * that it names.
 */
static bool may_use_own_login(const struct auth_lookup *rules, const struct triggerauth *t)
{
	size_t wanted_len = strlen(t->vault->address);
	const char *wanted = bare_address(t->vault->address, &wanted_len);

	if (!*t->meta.namespace_)
		return true;
	for (const char *rest = rules->vault_trusted, *next; rest && *rest; rest = next) {
		size_t len = strcspn(rest, ",");
		const char *one;

		next = rest + len + (rest[len] == ',');
		one = bare_address(rest, &len);
		if (len > 0 && ((len == 1 && *one == '*') || (len == wanted_len && strncasecmp(one, wanted, len) == 0)))
			return true;
	}
	return false;
}

/* The same error whether kscaled has such a login or not. */
static enum reference_state deny(const struct triggerauth_vault *v, struct err *err)
{
	err_set(err, ERR_DENIED,
		"address \"%.200s\" is not one of --vault-trusted-addresses, the only ones where kscaled logs in as "
		"itself for a TriggerAuthentication: give %s",
		v->address, v->kubernetes ? "credential.serviceAccountName" : "credential.token");
	return REFERENCE_DENIED;
}

static enum reference_state refuse(struct err *err, const char *what)
{
	err_set(err, ERR_INVALID, "%s", what);
	return REFERENCE_MISSING;
}

enum reference_state auth_vault_login(const struct auth_lookup *rules, const struct triggerauth *t, struct err *err)
{
	const struct triggerauth_vault *v = t->vault;

	if (auth_vault_has_credential(v))
		return REFERENCE_FOUND;
	if (!may_use_own_login(rules, t))
		return deny(v, err);
	if (!v->kubernetes && !rules->vault_token)
		return refuse(err,
			"authentication \"token\" needs credential.token, or VAULT_TOKEN in the environment of "
			"kscaled");
	if (v->kubernetes && !auth_vault_is_default_file(v) && !rules->vault_files)
		return refuse(err, "credential.serviceAccount: no files are read: --vault-credential-dir is not set");
	return REFERENCE_FOUND;
}
