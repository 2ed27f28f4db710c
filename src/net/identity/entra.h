/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_IDENTITY_ENTRA_H
#define NET_IDENTITY_ENTRA_H

/*
 * Who we are to Azure: an application of Entra ID, by a secret of its own, or kscaled itself
 * (AZURE_CLIENT_ID, AZURE_TENANT_ID, AZURE_AUTHORITY_HOST) by the token that Azure's workload
 * identity puts beside it (AZURE_FEDERATED_TOKEN_FILE), or, where there is none, as outside of
 * Azure, by a certificate (AZURE_CLIENT_CERTIFICATE_PATH) or a secret (AZURE_CLIENT_SECRET): the
 * names and the order of Azure's own libraries. Of the environment nothing is shown but to
 * Microsoft's own servers and to that of the environment, and to nobody whom an object names: who
 * has it is kscaled. Who may use it is decided above: cache/auth.
 */

#include "net/identity/identity.h"

struct entra_config { /* texts may be NULL but for the scope */
	/* "https://login.microsoftonline.com"; NULL: that, or what the environment says */
	const char *authority;
	const char *tenant, *client_id; /* NULL: for kscaled itself the environment's */
	const char *scope;              /* "https://storage.azure.com/.default" */
};

/*
 * kscaled itself, and an application by its secret, which is not empty. NULL with ERR_INVALID: the
 * tenant, the authority or the secret is invalid, or, for kscaled itself, the authority is not one
 * of Microsoft's. Returns one reference.
 */
struct identity *entra_own_new(const struct entra_config *config, struct err *err);
struct identity *entra_app_new(const struct entra_config *config, const char *secret, struct err *err);

#endif
