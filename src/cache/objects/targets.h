/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_OBJECTS_TARGETS_H
#define CACHE_OBJECTS_TARGETS_H

/*
 * The scale targets of ScaledObjects: current replicas, the version for writes, containers'
 * environments. One watch per referenced kind (per watched namespace); only needed fields are kept,
 * and other objects are dropped while parsing. A target named after its kind's list is read once by
 * GET, then kept current by the watch, so polls need no GET. Kinds that are not Kubernetes' own may
 * keep their replicas anywhere and use .spec.replicas for something else: when the watch shows a
 * changed spec, /scale is read. If the Pod template is a Deployment's (spec.workloadRef of Argo's
 * Rollout), that one is kept by the watch of Deployments, too. For kinds that may not be watched
 * (the default role covers Deployments and StatefulSets), /scale of each target is read every 15 s
 * until the watch is allowed; their environment is unknown meanwhile (workload's no_environment).
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "cache/objects/kinds.h"
#include "cache/objects/object.h"
#include "crd/workload.h"
#include "kube/client.h"

struct targets;

struct target_ref {                             /* borrowed strings */
	const char *group, *version, *resource; /* "apps", "v1", "deployments" */
	const char *namespace_, *name;
};

enum target_state {
	TARGET_UNREAD,  /* not known yet */
	TARGET_MISSING, /* does not exist */
	TARGET_PRESENT,
};

struct targets *targets_new(struct kube *kube, struct kinds *kinds /* borrowed; notified of missing kinds */);
void targets_free(struct targets *t);
void targets_start(struct targets *t, const char *const *namespaces, size_t count);
/*
 * All initial targets are named: the lists may begin. Without this call they begin after a second;
 * targets named later are read by GET.
 */
void targets_open(struct targets *t);
/*
 * called with OBJECT_TARGET for each object whose target changed, was added or deleted; one
 * listener, for life
 */
void targets_listen(struct targets *t, object_fn fn, void *arg);

/* Sets the target that a ScaledObject needs; replaces an earlier one. */
void targets_want(struct targets *t, struct object *o, const struct target_ref *ref);
void targets_release(struct object *o);

/* Returns its target. *out is set for TARGET_PRESENT, borrowed until the end of the turn. */
enum target_state targets_get(const struct object *o, const struct workload **out);
/*
 * The same for the workload that has the Pod template: the target itself, or the Deployment that
 * its spec.workloadRef names. *trouble: as targets_trouble.
 */
enum target_state targets_get_pods(const struct object *o, const struct workload **out, const char **trouble);
/* Whether it is being read without a known error; the listener is called at the end. */
bool targets_reads(const struct object *o);
/* Why it cannot be read (watch denied, ...); NULL: no error is known. */
const char *targets_trouble(const struct object *o);

/*
 * Takes the answer to a scale write, new replicas and version, before the watch. An answer about
 * another object of that name, deleted or created since, is ignored.
 */
void targets_learn_scale(const struct object *o, const json_t *scale);

#endif
