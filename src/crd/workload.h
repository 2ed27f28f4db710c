/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CRD_WORKLOAD_H
#define CRD_WORKLOAD_H

/*
 * A scale target (Deployment, StatefulSet, any kind with a pod template) projected to what scaling needs: its replicas, the version to write under, and the
 * plain environment of its containers. Decoded from the object, the rest is dropped while parsing.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strmap.h"

enum workload_env_source { WORKLOAD_ENV_VALUE, WORKLOAD_ENV_SECRET_KEY, WORKLOAD_ENV_CONFIGMAP_KEY, WORKLOAD_ENV_OTHER /* fieldRef, resourceFieldRef */ };
struct workload_env {
	char *name;
	enum workload_env_source source;
	char *value;     /* WORKLOAD_ENV_VALUE: the text, not expanded */
	char *ref_name, *ref_key; /* SECRET_KEY, CONFIGMAP_KEY */
	bool optional;
};
struct workload_env_from { bool secret; char *name, *prefix; bool optional; };
#define WORKLOAD_ENV_MAX 2000 /* entries kept of one container */
struct workload_container {
	char *name;
	struct workload_env *env;            size_t env_count;
	size_t env_left_out;                 /* entries past WORKLOAD_ENV_MAX */
	struct workload_env_from *env_from;  size_t env_from_count;
};
struct workload {
	char *namespace_, *name, *uid, *resource_version;
	int32_t replicas;        /* spec.replicas; nil counts as 1 as the API server defaults it */
	bool has_replicas;       /* the object has .spec.replicas at all */
	int32_t status_replicas; /* status.replicas */
	int32_t ready_replicas;
	char *selector;          /* status.selector or spec.selector as text; NULL */
	struct workload_container *containers; size_t container_count;
};

struct workload *workload_decode(const json_t *object, struct err *err); /* the caller owns it */
void workload_free(struct workload *w);

#define WORKLOAD_ENV_ANY "*" /* key in *unresolved for every name that is neither in *out nor there itself */

/*
 * The environment of one container (NULL or "": the first) from plain values, with $(VAR) expansion as Kubernetes does it (keda-core.md 6.2). What comes from Secrets or ConfigMaps is
 * not resolved here: each such name goes into *unresolved with the reason ("comes from Secret x key y"; "refers to A, which comes from ..."), so that a trigger that asks for it can say so.
 * envFrom does not tell its names: with one, WORKLOAD_ENV_ANY has the reason ("may come from ConfigMap x"). Both maps are given empty and stay the caller's. A target without containers has no
 * environment, which is no error. ERR_INVALID when the container does not exist. At most 128 KiB of one value and 2 MiB of all are kept.
 */
int workload_environment(const struct workload *w, const char *container, struct strmap *out, struct strmap *unresolved, struct err *err);

#endif
