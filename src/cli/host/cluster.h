/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_HOST_CLUSTER_H
#define CLI_HOST_CLUSTER_H

/*
 * Calls to the API server for sub-commands, as the user of a kubeconfig. Each blocks until answered
 * or its deadline has passed; kube/client retries when the server asks for it.
 */

#include <jansson.h>

#include "base/err.h"
#include "kube/client.h"

struct cluster;

/*
 * kubeconfig: as for kube_config_load; NULL: the service account of the Pod. Does not connect yet.
 * NULL and err: the file cannot be used; the message names it.
 */
struct cluster *cluster_new(const char *kubeconfig, struct err *err);
void cluster_free(struct cluster *c); /* NULL is fine */

/* The server, credentials and their files; borrowed. */
const struct kube_config *cluster_config(const struct cluster *c);

/*
 * One call. path: percent-encoded; body: NULL for none. *answer: the object of a successful answer,
 * owned by the caller, NULL if the body was empty; answer may be NULL. Errors are those of kube_fn.
 */
int cluster_call(struct cluster *c, enum kube_verb verb, const char *path, const json_t *body, json_t **answer,
	struct err *err);

#define CLUSTER_RBAC "/apis/rbac.authorization.k8s.io/v1"
#define CLUSTER_OURS "labelSelector=app.kubernetes.io%2Fname%3Dkscaled" /* a query: objects with kscaled's label */

/* path, title: "/apis/apps/v1/namespaces/x/deployments/y", "deployments x/y". */
typedef void (*cluster_fn)(void *arg, const char *path, const char *title, const json_t *object);

/*
 * Calls fn for each object of a kind, page by page; namespace_: NULL: all; query: "" or more
 * parameters. ERR_MISSING: the server does not have the kind. ERR_INVALID: a list that does not
 * end.
 */
int cluster_each(struct cluster *c, const char *api, const char *namespace_, const char *plural, const char *query,
	cluster_fn fn, void *arg, struct err *err);

#endif
