/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_OBJECTS_TARGETS_H
#define CACHE_OBJECTS_TARGETS_H

/*
 * The scale targets that ScaledObjects name: current replicas, the version to write under,
 * containers' environments. One watch per referenced kind (per watched namespace), projected while
 * parsing; objects nobody named are dropped at once. A target named later than its kind's list is
 * read once by itself, then kept by the watch. So no poll ever needs a GET.
 *
 * Kinds that do not keep their replicas in .spec.replicas: the watch tells that the spec changed,
 * and /scale is read then. Kinds that may not be watched (the role of the default installation
 * names Deployments and StatefulSets only): /scale of each target is read every 15 s, until the
 * watch is allowed; their environment cannot be had meanwhile (workload's no_environment).
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

struct targets *targets_new(struct kube *kube, struct kinds *kinds /* borrowed; hears when a kind seems to be gone */);
void targets_free(struct targets *t);
void targets_start(struct targets *t, const char *const *namespaces, size_t count);
/*
 * What is wanted at the start is all said: the lists may begin, and bring it. If nobody says so
 * they begin after a second, and who is named later is read by itself.
 */
void targets_open(struct targets *t);
/* OBJECT_TARGET of each object whose target changed, came or went; one, for life */
void targets_listen(struct targets *t, object_fn fn, void *arg);

/* A ScaledObject needs this target; one per object, an older one is released. */
void targets_want(struct targets *t, struct object *o, const struct target_ref *ref);
void targets_release(struct object *o);

/* Its target. *out is set for TARGET_PRESENT, borrowed until the loop turns. */
enum target_state targets_get(const struct object *o, const struct workload **out);
/*
 * Whether it is being read, and nothing is known to be wrong: the listener hears of the end of
 * that.
 */
bool targets_reads(const struct object *o);
/*
 * Why it cannot be read at the moment (watch denied, ...); NULL when nothing is known to be wrong.
 */
const char *targets_trouble(const struct object *o);

/* A scale write was answered: the new replicas and version, ahead of the watch. */
void targets_learn_scale(const struct object *o, const json_t *scale);

#endif
