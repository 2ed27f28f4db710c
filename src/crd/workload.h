/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CRD_WORKLOAD_H
#define CRD_WORKLOAD_H

/*
 * A scale target (Deployment, StatefulSet, any kind with a pod template) projected to what scaling
 * needs: its replicas, the version to write under, and the environment of its containers. Decoded
 * from the object, the rest is dropped while parsing.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strmap.h"
#include "crd/keydata.h"
#include "crd/meta.h"

enum workload_env_source {
	WORKLOAD_ENV_VALUE,
	WORKLOAD_ENV_SECRET_KEY,
	WORKLOAD_ENV_CONFIGMAP_KEY,
	WORKLOAD_ENV_OTHER /* fieldRef, resourceFieldRef */
};
struct workload_env {
	char *name;
	enum workload_env_source source;
	char *value;              /* WORKLOAD_ENV_VALUE: the text, not expanded */
	char *ref_name, *ref_key; /* SECRET_KEY, CONFIGMAP_KEY */
	bool optional;
};
struct workload_env_from {
	enum keydata_kind kind;
	char *name, *prefix;
	bool optional;
};
#define WORKLOAD_ENV_MAX 2000 /* entries kept of one container */
struct workload_container {
	char *name;
	struct workload_env *env;
	size_t env_count;
	size_t env_left_out; /* entries past WORKLOAD_ENV_MAX */
	struct workload_env_from *env_from;
	size_t env_from_count;
};
struct workload {
	char *namespace_, *name, *uid; /* one block, which begins with the first */
	char *resource_version;
	int64_t generation;      /* grows with each change of the spec; 0 where there is none */
	int32_t replicas;        /* spec.replicas; nil counts as 1 as the API server defaults it */
	bool has_replicas;       /* the object has .spec.replicas at all */
	int32_t status_replicas; /* status.replicas */
	/*
	 * status.readyReplicas; -1 when absent: unknown for kinds that have none, 0 for those that
	 * leave it out at 0 (cache/objects/targets knows which)
	 */
	int32_t ready_replicas;
	/*
	 * why the containers are not known, for workload_environment; NULL: they are what they are
	 */
	char *no_environment;
	char *replicas_manager; /* who owns .spec.replicas, the latest of several, as metadata.managedFields tells it
				   ("kubectl-edit", "kube-controller-manager"); NULL: unknown */
	bool replicas_by_scale; /* and wrote it through /scale */
	char *selector;         /* status.selector or spec.selector as text; NULL */
	struct workload_container *containers;
	size_t container_count;
};

struct workload *workload_decode(const json_t *object, struct err *err); /* the caller owns it */
/*
 * The little that an autoscaling/v1 Scale tells of its object: whose it is, its version, its
 * replicas. The caller owns it.
 */
struct workload *workload_decode_scale(const json_t *scale, struct err *err);
/*
 * A spec with a Pod template (spec.template), as a ScaledJob has one: the containers alone, under
 * the metadata of whom it is in. Never NULL; whatever cannot be read is no container. The caller
 * owns it.
 */
struct workload *workload_decode_template(const struct meta *meta, const json_t *spec);
void workload_free(struct workload *w);

/*
 * What is in Secrets and ConfigMaps of the workload's namespace. 0 and what was asked for,
 * borrowed; else -1: ERR_MISSING (no such object or key), ERR_WAITING or ERR_TEMPORARY (not read
 * yet), or why it may not be read.
 */
struct workload_lookup {
	void *arg;
	int (*key)(void *arg, enum keydata_kind kind, const char *name, const char *key, const char **value,
		struct err *err);
	int (*all)(void *arg, enum keydata_kind kind, const char *name, const struct strmap **data, struct err *err);
};

/*
 * Variables of one container (NULL or "": the first) as its process gets them (keda-core.md 6.2):
 * envFrom first, later entries win, env over envFrom, $(VAR) expanded as Kubernetes does it. Only
 * those whose names are keys of `wanted` are looked at, and what they refer to; so only what they
 * need is looked up. Values go into *out (also those of variables that are referred to); a variable
 * that is there but cannot be had goes into *unresolved with the reason ("cannot be had: Secret
 * shop/x has no key ..."; "refers to A, which cannot be had: ..."). Something optional that is
 * missing is no variable. Both maps are given empty and stay the caller's, who wipes *out. A target
 * without containers has no environment, which is no error. -1: ERR_INVALID when the container does
 * not exist, ERR_DENIED when the containers could not be read (no_environment), ERR_WAITING or
 * ERR_TEMPORARY when something is not read yet (all the rest was looked up, too). At most 128 KiB
 * of one value and 2 MiB of all are kept.
 */
int workload_environment(const struct workload *w, const char *container, const struct strmap *wanted,
	const struct workload_lookup *lookup, struct strmap *out, struct strmap *unresolved, struct err *err);

#endif
