/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CLUSTER_H
#define CLI_CLUSTER_H

/*
 * Calls to the API server for sub-commands that change or examine a cluster, as the user of a
 * kubeconfig. Each blocks until it is answered, or its deadline has passed; kube/client repeats
 * what the server asks to repeat.
 */

#include <jansson.h>

#include "base/err.h"
#include "kube/client.h"

struct cluster;

/*
 * kubeconfig: as for kube_config_load; NULL: the service account of the Pod. Connects to nobody
 * yet. NULL and err: the file cannot be used; the message names it.
 */
struct cluster *cluster_new(const char *kubeconfig, struct err *err);
void cluster_free(struct cluster *c); /* NULL is fine */

/* The server, credentials and their files; borrowed. */
const struct kube_config *cluster_config(const struct cluster *c);

/*
 * One call. path: percent-encoded; body: NULL for none. *answer: the whole object of a successful
 * answer, which the caller owns, NULL when its body was empty; answer may be NULL. Errors are those
 * of kube_fn.
 */
int cluster_call(struct cluster *c, enum kube_verb verb, const char *path, const json_t *body, json_t **answer,
	struct err *err);

#endif
