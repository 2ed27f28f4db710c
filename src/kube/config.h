/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBE_CONFIG_H
#define KUBE_CONFIG_H

/*
 * Where the API server is and who we are: a kubeconfig file, or the service account mounted into
 * the pod. What kscaled cannot honour (exec plugins, auth providers) is refused by name. Files that
 * rotate (token, certificates) are read again when they change.
 */

#include <stdbool.h>

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
	char *source;          /* "kubeconfig /etc/x, context y" or "in-cluster service account", for messages */
	char *kubeconfig_path; /* as given, maybe a colon list; NULL in-cluster */
	struct files files;    /* everything that was read, so that a refresh knows whether to read again */
};

#define KUBE_CONFIG_MOUNT "/var/run/secrets/kubernetes.io/serviceaccount"

/*
 * path: from --kubeconfig or $KUBECONFIG (a colon list merges like kubectl: the first file that
 * sets a thing wins); NULL: in-cluster, from the service account at mount (the token's folder) and
 * KUBERNETES_SERVICE_HOST/PORT.
 */
int kube_config_load(const char *path, const char *mount, struct kube_config *out, struct err *err);

/*
 * Reads changed files again. *changed says whether credentials or the server differ. A file that is
 * broken at the moment keeps the old values and is an error.
 */
int kube_config_refresh(struct kube_config *config, bool *changed, struct err *err);
void kube_config_done(struct kube_config *config); /* wipes secrets */

#endif
