/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CRD_TRIGGERAUTH_H
#define CRD_TRIGGERAUTH_H

/*
 * keda.sh/v1alpha1 TriggerAuthentication and ClusterTriggerAuthentication as one plain struct
 * (doc/keda.md 1.4): they differ only in scope. Decodes everything the CRD allows.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/strmap.h"
#include "crd/meta.h"

struct triggerauth_key {
	char *parameter, *name, *key;
}; /* secretTargetRef, configMapTargetRef */
struct triggerauth_env {
	char *parameter, *name, *container;
}; /* container NULL: the first */
struct triggerauth_token {
	char *parameter, *service_account;
}; /* boundServiceAccountToken */

enum triggerauth_vault_type { VAULT_TYPE_ANY, VAULT_TYPE_SECRET_V2, VAULT_TYPE_SECRET, VAULT_TYPE_PKI };
struct triggerauth_vault_secret {
	char *parameter, *path, *key;
	enum triggerauth_vault_type type;
	char *common_name, *alt_names, *ip_sans, *uri_sans, *other_sans, *ttl, *format; /* pkiData; each NULL */
};
struct triggerauth_vault {
	char *address, *namespace_, *role, *mount; /* namespace_, role, mount: NULL when absent */
	bool kubernetes;                           /* authentication: kubernetes; else token */
	char *token;                               /* credential.token; NULL; wiped when freed */
	char *service_account_file;                /* credential.serviceAccount; NULL */
	char *service_account_name;                /* credential.serviceAccountName; NULL */
	struct triggerauth_vault_secret *secrets;
	size_t secret_count;
};

struct triggerauth_ref {
	char *name, *key;
}; /* valueFrom.secretKeyRef; both NULL when absent */

struct triggerauth_oauth2 {
	char *type, *client_id, *token_url; /* type NULL: clientCredentials */
	struct triggerauth_ref secret;      /* clientSecret */
	char **scopes;
	size_t scope_count;
	struct strmap token_url_params;
};

struct triggerauth_identity { /* podIdentity */
	char *provider;       /* "none", "aws", ... */
	/* for the webhook's rules (doc/keda.md 7.2); NULL when absent, "" when written empty */
	char *identity_id, *identity_tenant_id, *identity_authority_host, *role_arn, *external_id, *identity_owner;
};

/*
 * A secret of a manager. For AWS versionId, versionStage, secretKey; for Google the name is the id.
 */
struct triggerauth_managed {
	char *parameter, *name;
	char *version, *stage, *member; /* each NULL */
};
/*
 * azureKeyVault, gcpSecretManager, awsSecretManager: each uses some of these. Texts are NULL when
 * absent.
 */
struct triggerauth_manager {
	struct triggerauth_identity *identity; /* podIdentity; NULL */
	struct triggerauth_ref key_id, secret; /* credentials: accessKey; accessSecretKey, clientSecret */
	struct triggerauth_ref session_token;  /* accessToken */
	char *region;                          /* of AWS */
	char *vault_uri, *client_id, *tenant_id, *cloud, *resource, *authority; /* of Azure */
	struct triggerauth_managed *secrets;
	size_t secret_count;
};

struct triggerauth {
	struct meta meta;                      /* namespace_ "": a ClusterTriggerAuthentication */
	struct triggerauth_identity *identity; /* NULL */
	struct triggerauth_key *secrets;
	size_t secret_count;
	struct triggerauth_key *config_maps;
	size_t config_map_count;
	struct triggerauth_env *env;
	size_t env_count;
	char *file_path;                 /* NULL */
	struct triggerauth_vault *vault; /* NULL */
	struct triggerauth_token *tokens;
	size_t token_count;
	struct triggerauth_oauth2 *oauth2;                                                     /* NULL */
	struct triggerauth_manager *azure_key_vault, *gcp_secret_manager, *aws_secret_manager; /* each NULL */
	char *used_by_scaledobjects, *used_by_scaledjobs; /* status as stored; NULL when absent */
	struct err *spec_err; /* owned; why the spec cannot be decoded, as in crd/scaledobject.h; NULL: valid */
};

#define TRIGGERAUTH_ENTRIES_MAX 1000 /* of each list */

/*
 * Decodes either kind; the caller owns it. NULL and *err only if metadata cannot be read. If
 * spec_err is NULL, all fields that the CRD requires are present and not empty.
 */
struct triggerauth *triggerauth_decode(const json_t *object, struct err *err);
void triggerauth_free(struct triggerauth *t); /* wipes secrets */

size_t triggerauth_parameter_count(const struct triggerauth *t); /* entries of all its lists */

#define TRIGGERAUTH_KIND         "TriggerAuthentication"
#define TRIGGERAUTH_CLUSTER_KIND "ClusterTriggerAuthentication"

#endif
