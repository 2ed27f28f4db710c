/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBE_KUBECONFIG_H
#define KUBE_KUBECONFIG_H

/*
 * The text of kubeconfig files: several are put together as kubectl does
 * (k8s.io/client-go/tools/clientcmd/loader.go: of each cluster, user, context and of
 * current-context the first file that has it wins), then the current context is followed to what it
 * names. Reads no other file: what stands in files is handed on as paths. kube/config.c is the
 * caller.
 *
 * Hostile YAML is refused before a tree is built: nesting, number of nodes and of anchors are
 * capped.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define KUBECONFIG_SIZE_MAX (1024 * 1024)

struct kubeconfig;

struct kubeconfig *kubeconfig_new(void);
void kubeconfig_free(struct kubeconfig *kc); /* wipes what may be secret */

/*
 * One more file's text, in order of precedence; path is for messages and what relative paths are
 * relative to. ERR_INVALID names path and line.
 */
int kubeconfig_add(struct kubeconfig *kc, const char *text, size_t len, const char *path, struct err *err);

/* Something that is given inline or in a file; owns both. */
struct kubeconfig_source {
	char *inline_text; /* decoded; NULL; may be secret */
	char *file;        /* resolved against the kubeconfig's folder; NULL */
};

struct kubeconfig_choice {      /* a value; owns its strings */
	char *context, *origin; /* origin: the file that has the context */
	char *server, *tls_server_name, *proxy_url, *namespace_;
	bool insecure;
	struct kubeconfig_source ca, cert, key, token;
};

/*
 * Follows current-context. Inline text wins over a file, but a token file over a token, as in
 * client-go. ERR_INVALID names the field, and what to use instead of something refused.
 */
int kubeconfig_choose(const struct kubeconfig *kc, struct kubeconfig_choice *out, struct err *err);
void kubeconfig_choice_done(struct kubeconfig_choice *choice); /* wipes */

#endif
