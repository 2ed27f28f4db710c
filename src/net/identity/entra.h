/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_IDENTITY_ENTRA_H
#define NET_IDENTITY_ENTRA_H

/*
 * Identities at Entra ID: an application with a client secret, or kscaled's own. kscaled's own
 * (AZURE_CLIENT_ID, AZURE_TENANT_ID, AZURE_AUTHORITY_HOST) authenticates with the first that the
 * environment has, as Azure's libraries do: a secret (AZURE_CLIENT_SECRET), a certificate
 * (AZURE_CLIENT_CERTIFICATE_PATH), or the token file of workload identity
 * (AZURE_FEDERATED_TOKEN_FILE). Its proofs are sent only to Microsoft's servers and to the
 * environment's authority, never to a server that an object names. cache/auth decides who may use
 * it.
 */

#include "net/identity/identity.h"

struct entra_config { /* texts may be NULL except scope */
	/* NULL: https://login.microsoftonline.com, or for kscaled's own the environment's */
	const char *authority;
	const char *tenant, *client_id; /* NULL: the environment's, for kscaled's own */
	const char *scope;              /* "https://storage.azure.com/.default" */
};

/*
 * kscaled's own identity, and an application with a secret, which must not be empty. NULL with
 * ERR_INVALID: the tenant, the authority or the secret is invalid, or the authority for kscaled's
 * own identity is not one of Microsoft's. Returns one reference.
 */
struct identity *entra_own_new(const struct entra_config *config, struct err *err);
struct identity *entra_app_new(const struct entra_config *config, const char *secret, struct err *err);

#endif
