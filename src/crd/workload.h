/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CRD_WORKLOAD_H
#define CRD_WORKLOAD_H

/*
 * A scale target (Deployment, StatefulSet, any kind with a Pod template), reduced to what scaling
 * needs: its replicas, the resourceVersion for the write, the environment of its containers.
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
	char *namespace_, *name, *uid; /* one allocation, owned by the first */
	char *resource_version;
	int64_t generation; /* grows with each change of the spec; 0 if absent */
	int32_t replicas;   /* spec.replicas; if it is not a valid number, 1, the API server's default */
	/*
	 * whether spec.replicas is absent, a valid number, or something else, as in kinds that keep
	 * their replicas elsewhere
	 */
	enum { WORKLOAD_SAYS_NOTHING, WORKLOAD_SAYS_REPLICAS, WORKLOAD_SAYS_ANOTHER_THING } says;
	int32_t status_replicas; /* status.replicas */
	/*
	 * status.readyReplicas; -1 if absent: unknown for kinds without the field, 0 for those that
	 * omit it at 0 (cache/objects/targets knows which)
	 */
	int32_t ready_replicas;
	/* why the containers are unknown, for workload_environment; NULL: they are known */
	char *no_environment;
	char *replicas_manager; /* the latest owner of .spec.replicas in metadata.managedFields ("kubectl-edit",
				   "kube-controller-manager"); NULL: unknown, as after a GET */
	bool replicas_by_scale; /* written through /scale */
	char *selector;         /* status.selector or spec.selector as text; NULL */
	/*
	 * spec.workloadRef, if there is no Pod template: the name of the Deployment that has it, as
	 * in a Rollout of argoproj.io; NULL
	 */
	char *template_deployment;
	char *service_account; /* of the Pod template; NULL: none named, so "default" */
	struct workload_container *containers;
	size_t container_count;
};

struct workload *workload_decode(const json_t *object, struct err *err); /* the caller owns it */
/* From an autoscaling/v1 Scale: identity, resourceVersion and replicas. The caller owns it. */
struct workload *workload_decode_scale(const json_t *scale, struct err *err);
/*
 * From a spec with a Pod template (spec.template), such as a ScaledJob's: its containers, with the
 * metadata of the enclosing object. Never NULL; unreadable containers are left out. The caller owns
 * it.
 */
struct workload *workload_decode_template(const struct meta *meta, const json_t *spec);
void workload_free(struct workload *w);

/*
 * Reads Secrets and ConfigMaps of the workload's namespace. 0 and the value or data, borrowed;
 * otherwise -1: ERR_MISSING (no such object or key), ERR_WAITING or ERR_TEMPORARY (not read yet),
 * or why it may not be read.
 */
struct workload_lookup {
	void *arg;
	int (*key)(void *arg, enum keydata_kind kind, const char *name, const char *key, const char **value,
		struct err *err);
	int (*all)(void *arg, enum keydata_kind kind, const char *name, const struct strmap **data, struct err *err);
};

/*
 * The environment of one container (NULL or "": the first) as its process gets it (doc/keda.md
 * 6.2): env over envFrom, later entries over earlier ones, $(VAR) expanded as by Kubernetes. Only
 * variables that are keys of `wanted`, and those they refer to, are resolved and looked up.
 *
 * Both maps are empty before and the caller's, who must wipe *out: it gets the values, including
 * those of referred variables; *unresolved gets the variables without a value and the reason
 * ("is not available: Secret shop/x has no key ..."; "refers to A, which is not available: ..."). A
 * missing optional reference defines no variable; a target without containers has none. At most 128
 * KiB per value and 2 MiB in total are kept.
 *
 * -1: ERR_INVALID if the container does not exist, ERR_DENIED if the containers are unknown
 * (no_environment), ERR_WAITING or ERR_TEMPORARY if a look-up is not finished (all others were
 * made, too).
 */
int workload_environment(const struct workload *w, const char *container, const struct strmap *wanted,
	const struct workload_lookup *lookup, struct strmap *out, struct strmap *unresolved, struct err *err);

#endif
