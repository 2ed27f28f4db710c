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
	const char *tenant, *client_id; /* NULL: the environment's, where it is kscaled itself */
	const char *secret;             /* NULL: kscaled itself */
	const char *scope;              /* "https://storage.azure.com/.default" */
};

/*
 * NULL with ERR_INVALID: the tenant or the authority is none, or by the token the authority is
 * somebody else's than Microsoft's. Returns one reference.
 */
struct identity *entra_new(const struct entra_config *config, struct err *err);

#endif
