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

/* The object (an empty one of an empty answer), which the caller owns. NULL and err: none. */
json_t *cluster_get(struct cluster *c, const char *path, struct err *err);
/* An object that does not exist is no error. */
int cluster_delete(struct cluster *c, const char *path, struct err *err);
/*
 * Posts body, which is taken. verb: KUBE_CREATE, or KUBE_REVIEW of what is not stored. The caller
 * owns the answer; NULL and err: none.
 */
json_t *cluster_post(struct cluster *c, enum kube_verb verb, const char *path, json_t *body, struct err *err);
/* A merge patch, which is taken. */
int cluster_patch(struct cluster *c, const char *path, json_t *patch, struct err *err);

#define CLUSTER_METRICS "/apis/external.metrics.k8s.io/v1beta1"
/* Of a ScaledObject's first external metric; NULL: it has none. The caller owns it. */
char *cluster_metric_path(const json_t *scaledobject);

#define CLUSTER_RBAC "/apis/rbac.authorization.k8s.io/v1"
#define CLUSTER_OURS "labelSelector=app.kubernetes.io%2Fname%3Dkscaled" /* a query: objects with kscaled's label */

/*
 * All objects of a kind, read page by page:
 *
 *     struct cluster_list list = { .cluster = c, .api = "/apis/apps/v1", .plural = "deployments" };
 *
 *     while ((object = cluster_next(&list)) != NULL)
 *             ...
 *     return cluster_list_done(&list, err);
 */
struct cluster_list {
	struct cluster *cluster;
	const char *api, *plural;
	const char *namespace_; /* NULL: all */
	const char *query;      /* more parameters; NULL */

	/* Of the current object: "/apis/apps/v1/namespaces/x/deployments/y", "deployments x/y". */
	char *path, *title;

	json_t *page;
	size_t next; /* in the page */
	char *more;  /* the continue token of the next page; NULL: this is the last one */
	int pages;   /* read */
	struct err err;
};

/* Borrowed until the next call. NULL: no more, or an error. */
const json_t *cluster_next(struct cluster_list *list);
/*
 * -1 and err: not all could be read. ERR_MISSING: the server does not have the kind. ERR_INVALID:
 * the list does not end.
 */
int cluster_list_done(struct cluster_list *list, struct err *err);

#endif
