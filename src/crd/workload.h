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
	int64_t generation; /* grows with each change of the spec; 0 when absent */
	int32_t replicas;   /* spec.replicas; 1, the API server's default, unless it is such a number */
	/*
	 * spec.replicas is absent, such a number, or something else, which only a kind that keeps
	 * its replicas elsewhere has
	 */
	enum { WORKLOAD_SAYS_NOTHING, WORKLOAD_SAYS_REPLICAS, WORKLOAD_SAYS_ANOTHER_THING } says;
	int32_t status_replicas; /* status.replicas */
	/*
	 * status.readyReplicas; -1 when absent: unknown for kinds that have none, 0 for those that
	 * leave it out at 0 (cache/objects/targets knows which)
	 */
	int32_t ready_replicas;
	/*
	 * why the containers are unknown, for workload_environment; NULL: they are known
	 */
	char *no_environment;
	char *replicas_manager; /* the latest owner of .spec.replicas in metadata.managedFields ("kubectl-edit",
				   "kube-controller-manager"); NULL: unknown, as after a GET */
	bool replicas_by_scale; /* it wrote them through /scale */
	char *selector;         /* status.selector or spec.selector as text; NULL */
	/*
	 * spec.workloadRef, where there is no Pod template: the Deployment, by name, that has it,
	 * as of a Rollout of argoproj.io; NULL
	 */
	char *template_deployment;
	char *service_account; /* of the Pod template; NULL: none is named, so it is "default" */
	struct workload_container *containers;
	size_t container_count;
};

struct workload *workload_decode(const json_t *object, struct err *err); /* the caller owns it */
/* From an autoscaling/v1 Scale: identity, resourceVersion and replicas. The caller owns it. */
struct workload *workload_decode_scale(const json_t *scale, struct err *err);
/*
 * From a spec with a Pod template (spec.template), as a ScaledJob has one: its containers, with the
 * metadata of the object it is in. Never NULL; containers that cannot be read are left out. The
 * caller owns it.
 */
struct workload *workload_decode_template(const struct meta *meta, const json_t *spec);
void workload_free(struct workload *w);

/*
 * Reads Secrets and ConfigMaps of the workload's namespace. 0 and the value or data, borrowed; else
 * -1: ERR_MISSING (no such object or key), ERR_WAITING or ERR_TEMPORARY (not read yet), or why it
 * may not be read.
 */
struct workload_lookup {
	void *arg;
	int (*key)(void *arg, enum keydata_kind kind, const char *name, const char *key, const char **value,
		struct err *err);
	int (*all)(void *arg, enum keydata_kind kind, const char *name, const struct strmap **data, struct err *err);
};

/*
 * The environment of one container (NULL or "": the first) as its process gets it (doc/keda.md
 * 6.2): env over envFrom, later entries over earlier ones, $(VAR) expanded as Kubernetes does. Only
 * variables that are keys of `wanted`, and those they refer to, are resolved and looked up.
 *
 * Both maps are empty before and the caller's, who wipes *out: it gets the values, also those of
 * variables that are referred to; *unresolved gets the variables without a value and the reason
 * ("cannot be had: Secret shop/x has no key ..."; "refers to A, which cannot be had: ..."). An
 * optional reference that is missing defines no variable; a target without containers has none. At
 * most 128 KiB per value and 2 MiB in total are kept.
 *
 * -1: ERR_INVALID when the container does not exist, ERR_DENIED when the containers are unknown
 * (no_environment), ERR_WAITING or ERR_TEMPORARY when a look-up is not finished (all others were
 * made, too).
 */
int workload_environment(const struct workload *w, const char *container, const struct strmap *wanted,
	const struct workload_lookup *lookup, struct strmap *out, struct strmap *unresolved, struct err *err);

#endif
