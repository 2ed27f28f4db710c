/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBE_CONFIG_H
#define KUBE_CONFIG_H

/*
 * The API server's address and our credentials, from a kubeconfig file or the service account
 * mounted into the pod. Unsupported settings (exec plugins, auth providers) are refused by name.
 * Rotating files (token, certificates) are read again when they change.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "kube/files.h"

struct kube_config {
	char *server;     /* "https://host:port" without a trailing slash */
	char *ca_pem;     /* NULL: system roots */
	char *cert_pem;   /* client certificate; NULL */
	char *key_pem;    /* secret */
	char *token;      /* bearer token; NULL; secret */
	char *token_file; /* re-read by kube_config_refresh; NULL */
	char *tls_server_name;
	char *proxy_url;
	char *namespace_; /* of the context or the service account; NULL when neither names one */
	bool insecure;
	int64_t dead_peer_ms;  /* the owner's: when a connection counts as dead; 0: net/dial's */
	char *cluster, *user;  /* names in the kubeconfig; both NULL in-cluster, user also without credentials */
	char *source;          /* "kubeconfig /etc/x, context y" or "in-cluster service account", for messages */
	char *kubeconfig_path; /* as given, maybe a colon list; NULL in-cluster */
	struct files files;    /* all files read, to detect changes */
};

#define KUBE_CONFIG_MOUNT "/var/run/secrets/kubernetes.io/serviceaccount"

/*
 * Loads the configuration. path: from --kubeconfig or $KUBECONFIG (a colon-separated list is merged
 * as by kubectl: the first file that sets a value wins). path NULL: in-cluster, from the service
 * account in the folder mount and KUBERNETES_SERVICE_HOST/PORT.
 */
int kube_config_load(const char *path, const char *mount, struct kube_config *out, struct err *err);

/*
 * Reads changed files again. *changed: credentials or server differ. When a file is invalid, the
 * old values are kept and the error is returned.
 */
int kube_config_refresh(struct kube_config *config, bool *changed, struct err *err);
void kube_config_done(struct kube_config *config); /* wipes secrets */

#endif
