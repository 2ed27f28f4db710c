/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_KINDS_H
#define CACHE_KINDS_H

/*
 * Which resource a kind is, found by discovery (GET /apis/<group>/<version>, one per group and version, kept): plural name, namespaced, has /scale. Deployment and StatefulSet of apps/v1 are known without
 * asking. A kind that is not there, or a server that does not answer, is looked for again with back-off while somebody wants it: a CRD may be installed later than the object that names it.
 */

#include <stdbool.h>

#include "base/err.h"
#include "kube/client.h"

struct kinds;

enum kind_state { KIND_UNREAD, KIND_MISSING, KIND_PRESENT };

struct kind { char resource[254]; bool namespaced, scalable; };

typedef void (*kinds_fn)(void *arg); /* something became known, or is gone */

struct kinds *kinds_new(struct kube *kube);
void kinds_free(struct kinds *k);
void kinds_listen(struct kinds *k, kinds_fn fn, void *arg);

/* Starts looking when it is not known. KIND_MISSING and KIND_UNREAD: *err says what is missing (`no kind Rollout in argoproj.io/v1alpha1: is its CRD installed?`) or waited for (ERR_TEMPORARY, with the reason when known). */
enum kind_state kinds_get(struct kinds *k, const char *group, const char *version, const char *kind, struct kind *out, struct err *err);

#endif
