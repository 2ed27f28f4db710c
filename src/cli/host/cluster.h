/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_HOST_CLUSTER_H
#define CLI_HOST_CLUSTER_H

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

#define CLUSTER_RBAC "/apis/rbac.authorization.k8s.io/v1"
#define CLUSTER_OURS "labelSelector=app.kubernetes.io%2Fname%3Dkscaled" /* a query: what has our label */

/* path, title: "/apis/apps/v1/namespaces/x/deployments/y", "deployments x/y". */
typedef void (*cluster_fn)(void *arg, const char *path, const char *title, const json_t *object);

/*
 * Calls fn for each object of a kind, page by page; namespace_: NULL: of all; query: "" or more of
 * it. ERR_MISSING: the server does not have the kind. ERR_INVALID: a list that does not end.
 */
int cluster_each(struct cluster *c, const char *api, const char *namespace_, const char *plural, const char *query,
	cluster_fn fn, void *arg, struct err *err);

#endif
