/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBE_KUBECONFIG_H
#define KUBE_KUBECONFIG_H

/*
 * Parses kubeconfig files. Several are merged as by kubectl
 * (k8s.io/client-go/tools/clientcmd/loader.go: the first file that has a cluster, user, context or
 * current-context wins); then the current context is resolved. Referenced files are not read but
 * returned as paths. Used by kube/config.c. Untrusted YAML is safe: nesting, nodes and anchors are
 * capped before a tree is built.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define KUBECONFIG_SIZE_MAX (1024 * 1024)

struct kubeconfig;

struct kubeconfig *kubeconfig_new(void);
void kubeconfig_free(struct kubeconfig *kc); /* wipes what may be secret */

/*
 * Adds a file's text, in order of precedence; path is for messages and the base of relative paths.
 * ERR_INVALID names path and line.
 */
int kubeconfig_add(struct kubeconfig *kc, const char *text, size_t len, const char *path, struct err *err);

/* A value given inline or as a file; owns both. */
struct kubeconfig_source {
	char *inline_text; /* decoded; NULL; may be secret */
	char *file;        /* resolved against the kubeconfig's folder; NULL */
};

struct kubeconfig_choice {      /* a value; owns its strings */
	char *context, *origin; /* origin: the context's file */
	char *cluster, *user;   /* the context's; user: NULL without credentials */
	char *server, *tls_server_name, *proxy_url, *namespace_;
	bool insecure;
	struct kubeconfig_source ca, cert, key, token;
};

/*
 * Resolves current-context. Inline text overrides a file, but a token file overrides a token, as in
 * client-go. ERR_INVALID names the field, and an alternative for refused settings.
 */
int kubeconfig_choose(const struct kubeconfig *kc, struct kubeconfig_choice *out, struct err *err);
void kubeconfig_choice_done(struct kubeconfig_choice *choice); /* wipes */

#endif
